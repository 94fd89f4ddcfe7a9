//! Packets between networks in rows. N-5

use codec::mapping::InternetworkPacket;
use codec::packet::{PacketDialect, PacketTag};

use super::ReceivedPacket;
use crate::row::FieldShape::Number;
use crate::row::row;

row! {
    /// A packet between networks in a row.
    pub struct InternetworkRow {
        source: String, "", "N-3", "address of its sender";
        destination: String, "", "N-3", "address of its receiver";
        tag: u8 as Number(127), "", "P-2", "type of the packet that is delivered";
        payload: u64, "bytes", "P-2", "bytes that are delivered";
    }
}

impl ReceivedPacket {
    /// The packet as one between networks, if it can be read as one.
    pub fn internetwork(&self) -> Option<Box<InternetworkRow>> {
        let tag = self.tag.map(PacketTag::value);
        if self.dialect != PacketDialect::Tag || tag != Some(InternetworkPacket::TAG) {
            return None;
        }
        let body = self.body_in(self.front.bytes());
        let InternetworkPacket { destination, source, tag, .. } =
            InternetworkPacket::parse(body.get(1..)?).ok()?;
        let header = InternetworkPacket::HEADER as u64 + 1;
        Some(Box::new(InternetworkRow {
            source: source.to_string(),
            destination: destination.to_string(),
            tag,
            payload: self.payload().saturating_sub(header),
        }))
    }
}

impl InternetworkRow {
    /// The packet in a few words, behind its route.
    pub fn summary(&self) -> String {
        let Self { source, destination, tag, .. } = self;
        format!("internetwork {source} > {destination} {tag:02x}")
    }
}
