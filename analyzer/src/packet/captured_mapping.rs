//! Contents of a captured packet of mapping.

use codec::error::DecodeError;
use codec::mapping::MappingPacket;
use codec::packet::CrcCheck;

/// Longest payload that is read. *Chosen*: twice the longest of a mapper that sends pieces of 256
/// bytes; the packets that switches hold are kept with it.
pub const PAYLOAD_MAX: usize = 1024;

/// Contents of a captured packet of type [`codec::mapping::TAG`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapturedMapping {
    /// Its route bytes on this channel.
    pub route: Box<[u8]>,
    /// Check of its bytes: any field of a bad packet may differ from the one sent. P-5
    pub check: CrcCheck,
    /// Bytes between tag and CRC byte, if they are not too many.
    payload: Result<Box<[u8]>, u64>,
}

impl CapturedMapping {
    /// The contents of a packet with `len` bytes between its tag and its CRC byte. `kept` begins with
    /// those of them that were kept.
    pub(crate) fn new(route: &[u8], kept: &[u8], len: u64, check: CrcCheck) -> Self {
        let payload = usize::try_from(len).ok().filter(|len| *len <= PAYLOAD_MAX);
        let payload = payload.and_then(|len| kept.get(..len)).map(Into::into).ok_or(len);
        // A request names the length of its route in one byte.
        let route = route.get(..usize::from(u8::MAX)).unwrap_or(route).into();
        Self { route, check, payload }
    }

    /// True of an identity probe to which a switch has added its answer. S-8
    pub(crate) fn has_switch_answer(&self) -> bool {
        self.payload.as_deref().is_ok_and(|payload| MappingPacket::switch_answer(payload).is_some())
    }

    /// The parsed packet.
    ///
    /// # Errors
    /// The position of its fault. A payload of more than [`PAYLOAD_MAX`] bytes is one.
    pub fn packet(&self) -> Result<MappingPacket<'_>, DecodeError> {
        MappingPacket::parse(self.payload.as_ref().map_err(|len| too_long(*len))?)
    }

    /// The packet, if it is well formed and its CRC is good.
    ///
    /// # Errors
    /// As [`Self::packet`]; none if its CRC is bad.
    pub fn sound(&self) -> Result<MappingPacket<'_>, Option<DecodeError>> {
        if self.check == CrcCheck::Good { self.packet().map_err(Some) } else { Err(None) }
    }
}

/// The fault of a payload of `len` bytes, more than [`PAYLOAD_MAX`].
pub(crate) const fn too_long(len: u64) -> DecodeError {
    let (at, expected) = (PAYLOAD_MAX, "at most 1024");
    DecodeError::Unexpected { at, field: "payload length", found: len, expected }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identity_probe_has_an_answer_of_a_switch_if_one_is_whole() {
        let probe = [0x18, 0, 0x60, 0xdd, 1, 2, 3, 0, 0, 0, 9];
        let identity = [1, 8, 1, 3, 1, 2, 3, 4];
        for (bytes, is_answered) in [(0, false), (7, false), (8, true)] {
            let payload = [&probe[..], &identity[..bytes]].concat();
            let seen = CapturedMapping::new(&[], &payload, payload.len() as u64, CrcCheck::Good);
            assert_eq!(seen.has_switch_answer(), is_answered, "{bytes}");
        }
    }
}
