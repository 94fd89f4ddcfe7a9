//! What an experiment finds, as JSON.

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Number, Value};
use simulator::experiment::Effort;
use simulator::experiment::table::{Cell, Column, Figure, Milli, Setting, Table};

use super::Outcome;
use super::text::origin;

/// Of several experiments.
#[derive(serde::Serialize)]
pub(super) struct All<'a> {
    experiments: Vec<Whole<'a>>,
}

/// Of one.
#[derive(serde::Serialize)]
pub(super) struct Whole<'a> {
    experiment: &'a str,
    title: &'a str,
    effort: &'a str,
    figures: Vec<FigureRow<'a>>,
    settings: Vec<SettingRow<'a>>,
    tables: Vec<TableRow<'a>>,
    notes: &'a [String],
}

#[derive(serde::Serialize)]
struct FigureRow<'a> {
    figure: &'a str,
    unit: &'a str,
    published: Value,
    ours: Value,
    origin: &'a str,
    source: &'a str,
}

#[derive(serde::Serialize)]
struct SettingRow<'a> {
    parameter: &'a str,
    value: Value,
    unit: &'a str,
    why: &'a str,
}

#[derive(serde::Serialize)]
struct TableRow<'a> {
    table: &'a str,
    title: &'a str,
    rows: Vec<Row<'a>>,
}

/// A row of a table: an object, its keys in the order of the columns.
struct Row<'a> {
    columns: &'a [Column],
    cells: &'a [Cell],
}

pub(super) fn all(outcomes: &[Outcome]) -> All<'_> {
    All { experiments: outcomes.iter().map(whole).collect() }
}

pub(super) fn whole(outcome: &Outcome) -> Whole<'_> {
    let Outcome { experiment, effort, findings } = outcome;
    Whole {
        experiment: experiment.name,
        title: experiment.title,
        effort: match effort {
            Effort::Full => "full",
            Effort::Quick => "quick",
        },
        figures: findings.figures.iter().map(figure).collect(),
        settings: findings.settings.iter().map(setting).collect(),
        tables: findings.tables.iter().map(table).collect(),
        notes: &findings.notes,
    }
}

/// Of one, as a line. Its parts are such that it always is one.
pub(super) fn line(outcome: &Outcome) -> String {
    serde_json::to_string(&whole(outcome)).map_or_else(|_| String::new(), |line| line + "\n")
}

fn figure(figure: &Figure) -> FigureRow<'_> {
    FigureRow {
        figure: &figure.what,
        unit: figure.unit,
        published: maybe(figure.published),
        ours: maybe(figure.ours),
        origin: origin(figure.origin),
        source: figure.source,
    }
}

fn setting(setting: &Setting) -> SettingRow<'_> {
    let Setting { name, value, unit, why } = setting;
    SettingRow { parameter: name, value: number(*value), unit, why }
}

fn table(table: &Table) -> TableRow<'_> {
    let Table { name, title, columns, rows } = table;
    TableRow { table: name, title, rows: rows.iter().map(|cells| Row { columns, cells }).collect() }
}

impl Serialize for Row<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.columns.len()))?;
        for (column, cell) in self.columns.iter().zip(self.cells) {
            match cell {
                Cell::Nothing => map.serialize_entry(column.name, &Value::Null)?,
                Cell::Word(word) => map.serialize_entry(column.name, word)?,
                Cell::Number(milli) => map.serialize_entry(column.name, &number(*milli))?,
            }
        }
        map.end()
    }
}

fn maybe(milli: Option<Milli>) -> Value {
    milli.map_or(Value::Null, number)
}

/// A number as it is written; its text always is one.
fn number(milli: Milli) -> Value {
    milli.to_string().parse::<Number>().map_or(Value::Null, Value::Number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_its_columns_in_order() {
        let columns = [Column::word("layer", "layer"), Column::of("rate_mb_per_s", "rate", "", 1)];
        let json =
            |cells: &[Cell]| serde_json::to_string(&Row { columns: &columns, cells }).unwrap();
        assert_eq!(
            json(&[Cell::word("raw"), Milli(380_029).into()]),
            r#"{"layer":"raw","rate_mb_per_s":380.029}"#
        );
        assert_eq!(
            json(&[Cell::Nothing, Milli::whole(640).into()]),
            r#"{"layer":null,"rate_mb_per_s":640}"#
        );
    }
}
