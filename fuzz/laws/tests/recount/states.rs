//! The activity of a channel and the lamps of the port at its far end, character by character. F-1, F-7, R-2, L

use std::collections::{BTreeMap, BTreeSet};

use analyzer::ChannelEvent;
use analyzer::channel_name::TapEnd;
use analyzer::event::RepeatedEvents;
use analyzer::link::parameters::{ChannelParameters, LinkAssumptions, ParameterKey};
use analyzer::packet::FrameEnd;
use codec::Character;
use codec::capture::{ChannelId, StartSender, StartState};
use codec::framing::FramerMode;
use codec::time::{CharacterPeriod, OPEN_LINK};

use super::capture_rows::CaptureRows;
use super::links;

const STATES: [&str; 7] = ["unknown", "open", "reset", "stopped", "sending", "starved", "idle"];
const LAMPS: [&str; 4] = ["unknown", "red", "green", "yellow"];

/// What is true of a channel and of the opposite one.
type LinkFacts = BTreeSet<&'static str>;

/// Periods in each state, and with each light.
pub(super) fn periods(rows: &CaptureRows<'_>, id: ChannelId) -> [BTreeMap<&'static str, u64>; 2] {
    let (omitted, hidden): (Vec<_>, _) =
        (rows.own(id).filter_map(links::omitted).collect(), links::hidden(rows, id));
    let mut facts = at_start(rows, id);
    let mut events = rows.of_both(id).peekable();
    let [mut states, mut lamps] = [Vec::new(), Vec::new()];
    let mut next = None;
    // Bytes before this character may have left before a STOP that was not recorded took effect. F-1
    let (grace, mut proof) = (grace(rows, id), 0);
    for (at, character) in &rows.characters[&id] {
        while let Some((is_own, change, event)) = events.next_if(|(_, change, _)| change <= at) {
            let is_told = name(event) == "begins" && facts.contains("told");
            let is_unseen = !is_own && !is_told && ["begins", "hole"].contains(&name(event));
            proof = if is_unseen { change + grace } else { proof };
            let take = if is_own { own } else { opposite };
            take(&mut facts, event);
            let releases = if is_own { RepeatedEvents::Resets } else { RepeatedEvents::Commands };
            if event.leaves_out(releases) {
                facts.retain(|it| !["permission", "stopped"].contains(it));
                proof = u64::MAX;
            }
        }
        let is_byte = matches!(character, Character::Data(_)) && facts.contains("packet");
        facts.remove("byte");
        facts.extend(is_byte.then_some("byte"));
        if hidden.iter().any(|hidden| hidden.contains(at)) {
            facts.insert("opposite unknown");
            facts.retain(|it| !["stopped", "permission", "opposite packet"].contains(it));
        } else if is_byte && *at >= proof {
            facts.insert("permission");
        }
        let is_omitted = omitted.iter().any(|omitted| omitted.contains(at));
        // What is between two pauses divides them.
        if next.replace(at + 1).is_some_and(|next| next != *at) {
            states.push("hole");
        }
        states.push(if is_omitted { "unknown" } else { state(&facts) });
        lamps.push(if is_omitted { "unknown" } else { lamp(&facts) });
    }
    for pause in states.chunk_by_mut(|one, other| one == other) {
        // Longer than silence that opens a link: the source delays the packet.
        let is_long = pause.len() as u64 > OPEN_LINK.0;
        let state = if is_long { "starved" } else { "sending" };
        pause.iter_mut().filter(|it| **it == "pause").for_each(|it| *it = state);
    }
    let count = |all: &[&str], name| (name, all.iter().filter(|it| **it == name).count() as u64);
    [
        STATES.into_iter().map(|name| count(&states, name)).collect(),
        LAMPS.into_iter().map(|name| count(&lamps, name)).collect(),
    ]
}

/// Periods for which bytes may pass a tap behind STOP: until it is interpreted, has come through the cable where the tap
/// is behind it, and back, and a character of the opposite channel has begun. F-1
fn grace(rows: &CaptureRows<'_>, id: ChannelId) -> u64 {
    let channel = rows.channel(id);
    let parameters = ChannelParameters::of(channel, &LinkAssumptions::default());
    let [period, full] = [channel.period.fs(), CharacterPeriod::FULL_RATE.fs()];
    let of = |key| u64::from(parameters.of_key(key).value);
    let cable = 2 * (of(ParameterKey::Delay) * full).div_ceil(period) + 1;
    let is_behind = TapEnd::of(channel) != Some(TapEnd::Sender);
    let opposite = rows.peers.get(&id).map_or(0, |peer| rows.channel(*peer).period.fs());
    of(ParameterKey::Interpretation)
        + 1
        + if is_behind { cable } else { 0 }
        + opposite.div_ceil(period)
}

/// A slice tells what was before; a sender that nobody commands may send.
fn at_start(rows: &CaptureRows<'_>, id: ChannelId) -> LinkFacts {
    let mut facts = LinkFacts::from(["permission"]);
    let first = links::recorded(rows, id)[0];
    let Some(start) = StartState::of(rows.channel(id)).filter(|it| it.at.0 == first) else {
        return facts;
    };
    facts.extend((start.silent >= OPEN_LINK.0).then_some("open"));
    facts.extend(start.sender.map(|_| "told"));
    facts.extend(matches!(start.sender, Some(StartSender::Stopped(_))).then_some("stopped"));
    facts.extend(match start.packet {
        Some(FramerMode::Inside) => Some("cut packet"),
        Some(FramerMode::Reset) => Some("reset"),
        Some(FramerMode::Between) | None => None,
    });
    facts
}

/// Takes an event of the channel itself.
fn own(facts: &mut LinkFacts, event: &ChannelEvent) {
    let (new, old): (&[&str], &[&str]) = match name(event) {
        "framed" => (&["framed"], &["cut packet"]),
        "head" => (&["packet"], &[]),
        "end" => (&[], &["packet"]),
        "open-link" => (&["framed", "open"], &[]),
        "link-restored" => (&["framed"], &["open"]),
        "forward-reset" => (&["reset", "permission"], &["packet"]),
        "reset-ended" => (&[], &["reset"]),
        "hole" => (&[], &["framed", "open", "packet", "cut packet", "reset"]),
        "sender-stopped" => (&["stopped"], &[]),
        "sender-resumed" => (&["permission"], &["stopped"]),
        _ => (&[], &[]),
    };
    facts.retain(|fact| !old.contains(fact));
    facts.extend(new.iter().copied());
}

fn opposite(facts: &mut LinkFacts, event: &ChannelEvent) {
    let (new, old): (&[&str], &[&str]) = match name(event) {
        "begins" if facts.contains("told") => (&["opposite unknown"], &[]),
        "begins" => (&["opposite unknown"], &["permission"]),
        "framed" => (&[], &["opposite unknown"]),
        "command" | "open-link" => (&["permission"], &[]),
        "head" => (&["opposite packet"], &[]),
        "end" => (&[], &["opposite packet"]),
        "hole" => (&["opposite unknown"], &["opposite packet", "permission", "stopped"]),
        _ => (&[], &[]),
    };
    facts.retain(|fact| !old.contains(fact));
    facts.extend(new.iter().copied());
}

/// Of what is no link event, and of the end of a packet: the end of the recording ends none on the wire.
fn name(event: &ChannelEvent) -> &'static str {
    match event {
        ChannelEvent::Begins => "begins",
        ChannelEvent::Framed => "framed",
        ChannelEvent::Head(_) => "head",
        ChannelEvent::Command(_) => "command",
        ChannelEvent::Packet(packet) if packet.ended_by != FrameEnd::CaptureEnd => "end",
        ChannelEvent::Packet(_) | ChannelEvent::Data(_) | ChannelEvent::Omitted { .. } => "",
        ChannelEvent::Link(event) => event.name(),
    }
}

fn state(facts: &LinkFacts) -> &'static str {
    let has = |fact| facts.contains(fact);
    let first = ["open", "reset", "stopped"].into_iter().find(|it| has(*it));
    first.unwrap_or_else(|| match (has("framed"), has("packet"), has("permission")) {
        (false, ..) | (true, false, false) => "unknown",
        (true, true, _) if has("byte") => "sending",
        (true, true, true) => "pause",
        (true, true, false) => "unknown",
        (true, false, true) => "idle",
    })
}

fn lamp(facts: &LinkFacts) -> &'static str {
    let has = |fact| facts.contains(fact);
    let passes = ["packet", "cut packet", "opposite packet"].into_iter().any(has);
    match (passes, has("opposite unknown")) {
        _ if has("open") => "red",
        (true, _) => "yellow",
        (false, false) if has("framed") => "green",
        (false, _) => "unknown",
    }
}
