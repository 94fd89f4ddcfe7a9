//! Header of a pcapng block, and the errors of pcap-file about its contents.

use pcap_file::pcapng::{
    BlockContentParseError as Content, ContentValidationError as Value, PcapNgParseError,
};

use super::block_options::BlockOptions;
use super::error::{BlockPosition, CaptureError};
use super::writer::ByteOrder;

/// Largest block that is parsed: a payload and 64 KiB of options and headers.
const PARSED_MAX: u32 = (256 << 10) + (64 << 10);
/// Largest block that is skipped. *Chosen*: Wireshark's limit.
const PASSED_MAX: u32 = 16 << 20;

/// The blocks that are parsed.
pub(super) const SECTION_HEADER: u32 = 0x0a0d_0d0a;
pub(super) const INTERFACE_DESCRIPTION: u32 = 1;
pub(super) const ENHANCED_PACKET: u32 = 6;
/// Offsets in an enhanced packet block: payload length, payload.
const CAPTURED_LENGTH: usize = 20;
pub(super) const PAYLOAD: usize = 28;

/// The first bytes of a pcapng block.
#[derive(Clone, Copy)]
pub(super) struct BlockHead {
    pub(super) kind: u32,
    pub(super) len: u32,
    pub(super) order: ByteOrder,
}

impl BlockHead {
    /// First bytes of a section, in either byte order.
    pub(super) const SECTION_HEADER_BYTES: [u8; 4] = SECTION_HEADER.to_be_bytes();
    /// Most bytes of a block that is parsed.
    pub(super) const LEN_MAX: usize = PARSED_MAX as usize;

    pub(super) fn read(
        bytes: [u8; 12],
        section: ByteOrder,
        place: &mut BlockPosition,
    ) -> Result<Self, CaptureError> {
        let [a, b, c, d, e, f, g, h, magic @ ..] = bytes;
        let is_section = ByteOrder::Big.word([a, b, c, d]) == SECTION_HEADER;
        let order = match magic {
            [0x1a, 0x2b, 0x3c, 0x4d] if is_section => ByteOrder::Big,
            [0x4d, 0x3c, 0x2b, 0x1a] if is_section => ByteOrder::Little,
            _ if is_section => {
                place.block = "section header";
                let fault = format!("is 0x{:08x}, not 0x1a2b3c4d", ByteOrder::Big.word(magic));
                return Err(CaptureError::Damaged(
                    place.within(8).fault("byte-order magic", fault),
                ));
            }
            _ => section,
        };
        let (kind, len) = (order.word([a, b, c, d]), order.word([e, f, g, h]));
        place.block = match kind {
            SECTION_HEADER => "section header",
            INTERFACE_DESCRIPTION => "interface description",
            ENHANCED_PACKET => "enhanced packet",
            2 => "packet",
            3 => "simple packet",
            4 => "name resolution",
            5 => "interface statistics",
            _ => "other",
        };
        let head = Self { kind, len, order };
        let most = if head.is_parsed() { PARSED_MAX } else { PASSED_MAX };
        if len < 12 || !len.is_multiple_of(4) || len > most {
            let fault = format!("is {len}, not a multiple of 4 in 12..={most}");
            return Err(CaptureError::Damaged(place.within(4).fault("block total length", fault)));
        }
        Ok(head)
    }

    /// The block without its options, if it has any.
    pub(super) fn bare(self, block: &[u8]) -> Option<Vec<u8>> {
        let at = self.options_at(block);
        let mut bare = block.get(..at).filter(|_| at + 4 < block.len())?.to_vec();
        let len = self.order.bytes(u32::try_from(at + 4).unwrap_or(u32::MAX));
        bare.extend(len);
        bare.get_mut(4..8)?.copy_from_slice(&len);
        Some(bare)
    }

    pub(super) fn options(self, block: &[u8]) -> BlockOptions<'_> {
        let bytes = block.get(self.options_at(block)..block.len().saturating_sub(4));
        BlockOptions { bytes: bytes.unwrap_or_default(), order: self.order }
    }

    /// Place of the options in a block of this head that is parsed.
    pub(super) fn options_at(self, block: &[u8]) -> usize {
        match self.kind {
            SECTION_HEADER => 24,
            INTERFACE_DESCRIPTION => 16,
            _ => {
                let captured = block.get(CAPTURED_LENGTH..).and_then(<[u8]>::first_chunk);
                let captured = captured.map_or(0, |bytes| self.order.word(*bytes) as usize);
                PAYLOAD.saturating_add(captured.saturating_add(3) & !3)
            }
        }
    }

    /// Number of the interface, which begins with these bytes, of an obsolete or a simple packet block: no chunk is in them.
    pub(super) fn other_packet(self, bytes: [u8; 2]) -> Option<usize> {
        let obsolete = (self.kind == 2).then(|| self.order.whole(bytes).into());
        obsolete.or((self.kind == 3).then_some(0))
    }

    /// False for blocks that are skipped.
    pub(super) const fn is_parsed(self) -> bool {
        matches!(self.kind, SECTION_HEADER | INTERFACE_DESCRIPTION | ENHANCED_PACKET)
    }
}

impl ByteOrder {
    /// Little-endian bytes in this order, and back.
    fn reorder<const N: usize>(self, mut bytes: [u8; N]) -> [u8; N] {
        if self == Self::Big {
            bytes.reverse();
        }
        bytes
    }

    pub(super) fn bytes(self, word: u32) -> [u8; 4] {
        self.reorder(word.to_le_bytes())
    }

    pub(super) fn half(self, half: u16) -> [u8; 2] {
        self.reorder(half.to_le_bytes())
    }

    pub(super) fn whole(self, bytes: [u8; 2]) -> u16 {
        u16::from_le_bytes(self.reorder(bytes))
    }

    pub(super) fn word(self, bytes: [u8; 4]) -> u32 {
        u32::from_le_bytes(self.reorder(bytes))
    }
}

/// The first cause of an error.
pub(crate) fn innermost<'a>(
    mut error: &'a (dyn std::error::Error + 'static),
) -> &'a (dyn std::error::Error + 'static) {
    while let Some(source) = error.source() {
        error = source;
    }
    error
}

/// Offset of the field in the block if it is known, the field, and its fault, from
/// pcap-file's innermost error.
pub(super) fn locate_error(error: &PcapNgParseError) -> (u64, &'static str, String) {
    let text = innermost(error).to_string();
    let PcapNgParseError::BlockConversion(conversion) = error else {
        return (0, "contents", format!("cannot be read: {text}"));
    };
    match &*conversion.source {
        Content::BlockContentTooSmall { needed, actual } => {
            (0, "length", format!("needs {needed} bytes of {actual}"))
        }
        Content::Validation(Value::InvalidInterfaceId(id)) => {
            (8, "interface id", format!("is {id}, which no interface description has"))
        }
        Content::Validation(Value::InvalidOriginalLen(original, captured)) => (
            24,
            "original packet length",
            format!("is {original}, less than the {captured} bytes captured"),
        ),
        Content::Validation(Value::FailedToDecodeTimestamp { .. }) => {
            (12, "timestamp", format!("cannot be read: {text}"))
        }
        Content::Validation(_) => (0, "contents", format!("cannot be read: {text}")),
        // None is left to read.
        Content::Option(_) => (0, "options", format!("cannot be read: {text}")),
    }
}
