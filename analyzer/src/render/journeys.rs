//! Text of `myriscope journeys`: one line per packet, followed by its waits and corruption.

use std::ops::Range;

use codec::capture::{Channel, ChannelId};
use codec::packet::PacketTag;
use codec::time::CharacterPeriod;
use codec::transport::{TransportHeader, TransportPacket};

use super::{StyledLine, TextStyle, TimeUnit, count};
use crate::channel_name::ChannelEnds;
use crate::journey::{
    BitPlace, ChangedByte, CopyDamage, Corruption, CorruptionSite, FlipParity, Journey,
    JourneyFate, JourneyHop, LocatedHarm, MatchCertainty, RelayedFrom, WaitReason,
};
use crate::packet::transport::{ParsedTransport, kind_name};

type ChannelByIdFn<'a> = &'a dyn Fn(ChannelId) -> Option<&'a Channel>;

/// Width of the path column.
const WAY: usize = 40;
/// Columns of the path that a narrow table may leave out.
pub const WAY_SPARE: usize = 10;
/// Column of the path.
const WAY_AT: usize = 14;

/// Columns of the path that a table whose heading has `len` columns leaves out to fit a width.
pub fn journey_excess(len: usize, width: usize) -> Range<usize> {
    let excess = len.saturating_sub(width).min(WAY_SPARE);
    WAY_AT + WAY - excess..WAY_AT + WAY
}

/// Maximum number of possible positions of a flipped bit in a line.
const PLACES_SHOWN: usize = 4;

/// Heading above journeys; `network µs` is the network latency of `docs/output.md`.
pub fn journey_head(unit: TimeUnit) -> StyledLine {
    let [start, network, waited] =
        ["start", "network", "waited"].map(|name| format!("{name} {}", unit.name()));
    StyledLine::of(TextStyle::Head, format!("{start:>12}  {:<WAY$}  ", "way"))
        .and_ranked(2, TextStyle::Head, "tag  ")
        .and_ranked(1, TextStyle::Head, format!("{:>7}  ", "payload"))
        .and_ranked(4, TextStyle::Head, format!("{network:>10}  "))
        .and_ranked(3, TextStyle::Head, format!("{waited:>10}  "))
        .and(TextStyle::Head, format!("{:<7}", "fate"))
}

/// Lines of a journey: one, followed by those of its waits and corruption.
pub fn journey_lines(
    journey: &Journey,
    known: ChannelByIdFn<'_>,
    unit: TimeUnit,
    out: &mut impl FnMut(StyledLine),
) {
    let (Some(first), Some(last)) = (journey.hops.first(), journey.hops.last()) else { return };
    let tag =
        journey.tag.map_or_else(|| "-".to_owned(), |tag: PacketTag| format!("{:02x}", tag.value()));
    let blank = || "-".to_owned();
    let period = known(first.channel).map_or(CharacterPeriod::PICOSECOND, |channel| channel.period);
    let time = |picoseconds| unit.time(picoseconds, period);
    let waiting = |it| if it == 0 { "0".to_owned() } else { time(it) };
    let latency =
        if journey.hops.len() > 1 { time(last.time.saturating_sub(first.time)) } else { blank() };
    let waited = journey.hops.iter().filter_map(|hop| hop.waited).reduce(|sum, one| sum + one);
    let waited_role =
        if waited.is_some_and(|it| it > 0) { TextStyle::Notice } else { TextStyle::Dim };
    let (fate, role) = fate(journey.fate);
    let way = way(journey, known);
    let line = StyledLine::of(TextStyle::Dim, format!("{:>12}  ", time(first.time)))
        .and(TextStyle::Plain, format!("{way:<WAY$}  "))
        .and_ranked(2, TextStyle::Plain, format!("{tag:>3}  "))
        .and_ranked(1, TextStyle::Plain, format!("{:>7}  ", journey.payload))
        .and_ranked(4, TextStyle::Plain, format!("{latency:>10}  "))
        .and_ranked(3, waited_role, format!("{:>10}  ", waited.map_or_else(blank, waiting)))
        .and(role, fate);
    let line = match journey.certainty {
        MatchCertainty::Certain => line,
        MatchCertainty::ByOrder => line.and(TextStyle::Dim, ", by order"),
    };
    out(match &journey.transport {
        None => line,
        Some(seen) => line.and(TextStyle::Dim, format!("  {}", transport(seen))),
    });
    for hop in &journey.hops {
        if let Some(waited) = hop.waited.filter(|it| *it > 0) {
            let waited = format!("{} {}", time(waited), unit.name());
            waits(&waited, hop, (journey, known), out);
        }
    }
    if let Some(RelayedFrom { journey: from, after }) = journey.relayed {
        let text =
            format!("{:14}copy of journey {from}, {} {} later", "", time(after), unit.name());
        out(StyledLine::of(TextStyle::Dim, text));
    }
    for injury in &journey.injuries {
        injury_lines(injury, known, out);
    }
}

/// Short form of a packet of the reliability protocol: `short 3>4.1` goes from NIC 3 to 4 on
/// logical channel 1.
fn transport(seen: &ParsedTransport) -> String {
    let kind = kind_name(seen);
    match &seen.packet {
        Err(_) => format!("{kind} (T-7)"),
        Ok(packet) => {
            let TransportHeader { source, destination, channel, .. } = packet.header();
            let way = format!("{}>{}.{}", source.0, destination.0, channel.0);
            match packet {
                TransportPacket::Nack(_, reason) => format!("{kind} {way} {}", reason.name()),
                TransportPacket::Data(..) | TransportPacket::Ack(_) => format!("{kind} {way}"),
            }
        }
    }
}

fn fate(fate: JourneyFate) -> (String, TextStyle) {
    match fate {
        JourneyFate::Arrived => ("arrived".to_owned(), TextStyle::Good),
        JourneyFate::Misrouted => ("at a host with a route byte (I-2)".to_owned(), TextStyle::Bad),
        JourneyFate::OutOfSight => ("out of sight".to_owned(), TextStyle::Dim),
        JourneyFate::Dropped(rule) => {
            (format!("dropped ({})", rule.unwrap_or("cause unknown")), TextStyle::Bad)
        }
        JourneyFate::Merged => ("merged into the one before".to_owned(), TextStyle::Bad),
        JourneyFate::UnderWay => ("under way at the end".to_owned(), TextStyle::Notice),
    }
}

/// Nodes that a packet passed, with its input and output ports: `h0 > s0 3:1 > s1 7:2 > h1`.
fn way(journey: &Journey, known: ChannelByIdFn<'_>) -> String {
    let mut text = String::new();
    let mut before: Option<(&JourneyHop, Option<ChannelEnds>)> = None;
    for hop in &journey.hops {
        let way = known(hop.channel).and_then(ChannelEnds::of);
        match (&before, &way) {
            (None, Some(way)) => text += &way.from.node,
            (None, None) => text += name(hop.channel, known),
            (Some((before, Some(came))), way) if before.switches == 1 => {
                text += &format!(" > {} {}:", came.to.node, came.to.port.0);
                text += &way.as_ref().map_or("?".to_owned(), |way| way.from.port.0.to_string());
            }
            (Some((before, Some(came))), Some(way)) if before.switches == 0 => {
                text += &format!(" > {} ~ {}", came.to.node, way.from.node);
            }
            (Some((before, came)), way) => {
                if let Some(came) = came {
                    text += &format!(" > {}", came.to);
                }
                text += &format!(" ⋯{}⋯ ", before.switches);
                match way {
                    Some(way) => text += &way.from.to_string(),
                    None => text += name(hop.channel, known),
                }
            }
        }
        before = Some((hop, way));
    }
    if let Some((last, Some(way))) = before {
        text += &format!(" > {}", way.to.node);
        let asked = last.output.map(|port| port.0.to_string());
        text += &match journey.fate {
            JourneyFate::Arrived | JourneyFate::Misrouted => String::new(),
            JourneyFate::OutOfSight
            | JourneyFate::Dropped(_)
            | JourneyFate::Merged
            | JourneyFate::UnderWay => {
                format!(" {}:{}", way.to.port.0, asked.unwrap_or_else(|| "?".to_owned()))
            }
        };
    }
    text
}

/// Prints a wait in a switch and its reason.
fn waits(
    waited: &str,
    hop: &JourneyHop,
    (journey, known): (&Journey, ChannelByIdFn<'_>),
    out: &mut impl FnMut(StyledLine),
) {
    let Some(reason) = hop.waited_for else { return };
    let next = journey.hops.iter().skip_while(|other| other.channel != hop.channel).nth(1);
    let output = next.map_or("", |next| name(next.channel, known));
    let input = name(hop.channel, known);
    let reason = match reason {
        WaitReason::Output(packet) => format!("packet {packet} held {output}"),
        WaitReason::Input(packet) => format!("packet {packet} was before it on {input}"),
        WaitReason::Stop => format!("{output} was stopped"),
    };
    let node =
        known(hop.channel).and_then(ChannelEnds::of).map_or_else(String::new, |way| way.to.node);
    let line = StyledLine::of(TextStyle::Dim, format!("{:14}waited {waited} at {node}: ", ""));
    out(line.and(TextStyle::Dim, reason));
}

/// Prints the place and kind of a corruption; if one flipped bit explains it, also the position of
/// that bit.
fn injury_lines(
    injury: &CorruptionSite,
    known: ChannelByIdFn<'_>,
    out: &mut impl FnMut(StyledLine),
) {
    let seen = name(injury.seen, known);
    let place = match (injury.after, injury.switches) {
        (None, _) => format!("before {seen}"),
        (Some(after), 0 | 1) => format!("between {} and {seen}", name(after, known)),
        (Some(after), switches) => {
            let links = count(switches - 1, "link");
            format!("between {} and {seen}, or on {links} not captured", name(after, known))
        }
    };
    let what = match injury.harm {
        Corruption::Flipped(flips) => flipped(injury, flips),
        Corruption::Cut(missing, by) => {
            let missing = missing.map_or_else(
                || "cut".to_owned(),
                |missing| format!("{} lost", count(missing, "byte")),
            );
            format!("{missing}, ended by {}", by.name())
        }
        Corruption::Grown(_) if let Some(LocatedHarm::Inserted(at, value)) = injury.located => {
            format!("byte {at}, {value:02x}, was inserted: the CRC is good without it")
        }
        Corruption::Grown(more) => format!("{} more than before", count(more, "byte")),
    };
    out(StyledLine::of(TextStyle::Bad, format!("{:14}hurt {place}: {what}", "")));
    if let Some(damage) = &injury.damage {
        changed_bytes(damage, out);
    } else if let (Corruption::Flipped(_), Some(bit)) = (injury.harm, injury.bit) {
        let text = format!("{:19}if one bit, {}", "", one_bit(injury, bit.into()));
        out(StyledLine::of(TextStyle::Notice, text));
    }
    if let Some(text) = two_bits(injury) {
        out(StyledLine::of(TextStyle::Notice, format!("{:19}{text}", "")));
    }
}

fn changed_bytes(damage: &CopyDamage, out: &mut impl FnMut(StyledLine)) {
    let mut row = |name: &str, cell: &dyn Fn(&ChangedByte) -> String| {
        let cells = damage.changed.iter().map(|it| format!(" {:>5}", cell(it)));
        let text = format!("{:19}{name:<6}{}", "", cells.collect::<String>());
        out(StyledLine::of(TextStyle::Notice, text));
    };
    row("byte", &|it| it.byte.to_string());
    row("before", &|it| format!("{:02x}", it.before));
    row("after", &|it| format!("{:02x}", it.after));
}

/// Flipped bits in words: by wire, or by what the syndrome says of them.
fn flipped(injury: &CorruptionSite, flips: FlipParity) -> String {
    if let Some(damage) = &injury.damage {
        let (tally, wires) = (&damage.tally, damage.tally.wires());
        let none = tally.single().map_or("no single wire: ", |_| "");
        let wires = wires.map(|(wire, cleared, set)| match (cleared, set) {
            (cleared, 0) => format!("wire {wire}: {} became 0", count(cleared, "one")),
            (0, set) => format!("wire {wire}: {} became 1", count(set, "zero")),
            (cleared, set) => format!("wire {wire}: {cleared} × 1 → 0, {set} × 0 → 1"),
        });
        let wires: Vec<String> = wires.collect();
        return format!("syndrome ^{:02x}, {none}{}", injury.syndrome, wires.join("; "));
    }
    let count = match (flips, injury.bit) {
        (FlipParity::Odd, Some(_)) => "an odd number of bits flipped",
        (FlipParity::Odd, None) => "an odd number of bits flipped, three at least",
        (FlipParity::Even, _) => "an even number of bits flipped",
    };
    format!("syndrome ^{:02x}, {count}", injury.syndrome)
}

/// Two flipped bits, if they are on one wire. W-8
fn two_bits(injury: &CorruptionSite) -> Option<String> {
    match injury.located? {
        LocatedHarm::Pair([BitPlace { byte, bit }, second]) => {
            Some(format!("byte.bit {byte}.{bit} and {}.{bit}: one wire (W-8)", second.byte))
        }
        LocatedHarm::Apart(apart) => {
            let (near, far) = (count(u64::from(apart), "byte"), 127 - apart);
            Some(format!("if two bits on one wire, {near} apart, or {far}, modulo 127"))
        }
        LocatedHarm::Inserted(..) => None,
    }
}

/// Possible positions of the flipped bit: x has order 127 modulo the generator. P-4
fn one_bit(injury: &CorruptionSite, bit: u64) -> String {
    let mut places = injury.places();
    let mut shown: Vec<String> = places
        .by_ref()
        .take(PLACES_SHOWN)
        .map(|place| format!("{}.{}", place.byte, place.bit))
        .collect();
    match places.count() {
        0 => {}
        more => shown.push(format!("or {more} places more")),
    }
    if shown.is_empty() {
        return format!("it is the one with {bit} behind it, modulo 127");
    }
    format!("it is the one with {bit} behind it, modulo 127: byte.bit {}", shown.join(", "))
}

fn name<'a>(id: ChannelId, known: &dyn Fn(ChannelId) -> Option<&'a Channel>) -> &'a str {
    known(id).map_or("?", |channel| channel.name.as_str())
}
