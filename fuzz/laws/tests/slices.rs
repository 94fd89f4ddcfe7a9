//! A capture that is cut in two has the findings of the whole, each on its side of the cut.

#![expect(
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test reads fixtures, and stops if it cannot go on"
)]

use std::collections::{BTreeMap, BTreeSet};

use analyzer::event::ChannelEvent;
use analyzer::event_reader::{EventReader, ReadItem};
use analyzer::finding::FindingKind;
use analyzer::link::parameters::LinkAssumptions;
use analyzer::options::AnalysisScope;
use analyzer::packet::ByteRetention;
use analyzer::pipeline::CaptureAnalysis;
use analyzer::timeline::EventFilter;
use analyzer::window::{TimeWindow, WindowEdge};
use codec::capture::{ReadProgress, merge};
use codec::time::Tick;
use laws::network::facts::rates_are_alike;
use laws::network::input::NetworkInput;
use laws::network::run::run;
use laws::repair::SeededRng;
use laws::taps;
use simulator::network::VisitOrder;
use simulator::truth::TraceLevel;

/// Findings about single characters, commands and silences: a side has exactly those at its characters.
const LOCAL: [FindingKind; 10] = [
    FindingKind::CorrectedCode,
    FindingKind::InvalidCode,
    FindingKind::OpenLink,
    FindingKind::SilentAtFirst,
    FindingKind::UnexpectedFill,
    FindingKind::OverrunAlarm,
    FindingKind::ForwardReset,
    FindingKind::BackwardReset,
    FindingKind::UnsolicitedReply,
    FindingKind::CommandsTooOften,
];

/// Findings about packets, resets and stops: what lies across the cut may be missing on both sides (its end or its
/// start is not recorded) or count on both (data that is late before and after the cut).
const ACROSS: [FindingKind; 13] = [
    FindingKind::ResetNotEnded,
    FindingKind::DataInReset,
    FindingKind::LostGap,
    FindingKind::MayBeTwo,
    FindingKind::NoTag,
    FindingKind::CrcBad,
    FindingKind::Runt,
    FindingKind::TruncatedByOpenLink,
    FindingKind::CutByReset,
    FindingKind::MissingTimeout,
    FindingKind::BlockedTimeout,
    FindingKind::DataWhileStopped,
    // A hole at the cut is before the first character, or behind the last one.
    FindingKind::Hole,
];

type FindingCounts = BTreeMap<(FindingKind, String), u64>;

fn findings(capture: &[u8]) -> FindingCounts {
    let assumptions = LinkAssumptions::default();
    let mut analysis = CaptureAnalysis::new(capture, AnalysisScope::Findings, assumptions);
    while analysis.step(&mut |_| {}).unwrap() == ReadProgress::More {}
    let findings = analysis.findings();
    let found = findings.ledger().found();
    let name = |id| analysis.channel(id).unwrap().name.clone();
    found.map(|(kind, id, found)| ((kind, name(id)), found.count)).collect()
}

fn part(capture: &[u8], from: u64, to: Option<u64>) -> Vec<u8> {
    let edge = |at| WindowEdge::Character(Tick(at));
    let window = TimeWindow { from: edge(from), to: to.map(edge) };
    let mut select = |_, channel: &_| window.on(channel);
    merge([capture], Vec::new(), &mut select, &mut |_, fault| panic!("{fault}")).unwrap().0
}

/// Channel, number and last byte of all packets.
fn packets(capture: &[u8]) -> BTreeSet<(String, u64, u64)> {
    let mut packets = BTreeSet::new();
    let mut reader = EventReader::new(capture, EventFilter::Packets, ByteRetention::Forget);
    let mut add = |item: ReadItem<'_>| {
        if let ReadItem::Row(channel, row) = item
            && let ChannelEvent::Packet(packet) = row.body
        {
            packets.insert((channel.name.clone(), packet.number, packet.end.0));
        }
    };
    while reader.step(&mut add).unwrap() == ReadProgress::More {}
    packets
}

/// Compares the counts of the whole with those of both sides of a cut.
fn check(name: &str, whole: &FindingCounts, sides: [&[u8]; 2]) -> Result<(), String> {
    let sides = sides.map(findings);
    for (kind, channel) in sides.iter().flat_map(BTreeMap::keys).chain(whole.keys()) {
        let count = |counts: &FindingCounts| {
            counts.get(&(*kind, channel.clone())).copied().unwrap_or_default()
        };
        let (parts, all) = (sides.iter().map(count).sum::<u64>(), count(whole));
        let tolerance = match kind {
            kind if LOCAL.contains(kind) => 0,
            kind if ACROSS.contains(kind) => 1,
            // Comparisons of links, of times and of fill levels, which need more than a link's state.
            _ => continue,
        };
        if parts.abs_diff(all) > tolerance {
            let about = kind.about().name;
            return Err(format!("{name}: {about} on {channel}: {parts} of {all}"));
        }
    }
    Ok(())
}

/// Checks a capture at several cuts; returns at how many of them the state at the cut was needed.
fn check_cuts(name: &str, capture: &[u8], count: u64) -> usize {
    let (whole, end, numbered) = (findings(capture), length(capture), packets(capture));
    // A step of an odd number: cuts at all distances from what happens.
    let step = usize::try_from(end / count).unwrap() | 1;
    let mut needed = 0;
    for cut in (1..end).step_by(step) {
        let [before, after] = [part(capture, 0, Some(cut)), part(capture, cut, None)];
        check(&format!("{name} at {cut}"), &whole, [&before, &after]).unwrap();
        let renumbered: Vec<_> = packets(&after).difference(&numbered).cloned().collect();
        assert_eq!(renumbered, [], "{name} at {cut}");
        let mut bare = after;
        while let Some(at) = bare.windows(6).position(|word| word == b" cut={") {
            bare[at + 1..at + 4].copy_from_slice(b"old");
        }
        needed += usize::from(check(name, &whole, [&before, &bare]).is_err());
    }
    needed
}

fn length(capture: &[u8]) -> u64 {
    let mut reader = codec::capture::CaptureReader::new(capture);
    while reader.step(&mut |_| {}).unwrap() == ReadProgress::More {}
    reader.extent().last.unwrap().1.0
}

#[test]
fn a_cut_changes_no_finding_of_the_fixtures() {
    let root = format!("{}/../../fixtures", env!("CARGO_MANIFEST_DIR"));
    let names = [
        "link-1",
        "link-2",
        "link-7",
        "link-8",
        "link-11",
        "link-14",
        "demo-cut",
        "demo-slack",
        "demo-open-wire",
        "demo-adversary",
        "demo-lost-gap",
        "demo-contention",
        "demo-two-hosts",
    ];
    let mut paths: Vec<_> =
        names.iter().map(|name| format!("{root}/{name}/capture.pcapng").into()).collect();
    let findings = std::fs::read_dir(format!("{root}/findings")).unwrap();
    paths.extend(findings.map(|entry| entry.unwrap().path()));
    paths.sort();
    let mut needed = 0;
    // Drift is found in a long recording only; in a short one its effects are.
    paths.retain(|path: &std::path::PathBuf| !path.ends_with("clock-drift.pcapng"));
    for path in paths {
        let name = path.display().to_string();
        let capture = std::fs::read(&path).unwrap();
        needed += check_cuts(name.strip_prefix(&root).unwrap(), &capture, 24);
    }
    assert!(needed > 20, "the state at the cut was needed {needed} times");
}

#[test]
fn a_cut_changes_no_finding_of_a_random_network() {
    let mut dice = SeededRng::new(b"slices");
    let (mut networks, mut needed) = (0, 0);
    while networks < 40 {
        let len = usize::try_from(60 + dice.below(240)).unwrap();
        let plan = NetworkInput::from_bytes(&dice.bytes(len)).unwrap();
        let Some(mut scenario) = plan.scenario().filter(rates_are_alike) else { continue };
        scenario.taps = taps::at_every_cable(&scenario);
        let outcome = run(&scenario, TraceLevel::Everything, VisitOrder::AsGiven, 1000);
        networks += 1;
        needed += check_cuts(&format!("network {networks}"), &outcome.capture, 8);
    }
    assert!(needed > 0, "the state at the cut was needed {needed} times");
}
