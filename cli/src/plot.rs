//! Plots as SVG. Coordinates are integers in tenths of a pixel, so that the bytes are the same on every
//! machine. *Chosen* over a library: the available ones round to whole pixels with the machine's own
//! logarithms, and distinguish curves by colour alone.

mod axis;

use askama::Template;
use simulator::experiment::plot::{AxisScale, PlotMark, PlotSpec};
use simulator::experiment::result_table::MilliValue;

use self::axis::PixelAxis;

/// Ends of the axes, in tenths of a pixel, as the template draws them.
const LEFT: i64 = 840;
const RIGHT: i64 = 6000;
const TOP: i64 = 560;
const BOTTOM: i64 = 4500;

/// Colours that are distinct for the colour-blind (Okabe and Ito), without yellow, which is too faint
/// for lines.
const COLOURS: [&str; 7] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"];

/// Paths around a point: each curve has its own shape, besides its colour.
const SHAPES: [&str; 5] = [
    "m-3.6 0a3.6 3.6 0 1 0 7.2 0a3.6 3.6 0 1 0-7.2 0",
    "m-3.4-3.4h6.8v6.8h-6.8z",
    "m0-4.4l4.2 7.6h-8.4z",
    "m0-4.8l4.8 4.8l-4.8 4.8l-4.8-4.8z",
    "m-4.2-3.2h8.4l-4.2 7.6z",
];

type PixelPlace = (MilliValue, MilliValue);

#[derive(Template)]
#[template(path = "plot.svg")]
struct PlotPicture<'a> {
    plot: &'a PlotSpec,
    /// Coordinates and labels on each axis.
    ticks: [Vec<(MilliValue, String)>; 2],
    curves: Vec<CurvePicture<'a>>,
    /// Without a first coordinate a mark is a line.
    marks: Vec<(Option<MilliValue>, MilliValue)>,
    /// Names of marks, each once, and true for a point.
    names: Vec<(&'a str, bool)>,
}

/// A curve as a line with points, or as bars.
struct CurvePicture<'a> {
    name: &'a str,
    colour: &'static str,
    shape: &'static str,
    points: Vec<PixelPlace>,
    /// Error bars: along, and up to both ends.
    errors: Vec<(MilliValue, MilliValue, MilliValue)>,
    bars: Vec<PlotBar>,
}

struct PlotBar {
    left: MilliValue,
    middle: MilliValue,
    top: MilliValue,
    width: MilliValue,
    height: MilliValue,
    value: String,
}

pub(crate) fn draw(plot: &PlotSpec) -> String {
    let x = PixelAxis::new(plot.x.scale, &reach(plot, |(x, _)| x), (LEFT, RIGHT));
    let y = PixelAxis::new(plot.y.scale, &reach(plot, |(_, y)| y), (BOTTOM, TOP));
    let ticks = [&x, &y].map(|axis| {
        let ticks = axis.ticks().into_iter();
        ticks.filter_map(|(value, text)| Some((pixels(axis.place(value)?), text))).collect()
    });
    let curves = (0..).zip(&plot.curves).map(|(number, curve)| {
        let points = curve.points.iter();
        let places =
            points.filter_map(|(along, up)| Some(((x.place(*along)?, y.place(*up)?), *up)));
        let errors = curve.points.iter().zip(&curve.errors).filter_map(|((along, up), half)| {
            let [low, high] = [-half.0, half.0].map(|by| up.0.saturating_add(by).max(0));
            let ends = [x.place(*along)?, y.place(MilliValue(low))?, y.place(MilliValue(high))?];
            let [x, low, high] = ends.map(pixels);
            Some((x, low, high))
        });
        let (mut points, mut bars) = (Vec::new(), Vec::new());
        match plot.x.scale {
            AxisScale::Names(names) => {
                let counts = [names.len(), plot.curves.len()];
                bars = places.map(|place| bar(place, number, counts)).collect();
            }
            AxisScale::Linear | AxisScale::Doubling => {
                points = places.map(|((x, y), _)| (pixels(x), pixels(y))).collect();
            }
        }
        let place = usize::try_from(number).unwrap_or_default();
        let colour = COLOURS.iter().cycle().nth(place).copied().unwrap_or_default();
        let shape = SHAPES.iter().cycle().nth(place).copied().unwrap_or_default();
        CurvePicture { name: &curve.name, colour, shape, points, errors: errors.collect(), bars }
    });
    let mark = |mark: &PlotMark| {
        let across = mark.x.map(|across| x.place(across).map(pixels));
        // A mark beyond the axis is left out.
        let across = across.map_or(Some(None), |place| place.map(Some))?;
        Some((across, pixels(y.place(mark.y)?)))
    };
    let mut names: Vec<(&str, bool)> = Vec::new();
    for mark in &plot.marks {
        let this = (mark.name.as_str(), mark.x.is_some());
        if !names.contains(&this) {
            names.push(this);
        }
    }
    let marks = plot.marks.iter().filter_map(mark).collect();
    let picture = PlotPicture { plot, ticks, curves: curves.collect(), marks, names };
    // Writing to a string does not fail.
    picture.render().unwrap_or_default()
}

/// All values along an axis.
fn reach(plot: &PlotSpec, of: impl Fn((MilliValue, MilliValue)) -> MilliValue) -> Vec<MilliValue> {
    let points = plot.curves.iter().flat_map(|curve| curve.points.iter().copied());
    let somewhere = points.clone().next().map_or(MilliValue(0), |(x, _)| x);
    let marks = plot.marks.iter().map(|mark| (mark.x.unwrap_or(somewhere), mark.y));
    let tops = plot.curves.iter().flat_map(|curve| curve.points.iter().zip(&curve.errors));
    let tops = tops.map(|((x, y), half)| (*x, MilliValue(y.0.saturating_add(half.0))));
    points.chain(marks).chain(tops).map(of).collect()
}

/// A bar of curve `number`. All bars of a name fill four fifths of its share of the axis.
fn bar(
    ((middle, top), value): ((i64, i64), MilliValue),
    number: i64,
    counts: [usize; 2],
) -> PlotBar {
    let [names, curves] = counts.map(|count| i64::try_from(count).unwrap_or(1).max(1));
    let share = (RIGHT - LEFT) / names;
    let width = share * 4 / 5 / curves;
    let left = middle - share * 2 / 5 + width * number;
    PlotBar {
        left: pixels(left),
        middle: pixels(left + width / 2),
        top: pixels(top),
        width: pixels(width - 10),
        height: pixels((BOTTOM - top).max(0)),
        value: value.with_places(1).to_string(),
    }
}

const fn pixels(tenths: i64) -> MilliValue {
    MilliValue(tenths.saturating_mul(100))
}

#[cfg(test)]
mod tests {
    use super::*;
    use simulator::experiment::plot::{PlotAxis, PlotCurve};

    fn plot() -> PlotSpec {
        let point = |x, y| (MilliValue::whole(x), MilliValue::whole(y));
        PlotSpec {
            name: "p",
            title: "a < b & c".to_owned(),
            x: PlotAxis::linear("clients"),
            y: PlotAxis::linear("round trip (µs)"),
            curves: vec![PlotCurve {
                name: "here".to_owned(),
                points: vec![point(0, 0), point(8, 40)],
                errors: Vec::new(),
            }],
            marks: vec![
                PlotMark {
                    name: "published".to_owned(),
                    x: Some(MilliValue::whole(4)),
                    y: MilliValue::whole(20),
                },
                PlotMark { name: "published".to_owned(), x: None, y: MilliValue::whole(40) },
            ],
        }
    }

    #[test]
    fn every_tag_is_closed_and_all_text_is_escaped() {
        let svg = draw(&plot());
        let mut open = Vec::new();
        for tag in svg.split('<').skip(1) {
            let (tag, text) = tag.split_once('>').unwrap();
            assert!(!text.contains('>'), "{text}");
            assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
            match (tag.strip_prefix('/'), tag.ends_with('/')) {
                (Some(name), _) => assert_eq!(open.pop(), Some(name)),
                (None, true) => {}
                (None, false) => open.push(tag.split(' ').next().unwrap()),
            }
        }
        assert!(open.is_empty(), "{open:?}");
        assert_eq!(svg.matches("a &#60; b &#38; c").count(), 2);
    }

    #[test]
    fn a_curve_runs_from_corner_to_corner_with_marks_and_error_bars_between() {
        let svg = draw(&plot());
        assert!(svg.contains("<path class=\"curve\" d=\"M84 450L600 56\"/>"), "{svg}");
        // The middle is (342, 253).
        assert!(svg.contains("<path class=\"mark\" d=\"M342 253m"));
        assert!(svg.contains("<path class=\"level\" d=\"M84 56H600\"/>"));
        let mut plot = plot();
        plot.curves[0].points = vec![(MilliValue::whole(8), MilliValue::whole(20))];
        plot.curves[0].errors = vec![MilliValue::whole(30)];
        // The axis goes to 50: as much above the point as below it, up to the axis.
        let svg = draw(&plot);
        assert!(svg.contains("d=\"M600 450V56\"/>") && svg.contains("d=\"M600 292.4"), "{svg}");
    }
}
