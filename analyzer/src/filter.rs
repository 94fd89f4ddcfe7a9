//! Which rows are wanted: a language of expressions over their fields, as Wireshark's display filters
//! are. `docs/filter.md` describes it.
//!
//! ```
//! use analyzer::filter::{Filter, RowKind};
//! use serde::Serialize;
//!
//! #[derive(Serialize)]
//! struct Row { tag: u8, crc: &'static str, start: u64 }
//!
//! let mut filter = Filter::parse("tag == 5 && crc.bad && start >= 10us", RowKind::Packets)?;
//! let period_ps = 12_500;
//! assert!(filter.keeps(&Row { tag: 5, crc: "bad", start: 800 }, period_ps));
//! assert!(!filter.keeps(&Row { tag: 5, crc: "bad", start: 799 }, period_ps));
//!
//! let error = Filter::parse("tga == 5", RowKind::Packets).unwrap_err();
//! assert!(error.to_string().contains("did you mean `tag`?"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod cells;
mod columns;
mod error;
mod eval;
mod expr;
mod field;
mod lex;
mod members;
mod parse;
mod table;
mod types;

use std::fmt::{self, Display};

use serde::Serialize;

use self::cells::Cells;
use self::expr::Expr;

pub use self::columns::Columns;
pub use self::error::{FilterError, Style};
pub use self::field::{Field, RowKind, Shape};
pub use self::members::{Value, Visitor, visit};
pub use self::parse::{DEPTH_MAX, TEXT_MAX};

/// An expression, understood: of one kind of row.
#[derive(Clone, Debug)]
pub struct Filter {
    expr: Expr,
    cells: Cells,
}

impl Filter {
    /// Reads an expression.
    ///
    /// # Errors
    /// Says where it is wrong, what belongs there, and what may have been meant.
    pub fn parse(text: &str, kind: RowKind) -> Result<Self, FilterError> {
        let (expr, fields) =
            parse::parse(text, kind).map_err(|fault| FilterError::new("--filter", text, fault))?;
        Ok(Self { expr, cells: Cells::of(fields) })
    }

    /// Whether a row is as the expression asks; `period_ps` is the character period of its channel, in
    /// picoseconds, which makes times of places.
    pub fn keeps(&mut self, row: &(impl Serialize + ?Sized), period_ps: u64) -> bool {
        self.cells.take(row);
        eval::holds(&self.expr, &self.cells, period_ps)
    }

    /// Whether it asks for a field.
    #[must_use]
    pub fn asks_for(&self, name: &str) -> bool {
        self.cells.have(name)
    }
}

impl Display for Filter {
    /// The expression, written out: it reads as the same.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.expr.fmt(f)
    }
}

impl PartialEq for Filter {
    /// Whether they ask the same.
    fn eq(&self, other: &Self) -> bool {
        self.expr == other.expr
    }
}
