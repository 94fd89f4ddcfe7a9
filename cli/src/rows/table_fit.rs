//! Lines of a table in a narrow output.

use std::ops::Range;

use analyzer::filter::RowKind;
use analyzer::render::{self, ColumnRank, StyledLine};

use super::selection::RowSelection;

/// Shortening of the lines of a table to the width of the output, which follows from the heading.
#[derive(Debug)]
pub(super) struct TableFit {
    width: usize,
    rank: ColumnRank,
    /// Columns that are left out of the path of a journey.
    excess: Range<usize>,
}

impl TableFit {
    /// The shortening of a table with this heading. Lines of characters have a width of their own.
    pub(super) fn of(
        width: Option<usize>,
        selection: &RowSelection,
        head: &[StyledLine],
    ) -> Option<Self> {
        let width = width.filter(|_| selection.kind() != RowKind::Characters)?;
        let head = head.first().cloned().unwrap_or_default();
        let has_path = selection.kind() == RowKind::Journeys && !selection.has_columns();
        let rank = head.rank_for(width + if has_path { render::WAY_SPARE } else { 0 });
        let len = head.without(rank).width();
        let excess = if has_path { render::journey_excess(len, width) } else { 0..0 };
        Some(Self { width, rank, excess })
    }

    /// A line of a row, of which the first is one of the table.
    pub(super) fn apply(&self, number: usize, line: StyledLine) -> StyledLine {
        if number > 0 {
            return line.fitted(self.width);
        }
        line.without(self.rank).shortened(self.excess.clone()).fitted(self.width)
    }
}
