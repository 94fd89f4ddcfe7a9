//! Totals of a slack buffer.

use crate::channel_name::TapEnd;
use crate::link::parameters::{ASSUMED, ASSUMED_BY, ChannelParameters, PerParameter};
use crate::row::FieldShape::{List, Place, Words};
use crate::row::{FieldType, row};

/// Counters and extremes. Periods in which the last command is unknown count for the width only: nothing
/// but the size of the buffer bounds the fill there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SlackTotals {
    /// Periods with bounds.
    pub(super) periods: u64,
    /// Periods in which the last command is known.
    pub(super) known: u64,
    /// Extremes of the lower bound, and of the upper bound.
    extremes: Option<[[i64; 2]; 2]>,
    /// Twice the sum of hi − lo over all periods.
    doubled_width: u128,
    pub(super) stops: u64,
    /// STOPs after which data came late.
    pub(super) late: u64,
    /// Maximum of late characters after one STOP.
    pub(super) late_by: u64,
    /// STOPs after which cells may have been lost.
    pub(super) risks: u64,
    /// Contradictions between capture and parameters.
    pub(super) contradictions: u64,
}

row! {
    /// A channel's slack buffer in `links`; fields as in `docs/output.md`.
    pub struct SlackRow<'a> {
        channel: &'a str, "", "", "name of the channel that fills the buffer";
        tapped_at: Option<&'static str> as Words(TapEnd::NAMES), "", "", "at which end of the channel the tap is";
        assumed: PerParameter<u32> as List, "numbers", "F-3", "assumed parameters" => ASSUMED;
        sources: PerParameter<&'static str> as List, "words", "", "on whose word" => ASSUMED_BY;
        cells: u32, "cells", "F-3", "r: all cells of the buffer";
        periods: u64 as Place, "characters", "", "periods with bounds";
        known: u64 as Place, "characters", "", "those in which the command that stands is known";
        low_water_lo: Option<i64> as u32::SHAPE, "cells", "F-3", "the least fill: at least this";
        low_water_hi: Option<i64> as u32::SHAPE, "cells", "F-3", "and at most this";
        high_water_lo: Option<i64> as u32::SHAPE, "cells", "F-3", "the greatest fill: at least this";
        high_water_hi: Option<i64> as u32::SHAPE, "cells", "F-3", "and at most this";
        mean_width: Option<f64>, "cells", "", "mean distance of the bounds";
        stops: u64, "", "F-3", "STOPs of the buffer";
        late: u64, "", "F-4", "STOPs after which data came too late";
        late_by: u64, "characters", "F-4", "the most that came too late after one";
        overrun_risks: u64, "", "F-9", "STOPs after which cells may have been lost";
        contradictions: u64, "", "F-3", "how often what was seen could not be";
    }
}

impl SlackTotals {
    pub(super) fn add_extremes(&mut self, lo: [i64; 2], hi: [i64; 2]) {
        let wider = |[a, b]: [i64; 2], [c, d]: [i64; 2]| [a.min(c), b.max(d)];
        self.extremes = Some(match self.extremes {
            Some([all_lo, all_hi]) => [wider(all_lo, lo), wider(all_hi, hi)],
            None => [lo, hi],
        });
    }

    /// Adds the first and the last bounds of an interval.
    pub(super) fn measure(&mut self, periods: u64, [lo, hi]: [(i64, i64); 2]) {
        self.periods += periods;
        let ends = u128::try_from(hi.0 - lo.0 + hi.1 - lo.1).unwrap_or(0);
        self.doubled_width += u128::from(periods) * ends;
    }

    pub(super) fn row<'a>(
        &self,
        channel: &'a str,
        tapped_at: Option<&'static str>,
        assumed: ChannelParameters,
    ) -> SlackRow<'a> {
        #[expect(clippy::cast_precision_loss, reason = "a mean is rounded anyway")]
        let mean = |sum: u128, count: u64| sum as f64 / 2.0 / count as f64;
        let rounded = |width: f64| (width * 1000.0).round() / 1000.0;
        SlackRow {
            channel,
            tapped_at,
            assumed: assumed.each(|assumed| assumed.value),
            sources: assumed.each(|assumed| assumed.source.name()),
            cells: assumed.cells(),
            periods: self.periods,
            known: self.known,
            low_water_lo: self.extremes.map(|[[lo, _], _]| lo),
            low_water_hi: self.extremes.map(|[_, [hi, _]]| hi),
            high_water_lo: self.extremes.map(|[[_, lo], _]| lo),
            high_water_hi: self.extremes.map(|[_, [_, hi]]| hi),
            mean_width: (self.periods > 0).then(|| rounded(mean(self.doubled_width, self.periods))),
            stops: self.stops,
            late: self.late,
            late_by: self.late_by,
            overrun_risks: self.risks,
            contradictions: self.contradictions,
        }
    }
}
