//! Plots as data; rendering is up to the caller.

use std::borrow::Cow;

use super::result_table::MilliValue;

/// Plot of an experiment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlotSpec {
    /// File name part, unique within the experiment.
    pub name: &'static str,
    /// Title.
    pub title: String,
    /// Horizontal axis.
    pub x: PlotAxis,
    /// Vertical axis.
    pub y: PlotAxis,
    /// Measured values.
    pub curves: Vec<PlotCurve>,
    /// Published values.
    pub marks: Vec<PlotMark>,
}

/// Axis of a plot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlotAxis {
    /// Label with the unit: `bandwidth (MB/s)`.
    pub label: Cow<'static, str>,
    /// Scale.
    pub scale: AxisScale,
}

/// Scale of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AxisScale {
    /// Linear, including zero.
    Linear,
    /// Logarithmic to base 2; values of zero or less are left out.
    Doubling,
    /// Categories, numbered from 0; curves are drawn as bars.
    Names(&'static [String]),
}

/// Place along both axes.
pub type CurvePoint = (MilliValue, MilliValue);

/// Measured values, ordered by x.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlotCurve {
    /// Name in the legend.
    pub name: String,
    /// Points.
    pub points: Vec<CurvePoint>,
    /// Half the lengths of their error bars; empty for a curve without.
    pub errors: Vec<MilliValue>,
}

/// Published value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlotMark {
    /// Name in the legend.
    pub name: String,
    /// Position; a horizontal line if there is none.
    pub x: Option<MilliValue>,
    /// Value.
    pub y: MilliValue,
}

impl PlotCurve {
    pub(super) fn new(name: &str, points: impl IntoIterator<Item = CurvePoint>) -> Self {
        let (name, points) = (name.to_owned(), points.into_iter().collect());
        Self { name, points, errors: Vec::new() }
    }
}

impl PlotAxis {
    /// Linear axis.
    pub const fn linear(label: &'static str) -> Self {
        Self { label: Cow::Borrowed(label), scale: AxisScale::Linear }
    }
}
