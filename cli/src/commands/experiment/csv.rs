//! Tables as separated values (RFC 4180, lines end with LF).

use simulator::experiment::result_table::{ResultTable, TableCell};

use crate::rows::ValueSeparator;

/// Column names, then rows.
pub(crate) fn table(table: &ResultTable, separator: ValueSeparator) -> String {
    let mut text = separator.line(table.columns.iter().map(|column| &*column.name));
    for row in &table.rows {
        text += &separator.line(row.iter().map(|cell| match cell {
            TableCell::Nothing => String::new(),
            TableCell::Word(word) => word.clone(),
            TableCell::Number(number) => number.to_string(),
        }));
    }
    text
}
