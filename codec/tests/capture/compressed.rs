//! Captures inside gzip and Zstandard streams.

use std::io::{Read, Write};

use flate2::Compression;
use flate2::write::GzEncoder;
use myriscope_codec::capture::{ByteOrder, CaptureError, decompress};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

use super::bytes::{ByteStream, ReadLog, read, small};

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    let written = encoder.write_all(bytes);
    assert!(written.is_ok(), "writing to memory does not fail");
    encoder.finish().unwrap_or_default()
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    compress_to_vec(bytes, CompressionLevel::Fastest)
}

fn inflated(stream: impl Read) -> ReadLog {
    let stream = decompress(stream);
    assert!(stream.is_ok(), "the first bytes can be read");
    stream.map(read).unwrap_or_else(|_| read(std::io::empty()))
}

#[test]
fn any_compression_and_none_give_the_same() {
    let (file, _) = small(ByteOrder::Little);
    let plain = read(file.as_slice());
    let (head, tail) = file.split_at(file.len() / 2);
    let skipped = [&[0x5a, 0x2a, 0x4d, 0x18, 3, 0, 0, 0][..], b"xyz"].concat();
    for (what, bytes) in [
        ("plain", file.clone()),
        ("gzip", gzip(&file)),
        ("two members", [gzip(head), gzip(tail)].concat()),
        ("an empty member between", [gzip(head), gzip(&[]), gzip(tail)].concat()),
        ("zstd", zstd(&file)),
        ("two frames", [zstd(head), zstd(tail)].concat()),
        ("a skippable frame first", [skipped.clone(), zstd(&file)].concat()),
        ("a skippable frame between", [zstd(head), skipped, zstd(tail)].concat()),
    ] {
        for seen in [inflated(bytes.as_slice()), inflated(ByteStream(&bytes))] {
            assert_eq!(seen.items, plain.items, "{what}");
            assert_eq!(seen.error_text(), "", "{what}");
        }
        let form = format!("{:?}", decompress(bytes.as_slice()).unwrap());
        let expected = if bytes == file {
            "Input(plain)"
        } else if bytes.starts_with(&[0x1f, 0x8b]) {
            "Input(gzip)"
        } else {
            "Input(zstd)"
        };
        assert_eq!(form, expected, "{what}");
    }
}

#[test]
fn a_compressed_stream_cut_anywhere_gives_what_can_be_had_and_one_error() {
    let (file, chunks) = small(ByteOrder::Little);
    for bytes in [gzip(&file), [gzip(&file), gzip(&[])].concat(), zstd(&file)] {
        for cut in 0..bytes.len() {
            let seen = inflated(&bytes[..cut]);
            let found = seen.of("chunk");
            assert!(chunks.starts_with(&found), "cut at {cut}: {found:?}");
            // Between two members nothing is missing.
            let whole = cut == gzip(&file).len() && bytes.starts_with(&gzip(&file));
            assert_eq!(seen.error.is_none(), whole, "cut at {cut}");
            if cut >= 4 && !whole {
                assert!(matches!(seen.error, Some(CaptureError::Read { .. })), "cut at {cut}");
            }
        }
    }
}

#[test]
fn a_stream_that_is_cut_short_differs_from_one_that_is_damaged() {
    let (file, _) = small(ByteOrder::Little);
    let zstd = zstd(&file);
    let (half, _) = zstd.split_at(zstd.len() / 2);
    let text = inflated(half).error_text();
    assert!(text.ends_with("read failed: the zstd stream is cut short"), "{text}");
    // No frame begins so (RFC 8878).
    let damaged = [&zstd[..], b"garbage"].concat();
    let text = inflated(damaged.as_slice()).error_text();
    assert!(text.contains("read failed: invalid zstd: "), "{text}");
}

#[test]
fn a_wrong_checksum_is_an_error_after_all_that_could_be_read() {
    let (file, chunks) = small(ByteOrder::Little);
    let mut gzip = gzip(&file);
    // The last eight bytes are CRC-32 and length (RFC 1952).
    let crc = gzip.len() - 8;
    gzip[crc] ^= 1;
    let mut zstd = zstd(&file);
    // The last four are the checksum (RFC 8878), which this encoder writes.
    let last = zstd.len() - 1;
    zstd[last] ^= 1;
    for bytes in [gzip, zstd] {
        let seen = inflated(bytes.as_slice());
        assert_eq!(seen.of("chunk"), chunks);
        assert!(matches!(seen.error, Some(CaptureError::Read { .. })), "{}", seen.error_text());
    }
}

#[test]
fn any_bit_flipped_in_a_compressed_stream_ends_it_at_worst() {
    let (file, _) = small(ByteOrder::Little);
    for bytes in [gzip(&file), zstd(&file)] {
        for (byte, bit) in (0..bytes.len()).flat_map(|byte| [(byte, 0), (byte, 3), (byte, 7)]) {
            let mut damaged = bytes.clone();
            damaged[byte] ^= 1 << bit;
            let _ = inflated(damaged.as_slice());
        }
    }
}
