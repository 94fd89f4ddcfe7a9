//! Table of the fields of rows.

use super::row_kind::RowKind;
use crate::render::line::{StyledLine, TextStyle, wrapped};
use crate::row::RowField;

/// Minimum width of the names, width of the columns between names and meanings, and width of the
/// meanings: lines fit 100 columns unless a name is longer, and 120 always.
const NAMES: usize = 17;
const BETWEEN: usize = 29;
const WIDTH: usize = 54;

/// Lists the fields of a kind of row, one per line, followed by the words that each may take.
pub fn list_fields(kind: RowKind, out: &mut impl FnMut(StyledLine)) {
    let names = kind.fields().iter().map(|field| field.name.len()).fold(NAMES, usize::max);
    let head = format!("{:<names$} {:<8}{:<13}{:<7}meaning", "field", "type", "unit", "rule");
    out(StyledLine::of(TextStyle::Head, head));
    let help_at = names + BETWEEN;
    for field in kind.fields() {
        let RowField { name, shape, unit, rule, help, .. } = field;
        let most = match shape.most() {
            Some(most) if most < u64::from(u32::MAX) => format!(" (at most {most})"),
            Some(_) | None => String::new(),
        };
        out(StyledLine::of(TextStyle::Plain, format!("{name:<names$} "))
            .and(TextStyle::Good, format!("{:<7} ", shape.name()))
            .and(TextStyle::Dim, format!("{unit:<12} {rule:<6} "))
            .and(TextStyle::Plain, help)
            .and(TextStyle::Dim, most));
        for words in wrapped(field.words().iter().copied(), "  ", WIDTH) {
            out(StyledLine::of(TextStyle::Notice, format!("{:help_at$}{words}", "")));
        }
    }
}
