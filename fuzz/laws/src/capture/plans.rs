//! A capture that was made up: read as it was planned, by our reader and by another one.

use codec::capture::ChannelId;
use pcap_parser::traits::PcapNGPacketBlock;
use pcap_parser::{Block, parse_block_be, parse_block_le};

use super::{CaptureContents, cuts, rows};
use crate::capture_input::{ByteOrderInput, CaptureInput, OwnedChunk};

/// A capture that some bytes stand for is read as it was planned.
pub fn law(bytes: &[u8]) {
    CaptureInput::from_bytes(bytes).iter().for_each(|plan| check(plan, |file| file));
}

/// A planned capture is read as planned, and keeps the laws of any capture.
pub fn planned(plan: &CaptureInput) {
    check(plan, |file| file);
    let Ok(file) = plan.file() else { return };
    super::law(&file);
    rows::law(&file);
    cuts::law(&file);
    super::blocks::law(&file);
}

fn check(plan: &CaptureInput, passed: impl Fn(Vec<u8>) -> Vec<u8>) {
    let (channels, chunks) = plan.capture();
    let Ok(file) = plan.file() else { return };
    let file = passed(file);
    let read = CaptureContents::to_end(&file);
    assert_eq!(read.faults, 0, "what is written is read without a fault");
    let without = channels.is_empty();
    assert_eq!(read.error.is_some(), without, "only no channel is an error: {:?}", read.error);
    match read.sections.as_slice() {
        [] => assert!(channels.is_empty(), "no section is lost"),
        [section] => {
            let declared = section.channels.values();
            assert!(declared.eq(&channels), "channels are read as they were written");
            assert_eq!(section.chunks, chunks, "reading undoes writing");
            assert_eq!(section.links, [(ChannelId(0), ChannelId(1))], "the link is known");
        }
        [..] => unreachable!("what is written is one section"),
    }
    let periods: Vec<u64> = channels.iter().map(|channel| channel.period.ps()).collect();
    check_with_pcap_parser(&file, plan.order, &chunks, &periods);
}

/// Another reader finds every chunk where it was put, and its time.
fn check_with_pcap_parser(
    file: &[u8],
    order: ByteOrderInput,
    chunks: &[(ChannelId, OwnedChunk)],
    periods: &[u64],
) {
    let parse = match order {
        ByteOrderInput::Little => parse_block_le,
        ByteOrderInput::Big => parse_block_be,
    };
    let mut rest = file;
    let (mut interfaces, mut expected) = (0, chunks.iter());
    let mut payload = Vec::new();
    while !rest.is_empty() {
        let parsed = parse(rest);
        let Ok((behind, block)) = parsed else {
            unreachable!("another reader reads it: {parsed:?}")
        };
        rest = behind;
        if let Block::InterfaceDescription(interface) = block {
            assert_eq!(interface.linktype.0, 147, "the link type is USER0");
            assert_eq!(interface.ts_resolution(), Some(1_000_000_000), "times are in ns");
            interfaces += 1;
        } else if let Block::EnhancedPacket(packet) = block {
            let Some((id, chunk)) = expected.next() else { unreachable!("a packet too many") };
            payload.clear();
            chunk.chunk().emit(&mut payload);
            assert_eq!((packet.if_id, packet.packet_data()), (id.0, payload.as_slice()));
            let period = periods.get(id.0 as usize).copied().unwrap_or_default();
            let time = u64::from(packet.ts_high) << 32 | u64::from(packet.ts_low);
            let nanoseconds = u128::from(chunk.first.0) * u128::from(period) / 1000;
            assert_eq!(u128::from(time), nanoseconds, "a block's time is its first character's");
        } else {
            let header = matches!(block, Block::SectionHeader(_));
            assert!(header, "no other block is written: {block:?}");
        }
    }
    assert_eq!(interfaces, periods.len(), "every channel is an interface");
    assert_eq!(expected.next(), None, "every chunk is a packet");
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::repair::SeededRng;

    fn plan() -> CaptureInput {
        let mut dice = SeededRng::new(b"a plan with chunks");
        let plans = (0..99).filter_map(|_| CaptureInput::from_bytes(&dice.bytes(200)));
        plans
            .into_iter()
            .find(|plan| {
                let (_, chunks) = plan.capture();
                chunks.len() > 4 && chunks.last().is_some_and(|(_, chunk)| chunk.count.is_none())
            })
            .unwrap()
    }

    pub(crate) fn a_character_that_changes_on_its_way_is_caught() {
        let plan = plan();
        let mut payload = Vec::new();
        plan.capture().1.last().unwrap().1.chunk().emit(&mut payload);
        check(&plan, |mut file| {
            let at = file.windows(payload.len()).rposition(|found| found == payload).unwrap();
            // A literal's first character stands behind 16 bytes.
            file[at + 16] ^= 1;
            file
        });
    }

    pub(crate) fn a_time_that_is_off_is_caught() {
        let plan = plan();
        let (_, chunks) = plan.capture();
        check_with_pcap_parser(&plan.file().unwrap(), plan.order, &chunks, &[12_499; 3]);
    }
}
