//! What an experiment's pictures are to show; drawing them is for others.

use super::result_table::MilliValue;

/// A picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlotSpec {
    /// For files, unique in an experiment.
    pub name: &'static str,
    /// What it shows.
    pub title: String,
    /// To the right.
    pub x: PlotAxis,
    /// Upward.
    pub y: PlotAxis,
    /// What was measured.
    pub curves: Vec<PlotCurve>,
    /// What is published.
    pub marks: Vec<PlotMark>,
}

/// An axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlotAxis {
    /// What, with its unit: `bandwidth (MB/s)`.
    pub label: &'static str,
    /// Its steps.
    pub scale: AxisScale,
}

/// The steps of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AxisScale {
    /// Even; zero is shown.
    Linear,
    /// Even for each doubling; what is not above zero is not shown.
    Doubling,
    /// One for each name; 0 is the first. Its curves are drawn as bars.
    Names(&'static [&'static str]),
}

/// What was measured at several places, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlotCurve {
    /// For the legend.
    pub name: String,
    /// Where, and what.
    pub points: Vec<(MilliValue, MilliValue)>,
}

/// A published figure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlotMark {
    /// For the legend.
    pub name: String,
    /// Where; without it, it is a level that holds everywhere.
    pub x: Option<MilliValue>,
    /// What.
    pub y: MilliValue,
}

impl PlotAxis {
    /// One of even steps, from zero.
    #[must_use]
    pub const fn linear(label: &'static str) -> Self {
        Self { label, scale: AxisScale::Linear }
    }

    /// One of doublings.
    #[must_use]
    pub const fn doubling(label: &'static str) -> Self {
        Self { label, scale: AxisScale::Doubling }
    }
}
