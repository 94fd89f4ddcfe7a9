//! Results of experiments as JSON.

use std::borrow::Cow;

use serde::ser::{Serialize, Serializer};
use serde_json::{Number, Value};
use simulator::experiment::ExperimentEffort;
use simulator::experiment::result_table::{
    CalibratedSetting, MilliValue, PublishedFigure, ResultTable, TableCell, TableColumn,
};

use super::ExperimentOutcome;

#[derive(serde::Serialize)]
pub(super) struct ExperimentsJson<'a> {
    experiments: Vec<ExperimentJson<'a>>,
}

#[derive(serde::Serialize)]
pub(super) struct ExperimentJson<'a> {
    experiment: &'a str,
    title: &'a str,
    effort: &'a str,
    figures: TableRowsJson<'a>,
    settings: TableRowsJson<'a>,
    tables: Vec<TableJson<'a>>,
    notes: &'a [&'static str],
}

#[derive(serde::Serialize)]
struct TableJson<'a> {
    table: &'a str,
    title: &'a str,
    rows: TableRowsJson<'a>,
}

pub(crate) struct TableRowsJson<'a>(Cow<'a, ResultTable>);

/// A row of a table: an object with its keys in the order of the columns.
pub(crate) struct TableRowJson<'a> {
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
        figures: TableRowsJson(Cow::Owned(PublishedFigure::table(&findings.figures))),
        settings: TableRowsJson(Cow::Owned(CalibratedSetting::table(&findings.settings))),
        tables: findings.tables.iter().map(table_json).collect(),
        notes: findings.notes,
    }
}

fn table_json(table: &ResultTable) -> TableJson<'_> {
    let ResultTable { name, title, .. } = table;
    TableJson { table: name, title, rows: rows(table) }
}

/// Rows of a table as a list.
pub(crate) const fn rows(table: &ResultTable) -> TableRowsJson<'_> {
    TableRowsJson(Cow::Borrowed(table))
}

/// Rows of a table, one by one.
pub(crate) fn each_row(table: &ResultTable) -> impl Iterator<Item = TableRowJson<'_>> {
    table.rows.iter().map(|cells| TableRowJson { columns: &table.columns, cells })
}

/// One experiment as a line. Serialization of these types cannot fail.
pub(super) fn line(outcome: &ExperimentOutcome) -> String {
    serde_json::to_string(&whole(outcome)).map_or_else(|_| String::new(), |line| line + "\n")
}

impl Serialize for TableRowsJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(each_row(&self.0))
    }
}

impl Serialize for TableRowJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let value = |cell: &TableCell| match cell {
            TableCell::Nothing => Value::Null,
            TableCell::Word(word) => Value::String(word.clone()),
            TableCell::Number(milli) => number(*milli),
        };
        let cells = self.columns.iter().zip(self.cells);
        serializer.collect_map(cells.map(|(column, cell)| (&column.name, value(cell))))
    }
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
