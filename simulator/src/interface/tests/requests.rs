//! Requests and answers in a closed loop.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use codec::time::Ticks;

use super::{HERE, InterfaceBench, PARAMETERS, THERE, interface, packet, stream};
use crate::interface::HostInterface;
use crate::link::source_item::SourceItem;
use crate::link::tagged_char::TaggedChar;
use crate::rng::Rng;
use crate::topology::NodeId;
use crate::traffic::ArrivalProcess;
use crate::traffic::payload;
use crate::truth::{StopGo, TruthLog};

/// Two interfaces on a perfect wire; the number of unanswered requests after each period.
fn loop_of(window: u32, think: u64, periods: u64) -> (Vec<u64>, [HostInterface; 2]) {
    let window = NonZeroU32::new(window).unwrap();
    let streams = vec![stream(ArrivalProcess::Closed(window, Ticks(think)), 30)];
    let there =
        HostInterface::new(THERE, PARAMETERS, Rng::new(7, 1), vec![(HERE, vec![])], vec![], vec![]);
    let here = HostInterface::new(
        HERE,
        PARAMETERS,
        Rng::new(7, 0),
        vec![(THERE, vec![])],
        streams,
        vec![],
    );
    let (mut pair, mut log) = ([here, there], TruthLog::default());
    let mut unanswered = Vec::new();
    for now in 0..periods {
        pair.iter_mut().for_each(|interface| interface.tick(now, &mut log));
        let offers = [pair[0].offered(), pair[1].offered()];
        for (from, to) in [(0, 1), (1, 0)] {
            let (cell, id) = match offers[from] {
                SourceItem::Data(cell, id) => (cell, id),
                SourceItem::Mark => (TaggedChar::GAP, None),
                SourceItem::Nothing | SourceItem::Symbol(_) => continue,
            };
            pair[from].taken(now, &mut log);
            assert!(pair[to].takes(now, StopGo::Go));
            pair[to].take(now, cell, id, &mut log);
        }
        let answered = pair[0].statistics().handled.delivered;
        unanswered.push(pair[0].statistics().injected - answered);
    }
    (unanswered, pair)
}

#[test]
fn no_more_than_the_window_is_unanswered() {
    let window = NonZeroU32::new(3).unwrap();
    let mut bench = InterfaceBench::new(interface(
        PARAMETERS,
        vec![stream(ArrivalProcess::Closed(window, Ticks(5)), 30)],
        vec![],
    ));
    let requests: Vec<Vec<u8>> = (0..3).map(|_| bench.sent().1).collect();
    for (number, request) in (0..).zip(&requests) {
        // Route, tag, its own number and that of the request.
        assert_eq!(request[..10], [0x81, 0x10, 0, 0, 0, 0, 0, 0, 0, number]);
        assert_eq!(request[10..32], payload(HERE, number.into(), 30)[8..]);
    }
    bench.assert_sends_nothing(1000);
    bench.give(0, &packet(0x11, &[0, 0, 0, 0, 0, 0, 0, 7]));
    bench.give(0, &packet(0x11, &[0, 0, 0, 1, 0, 0, 0, 1]));
    bench.give(0, &packet(0x11, &[0, 0, 0]));
    bench.assert_sends_nothing(1000);
    bench.give(0, &packet(0x11, &requests[1][2..32]));
    let read = bench.now;
    assert_eq!(bench.sent().0, read + 5);
    bench.assert_sends_nothing(1000);
}

/// It would be sent on to the host's group. N-6
#[test]
fn a_request_in_the_name_of_its_receiver_has_no_answer() {
    let mut bench = InterfaceBench::receiver(PARAMETERS);
    bench.interface = bench.interface.with_multicasts(BTreeMap::from([(HERE, vec![THERE])]));
    let request = |from: NodeId| packet(0x10, &[from.0.to_be_bytes(), [0; 4]].concat());
    bench.give(0, &request(HERE));
    bench.assert_sends_nothing(1000);
    bench.give(0, &request(THERE));
    assert_eq!(bench.sent().1[1], 0x11);
}

#[test]
fn every_request_has_an_answer_as_long() {
    let (unanswered, [here, there]) = loop_of(3, 10, 5000);
    assert!(unanswered.iter().all(|count| *count <= 3));
    let (here, there) = (here.statistics(), there.statistics());
    assert_eq!(here.sent_bytes, here.sent * 32);
    assert_eq!(there.sent_bytes, there.sent * 32);
    assert_eq!(here.handled.delivered, there.sent);
    // The way of the requests is always busy: 33 periods each.
    assert_eq!(here.sent, 5000 / 33);
}

#[test]
fn a_window_of_one_sends_the_next_request_a_fixed_time_after_each_answer() {
    let (unanswered, [here, _]) = loop_of(1, 100, 2000);
    assert_eq!(unanswered.iter().max(), Some(&1));
    // A request takes 33 periods, GAP included: 0 to 32; read in 33, answered from 34 to 66; read
    // in 67, and the next begins 100 later.
    assert_eq!(here.statistics().injected, 2000_u64.div_ceil(167));
}
