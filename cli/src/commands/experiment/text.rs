//! Results of experiments as text: aligned tables.

use analyzer::render::{StyledLine, TextStyle, wrapped};
use simulator::experiment::ExperimentEffort;
use simulator::experiment::result_table::{
    CalibratedSetting, FigureOrigin, MilliValue, PublishedFigure, ResultTable, TableCell,
    TableColumn,
};

use super::ExperimentOutcome;

/// Width of running text.
const WIDTH: usize = 95;

/// A column of a text table.
struct TextColumn {
    head: [String; 2],
    cells: Vec<(TextStyle, String)>,
    side: ColumnAlignment,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ColumnAlignment {
    Left,
    Right,
}

pub(super) fn print(outcome: &ExperimentOutcome, out: &mut impl FnMut(StyledLine)) {
    let ExperimentOutcome { experiment, effort, findings } = outcome;
    out(StyledLine::of(TextStyle::Head, format!("{}: {}", experiment.name, experiment.title)));
    experiment.text.lines().for_each(|line| out(StyledLine::of(TextStyle::Plain, line)));
    if *effort == ExperimentEffort::Quick {
        out(StyledLine::of(
            TextStyle::Notice,
            "Quick mode: shorter runs at fewer points than documented.",
        ));
    }
    section("Published and measured numbers", &figures(&findings.figures), out);
    section("Parameters", &settings(&findings.settings), out);
    for table in &findings.tables {
        section(&table.title, &strips(table), out);
    }
    if !findings.notes.is_empty() {
        out(StyledLine::default());
    }
    for note in findings.notes {
        for (n, line) in wrapped(note.split_whitespace(), " ", WIDTH - 2).iter().enumerate() {
            let lead = if n == 0 { "- " } else { "  " };
            out(StyledLine::of(TextStyle::Dim, lead).and(TextStyle::Plain, line));
        }
    }
}

fn figures(figures: &[PublishedFigure]) -> Vec<TextColumn> {
    let number = |number: Option<MilliValue>| number.map_or_else(String::new, |n| n.to_string());
    let each =
        |of: &dyn Fn(&PublishedFigure) -> (TextStyle, String)| figures.iter().map(of).collect();
    vec![
        TextColumn::left("figure", each(&|figure| (TextStyle::Plain, figure.what.clone()))),
        TextColumn::right(
            "published",
            each(&|figure| (TextStyle::Plain, number(figure.published))),
        ),
        TextColumn::right("measured", each(&|figure| (TextStyle::Good, number(figure.ours)))),
        TextColumn::left("", each(&|figure| (TextStyle::Dim, figure.unit.to_owned()))),
        TextColumn::left(
            "origin",
            each(&|figure| (role(figure.origin), figure.origin.name().to_owned())),
        ),
        TextColumn::left("source", each(&|figure| (TextStyle::Dim, figure.source.to_owned()))),
    ]
}

const fn role(origin: FigureOrigin) -> TextStyle {
    match origin {
        FigureOrigin::Set => TextStyle::Notice,
        FigureOrigin::Follows => TextStyle::Good,
    }
}

fn settings(settings: &[CalibratedSetting]) -> Vec<TextColumn> {
    let each =
        |of: &dyn Fn(&CalibratedSetting) -> (TextStyle, String)| settings.iter().map(of).collect();
    vec![
        TextColumn::left("parameter", each(&|setting| (TextStyle::Plain, setting.name.to_owned()))),
        TextColumn::right("value", each(&|setting| (TextStyle::Plain, setting.value.to_string()))),
        TextColumn::left("", each(&|setting| (TextStyle::Dim, setting.unit.to_owned()))),
        TextColumn::left("why", each(&|setting| (TextStyle::Dim, setting.why.clone()))),
    ]
}

fn strips(table: &ResultTable) -> Vec<TextColumn> {
    let strip = |(place, column): (usize, &TableColumn)| {
        let cells: Vec<&TableCell> = table.rows.iter().filter_map(|row| row.get(place)).collect();
        let words = cells.iter().any(|cell| matches!(cell, TableCell::Word(_)));
        let text = |cell: &&TableCell| match cell {
            TableCell::Nothing => (TextStyle::Dim, "–".to_owned()),
            TableCell::Word(word) => (TextStyle::Plain, word.clone()),
            TableCell::Number(number) => (TextStyle::Plain, number.with_places(column.places)),
        };
        TextColumn {
            head: [column.head.to_string(), column.unit.to_owned()],
            cells: cells.iter().map(text).collect(),
            side: if words { ColumnAlignment::Left } else { ColumnAlignment::Right },
        }
    };
    table.columns.iter().enumerate().map(strip).collect()
}

impl TextColumn {
    fn left(head: &str, cells: Vec<(TextStyle, String)>) -> Self {
        Self { head: [head.to_owned(), String::new()], cells, side: ColumnAlignment::Left }
    }

    fn right(head: &str, cells: Vec<(TextStyle, String)>) -> Self {
        Self { head: [head.to_owned(), String::new()], cells, side: ColumnAlignment::Right }
    }

    fn width(&self) -> usize {
        let texts = self.head.iter().chain(self.cells.iter().map(|(_, text)| text));
        texts.map(|text| text.chars().count()).max().unwrap_or(0)
    }

    fn padded(&self, text: &str, width: usize) -> String {
        match self.side {
            ColumnAlignment::Left => format!("{text:<width$}"),
            ColumnAlignment::Right => format!("{text:>width$}"),
        }
    }
}

/// Prints a table alone.
pub(crate) fn table(table: &ResultTable, out: &mut impl FnMut(StyledLine)) {
    lines(&strips(table), out);
}

/// Prints a table with its title, unless it has no rows.
fn section(title: &str, strips: &[TextColumn], out: &mut impl FnMut(StyledLine)) {
    if strips.iter().all(|strip| strip.cells.is_empty()) {
        return;
    }
    out(StyledLine::default());
    out(StyledLine::of(TextStyle::Head, title));
    lines(strips, out);
}

fn lines(strips: &[TextColumn], out: &mut impl FnMut(StyledLine)) {
    let rows = strips.iter().map(|strip| strip.cells.len()).max().unwrap_or(0);
    let widths: Vec<usize> = strips.iter().map(TextColumn::width).collect();
    for (n, role) in [TextStyle::Head, TextStyle::Dim].into_iter().enumerate() {
        let heads: Vec<&str> =
            strips.iter().map(|strip| strip.head.get(n).map_or("", String::as_str)).collect();
        if heads.iter().any(|head| !head.is_empty()) {
            let cells = strips.iter().zip(&widths).zip(heads);
            out(cells.fold(StyledLine::default(), |line, ((strip, width), head)| {
                line.and(role, strip.padded(head, *width)).and(TextStyle::Plain, "  ")
            }));
        }
    }
    for row in 0..rows {
        let cells = strips.iter().zip(&widths);
        out(cells.fold(StyledLine::default(), |line, (strip, width)| {
            let nothing = (TextStyle::Plain, String::new());
            let (role, text) = strip.cells.get(row).unwrap_or(&nothing);
            line.and(*role, strip.padded(text, *width)).and(TextStyle::Plain, "  ")
        }));
    }
}
