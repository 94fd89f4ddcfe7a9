//! Messages over networks with faults: every one is accounted for.

use crate::support;

use std::collections::{BTreeMap, BTreeSet};

use myriscope_simulator::messaging::{
    MessageId, MessagingEvent, ReturnCause, TransmissionAttempt, TransmissionKind,
};
use myriscope_simulator::network::VisitOrder;
use myriscope_simulator::scenario::{PortTap, Scenario};
use myriscope_simulator::topology::NodeId;
use myriscope_simulator::truth::{PacketHandling, TruthEvent, TruthEventKind};
use support::{RunWay, TestRun, assert_same};

const DEMOS: [(&str, &str); 5] = [
    ("lossy", include_str!("../../fixtures/demo-lossy/scenario.toml")),
    ("nacks", include_str!("../../fixtures/demo-nacks/scenario.toml")),
    ("overcommit", include_str!("../../fixtures/demo-overcommit/scenario.toml")),
    ("unreachable", include_str!("../../fixtures/demo-unreachable/scenario.toml")),
    ("restart", include_str!("../../fixtures/demo-restart/scenario.toml")),
];

/// A run of a scenario, the events of a period in any order.
fn run(scenario: Scenario, order: VisitOrder) -> TestRun {
    TestRun::finished(scenario, RunWay::arranged(order)).sorted()
}

fn rows(text: &str) -> Vec<TruthEvent> {
    run(support::read(text), VisitOrder::AsGiven).happened
}

/// Outcome of all messages.
#[derive(Debug, Default)]
struct MessageFates {
    accepted: BTreeSet<MessageId>,
    written: BTreeMap<MessageId, u32>,
    acknowledged: BTreeSet<MessageId>,
    returned: BTreeMap<MessageId, ReturnCause>,
    damaged: usize,
}

fn fates(rows: &[TruthEvent]) -> MessageFates {
    let mut fates = MessageFates::default();
    for row in rows {
        let TruthEventKind::Messaging(told) = &row.kind else { continue };
        if let MessagingEvent::Accepted(message, _) = told {
            assert!(fates.accepted.insert(*message), "{message:?} is accepted once");
        } else if let MessagingEvent::Written(message, _) = told {
            assert!(fates.accepted.contains(message), "{message:?} was accepted");
            *fates.written.entry(*message).or_default() += 1;
        } else if let MessagingEvent::Acknowledged(message) = told {
            assert!(fates.written.contains_key(message), "{message:?} was written");
            assert!(fates.acknowledged.insert(*message), "{message:?} is acknowledged once");
        } else if let MessagingEvent::Returned(message, why) = told {
            assert!(fates.accepted.contains(message), "{message:?} was accepted");
            assert_eq!(fates.returned.insert(*message, *why), None, "{message:?}");
        } else if let MessagingEvent::Damaged(..) = told {
            fates.damaged += 1;
        }
    }
    assert_eq!(fates.damaged, 0);
    let twice = fates.acknowledged.iter().find(|id| fates.returned.contains_key(id));
    assert_eq!(twice, None, "a message ends once");
    fates
}

impl MessageFates {
    fn on_the_way(&self) -> usize {
        self.accepted.len() - self.acknowledged.len() - self.returned.len()
    }
}

fn count(rows: &[TruthEvent], kind: &str) -> usize {
    rows.iter().filter(|row| row.kind.name() == kind).count()
}

#[test]
fn every_message_of_a_demo_is_acknowledged_or_returned_and_written_once() {
    // T-1. The overcommitted server is busy to the end: 32 clients with 4 credits, and replies.
    let left = [0, 0, 256, 0, 0];
    for ((name, text), left) in DEMOS.into_iter().zip(left) {
        let fates = fates(&rows(text));
        assert!(fates.accepted.len() > 40, "{name}");
        assert!(fates.on_the_way() <= left, "{name}: {}", fates.on_the_way());
        assert!(fates.written.values().all(|times| *times == 1), "{name}");
    }
}

#[test]
fn each_demo_shows_what_it_is_for() {
    let demo = |name: &str| rows(DEMOS.iter().find(|demo| demo.0 == name).unwrap().1);
    let lossy = demo("lossy");
    let corrupt = lossy.iter().filter(|row| {
        matches!(row.kind, TruthEventKind::Consumed { handling: PacketHandling::Corrupt, .. })
    });
    assert!(corrupt.count() > 5 && count(&lossy, "transport-duplicate") > 0);
    assert!(count(&demo("nacks"), "nack-transmitted") > 50);
    let overcommit = demo("overcommit");
    assert!(count(&overcommit, "endpoint-loaded") > 10);
    assert!(count(&overcommit, "message-refused") > 100);
    let unreachable = fates(&demo("unreachable")).returned;
    assert_eq!(unreachable.into_values().collect::<Vec<_>>(), [ReturnCause::Unreachable; 4]);
    let restart = demo("restart");
    let returned = fates(&restart).returned;
    assert!(!returned.is_empty() && returned.values().all(|why| *why == ReturnCause::Restarted));
    assert!(count(&restart, "transport-refused") > 0);
}

#[test]
fn each_transport_packet_is_told_of_with_its_first_byte() {
    for (name, text) in DEMOS {
        let rows = rows(text);
        let of = |row: &TruthEvent| (row.at, row.place, row.packet);
        let injected: BTreeSet<_> =
            rows.iter().filter(|row| row.kind.name() == "injected").map(of).collect();
        let is_sent = |row: &&TruthEvent| matches!(row.kind, TruthEventKind::Transmitted(_));
        let sent: BTreeSet<_> = rows.iter().filter(is_sent).map(of).collect();
        assert_eq!(sent, injected, "{name}: nothing else is sent");
        let ends = rows.iter().all(|row| {
            if let TruthEventKind::Transmitted(
                TransmissionKind::Data { header, .. }
                | TransmissionKind::Ack(header)
                | TransmissionKind::Nack(header, _),
            ) = row.kind
            {
                u32::from(header.source.0) == row.place.node.0
            } else {
                true
            }
        });
        assert!(ends, "{name}: the NIC has the number of its node");
    }
}

#[test]
fn the_order_of_parts_makes_no_difference_to_messages() {
    for (name, text) in DEMOS {
        let mut scenario = support::read(text);
        scenario.duration = scenario.duration.min(240_000);
        let ports = scenario.topology.cables().iter().flat_map(|cable| cable.ends);
        scenario.taps =
            ports.map(|port| PortTap { port, from: 0, to: scenario.duration }).collect();
        let given = run(scenario.clone(), VisitOrder::AsGiven);
        for seed in [1, 2] {
            let shuffled = run(scenario.clone(), VisitOrder::Shuffled(seed));
            given.assert_same(&shuffled, &format!("{name}, seed {seed}"));
        }
    }
}

/// Two hosts with endpoints, and two without.
const FOUR: &str = "
duration_us = 1000
[topology]
kind = \"switch\"
hosts = 4
[transport]
scan_us = 50
timeout_us = 200
[[endpoint]]
name = \"a\"
host = \"h0\"
[[endpoint]]
name = \"b\"
host = \"h1\"
segment = 65536
";

#[test]
fn packets_of_tag_1_are_delivered_where_there_are_no_endpoints() {
    let traffic = |to: &str| {
        format!(
            "{FOUR}[[traffic]]\nfrom = \"h2\"\nto = \"{to}\"\ntag = 1\npayload = 60\nevery_us = 50\n"
        )
    };
    // Where there are, they are malformed. T-7
    let malformed = ["h3", "h0"].map(|to| count(&rows(&traffic(to)), "transport-malformed"));
    assert_eq!(malformed, [0, 20]);
}

#[test]
fn a_host_without_endpoints_answers_nothing() {
    let text = format!(
        "{FOUR}[[messages]]\nfrom = \"a\"\nto = {{ host = \"h3\", number = 0 }}\nwords = 1\nevery_us = 100\n"
    );
    let text = text.replace("timeout_us = 200", "timeout_us = 100\nunreachable_us = 300");
    let rows = rows(&text);
    assert_eq!(count(&rows, "ack-transmitted") + count(&rows, "nack-transmitted"), 0);
    assert!(fates(&rows).returned.values().all(|why| *why == ReturnCause::Unreachable));
    assert!(count(&rows, "message-returned") > 0);
}

#[test]
fn a_host_that_no_route_leads_to_is_unreachable() {
    // T-11
    let text = format!(
        "{FOUR}[[messages]]\nfrom = \"a\"\nto = \"b\"\nwords = 1\nevery_us = 100\n[routes]\nmethod = \"given\""
    );
    let rows = rows(&text);
    assert_eq!(count(&rows, "injected") + count(&rows, "transport-retransmitted"), 0);
    let fates = fates(&rows);
    assert!(fates.accepted.len() > 5 && fates.on_the_way() <= 1, "{fates:?}");
}

/// A host with more to send than its link carries, and with short timers. Packets stamped when
/// queued once left after their own ACK, 50 of them. T-3, T-8, T-10
#[test]
fn a_packet_has_the_time_at_which_it_leaves_and_none_leaves_behind_its_ack() {
    let busy = format!(
        "{FOUR}[[messages]]\nfrom = \"a\"\nto = \"b\"\nkind = \"medium\"\nbytes = 8000\nevery_us = 90\n\
         [[traffic]]\nfrom = \"h0\"\nto = \"h2\"\ntag = 5\npayload = 4000\nevery_us = 60\n"
    );
    for text in DEMOS.iter().map(|(_, text)| (*text).to_owned()).chain([busy]) {
        let (mut done, mut again) = (BTreeSet::new(), 0);
        for row in rows(&text) {
            if let TruthEventKind::Messaging(MessagingEvent::Acknowledged(message)) = row.kind {
                done.insert(message);
            } else if let TruthEventKind::Transmitted(TransmissionKind::Data {
                header,
                message,
                turn,
                ..
            }) = row.kind
            {
                assert_eq!(u64::from(header.timestamp.0), row.at / 80);
                assert!(!done.contains(&message), "{message:?} has been acknowledged");
                again += u32::from(turn == TransmissionAttempt::Again);
            }
        }
        assert!(again > 0, "some are sent again");
    }
}

#[test]
fn slow_firmware_holds_up_the_link_and_loses_nothing() {
    // T-9, I-4: STOP goes out when receive memory is full.
    let text = format!(
        "{FOUR}[interface]\nreceive_memory = 12000\n[costs]\npreset = \"nothing\"\nreceive_us = 40\n\
         [[messages]]\nfrom = \"a\"\nto = \"b\"\nkind = \"bulk\"\nbytes = 60000\nevery_us = 10\ncount = 1\n"
    );
    let rows = rows(&text.replace("duration_us = 1000", "duration_us = 5000"));
    assert!(count(&rows, "sender-stopped") > 0);
    assert_eq!((count(&rows, "overflow"), count(&rows, "transport-overrun")), (0, 0));
    assert_eq!(fates(&rows).on_the_way(), 0);
}

/// I-5: seven frames of a page, and a send buffer for 8192 bytes and 256 of headers.
#[test]
fn statistics_name_the_memory_of_endpoints() {
    let memory = TestRun::until(FOUR, 0).statistics("h0").memory.layout;
    assert_eq!((memory.frames, memory.staging, memory.receive), (57_344, 8448, 22_912));
    assert_eq!(memory.sum(), 131_072);
}

#[test]
fn messages_outlast_the_power_of_a_host() {
    // F-7, T-12
    let text = format!(
        "{FOUR}[[messages]]\nfrom = \"a\"\nto = \"b\"\nwords = 2\nwindow = 2\ncount = 30\n\
         [[fault]]\nat_us = 100\npower_off = \"h1\"\nfor_us = 150\n\
         [[fault]]\nat_us = 450\npower_off = \"h0\"\nfor_us = 50\n"
    );
    let text =
        text.replace("timeout_us = 200", "timeout_us = 100\npatience_us = 200\nload_us = 10");
    let rows = rows(&text.replace("duration_us = 1000", "duration_us = 3000"));
    let fates = fates(&rows);
    assert_eq!(fates.on_the_way(), 0);
    let requests = fates.accepted.iter().filter(|id| u32::from(id.nic.0) == NodeId(1).0);
    assert_eq!(requests.count(), 30);
    let silent = |row: &&TruthEvent| {
        let off = [(NodeId(2), 8_000..20_000), (NodeId(1), 36_000..40_000)];
        off.iter().any(|(node, off)| row.place.node == *node && off.contains(&row.at))
            && matches!(
                row.kind,
                TruthEventKind::Transmitted(_)
                    | TruthEventKind::Messaging(MessagingEvent::Accepted(..))
            )
    };
    assert_eq!(rows.iter().find(silent), None, "without power nothing is done");
}

/// Pages, messages that are stored and pipelined ones, restarts and losses.
#[test]
fn messages_alone_are_as_fast_on_a_bus_that_others_could_use() {
    // I-7
    let bulk = |preset: &str| {
        format!(
            "{FOUR}[costs]\npreset = \"{preset}\"\n[[messages]]\nfrom = \"a\"\nto = \"b\"\n\
             kind = \"bulk\"\nbytes = [4, 60000]\nevery_us = 40\n"
        )
    };
    let texts = DEMOS.iter().map(|(_, text)| (*text).to_owned());
    for text in texts.chain(["am-ii", "gam", "nothing"].map(bulk)) {
        let text = if text.contains("[interface]") { text } else { text + "[interface]\n" };
        let [ideal, sbus] = ["ideal", "sbus"].map(|bus| {
            rows(&text.replace("[interface]\n", &format!("[interface]\nbus = \"{bus}\"\n")))
        });
        assert_same(&ideal, &sbus, &text);
        assert!(!fates(&ideal).written.is_empty(), "{text}");
    }
}
