//! Links with virtual channels, written from the rules: what a sound one is read as, and what is found on others.
//! C-7 (§4.8.4, §4.8.5)

use std::collections::{BTreeMap, VecDeque};

use codec::capture::{Channel, ReadProgress};
use codec::character::Character;
use codec::crc::crc8;
use codec::notation::parse;
use codec::{CharBuf, Chars};
use myriscope_analyzer::event_reader::CounterReader;
use myriscope_analyzer::packet::ByteRetention;
use myriscope_analyzer::timeline::EventFilter;
use myriscope_analyzer::window::TimeWindow;
use myriscope_analyzer::{AnalysisEvent, AnalysisScope};

use crate::support::{self, FixedDraws, WrittenChunk, analysed};

const PROFILE: &str = "profile=VC0=50,VC1=51,GO1=60,STOP1=6f";
/// Declared properties of a link whose selection is known from the beginning.
const SOUND: &str =
    "tap=a:0 delay=7 kg=32 h=16 ks=64 gen=2 int=2 fill=chip reset=own-gap start=power-up";

/// A capture of channels with names, words of their descriptions, and characters from 0 on.
fn capture(channels: &[(&str, &str, Chars<'_>)]) -> Vec<u8> {
    let described = channels.iter().map(|(name, words, _)| {
        let mut channel = Channel::named(*name);
        channel.apply_description(&format!("myrinet-channel {words}"), &mut |_, fault| {
            panic!("{fault}");
        });
        channel
    });
    let described: Vec<_> = described.collect();
    let len = channels.iter().map(|(.., chars)| chars.len()).max().unwrap();
    let mut chunks: Vec<WrittenChunk<String>> = Vec::new();
    for first in (0..len).step_by(100) {
        for (id, (.., chars)) in (0..).zip(channels) {
            let part = chars.slice(first.min(chars.len())..(first + 100).min(chars.len()));
            let text = (!part.is_empty()).then(|| part.to_string());
            chunks.extend(text.map(|text| (id, first as u64, text, 0)));
        }
    }
    support::capture(&described, &chunks)
}

/// The link a ⇄ b in notation, with words for both channels.
fn link(words: [&str; 2], ways: [&str; 2]) -> Vec<u8> {
    let [there, back] = ways.map(|way| parse(way).unwrap());
    let [one, other] = words;
    capture(&[("a:0>b:0", one, there.chars()), ("b:0>a:0", other, back.chars())])
}

/// Kinds of findings with their channels and numbers.
fn findings(file: &[u8]) -> Vec<String> {
    let (_, analysis) = analysed(file, AnalysisScope::Counts);
    let findings = analysis.findings();
    let name = |id| &analysis.channel(id).unwrap().name;
    let found = findings.set().found();
    found.map(|(kind, id, it)| format!("{} {} {}", it.count, kind.about().name, name(id))).collect()
}

/// Bytes of packets with a good CRC, by channel.
fn packets(file: &[u8]) -> BTreeMap<String, Vec<Vec<u8>>> {
    let mut packets: BTreeMap<String, Vec<Vec<u8>>> = BTreeMap::new();
    for (channel, row) in support::rows(file, EventFilter::Packets, ByteRetention::Keep) {
        let bytes = row.body.packet().and_then(|packet| packet.row(&channel).bytes);
        let bytes = bytes.map(|bytes| bytes.0.to_vec());
        packets.entry(channel).or_default().extend(bytes);
    }
    packets
}

/// One end of a link with two virtual channels, period by period.
#[derive(Default)]
struct LinkEnd {
    /// Characters to be sent, by virtual channel, and packets that have been sent whole.
    waiting: [VecDeque<Character>; 2],
    sent: [Vec<Vec<u8>>; 2],
    selected: usize,
    /// Period from which data is held, by virtual channel. F-1
    held: [Option<u64>; 2],
    /// Last commands of the own slack buffers, their last changes, and those that wait for the output. F-3
    declared: [bool; 2],
    changed: [u64; 2],
    commands: VecDeque<Character>,
    fill: usize,
}

/// Codes of virtual channels by [`PROFILE`].
const VC: [Character; 2] = [Character::Control(0x50), Character::Control(0x51)];
const COMMANDS: [[Character; 2]; 2] = [
    [Character::Control(0x03), Character::Control(0x0f)],
    [Character::Control(0x60), Character::Control(0x6f)],
];
/// Periods from a STOP at the sender to its effect, as declared.
const INTERPRETATION: u64 = 2;
const DELAY: usize = 7;

impl LinkEnd {
    fn hear(&mut self, now: u64, character: Character) {
        for (held, [go, stop]) in self.held.iter_mut().zip(COMMANDS) {
            if character == stop && held.is_none() {
                *held = Some(now + INTERPRETATION + 1);
            } else if character == go {
                *held = None;
            }
        }
    }

    /// The character of the next period. F-6
    fn send(&mut self, now: u64, dice: &mut FixedDraws) -> Character {
        for vc in 0..2 {
            // Two changes are apart by more than the hysteresis, and stops short. F-4, I-4
            let since = now - self.changed[vc];
            if since > 200 || since > 40 && dice.below(60) == 0 {
                (self.declared[vc], self.changed[vc]) = (!self.declared[vc], now);
                self.commands.push_back(COMMANDS[vc][usize::from(self.declared[vc])]);
            }
            if self.waiting[vc].is_empty() && dice.below(50) == 0 {
                let mut packet = vec![0x05];
                for _ in 0..=dice.below(30) {
                    let byte = dice.below(255) as u8;
                    // No part looks like a packet. P-1
                    packet.push(if byte == crc8(&packet) { byte + 1 } else { byte });
                }
                packet.push(crc8(&packet));
                self.waiting[vc].extend(packet.iter().copied().map(Character::Data));
                self.waiting[vc].push_back(Character::GAP);
                self.sent[vc].push(packet);
            }
        }
        if let Some(command) = self.commands.pop_front() {
            return command;
        }
        let may_send = |vc: &usize| {
            let is_held = self.held[*vc].is_some_and(|from| now >= from);
            self.waiting[*vc].front().is_some_and(|next| !is_held || !next.is_data())
        };
        let ready: Vec<usize> = (0..2).filter(may_send).collect();
        let Some(vc) = ready.get(dice.below(2) % ready.len().max(1)).copied() else {
            self.fill += 1;
            return match self.fill % 3 {
                2 => Character::IDLE,
                vc => COMMANDS[vc][usize::from(self.declared[vc])],
            };
        };
        // A virtual channel may interrupt another one at any character.
        if std::mem::replace(&mut self.selected, vc) != vc {
            return VC[vc];
        }
        self.waiting[vc].pop_front().unwrap()
    }
}

/// Packets sent from each end on each virtual channel.
type SentPackets = [[Vec<Vec<u8>>; 2]; 2];

/// A sound link, tapped at a, and the packets sent over it.
fn sound(seed: u64, periods: u64) -> (Vec<u8>, SentPackets) {
    let (mut a, mut b, mut dice) = (LinkEnd::default(), LinkEnd::default(), FixedDraws::new(seed));
    let mut cables = [
        VecDeque::from(vec![Character::IDLE; DELAY]),
        VecDeque::from(vec![Character::IDLE; DELAY]),
    ];
    let (mut there, mut back) = (CharBuf::new(), CharBuf::new());
    for now in 0..periods {
        let [to_b, to_a] = &mut cables;
        let (at_a, at_b) = (to_a.pop_front().unwrap(), to_b.pop_front().unwrap());
        a.hear(now, at_a);
        b.hear(now, at_b);
        let (from_a, from_b) = (a.send(now, &mut dice), b.send(now, &mut dice));
        to_b.push_back(from_a);
        to_a.push_back(from_b);
        there.push(from_a);
        back.push(at_a);
    }
    let words = format!("{PROFILE} {SOUND}");
    (
        capture(&[("a:0>b:0", &words, there.chars()), ("b:0>a:0", &words, back.chars())]),
        [a.sent, b.sent],
    )
}

#[test]
fn a_sound_link_has_no_findings_and_its_packets_are_those_of_each_virtual_channel() {
    for seed in 1..=20 {
        let (file, sent) = sound(seed, 5000);
        assert_eq!(findings(&file), [""; 0], "seed {seed}");
        let found = packets(&file);
        for (name, sent) in [("a:0.vc0>b:0.vc0", &sent[0][0]), ("a:0.vc1>b:0.vc1", &sent[0][1])]
            .into_iter()
            .chain([("b:0.vc0>a:0.vc0", &sent[1][0]), ("b:0.vc1>a:0.vc1", &sent[1][1])])
        {
            // The last ones may be on their way.
            let found = &found[name];
            assert!(found.len() > 10 && sent.len() - found.len() <= 2, "{seed} {name}");
            assert!(sent.starts_with(&found[..found.len() - 1]), "{seed} {name}");
        }
    }
}

/// The CRC of 05 is 1b, of zeros it is 00.
#[test]
fn what_is_wrong_on_one_virtual_channel_is_found_on_no_other() {
    let known = format!("{PROFILE} tap=a:0 int=2 start=power-up");
    let unknown = format!("{PROFILE} tap=a:0 int=2");
    let quiet = "GAP (GO !60)×30";
    // STOP1 at 10 holds virtual channel 1 from 13 on: bytes of 13 to 20 are late.
    let stop = "GO !60 GO !60 GO !60 GO !60 GO !60 !6f (GO !6f)×24 !60";
    for (words, there, back, expected) in [
        (
            &known,
            "GAP GO !51 (00)×18 GAP (GO GAP)×20",
            stop,
            &["1 data-while-stopped a:0.vc1>b:0.vc1"][..],
        ),
        // The same bytes on virtual channel 0.
        (&known, "GAP GO !50 (00)×18 GAP (GO GAP)×20", stop, &[]),
        (&known, "!51 GAP !50 GAP 05 !51 05 !50 1b !51 1b GAP !50 GAP GO", quiet, &[]),
        // The first VC1 is lost: its byte is one more of the packet of virtual channel 0.
        (
            &known,
            "!51 GAP !50 GAP 05 IDLE 05 !50 1b !51 1b GAP !50 GAP GO",
            quiet,
            &["1 crc-bad a:0.vc0>b:0.vc0", "1 runt a:0.vc1>b:0.vc1"],
        ),
        // Without a known selection the characters before the first one belong to none.
        (&unknown, "05 1b GAP 05 !51 GAP 05 1b GAP !50 GAP 05 1b GAP GO", quiet, &[]),
        // A code beyond the profile is invalid on the virtual channel that is selected. C-5
        (&known, "!51 05 !52 1b GAP !50 GO", quiet, &["1 invalid-code a:0.vc1>b:0.vc1"]),
    ] {
        assert_eq!(findings(&link([words, words], [there, back])), expected, "{there}");
    }
}

/// §4.8.5
#[test]
fn an_end_with_the_mandatory_symbols_only_is_opposite_virtual_channel_0() {
    let words = [&format!("{PROFILE} tap=a:0 int=2 start=power-up")[..], "tap=a:0 int=2"];
    let file = link(words, ["(00)×18 GAP (GO GAP)×20", "GO×3 STOP×30 GO"]);
    let expected = ["1 one-way a:0.vc1>b:0.vc1", "1 data-while-stopped a:0.vc0>b:0.vc0"];
    assert_eq!(findings(&file), expected);
}

#[test]
fn selections_are_counted_by_their_family_and_other_codes_as_invalid() {
    let words = format!("{PROFILE} start=power-up");
    let file = link([&words, &words], ["05 !51 07 !6f !77 GAP", "GAP"]);
    let mut counts = CounterReader::new(file.as_slice());
    while counts.step(&TimeWindow::ALL, &mut |fault| panic!("{fault}")).unwrap()
        == ReadProgress::More
    {}
    let rows = counts.channels().values().take(3).map(|it| {
        let control: Vec<_> = it.counters.control().collect();
        format!("{} {} {control:?} {}", it.channel.name, it.counters.data(), it.counters.invalid())
    });
    assert_eq!(
        rows.collect::<Vec<_>>(),
        [
            r#"a:0.vc0>b:0.vc0 1 [("VCn", 5)] 0"#,
            r#"b:0.vc0>a:0.vc0 0 [("GAP", 1)] 0"#,
            r#"a:0.vc1>b:0.vc1 1 [("GAP", 1), ("STOP", 1), ("VCn", 2)] 1"#,
        ]
    );
}

/// Packets through the switch s0 with the hosts h0 and h1: to h1 on the virtual channel on which they came, or on
/// the next. The CRC of 81 05 aa is 7e, of 05 aa it is 1e.
#[test]
fn a_packet_leaves_a_switch_on_its_virtual_channel_or_as_declared() {
    let journeys = |passage: &str, out: &str| {
        let words = format!("{PROFILE} tap=s0:0 delay=1 start=power-up");
        let last = format!("{PROFILE} tap=s0:1 delay=1 start=power-up {passage}");
        let texts =
            ["(GO GAP)×20 81 05 aa 7e GAP (GO GAP)×300", "(GO GAP)×300", "(GO GAP)×300", out];
        let chars = texts.map(|text| parse(text).unwrap());
        let names = ["h0:0>s0:0", "s0:0>h0:0", "h1:0>s0:1", "s0:1>h1:0"];
        let words = [&words, &words, &last, &last];
        let ways: Vec<_> =
            (0..4).map(|way| (names[way], words[way].as_str(), chars[way].chars())).collect();
        let file = capture(&ways);
        let (events, analysis) = analysed(file.as_slice(), AnalysisScope::Network);
        let journey = |event| if let AnalysisEvent::Journey(it) = event { Some(it) } else { None };
        let journeys = events.into_iter().filter_map(journey);
        let name = |id| analysis.channel(id).unwrap().name.clone();
        let hops = journeys
            .map(|it| it.hops.iter().map(|hop| name(hop.channel)).collect::<Vec<_>>().join(" "));
        (hops.collect::<Vec<_>>(), analysis.topology().links.len())
    };
    let same = "(GO GAP)×45 05 aa 1e GAP (GO GAP)×250";
    let next = "(GO GAP)×45 !51 GAP 05 aa 1e GAP !50 (GO GAP)×250";
    // One link for each cable.
    assert_eq!(journeys("", same), (vec!["h0:0.vc0>s0:0.vc0 s0:1.vc0>h1:0.vc0".to_owned()], 2));
    let joined = vec!["h0:0.vc0>s0:0.vc0 s0:1.vc1>h1:0.vc1".to_owned()];
    assert_eq!(journeys("passage=next", next), (joined, 2));
    assert_eq!(journeys("", next).0, ["s0:1.vc1>h1:0.vc1", "h0:0.vc0>s0:0.vc0"]);
}
