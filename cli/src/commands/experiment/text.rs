//! Results of experiments as text: aligned tables.

use analyzer::render::{StyledLine, TextStyle, wrapped};
use simulator::experiment::ExperimentEffort;
use simulator::experiment::result_table::{
    CalibratedSetting, FigureOrigin, MilliValue, PublishedFigure, ResultTable, TableCell,
    TableColumn,
};

use super::ExperimentOutcome;
use crate::text_table::{TextColumn, print_columns};

const WIDTH: usize = 95;

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
    section("Published numbers and ours", &figures(&findings.figures), out);
    section("Parameters", &settings(&findings.settings), out);
    for table in &findings.tables {
        section(&table.title, &strips(table), out);
    }
    if !experiment.notes.is_empty() {
        out(StyledLine::default());
    }
    for note in &experiment.notes {
        for (n, line) in wrapped(note.split_whitespace(), " ", WIDTH - 2).iter().enumerate() {
            let lead = if n == 0 { "- " } else { "  " };
            out(StyledLine::of(TextStyle::Dim, lead).and(TextStyle::Plain, line));
        }
    }
}

fn figures(figures: &[PublishedFigure]) -> Vec<TextColumn> {
    let number = |number: Option<MilliValue>| number.map_or_else(String::new, |n| n.to_string());
    let dim = |text: &str| (TextStyle::Dim, text.to_owned());
    let origin = |figure: &PublishedFigure| (role(figure.origin), figure.origin.name().to_owned());
    let mut columns = vec![TextColumn::of("figure", figures, |it| it.what.clone()).left()];
    if figures.iter().any(|figure| figure.published.is_some()) {
        columns.push(TextColumn::of("published", figures, |figure| number(figure.published)));
    }
    columns.extend([
        TextColumn::styled("ours", figures, |it| (TextStyle::Good, number(it.ours))),
        TextColumn::styled("", figures, |figure| dim(figure.unit)).left(),
        TextColumn::styled("origin", figures, origin).left(),
        TextColumn::styled("source", figures, |figure| dim(&figure.source)).left(),
    ]);
    columns
}

const fn role(origin: FigureOrigin) -> TextStyle {
    match origin {
        FigureOrigin::Set => TextStyle::Notice,
        FigureOrigin::Measured => TextStyle::Good,
        FigureOrigin::Computed | FigureOrigin::Quoted => TextStyle::Dim,
    }
}

fn settings(settings: &[CalibratedSetting]) -> Vec<TextColumn> {
    let dim = |text: &str| (TextStyle::Dim, text.to_owned());
    vec![
        TextColumn::of("parameter", settings, |setting| setting.name.to_owned()).left(),
        TextColumn::of("value", settings, |setting| setting.value.to_string()),
        TextColumn::styled("", settings, |setting| dim(setting.unit)).left(),
        TextColumn::styled("why", settings, |setting| dim(&setting.why)).left(),
    ]
}

fn strips(table: &ResultTable) -> Vec<TextColumn> {
    let strip = |(place, column): (usize, &TableColumn)| {
        let text = |row: &Vec<TableCell>| match row.get(place) {
            Some(TableCell::Word(word)) => (TextStyle::Plain, word.clone()),
            Some(TableCell::Number(it)) => (TextStyle::Plain, it.with_places(column.places)),
            Some(TableCell::Nothing) | None => (TextStyle::Dim, "–".to_owned()),
        };
        let mut strip = TextColumn::styled(&column.head, &table.rows, text);
        strip.head[1] = column.unit.to_owned();
        let is_word = |row: &Vec<TableCell>| matches!(row.get(place), Some(TableCell::Word(_)));
        if table.rows.iter().any(is_word) { strip.left() } else { strip }
    };
    table.columns.iter().enumerate().map(strip).collect()
}

pub(crate) fn table(table: &ResultTable, out: &mut impl FnMut(StyledLine)) {
    print_columns(&strips(table), out);
}

/// Prints a table with its title, unless it has no rows.
fn section(title: &str, strips: &[TextColumn], out: &mut impl FnMut(StyledLine)) {
    if strips.iter().all(TextColumn::is_empty) {
        return;
    }
    out(StyledLine::default());
    out(StyledLine::of(TextStyle::Head, title));
    print_columns(strips, out);
}
