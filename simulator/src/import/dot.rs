//! Nodes and edges of Graphviz: `graph { s0:3 -- h0; s0:1 -- s1:2 [delay = 12] }`, without subgraphs.
//!
//! Grammar: <https://graphviz.org/doc/info/lang.html>. All attributes but `delay` are skipped.

use super::{ImportError, NamedNetwork};
use crate::scenario::shortened;

/// The text behind the next token.
struct DotTokens<'a> {
    rest: &'a str,
    /// The next token; empty at the end.
    next: &'a str,
    /// Its line.
    line: usize,
}

pub(super) fn read<'a>(text: &'a str, network: &mut NamedNetwork<'a>) -> Result<(), ImportError> {
    let mut tokens = DotTokens { rest: text, next: "", line: 1 };
    tokens.advance()?;
    tokens.accept("strict")?;
    tokens.expect("graph", "an undirected `graph`")?;
    if tokens.next != "{" {
        tokens.word("a name")?;
    }
    tokens.expect("{", "`{`")?;
    while !tokens.accept("}")? {
        if !tokens.accept(";")? {
            statement(&mut tokens, network)?;
        }
    }
    tokens.expect("", "the end of the file")
}

/// Reads a node, one or more edges, or attributes.
fn statement<'a>(
    tokens: &mut DotTokens<'a>,
    network: &mut NamedNetwork<'a>,
) -> Result<(), ImportError> {
    let line = tokens.line;
    if tokens.next == "subgraph" {
        return Err(tokens.unexpected("nodes and edges outside subgraphs"));
    }
    let first = tokens.word("a node, an edge or `}`")?;
    if tokens.accept("=")? {
        return tokens.word("a value").map(|_| ());
    }
    let mut port = tokens.port()?;
    if tokens.next != "--" {
        tokens.attributes()?;
        // Defaults of nodes, edges and the graph are no nodes.
        return match first {
            "graph" | "node" | "edge" => Ok(()),
            _ => network.node(line, name(first)).map(|_| ()),
        };
    }
    let mut from = name(first);
    let mut edges = Vec::new();
    while tokens.accept("--")? {
        let to = name(tokens.word("a node")?);
        let to_port = tokens.port()?;
        edges.push([network.end(line, from, port)?, network.end(line, to, to_port)?]);
        (from, port) = (to, to_port);
    }
    let delay = tokens.attributes()?;
    edges.into_iter().try_for_each(|ends| network.cable(line, ends, delay))
}

/// A word without its quotation marks.
fn name(word: &str) -> &str {
    word.strip_prefix('"').and_then(|word| word.strip_suffix('"')).unwrap_or(word)
}

fn is_word_part(char: char) -> bool {
    char.is_alphanumeric() || matches!(char, '_' | '.')
}

/// Length of the blanks, the comment or the token that a text begins with; none if it has no end.
fn piece_length(text: &str) -> Option<usize> {
    let word = |text: &str| text.find(|char| !is_word_part(char)).unwrap_or(text.len());
    match text.as_bytes() {
        [b'#', ..] | [b'/', b'/', ..] => Some(text.find('\n').unwrap_or(text.len())),
        [b'/', b'*', ..] => text.get(2..)?.find("*/").map(|at| at + 4),
        [b'"', inner @ ..] => {
            let mut is_escaped = false;
            let end = inner.iter().position(|byte| {
                let is_end = *byte == b'"' && !is_escaped;
                is_escaped = *byte == b'\\' && !is_escaped;
                is_end
            });
            end.map(|end| end + 2)
        }
        [b'-', b'-' | b'>', ..] => Some(2),
        [b'-', ..] => text.get(1..).map(|number| word(number) + 1),
        [blank, ..] if blank.is_ascii_whitespace() => {
            Some(text.len() - text.trim_ascii_start().len())
        }
        _ => Some(word(text).max(text.chars().next().map_or(0, char::len_utf8))),
    }
}

impl<'a> DotTokens<'a> {
    fn advance(&mut self) -> Result<(), ImportError> {
        loop {
            self.line += self.next.matches('\n').count();
            let piece = piece_length(self.rest).and_then(|len| self.rest.split_at_checked(len));
            let Some((piece, rest)) = piece else {
                let message = "a comment or a quoted text without an end";
                return Err(ImportError::new(self.line, message, "expected `*/` or `\"`"));
            };
            (self.next, self.rest) = (piece, rest);
            let is_comment = ["#", "//", "/*"].iter().any(|mark| piece.starts_with(mark));
            if !is_comment && !piece.starts_with(|char: char| char.is_ascii_whitespace()) {
                return Ok(());
            }
        }
    }

    fn unexpected(&self, expected: &str) -> ImportError {
        let message = match self.next {
            "" => "the graph ends too early".to_owned(),
            token => format!("unexpected `{}`", shortened(token)),
        };
        ImportError::new(self.line, message, format!("expected {expected}"))
    }

    /// Takes a token, if it is the next one.
    fn accept(&mut self, token: &str) -> Result<bool, ImportError> {
        let is_next = self.next == token;
        if is_next {
            self.advance()?;
        }
        Ok(is_next)
    }

    fn expect(&mut self, token: &str, expected: &str) -> Result<(), ImportError> {
        if self.accept(token)? { Ok(()) } else { Err(self.unexpected(expected)) }
    }

    /// Takes a name, a number or a quoted text.
    fn word(&mut self, expected: &str) -> Result<&'a str, ImportError> {
        let word = self.next;
        let is_word = word.starts_with(|char| is_word_part(char) || matches!(char, '"' | '-'));
        if !is_word || matches!(word, "-" | "--" | "->") {
            return Err(self.unexpected(expected));
        }
        self.advance()?;
        Ok(word)
    }

    /// Takes the port of a node, if there is one; a compass point may follow.
    fn port(&mut self) -> Result<&'a str, ImportError> {
        if !self.accept(":")? {
            return Ok("");
        }
        let port = self.word("a port")?;
        if self.accept(":")? {
            self.word("a compass point")?;
        }
        Ok(name(port))
    }

    /// Takes lists of attributes, and returns the delay, or nothing.
    fn attributes(&mut self) -> Result<&'a str, ImportError> {
        let mut delay = "";
        while self.accept("[")? {
            while !self.accept("]")? {
                let attribute = self.word("an attribute or `]`")?;
                self.expect("=", "`=`")?;
                let value = self.word("a value in quotation marks")?;
                if attribute == "delay" {
                    delay = name(value);
                }
                let _ = self.accept(",")? || self.accept(";")?;
            }
        }
        Ok(delay)
    }
}
