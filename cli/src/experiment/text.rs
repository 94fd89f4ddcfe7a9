//! What an experiment finds, for people: aligned tables.

use analyzer::text::{Line, Role, wrapped};
use simulator::experiment::Effort;
use simulator::experiment::table::{Cell, Column, Figure, Milli, Origin, Setting, Table};

use super::Outcome;

/// Letters in a line of running text.
const WIDTH: usize = 95;

/// A column on its way out: its head lines, its cells, and to which side they go.
struct Strip {
    head: [String; 2],
    cells: Vec<(Role, String)>,
    side: Side,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Left,
    Right,
}

/// Prints all of it.
pub(super) fn print(outcome: &Outcome, out: &mut impl FnMut(Line)) {
    let Outcome { experiment, effort, findings } = outcome;
    out(Line::of(Role::Head, format!("{}: {}", experiment.name, experiment.title)));
    experiment.text.lines().for_each(|line| out(Line::of(Role::Plain, line)));
    if *effort == Effort::Quick {
        out(Line::of(
            Role::Notice,
            "Quick: shorter runs at fewer points than the documentation's.",
        ));
    }
    section("Published and here", &figures(&findings.figures), out);
    section("What was set", &settings(&findings.settings), out);
    for table in &findings.tables {
        section(&table.title, &strips(table), out);
    }
    if !findings.notes.is_empty() {
        out(Line::default());
    }
    for note in &findings.notes {
        for (n, line) in wrapped(note.split_whitespace(), " ", WIDTH - 2).iter().enumerate() {
            let lead = if n == 0 { "- " } else { "  " };
            out(Line::of(Role::Dim, lead).and(Role::Plain, line));
        }
    }
}

/// How a figure comes about, in a word.
pub(super) const fn origin(origin: Origin) -> &'static str {
    match origin {
        Origin::Set => "set",
        Origin::Follows => "follows",
    }
}

fn figures(figures: &[Figure]) -> Vec<Strip> {
    let number = |number: Option<Milli>| number.map_or_else(String::new, |n| n.to_string());
    let each = |of: &dyn Fn(&Figure) -> (Role, String)| figures.iter().map(of).collect();
    vec![
        Strip::left("figure", each(&|figure| (Role::Plain, figure.what.clone()))),
        Strip::right("published", each(&|figure| (Role::Plain, number(figure.published)))),
        Strip::right("here", each(&|figure| (Role::Good, number(figure.ours)))),
        Strip::left("", each(&|figure| (Role::Dim, figure.unit.to_owned()))),
        Strip::left("how", each(&|figure| (role(figure.origin), origin(figure.origin).to_owned()))),
        Strip::left("source", each(&|figure| (Role::Dim, figure.source.to_owned()))),
    ]
}

const fn role(origin: Origin) -> Role {
    match origin {
        Origin::Set => Role::Notice,
        Origin::Follows => Role::Good,
    }
}

fn settings(settings: &[Setting]) -> Vec<Strip> {
    let each = |of: &dyn Fn(&Setting) -> (Role, String)| settings.iter().map(of).collect();
    vec![
        Strip::left("parameter", each(&|setting| (Role::Plain, setting.name.to_owned()))),
        Strip::right("value", each(&|setting| (Role::Plain, setting.value.to_string()))),
        Strip::left("", each(&|setting| (Role::Dim, setting.unit.to_owned()))),
        Strip::left("why", each(&|setting| (Role::Dim, setting.why.clone()))),
    ]
}

fn strips(table: &Table) -> Vec<Strip> {
    let strip = |(place, column): (usize, &Column)| {
        let cells: Vec<&Cell> = table.rows.iter().filter_map(|row| row.get(place)).collect();
        let words = cells.iter().any(|cell| matches!(cell, Cell::Word(_)));
        let text = |cell: &&Cell| match cell {
            Cell::Nothing => (Role::Dim, "–".to_owned()),
            Cell::Word(word) => (Role::Plain, word.clone()),
            Cell::Number(number) => (Role::Plain, number.with_places(column.places)),
        };
        Strip {
            head: [column.head.to_owned(), column.unit.to_owned()],
            cells: cells.iter().map(text).collect(),
            side: if words { Side::Left } else { Side::Right },
        }
    };
    table.columns.iter().enumerate().map(strip).collect()
}

impl Strip {
    fn left(head: &str, cells: Vec<(Role, String)>) -> Self {
        Self { head: [head.to_owned(), String::new()], cells, side: Side::Left }
    }

    fn right(head: &str, cells: Vec<(Role, String)>) -> Self {
        Self { head: [head.to_owned(), String::new()], cells, side: Side::Right }
    }

    /// As wide as the widest.
    fn width(&self) -> usize {
        let texts = self.head.iter().chain(self.cells.iter().map(|(_, text)| text));
        texts.map(|text| text.chars().count()).max().unwrap_or(0)
    }

    fn padded(&self, text: &str, width: usize) -> String {
        match self.side {
            Side::Left => format!("{text:<width$}"),
            Side::Right => format!("{text:>width$}"),
        }
    }
}

/// A table with its title; nothing if it has no rows.
fn section(title: &str, strips: &[Strip], out: &mut impl FnMut(Line)) {
    let rows = strips.iter().map(|strip| strip.cells.len()).max().unwrap_or(0);
    if rows == 0 {
        return;
    }
    out(Line::default());
    out(Line::of(Role::Head, title));
    let widths: Vec<usize> = strips.iter().map(Strip::width).collect();
    for (n, role) in [Role::Head, Role::Dim].into_iter().enumerate() {
        let heads: Vec<&str> =
            strips.iter().map(|strip| strip.head.get(n).map_or("", String::as_str)).collect();
        if heads.iter().any(|head| !head.is_empty()) {
            let cells = strips.iter().zip(&widths).zip(heads);
            out(cells.fold(Line::default(), |line, ((strip, width), head)| {
                line.and(role, strip.padded(head, *width)).and(Role::Plain, "  ")
            }));
        }
    }
    for row in 0..rows {
        let cells = strips.iter().zip(&widths);
        out(cells.fold(Line::default(), |line, (strip, width)| {
            let nothing = (Role::Plain, String::new());
            let (role, text) = strip.cells.get(row).unwrap_or(&nothing);
            line.and(*role, strip.padded(text, *width)).and(Role::Plain, "  ")
        }));
    }
}
