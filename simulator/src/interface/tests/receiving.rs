//! Received packets: their handling, and the time at which they are taken. I-2..I-4

use std::num::NonZeroU32;

use codec::crc::syndrome;
use codec::packet::CrcCheck;
use codec::time::Ticks;

use super::{InterfaceBench, PARAMETERS, id, packet};
use crate::interface::{ConsumptionMode, DmaBus, HandlingCounts, InterfaceParameters};
use crate::link::tagged_char::TaggedChar;
use crate::truth::{PacketHandling, StopGo, TruthEventKind};

/// I-2, I-3
#[test]
fn every_handling_has_its_packet() {
    let mut bench =
        InterfaceBench::receiver(InterfaceParameters { boot: Some(Ticks(4)), ..PARAMETERS });
    let good = packet(0x05, &[1, 2, 3]);
    assert_eq!(bench.handling(&good), PacketHandling::Ignored, "it began in period 0");
    assert_eq!(bench.now, 6);
    for (bytes, handling) in [
        (good.clone(), PacketHandling::Delivered),
        (packet(0x05, &[]), PacketHandling::Delivered),
        (vec![0x05, 1, 2, 3, good[4] ^ 1], PacketHandling::Corrupt),
        (vec![0x05], PacketHandling::Runt),
        (vec![0x81], PacketHandling::Runt),
        (packet(0x81, &[5]), PacketHandling::Misrouted),
        (vec![0x81, 5, 0], PacketHandling::Misrouted),
        (packet(0x40, &[1]), PacketHandling::NoRoutine),
        (vec![0x40, 1, 0], PacketHandling::Corrupt),
        (packet(0x05, &[0; 999]), PacketHandling::TooLong),
        (packet(0x05, &[0; 998]), PacketHandling::Delivered),
    ] {
        assert_eq!(bench.handling(&bytes), handling, "{bytes:02x?}");
    }
    let statistics = bench.interface.statistics();
    let (delivered, corrupt, runt, misrouted) = (3, 2, 2, 2);
    let (no_routine, ignored, too_long) = (1, 1, 1);
    let handled =
        HandlingCounts { delivered, corrupt, runt, misrouted, no_routine, ignored, too_long };
    assert_eq!((statistics.handled, statistics.received), (handled, 12));
    assert_eq!(statistics.delivered_bytes, 5 + 2 + 1000);
}

#[test]
fn a_consumed_packet_is_reported_with_its_length_and_check() {
    let mut bench = InterfaceBench::receiver(PARAMETERS);
    bench.give(3, &packet(0x05, &[1, 2, 3]));
    bench.give(4, &packet(0x05, &[1; 5000]));
    let mut bad = packet(0x85, &[1; 600]);
    bad[300] ^= 0x40;
    bench.give(5, &bad);
    let consumed = |length, check, handling| TruthEventKind::Consumed { length, check, handling };
    let bad = CrcCheck::Bad(syndrome(&bad).unwrap());
    assert_eq!(
        bench.happened(),
        [
            (Some(3), consumed(5, CrcCheck::Good, PacketHandling::Delivered)),
            (Some(4), consumed(5002, CrcCheck::Good, PacketHandling::TooLong)),
            (Some(5), consumed(602, bad, PacketHandling::Misrouted)),
        ]
    );
}

#[test]
fn a_packet_without_a_gap_before_it_is_a_part_of_the_one_before() {
    let mut bench = InterfaceBench::receiver(PARAMETERS);
    bench.give_part(Some(id(0)), &[5, 6]);
    bench.give(1, &[5, 7, 8]);
    let handling = PacketHandling::Corrupt;
    let check = CrcCheck::from_syndrome(syndrome(&[5, 6, 5, 7, 8]));
    assert_eq!(
        bench.happened(),
        [
            (Some(1), TruthEventKind::Merged),
            (Some(0), TruthEventKind::Consumed { length: 5, check, handling }),
        ]
    );
}

#[test]
fn a_mark_alone_ends_nothing() {
    let mut bench = InterfaceBench::receiver(PARAMETERS);
    bench.give_cell(TaggedChar::GAP, None);
    assert_eq!(bench.happened(), []);
}

/// I-4
#[test]
fn memory_that_is_full_holds_up_the_link() {
    let parameters =
        InterfaceParameters { bus: DmaBus::SBus, receive_memory: Some(100), ..PARAMETERS };
    let mut bench = InterfaceBench::receiver(parameters);
    // 82 bytes, then 18 of the next fill the memory.
    assert_eq!(bench.give(0, &packet(5, &[0; 80])), 0);
    // The first goes to the host from period 83 on: 64 bytes by 147, 16 by 147 + 28 + 16. The
    // second fills the memory in period 83 + 17, and waits from 101 to 147.
    assert_eq!(bench.give(1, &packet(5, &[0; 80])), 46);
    assert_eq!(bench.interface.statistics().handled.delivered, 2);
    for _ in 0..500 {
        bench.period();
    }
    assert_eq!(bench.interface.receiving.used(), 0);
    assert_eq!(bench.interface.queues.posted, 1);
}

#[test]
fn a_packet_longer_than_all_memory_is_absorbed_once_it_is_alone() {
    let parameters =
        InterfaceParameters { bus: DmaBus::SBus, receive_memory: Some(100), ..PARAMETERS };
    let mut bench = InterfaceBench::receiver(parameters);
    bench.give(0, &packet(5, &[0; 80]));
    let held = bench.give(1, &packet(5, &[0; 300]));
    // Until all of the first is with the host: 83 + 64 + 28 + 16 = 191. Of the second 18 bytes were
    // taken from 83 to 100, and 64 when the first burst was done, 147 to 210; nothing else waits.
    assert_eq!(held, 46);
    assert_eq!(bench.interface.statistics().handled.too_long, 1);
    bench.happened();
    assert_eq!(bench.handling(&packet(5, &[1])), PacketHandling::Delivered);
}

#[test]
fn no_memory_at_all_absorbs_all() {
    let mut bench =
        InterfaceBench::receiver(InterfaceParameters { receive_memory: Some(0), ..PARAMETERS });
    assert_eq!(bench.handling(&packet(5, &[])), PacketHandling::TooLong);
}

#[test]
fn characters_are_taken_by_the_policy_of_the_host() {
    let takes = |consumption, command| {
        let mut bench = InterfaceBench::receiver(InterfaceParameters { consumption, ..PARAMETERS });
        let mut periods = Vec::new();
        for now in 0..10 {
            bench.interface.tick(now, &mut bench.log);
            if bench.interface.takes(now, command) {
                bench.interface.take(now, TaggedChar::data(5), None, &mut bench.log);
                periods.push(now);
            }
        }
        periods
    };
    let every = ConsumptionMode::Every(NonZeroU32::new(4).unwrap());
    assert_eq!(takes(ConsumptionMode::Always, StopGo::Go).len(), 10);
    assert_eq!(takes(ConsumptionMode::Never, StopGo::Stop).len(), 0);
    assert_eq!(takes(every, StopGo::Go), [0, 4, 8]);
    assert_eq!(takes(ConsumptionMode::Adversary, StopGo::Stop).len(), 10);
    assert_eq!(takes(ConsumptionMode::Adversary, StopGo::Go).len(), 0);
}
