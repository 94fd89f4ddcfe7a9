//! What there is to say about a slack buffer in a line.

use serde::Serialize;

use super::ChannelParameters;
use crate::link::parameters::PerParameter;

/// Counts and marks. Periods in which it is not known what was commanded last count in the widths
/// only: nothing but the size of the buffer bounds it there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SlackTotals {
    /// Periods with bounds.
    pub(super) periods: u64,
    /// Those of them in which it is known what was commanded last.
    pub(super) known: u64,
    /// The least and the greatest of the lower bounds, and of the upper bounds.
    extremes: Option<[[i64; 2]; 2]>,
    /// Twice the sum of hi − lo over all periods.
    doubled_width: u128,
    /// STOPs.
    pub(super) stops: u64,
    /// After how many of them data came too late.
    pub(super) late: u64,
    /// The most characters that did after one.
    pub(super) late_by: u64,
    /// How often something may have been lost after a STOP.
    pub(super) risks: u64,
    /// How often what was seen could not be.
    pub(super) contradictions: u64,
}

/// A channel's slack buffer in `links`; fields as in `docs/output.md`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SlackRow<'a> {
    /// Name of the channel whose far receiver it is about.
    pub channel: &'a str,
    /// At which end of the channel the tap is, if the capture says so: `sender` or `receiver`.
    pub tapped_at: Option<&'static str>,
    /// What is taken for granted,
    pub assumed: PerParameter<u32>,
    /// and on whose word: [`ParameterSource::name`](crate::link::parameters::ParameterSource::name).
    pub sources: PerParameter<&'static str>,
    /// Cells of the buffer: r.
    pub cells: u32,
    /// Periods with bounds.
    pub periods: u64,
    /// Those of them in which the command that stands is known.
    pub known: u64,
    /// The least that the fill came down to in those periods is at least this,
    pub low_water_lo: Option<i64>,
    /// and at most this.
    pub low_water_hi: Option<i64>,
    /// The most that it rose to in those periods is at least this,
    pub high_water_lo: Option<i64>,
    /// and at most this.
    pub high_water_hi: Option<i64>,
    /// Mean of `hi` − `lo` over all periods, in cells. Null without periods.
    pub mean_width: Option<f64>,
    /// STOPs that the buffer generated.
    pub stops: u64,
    /// STOPs after which data came too late.
    pub late: u64,
    /// The most characters that came too late after one.
    pub late_by: u64,
    /// STOPs after which cells may have been lost for want of room.
    pub overrun_risks: u64,
    /// How often what was seen could not be with what is assumed.
    pub contradictions: u64,
}

impl SlackTotals {
    /// Takes in the extremes of the bounds of a stretch.
    pub(super) fn add_extremes(&mut self, lo: [i64; 2], hi: [i64; 2]) {
        let wider = |[a, b]: [i64; 2], [c, d]: [i64; 2]| [a.min(c), b.max(d)];
        self.extremes = Some(match self.extremes {
            Some([seen_lo, seen_hi]) => [wider(seen_lo, lo), wider(seen_hi, hi)],
            None => [lo, hi],
        });
    }

    /// Takes in a stretch: the first and the last values of its bounds.
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
