//! Jobs of the control program, and the memory that they share with the packet engines. I-5, R-3

use super::{InterfaceBench, PARAMETERS, id, packet};
use crate::interface::{InterfaceParameters, ProgramCosts};
use crate::link::source_item::SourceItem;

const fn costs(command: u64, packet: u64) -> InterfaceParameters {
    InterfaceParameters { costs: ProgramCosts { command, packet, mapping: 0 }, ..PARAMETERS }
}

#[test]
fn each_command_takes_its_time_and_the_engines_come_first() {
    let mut bench = InterfaceBench::saturated(costs(100, 0), 20);
    // The next job begins in the period after the last, and gives way to the 23 bytes of the packet
    // before: 5 words, 2 periods each.
    assert_eq!([(); 3].map(|()| bench.sent().0), [100, 100 + 111, 100 + 2 * 111]);
}

#[test]
fn a_saturated_receiver_slows_the_processor_down() {
    let mut bench = InterfaceBench::saturated(costs(100, 0), 20);
    bench.give_part(Some(id(8)), &[5]);
    while bench.interface.offered() == SourceItem::Nothing {
        bench.give_part(None, &[0]);
    }
    // A byte in each period: 49 words in 198 periods delay it by 98.
    assert_eq!(bench.now - 1, 100 + 2 * 49);
}

#[test]
fn fres_begins_the_job_anew() {
    let mut bench = InterfaceBench::saturated(costs(100, 0), 20);
    bench.assert_sends_nothing(60);
    bench.interface.reset(bench.now, &mut bench.log);
    assert_eq!(bench.sent().0, 60 + 100);
}

#[test]
fn commands_and_packets_take_turns() {
    let mut bench = InterfaceBench::saturated(costs(100, 40), 1);
    for number in 0..30 {
        bench.give(number, &packet(5, &[7]));
    }
    let received = |bench: &InterfaceBench| bench.interface.receiving.used();
    let (before, sent) = (received(&bench), bench.interface.statistics().injected);
    let start = bench.now;
    bench.sent();
    bench.sent();
    bench.sent();
    // Between two commands one packet of 3 bytes has been handed on.
    assert!(bench.now - start > 2 * (100 + 40));
    let handed = (before - received(&bench)) / 3;
    assert!((2..=3).contains(&handed), "{handed}");
    assert!(bench.interface.statistics().injected <= sent + 3);
}

#[test]
fn what_waits_for_a_job_is_dropped_with_the_memory() {
    let mut bench = InterfaceBench::receiver(costs(0, 40));
    bench.give(0, &packet(5, &[7]));
    bench.interface.reload(bench.now, &mut bench.log);
    bench.assert_sends_nothing(100);
    bench.give(1, &packet(5, &[7]));
    assert_eq!(bench.interface.receiving.used(), 3);
    bench.assert_sends_nothing(50);
    assert_eq!(bench.interface.receiving.used(), 0);
}
