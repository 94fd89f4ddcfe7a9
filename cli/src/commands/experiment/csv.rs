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

#[cfg(test)]
mod tests {
    use super::*;
    use simulator::experiment::result_table::{MilliValue, TableColumn};

    #[test]
    fn a_table_is_a_head_and_rows() {
        let shown = ResultTable {
            columns: vec![
                TableColumn::word("layer", "layer"),
                TableColumn::of("rate_mb_per_s", "rate", "Mb/s", 1),
            ],
            rows: vec![
                vec![TableCell::word("TCP/IP, \"0 copies\""), MilliValue(70_250).into()],
                vec![TableCell::word("UDP/IP"), TableCell::Nothing],
            ],
            ..ResultTable::default()
        };
        assert_eq!(
            table(&shown, ValueSeparator::Comma),
            "layer,rate_mb_per_s\n\"TCP/IP, \"\"0 copies\"\"\",70.25\nUDP/IP,\n"
        );
    }
}
