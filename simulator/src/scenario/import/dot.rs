//! Nodes and edges of Graphviz: `graph { s0:3 -- h0; s0:1 -- s1:2 [delay = 12] }`, without subgraphs.
//!
//! Grammar: <https://graphviz.org/doc/info/lang.html>. All attributes but `delay` are skipped.

use codec::words::shortened;

use super::{ImportError, NamedNetwork};

/// A word, a quoted text, `--` or another character, with its line; an empty one ends the file.
type DotToken<'a> = (usize, &'a str);

pub(super) fn read<'a>(text: &'a str, network: &mut NamedNetwork<'a>) -> Result<(), ImportError> {
    let tokens = tokens(text)?;
    let start = match tokens.as_slice() {
        [(_, "strict"), start @ ..] => start,
        start => start,
    };
    let mut rest = match start {
        [(_, "graph"), (_, "{"), rest @ ..] => rest,
        [(_, "graph"), (_, name), (_, "{"), rest @ ..] if is_word(name) => rest,
        _ => return Err(unexpected(start, "an undirected `graph`")),
    };
    loop {
        rest = match rest {
            [(_, "}"), (_, "")] => return Ok(()),
            [(_, "}"), rest @ ..] => return Err(unexpected(rest, "the end of the file")),
            [(_, ";"), rest @ ..] => rest,
            [(_, "subgraph"), ..] => {
                return Err(unexpected(rest, "nodes and edges outside subgraphs"));
            }
            [(_, name), (_, "="), (_, value), rest @ ..] if is_word(name) && is_word(value) => rest,
            [(_, "graph" | "node" | "edge"), rest @ ..] => attributes(rest)?.1,
            _ => edges(rest, network)?,
        };
    }
}

/// Reads a node, or nodes joined by edges, and returns the rest.
fn edges<'t, 'a>(
    mut rest: &'t [DotToken<'a>],
    network: &mut NamedNetwork<'a>,
) -> Result<&'t [DotToken<'a>], ImportError> {
    let line = rest.first().map_or(1, |(line, _)| *line);
    let mut ends = Vec::new();
    loop {
        let (node, port, behind) = match rest {
            [(_, node), (_, ":"), (_, port), (_, ":"), (_, compass), behind @ ..]
                if [node, port, compass].iter().all(|word| is_word(word)) =>
            {
                (node, *port, behind)
            }
            [(_, node), (_, ":"), (_, port), behind @ ..] if is_word(node) && is_word(port) => {
                (node, *port, behind)
            }
            [(_, node), behind @ ..] if is_word(node) => (node, "", behind),
            _ => return Err(unexpected(rest, "a node, an edge or `}`")),
        };
        ends.push((name(node), name(port)));
        rest = behind;
        match rest {
            [(_, "--"), behind @ ..] => rest = behind,
            _ => break,
        }
    }
    let (delay, rest) = attributes(rest)?;
    if let [(only, _)] = *ends.as_slice() {
        network.node(line, only)?;
    }
    for ((a, a_port), (b, b_port)) in ends.iter().zip(ends.iter().skip(1)) {
        let ends = [network.end(line, a, a_port)?, network.end(line, b, b_port)?];
        network.cable(line, ends, delay)?;
    }
    Ok(rest)
}

/// Reads lists of attributes, and returns the delay, or nothing, and the rest.
fn attributes<'t, 'a>(
    mut rest: &'t [DotToken<'a>],
) -> Result<(&'a str, &'t [DotToken<'a>]), ImportError> {
    let mut delay = "";
    while let [(_, "["), inner @ ..] = rest {
        rest = inner;
        loop {
            rest = match rest {
                [(_, "]"), behind @ ..] => {
                    rest = behind;
                    break;
                }
                [(_, "," | ";"), behind @ ..] => behind,
                [(_, key), (_, "="), (_, value), behind @ ..] if is_word(key) && is_word(value) => {
                    delay = if *key == "delay" { name(value) } else { delay };
                    behind
                }
                _ => return Err(unexpected(rest, "`]` or an attribute, like `label = \"1\"`")),
            };
        }
    }
    Ok((delay, rest))
}

fn unexpected(rest: &[DotToken<'_>], expected: &str) -> ImportError {
    let (line, token) = rest.first().copied().unwrap_or((1, ""));
    let message = match token {
        "" => "the graph ends too early".to_owned(),
        token => format!("unexpected `{}`", shortened(token)),
    };
    ImportError::new(line, message, format!("expected {expected}"))
}

/// A word without its quotation marks.
fn name(word: &str) -> &str {
    word.strip_prefix('"').and_then(|word| word.strip_suffix('"')).unwrap_or(word)
}

fn is_word_part(char: char) -> bool {
    char.is_alphanumeric() || matches!(char, '_' | '.')
}

/// True for a name, a number or a quoted text.
fn is_word(token: &str) -> bool {
    token.strip_prefix('-').unwrap_or(token).starts_with(|char| is_word_part(char) || char == '"')
}

fn tokens(text: &str) -> Result<Vec<DotToken<'_>>, ImportError> {
    let (mut tokens, mut rest, mut line) = (Vec::new(), text, 1);
    while !rest.is_empty() {
        let piece = piece_length(rest).and_then(|length| rest.split_at_checked(length));
        let Some((piece, behind)) = piece else {
            let message = "a comment or a quoted text without an end";
            return Err(ImportError::new(line, message, "expected `*/` or `\"`"));
        };
        let is_comment = ["#", "//", "/*"].iter().any(|mark| piece.starts_with(mark));
        if !is_comment && !piece.starts_with(|char: char| char.is_ascii_whitespace()) {
            tokens.push((line, piece));
        }
        line += piece.matches('\n').count();
        rest = behind;
    }
    tokens.push((line, ""));
    Ok(tokens)
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
