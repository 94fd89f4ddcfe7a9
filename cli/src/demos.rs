//! The scenarios that are built in. Each has its file, and the capture that it yields, in
//! `fixtures/demo-NAME`.

use simulator::stats::ChannelStatistics;
use simulator::topology::Port;
use simulator::truth::{Happened, What};

use crate::demo::{Demo, Figure, Run};
use crate::statistics::{percent, time};

/// All of them.
pub(crate) static DEMOS: [Demo; 9] = [
    Demo {
        name: "two-hosts",
        title: "two hosts and a switch: packets on their way",
        text: "\
A packet moves on as soon as its first byte is decoded and its output is free (S-3).
The switch takes away the byte that it has used (P-3).",
        scenario: include_str!("../../fixtures/demo-two-hosts/scenario.toml"),
        events: &["injected", "forwarded", "consumed"],
        figures: path_formation,
    },
    Demo {
        name: "contention",
        title: "contention: three hosts send to a fourth, through one output",
        text: "\
A packet that finds its output taken waits, and blocks its input (S-3). A token goes round
the inputs, so that none starves (S-5).",
        scenario: include_str!("../../fixtures/demo-contention/scenario.toml"),
        events: &["forwarded"],
        figures: shares,
    },
    Demo {
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
    Demo {
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
    Demo {
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
    Demo {
        name: "open-wire",
        title: "a stuck-open wire: every 1 on it arrives as a 0",
        text: "\
Wire 2 carries a 1 in GAP and STOP. Their weakened codes are mended (C-4), so packets end
where they should; data cannot be mended, and the CRC byte tells (P-6).",
        scenario: include_str!("../../fixtures/demo-open-wire/scenario.toml"),
        events: &["fault", "corrected-code", "invalid-code", "consumed"],
        figures: mended,
    },
    Demo {
        name: "slack",
        title: "a slack buffer that is too short for its cable",
        text: "\
When a receiver sends STOP, it must have room for all that is under way, on a round trip
of the cable (F-4). Here it has not: bytes are lost, and reported by ORUN (F-9).",
        scenario: include_str!("../../fixtures/demo-slack/scenario.toml"),
        events: &["threshold", "sender-stopped", "overflow", "overrun-alarm", "consumed"],
        figures: slack,
    },
    Demo {
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
    Demo {
        name: "now36",
        title: "36 hosts of the Berkeley NOW: uniform random traffic",
        text: "\
A subcluster of 13 switches. Each host sends packets of 16 to 1024 bytes to any other, a
fifth of what its link carries (up*/down* routes, N-2).",
        scenario: include_str!("../../fixtures/demo-now36/scenario.toml"),
        events: &[],
        figures: |_| Vec::new(),
    },
];

fn figure(what: &str, published: &str, measured: String) -> Figure {
    Figure { what: what.to_owned(), published: published.to_owned(), measured }
}

fn microseconds(periods: u64) -> String {
    format!("{} µs", time(periods))
}

/// The longest time from a packet's first byte at a switch until its path is formed.
fn path_formation(run: &Run<'_>) -> Vec<Figure> {
    let rows = || run.seen.rows();
    let formed = rows().filter_map(|row| {
        let What::Forwarded { .. } = row.what else { return None };
        let injected = |other: &&Happened| matches!(other.what, What::Injected { .. });
        let injected = rows().filter(injected).find(|other| other.packet == row.packet)?;
        let cable = run.scenario.topology.cable(injected.place)?;
        row.at.checked_sub(injected.at)?.checked_sub(cable.link.delay.0)
    });
    let longest = microseconds(formed.max().unwrap_or(0));
    vec![figure("path formation in an 8-port switch, at most (S-6)", "0.55 µs", longest)]
}

/// How many packets of each sender have arrived.
fn shares(run: &Run<'_>) -> Vec<Figure> {
    let counts: Vec<String> = run.seen.consumed.values().map(u64::to_string).collect();
    vec![figure("packets of each sender that have arrived (S-5)", "equal", counts.join(", "))]
}

/// How long the first packet was under way until its sender gave up.
fn timeout(run: &Run<'_>) -> Vec<Figure> {
    let waited = run.seen.first("blocked").and_then(|blocked| {
        let is_same = |row: &&Happened| row.packet == blocked.packet;
        blocked.at.checked_sub(run.seen.rows().find(is_same)?.at)
    });
    let waited = waited.unwrap_or(0);
    vec![
        figure("until a sender gives up: periods (R-4)", "4194304", waited.to_string()),
        figure("the same in time (§4.6.2)", "about 50 ms", microseconds(waited)),
    ]
}

/// Silent periods until a link is open, the first and the last included.
fn silence(run: &Run<'_>) -> Vec<Figure> {
    let (cut, open) = (run.seen.first("fault"), run.seen.first("open-link"));
    let silent = cut.zip(open).and_then(|(cut, open)| open.at.checked_sub(cut.at));
    let silent = silent.map_or(0, |periods| periods.saturating_add(1));
    vec![figure("silent periods until a link is open (F-7)", "16", silent.to_string())]
}

/// Weakened codes that were not mended.
fn mended(run: &Run<'_>) -> Vec<Figure> {
    let [mended, not] = ["corrected-code", "invalid-code"].map(|kind| run.seen.count(kind));
    vec![figure(
        "GAP and STOP mended, of all weakened (C-4)",
        "all",
        format!("{mended} of {}", mended.saturating_add(not)),
    )]
}

/// The slack that there is, and that the longest cable needs.
fn slack(run: &Run<'_>) -> Vec<Figure> {
    let longest = run.scenario.topology.cables().iter().max_by_key(|cable| cable.link.delay.0);
    let Some(link) = longest.map(|cable| cable.link) else { return Vec::new() };
    let needed = link
        .delay
        .0
        .saturating_mul(2)
        .saturating_add(u64::from(link.generation))
        .saturating_add(u64::from(link.interpretation));
    vec![
        figure(
            "cells above the STOP threshold, at least (F-4)",
            &needed.to_string(),
            link.slack.stop_slack.to_string(),
        ),
        figure("cells lost (F-9)", "0", run.seen.count("overflow").to_string()),
    ]
}

/// What STOP and GO take of the channels on which they go.
fn overhead(run: &Run<'_>) -> Vec<Figure> {
    let topology = &run.scenario.topology;
    let ends = topology.cables().iter().flat_map(|cable| cable.ends);
    let share = |from: Port| {
        let (passed, _) = run.network.port(from)?;
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
