//! Plots as SVG. Coordinates are integers in tenths of a pixel, so that the bytes are the same on every
//! machine. *Chosen* over a library: the available ones round to whole pixels with the machine's own
//! logarithms, and distinguish curves by colour alone.

mod axis;

use std::fmt::{self, Display};

use simulator::experiment::plot::{AxisScale, PlotCurve, PlotMark, PlotSpec};
use simulator::experiment::result_table::MilliValue;

use self::axis::PixelAxis;

/// Size of the plot, in pixels.
const SIZE: (i64, i64) = (920, 520);
/// Positions of the axes, in pixels.
const LEFT: i64 = 84;
const RIGHT: i64 = 600;
const TOP: i64 = 56;
const BOTTOM: i64 = 450;
/// Left edge of the legend.
const LEGEND: i64 = 622;

/// Colours that are distinct for the colour-blind (Okabe and Ito), without yellow, which is too faint
/// for lines.
const COLOURS: [&str; 7] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"];

pub(crate) const STYLE: &str = "\
text{font:13px sans-serif;fill:#222}.title{font-size:17px;font-weight:bold}.tick{font-size:12px}.value{font-size:10px}\
.grid{stroke:#ddd}.axis{stroke:#222;fill:none}.curve{fill:none;stroke-width:2}\
.mark{stroke:#222;stroke-width:1.6;fill:#fff}.level{stroke:#222;stroke-width:1.4;\
stroke-dasharray:6 4}";

/// A coordinate in tenths of a pixel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct TenthPixels(i64);

impl Display for TenthPixels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&MilliValue(self.0.saturating_mul(100)).to_string())
    }
}

/// The two axes.
struct PlotFrame {
    x: PixelAxis,
    y: PixelAxis,
}

/// Draws a plot.
pub(crate) fn draw(plot: &PlotSpec) -> String {
    let frame = PlotFrame {
        x: PixelAxis::new(plot.x.scale, &reach(plot, |(x, _)| x), (LEFT * 10, RIGHT * 10)),
        y: PixelAxis::new(plot.y.scale, &reach(plot, |(_, y)| y), (BOTTOM * 10, TOP * 10)),
    };
    let (width, height) = SIZE;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         width=\"{width}\" height=\"{height}\" role=\"img\">\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>\n\
         <text class=\"title\" x=\"{LEFT}\" y=\"32\">{title}</text>\n",
        title = escaped(&plot.title),
    );
    frame.draw(plot, &mut svg);
    for (n, curve) in plot.curves.iter().enumerate() {
        match plot.x.scale {
            AxisScale::Names(names) => {
                let share = (RIGHT - LEFT) * 10 / i64::try_from(names.len()).unwrap_or(1).max(1);
                frame.bars(n, (share, plot.curves.len()), curve, &mut svg);
            }
            AxisScale::Linear | AxisScale::Doubling => frame.curve(n, curve, &mut svg),
        }
    }
    for mark in &plot.marks {
        frame.mark(mark, &mut svg);
    }
    legend(plot, &mut svg);
    svg + "</svg>\n"
}

/// All values along an axis.
fn reach(plot: &PlotSpec, of: impl Fn((MilliValue, MilliValue)) -> MilliValue) -> Vec<MilliValue> {
    let points = plot.curves.iter().flat_map(|curve| curve.points.iter().copied());
    let somewhere = points.clone().next().map_or(MilliValue(0), |(x, _)| x);
    let marks = plot.marks.iter().map(|mark| (mark.x.unwrap_or(somewhere), mark.y));
    points.chain(marks).map(of).collect()
}

impl PlotFrame {
    fn draw(&self, plot: &PlotSpec, svg: &mut String) {
        let (middle_x, middle_y) = (i64::midpoint(LEFT, RIGHT), i64::midpoint(TOP, BOTTOM));
        for (value, text) in self.x.ticks() {
            let Some(x) = self.x.place(value) else { continue };
            let grid = line("grid", (x, TOP * 10), (x, BOTTOM * 10));
            let (x, y) = (TenthPixels(x), BOTTOM + 18);
            *svg += &format!(
                "{grid}<text class=\"tick\" x=\"{x}\" y=\"{y}\" text-anchor=\"middle\">{text}</text>\n"
            );
        }
        for (value, text) in self.y.ticks() {
            let Some(y) = self.y.place(value) else { continue };
            let grid = line("grid", (LEFT * 10, y), (RIGHT * 10, y));
            let (x, y) = (LEFT - 8, TenthPixels(y));
            *svg += &format!(
                "{grid}<text class=\"tick\" x=\"{x}\" y=\"{y}\" dy=\"0.35em\" \
                 text-anchor=\"end\">{text}</text>\n"
            );
        }
        *svg += &format!(
            "<path class=\"axis\" d=\"M{LEFT} {TOP}V{BOTTOM}H{RIGHT}\"/>\n\
             <text x=\"{middle_x}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n\
             <text x=\"20\" y=\"{middle_y}\" text-anchor=\"middle\" \
             transform=\"rotate(-90 20 {middle_y})\">{}</text>\n",
            BOTTOM + 46,
            escaped(&plot.x.label),
            escaped(&plot.y.label)
        );
    }

    fn curve(&self, number: usize, curve: &PlotCurve, svg: &mut String) {
        let place =
            |(x, y): &(MilliValue, MilliValue)| Some((self.x.place(*x)?, self.y.place(*y)?));
        let places: Vec<(i64, i64)> = curve.points.iter().filter_map(place).collect();
        let shapes: String = places.iter().map(|place| shape(number, *place)).collect();
        *svg += &format!(
            "<g stroke=\"{colour}\" fill=\"{colour}\">\
             <polyline class=\"curve\" points=\"{}\"/>{shapes}</g>\n",
            points(&places),
            colour = colour(number),
        );
    }

    /// Draws curve `number` of `of` as bars with their values. All bars of a name fill four fifths of its
    /// share of the axis.
    fn bars(&self, number: usize, (share, of): (i64, usize), curve: &PlotCurve, svg: &mut String) {
        let [number_here, of] = [number, of].map(|count| i64::try_from(count).unwrap_or(1).max(0));
        let width = share * 4 / 5 / of.max(1);
        for (x, y) in &curve.points {
            let (Some(middle), Some(top)) = (self.x.place(*x), self.y.place(*y)) else { continue };
            let left = middle - share * 2 / 5 + width * number_here;
            *svg += &format!(
                "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\"/>\
                 <text class=\"value\" x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n",
                TenthPixels(left),
                TenthPixels(top),
                TenthPixels(width - 10),
                TenthPixels((BOTTOM * 10 - top).max(0)),
                colour(number),
                TenthPixels(left + width / 2),
                TenthPixels(top - 40),
                y.with_places(1)
            );
        }
    }

    fn mark(&self, mark: &PlotMark, svg: &mut String) {
        let Some(y) = self.y.place(mark.y) else { return };
        match mark.x.map(|x| self.x.place(x)) {
            Some(Some(x)) => *svg += &(star((x, y)) + "\n"),
            Some(None) => {}
            None => *svg += &(line("level", (LEFT * 10, y), (RIGHT * 10, y)) + "\n"),
        }
    }
}

/// Draws the names of curves and marks, each name once.
fn legend(plot: &PlotSpec, svg: &mut String) {
    let mut at = TOP + 8;
    let mut entry = |at: &mut i64, sign: String, name: &str| {
        let (x, name) = (LEGEND + 32, escaped(name));
        *svg += &format!("{sign}<text x=\"{x}\" y=\"{at}\" dy=\"0.35em\">{name}</text>\n");
        *at += 22;
    };
    for (n, curve) in plot.curves.iter().enumerate() {
        let colour = colour(n);
        let sign = match plot.x.scale {
            AxisScale::Names(_) => format!(
                "<rect x=\"{}\" y=\"{}\" width=\"14\" height=\"14\" fill=\"{colour}\"/>",
                LEGEND + 5,
                at - 7
            ),
            AxisScale::Linear | AxisScale::Doubling => format!(
                "<g stroke=\"{colour}\" fill=\"{colour}\"><path class=\"curve\" \
                 d=\"M{LEGEND} {at}h24\"/>{}</g>",
                shape(n, (LEGEND * 10 + 120, at * 10))
            ),
        };
        entry(&mut at, sign, &curve.name);
    }
    let mut named: Vec<(&str, bool)> = Vec::new();
    for mark in &plot.marks {
        let this = (mark.name.as_str(), mark.x.is_some());
        if named.contains(&this) {
            continue;
        }
        named.push(this);
        let sign = match mark.x {
            Some(_) => star((LEGEND * 10 + 120, at * 10)),
            None => format!("<path class=\"level\" d=\"M{LEGEND} {at}h24\"/>"),
        };
        entry(&mut at, sign, &mark.name);
    }
}

fn colour(number: usize) -> &'static str {
    COLOURS.get(number % COLOURS.len()).copied().unwrap_or("#000000")
}

/// A point of a curve: each curve has its own shape, besides its colour.
fn shape(number: usize, (x, y): (i64, i64)) -> String {
    let polygon = |corners: &[(i64, i64)]| {
        format!("<polygon points=\"{}\"/>", points(&around((x, y), corners)))
    };
    match number % 5 {
        0 => format!("<circle cx=\"{}\" cy=\"{}\" r=\"3.6\"/>", TenthPixels(x), TenthPixels(y)),
        1 => polygon(&[(-34, -34), (34, -34), (34, 34), (-34, 34)]),
        2 => polygon(&[(0, -44), (42, 32), (-42, 32)]),
        3 => polygon(&[(0, -48), (48, 0), (0, 48), (-48, 0)]),
        _ => polygon(&[(-42, -32), (42, -32), (0, 44)]),
    }
}

/// A published number: a hollow star with four points.
fn star((x, y): (i64, i64)) -> String {
    let rays = [(0, -90), (24, -24), (90, 0), (24, 24), (0, 90), (-24, 24), (-90, 0), (-24, -24)];
    format!("<polygon class=\"mark\" points=\"{}\"/>", points(&around((x, y), &rays)))
}

/// The corners of a shape with its middle at a place.
fn around((x, y): (i64, i64), corners: &[(i64, i64)]) -> Vec<(i64, i64)> {
    corners.iter().map(|(dx, dy)| (x + dx, y + dy)).collect()
}

fn points(places: &[(i64, i64)]) -> String {
    let point = |(x, y): &(i64, i64)| format!("{},{}", TenthPixels(*x), TenthPixels(*y));
    places.iter().map(point).collect::<Vec<_>>().join(" ")
}

fn line(class: &str, from: (i64, i64), to: (i64, i64)) -> String {
    let [x1, y1, x2, y2] = [from.0, from.1, to.0, to.1].map(TenthPixels);
    format!("<line class=\"{class}\" x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\"/>")
}

pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use simulator::experiment::plot::PlotAxis;

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
        assert_eq!(svg.matches("a &lt; b &amp; c").count(), 2);
    }

    #[test]
    fn a_curve_runs_from_corner_to_corner_and_a_mark_stands_between() {
        let svg = draw(&plot());
        assert!(svg.contains("<polyline class=\"curve\" points=\"84,450 600,56\"/>"), "{svg}");
        // The middle is (342, 253).
        assert!(svg.contains("<polygon class=\"mark\" points=\"342,244 344.4,250.6 351,253"));
        assert!(svg.contains("<line class=\"level\" x1=\"84\" y1=\"56\" x2=\"600\" y2=\"56\"/>"));
    }
}
