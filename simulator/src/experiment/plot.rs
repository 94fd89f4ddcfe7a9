//! What an experiment's pictures are to show; drawing them is for others.

use super::table::Milli;

/// A picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plot {
    /// For files, unique in an experiment.
    pub name: &'static str,
    /// What it shows.
    pub title: String,
    /// To the right.
    pub x: Axis,
    /// Upward.
    pub y: Axis,
    /// What was measured.
    pub curves: Vec<Curve>,
    /// What is published.
    pub marks: Vec<Mark>,
}

/// An axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Axis {
    /// What, with its unit: `bandwidth (MB/s)`.
    pub label: &'static str,
    /// Its steps.
    pub scale: Scale,
}

/// The steps of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Even; zero is shown.
    Linear,
    /// Even for each doubling; what is not above zero is not shown.
    Doubling,
    /// One for each name; 0 is the first. Its curves are drawn as bars.
    Names(&'static [&'static str]),
}

/// What was measured at several places, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Curve {
    /// For the legend.
    pub name: String,
    /// Where, and what.
    pub points: Vec<(Milli, Milli)>,
}

/// A published figure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// For the legend.
    pub name: String,
    /// Where; without it, it is a level that holds everywhere.
    pub x: Option<Milli>,
    /// What.
    pub y: Milli,
}

impl Axis {
    /// One of even steps, from zero.
    #[must_use]
    pub const fn linear(label: &'static str) -> Self {
        Self { label, scale: Scale::Linear }
    }

    /// One of doublings.
    #[must_use]
    pub const fn doubling(label: &'static str) -> Self {
        Self { label, scale: Scale::Doubling }
    }
}
