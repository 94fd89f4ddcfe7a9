//! The scenarios that are built in. Each has its file, and the capture that it yields, in
//! `fixtures/demo-NAME`.

use simulator::statistics::ChannelStatistics;
use simulator::topology::NodePort;
use simulator::truth::{TruthEvent, TruthEventKind};

use crate::demo::{BuiltinDemo, DemoFigure, DemoRun};
use crate::statistics::{percent, time};

/// All of them.
pub(crate) static DEMOS: [BuiltinDemo; 14] = [
    BuiltinDemo {
        name: "two-hosts",
        title: "two hosts and a switch: packets on their way",
        text: "\
A packet moves on as soon as its first byte is decoded and its output is free (S-3).
The switch takes away the byte that it has used (P-3).",
        scenario: include_str!("../../fixtures/demo-two-hosts/scenario.toml"),
        events: &["injected", "forwarded", "consumed"],
        figures: path_formation,
    },
    BuiltinDemo {
        name: "contention",
        title: "contention: three hosts send to a fourth, through one output",
        text: "\
A packet that finds its output taken waits, and blocks its input (S-3). A token goes round
the inputs, so that none starves (S-5).",
        scenario: include_str!("../../fixtures/demo-contention/scenario.toml"),
        events: &["forwarded"],
        figures: shares,
    },
    BuiltinDemo {
        name: "ring",
        title: "a ring of switches that deadlocks, and is freed by the timeouts",
        text: "\
Each packet holds an output that the packet behind it waits for. After 2^22 periods their
senders make forward resets (R-4, R-1). The packets are lost, the ring is free: one that
is sent afterwards arrives.",
        scenario: include_str!("../../fixtures/demo-ring/scenario.toml"),
        events: &["injected", "blocked", "consumed", "dropped"],
        figures: timeout,
    },
    BuiltinDemo {
        name: "cut",
        title: "a cable that is cut in mid-packet, and mended",
        text: "\
After 16 silent periods a receiver ends the packet that it was in (F-7); its CRC byte is
wrong. While the link is open, the switch drops what is to go there (S-1).",
        scenario: include_str!("../../fixtures/demo-cut/scenario.toml"),
        events: &[
            "injected",
            "forwarded",
            "consumed",
            "fault",
            "open-link",
            "link-restored",
            "dropped",
            "truncated",
        ],
        figures: silence,
    },
    BuiltinDemo {
        name: "lost-gap",
        title: "a lost GAP: two packets become one",
        text: "\
The next packet follows at once, so no other GAP parts the two (P-1), and both go to the
host of the first. Its CRC byte is good all the same: after a good packet the CRC is back
at its initial value, 0 (P-4).",
        scenario: include_str!("../../fixtures/demo-lost-gap/scenario.toml"),
        events: &["injected", "forwarded", "consumed", "fault", "merged", "dropped"],
        figures: |_| Vec::new(),
    },
    BuiltinDemo {
        name: "open-wire",
        title: "a stuck-open wire: every 1 on it arrives as a 0",
        text: "\
Wire 2 carries a 1 in GAP and STOP. Their weakened codes are mended (C-4), so packets end
where they should; data cannot be mended, and the CRC byte tells (P-6).",
        scenario: include_str!("../../fixtures/demo-open-wire/scenario.toml"),
        events: &["fault", "corrected-code", "invalid-code", "consumed"],
        figures: mended,
    },
    BuiltinDemo {
        name: "slack",
        title: "a slack buffer that is too short for its cable",
        text: "\
When a receiver sends STOP, it must have room for all that is under way, on a round trip
of the cable (F-4). Here it has not: bytes are lost, and reported by ORUN (F-9).",
        scenario: include_str!("../../fixtures/demo-slack/scenario.toml"),
        events: &["threshold", "sender-stopped", "overflow", "overrun-alarm", "consumed"],
        figures: slack,
    },
    BuiltinDemo {
        name: "adversary",
        title: "an adversarial sink: it provokes the most STOP and GO",
        text: "\
It takes characters only while it commands STOP, so that its slack buffer goes to and fro
between the thresholds. They are h = 16 cells apart: two symbols in 2h - 1 = 31 periods at
most (F-4).",
        scenario: include_str!("../../fixtures/demo-adversary/scenario.toml"),
        events: &["threshold", "sender-stopped", "sender-resumed"],
        figures: overhead,
    },
    BuiltinDemo {
        name: "now36",
        title: "36 hosts of the Berkeley NOW: uniform random traffic",
        text: "\
A subcluster of 13 switches. Each host sends packets of 16 to 1024 bytes to any other, a
fifth of what its link carries (up*/down* routes, N-2).",
        scenario: include_str!("../../fixtures/demo-now36/scenario.toml"),
        events: &[],
        figures: |_| Vec::new(),
    },
    BuiltinDemo {
        name: "lossy",
        title: "a lossy cable under messages: what is lost is sent again",
        text: "\
1s on the cable of h0 arrive as 0s, and spoil packets: they are dropped (T-7). What was not
acknowledged for too long is sent again (T-10); if only its ACK was lost, it comes twice, and
is written once (T-5).",
        scenario: include_str!("../../fixtures/demo-lossy/scenario.toml"),
        events: &["transport-retransmitted", "transport-duplicate", "message-returned"],
        figures: once,
    },
    BuiltinDemo {
        name: "nacks",
        title: "a NACK storm: four clients overrun the queue of a slow server",
        text: "\
A message that the receive queue has no room for is refused (T-6). A NACK does not send it
again by itself; the next scan does, if it is old enough (T-10). None is lost.",
        scenario: include_str!("../../fixtures/demo-nacks/scenario.toml"),
        events: &["message-refused", "transport-retransmitted"],
        figures: once,
    },
    BuiltinDemo {
        name: "overcommit",
        title: "1 to 32 virtual networks into one server, whose NIC has seven frames",
        text: "\
Every 2 ms there are twice as many. Messages for an endpoint that is not resident are
refused, and have it loaded in place of another (T-6, T-13, T-15).",
        scenario: include_str!("../../fixtures/demo-overcommit/scenario.toml"),
        events: &["endpoint-leaving", "endpoint-unloaded", "endpoint-loaded"],
        figures: overcommitted,
    },
    BuiltinDemo {
        name: "unreachable",
        title: "a host that cannot be reached: its messages go back to their sender",
        text: "\
The cable of h1 is cut for good. When there has been no sign of it for too long, messages
come back (T-11). Those for h2 go on.",
        scenario: include_str!("../../fixtures/demo-unreachable/scenario.toml"),
        events: &["fault", "message-returned"],
        figures: returned,
    },
    BuiltinDemo {
        name: "restart",
        title: "NICs that are restarted in mid-conversation",
        text: "\
A NIC that has been restarted knows nothing of its logical channels, and says so; the sender
begins them anew, with the same messages (T-12). What lay in its frames is lost or returned.",
        scenario: include_str!("../../fixtures/demo-restart/scenario.toml"),
        events: &[
            "fault",
            "endpoint-loaded",
            "message-refused",
            "message-returned",
            "message-lost",
            "message-given-up",
        ],
        figures: once,
    },
];

fn figure(what: &str, published: &str, measured: String) -> DemoFigure {
    DemoFigure { what: what.to_owned(), published: published.to_owned(), measured }
}

/// What became of messages, and what it took.
fn once(run: &DemoRun<'_>) -> Vec<DemoFigure> {
    let of = |kind: &str| run.seen.count(kind);
    let accepted = of("message-accepted");
    let ended = of("message-acknowledged").saturating_add(of("message-returned"));
    vec![
        figure("messages acknowledged or returned (T-1)", "all", format!("{ended} of {accepted}")),
        figure(
            "times that each was written, at most (T-1)",
            "1",
            run.seen.most_written().to_string(),
        ),
        figure("packets for them", "", of("message-transmitted").to_string()),
        figure("ACKs and NACKs (T-5, T-6)", "", {
            of("ack-transmitted").saturating_add(of("nack-transmitted")).to_string()
        }),
    ]
}

/// Messages that were written, with ever more virtual networks.
fn overcommitted(run: &DemoRun<'_>) -> Vec<DemoFigure> {
    let figures = (0..6_u32).map(|phase| {
        let written = run.seen.written.get(&(u64::from(phase) * 2 + 1)).copied().unwrap_or(0);
        let networks = 1_u32 << phase;
        let published = if networks <= 7 { "level" } else { "graceful" };
        figure(
            &format!("messages written in 1 ms, {networks} networks"),
            published,
            written.to_string(),
        )
    });
    figures.collect()
}

/// How long after the cut the first message came back.
fn returned(run: &DemoRun<'_>) -> Vec<DemoFigure> {
    let (cut, back) = (run.seen.first("fault"), run.seen.first("message-returned"));
    let waited = cut.zip(back).and_then(|(cut, back)| back.at.checked_sub(cut.at)).unwrap_or(0);
    let mut figures = once(run);
    let declared = run.scenario.messaging.values().next().map(|plan| {
        // The first transmission, and as many as there may be without an answer.
        plan.transport.timeout.0.saturating_mul(u64::from(plan.transport.retries) + 1)
    });
    let declared = format!("> {} µs", declared.unwrap_or(0));
    figures.push(figure("until the first comes back (T-11)", &declared, microseconds(waited)));
    figures
}

fn microseconds(periods: u64) -> String {
    format!("{} µs", time(periods))
}

/// The longest time from a packet's first byte at a switch until its path is formed.
fn path_formation(run: &DemoRun<'_>) -> Vec<DemoFigure> {
    let rows = || run.seen.rows();
    let formed = rows().filter_map(|row| {
        let TruthEventKind::Forwarded { .. } = row.kind else { return None };
        let injected = |other: &&TruthEvent| matches!(other.kind, TruthEventKind::Injected { .. });
        let injected = rows().filter(injected).find(|other| other.packet == row.packet)?;
        let cable = run.scenario.topology.cable(injected.place)?;
        row.at.checked_sub(injected.at)?.checked_sub(cable.link.delay.0)
    });
    let longest = microseconds(formed.max().unwrap_or(0));
    vec![figure("path formation in an 8-port switch, at most (S-6)", "0.55 µs", longest)]
}

/// How many packets of each sender have arrived.
fn shares(run: &DemoRun<'_>) -> Vec<DemoFigure> {
    let counts: Vec<String> = run.seen.consumed.values().map(u64::to_string).collect();
    vec![figure("packets of each sender that have arrived (S-5)", "equal", counts.join(", "))]
}

/// How long the first packet was under way until its sender gave up.
fn timeout(run: &DemoRun<'_>) -> Vec<DemoFigure> {
    let waited = run.seen.first("blocked").and_then(|blocked| {
        let is_same = |row: &&TruthEvent| row.packet == blocked.packet;
        blocked.at.checked_sub(run.seen.rows().find(is_same)?.at)
    });
    let waited = waited.unwrap_or(0);
    vec![
        figure("until a sender gives up: periods (R-4)", "4194304", waited.to_string()),
        figure("the same in time (§4.6.2)", "about 50 ms", microseconds(waited)),
    ]
}

/// Silent periods until a link is open, the first and the last included.
fn silence(run: &DemoRun<'_>) -> Vec<DemoFigure> {
    let (cut, open) = (run.seen.first("fault"), run.seen.first("open-link"));
    let silent = cut.zip(open).and_then(|(cut, open)| open.at.checked_sub(cut.at));
    let silent = silent.map_or(0, |periods| periods.saturating_add(1));
    vec![figure("silent periods until a link is open (F-7)", "16", silent.to_string())]
}

/// Weakened codes that were not mended.
fn mended(run: &DemoRun<'_>) -> Vec<DemoFigure> {
    let [mended, not] = ["corrected-code", "invalid-code"].map(|kind| run.seen.count(kind));
    vec![figure(
        "GAP and STOP mended, of all weakened (C-4)",
        "all",
        format!("{mended} of {}", mended.saturating_add(not)),
    )]
}

/// The slack that there is, and that the longest cable needs.
fn slack(run: &DemoRun<'_>) -> Vec<DemoFigure> {
    let longest = run.scenario.topology.cables().iter().max_by_key(|cable| cable.link.delay.0);
    let Some(link) = longest.map(|cable| cable.link) else { return Vec::new() };
    let [port, _] = link.ports;
    let needed = link
        .delay
        .0
        .saturating_mul(2)
        .saturating_add(u64::from(port.generation))
        .saturating_add(u64::from(port.interpretation));
    vec![
        figure(
            "cells above the STOP threshold, at least (F-4)",
            &needed.to_string(),
            port.slack.stop_slack.to_string(),
        ),
        figure("cells lost (F-9)", "0", run.seen.count("overflow").to_string()),
    ]
}

/// What STOP and GO take of the channels on which they go.
fn overhead(run: &DemoRun<'_>) -> Vec<DemoFigure> {
    let topology = &run.scenario.topology;
    let ends = topology.cables().iter().flat_map(|cable| cable.ends);
    let share = |from: NodePort| {
        let (passed, _) = run.network.port_state(from)?;
        let commands = ChannelStatistics {
            periods: run.scenario.duration,
            commands: passed.commands,
            ..ChannelStatistics::default()
        };
        let name =
            format!("{}>{}", topology.port_name(from), topology.port_name(topology.peer(from)?));
        let what = format!("STOP and GO on {name} (F-4)");
        (passed.commands > 0)
            .then(|| figure(&what, "about 6 %", format!("{} %", percent(commands.overhead()))))
    };
    ends.filter_map(share).collect()
}
