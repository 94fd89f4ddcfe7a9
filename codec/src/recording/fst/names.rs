//! Scopes and variables of an FST file.

use std::io::{Read, Seek};

use super::packing::{FstPacking, unpack, varint};
use super::{FileBlock, FstReader, NAMES_GZIP, NAMES_LZ4};
use crate::recording::RecordingError;
use crate::recording::variables::{VariableName, add_scope, split_range};

/// First bytes of entries; less than 30 is the type of a variable.
const SCOPE: u8 = 254;
const SCOPE_END: u8 = 255;
const ATTRIBUTE: u8 = 252;
const ATTRIBUTE_END: u8 = 253;

/// Types of variables that are no wires: events, parameters, numbers, times and texts.
const WITHOUT_LEVELS: [u8; 7] = [0, 2, 3, 4, 8, 21, 29];

impl<R: Read + Seek> FstReader<R> {
    /// Declares the variables.
    pub(super) fn read_names(&mut self, block: FileBlock) -> Result<(), RecordingError> {
        let length = self.file.number(block, block.start)?;
        let data = block.start + 8;
        let packed = self.file.bytes(block, data, block.end.saturating_sub(data))?;
        let names = match block.kind {
            NAMES_GZIP => unpack(FstPacking::Gzip, &packed, length),
            NAMES_LZ4 => unpack(FstPacking::Lz4, &packed, length),
            _ => {
                let mut packed = packed.as_slice();
                let once = varint(&mut packed).unwrap_or_default();
                unpack(FstPacking::Lz4, packed, once)
                    .and_then(|packed| unpack(FstPacking::Lz4, &packed, length))
            }
        };
        let names = names.map_err(|cause| block.damaged(format!("names of signals: {cause}")))?;
        let (mut names, mut scopes, mut count) = (names.as_slice(), Vec::new(), 0);
        while !names.is_empty() {
            let declared = match self.entry(&mut names, &mut scopes, &mut count) {
                Some(declared) => declared,
                None => Err("an entry is cut short, or of no known kind".to_owned()),
            };
            declared.map_err(|cause| block.damaged(format!("names of signals: {cause}")))?;
        }
        Ok(())
    }

    /// Reads an entry. `count` is the number of variables so far that are no other name of one.
    fn entry(
        &mut self,
        names: &mut &[u8],
        scopes: &mut Vec<String>,
        count: &mut u64,
    ) -> Option<Result<(), String>> {
        match *names.split_off_first()? {
            SCOPE => {
                names.split_off_first()?;
                let (name, _component) = (text(names)?, text(names)?);
                Some(add_scope(scopes, &name))
            }
            SCOPE_END => {
                scopes.pop();
                Some(Ok(()))
            }
            ATTRIBUTE => {
                names.split_off(..2)?;
                text(names)?;
                varint(names).map(|_| Ok(()))
            }
            ATTRIBUTE_END => Some(Ok(())),
            kind @ ..30 => {
                // Its direction.
                names.split_off_first()?;
                let (name, _width, alias) = (text(names)?, varint(names)?, varint(names)?);
                *count += u64::from(alias == 0);
                let handle = if alias == 0 { *count } else { alias };
                let handle = u32::try_from(handle.checked_sub(1)?).ok()?;
                let width = *self.widths.get(handle as usize)? as usize;
                if width == 0 || WITHOUT_LEVELS.contains(&kind) {
                    return Some(Ok(()));
                }
                let (name, range) = split_range(&name);
                let name = VariableName { scopes, name: name.trim_end(), range };
                Some(self.variables.declare(name, width, &handle.to_be_bytes()))
            }
            _ => None,
        }
    }
}

/// A text up to a zero byte.
fn text(bytes: &mut &[u8]) -> Option<String> {
    let length = bytes.iter().position(|byte| *byte == 0)?;
    let text = bytes.split_off(..length)?;
    bytes.split_off_first()?;
    Some(String::from_utf8_lossy(text).into_owned())
}
