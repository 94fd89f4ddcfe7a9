//! Seeds that stand for lists of operations: random bytes, chosen for what is seen in the runs that
//! they stand for, after which they are named; and what once broke a law.

use super::CorpusSeed;
use crate::repair::SeededRng;

const RUNS: [(&str, &str, u64); 39] = [
    ("capture-plans", "backward-reset", 0),
    ("capture-plans", "probe", 1),
    ("capture-plans", "gap", 2),
    ("capture-plans", "reply", 3),
    ("capture-plans", "overrun-alarm", 77),
    ("endpoints", "loaded", 0),
    ("endpoints", "returned-as-refused", 5),
    ("endpoints", "given-up", 33),
    ("endpoints", "returned-after-a-restart", 81),
    ("endpoints", "returned-as-unreachable", 26),
    ("link", "forward-reset", 0),
    ("link", "open-link", 1),
    ("link", "stop-is-sent", 6),
    ("link", "reply", 14),
    ("link", "probe", 22),
    ("link", "backward-reset", 46),
    ("link", "overflow", 144),
    ("receiver", "capture-end", 0),
    ("receiver", "probe", 1),
    ("receiver", "hole", 2),
    ("receiver", "reply", 3),
    ("receiver", "reset", 11),
    ("receiver", "backward-reset", 18),
    ("receiver", "overrun-alarm", 33),
    ("states", "hole", 0),
    ("states", "starved", 1),
    ("states", "stopped", 2),
    ("states", "capture-end", 3),
    ("states", "probe", 30),
    ("states", "reply", 34),
    ("states", "overrun-alarm", 45),
    ("transport", "bad-key", 0),
    ("transport", "retransmitted", 1),
    ("transport", "duplicate", 2),
    ("transport", "unreachable", 3),
    ("transport", "not-resident", 4),
    ("transport", "no-resource", 109),
    ("transport", "unloaded-with-messages", 199),
    ("transport", "no-channel-state", 228),
];

/// Bytes of a seed. *Chosen*: a dozen operations or more.
fn len(target: &str) -> usize {
    match target {
        "capture-plans" => 120,
        "endpoints" => 65,
        "link" => 100,
        _ => 64,
    }
}

/// Two endpoints that are wanted take turns in the only frame. T-15
const ONE_FRAME: [u8; 33] = [
    // Two hosts with two endpoints and one frame each; a load takes 240 µs, a retransmission 150.
    0, 1, 0, 3, 7, 3, 0, 50, 45, 140, 6, 255, 240, 1, 25, 0, 1, //
    // Eight short messages each way. Nothing goes wrong.
    0, 8, 0, 0, 2, 0, 0, 23, 0, 1, 0, 0, 2, 0, 0, 23,
];

/// Requests both ways that fill queues of one request: three endpoints each. T-2, T-9
const FULL_QUEUES: [u8; 65] = [
    // Two hosts with three endpoints, two logical channels and a retransmission after 300 µs.
    0, 2, 2, 3, 0, 3, 0, 50, 120, 65, 6, 255, 240, 1, 25, 0, 1, //
    // Eight short messages from each to its like on the other host. Nothing goes wrong.
    0, 0, 0, 0, 2, 0, 0, 23, 0, 1, 0, 0, 2, 0, 0, 23, //
    0, 8, 8, 0, 2, 0, 0, 23, 0, 9, 8, 0, 2, 0, 0, 23, //
    0, 16, 16, 0, 2, 0, 0, 23, 0, 17, 16, 0, 2, 0, 0, 23,
];

/// Two hosts each of which takes the endpoint out of its only frame for one that is asked for by the
/// other host's, which leaves meanwhile. T-15
const IN_STEP: [u8; 33] = [
    // Two hosts with two endpoints and one frame each; a load takes 120 µs, a retransmission 60.
    0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 120, 2, 0, 0, 0, //
    // Eight short messages one way, two the other. Nothing goes wrong.
    0, 0, 8, 0, 0, 0, 0, 55, 0, 1, 8, 0, 0, 0, 0, 49,
];

pub(super) fn all() -> impl Iterator<Item = CorpusSeed> {
    let run = |(target, name, dice)| {
        (target, name, SeededRng::new(format!("{target} {dice}").as_bytes()).bytes(len(target)))
    };
    let regressions = [
        ("endpoints", "regression-one-frame", ONE_FRAME.to_vec()),
        ("endpoints", "regression-full-queues", FULL_QUEUES.to_vec()),
        ("endpoints", "regression-in-step", IN_STEP.to_vec()),
    ];
    RUNS.into_iter().map(run).chain(regressions)
}

#[cfg(test)]
mod tests {
    use super::*;
    use analyzer::event::ChannelEvent;
    use analyzer::event_reader::{EventReader, ReadItem};
    use analyzer::packet::ByteRetention;
    use analyzer::timeline::EventFilter;
    use codec::capture::ReadProgress;
    use simulator::messaging::MICROSECOND;
    use std::collections::BTreeSet;

    /// The rows of a planned capture, by name.
    fn rows(plan: &crate::capture_input::CaptureInput, want: EventFilter) -> Vec<&'static str> {
        let file = plan.file().unwrap_or_default();
        let mut rows = EventReader::new(file.as_slice(), want, ByteRetention::Forget);
        let mut names = Vec::new();
        let mut step = || {
            rows.step(&mut |said| {
                if let ReadItem::Row(_, row) = said {
                    names.push(match &row.body {
                        ChannelEvent::Packet(packet) => packet.ended_by.name(),
                        ChannelEvent::Link(event) => event.kind(),
                        ChannelEvent::Begins
                        | ChannelEvent::Framed
                        | ChannelEvent::Head(_)
                        | ChannelEvent::Data(_)
                        | ChannelEvent::Command(_) => "detail",
                        ChannelEvent::Omitted { .. } => "omitted",
                    });
                }
            })
        };
        while matches!(step(), Ok(ReadProgress::More)) {}
        names
    }

    fn seen(target: &str, bytes: &[u8]) -> BTreeSet<String> {
        let names = match target {
            "capture-plans" => {
                let plan = crate::capture_input::CaptureInput::from_bytes(bytes).unwrap();
                [EventFilter::Packets, EventFilter::Events]
                    .iter()
                    .flat_map(|want| rows(&plan, *want))
                    .collect()
            }
            "endpoints" => {
                let plan = crate::endpoints::input::MessagingInput::small(bytes).unwrap();
                crate::endpoints::planned(&plan)
            }
            "transport" => {
                let plan = crate::transport::input::TransportInput::from_bytes(bytes).unwrap();
                crate::transport::planned(&plan)
            }
            "link" => crate::link::tests::asked(bytes),
            "receiver" => crate::receiver::tests::noticed(bytes),
            "states" => crate::states::links::tests::shown(bytes),
            _ => panic!("no target of schedules: {target}"),
        };
        names.iter().map(|name| name.replace(' ', "-")).collect()
    }

    #[test]
    fn every_seed_of_a_schedule_shows_what_it_is_named_after() {
        for (target, name, bytes) in all().filter(|(_, name, _)| !name.starts_with("regression")) {
            assert!(seen(target, &bytes).contains(name), "{target}/{name}");
        }
    }

    #[test]
    fn no_two_seeds_of_a_target_are_the_same() {
        let mut all: Vec<_> = all().map(|(target, _, bytes)| (target, bytes)).collect();
        all.sort();
        assert!(all.windows(2).all(|two| two[0] != two[1]));
    }

    #[test]
    fn what_once_broke_the_law_of_endpoints_is_what_it_says() {
        let hosts = |bytes| crate::endpoints::input::MessagingInput::small(bytes).unwrap().hosts();
        let few = hosts(&ONE_FRAME);
        assert!(few.iter().all(|host| (host.parameters.frames, host.endpoints.len()) == (1, 2)));
        let full = hosts(&FULL_QUEUES);
        assert!(
            full.iter().all(|host| (host.parameters.request_queue, host.streams.len()) == (1, 3))
        );
        let step = hosts(&IN_STEP);
        assert!(step.iter().all(|host| {
            let times = &host.transport;
            let longest = 3 * (times.timeout.0 + 2 * times.scan.0) * MICROSECOND;
            let change = host.parameters.load + 2 * host.costs.transfer(host.costs.page.into());
            host.parameters.frames == 1 && longest < change
        }));
        let streams = few.iter().chain(&full).flat_map(|host| &host.streams);
        assert!(streams.into_iter().all(|stream| stream.count == Some(8)));
    }
}
