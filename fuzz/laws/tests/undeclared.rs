//! Captures without the words that declare their links: nothing is judged by what is only assumed, and the verdicts
//! say what is missing. F-4. Nor does the order matter in which channels are declared.

use analyzer::blocking::{BlockingEvent, WaitRoot};
use analyzer::finding::{FindingKind, Severity};
use analyzer::rules::rule;
use codec::capture::{ByteOrder, ChannelId};
use laws::journeys::NetworkClass;
use laws::network::analyzed::AnalyzedCapture;
use laws::network::findings::wrong;
use laws::network::run::RunOutcome;
use laws::network::undeclared::{StrippedWords, stripped};
use laws::repair::draws;
use laws::{capture_input, corpus, taps};

fn demo(name: &str) -> Vec<u8> {
    corpus::file(&format!("fixtures/demo-{name}/capture.pcapng"))
}

/// All words, no parameters but taps, and every second, third, … word.
const WORDS: [StrippedWords; 6] = [
    StrippedWords::Parameters,
    StrippedWords::Everything,
    StrippedWords::Some(0x5555_5555_5555_5555),
    StrippedWords::Some(0x1249_2492_4924_9249),
    StrippedWords::Some(0x0f0f_0f0f_0f0f_0f0f),
    StrippedWords::Some(0x3131_8c8c_6363_1818),
];

#[test]
fn without_declarations_nothing_is_wrong_with_a_sound_capture() {
    for name in ["two-hosts", "contention", "now36", "adversary"] {
        for words in WORDS {
            let set = AnalyzedCapture::of(&stripped(&demo(name), words)).set;
            // The adversary does hold up its sender.
            let wrong = set.found().filter(|(kind, ..)| *kind != FindingKind::SlowHost);
            let wrong: Vec<_> = wrong.filter(|(.., it)| it.severity != Severity::Note).collect();
            assert!(wrong.is_empty(), "{name} without {words:?}: {wrong:#?}");
        }
    }
}

#[test]
fn verdicts_name_what_would_have_to_be_known() {
    let bare = stripped(&demo("contention"), StrippedWords::Parameters);
    let set = AnalyzedCapture::of(&bare).set;
    let reason = |id| rule(id).unwrap().verdict(&set).outcome.reason().unwrap_or_default();
    insta::assert_snapshot!(["F-1", "F-3", "F-4", "F-9"].map(reason).join("\n"), @"
    int not known (--assume int=…, or this word in the capture)
    kg, h, ks, delay, gen not known (--assume kg=…,h=…,ks=…,delay=…,gen=…, or these words in the capture)
    h, ks, delay, gen, int not known (--assume h=…,ks=…,delay=…,gen=…,int=…, or these words in the capture)
    ks, delay, gen not known (--assume ks=…,delay=…,gen=…, or these words in the capture)
    ");
    let declared = AnalyzedCapture::of(&demo("contention")).set;
    for id in ["F-1", "F-3", "F-4", "F-9"] {
        assert_eq!(rule(id).unwrap().verdict(&declared).outcome.name(), "pass", "{id}");
    }
}

/// States in a capture, ways and fates of packets, waits, and what is wrong, with the names of channels.
fn statements(capture: &[u8]) -> Vec<String> {
    let (channels, _) = capture_input::parts(capture);
    let name = |id: ChannelId| &channels[usize::try_from(id.0).unwrap()].name;
    let AnalyzedCapture { intervals, journeys, blocked, set, .. } = AnalyzedCapture::of(capture);
    let intervals = intervals.values().flatten().map(|it| (name(it.channel), it.start, it.state));
    let intervals = intervals.map(|interval| format!("{interval:?}"));
    let journeys = journeys.iter().map(|it| {
        let hops = it.hops.iter().map(|hop| format!("{} {} ", name(hop.channel), hop.packet));
        format!("{}{:?}", hops.collect::<String>(), it.fate)
    });
    let stops = blocked.iter().filter_map(|it| {
        let BlockingEvent::Stop(it) = it else { return None };
        Some(format!("{:?}", (name(it.channel), it.since, it.until, it.root == WaitRoot::Cycle)))
    });
    let wrong = wrong(&set).map(|(kind, id, found)| {
        format!("{kind:?} {} {} {:?}", name(id), found.count, found.first.at)
    });
    let mut all: Vec<String> = intervals.chain(journeys).chain(stops).chain(wrong).collect();
    all.sort();
    all
}

/// A capture with its channels in reverse order.
fn reversed(capture: &[u8]) -> Vec<u8> {
    let (mut channels, mut chunks) = capture_input::parts(capture);
    let last = u32::try_from(channels.len().saturating_sub(1)).unwrap();
    channels.iter_mut().for_each(|it| it.peer = it.peer.map(|peer| last - peer));
    chunks.iter_mut().for_each(|(id, _)| id.0 = last - id.0);
    channels.reverse();
    capture_input::in_order(&channels, &mut chunks);
    capture_input::write(ByteOrder::Little, &channels, &chunks).unwrap()
}

/// The order of channels in a file is that of a recorder's probes, and no fact about the network.
#[test]
fn the_order_of_channels_changes_nothing() {
    let networks = (0..draws(20)).flat_map(|number| {
        let taps = if number % 2 == 0 { taps::at_every_cable } else { taps::at_far_ends };
        NetworkClass::ALL.into_iter().filter_map(move |class| {
            let mut scenario = class.scenario(number)?;
            scenario.taps = taps(&scenario);
            Some((format!("{class:?} {number}"), RunOutcome::untold(&scenario).capture))
        })
    });
    let demos = ["ring", "two-mappers"].map(|name| (name.to_owned(), demo(name)));
    let mut seen = 0;
    for (name, capture) in networks.chain(demos) {
        let (one, other) = (statements(&capture), statements(&reversed(&capture)));
        let odd = one.iter().zip(&other).find(|(one, other)| one != other);
        assert_eq!((odd, one.len()), (None, other.len()), "{name}");
        seen += one.len();
    }
    assert!(seen > 1000, "{seen}");
}
