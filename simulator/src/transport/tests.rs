//! The rules of the protocol, each as the reaction of one NIC to a script.
//!
//! The NIC under test is 0; the tables have two rows and two columns. Times are in µs: scans every
//! 10, timeout 40; at most 3 unanswered retransmissions. The first incarnation is 7. A line of a
//! script is a time and one of
//!
//! - `load E`, `unload E`, `tick`, and `due`, which shows the time of the next scan;
//! - `send E M [to N]`: endpoint E sends message M, to NIC 1 by default;
//! - `hold`: queued packets no longer leave; `leave`: they leave, if they are still queued;
//! - `data C S I @T [sync] M [but R]`: a packet of channel C, number S, incarnation I, timestamp T
//!   arrives from NIC 1, and is written, or refused with reason R;
//! - `ack C S I @T` and `nack C S I @T R`: answers.
//!
//! `from N` and `for N` at the end of a packet give other NICs. The transcript has each line, and
//! below it the effects: a packet as above, with `N.C` for NIC and channel, or a notice.

mod answer;
mod send;
mod time;
mod whole;

use std::fmt::Write as _;

use codec::transport::{
    ChannelIncarnation, EndpointId, LogicalChannel, NackReason, Nic, SequenceBit, SyncFlag,
    TransportHeader, TransportTimestamp,
};

use super::{
    Micros, OutboundMessage, ProtocolPacket, ReturnReason, Transport, TransportEffect,
    TransportParameters,
};

const PARAMETERS: TransportParameters =
    TransportParameters { nics: 2, channels: 2, scan: Micros(10), timeout: Micros(40), retries: 3 };

const REASONS: [(&str, NackReason); 6] = [
    ("absent", NackReason::NotResident),
    ("full", NackReason::QueueFull),
    ("busy", NackReason::NoResource),
    ("stateless", NackReason::NoChannelState),
    ("key", NackReason::BadKey),
    ("nowhere", NackReason::NoSuchEndpoint),
];

/// The cases of `tests/*.txt`: a title, parameters that differ (`with nics 300`), and a transcript.
/// T-1..T-8, T-10, T-12, T-13
#[test]
fn the_transcripts_are_reproduced() {
    let files = [
        include_str!("tests/answer.txt"),
        include_str!("tests/receive.txt"),
        include_str!("tests/send.txt"),
        include_str!("tests/time.txt"),
        include_str!("tests/unload.txt"),
    ];
    for case in files.iter().flat_map(|file| file.trim().split("\n\n").skip(1)) {
        let (mut parameters, mut first) = (PARAMETERS, ChannelIncarnation(7));
        let (mut script, mut transcript) = (String::new(), String::new());
        for line in case.lines().filter(|line| !line.starts_with('#')) {
            if let Some(nics) = line.strip_prefix("with nics ") {
                parameters.nics = number(nics);
            } else if let Some(number) = line.strip_prefix("with first ") {
                first = ChannelIncarnation(number.parse().unwrap());
            } else {
                if !line.starts_with(' ') {
                    script += line.split(" -> ").next().unwrap();
                    script.push('\n');
                }
                transcript += &format!("{line}\n");
            }
        }
        let found = check_with(parameters, first, &script);
        assert!(found == transcript, "{case}\nis not reproduced:\n{found}");
    }
}

fn check(script: &str) -> String {
    check_with(PARAMETERS, ChannelIncarnation(7), script)
}

fn check_with(parameters: TransportParameters, first: ChannelIncarnation, script: &str) -> String {
    let mut nic = Transport::new(Nic(0), parameters, first);
    let mut picture = String::new();
    let (mut queue, mut held) = (Vec::new(), false);
    for line in script.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let words: Vec<_> = line.split_whitespace().collect();
        let now = Micros(words[0].parse().unwrap());
        let mut effects = Vec::new();
        match words[1] {
            "hold" => held = true,
            "leave" => held = false,
            _ => {}
        }
        let note = act(&mut nic, now, &words[1..], &mut effects);
        writeln!(picture, "{line}{note}").unwrap();
        for effect in effects {
            if let TransportEffect::Send(packet @ ProtocolPacket::Data(..)) = effect {
                queue.push(packet);
            } else {
                writeln!(picture, "  {}", effect_text(&effect)).unwrap();
            }
        }
        for mut packet in queue.extract_if(.., |_| !held) {
            if nic.is_queued(&packet) {
                nic.on_leave(now, &mut packet);
                writeln!(picture, "  {}", effect_text(&TransportEffect::Send(packet))).unwrap();
            } else {
                writeln!(picture, "  not sent").unwrap();
            }
        }
        assert!(nic.is_consistent(), "{line}: tables and counts disagree");
    }
    picture
}

/// Runs a step, after which all queued packets leave.
fn step(
    nic: &mut Transport<char>,
    now: Micros,
    words: &[&str],
    effects: &mut Vec<TransportEffect<char>>,
) {
    let before = effects.len();
    act(nic, now, words, effects);
    for effect in &mut effects[before..] {
        if let TransportEffect::Send(packet) = effect {
            nic.on_leave(now, packet);
        }
    }
}

fn act(
    nic: &mut Transport<char>,
    now: Micros,
    words: &[&str],
    effects: &mut Vec<TransportEffect<char>>,
) -> String {
    match words[0] {
        "load" => nic.on_load(endpoint(words[1])),
        "unload" => nic.on_unload(endpoint(words[1]), effects),
        "tick" => nic.on_tick(now, effects),
        "hold" | "leave" => {}
        "due" => return nic.due().map_or(" -> never".into(), |due| format!(" -> {}", due.0)),
        "send" => {
            let letter =
                OutboundMessage { endpoint: endpoint(words[1]), message: message(words[2]) };
            let to = Nic(after(words, "to").map_or(1, number));
            if nic.on_send(now, to, letter, effects).is_err() {
                return " -> handed back".into();
            }
        }
        _ => {
            let mut offered = " -> not offered";
            let refusal = after(words, "but").map(reason);
            let packet = packet(words);
            let mut take = |_: &char| {
                offered = if refusal.is_some() { " -> refused" } else { " -> written" };
                refusal.map_or(Ok(()), Err)
            };
            let new = matches!(&packet, ProtocolPacket::Data(header, sync, _) if nic.is_new(header, *sync));
            nic.on_packet(&packet, &mut take, effects);
            assert_eq!(new, offered != " -> not offered", "what is new is what is offered");
            return if words[0] == "data" { offered.into() } else { String::new() };
        }
    }
    String::new()
}

fn packet(words: &[&str]) -> ProtocolPacket<char> {
    let header = TransportHeader {
        source: Nic(after(words, "from").map_or(1, number)),
        destination: Nic(after(words, "for").map_or(0, number)),
        channel: LogicalChannel(words[1].parse().unwrap()),
        seq: [SequenceBit::Zero, SequenceBit::One][usize::from(number(words[2]))],
        incarnation: ChannelIncarnation(number(words[3])),
        timestamp: TransportTimestamp(words[4][1..].parse().unwrap()),
    };
    match (words[0], words[5..].first()) {
        ("data", Some(&"sync")) => ProtocolPacket::Data(header, SyncFlag::Set, message(words[6])),
        ("data", Some(word)) => ProtocolPacket::Data(header, SyncFlag::Clear, message(word)),
        ("nack", Some(word)) => ProtocolPacket::Nack(header, reason(word)),
        _ => ProtocolPacket::Ack(header),
    }
}

fn after<'a>(words: &[&'a str], word: &str) -> Option<&'a str> {
    words.iter().position(|here| *here == word).map(|place| words[place + 1])
}

fn number(word: &str) -> u16 {
    word.parse().unwrap()
}

fn endpoint(word: &str) -> EndpointId {
    EndpointId(number(word))
}

fn message(word: &str) -> char {
    word.chars().next().unwrap()
}

fn reason(word: &str) -> NackReason {
    REASONS.iter().find(|(name, _)| *name == word).unwrap().1
}

fn name(reason: NackReason) -> &'static str {
    REASONS.iter().find(|(_, one)| *one == reason).unwrap().0
}

fn effect_text(effect: &TransportEffect<char>) -> String {
    match effect {
        TransportEffect::Send(ProtocolPacket::Data(header, sync, message)) => {
            let sync = if *sync == SyncFlag::Set { " sync" } else { "" };
            format!("data {}{sync} {message}", label(header))
        }
        TransportEffect::Send(ProtocolPacket::Ack(header)) => format!("ack {}", label(header)),
        TransportEffect::Send(ProtocolPacket::Nack(header, reason)) => {
            format!("nack {} {}", label(header), name(*reason))
        }
        TransportEffect::Acknowledged(letter) => format!("acknowledged {}", letter.message),
        TransportEffect::Returned(letter, ReturnReason::Unreachable) => {
            format!("returned {}, unreachable", letter.message)
        }
        TransportEffect::Returned(letter, ReturnReason::Refused(reason)) => {
            format!("returned {}, {}", letter.message, name(*reason))
        }
        TransportEffect::Unloaded(endpoint, with) => {
            format!("unloaded {} with {with:?}", endpoint.0)
        }
        TransportEffect::Noted(_, note) => format!("noted {note:?}"),
    }
}

fn label(header: &TransportHeader) -> String {
    let seq = u8::from(header.seq == SequenceBit::One);
    let (nic, channel) = (header.destination.0, header.channel.0);
    format!("{nic}.{channel} {seq} {} @{}", header.incarnation.0, header.timestamp.0)
}
