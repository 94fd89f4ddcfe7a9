//! FST files, which `GTKWave`, Verilator and other simulators write: blocks with the changes of some time, compressed
//! signal by signal. Names stand at the end of the file, so it is read out of order.
//!
//! The format has no checksum: damage shows where numbers contradict each other, or not at all.

mod changes;
mod names;
mod packing;

use std::io::{Read, Seek, SeekFrom};

use self::changes::BlockChanges;
use self::packing::{FstPacking, unpack, varint};
use super::levels::SignalLevels;
use super::variables::VariableTable;
use super::{ChangeSink, RecordingError};

/// Most bytes that are taken from a block at once, packed or not. A writer ends a block of 128 MiB.
const BYTES_MAX: u64 = 128 << 20;

/// True for the first bytes of an FST file: a header block of 329 bytes, or a block that has a whole file.
pub fn is_fst(head: &[u8]) -> bool {
    head.starts_with(&[HEADER, 0, 0, 0, 0, 0, 0, 1, 0x49]) || head.first() == Some(&WRAPPED)
}

/// Most variables, of which a place is kept in each block.
const VARIABLES_MAX: u64 = 1 << 20;

/// Kinds of blocks.
const HEADER: u8 = 0;
const CHANGES: u8 = 1;
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
            8.. if end <= self.length => Ok(Some(block)),
            _ => Err(block.damaged(format!("a block of {length} bytes is not in the file"))),
        }
    }

    /// Bytes of a block from a place in the file.
    fn bytes(&mut self, block: FileBlock, at: u64, length: u64) -> Result<Vec<u8>, RecordingError> {
        let is_inside = at >= block.start && at.saturating_add(length) <= block.end;
        if !is_inside || length > BYTES_MAX {
            let text =
                format!("{length} bytes from byte {at} on are not in the block, or too many");
            return Err(RecordingError::at_byte(at, text));
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
    variables: VariableTable,
    /// Bytes of a level of each variable as text, by its handle less 1.
    widths: Vec<u32>,
    /// Femtoseconds in a unit of time.
    unit_fs: u64,
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
        let (variables, widths) = (VariableTable::default(), Vec::new());
        let file = BlockFile { reader, length };
        let mut fst = Self { file, variables, widths, unit_fs: 0 };
        let (mut geometry, mut names, mut at) = (None, None, 0);
        while let Some(block) = fst.file.block(at)? {
            match block.kind {
                HEADER => fst.unit_fs = fst.unit_fs(block)?,
                GEOMETRY => geometry = Some(block),
                WRAPPED => {
                    let text = "the file is compressed as a whole: convert it with fst2vcd";
                    return Err(block.damaged(text));
                }
                NAMES_GZIP | NAMES_LZ4 | NAMES_LZ4_TWICE => names = Some(block),
                _ => {}
            }
            at = block.end;
        }
        match (geometry, names) {
            (Some(geometry), Some(names)) if fst.unit_fs > 0 => {
                fst.read_widths(geometry)?;
                fst.read_names(names)?;
                Ok(fst)
            }
            _ => Err(RecordingError::at_byte(at, "no header, no widths or no names of signals")),
        }
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

    /// Reads the widths of all variables.
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

    /// The signals, one a bit.
    pub fn signals(&self) -> &[String] {
        self.variables.signals()
    }

    /// Gives the changes of some signals, by their numbers, in order of time. The first level of a
    /// signal is no change; an unknown level leaves the level as it was.
    ///
    /// # Errors
    ///
    /// Damage of a block of changes, with its byte. What precedes it has been given.
    pub fn read(
        mut self,
        selected: &[usize],
        sink: &mut ChangeSink<'_>,
    ) -> Result<(), RecordingError> {
        let masks = self.variables.masks(selected);
        let selected = masks.into_iter().filter_map(|(code, masks)| {
            let handle = u32::from_be_bytes(*code.first_chunk()?);
            Some((handle as usize, masks))
        });
        let mut changes = BlockChanges {
            widths: &self.widths,
            selected: selected.collect(),
            unit_fs: self.unit_fs,
            levels: SignalLevels::default(),
            time_fs: None,
        };
        let mut at = 0;
        let mut read = || {
            while let Some(block) = self.file.block(at)? {
                if [CHANGES, CHANGES_ALIAS, CHANGES_ALIAS_2].contains(&block.kind) {
                    changes.read(&mut self.file, block, sink)?;
                }
                at = block.end;
            }
            Ok(())
        };
        let result = read();
        changes.levels.finish(changes.time_fs.unwrap_or_default(), sink);
        result
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

    /// Names of the signals, changes, and the error.
    fn read(bytes: &[u8]) -> (Vec<String>, Vec<SignalChange>, Option<RecordingError>) {
        let (mut changes, mut names) = (Vec::new(), Vec::new());
        let result = FstReader::new(Cursor::new(bytes)).and_then(|fst| {
            names = fst.signals().to_vec();
            let selected: Vec<usize> = (0..names.len().min(SELECTED_MAX)).collect();
            fst.read(&selected, &mut |given| changes.extend(given))
        });
        (names, changes, result.err())
    }

    #[test]
    fn changes_are_those_of_the_dump_that_a_file_was_made_of() {
        // Converted by vcd2fst, with each of its compressions that are read.
        for (dump, file) in [("link-1", "link-1"), ("link-1", "link-1-zlib"), ("vector", "vector")]
        {
            let dump = fixture(&format!("{dump}.vcd"));
            let dump = VcdReader::new(dump.as_slice()).unwrap();
            let (names, mut changes) = (dump.signals().to_vec(), Vec::new());
            let selected: Vec<usize> = (0..names.len()).collect();
            dump.read(&selected, &mut |given| changes.extend(given)).unwrap();
            assert!(changes.len() > 10);
            let (fst_names, fst_changes, error) = read(&fixture(&format!("{file}.fst")));
            assert_eq!((fst_names, fst_changes), (names, changes), "{file}");
            assert!(error.is_none(), "{error:?}");
        }
    }

    #[test]
    fn a_damaged_file_gives_an_error_or_other_changes_in_order_of_time() {
        let mut errors = 0;
        for name in ["link-1.fst", "link-1-zlib.fst", "vector.fst"] {
            let whole = fixture(name);
            let (_, sound, _) = read(&whole);
            for at in (0..whole.len()).step_by(3) {
                assert!(read(&whole[..at]).2.is_some(), "{name} cut at {at}");
                for bits in [1 << (at % 8), 0xff] {
                    let mut damaged = whole.clone();
                    damaged[at] ^= bits;
                    let (_, changes, error) = read(&damaged);
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
