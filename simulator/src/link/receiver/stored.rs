//! Packets that a slack buffer stores as a whole. B-2

use codec::crc::Crc8;
use codec::packet::CrcCheck;

use super::PortReceiver;
use crate::truth::StopGo;

/// The first packet of a slack buffer that stores packets as a whole. B-2
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StoredFront {
    /// Its end has not come.
    Part,
    /// Its end has come.
    Whole(CrcCheck),
    /// Its end cannot come: the sender is stopped until there is room.
    TooLong,
}

impl PortReceiver {
    /// The first packet, if all of it is to be stored. B-2
    pub(crate) fn stored(&self) -> StoredFront {
        if let Some(bytes) = self.buffer.first_packet() {
            let (crc, count) = bytes.fold((Crc8::NEW, 0_u32), |(crc, count), byte| {
                (crc.push(byte), count.saturating_add(1))
            });
            let syndrome = (count > 1).then(|| crc.value());
            return StoredFront::Whole(CrcCheck::from_syndrome(syndrome));
        }
        let stopped = self.last_command == StopGo::Stop && !self.buffer.is_low();
        if stopped || self.buffer.is_high() { StoredFront::TooLong } else { StoredFront::Part }
    }
}
