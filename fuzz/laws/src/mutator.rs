//! Mutator of all fuzz targets: selects modes, inserts generated captures, and repairs checksums and lengths.

use crate::capture_input::CaptureInput;
use crate::repair::{SeededRng, repair_capture, repair_chunk, repair_crc, repair_message};

/// Mutates an input of a target in libFuzzer's buffer of `max` bytes, and returns its new length: in one of
/// sixteen another mode, otherwise by `mutate`, after which checksums and lengths are repaired in three of four.
pub fn mutated(
    target: &str,
    data: &mut [u8],
    (mut len, max): (usize, usize),
    seed: u32,
    mutate: impl Fn(&mut [u8], usize, usize) -> usize,
) -> usize {
    let Some(target) = crate::target(target) else { return mutate(data, len, max) };
    let input = data.get(..len).unwrap_or_default();
    let (mut mode, body) = target.select(input);
    let mut start = len - body.len();
    if seed % 16 == 1 && !target.modes.is_empty() && len < max {
        if start == 0 {
            data.copy_within(..len, 1);
            (start, len) = (1, len + 1);
        }
        mode = seed as usize / 16 % target.modes.len();
        data.iter_mut().take(1).for_each(|byte| *byte = !u8::try_from(mode).unwrap_or_default());
    }
    let name = target.modes.get(mode).map_or(target.name, |(name, _)| *name);
    let Some(room) = data.get_mut(start..) else { return len };
    let family = if name == "capture-plans" { "" } else { target.name };
    let planned =
        (family == "capture").then(|| generated_capture(room, max - start, seed)).flatten();
    let len = planned.unwrap_or_else(|| mutate(room, len - start, max - start));
    let repair: fn(&mut [u8]) = match family {
        "capture" => repair_capture,
        "chars" => repair_chunk,
        "message" => repair_message,
        "packet" => repair_crc,
        _ => |_| (),
    };
    if let Some(body) = room.get_mut(..len).filter(|_| !seed.is_multiple_of(4)) {
        repair(body);
    }
    start + len
}

/// In one of sixteen, writes a generated capture in place of the input, if it fits in `max_size` bytes.
/// Returns its length.
fn generated_capture(data: &mut [u8], max_size: usize, seed: u32) -> Option<usize> {
    if !seed.is_multiple_of(16) {
        return None;
    }
    let file =
        CaptureInput::from_bytes(&SeededRng::new(&seed.to_le_bytes()).bytes(200))?.file().ok()?;
    let room = data.get_mut(..file.len()).filter(|room| room.len() <= max_size)?;
    room.copy_from_slice(&file);
    Some(file.len())
}
