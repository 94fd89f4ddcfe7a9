//! Captures: the input itself; its channels in notation.

use std::collections::BTreeMap;

use codec::capture::{CaptureItem, CaptureReader, ChannelId, Chunk, ChunkContent, ReadProgress};

use super::ReproductionDraft;
use super::text_page::byte_test;
use crate::capture_input::CaptureInput;

const NOT_SIMULATED: &str = "a capture does not say what was simulated";

/// Most chunks shown. *Chosen*: a screen.
const ROWS_MAX: usize = 40;
/// Most characters of a chunk shown. *Chosen*.
const CHARS_MAX: usize = 300;

/// An input that is a capture file, whole or not.
pub(super) fn draw(target: &str, input: &[u8]) -> ReproductionDraft {
    let notation = byte_test(target, &rows(input), input);
    ReproductionDraft::of_capture(Ok(input.to_vec()), NOT_SIMULATED, notation)
}

/// An input of `capture-plans`: the bytes of a capture.
pub(super) fn planned(target: &str, input: &[u8]) -> ReproductionDraft {
    let capture = match CaptureInput::from_bytes(input).map(|plan| plan.file()) {
        Some(Ok(file)) => Ok(file),
        Some(Err(error)) => Err(format!("what these bytes stand for cannot be written: {error}")),
        None => Err("these bytes stand for no capture".to_owned()),
    };
    let known = capture.as_deref().map_or_else(|why| vec![why.clone()], rows);
    ReproductionDraft::of_capture(capture, NOT_SIMULATED, byte_test(target, &known, input))
}

/// Its chunks, and what is wrong with it, in words.
pub(super) fn rows(input: &[u8]) -> Vec<String> {
    let mut told = RowTexts::default();
    let mut reader = CaptureReader::new(input);
    loop {
        match reader.step(&mut |item| told.take(item)) {
            Ok(ReadProgress::More) => {}
            Ok(ReadProgress::Done) => break,
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
struct RowTexts {
    names: BTreeMap<ChannelId, String>,
    rows: Vec<String>,
    left_out: usize,
}

impl RowTexts {
    fn take(&mut self, item: CaptureItem<'_>) {
        let row = match item {
            CaptureItem::Section | CaptureItem::Link(..) => return,
            CaptureItem::Channel(id, channel) => {
                self.names.insert(id, channel.name.clone());
                return;
            }
            CaptureItem::Chunk(id, chunk) => self.chunk(id, &chunk),
            CaptureItem::Fault(fault) => format!("Fault: {fault}"),
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
            ChunkContent::Literal(chars) => (chars, String::new()),
            ChunkContent::Repeat { pattern, count } => (pattern, format!(", {count} times")),
        };
        let shown = chars.split_at(CHARS_MAX.min(chars.len())).0;
        let cut = if shown.len() < chars.len() { " …" } else { "" };
        format!("{name} from {}{times}: {shown}{cut}", chunk.first.0)
    }
}
