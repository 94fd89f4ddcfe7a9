//! Rows as values separated by commas or tabs (RFC 4180, lines end with LF).

use analyzer::row::{ListRow, json_at};
use codec::words::escape_text;
use serde_json::Value;
use simulator::experiment::result_table::{ResultTable, TableCell};

use crate::args::ListFormat;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ValueSeparator {
    Comma,
    Tab,
}

impl ValueSeparator {
    pub(crate) const fn of(format: ListFormat) -> Self {
        if matches!(format, ListFormat::Tsv) { Self::Tab } else { Self::Comma }
    }

    /// Line of values. Control characters in them are escaped.
    pub(crate) fn line<T: Into<String>>(self, values: impl IntoIterator<Item = T>) -> String {
        let values: Vec<String> = values.into_iter().map(|value| self.quoted(value)).collect();
        match self {
            Self::Comma => values.join(",") + "\n",
            Self::Tab => values.join("\t") + "\n",
        }
    }

    /// Column names of a table, then its rows.
    pub(crate) fn table(self, table: &ResultTable) -> String {
        let mut text = self.line(table.columns.iter().map(|column| &*column.name));
        for row in &table.rows {
            text += &self.line(row.iter().map(|cell| match cell {
                TableCell::Nothing => String::new(),
                TableCell::Word(word) => word.clone(),
                TableCell::Number(number) => number.to_string(),
            }));
        }
        text
    }

    /// Line of the members of a row: text as it is, nothing for null and members that the row lacks,
    /// lists and objects as JSON.
    pub(super) fn row(
        self,
        row: &dyn ListRow,
        names: impl Iterator<Item = &'static str>,
    ) -> String {
        self.line(names.map(|name| match json_at(row, name) {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text,
            Some(value) => value.to_string(),
        }))
    }

    fn quoted(self, value: impl Into<String>) -> String {
        let value = escape_text(value.into());
        match self {
            Self::Comma if value.contains([',', '"']) => quoted(&value),
            // Readers take only a quotation mark at the start of a value for one of their own.
            Self::Tab if value.starts_with('"') => quoted(&value),
            Self::Comma | Self::Tab => value,
        }
    }
}

fn quoted(value: &str) -> String {
    format!("\"{}\"", value.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_are_quoted_where_they_must_be() {
        let row = json!({ "text": "a,\"b\"\n\t\u{1b}", "none": null, "part": { "n": -1.5 },
            "list": [{ "n": 1 }, { "n": 2 }], "words": ["x"] });
        let names = || ["text", "none", "lacking", "part.n", "list.n", "words"].into_iter();
        let separated = "\"a,\"\"b\"\"\\n\\t\\u{1b}\",,,-1.5,\"[1,2]\",\"[\"\"x\"\"]\"\n";
        assert_eq!(ValueSeparator::Comma.row(&row, names()), separated);
        let separated = "a,\"b\"\\n\\t\\u{1b}\t\t\t-1.5\t[1,2]\t[\"x\"]\n";
        assert_eq!(ValueSeparator::Tab.row(&row, names()), separated);
        assert_eq!(ValueSeparator::Tab.line(["\"a\"\t", "b"]), "\"\"\"a\"\"\\t\"\tb\n");
    }
}
