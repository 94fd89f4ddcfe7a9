//! Words and marks as an expression. `not` binds closest, then `and`, then `or`.

use std::ops::Range;

use super::error::{Fault, shortened};
use super::expr::{Check, Choice, Expr, Literal, Op, Part, Test};
use super::field::{Field, RowKind};
use super::lex::{Lexeme, Token, lexemes};
use super::types::{self, Ask, Named};

/// Longest expression, in bytes. *Chosen*: pages of text, and what it costs to evaluate is bounded.
pub const TEXT_MAX: usize = 4096;

/// Deepest nesting of parentheses and negations. *Chosen*: no one reads more, and no stack overflows.
pub const DEPTH_MAX: usize = 64;

/// What an expression asks, and the fields that it looks at.
pub(super) fn parse(text: &str, kind: RowKind) -> Result<(Expr, Vec<&'static Field>), Fault> {
    if text.len() > TEXT_MAX {
        let message = format!("the expression has {} bytes", text.len());
        return Err(Fault::new(TEXT_MAX..TEXT_MAX, message, format!("at most {TEXT_MAX}")));
    }
    let tokens = lexemes(text)?;
    let mut parser = Parser { kind, end: text.len(), tokens: &tokens, depth: 0, cells: Vec::new() };
    let expr = parser.any()?;
    match parser.tokens.first() {
        None => Ok((expr, parser.cells)),
        Some(Token { what: Lexeme::Close, at }) => {
            Err(Fault::new(at.clone(), "a parenthesis closes none", "no `(` before it"))
        }
        Some(_) => Err(parser.unexpected("`&&`, `||` or the end")),
    }
}

struct Parser<'t> {
    kind: RowKind,
    /// Bytes of the text.
    end: usize,
    tokens: &'t [Token<'t>],
    depth: usize,
    cells: Vec<&'static Field>,
}

/// The operators by their words.
const WORDS: [(&str, Op); 6] = [
    ("eq", Op::Equal),
    ("ne", Op::Unequal),
    ("lt", Op::Less),
    ("le", Op::AtMost),
    ("gt", Op::More),
    ("ge", Op::AtLeast),
];

impl<'t> Parser<'t> {
    fn any(&mut self) -> Result<Expr, Fault> {
        let mut parts = vec![self.all()?];
        while self.takes(&Lexeme::Or) || self.takes(&Lexeme::Word("or")) {
            parts.push(self.all()?);
        }
        Ok(one_or(parts, Expr::Any))
    }

    fn all(&mut self) -> Result<Expr, Fault> {
        let mut parts = vec![self.negated()?];
        while self.takes(&Lexeme::And) || self.takes(&Lexeme::Word("and")) {
            parts.push(self.negated()?);
        }
        Ok(one_or(parts, Expr::All))
    }

    fn negated(&mut self) -> Result<Expr, Fault> {
        let at = self.here();
        if self.takes(&Lexeme::Not) || self.takes(&Lexeme::Word("not")) {
            // `!(` is one level: an expression that is written out is no deeper than it was.
            let open = self.here();
            self.deeper(at, |parser| {
                let inside = if parser.takes(&Lexeme::Open) {
                    parser.closed(open)?
                } else {
                    parser.negated()?
                };
                Ok(Expr::Not(Box::new(inside)))
            })
        } else if self.takes(&Lexeme::Open) {
            self.deeper(at.clone(), |parser| parser.closed(at))
        } else {
            self.test().map(Expr::Test)
        }
    }

    /// What stands behind an opening parenthesis, up to the one that closes it.
    fn closed(&mut self, open: Range<usize>) -> Result<Expr, Fault> {
        let inside = self.any()?;
        if self.takes(&Lexeme::Close) {
            return Ok(inside);
        }
        match self.tokens.first() {
            None => Err(Fault::new(open, "a parenthesis is not closed", "no `)` behind it")),
            Some(_) => Err(self.unexpected("`&&`, `||` or `)`")),
        }
    }

    fn deeper(
        &mut self,
        at: Range<usize>,
        inside: impl FnOnce(&mut Self) -> Result<Expr, Fault>,
    ) -> Result<Expr, Fault> {
        if self.depth == DEPTH_MAX {
            return Err(Fault::new(at, "nested too deep", format!("at most {DEPTH_MAX} levels")));
        }
        self.depth += 1;
        let found = inside(self);
        self.depth -= 1;
        found
    }

    fn test(&mut self) -> Result<Test, Fault> {
        let Some(Token { what: Lexeme::Word(name), at }) = self.tokens.first() else {
            return Err(self.unexpected("a field"));
        };
        self.advance();
        let (field, word) = match types::named(self.kind, name, at)? {
            Named::Field(field) => (field, None),
            Named::Word(field, word) => (field, Some(word)),
        };
        let cell = self.cells.iter().position(|known| *known == field).unwrap_or_else(|| {
            self.cells.push(field);
            self.cells.len() - 1
        });
        if let Some(word) = word {
            return Ok(Test { field, cell, part: None, check: Check::Compare(Op::Equal, word) });
        }
        let part = match self.tokens.first() {
            Some(Token { what: Lexeme::OpenSlice, .. }) => Some(self.part(field)?),
            Some(_) | None => None,
        };
        let check = self.check(field, part)?;
        Ok(Test { field, cell, part, check })
    }

    /// `[0:2]`, and the like.
    fn part(&mut self, field: &Field) -> Result<Part, Fault> {
        let from = self.here();
        self.advance();
        let part = match self.tokens.first() {
            Some(Token { what: Lexeme::Word(text), at }) => types::part(text, at)?,
            Some(_) | None => return Err(self.unexpected("the first byte, `:`, how many: `[0:2]`")),
        };
        self.advance();
        let to = self.here();
        if !self.takes(&Lexeme::CloseSlice) {
            return Err(self.unexpected("`]`"));
        }
        types::may_ask(field, Ask::Part, &(from.start..to.end))?;
        Ok(part)
    }

    fn check(&mut self, field: &'static Field, part: Option<Part>) -> Result<Check, Fault> {
        let at = self.here();
        let Some(token) = self.tokens.first() else { return Ok(types::alone(field)) };
        let word = WORDS.iter().find(|(word, _)| token.what == Lexeme::Word(word));
        let mark = Op::ALL.into_iter().find(|op| token.what == Lexeme::Compare(*op));
        if let Some(op) = mark.or(word.map(|(_, op)| *op)) {
            types::may_ask(field, Ask::of(op), &at)?;
            self.advance();
            return Ok(Check::Compare(op, self.value(field, part)?));
        }
        if self.takes(&Lexeme::Word("in")) {
            types::may_ask(field, Ask::Within, &at)?;
            Ok(Check::In(self.choices(field, part)?))
        } else if self.takes(&Lexeme::Word("contains")) {
            types::may_ask(field, Ask::Contains, &at)?;
            // What is looked for may be of any length.
            Ok(Check::Contains(self.value(field, None)?))
        } else if self.takes(&Lexeme::Like) || self.takes(&Lexeme::Word("like")) {
            types::may_ask(field, Ask::Like, &at)?;
            let (pattern, at) = self.text("a pattern: \"s0:*\"")?;
            types::pattern(field, pattern, &at).map(Check::Like)
        } else {
            Ok(types::alone(field))
        }
    }

    /// `{1, 5, 8..12}`, or a range alone.
    fn choices(&mut self, field: &Field, part: Option<Part>) -> Result<Vec<Choice>, Fault> {
        if !self.takes(&Lexeme::OpenSet) {
            return match self.choice(field, part)? {
                (range @ Choice::Range(..), _) => Ok(vec![range]),
                (Choice::One(_), at) => {
                    let message = "`in` takes a range or a set";
                    Err(Fault::new(at, message, "expected `10..20`, or `{10, 12}`"))
                }
            };
        }
        let mut choices = Vec::new();
        loop {
            choices.push(self.choice(field, part)?.0);
            if self.takes(&Lexeme::CloseSet) {
                return Ok(choices);
            }
            if !self.takes(&Lexeme::Comma) {
                return Err(self.unexpected("`,` or `}`"));
            }
        }
    }

    fn choice(
        &mut self,
        field: &Field,
        part: Option<Part>,
    ) -> Result<(Choice, Range<usize>), Fault> {
        let start = self.here();
        let from = self.value(field, part)?;
        let upto = self.here();
        if !self.takes(&Lexeme::Upto) {
            return Ok((Choice::One(from), start));
        }
        types::may_ask(field, Ask::Order, &upto)?;
        let end = self.here();
        let to = self.value(field, part)?;
        let at = start.start..end.end;
        types::range(from, to, &at).map(|range| (range, at))
    }

    /// A value of the field.
    fn value(&mut self, field: &Field, part: Option<Part>) -> Result<Literal, Fault> {
        let (text, at) = self.text(types::expected(field))?;
        let value = types::literal(field, text, &at)?;
        types::may_be_as_long(part, &value, &at)?;
        Ok(value)
    }

    /// A word, or text between quotation marks.
    fn text(&mut self, expected: &str) -> Result<(&'t str, Range<usize>), Fault> {
        let text = match self.tokens.first() {
            Some(Token { what: Lexeme::Word(text), at }) => (*text, at.clone()),
            Some(Token { what: Lexeme::Quoted(text), at }) => (text.as_str(), at.clone()),
            Some(_) | None => return Err(self.unexpected(expected)),
        };
        self.advance();
        Ok(text)
    }

    /// The place of the next word or mark, or the end.
    fn here(&self) -> Range<usize> {
        self.tokens.first().map_or(self.end..self.end, |token| token.at.clone())
    }

    fn advance(&mut self) {
        self.tokens = self.tokens.get(1..).unwrap_or_default();
    }

    /// Goes past the next word or mark, if it is this.
    fn takes(&mut self, what: &Lexeme<'_>) -> bool {
        let found = self.tokens.first().is_some_and(|token| token.what == *what);
        if found {
            self.advance();
        }
        found
    }

    fn unexpected(&self, expected: &str) -> Fault {
        let expected = format!("expected {expected}");
        match self.tokens.first() {
            None if self.end == 0 => Fault::new(0..0, "the expression is empty", expected),
            None => Fault::new(self.here(), "the expression ends too early", expected),
            Some(Token { what: Lexeme::Word(word), at }) => {
                let message = format!("`{}` stands where it means nothing", shortened(word));
                Fault::new(at.clone(), message, expected)
            }
            Some(Token { at, .. }) => {
                Fault::new(at.clone(), "this stands where it means nothing", expected)
            }
        }
    }
}

fn one_or(mut parts: Vec<Expr>, many: impl FnOnce(Vec<Expr>) -> Expr) -> Expr {
    match parts.pop() {
        Some(only) if parts.is_empty() => only,
        last => {
            parts.extend(last);
            many(parts)
        }
    }
}
