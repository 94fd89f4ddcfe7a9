//! Series of points along an axis: a curve for each, and a row for each of its points.

use super::measure::{ExperimentPoint, PointMeasurement};
use super::plot::PlotCurve;
use super::result_table::{MilliValue, TableCell};

/// Row of a point, and its place on the curve if there is one.
pub(super) type SeriesPoint = (Vec<TableCell>, Option<(MilliValue, MilliValue)>);

/// Points of all series, one after the other.
pub(super) fn points<S, X>(
    series: &[S],
    axis: &[X],
    point: impl Fn(&S, &X) -> ExperimentPoint,
) -> Vec<ExperimentPoint> {
    series
        .iter()
        .flat_map(|one| axis.iter().map(move |x| (one, x)))
        .map(|(s, x)| point(s, x))
        .collect()
}

/// Rows and curves of the measurements of [`points`].
pub(super) fn curves<S, X>(
    series: &[S],
    axis: &[X],
    readings: &[PointMeasurement],
    name: impl Fn(&S) -> String,
    point: impl Fn(&S, &X, &PointMeasurement) -> SeriesPoint,
) -> (Vec<Vec<TableCell>>, Vec<PlotCurve>) {
    let mut rows = Vec::new();
    let curve = |(one, readings): (&S, &[PointMeasurement])| {
        let mut curve = PlotCurve::new(&name(one), []);
        for (x, reading) in axis.iter().zip(readings) {
            let (row, place) = point(one, x, reading);
            rows.push(row);
            curve.points.extend(place);
        }
        curve
    };
    let curves = series.iter().zip(readings.chunks(axis.len().max(1))).map(curve).collect();
    (rows, curves)
}
