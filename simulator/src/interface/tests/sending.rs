//! Packets on their way out: their characters, times and order. I-1, I-6

use codec::crc::{crc8, syndrome};
use codec::packet::PacketTag;
use codec::time::Ticks;

use super::{HERE, InterfaceBench, PARAMETERS, THERE, interface, stream};
use crate::interface::checksum::InternetChecksum;
use crate::interface::{DmaBus, HostCosts, InterfaceParameters};
use crate::link::source_item::SourceItem;
use crate::link::tagged_char::{PacketId, TaggedChar};
use crate::topology::NodeId;
use crate::traffic::payload;
use crate::traffic::{
    ArrivalProcess, ChecksumMode, CommandForm, SignalMode, StreamDestination, TrafficStream,
};
use crate::truth::TruthEventKind;

/// I-1
#[test]
fn a_packet_goes_out_with_its_route_its_tag_and_its_crc() {
    let mut bench = InterfaceBench::saturated(PARAMETERS, 20);
    let (start, bytes) = bench.sent();
    assert_eq!((start, bytes.len(), syndrome(&bytes)), (0, 23, Some(0)));
    assert_eq!(bytes[..2], [0x81, 0x05]);
    assert_eq!(bytes[2..22], payload(HERE, 0, 20));
    // The next follows without a pause: 23 bytes and a GAP.
    let (start, bytes) = bench.sent();
    assert_eq!((start, &bytes[2..22]), (24, &payload(HERE, 1, 20)[..]));
    assert_eq!(
        bench.happened(),
        [
            (Some(0), TruthEventKind::Injected { length: 23, queued: 0 }),
            (Some(1), TruthEventKind::Injected { length: 23, queued: 23 })
        ]
    );
    let statistics = bench.interface.statistics();
    assert_eq!((statistics.injected, statistics.sent, statistics.sent_bytes), (2, 2, 46));
}

#[test]
fn the_first_byte_alone_names_its_packet() {
    let mut bench = InterfaceBench::saturated(PARAMETERS, 0);
    let first = PacketId { host: HERE, number: 0 };
    bench.interface.tick(0, &mut bench.log);
    let head = SourceItem::Data(TaggedChar::data(0x81).as_head(), Some(first));
    // What is not taken is offered again.
    assert_eq!(
        [bench.interface.offered(), bench.period(), bench.period()],
        [head, head, SourceItem::Data(TaggedChar::data(0x05), None)]
    );
    assert!(matches!(bench.period(), SourceItem::Data(_, None)));
    assert_eq!(bench.period(), SourceItem::Mark);
    let second = PacketId { host: HERE, number: 1 };
    assert_eq!(bench.period(), SourceItem::Data(TaggedChar::data(0x81).as_head(), Some(second)));
}

/// I-6
#[test]
fn a_command_gathers_blocks_and_inserts_their_checksum() {
    let mut bench = InterfaceBench::receiver(PARAMETERS);
    bench.order(
        0,
        vec![vec![0x00, 0x01, 0xf2], vec![0x03, 0, 0], vec![0xf4, 0xf5, 0xf6, 0xf7]],
        Some(4),
    );
    let (_, bytes) = bench.sent();
    let body = [0x81, 0x05, 0x00, 0x01, 0xf2, 0x03, 0x22, 0x0d, 0xf4, 0xf5, 0xf6, 0xf7];
    assert_eq!(bytes, [&body[..], &[crc8(&body)]].concat());
    assert_eq!(bench.interface.statistics().interrupts, 0);
    bench.period();
    assert_eq!(bench.interface.statistics().interrupts, 1);
}

#[test]
fn over_the_sbus_a_packet_is_ready_after_its_bursts() {
    let parameters = InterfaceParameters { bus: DmaBus::SBus, ..PARAMETERS };
    let streams = vec![stream(ArrivalProcess::Constant(Ticks(10_000)), 128)];
    let mut bench = InterfaceBench::new(interface(parameters, streams, vec![]));
    assert_eq!(bench.sent().0, 64 + 28 + 64);
}

#[test]
fn the_sbus_cannot_keep_up_with_the_link() {
    let parameters = InterfaceParameters { bus: DmaBus::SBus, ..PARAMETERS };
    let mut bench = InterfaceBench::saturated(parameters, 128);
    let starts: Vec<u64> = (0..5).map(|_| bench.sent().0).collect();
    // Two bursts a packet, 92 periods each; the link would need 132.
    assert_eq!(starts, [156, 340, 524, 708, 892]);
}

#[test]
fn commands_wait_for_send_memory() {
    // 403 bytes each: two fit.
    let mut bench = InterfaceBench::saturated(PARAMETERS, 400);
    for now in 0..50 {
        bench.interface.tick(now, &mut bench.log);
    }
    bench.now = 50;
    let queues = &bench.interface.queues;
    assert_eq!((queues.is_full(), queues.commands.len()), (true, 4));
    assert_eq!(queues.commands[0].number, 2);
    bench.sent();
    bench.period();
    assert_eq!(bench.interface.queues.commands[0].number, 3);
}

#[test]
fn what_cannot_be_sent_is_refused() {
    let few = |to, payload, packets| TrafficStream {
        to: StreamDestination::One(to),
        packets: Some(packets),
        ..stream(ArrivalProcess::Saturating, payload)
    };
    // A route byte, a tag, 997 bytes and a CRC byte fill the memory.
    let streams = vec![
        few(NodeId(5), 20, 3),
        few(THERE, u32::MAX, 5),
        few(THERE, 998, 7),
        few(THERE, 997, 1),
    ];
    let mut bench = InterfaceBench::new(interface(PARAMETERS, streams, vec![]));
    assert_eq!(bench.sent().1.len(), 1000);
    for _ in 0..100 {
        bench.period();
    }
    assert_eq!(bench.interface.statistics().refused, 3 + 5 + 7);
    assert_eq!(bench.interface.statistics().injected, 1);
}

#[test]
fn two_streams_take_turns() {
    let mut other = stream(ArrivalProcess::Saturating, 6);
    other.tag = PacketTag::new(0x06).unwrap();
    let streams = vec![stream(ArrivalProcess::Saturating, 5), other];
    let mut bench = InterfaceBench::new(interface(PARAMETERS, streams, vec![]));
    let tags: Vec<u8> = (0..6).map(|_| bench.sent().1[1]).collect();
    assert_eq!(tags, [5, 6, 5, 6, 5, 6]);
}

#[test]
fn a_packet_that_is_cut_gives_way_to_the_next() {
    let mut bench = InterfaceBench::saturated(PARAMETERS, 400);
    for _ in 0..10 {
        bench.period();
    }
    bench.interface.cut();
    let (start, bytes) = bench.sent();
    assert_eq!((start, &bytes[2..402]), (10, &payload(HERE, 1, 400)[..]));
    // The memory of the first is free again.
    for number in 2..6 {
        assert_eq!(bench.sent().1[2..402], payload(HERE, number, 400));
    }
    assert_eq!(bench.interface.statistics().sent, 5);
}

/// A host that sends packets of these commands, and its interface.
fn bench_of(command: CommandForm, host: HostCosts) -> InterfaceBench {
    let parameters = InterfaceParameters { host, ..PARAMETERS };
    let arrivals = ArrivalProcess::Constant(Ticks(1000));
    let stream = TrafficStream { command, ..stream(arrivals, 131) };
    InterfaceBench::new(interface(parameters, vec![stream], vec![]))
}

/// I-5, H-1
#[test]
fn host_and_interface_compute_the_same_checksum_in_their_own_time() {
    let host = HostCosts { checksum: 30, ..HostCosts::default() };
    let mut of = |checksum| {
        let mut bench = bench_of(CommandForm { checksum, ..CommandForm::default() }, host);
        bench.sent()
    };
    let [(plain, bare), (pass, by_host), (moved, by_nic)] =
        [ChecksumMode::None, ChecksumMode::Host, ChecksumMode::Nic].map(&mut of);
    // Three bursts of 64 bytes.
    assert_eq!((plain, pass, moved), (0, 90, 0));
    assert_eq!(by_host, by_nic);
    assert_eq!(InternetChecksum::of(&by_nic[2..133]).sum(), 0xffff);
    assert_eq!((&by_nic[..131], syndrome(&by_nic)), (&bare[..131], Some(0)));
}

/// I-6
#[test]
fn interrupts_take_the_hosts_time() {
    let command = CommandForm { signal: SignalMode::Interrupt, ..CommandForm::default() };
    let mut bench = bench_of(command, HostCosts { interrupt: 5000, ..HostCosts::default() });
    // 133 bytes and a mark; the interrupt comes in the period after them.
    assert_eq!([bench.sent().0, bench.sent().0], [0, 135 + 5000]);
    assert_eq!(bench.interface.statistics().interrupts, 1);
    let arrivals = SignalMode::Interrupt;
    let mut bench = bench_of(
        CommandForm::default(),
        HostCosts { interrupt: 7000, arrivals, ..HostCosts::default() },
    );
    bench.sent();
    bench.give(0, &[5, 0x1b]);
    assert!((7000..7200).contains(&bench.sent().0));
}

/// I-6
#[test]
fn a_burst_of_the_bus_ends_with_its_block() {
    let of = |blocks| {
        let parameters = InterfaceParameters { bus: DmaBus::SBus, ..PARAMETERS };
        let command = CommandForm { blocks, ..CommandForm::default() };
        let stream = TrafficStream { command, ..stream(ArrivalProcess::Saturating, 128) };
        InterfaceBench::new(interface(parameters, vec![stream], vec![])).sent()
    };
    // Two bursts of 16 words, or four of 8.
    let ((whole, one), (apart, four)) = (of(1), of(4));
    assert_eq!((whole, apart), (64 + 28 + 64, 4 * 32 + 3 * 28));
    assert_eq!(one, four);
}
