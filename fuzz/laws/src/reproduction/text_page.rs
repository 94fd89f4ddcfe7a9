//! Tests in Rust, and captures, that are made up from characters.

use codec::capture::{ByteOrder, Channel, ChannelId};
use codec::chars::CharBuf;
use codec::notation::parse;
use codec::time::Tick;

use super::ReproductionPart;
use crate::capture_input::{self, OwnedChunk};

/// Most columns of a line's text. *Chosen*: with what stands around it, the 100 of the house.
const COLUMNS: usize = 84;

/// Most bytes that are printed. *Chosen*: a screen; larger inputs are better kept as files.
const PRINTED_MAX: usize = 1 << 10;

/// Bytes from their notation, as [`codec::notation`] has it: `83 05 00×64`. Control codes are left out.
pub fn bytes(notation: &str) -> Vec<u8> {
    let chars = parse(notation).unwrap_or_default();
    chars
        .chars()
        .iter()
        .filter_map(|character| match character {
            codec::Character::Data(byte) => Some(byte),
            codec::Character::Control(_) => None,
        })
        .collect()
}

pub(super) fn notation(bytes: &[u8]) -> String {
    let mut chars = CharBuf::new();
    chars.push_data(bytes);
    chars.to_string()
}

/// A test of a target's law, with what is to be known of its input before the lines that run it.
pub(super) fn test(target: &str, known: &[String], lines: &[String]) -> String {
    let mut out = format!("#[test]\nfn {}_keeps_its_law_here() {{\n", target.replace('-', "_"));
    let known = known.iter().flat_map(|line| wrapped(line, "    // "));
    let lines = lines.iter().map(|line| format!("    {line}"));
    for line in known.chain(lines) {
        out += line.trim_end();
        out.push('\n');
    }
    out += "}\n";
    out
}

/// A test with an input of bytes, and comments on their meaning.
pub(super) fn byte_test(target: &str, known: &[String], input: &[u8]) -> String {
    let law = format!("{}(&input);", path(target));
    if input.len() > PRINTED_MAX {
        let lines = ["let input = include_bytes!(\"input.min\");".to_owned(), law];
        return test(target, known, &lines);
    }
    let mut lines = call("let input = laws::reproduction::bytes", &notation(input), ";");
    lines.push(law);
    test(target, known, &lines)
}

pub(super) fn path(target: &str) -> String {
    format!("laws::reproduction::law({target:?}).unwrap()")
}

/// A call with a text, over several lines where it has many words.
pub(super) fn call(function: &str, text: &str, end: &str) -> Vec<String> {
    match literal(text).as_slice() {
        [line] if function.len() + line.len() + end.len() < COLUMNS => {
            vec![format!("{function}({}){end}", line.trim().trim_end_matches(','))]
        }
        lines => {
            let head = [format!("{function}(")].into_iter();
            head.chain(lines.iter().cloned()).chain([format!("){end}")]).collect()
        }
    }
}

/// A text in quotes, over several lines where it has many words.
fn literal(text: &str) -> Vec<String> {
    let lines = wrapped(text, "");
    let last = lines.len().saturating_sub(1);
    let line = |(at, line): (usize, String)| {
        let line = line.replace('\\', "\\\\").replace('"', "\\\"");
        let (open, close) =
            (if at == 0 { "\"" } else { " " }, if at == last { "\"," } else { " \\" });
        format!("    {open}{line}{close}")
    };
    lines.into_iter().enumerate().map(line).collect()
}

/// A text in lines that begin alike and end between words.
fn wrapped(text: &str, head: &str) -> Vec<String> {
    let mut lines = vec![head.to_owned()];
    let mut words = 0;
    for word in text.split(' ') {
        if let Some(line) = lines.last_mut() {
            if words > 0 && line.chars().count() + 1 + word.chars().count() > COLUMNS {
                lines.push(format!("{head}{word}"));
                continue;
            }
            if words > 0 {
                line.push(' ');
            }
            line.push_str(word);
            words += 1;
        }
    }
    lines
}

/// A capture of channels, of which each has chunks in order.
pub(super) fn capture(
    channels: &[Channel],
    chunks: Vec<(ChannelId, OwnedChunk)>,
) -> ReproductionPart<Vec<u8>> {
    let mut chunks = chunks;
    chunks.retain(|(_, chunk)| !chunk.chars.is_empty());
    capture_input::in_order(channels, &mut chunks);
    capture_input::write(ByteOrder::Little, channels, &chunks)
        .map_err(|error| format!("its characters cannot be written as a capture: {error}"))
}

/// A capture of one channel, from its first period on.
pub(super) fn alone(name: &str, chars: CharBuf) -> ReproductionPart<Vec<u8>> {
    let chunk = OwnedChunk { first: Tick(0), chars, count: None };
    capture(&[Channel::named(name)], vec![(ChannelId(0), chunk)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_read_from_what_is_written_of_them() {
        let all: Vec<u8> = (0..=255).chain([7; 40]).collect();
        assert_eq!(bytes(&notation(&all)), all);
        assert_eq!(notation(&[]), "");
        assert!(bytes("").is_empty());
    }

    #[test]
    fn a_test_can_be_pasted() {
        let input: Vec<u8> = (0..40).chain([0; 9]).collect();
        insta::assert_snapshot!(byte_test("a-b", &["What it is.".to_owned()], &input), @r#"
    #[test]
    fn a_b_keeps_its_law_here() {
        // What it is.
        let input = laws::reproduction::bytes(
            "00 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f 10 11 12 13 14 15 16 17 18 19 1a 1b \
             1c 1d 1e 1f 20 21 22 23 24 25 26 27 00×9",
        );
        laws::reproduction::law("a-b").unwrap()(&input);
    }
    "#);
    }
}
