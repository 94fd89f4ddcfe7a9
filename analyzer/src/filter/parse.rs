//! Parser of expressions. `not` binds closest, then `and`, then `or`.

use std::ops::Range;

use codec::words::shortened;

use super::error::FilterFault;
use super::expr::{
    BytePart, CompareOp, FieldCheck, FieldTest, FilterExpr, FilterLiteral, LiteralChoice,
};
use super::lex::{FilterToken, TokenKind, lexemes};
use super::row_kind::RowKind;
use super::types::{self, CheckForm, NamedWord};
use crate::row::RowField;

/// Maximum length of an expression, in bytes. *Chosen*: several pages of text, with a bounded cost
/// of evaluation.
pub const TEXT_MAX: usize = 4096;

/// Maximum nesting of parentheses and negations. *Chosen*: deeper expressions are unreadable, and
/// no stack overflows.
pub const DEPTH_MAX: usize = 64;

/// Parses an expression; returns it with the fields that it reads.
pub(super) fn parse(
    text: &str,
    kind: RowKind,
) -> Result<(FilterExpr, Vec<&'static RowField>), FilterFault> {
    if text.len() > TEXT_MAX {
        let message = format!("the expression has {} bytes", text.len());
        return Err(FilterFault::new(TEXT_MAX..TEXT_MAX, message, format!("at most {TEXT_MAX}")));
    }
    let tokens = lexemes(text)?;
    let mut parser =
        FilterParser { kind, end: text.len(), tokens: &tokens, depth: 0, cells: Vec::new() };
    let expr = parser.any()?;
    match parser.tokens.first() {
        None => Ok((expr, parser.cells)),
        Some(FilterToken { what: TokenKind::Close, at }) => {
            Err(FilterFault::new(at.clone(), "unmatched closing parenthesis", "no `(` before it"))
        }
        Some(_) => Err(parser.unexpected("`&&`, `||` or the end")),
    }
}

struct FilterParser<'t> {
    kind: RowKind,
    /// Length of the text, in bytes.
    end: usize,
    tokens: &'t [FilterToken<'t>],
    depth: usize,
    cells: Vec<&'static RowField>,
}

/// Operators written as words.
const WORDS: [(&str, CompareOp); 6] = [
    ("eq", CompareOp::Equal),
    ("ne", CompareOp::Unequal),
    ("lt", CompareOp::Less),
    ("le", CompareOp::AtMost),
    ("gt", CompareOp::More),
    ("ge", CompareOp::AtLeast),
];

impl<'t> FilterParser<'t> {
    fn any(&mut self) -> Result<FilterExpr, FilterFault> {
        let mut parts = vec![self.all()?];
        while self.takes(&TokenKind::Or) || self.takes(&TokenKind::Word("or")) {
            parts.push(self.all()?);
        }
        Ok(one_or(parts, FilterExpr::Any))
    }

    fn all(&mut self) -> Result<FilterExpr, FilterFault> {
        let mut parts = vec![self.negated()?];
        while self.takes(&TokenKind::And) || self.takes(&TokenKind::Word("and")) {
            parts.push(self.negated()?);
        }
        Ok(one_or(parts, FilterExpr::All))
    }

    fn negated(&mut self) -> Result<FilterExpr, FilterFault> {
        let at = self.here();
        if self.takes(&TokenKind::Not) || self.takes(&TokenKind::Word("not")) {
            // `!(` counts as one level: formatting an expression never deepens it.
            let open = self.here();
            self.deeper(at, |parser| {
                let inside = if parser.takes(&TokenKind::Open) {
                    parser.closed(open)?
                } else {
                    parser.negated()?
                };
                Ok(FilterExpr::Not(Box::new(inside)))
            })
        } else if self.takes(&TokenKind::Open) {
            self.deeper(at.clone(), |parser| parser.closed(at))
        } else {
            self.test().map(FilterExpr::Test)
        }
    }

    /// Parses the content of parentheses after the opening one, and the closing one.
    fn closed(&mut self, open: Range<usize>) -> Result<FilterExpr, FilterFault> {
        let inside = self.any()?;
        if self.takes(&TokenKind::Close) {
            return Ok(inside);
        }
        match self.tokens.first() {
            None => Err(FilterFault::new(open, "unclosed parenthesis", "no `)` behind it")),
            Some(_) => Err(self.unexpected("`&&`, `||` or `)`")),
        }
    }

    fn deeper(
        &mut self,
        at: Range<usize>,
        inside: impl FnOnce(&mut Self) -> Result<FilterExpr, FilterFault>,
    ) -> Result<FilterExpr, FilterFault> {
        if self.depth == DEPTH_MAX {
            return Err(FilterFault::new(
                at,
                "nested too deep",
                format!("at most {DEPTH_MAX} levels"),
            ));
        }
        self.depth += 1;
        let found = inside(self);
        self.depth -= 1;
        found
    }

    fn test(&mut self) -> Result<FieldTest, FilterFault> {
        let Some(FilterToken { what: TokenKind::Word(name), at }) = self.tokens.first() else {
            return Err(self.unexpected("a field"));
        };
        self.advance();
        let (field, word) = match types::named(self.kind, name, at)? {
            NamedWord::Field(field) => (field, None),
            NamedWord::Word(field, word) => (field, Some(word)),
        };
        let cell = self.cells.iter().position(|known| *known == field).unwrap_or_else(|| {
            self.cells.push(field);
            self.cells.len() - 1
        });
        if let Some(word) = word {
            return Ok(FieldTest {
                field,
                cell,
                part: None,
                check: FieldCheck::Compare(CompareOp::Equal, word),
            });
        }
        let part = match self.tokens.first() {
            Some(FilterToken { what: TokenKind::OpenSlice, .. }) => Some(self.part(field)?),
            Some(_) | None => None,
        };
        let check = self.check(field, part)?;
        Ok(FieldTest { field, cell, part, check })
    }

    /// Parses a slice: `[0:2]`.
    fn part(&mut self, field: &RowField) -> Result<BytePart, FilterFault> {
        let from = self.here();
        self.advance();
        let part = match self.tokens.first() {
            Some(FilterToken { what: TokenKind::Word(text), at }) => types::part(text, at)?,
            Some(_) | None => return Err(self.unexpected("the first byte, `:`, how many: `[0:2]`")),
        };
        self.advance();
        let to = self.here();
        if !self.takes(&TokenKind::CloseSlice) {
            return Err(self.unexpected("`]`"));
        }
        types::check_form(field, CheckForm::Part, &(from.start..to.end))?;
        Ok(part)
    }

    fn check(
        &mut self,
        field: &'static RowField,
        part: Option<BytePart>,
    ) -> Result<FieldCheck, FilterFault> {
        let at = self.here();
        let Some(token) = self.tokens.first() else { return Ok(types::alone(field)) };
        let word = WORDS.iter().find(|(word, _)| token.what == TokenKind::Word(word));
        let mark = CompareOp::ALL.into_iter().find(|op| token.what == TokenKind::Compare(*op));
        if let Some(op) = mark.or(word.map(|(_, op)| *op)) {
            types::check_form(field, CheckForm::of(op), &at)?;
            self.advance();
            return Ok(FieldCheck::Compare(op, self.value(field, part)?));
        }
        if self.takes(&TokenKind::Word("in")) {
            types::check_form(field, CheckForm::Within, &at)?;
            Ok(FieldCheck::In(self.choices(field, part)?))
        } else if self.takes(&TokenKind::Word("contains")) {
            types::check_form(field, CheckForm::Contains, &at)?;
            // The literal of `contains` may have any length.
            Ok(FieldCheck::Contains(self.value(field, None)?))
        } else if self.takes(&TokenKind::Like) || self.takes(&TokenKind::Word("like")) {
            types::check_form(field, CheckForm::Like, &at)?;
            let (pattern, at) = self.text("a pattern: \"s0:*\"")?;
            types::pattern(field, pattern, &at).map(FieldCheck::Like)
        } else {
            Ok(types::alone(field))
        }
    }

    /// Parses `{1, 5, 8..12}`, or a range alone.
    fn choices(
        &mut self,
        field: &RowField,
        part: Option<BytePart>,
    ) -> Result<Vec<LiteralChoice>, FilterFault> {
        if !self.takes(&TokenKind::OpenSet) {
            return match self.choice(field, part)? {
                (range @ LiteralChoice::Range(..), _) => Ok(vec![range]),
                (LiteralChoice::One(_), at) => {
                    let message = "`in` takes a range or a set";
                    Err(FilterFault::new(at, message, "expected `10..20`, or `{10, 12}`"))
                }
            };
        }
        let mut choices = Vec::new();
        loop {
            choices.push(self.choice(field, part)?.0);
            if self.takes(&TokenKind::CloseSet) {
                return Ok(choices);
            }
            if !self.takes(&TokenKind::Comma) {
                return Err(self.unexpected("`,` or `}`"));
            }
        }
    }

    fn choice(
        &mut self,
        field: &RowField,
        part: Option<BytePart>,
    ) -> Result<(LiteralChoice, Range<usize>), FilterFault> {
        let start = self.here();
        let from = self.value(field, part)?;
        let upto = self.here();
        if !self.takes(&TokenKind::Upto) {
            return Ok((LiteralChoice::One(from), start));
        }
        types::check_form(field, CheckForm::Order, &upto)?;
        let end = self.here();
        let to = self.value(field, part)?;
        let at = start.start..end.end;
        types::range(from, to, &at).map(|range| (range, at))
    }

    fn value(
        &mut self,
        field: &RowField,
        part: Option<BytePart>,
    ) -> Result<FilterLiteral, FilterFault> {
        let (text, at) = self.text(types::expected(field))?;
        let value = types::literal(field, text, &at)?;
        types::may_be_as_long(part, &value, &at)?;
        Ok(value)
    }

    /// Parses a word, or text between quotation marks.
    fn text(&mut self, expected: &str) -> Result<(&'t str, Range<usize>), FilterFault> {
        let text = match self.tokens.first() {
            Some(FilterToken { what: TokenKind::Word(text), at }) => (*text, at.clone()),
            Some(FilterToken { what: TokenKind::Quoted(text), at }) => (text.as_str(), at.clone()),
            Some(_) | None => return Err(self.unexpected(expected)),
        };
        self.advance();
        Ok(text)
    }

    /// Position of the next token, or the end.
    fn here(&self) -> Range<usize> {
        self.tokens.first().map_or(self.end..self.end, |token| token.at.clone())
    }

    fn advance(&mut self) {
        self.tokens = self.tokens.get(1..).unwrap_or_default();
    }

    /// Skips the next token and returns true, if it is `what`.
    fn takes(&mut self, what: &TokenKind<'_>) -> bool {
        let found = self.tokens.first().is_some_and(|token| token.what == *what);
        if found {
            self.advance();
        }
        found
    }

    fn unexpected(&self, expected: &str) -> FilterFault {
        let expected = format!("expected {expected}");
        match self.tokens.first() {
            None if self.end == 0 => FilterFault::new(0..0, "the expression is empty", expected),
            None => FilterFault::new(self.here(), "the expression ends too early", expected),
            Some(FilterToken { what: TokenKind::Word(word), at }) => {
                let message = format!("unexpected `{}`", shortened(word));
                FilterFault::new(at.clone(), message, expected)
            }
            Some(FilterToken { at, .. }) => {
                FilterFault::new(at.clone(), "unexpected text", expected)
            }
        }
    }
}

fn one_or(
    mut parts: Vec<FilterExpr>,
    many: impl FnOnce(Vec<FilterExpr>) -> FilterExpr,
) -> FilterExpr {
    match parts.pop() {
        Some(only) if parts.is_empty() => only,
        last => {
            parts.extend(last);
            many(parts)
        }
    }
}
