//! Numbers and compressed bytes of FST files.

use std::io::Read;

use flate2::bufread::{GzDecoder, ZlibDecoder};

/// Way in which bytes are compressed.
#[derive(Clone, Copy, Debug)]
pub(super) enum FstPacking {
    Stored,
    Gzip,
    Zlib,
    Lz4,
    FastLz,
}

/// Bytes that are compressed, of a known length.
pub(super) fn unpack(packing: FstPacking, packed: &[u8], length: u64) -> Result<Vec<u8>, String> {
    if length > super::BYTES_MAX {
        return Err(format!("{length} bytes are more than a block has"));
    }
    let mut bytes = Vec::new();
    let read = match packing {
        FstPacking::Stored => packed.take(length + 1).read_to_end(&mut bytes),
        FstPacking::Gzip => GzDecoder::new(packed).take(length + 1).read_to_end(&mut bytes),
        FstPacking::Zlib => ZlibDecoder::new(packed).take(length + 1).read_to_end(&mut bytes),
        FstPacking::Lz4 => {
            bytes = lz4(packed, length).ok_or("LZ4 refers to bytes that are not there")?;
            Ok(bytes.len())
        }
        FstPacking::FastLz => {
            bytes = fast_lz(packed, length).ok_or("FastLZ refers to bytes that are not there")?;
            Ok(bytes.len())
        }
    };
    read.map_err(|error| error.to_string())?;
    if bytes.len() as u64 == length {
        return Ok(bytes);
    }
    Err(format!("{length} compressed bytes have another length"))
}

/// Bytes of an LZ4 block, at most one more than a length.
fn lz4(mut packed: &[u8], length: u64) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    loop {
        let token = *packed.split_off_first()?;
        let literals = lz4_length(token >> 4, &mut packed)?;
        bytes.extend_from_slice(packed.split_off(..literals)?);
        if packed.is_empty() || bytes.len() as u64 > length {
            return Some(bytes);
        }
        let back = [*packed.split_off_first()?, *packed.split_off_first()?];
        let back = usize::from(u16::from_le_bytes(back));
        let copied = lz4_length(token & 15, &mut packed)?.checked_add(4)?;
        repeat(&mut bytes, (back, copied), length)?;
    }
}

/// Appends bytes again from some before the end, at most up to a length.
fn repeat(bytes: &mut Vec<u8>, (back, copied): (usize, usize), length: u64) -> Option<()> {
    let start = bytes.len().checked_sub(back).filter(|_| back > 0)?;
    if bytes.len().checked_add(copied)? as u64 > length {
        return None;
    }
    for at in start..start + copied {
        bytes.push(*bytes.get(at)?);
    }
    Some(())
}

/// Bytes of a `FastLZ` block of level 1 or 2, at most one more than a length.
fn fast_lz(mut packed: &[u8], length: u64) -> Option<Vec<u8>> {
    let is_second = match packed.first()? >> 5 {
        0 => false,
        1 => true,
        _ => return None,
    };
    let mut bytes = Vec::new();
    let mut control = packed.split_off_first()? & 31;
    loop {
        if control < 32 {
            bytes.extend_from_slice(packed.split_off(..=usize::from(control))?);
        } else {
            let (mut copied, mut back) =
                (usize::from(control >> 5), usize::from(control & 31) << 8);
            let mut is_longer = copied == 7;
            while is_longer {
                let more = *packed.split_off_first()?;
                copied = copied.checked_add(more.into())?;
                is_longer = is_second && more == 255;
            }
            let low = usize::from(*packed.split_off_first()?);
            back += low;
            if is_second && low == 255 && control & 31 == 31 {
                let far = [*packed.split_off_first()?, *packed.split_off_first()?];
                back = usize::from(u16::from_be_bytes(far)) + 8191;
            }
            repeat(&mut bytes, (back + 1, copied + 2), length)?;
        }
        if packed.is_empty() || bytes.len() as u64 > length {
            return Some(bytes);
        }
        control = *packed.split_off_first()?;
    }
}

/// A length of LZ4: four bits, and bytes that are added while each is 255.
fn lz4_length(bits: u8, packed: &mut &[u8]) -> Option<usize> {
    let mut length = usize::from(bits);
    let mut is_longer = bits == 15;
    while is_longer {
        let byte = *packed.split_off_first()?;
        length = length.checked_add(usize::from(byte))?;
        is_longer = byte == 255;
    }
    Some(length)
}

/// A number of seven bits a byte, the least significant first; all bytes but the last have the highest bit set.
#[inline]
pub(super) fn varint(bytes: &mut &[u8]) -> Option<u64> {
    signed_varint(bytes).map(|(number, _)| number)
}

/// A number, and the same with its highest bit as sign.
#[inline]
pub(super) fn signed_varint(bytes: &mut &[u8]) -> Option<(u64, i64)> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let byte = *bytes.split_off_first()?;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            let unused = 64_u32.saturating_sub(shift + 7);
            return Some((number, (number << unused).cast_signed() >> unused));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_a_sign_or_none() {
        for (bytes, expected) in [
            (&[0x13][..], Some((19, 19))),
            (&[0x7b], Some((123, -5))),
            (&[0x80, 0x01], Some((128, 128))),
            (&[0xff, 0x7f], Some((16383, -1))),
            (&[0x80], None),
            (&[0xff; 11], None),
        ] {
            assert_eq!(signed_varint(&mut &bytes[..]), expected, "{bytes:x?}");
        }
    }

    #[test]
    fn a_block_repeats_what_it_refers_to_whatever_the_stated_length() {
        for (packing, packed, expected) in [
            // Five literals, then 4 + 3 bytes from two before; then one literal.
            (FstPacking::Lz4, &b"\x53abcde\x02\x00\x10f"[..], "abcdededededf"),
            // Two literals, then 1 + 2 bytes from two before.
            (FstPacking::FastLz, b"\x01ab\x20\x01", "ababa"),
        ] {
            let length = expected.len() as u64;
            assert_eq!(unpack(packing, packed, length).unwrap(), expected.as_bytes());
        }
        assert!(unpack(FstPacking::Lz4, b"\x1fa\x01\x00\xff\xff\xff\x00", 100).is_err());
        assert!(unpack(FstPacking::Lz4, b"\x10a\x02\x00", 100).is_err());
        assert!(unpack(FstPacking::Zlib, &[], u64::MAX).is_err());
    }
}
