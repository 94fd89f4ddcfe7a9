//! Lexer of expressions.

use std::ops::Range;

use codec::words::shortened;
use nom::branch::alt;
use nom::bytes::complete::tag;
use nom::character::complete::{anychar, char, multispace0, none_of, satisfy};
use nom::combinator::{map, not, recognize, value};
use nom::multi::{fold_many0, many1_count};
use nom::sequence::{delimited, preceded, terminated};
use nom::{IResult, Parser};

use super::error::FilterFault;
use super::expr::CompareOp;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FilterToken<'a> {
    pub(super) at: Range<usize>,
    pub(super) what: TokenKind<'a>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TokenKind<'a> {
    /// Name, number, bytes or pattern; the context decides.
    Word(&'a str),
    /// Text between quotation marks.
    Quoted(String),
    Compare(CompareOp),
    Like,
    And,
    Or,
    Not,
    Open,
    Close,
    OpenSet,
    CloseSet,
    OpenSlice,
    CloseSlice,
    Comma,
    Upto,
    /// Character that begins no token.
    Stray(char),
}

pub(super) fn lexemes(text: &str) -> Result<Vec<FilterToken<'_>>, FilterFault> {
    let mut tokens = Vec::new();
    let mut rest = skipped(text);
    while let Ok((after, what)) = lexeme(rest) {
        let at = text.len() - rest.len()..text.len() - after.len();
        if let TokenKind::Stray(found) = what {
            return Err(stray(found, at));
        }
        tokens.push(FilterToken { at, what });
        rest = skipped(after);
    }
    Ok(tokens)
}

fn skipped(text: &str) -> &str {
    blank(text).map_or(text, |(rest, _)| rest)
}

fn blank(text: &str) -> IResult<&str, &str> {
    multispace0(text)
}

/// Parses one token; fails only at the end of the text.
fn lexeme(text: &str) -> IResult<&str, TokenKind<'_>> {
    alt((
        map(word, TokenKind::Word),
        map(quoted, TokenKind::Quoted),
        alt((
            value(TokenKind::Compare(CompareOp::Equal), tag("==")),
            value(TokenKind::Compare(CompareOp::Unequal), tag("!=")),
            value(TokenKind::Compare(CompareOp::AtMost), tag("<=")),
            value(TokenKind::Compare(CompareOp::AtLeast), tag(">=")),
            value(TokenKind::Compare(CompareOp::Less), char('<')),
            value(TokenKind::Compare(CompareOp::More), char('>')),
            value(TokenKind::And, tag("&&")),
            value(TokenKind::Or, tag("||")),
            value(TokenKind::Not, char('!')),
            value(TokenKind::Like, char('~')),
            value(TokenKind::Upto, tag("..")),
        )),
        alt((
            value(TokenKind::Open, char('(')),
            value(TokenKind::Close, char(')')),
            value(TokenKind::OpenSet, char('{')),
            value(TokenKind::CloseSet, char('}')),
            value(TokenKind::OpenSlice, char('[')),
            value(TokenKind::CloseSlice, char(']')),
            value(TokenKind::Comma, char(',')),
        )),
        map(anychar, TokenKind::Stray),
    ))
    .parse(text)
}

/// Parses a word: letters, digits, the signs of numbers, bytes and patterns, and single dots.
fn word(text: &str) -> IResult<&str, &str> {
    let letter =
        satisfy(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | ':' | '*' | '?' | 'µ'));
    let dot = terminated(char('.'), not(char('.')));
    recognize(many1_count(alt((letter, dot)))).parse(text)
}

/// Parses quoted text. `\` escapes a quotation mark or another `\`.
fn quoted(text: &str) -> IResult<&str, String> {
    let inside = alt((preceded(char('\\'), anychar), none_of("\\\"")));
    let text_of = fold_many0(inside, String::new, |mut text, c| {
        text.push(c);
        text
    });
    delimited(char('"'), text_of, char('"')).parse(text)
}

fn stray(found: char, at: Range<usize>) -> FilterFault {
    if found == '"' {
        return FilterFault::new(
            at,
            "unterminated text",
            "it begins here, and there is no `\"` behind it",
        );
    }
    let (expected, help) = match found {
        '=' => ("not an operator", Some("did you mean `==`?")),
        '&' => ("not an operator", Some("did you mean `&&`?")),
        '|' => ("not an operator", Some("did you mean `||`?")),
        '\'' => ("text needs quotation marks: \"s0:*\"", None),
        _ => ("not an operator", None),
    };
    let message = format!("unexpected `{}`", shortened(&found.to_string()));
    FilterFault::new(at, message, expected).with(help.map(str::to_owned))
}
