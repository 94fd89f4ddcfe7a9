//! FST files, which `GTKWave`, Verilator and other simulators write: blocks with the changes of some time, compressed
//! signal by signal. Names stand at the end of the file, so it is read out of order.
//!
//! The format has no checksum: damage shows where numbers contradict each other, or not at all.

mod changes;
mod names;
mod packing;

use std::io::{BufReader, Read, Seek, SeekFrom};

use flate2::bufread::GzDecoder;

use self::changes::BlockChanges;
use self::packing::{FstPacking, unpack, varint};
use super::variables::VariableName;
use super::{ChangeSink, ReadSummary, RecordingError, SignalReader, SignalTable};

/// Most bytes that are taken from a block at once, packed or not. A writer ends a block of 128 MiB.
const BYTES_MAX: u64 = 128 << 20;

/// Most bytes of a file that is compressed as a whole: it is unpacked into memory. *Chosen*
const WHOLE_MAX: u64 = 512 << 20;

/// True for the first bytes of an FST file: a header block of 329 bytes, or a block that has a whole file.
pub fn is_fst(head: &[u8]) -> bool {
    let is_header = head.starts_with(&[HEADER, 0, 0, 0, 0, 0, 0, 1]);
    is_header && head.get(8).is_none_or(|length| *length == 0x49) || head.starts_with(&[WRAPPED, 0])
}

/// Most variables, of which a place is kept in each block.
const VARIABLES_MAX: u64 = 1 << 20;

/// Kinds of blocks.
const HEADER: u8 = 0;
const CHANGES: u8 = 1;
const SWITCHES: u8 = 2;
const GEOMETRY: u8 = 3;
const NAMES_GZIP: u8 = 4;
const CHANGES_ALIAS: u8 = 5;
const NAMES_LZ4: u8 = 6;
const NAMES_LZ4_TWICE: u8 = 7;
const CHANGES_ALIAS_2: u8 = 8;
const WRAPPED: u8 = 254;

/// Place of the exponent of the unit of time in a header.
const EXPONENT: u64 = 64;

/// Block of a file: its kind, and the bytes behind kind and length.
#[derive(Clone, Copy, Debug)]
struct FileBlock {
    kind: u8,
    start: u64,
    end: u64,
}

impl FileBlock {
    fn damaged(self, cause: impl Into<String>) -> RecordingError {
        RecordingError::at_byte(self.start - 9, cause)
    }
}

/// File as a sequence of blocks.
#[derive(Debug)]
struct BlockFile<R> {
    reader: R,
    /// Content of a file that is compressed as a whole.
    unpacked: Option<Vec<u8>>,
    length: u64,
}

impl<R: Read + Seek> BlockFile<R> {
    /// The block that begins at a byte; `None` at the end of the file.
    fn block(&mut self, at: u64) -> Result<Option<FileBlock>, RecordingError> {
        if at >= self.length {
            return Ok(None);
        }
        let whole = FileBlock { kind: 0, start: at + 9, end: self.length };
        let head = self.bytes(FileBlock { start: at, ..whole }, at, 9);
        let head = head.map_err(|_| RecordingError::at_byte(at, "the file ends inside a block"))?;
        let length = head.last_chunk().map_or(0, |length| u64::from_be_bytes(*length));
        let end = at.saturating_add(1).saturating_add(length);
        let block = FileBlock { kind: head.first().copied().unwrap_or_default(), end, ..whole };
        match length {
            0 => Err(block.damaged("the file was not ended by its writer")),
            // What is there of it is unpacked.
            8.. if block.kind == WRAPPED => {
                Ok(Some(FileBlock { end: end.min(self.length), ..block }))
            }
            8.. if end <= self.length => Ok(Some(block)),
            _ => Err(block.damaged(format!("a block of {length} bytes is not in the file"))),
        }
    }

    /// Goes on with the file that a block has, compressed. Returns the damage that ends it.
    fn unpack(&mut self, block: FileBlock) -> Result<Option<RecordingError>, RecordingError> {
        let length = self.number(block, block.start)?;
        if length > WHOLE_MAX {
            let text = format!(
                "the file is compressed as a whole, of {length} bytes: convert it with fst2vcd"
            );
            return Err(block.damaged(text));
        }
        let mut bytes = Vec::new();
        let packed = BufReader::new(self.reader.by_ref());
        let read = GzDecoder::new(packed).take(length.saturating_add(1)).read_to_end(&mut bytes);
        let damage = match read {
            Ok(_) if bytes.len() as u64 == length => None,
            Ok(_) => Some("it has another length than it states".to_owned()),
            Err(error) => Some(error.to_string()),
        };
        self.length = bytes.len() as u64;
        self.unpacked = Some(bytes);
        Ok(damage.map(|cause| {
            block.damaged(format!("the file is compressed as a whole, and damaged: {cause}"))
        }))
    }

    fn bytes(&mut self, block: FileBlock, at: u64, length: u64) -> Result<Vec<u8>, RecordingError> {
        let is_inside = at >= block.start && at.saturating_add(length) <= block.end;
        if !is_inside || length > BYTES_MAX {
            let text =
                format!("{length} bytes from byte {at} on are not in the block, or too many");
            return Err(RecordingError::at_byte(at, text));
        }
        if let Some(unpacked) = &self.unpacked {
            let from = usize::try_from(at).ok().and_then(|at| unpacked.get(at..));
            let bytes = from.and_then(|from| from.get(..usize::try_from(length).ok()?));
            return bytes
                .map(<[u8]>::to_vec)
                .ok_or_else(|| RecordingError::at_byte(at, "the file ends here"));
        }
        let mut bytes = Vec::new();
        let read = self
            .reader
            .seek(SeekFrom::Start(at))
            .and_then(|_| self.reader.by_ref().take(length).read_to_end(&mut bytes));
        match read {
            Ok(_) if bytes.len() as u64 == length => Ok(bytes),
            Ok(_) => Err(RecordingError::at_byte(at, "the file ends here")),
            Err(error) => Err(RecordingError::at_byte(at, format!("read failed: {error}"))),
        }
    }

    /// A number of eight bytes.
    fn number(&mut self, block: FileBlock, at: u64) -> Result<u64, RecordingError> {
        let bytes = self.bytes(block, at, 8)?;
        Ok(bytes.first_chunk().map_or(0, |bytes| u64::from_be_bytes(*bytes)))
    }
}

/// Reader of an FST file.
#[derive(Debug)]
pub struct FstReader<R> {
    file: BlockFile<R>,
    variables: SignalTable,
    /// Bytes of a level of each variable as text, by its handle less 1.
    widths: Vec<u32>,
    /// Femtoseconds in a unit of time.
    unit_fs: u64,
    /// Times at which the dump was switched off and on, behind their number.
    switches: Vec<u8>,
    /// Damage behind the last whole block.
    damage: Option<RecordingError>,
}

impl<R: Read + Seek> FstReader<R> {
    /// Reads the names of the signals.
    ///
    /// # Errors
    ///
    /// A file without names, unit of time or widths, with the byte of the damaged block.
    pub fn new(mut reader: R) -> Result<Self, RecordingError> {
        let length = reader
            .seek(SeekFrom::End(0))
            .map_err(|error| RecordingError::at_byte(0, format!("seek failed: {error}")))?;
        let (variables, widths) = (SignalTable::default(), Vec::new());
        let file = BlockFile { reader, unpacked: None, length };
        let mut fst =
            Self { file, variables, widths, unit_fs: 0, switches: Vec::new(), damage: None };
        let (mut geometry, mut names, mut changes, mut at) = (None, None, None, 0);
        loop {
            let block = match fst.file.block(at) {
                Ok(Some(block)) => block,
                Ok(None) => break,
                // What stands before it is given.
                Err(damage) => {
                    fst.damage.get_or_insert(damage);
                    break;
                }
            };
            at = block.end;
            match block.kind {
                HEADER => fst.unit_fs = fst.unit_fs(block)?,
                SWITCHES => {
                    fst.switches = fst.file.bytes(block, block.start, block.end - block.start)?;
                }
                GEOMETRY => geometry = Some(block),
                WRAPPED if fst.file.unpacked.is_none() => {
                    fst.damage = fst.file.unpack(block)?;
                    at = 0;
                }
                NAMES_GZIP | NAMES_LZ4 | NAMES_LZ4_TWICE => names = Some(block),
                CHANGES | CHANGES_ALIAS | CHANGES_ALIAS_2 => changes = changes.or(Some(block)),
                _ => {}
            }
        }
        match (geometry, names, changes) {
            _ if fst.unit_fs == 0 => {}
            (Some(geometry), Some(names), _) => {
                fst.read_widths(geometry)?;
                fst.read_names(names)?;
                return Ok(fst);
            }
            (geometry, None, Some(changes)) if fst.damage.is_some() => {
                fst.number_signals(geometry, changes)?;
                return Ok(fst);
            }
            _ => {}
        }
        let text = "no header, no widths or no names of signals";
        Err(fst.damage.unwrap_or_else(|| RecordingError::at_byte(at, text)))
    }

    /// Names the signals of a cut file by their numbers, if their widths are known: by themselves, or as all are one.
    fn number_signals(
        &mut self,
        geometry: Option<FileBlock>,
        changes: FileBlock,
    ) -> Result<(), RecordingError> {
        match geometry {
            Some(geometry) => self.read_widths(geometry)?,
            None => self.widths = changes::scalars(&mut self.file, changes)?.unwrap_or_default(),
        }
        let Some(damage) = self.damage.as_mut().filter(|_| !self.widths.is_empty()) else {
            let text = "the file is cut: names and widths of the signals stood at its end";
            return Err(changes.damaged(text));
        };
        damage.cause +=
            "; the names of the signals stood behind it: they are called by their numbers";
        for (handle, width) in (0_u32..).zip(&self.widths) {
            let name = VariableName { scopes: &[], name: &(handle + 1).to_string(), range: "" };
            let declared = self.variables.declare(name, *width as usize, &handle.to_be_bytes());
            declared.map_err(|cause| changes.damaged(cause))?;
        }
        Ok(())
    }

    /// Femtoseconds in the unit of a header.
    fn unit_fs(&mut self, block: FileBlock) -> Result<u64, RecordingError> {
        let exponent = self.file.bytes(block, block.start.saturating_add(EXPONENT), 1)?;
        let exponent = exponent.first().map_or(0, |byte| byte.cast_signed());
        match u32::try_from(15 + i32::from(exponent)) {
            Ok(power @ 0..=15) => Ok(10_u64.pow(power)),
            _ => Err(block.damaged(format!("unit of time is 10^{exponent} s, not 1 fs to 1 s"))),
        }
    }

    fn read_widths(&mut self, block: FileBlock) -> Result<(), RecordingError> {
        let length = self.file.number(block, block.start)?;
        let count = self.file.number(block, block.start + 8)?;
        if count > VARIABLES_MAX {
            let text = format!("more than {VARIABLES_MAX} variables: dump the wires alone");
            return Err(block.damaged(text));
        }
        let data = block.start + 16;
        let packed = self.file.bytes(block, data, block.end.saturating_sub(data))?;
        let packing =
            if packed.len() as u64 == length { FstPacking::Stored } else { FstPacking::Zlib };
        let widths = unpack(packing, &packed, length).map_err(|cause| block.damaged(cause))?;
        let mut widths = widths.as_slice();
        for _ in 0..count {
            let width = varint(&mut widths).ok_or_else(|| block.damaged("widths are cut short"))?;
            // A number is 8 bytes of a frame, a text is none of it.
            let width = if width == 0 { 8 } else { u32::try_from(width).unwrap_or(u32::MAX) };
            self.widths.push(if width == u32::MAX { 0 } else { width });
        }
        Ok(())
    }
}

impl<R: Read + Seek> SignalReader for FstReader<R> {
    fn signals(&self) -> &SignalTable {
        &self.variables
    }

    fn read(mut self: Box<Self>, selected: &[usize], sink: &mut ChangeSink<'_>) -> ReadSummary {
        let masks = self.variables.masks(selected);
        let selected = masks.into_iter().filter_map(|(code, masks)| {
            let handle = u32::from_be_bytes(*code.first_chunk()?);
            Some((handle as usize, masks))
        });
        let mut switches = self.switches.as_slice();
        _ = varint(&mut switches);
        let mut changes = BlockChanges {
            widths: &self.widths,
            selected: selected.collect(),
            unit_fs: self.unit_fs,
            switches,
            ..BlockChanges::default()
        };
        changes.find_switch(0);
        let mut at = 0;
        let mut read = || {
            while let Some(block) = self.file.block(at)? {
                if [CHANGES, CHANGES_ALIAS, CHANGES_ALIAS_2].contains(&block.kind) {
                    changes.read(&mut self.file, block, sink)?;
                }
                at = block.end;
            }
            changes.take_switches(u64::MAX, sink);
            Ok(())
        };
        let read = read();
        let error = self.damage.or(read.err());
        let time_fs = changes.time_fs.unwrap_or_default();
        if error.is_some() {
            changes.levels.end(time_fs, sink);
        }
        ReadSummary { error, ..changes.levels.finish(time_fs, sink) }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::super::vcd::VcdReader;
    use super::super::{SELECTED_MAX, SignalChange};
    use super::*;

    #[expect(clippy::disallowed_methods, reason = "a test reads its fixture")]
    fn fixture(name: &str) -> Vec<u8> {
        std::fs::read(format!("{}/../fixtures/recordings/{name}", env!("CARGO_MANIFEST_DIR")))
            .unwrap()
    }

    /// Names of the signals, changes, and what these do not tell.
    fn read(reader: impl SignalReader) -> (Vec<String>, Vec<SignalChange>, ReadSummary) {
        let (mut changes, names) = (Vec::new(), reader.signals().names().to_vec());
        let selected: Vec<usize> = (0..names.len().min(SELECTED_MAX)).collect();
        let summary = Box::new(reader).read(&selected, &mut |given| changes.extend(given));
        (names, changes, summary)
    }

    fn read_fst(bytes: &[u8]) -> (Vec<String>, Vec<SignalChange>, ReadSummary) {
        let failed =
            |error| (vec![], vec![], ReadSummary { error: Some(error), ..Default::default() });
        FstReader::new(Cursor::new(bytes)).map_or_else(failed, read)
    }

    #[test]
    fn changes_are_those_of_the_dump_that_a_file_was_made_of() {
        // Converted by vcd2fst, with each of its compressions that are read.
        for (dump, file) in [("link-1", "link-1"), ("link-1", "link-1-zlib"), ("vector", "vector")]
        {
            let dump = fixture(&format!("{dump}.vcd"));
            let (names, changes, expected) = read(VcdReader::new(dump.as_slice()).unwrap());
            assert!(changes.len() > 10);
            let (fst_names, fst_changes, summary) = read_fst(&fixture(&format!("{file}.fst")));
            assert_eq!((fst_names, fst_changes), (names, changes), "{file}");
            assert_eq!(format!("{summary:?}"), format!("{expected:?}"), "{file}");
        }
    }

    #[test]
    fn a_damaged_file_gives_an_error_or_other_changes_in_order_of_time() {
        let mut errors = 0;
        for name in ["link-1.fst", "link-1-zlib.fst", "vector.fst"] {
            let whole = fixture(name);
            let (_, sound, _) = read_fst(&whole);
            for at in (0..whole.len()).step_by(3) {
                assert!(read_fst(&whole[..at]).2.error.is_some(), "{name} cut at {at}");
                for bits in [1 << (at % 8), 0xff] {
                    let mut damaged = whole.clone();
                    damaged[at] ^= bits;
                    let (_, changes, ReadSummary { error, .. }) = read_fst(&damaged);
                    let times = changes.windows(2).all(|two| two[0].time_fs < two[1].time_fs);
                    assert!(times, "{name}: byte {at} ^ {bits}");
                    errors += usize::from(error.is_some());
                    assert!(error.is_some() || changes.len() <= 10 * sound.len());
                }
            }
        }
        assert!(errors > 500, "{errors}");
    }
}
