//! Numbers measured in the demos, beside published ones.

use simulator::mapping::MappingNotice;
use simulator::statistics::ChannelStatistics;
use simulator::topology::NodePort;
use simulator::truth::{TruthEvent, TruthEventKind};

use super::{DemoFigure, DemoRun, PERIODS_PER_MS};
use crate::statistics::{percent, time};

pub(super) fn figures(name: &str, run: &DemoRun<'_>) -> Vec<DemoFigure> {
    match name {
        "two-hosts" => path_formation(run),
        "contention" => shares(run),
        "ring" => timeout(run),
        "cut" => silence(run),
        "open-wire" => corrected(run),
        "slack" => slack(run),
        "adversary" => overhead(run),
        "clocks" => clocks(run),
        "lossy" | "nacks" | "restart" | "self-healing" => once(run),
        "overcommit" => overcommitted(run),
        "unreachable" => returned(run),
        "mapping" => mapped(run),
        _ => Vec::new(),
    }
}

fn figure(what: &str, published: &str, measured: String) -> DemoFigure {
    DemoFigure { what: what.to_owned(), published: published.to_owned(), measured }
}

/// Outcomes of messages, and the packets they took.
fn once(run: &DemoRun<'_>) -> Vec<DemoFigure> {
    let of = |kind: &str| run.seen.count(kind);
    let accepted = of("message-accepted");
    let most_written = run.seen.times.values().copied().max().unwrap_or(0);
    let ended = of("message-acknowledged").saturating_add(of("message-returned"));
    let answers = of("ack-transmitted").saturating_add(of("nack-transmitted"));
    vec![
        figure("messages acknowledged or returned (T-1)", "all", format!("{ended} of {accepted}")),
        figure("times each was written, at most (T-1)", "1", most_written.to_string()),
        figure("data packets", "", of("message-transmitted").to_string()),
        figure("ACKs and NACKs (T-5, T-6)", "", answers.to_string()),
    ]
}

/// The first map, and the time of the search for it. N-2
fn mapped(run: &DemoRun<'_>) -> Vec<DemoFigure> {
    let first = run.seen.first("map-version").map(|row| &row.kind);
    let Some(TruthEventKind::Mapping(MappingNotice::Mapped {
        hosts, switches, links, took, ..
    })) = first
    else {
        return Vec::new();
    };
    let size = format!("{hosts}, {switches}, {links}");
    let tenths = took.saturating_add(PERIODS_PER_MS / 20) / (PERIODS_PER_MS / 10);
    let took = format!("{}.{} ms", tenths / 10, tenths % 10);
    vec![
        figure("hosts, switches and links in the map", "36, 13, 64", size),
        figure("time of the search", "248 ms", took),
    ]
}

/// Messages written per millisecond with a growing number of virtual networks.
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

/// Time from the cut to the first returned message.
fn returned(run: &DemoRun<'_>) -> Vec<DemoFigure> {
    let (cut, back) = (run.seen.first("fault"), run.seen.first("message-returned"));
    let waited = cut.zip(back).and_then(|(cut, back)| back.at.checked_sub(cut.at)).unwrap_or(0);
    let mut figures = once(run);
    let declared = run.scenario.messaging.values().next().map(|plan| {
        // The first transmission and all retransmissions without an answer.
        plan.transport.timeout.0.saturating_mul(u64::from(plan.transport.retries) + 1)
    });
    let declared = format!("> {} µs", declared.unwrap_or(0));
    figures.push(figure(
        "time to the first returned message (T-11)",
        &declared,
        microseconds(waited),
    ));
    figures
}

fn microseconds(periods: u64) -> String {
    format!("{} µs", time(periods))
}

/// Longest time from a packet's first byte at a switch input to the first at its output.
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

/// Packets delivered, by sender.
fn shares(run: &DemoRun<'_>) -> Vec<DemoFigure> {
    let counts: Vec<String> = run.seen.consumed.values().map(u64::to_string).collect();
    vec![figure("packets delivered, by sender (S-5)", "equal", counts.join(", "))]
}

/// Time from the injection of the first blocked packet to its timeout.
fn timeout(run: &DemoRun<'_>) -> Vec<DemoFigure> {
    let waited = run.seen.first("blocked").and_then(|blocked| {
        let is_same = |row: &&TruthEvent| row.packet == blocked.packet;
        blocked.at.checked_sub(run.seen.rows().find(is_same)?.at)
    });
    let waited = waited.unwrap_or(0);
    vec![
        figure("blocked-packet timeout, in periods (R-4)", "4194304", waited.to_string()),
        figure("blocked-packet timeout (§4.6.2)", "about 50 ms", microseconds(waited)),
    ]
}

/// Silent periods before a link counts as open, including the last.
fn silence(run: &DemoRun<'_>) -> Vec<DemoFigure> {
    let (cut, open) = (run.seen.first("fault"), run.seen.first("open-link"));
    let silent = cut.zip(open).and_then(|(cut, open)| open.at.checked_sub(cut.at));
    let silent = silent.map_or(0, |periods| periods.saturating_add(1));
    vec![figure("silent periods until a link is open (F-7)", "16", silent.to_string())]
}

/// Weakened control codes that were corrected.
fn corrected(run: &DemoRun<'_>) -> Vec<DemoFigure> {
    let [corrected, not] = ["corrected-code", "invalid-code"].map(|kind| run.seen.count(kind));
    vec![figure(
        "corrected, of all weakened GAP and STOP (C-4)",
        "all",
        format!("{corrected} of {}", corrected.saturating_add(not)),
    )]
}

/// Stop slack configured, and needed for the longest cable.
fn slack(run: &DemoRun<'_>) -> Vec<DemoFigure> {
    let longest = run.scenario.topology.cables().iter().max_by_key(|cable| cable.link.delay.0);
    let Some(link) = longest.map(|cable| cable.link) else { return Vec::new() };
    let [port, _] = link.ports;
    let answer = u64::from(port.generation) + u64::from(port.interpretation);
    let needed = link.delay.0.saturating_mul(2).saturating_add(answer);
    vec![
        figure(
            "cells above the STOP threshold, at least (F-4)",
            &needed.to_string(),
            port.slack.stop_slack.to_string(),
        ),
        figure("cells lost (F-9)", "0", run.seen.count("overflow").to_string()),
    ]
}

/// Effects of a slow clock on the slack buffer before it and on the packet behind it.
fn clocks(run: &DemoRun<'_>) -> Vec<DemoFigure> {
    let stop = run.seen.first("threshold");
    let fill = stop.and_then(|row| {
        let TruthEventKind::Threshold { fill, .. } = row.kind else { return None };
        Some(fill.into())
    });
    // A hole is a period between the first and the last byte of the frame without one of its bytes.
    let holes = |row: &TruthEvent| {
        let TruthEventKind::Sent(frame) = &row.kind else { return None };
        (frame.end.saturating_add(1)).checked_sub(frame.start + frame.packet.length)
    };
    let holes: Vec<u64> = run.seen.rows().filter_map(holes).collect();
    let figure =
        |what: &str, measured: Option<u64>| figure(what, "", measured.unwrap_or(0).to_string());
    vec![
        figure("cells of the slack buffer full at STOP (F-3)", fill),
        figure("STOPs in mid-packet (F-1)", Some(run.seen.count("sender-stopped"))),
        figure("period of the first", stop.map(|row| row.at)),
        figure("periods for which the host was stopped (F-2)", holes.first().copied()),
        figure("holes in the packet behind the next switch", holes.last().copied()),
    ]
}

/// Share of STOP and GO on each channel that carries any.
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
