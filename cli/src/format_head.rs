//! The beginning of a file, which shows the format of a recording.

use std::io::{self, Read};

/// Maximum number of bytes that are looked at.
const BYTES_MAX: u64 = 65_536;

pub(crate) fn format_head(stream: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    stream.take(BYTES_MAX).read_to_end(&mut head)?;
    Ok(head)
}
