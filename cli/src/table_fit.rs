//! Lines of a table in a narrow output.

use std::ops::Range;

use analyzer::filter::RowKind;
use analyzer::render::{self, ColumnRank, StyledLine};

/// Shortening of the lines of a table to the width of the output, which follows from the heading.
#[derive(Debug)]
pub(crate) struct TableFit {
    width: usize,
    rank: ColumnRank,
    /// Columns that are left out of the path of a journey.
    excess: Range<usize>,
}

impl TableFit {
    /// The shortening of a table by its heading; in one with the own columns of a kind, paths of journeys give way first.
    pub(crate) fn of(width: usize, kind: Option<RowKind>, head: &StyledLine) -> Self {
        let has_path = kind == Some(RowKind::Journeys);
        let rank = head.rank_for(width + if has_path { render::WAY_SPARE } else { 0 });
        let len = head.clone().without(rank).width();
        let excess = if has_path { render::journey_excess(len, width) } else { 0..0 };
        Self { width, rank, excess }
    }

    /// A line of a row, of which the first is one of the table.
    pub(crate) fn apply(&self, number: usize, line: StyledLine) -> StyledLine {
        if number > 0 {
            return line.fitted(self.width);
        }
        line.without(self.rank).shortened(self.excess.clone()).fitted(self.width)
    }
}
