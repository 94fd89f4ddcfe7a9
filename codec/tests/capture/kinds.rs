//! Files that are as they should be: byte orders, sections, foreign interfaces, classic pcap.

use std::io::{self, Read};

use myriscope_codec::capture::ByteOrder;

use super::bytes::{
    BIG, BlockWriter, ByteStream, LITTLE, PACKET, items, literal, read, repeat, small,
};

#[test]
fn what_was_written_is_read_in_either_byte_order() {
    for order in [ByteOrder::Little, ByteOrder::Big] {
        let (file, chunks) = small(order);
        let seen = read(file.as_slice());
        let head = ["section", "channel 0 h0:0>s0:3", "channel 1 s0:3>h0:0", "link 0 1"];
        assert_eq!(seen.items, [&head[..], &chunks].concat());
        assert!(seen.error.is_none());
    }
}

#[test]
fn files_from_other_hands_are_read_in_either_byte_order() {
    for order in [LITTLE, BIG] {
        let items = items(&[
            order.section(),
            order.channel("a:0>b:0", "period_ps=12500 peer=1"),
            order.channel("b:0>a:0", "period_ps=25000 peer=0 tap=a:0"),
            // A custom block whose maker's number looks like the mark of the other byte order.
            order.block(0xbad, &order.u32(0x4d3c_2b1a)),
            order.packet(0, &literal(7, &PACKET)),
            order.packet(1, &repeat(4, &[0x00c, 0x003, 0x1aa], 9)),
        ]);
        let head = ["section", "channel 0 a:0>b:0", "channel 1 b:0>a:0", "link 0 1"];
        let chunks = ["chunk 0 at 7: 83 05 92 GAP", "chunk 1 at 4: 9 of GAP GO aa"];
        assert_eq!(items, [&head[..], &chunks].concat());
        // Without descriptions.
        let plain = [("a:0>b:0", "seen in room 7"), ("b:0>a:0", "")];
        let plain = plain.map(|(name, words)| order.interface(147, name, words)).concat();
        let items = self::items(&[order.section(), plain, order.packet(0, &literal(7, &PACKET))]);
        assert_eq!(items, [&head[..], &chunks[..1]].concat());
    }
}

#[test]
fn sections_of_different_byte_orders_follow_each_other() {
    let section = |order: BlockWriter| {
        [
            order.section(),
            order.channel("a>b", "peer=1"),
            order.channel("b>a", "peer=0"),
            order.packet(1, &literal(0, &PACKET)),
        ]
        .concat()
    };
    let items = items(&[section(BIG), section(LITTLE), section(BIG)]);
    // Peers and packets count interfaces within their section, channels through the file.
    let lines = |base: u32| {
        let (one, other) = (base, base + 1);
        vec![
            "section".to_owned(),
            format!("channel {one} a>b"),
            format!("channel {other} b>a"),
            format!("link {one} {other}"),
            format!("chunk {other} at 0: 83 05 92 GAP"),
        ]
    };
    assert_eq!(items, [lines(0), lines(2), lines(4)].concat());
}

/// A recorder that starts a new file now and then, and whose files were joined.
#[test]
fn a_section_in_which_time_goes_on_is_of_the_same_capture() {
    let channels = |order: BlockWriter| {
        [order.section(), order.channel("a>b", "peer=1"), order.channel("b>a", "peer=0")].concat()
    };
    let items = items(&[
        channels(LITTLE),
        LITTLE.packet(0, &literal(0, &PACKET)),
        LITTLE.packet(1, &literal(4, &PACKET)),
        // The next chunk of a>b is where the one before it ended and the newest one begins; c>d is new.
        channels(BIG),
        BIG.channel("c>d", ""),
        BIG.packet(0, &literal(4, &PACKET)),
        BIG.packet(2, &literal(7, &PACKET)),
        BIG.packet(1, &literal(9, &PACKET)),
        // A section without chunks adds no more than it declares.
        channels(LITTLE),
        LITTLE.channel("e>f", ""),
    ]);
    let chunk = |channel: u32, first: u64| format!("chunk {channel} at {first}: 83 05 92 GAP");
    let head = ["section", "channel 0 a>b", "channel 1 b>a", "link 0 1"].map(str::to_owned);
    let rest = [chunk(0, 0), chunk(1, 4), "channel 2 c>d".to_owned(), chunk(0, 4), chunk(2, 7)];
    let last = [chunk(1, 9), "channel 3 e>f".to_owned()];
    assert_eq!(items, [&head[..], &rest, &last].concat());
}

#[test]
fn a_section_that_begins_before_an_end_is_a_capture_of_its_own() {
    let section = |name: &str, rate: &str, first: u64| {
        let channel = LITTLE.channel(name, rate);
        [LITTLE.section(), channel, LITTLE.packet(0, &literal(first, &PACKET))].concat()
    };
    for (name, rate, first) in [("a>b", "", 3), ("x>y", "", 4), ("a>b", "period_ps=25000", 4)] {
        let items = items(&[section("a>b", "", 0), section(name, rate, first)]);
        let channel = format!("channel 1 {name}");
        let chunk = format!("chunk 1 at {first}: 83 05 92 GAP");
        assert_eq!(items[3..], ["section".to_owned(), channel, chunk], "{name} {rate} {first}");
    }
}

#[test]
fn foreign_interfaces_are_skipped_and_counted_however_they_are_described() {
    let described =
        |options: &[u8]| LITTLE.block(1, &[&[1, 0, 0, 0, 0, 0, 0, 0], options].concat());
    // Picoseconds; an option that is cut short; a name that is no UTF-8.
    for foreign in [
        LITTLE.interface(1, "eth0", "myrinet-channel v=1 peer=1"),
        described(&[9, 0, 1, 0, 12, 0, 0, 0]),
        described(&[1, 0, 0xff, 0xff]),
        described(&[2, 0, 1, 0, 0xff, 0, 0, 0]),
    ] {
        let interfaces = [foreign, LITTLE.channel("a>b", ""), LITTLE.interface(113, "any", "")];
        let chunk = literal(0, &PACKET);
        let packets = [(0, &b"not a chunk"[..]), (1, &chunk), (0, &chunk)];
        let packets = packets.map(|(on, payload)| LITTLE.packet(on, payload));
        let file = [LITTLE.section(), interfaces.concat(), packets.concat()].concat();
        let seen = read(file.as_slice());
        assert_eq!(seen.items, ["section", "channel 1 a>b", "chunk 1 at 0: 83 05 92 GAP"]);
        assert_eq!((seen.skipped, seen.error_text().as_str()), (2, ""));
    }
}

#[test]
fn other_blocks_are_passed_over() {
    let other = |kind: u32| LITTLE.block(kind, &[0xee; 40]);
    let items = items(&[
        LITTLE.section(),
        other(4),
        LITTLE.channel("a>b", ""),
        other(5),
        LITTLE.packet(0, &literal(0, &PACKET)),
        other(0x0bad),
        other(0x8000_0000),
        // What begins like a section's contents is none: its order stays the section's.
        LITTLE.block(0x0bad, &BIG.u32(0x1a2b_3c4d)),
        LITTLE.block(0x0bad, &LITTLE.u32(0x1a2b_3c4d)),
        LITTLE.packet(0, &literal(4, &PACKET)),
    ]);
    let chunks = ["chunk 0 at 0: 83 05 92 GAP", "chunk 0 at 4: 83 05 92 GAP"];
    assert_eq!(items, [&["section", "channel 0 a>b"][..], &chunks].concat());
}

#[test]
fn classic_pcap_is_one_channel_whatever_its_magic() {
    // Microseconds and nanoseconds, in either order.
    for (order, magic) in
        [LITTLE, BIG].into_iter().flat_map(|order| [(order, 0xa1b2_c3d4), (order, 0xa1b2_3c4d)])
    {
        let payloads = [literal(2, &PACKET), repeat(6, &[0x00c, 0x003], 64)];
        let records = payloads.map(|payload| order.record(&payload)).concat();
        let file = [order.pcap(magic, 147), records].concat();
        let seen = read(file.as_slice());
        assert_eq!(seen.of("channel").len(), 1);
        assert_eq!(seen.of("chunk"), ["chunk 0 at 2: 83 05 92 GAP", "chunk 0 at 6: 64 of GAP GO"]);
        assert_eq!((seen.of("fault").len(), seen.error_text().as_str()), (0, ""));
    }
}

#[test]
fn a_file_without_a_channel_is_an_error_that_names_what_there_is() {
    let classic = [LITTLE.pcap(0xa1b2_c3d4, 1), LITTLE.record(&literal(0, &PACKET))].concat();
    let many = [1, 1, 113, 105, 240, 241].map(|link_type| LITTLE.interface(link_type, "x", ""));
    let many = [LITTLE.section(), many.concat()].concat();
    for (file, skipped, found) in [
        (classic, 1, "1 interface of link type 1 (Ethernet), expected 147 (USER0)"),
        (
            many,
            6,
            "2 interfaces of link type 1 (Ethernet), 1 interface of link type 105 (IEEE 802.11), \
             1 interface of link type 113 (Linux cooked), 1 interface of link type 240, others, \
             expected 147 (USER0)",
        ),
    ] {
        let seen = read(file.as_slice());
        assert_eq!((seen.of("c").len(), seen.skipped), (0, skipped));
        assert_eq!(seen.error_text(), format!("no Myrinet channel: {found}"));
    }
}

/// A stream of which every other read is interrupted.
struct InterruptedStream<'a>(&'a [u8], u64);

impl Read for InterruptedStream<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.1 += 1;
        if self.1 % 2 == 1 {
            return Err(io::Error::from(io::ErrorKind::Interrupted));
        }
        let some = buf.len().min(30);
        self.0.read(buf.get_mut(..some).unwrap_or_default())
    }
}

#[test]
fn a_stream_that_gives_little_or_is_interrupted_gives_the_same() {
    let (little, _) = small(ByteOrder::Little);
    let (big, _) = small(ByteOrder::Big);
    let pcap = [BIG.pcap(0xa1b2_3c4d, 147), BIG.record(&literal(2, &PACKET))].concat();
    let other = [LITTLE.section(), LITTLE.block(5, &[0; 400])].concat();
    let cut = little.split_at(little.len() - 5).0.to_vec();
    for file in [little, big, pcap, other, cut, b"garbage of no kind".to_vec(), Vec::new()] {
        let whole = read(file.as_slice());
        for other in [read(ByteStream(&file)), read(InterruptedStream(&file, 0))] {
            assert_eq!((&whole.items, whole.error_text()), (&other.items, other.error_text()));
        }
    }
}
