//! The fields of rows, as a table.

use super::{Line, Role, wrapped};
use crate::filter::{Field, RowKind};

/// Where the last column begins, and how wide it is, so that 100 columns are enough.
const HELP: usize = 46;
const WIDTH: usize = 100 - HELP;

/// The fields that rows of a kind have, a line each; below those that take words, the words.
pub fn fields(kind: RowKind, out: &mut impl FnMut(Line)) {
    let head = format!("{:<18}{:<8}{:<13}{:<7}meaning", "field", "type", "unit", "rule");
    out(Line::of(Role::Head, head));
    for field in kind.fields() {
        let Field { name, shape, unit, rule, help } = field;
        let most = match shape.most() {
            Some(most) if most < u64::from(u32::MAX) => format!(" (at most {most})"),
            Some(_) | None => String::new(),
        };
        out(Line::of(Role::Plain, format!("{name:<17} "))
            .and(Role::Good, format!("{:<7} ", shape.name()))
            .and(Role::Dim, format!("{unit:<12} {rule:<6} "))
            .and(Role::Plain, help)
            .and(Role::Dim, most));
        for words in wrapped(field.words().iter().copied(), "  ", WIDTH) {
            out(Line::of(Role::Notice, format!("{:HELP$}{words}", "")));
        }
    }
}
