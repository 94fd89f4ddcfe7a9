//! Resets, power, and periods without work.

use std::num::NonZeroU32;

use codec::time::Ticks;

use super::{InterfaceBench, PARAMETERS, data, id, interface, packet, raw, stream};
use crate::interface::{DmaBus, InterfaceParameters};
use crate::link::source_item::SourceItem;
use crate::link::tagged_char::{PacketId, TaggedChar};
use crate::traffic::ArrivalProcess;
use crate::truth::InterruptCause;
use crate::truth::{PacketHandling, RuleId, StopGo, TruthEventKind};

#[test]
fn a_reset_drops_what_is_half_received_and_ends_what_is_half_sent() {
    let parameters = InterfaceParameters { boot: Some(Ticks(50)), ..PARAMETERS };
    let mut bench = InterfaceBench::saturated(parameters, 100);
    while !matches!(bench.period(), SourceItem::Data(..)) {}
    assert_eq!(bench.now, 51);
    bench.give_part(Some(id(8)), &[5, 6, 7]);
    bench.interface.reload(bench.now, &mut bench.log);
    assert_eq!(
        bench.happened(),
        [
            (Some(0), TruthEventKind::Injected { length: 103, queued: 0 }),
            (Some(8), TruthEventKind::Dropped(RuleId("R-3"))),
            (Some(0), TruthEventKind::Truncated(RuleId("R-3"))),
        ]
    );
    assert_eq!(bench.period(), SourceItem::Mark);
    // It is loaded again: absorbs, and sends nothing until then.
    assert_eq!(bench.handling(&packet(5, &[1])), PacketHandling::Ignored);
    assert_eq!(bench.sent().0, 54 + 50);
}

#[test]
fn fres_starts_the_control_program_anew_and_leaves_it_its_memory() {
    // of three packets one is half sent as FRES comes, and a fourth half taken in. Nothing is
    // loaded again, and what was whole in memory is sent and handed on.
    let parameters = InterfaceParameters { boot: Some(Ticks(50)), ..PARAMETERS };
    let bursts = ArrivalProcess::Bursts(NonZeroU32::new(3).unwrap(), Ticks(1 << 20));
    let mut bench = InterfaceBench::new(interface(parameters, vec![stream(bursts, 100)], vec![]));
    while !matches!(bench.period(), SourceItem::Data(..)) {}
    bench.give_part(Some(id(8)), &[5, 6, 7]);
    let interrupts = bench.interface.statistics().interrupts;
    bench.happened();
    bench.interface.reset(bench.now, &mut bench.log);
    assert_eq!(
        bench.happened(),
        [
            (Some(8), TruthEventKind::Dropped(RuleId("R-3"))),
            (Some(0), TruthEventKind::Truncated(RuleId("R-3"))),
            (None, TruthEventKind::Interrupted(InterruptCause::Restart)),
        ]
    );
    assert_eq!(bench.interface.statistics().interrupts, interrupts + 1);
    assert_eq!(bench.period(), SourceItem::Mark);
    assert_eq!(bench.handling(&packet(5, &[1])), PacketHandling::Delivered);
    let sent = [bench.sent(), bench.sent()];
    assert!(sent.iter().all(|(at, _)| *at < 51 + 50 + 3 * 103), "{sent:?}");
}

#[test]
fn a_reset_leaves_a_packet_whole_that_lacks_its_end_only() {
    let mut bench = InterfaceBench::saturated(PARAMETERS, 1);
    for _ in 0..4 {
        bench.period();
    }
    bench.interface.reload(4, &mut bench.log);
    assert_eq!(bench.happened(), [(Some(0), TruthEventKind::Injected { length: 4, queued: 0 })]);
    assert_eq!(bench.period(), SourceItem::Mark);
    assert!(matches!(bench.period(), SourceItem::Data(_, Some(PacketId { number: 1, .. }))));
}

#[test]
fn without_power_nothing_is_sent_or_taken() {
    let streams = vec![stream(ArrivalProcess::Constant(Ticks(100)), 10)];
    let mut bench = InterfaceBench::new(interface(PARAMETERS, streams, vec![]));
    bench.period();
    bench.give_part(Some(id(8)), &[5]);
    bench.interface.power_off(2, &mut bench.log);
    assert_eq!(
        bench.happened()[1..],
        [
            (Some(8), TruthEventKind::Dropped(RuleId("F-7"))),
            (Some(0), TruthEventKind::Truncated(RuleId("F-7"))),
        ]
    );
    for _ in 2..1000 {
        assert_eq!(bench.period(), SourceItem::Nothing);
        assert!(!bench.interface.takes(bench.now, StopGo::Go));
    }
    bench.interface.reload(1000, &mut bench.log);
    assert!(!bench.interface.takes(1000, StopGo::Go));
    bench.interface.power_on(1000);
    // What was due meanwhile is not made up for.
    assert_eq!([bench.sent().0, bench.sent().0], [1000, 1100]);
}

#[test]
fn skipped_periods_change_nothing() {
    for bus in [DmaBus::Ideal, DmaBus::SBus] {
        let window = NonZeroU32::new(2).unwrap();
        let parameters = InterfaceParameters { bus, receive_memory: Some(100), ..PARAMETERS };
        let streams = vec![
            stream(ArrivalProcess::Poisson(Ticks(300)), 50),
            stream(ArrivalProcess::Bursts(NonZeroU32::new(3).unwrap(), Ticks(2000)), 200),
            stream(ArrivalProcess::Closed(window, Ticks(70)), 30),
        ];
        let [mut lazy, mut eager] = [(); 2].map(|()| {
            let raw = vec![raw(999, data(&[1]))];
            InterfaceBench::new(interface(parameters, streams.clone(), raw))
        });
        // What comes in: requests, answers and others, as fast as they are taken.
        let mut arrivals = (0..=0xff).cycle().flat_map(|number| {
            let bytes = packet(0x10 + number % 3, &[0, 0, 0, 0, 0, 0, 0, number, 9, 9, 9]);
            bytes.into_iter().map(TaggedChar::data).chain([TaggedChar::GAP])
        });
        for now in 0..20_000 {
            eager.interface.due = 0;
            if now == 3000 {
                lazy.interface.cut();
                eager.interface.cut();
            }
            assert_eq!(lazy.period(), eager.period());
            let takes = [&lazy, &eager].map(|bench| bench.interface.takes(now, StopGo::Go));
            assert_eq!(takes[0], takes[1]);
            if let (true, Some(cell)) = (takes[0], arrivals.next()) {
                lazy.interface.take(now, cell, None, &mut lazy.log);
                eager.interface.take(now, cell, None, &mut eager.log);
            }
        }
        assert_eq!(lazy.interface.statistics(), eager.interface.statistics());
        assert!(lazy.interface.statistics().sent > 50);
    }
}
