//! Results of experiments as JSON.

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Number, Value};
use simulator::experiment::ExperimentEffort;
use simulator::experiment::result_table::{
    CalibratedSetting, MilliValue, PublishedFigure, ResultTable, TableCell, TableColumn,
};

use super::ExperimentOutcome;
use super::text::origin;

#[derive(serde::Serialize)]
pub(super) struct ExperimentsJson<'a> {
    experiments: Vec<ExperimentJson<'a>>,
}

#[derive(serde::Serialize)]
pub(super) struct ExperimentJson<'a> {
    experiment: &'a str,
    title: &'a str,
    effort: &'a str,
    figures: Vec<FigureJson<'a>>,
    settings: Vec<SettingJson<'a>>,
    tables: Vec<TableJson<'a>>,
    notes: &'a [&'static str],
}

#[derive(serde::Serialize)]
struct FigureJson<'a> {
    figure: &'a str,
    unit: &'a str,
    published: Value,
    ours: Value,
    origin: &'a str,
    source: &'a str,
}

#[derive(serde::Serialize)]
struct SettingJson<'a> {
    parameter: &'a str,
    value: Value,
    unit: &'a str,
    why: &'a str,
}

#[derive(serde::Serialize)]
struct TableJson<'a> {
    table: &'a str,
    title: &'a str,
    rows: Vec<TableRowJson<'a>>,
}

/// A row of a table: an object with its keys in the order of the columns.
struct TableRowJson<'a> {
    columns: &'a [TableColumn],
    cells: &'a [TableCell],
}

pub(super) fn all(outcomes: &[ExperimentOutcome]) -> ExperimentsJson<'_> {
    ExperimentsJson { experiments: outcomes.iter().map(whole).collect() }
}

pub(super) fn whole(outcome: &ExperimentOutcome) -> ExperimentJson<'_> {
    let ExperimentOutcome { experiment, effort, findings } = outcome;
    ExperimentJson {
        experiment: experiment.name,
        title: experiment.title,
        effort: match effort {
            ExperimentEffort::Full => "full",
            ExperimentEffort::Quick => "quick",
        },
        figures: findings.figures.iter().map(figure).collect(),
        settings: findings.settings.iter().map(setting).collect(),
        tables: findings.tables.iter().map(table).collect(),
        notes: findings.notes,
    }
}

/// One experiment as a line. Serialization of these types cannot fail.
pub(super) fn line(outcome: &ExperimentOutcome) -> String {
    serde_json::to_string(&whole(outcome)).map_or_else(|_| String::new(), |line| line + "\n")
}

fn figure(figure: &PublishedFigure) -> FigureJson<'_> {
    FigureJson {
        figure: &figure.what,
        unit: figure.unit,
        published: maybe(figure.published),
        ours: maybe(figure.ours),
        origin: origin(figure.origin),
        source: figure.source,
    }
}

fn setting(setting: &CalibratedSetting) -> SettingJson<'_> {
    let CalibratedSetting { name, value, unit, why } = setting;
    SettingJson { parameter: name, value: number(*value), unit, why }
}

fn table(table: &ResultTable) -> TableJson<'_> {
    let ResultTable { name, title, columns, rows } = table;
    TableJson {
        table: name,
        title,
        rows: rows.iter().map(|cells| TableRowJson { columns, cells }).collect(),
    }
}

impl Serialize for TableRowJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.columns.len()))?;
        for (column, cell) in self.columns.iter().zip(self.cells) {
            match cell {
                TableCell::Nothing => map.serialize_entry(column.name, &Value::Null)?,
                TableCell::Word(word) => map.serialize_entry(column.name, word)?,
                TableCell::Number(milli) => map.serialize_entry(column.name, &number(*milli))?,
            }
        }
        map.end()
    }
}

fn maybe(milli: Option<MilliValue>) -> Value {
    milli.map_or(Value::Null, number)
}

/// A number with the digits of its text form.
fn number(milli: MilliValue) -> Value {
    milli.to_string().parse::<Number>().map_or(Value::Null, Value::Number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_its_columns_in_order() {
        let columns =
            [TableColumn::word("layer", "layer"), TableColumn::of("rate_mb_per_s", "rate", "", 1)];
        let json = |cells: &[TableCell]| {
            serde_json::to_string(&TableRowJson { columns: &columns, cells }).unwrap()
        };
        assert_eq!(
            json(&[TableCell::word("raw"), MilliValue(380_029).into()]),
            r#"{"layer":"raw","rate_mb_per_s":380.029}"#
        );
        assert_eq!(
            json(&[TableCell::Nothing, MilliValue::whole(640).into()]),
            r#"{"layer":null,"rate_mb_per_s":640}"#
        );
    }
}
