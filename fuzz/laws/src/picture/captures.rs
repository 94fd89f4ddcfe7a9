//! Captures: the input is the picture; its channels are told in notation.

use std::collections::BTreeMap;

use codec::capture::{ChannelId, Chunk, Content, Item, Progress, Reader};

use super::Sketch;
use super::sheet::byte_test;
use crate::plan::Plan;

/// Most chunks that are told. *Chosen*: a screen.
const ROWS_MAX: usize = 40;
/// Most characters of a chunk that are told. *Chosen*.
const CHARS_MAX: usize = 300;

/// An input that is a capture file, whole or not.
pub(super) fn draw(target: &str, input: &[u8]) -> Sketch {
    let why = "a capture does not say what was simulated";
    let nothing = Sketch::nothing(why, byte_test(target, &rows(input), input));
    Sketch { capture: Ok(input.to_vec()), ..nothing }
}

/// An input of `capture-plans`: the bytes of a capture.
pub(super) fn planned(target: &str, input: &[u8]) -> Sketch {
    let capture = match Plan::from_bytes(input).map(|plan| plan.file()) {
        Some(Ok(file)) => Ok(file),
        Some(Err(error)) => Err(format!("what these bytes stand for cannot be written: {error}")),
        None => Err("these bytes stand for no capture".to_owned()),
    };
    let known = capture.as_deref().map_or_else(|why| vec![why.clone()], rows);
    let why = "a capture does not say what was simulated";
    Sketch { capture, ..Sketch::nothing(why, byte_test(target, &known, input)) }
}

/// Its chunks, and what is wrong with it, in words.
pub(super) fn rows(input: &[u8]) -> Vec<String> {
    let mut told = Rows::default();
    let mut reader = Reader::new(input);
    loop {
        match reader.step(&mut |item| told.take(item)) {
            Ok(Progress::More) => {}
            Ok(Progress::Done) => break,
            Err(error) => {
                told.rows.push(format!("It ends with an error: {error}"));
                break;
            }
        }
    }
    match (told.left_out, told.rows.is_empty()) {
        (0, true) => told.rows.push("No characters are in it.".to_owned()),
        (0, false) => {}
        (more, _) => told.rows.push(format!("… {more} more")),
    }
    told.rows
}

#[derive(Debug, Default)]
struct Rows {
    names: BTreeMap<ChannelId, String>,
    rows: Vec<String>,
    left_out: usize,
}

impl Rows {
    fn take(&mut self, item: Item<'_>) {
        let row = match item {
            Item::Section | Item::Link(..) => return,
            Item::Channel(id, channel) => {
                self.names.insert(id, channel.name.clone());
                return;
            }
            Item::Chunk(id, chunk) => self.chunk(id, &chunk),
            Item::Fault(fault) => format!("Fault: {fault}"),
        };
        if self.rows.len() < ROWS_MAX {
            self.rows.push(row);
        } else {
            self.left_out += 1;
        }
    }

    fn chunk(&self, id: ChannelId, chunk: &Chunk<'_>) -> String {
        let name = self.names.get(&id).map_or("?", String::as_str);
        let (chars, times) = match chunk.content {
            Content::Literal(chars) => (chars, String::new()),
            Content::Repeat { pattern, count } => (pattern, format!(", {count} times")),
        };
        let shown = chars.split_at(CHARS_MAX.min(chars.len())).0;
        let cut = if shown.len() < chars.len() { " …" } else { "" };
        format!("{name} from {}{times}: {shown}{cut}", chunk.first.0)
    }
}
