//! A capture that is cut in two has the findings and the packets of the whole, each on its side of the cut.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use analyzer::options::AnalysisScope;
use analyzer::pipeline::AnalysisEvent;
use analyzer::window::{TimeWindow, WindowEdge};
use codec::capture::{
    CaptureItem, CaptureReader, ChannelId, ReadProgress, StartSender, StartState,
};
use codec::time::Tick;
use laws::capture_input::{drawn_link, drawn_repetition, literally};
use laws::network::analyzed::{analyzed, joined, slice};
use laws::network::facts::rates_are_alike;
use laws::network::input::NetworkInput;
use laws::network::run::{RunOutcome, run};
use laws::repair::{SeededRng, draws};
use laws::taps;
use laws::unrecorded::{
    OmittedPart, RecordedChunks, broken_network, deadlocked_network, fixtures, judged,
    sound_network,
};
use simulator::truth::TraceLevel;

/// Findings about single characters, commands and silences: a side has exactly those at its characters.
const LOCAL: &str = "corrected-code invalid-code open-link silent-at-first unexpected-fill overrun-alarm \
                     forward-reset backward-reset unsolicited-reply commands-too-often";

/// Findings about packets, resets and stops: what lies across the cut may be missing on both sides (its end or its
/// start is not recorded) or count on both (data that is late before and after the cut). A hole at the cut is before
/// the first character, or behind the last one.
const ACROSS: &str = "reset-not-ended data-in-reset lost-gap may-be-two no-tag crc-bad runt truncated-by-open-link \
                      cut-by-reset missing-timeout blocked-timeout data-while-stopped hole";

/// Findings and packets of one analysis.
#[derive(Default)]
struct CutFindings {
    findings: BTreeMap<(&'static str, String), u64>,
    /// Channel, number and last byte of all packets.
    packets: BTreeSet<(String, u64, u64)>,
    end: u64,
}

impl CutFindings {
    fn of(capture: &[u8]) -> Self {
        let (journeys, analysis) = analyzed(capture, AnalysisScope::Network, |event| {
            if let AnalysisEvent::Journey(journey) = event { Some(journey) } else { None }
        });
        let hops = journeys.iter().flat_map(|it| &*it.hops);
        let name = |id| analysis.channel(id).unwrap().name.clone();
        let findings = analysis.findings();
        let found = findings.set().found();
        Self {
            findings: found
                .map(|(kind, id, found)| ((kind.about().name, name(id)), found.count))
                .collect(),
            packets: hops.map(|hop| (name(hop.channel), hop.packet, hop.end.0)).collect(),
            end: analysis.extent().latest.unwrap().2.0,
        }
    }

    /// Compares the findings of the whole with those of both sides of a cut.
    fn check(&self, sides: &[Self; 2]) -> Result<(), String> {
        let all = sides.iter().chain([self]).flat_map(|found| found.findings.keys());
        for key @ (kind, _) in all {
            let count = |found: &Self| found.findings.get(key).copied().unwrap_or_default();
            let (parts, whole) = (sides.iter().map(count).sum::<u64>(), count(self));
            let has = |list: &str| list.split_whitespace().any(|name| name == *kind);
            // Others compare links, times and fill levels, which need more than a link's state.
            if has(LOCAL) && parts != whole || has(ACROSS) && parts.abs_diff(whole) > 1 {
                return Err(format!("{key:?}: {parts} of {whole}"));
            }
        }
        Ok(())
    }
}

fn part(capture: &[u8], from: u64, to: Option<u64>) -> Vec<u8> {
    let edge = |at| WindowEdge::Character(Tick(at));
    slice(capture, TimeWindow { from: edge(from), to: to.map(edge) })
}

/// Checks a capture at several cuts; returns at how many of them the state at the cut was needed.
fn check_cuts(name: &str, capture: &[u8], count: u64) -> usize {
    let whole = CutFindings::of(capture);
    let cuts = |all: &[u8]| all.windows(5).filter(|word| word == b" cut=").count();
    // A step of an odd number: cuts at all distances from what happens.
    let step = usize::try_from(whole.end / count).unwrap() | 1;
    let mut needed = 0;
    for cut in (1..whole.end).step_by(step) {
        let mut after = part(capture, cut, None);
        let before = part(capture, 0, Some(cut));
        let joined = joined([(&before, 0), (&after, 0)]);
        assert_eq!(cuts(&joined), cuts(capture), "{name}, parted at {cut} and joined");
        let sides = [&before, &after].map(|part| CutFindings::of(part));
        whole.check(&sides).unwrap_or_else(|error| panic!("{name} at {cut}: {error}"));
        let [before, sliced] = sides;
        let renumbered: Vec<_> = sliced.packets.difference(&whole.packets).collect();
        assert!(renumbered.is_empty(), "{name} at {cut}: {renumbered:?}");
        while let Some(at) = after.windows(6).position(|word| word == b" cut={") {
            after[at + 1..at + 4].copy_from_slice(b"old");
        }
        needed += usize::from(whole.check(&[before, CutFindings::of(&after)]).is_err());
    }
    needed
}

#[test]
fn a_cut_changes_no_finding_of_the_fixtures() {
    let root = format!("{}/../../fixtures", env!("CARGO_MANIFEST_DIR"));
    let names = "link-1 link-2 link-7 link-8 link-11 link-14 demo-cut demo-slack demo-open-wire demo-adversary \
                 demo-lost-gap demo-contention demo-two-hosts";
    let names = names.split_whitespace().map(|name| format!("{root}/{name}/capture.pcapng"));
    let findings = std::fs::read_dir(format!("{root}/findings")).unwrap();
    let findings = findings.map(|entry| entry.unwrap().path().display().to_string());
    // Drift is found in a long recording only; in a short one its effects are.
    let paths = names.chain(findings).filter(|path| !path.ends_with("clock-drift.pcapng"));
    let needed: usize =
        paths.map(|path| check_cuts(&path, &std::fs::read(&path).unwrap(), 24)).sum();
    // A packet goes on behind a silence of any length. B-1
    let text = "duration_us = 100\nlink.kind = 'handshake'\ntopology = { kind = 'switch', hosts = 2 }\n\
                [[traffic]]\nto = 'shift'\npayload = 40\nevery_us = 25\n[[tap]]\nall = true";
    let scenario = crate::read(text);
    let handshake = run(&scenario, TraceLevel::Nothing, 1000);
    check_cuts("handshake cables", &handshake.capture, 100);
    assert!(needed > 20, "the state at the cut was needed {needed} times");
}

#[test]
fn a_cut_changes_no_finding_of_a_random_network() {
    let mut dice = SeededRng::new(b"slices");
    let (mut networks, mut needed) = (0, 0);
    while networks < 40 {
        let plan = NetworkInput::from_bytes(&dice.bytes_within(60, 240)).unwrap();
        let Some(mut scenario) = plan.scenario().filter(rates_are_alike) else { continue };
        scenario.taps = taps::at_every_cable(&scenario);
        let outcome = run(&scenario, TraceLevel::Everything, 1000);
        networks += 1;
        needed += check_cuts(&format!("network {networks}"), &outcome.capture, 8);
    }
    assert!(needed > 0, "the state at the cut was needed {needed} times");
}

/// A state that one slice hands on to the next is that of the whole recording; a probe waits only while both channels
/// are recorded. R-6
#[test]
fn a_slice_of_a_slice_begins_as_the_slice_does() {
    let (mut dice, mut known) = (SeededRng::new(b"slices of slices"), 0);
    for number in 0..draws(300) {
        let whole = drawn_link(&mut dice);
        let [first, second] = [(); 2].map(|()| dice.below(120));
        let (begun, at) = (part(&whole, first, None), first + second);
        let (_, holes) = starts(&whole);
        let [all, own] = [&whole, &begun].map(|capture| CutFindings::of(capture).packets);
        assert!(own.is_subset(&all), "{number}: {:?}", own.difference(&all));
        // Where a hole is at the cut, a slice knows nothing of what was before but the number of packets.
        let is_behind_hole = holes.iter().any(|hole| hole.end == first);
        if is_behind_hole || starts(&begun).0.values().any(Option::is_none) {
            continue;
        }
        let parts = [part(&begun, 0, Some(at)), part(&begun, at, None)];
        for parts in [[&*parts[0], &*parts[1]], [&*parts[1], &*parts[0]]] {
            let joined = joined(parts.map(|it| (it, 0)));
            assert_eq!(starts(&joined).0, starts(&begun).0, "{number}: {first} {second}");
        }
        let cuts = [&whole, &begun].map(|capture| starts(&part(capture, at, None)).0);
        for starts in cuts[0].keys().map(|id| [&cuts[0], &cuts[1]].map(|all| all[id])) {
            let asked = starts[0].and_then(|it| it.probe).map_or(u64::MAX, |(asked, _)| asked.0);
            let is_unseen = holes.iter().any(|hole| hole.start < at && asked < hole.end);
            assert!(!is_unseen, "{number}: {starts:?} {holes:?}");
            // Of several STOPs, not all are kept: one behind a silence of the sender is known to the slice alone.
            let senders = starts.map(|it| it.and_then(|it| it.sender));
            let is_own = |it: &StartSender| matches!(it, StartSender::Stopped(at) if at.0 >= first);
            let is_stopped = senders.iter().flatten().any(is_own)
                && !senders.contains(&Some(StartSender::Going));
            let known = starts.map(|start| {
                start.map(|it| StartState { sender: it.sender.filter(|_| !is_stopped), ..it })
            });
            assert_eq!(known[0], known[1], "{number}: {first} {second}");
        }
        known += 1;
    }
    assert!(known > draws(300) / 4, "{known}");
}

/// States of the channels of a capture before their first characters, and the holes of all channels.
fn starts(capture: &[u8]) -> (BTreeMap<ChannelId, Option<StartState>>, Vec<Range<u64>>) {
    let (mut all, mut holes, mut ends) = (BTreeMap::new(), Vec::new(), BTreeMap::new());
    let mut keep = |item: CaptureItem<'_>| match item {
        CaptureItem::Channel(id, channel) => _ = all.insert(id, StartState::of(channel)),
        CaptureItem::Chunk(id, chunk) => match ends.insert(id, chunk.end()) {
            Some(end) => holes.extend((end < chunk.first).then_some(end.0..chunk.first.0)),
            None => {
                let start: &mut Option<StartState> = all.get_mut(&id).unwrap();
                *start = start.filter(|it| it.at == chunk.first);
            }
        },
        CaptureItem::Link(..) | CaptureItem::Section => {}
        CaptureItem::Fault(fault) => panic!("{fault}"),
    };
    let mut reader = CaptureReader::new(capture);
    while reader.step(&mut keep).unwrap() == ReadProgress::More {}
    (all, holes)
}

/// `MYRISCOPE_LAWS=100` draws more.
#[test]
fn a_capture_without_a_part_of_it_accuses_nobody() {
    let mut dice = SeededRng::new(b"unrecorded");
    let fixtures = fixtures();
    for (name, part) in [
        ("demo-contention", OmittedPart::Run(38, 38)),
        ("demo-contention", OmittedPart::Run(202, 221)),
        ("demo-contention", OmittedPart::Run(167, 167)),
        ("demo-contention", OmittedPart::Fill(u64::MAX)),
        ("demo-contention", OmittedPart::RunOf(ChannelId(0), 10, usize::MAX)),
        ("demo-now36", OmittedPart::Run(24, 43)),
        ("demo-lossy", OmittedPart::Run(100, 130)),
        ("demo-lossy", OmittedPart::Channels(!1)),
        ("demo-two-mappers", OmittedPart::Run(1, 374)),
        ("demo-two-mappers", OmittedPart::Run(542, usize::MAX)),
    ] {
        let (_, capture) = fixtures.iter().find(|(fixture, _)| fixture == name).unwrap();
        assert_eq!(capture.accused(part), [""; 0], "{name} without {part:?}");
    }
    for (name, capture) in &fixtures {
        let accused = judged(capture, draws(3), &mut dice);
        assert!(accused.is_empty(), "{name}: {accused:?}");
    }
    for (number, part) in [
        (42_949_673_187, OmittedPart::Run(7, 14)),
        (42_949_673_188, OmittedPart::Run(7, 7)),
        (51_539_607_654, OmittedPart::RunOf(ChannelId(2), 1, 1)),
    ] {
        assert_eq!(broken_network(number).unwrap().accused(part), [""; 0], "{number}, {part:?}");
    }
    let networks: [(_, _, _, &dyn Fn(u64) -> Option<RecordedChunks>); 4] = [
        ("network", draws(40), 2, &sound_network),
        ("deadlock", draws(45), 12, &deadlocked_network),
        ("broken", draws(30), 8, &broken_network),
        ("virtual channels", draws(4), 24, &|number| Some(shared_links(number))),
    ];
    for (name, count, each, network) in networks {
        for (number, capture) in (0..count).filter_map(|it| Some((it, network(it)?))) {
            let accused = judged(&capture, each, &mut dice);
            assert!(accused.is_empty(), "{name} {number}: {accused:?}");
        }
    }
}

#[test]
fn rounds_that_were_not_examined_accuse_nobody() {
    let mut dice = SeededRng::new(b"repetitions");
    for number in 0..draws(100) {
        let capture = drawn_repetition(&mut dice);
        let whole = RecordedChunks::of(&literally(&capture));
        assert_eq!(whole.accused_in(&capture), [""; 0], "{number}");
    }
}

/// The capture of two switches whose links have virtual channels, on which the packets of one wire alternate. C-7
fn shared_links(seed: u64) -> RecordedChunks {
    let profile = "profile = 'VC0=50,VC1=51,GO1=60,STOP1=6f'";
    let host = |number| {
        let at = format!("'s{}:{}'", number / 2, number % 2);
        format!("[[host]]\nname = 'h{number}'\nat = {at}\n{profile}\na = {{ dateline = true }}\n")
    };
    let text = format!(
        "seed = {seed}\nduration_us = 100\n[[switch]]\nname = 's0'\n[[switch]]\nname = 's1'\n{}[[cable]]\n\
         ends = ['s0:2', 's1:2']\n{profile}\na = {{ dateline = true }}\n[[cable]]\nends = ['s0:3', 's1:3']\n\
         {profile}\n[[traffic]]\nto = 'uniform'\npayload = [4, 60]\nevery_us = 5\nlaw = 'poisson'\n\
         [[tap]]\nall = true\n",
        (0..4).map(host).collect::<String>()
    );
    let scenario = crate::read(&text);
    RecordedChunks::of(&RunOutcome::of(&scenario).capture)
}
