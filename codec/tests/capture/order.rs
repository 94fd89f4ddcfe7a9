//! What a writer refuses: chunks out of order.

use codec::capture::{ByteOrder, Channel, ChannelId, Chunk, Content, WriteError, Writer};
use codec::notation::parse;
use codec::tick::Tick;

/// Which of some chunks of four characters, by channel and first character, are taken; nothing if one
/// is refused for anything but the order.
fn taken(chunks: &[(u32, u64)]) -> Option<Vec<bool>> {
    let channels = [Channel::named("a>b"), Channel::named("b>a")];
    let mut writer = Writer::new(Vec::new(), ByteOrder::Little, &channels).ok()?;
    let chars = parse("83 05 92 GAP").ok()?;
    let mut write = |(id, first): &(u32, u64)| {
        let chunk = Chunk { first: Tick(*first), content: Content::Literal(chars.chars()) };
        match writer.write(ChannelId(*id), &chunk) {
            Ok(()) => Some(true),
            Err(WriteError::Order { channel, first }) => {
                ((channel, first) == (ChannelId(*id), chunk.first)).then_some(false)
            }
            Err(_) => None,
        }
    };
    chunks.iter().map(&mut write).collect()
}

#[test]
fn chunks_come_in_the_order_of_their_times() {
    assert_eq!(taken(&[(0, 7), (1, 8), (0, 11)]), Some(vec![true; 3]));
    assert_eq!(taken(&[(0, 7), (1, 6)]), Some(vec![true, false]));
    assert_eq!(taken(&[(0, 7), (0, 10), (0, 11)]), Some(vec![true, false, true]));
}

#[test]
fn chunks_of_one_instant_come_in_the_order_of_their_channels() {
    assert_eq!(taken(&[(0, 7), (1, 7)]), Some(vec![true, true]));
    assert_eq!(taken(&[(1, 7), (0, 7), (0, 8)]), Some(vec![true, false, true]));
}
