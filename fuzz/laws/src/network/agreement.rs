//! What the analyzer reads in a capture is what really happened: nothing is missing, nothing
//! invented.
//!
//! What is expected follows from the rows of truth at the tapped port `P` and nothing else, never
//! from characters. Of the channel that comes in: the frames that `P` received, and what else it
//! heard; of the channel that goes out: the frames that it sent, the symbols, its silence. The
//! sender of the channel that goes out is `P`'s own; that of the one that comes in is the far one,
//! which goes by what `P` commanded, what reset it and when `P` fell silent.
//!
//! Not compared, because the tap and the port do not see the same:
//! - From the moment that `P` first loses its power: what comes in, and what either sender does. The
//!   tap goes on listening; the port does not. What goes out is compared to the end, but for the
//!   ends of resets, which may wait for the power; or up to a power failure between FRES and GAP.
//! - At a host that is made to send forged characters
//!   ([`is_forged`](super::facts::is_forged)): what goes out, and what either sender does. It is
//!   not the output circuit that made them, so it knows nothing of them. The far end does, and is
//!   compared.

mod truth;

use std::collections::BTreeMap;
use std::ops::Range;

use analyzer::event::Event;
use analyzer::packet::{EndedBy, PacketSeen};
use analyzer::timeline::{self, Row};
use codec::capture::ChannelId;
use codec::packet::{Check, Tag};
use simulator::scenario::Scenario;

use self::truth::Truth;
use super::read::Reading;
use super::run::Outcome;

/// Something on a channel, at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Line {
    at: u64,
    what: Told,
}

/// What both witnesses tell.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Told {
    Packet(Packet),
    Event(Event),
}

/// A packet, as both witnesses see it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Packet {
    start: u64,
    end: u64,
    length: u64,
    route: Vec<u8>,
    tag: Option<Tag>,
    payload: u64,
    check: Check,
    ended_by: EndedBy,
}

/// The lines of the channels of a capture: packets, events.
type Lines = BTreeMap<ChannelId, [Vec<Line>; 2]>;

/// What is read is what happened.
///
/// # Panics
/// If not.
pub fn check(scenario: &Scenario, outcome: &Outcome, reading: &Reading) {
    let mut read = lines(&reading.rows);
    for tap in &scenario.taps {
        let Some(truth) = Truth::new(scenario, outcome, tap.port) else { continue };
        let [outgoing, incoming] = truth.expected();
        for (id, expected) in truth.channels(outcome).into_iter().zip([outgoing, incoming]) {
            let Some(id) = id else { continue };
            let lines = read.remove(&id).unwrap_or_default();
            let name = outcome.channels.get(id.0 as usize).map(|channel| &channel.name);
            for (lines, expected) in lines.into_iter().zip(expected) {
                let lines = lines.into_iter().filter(|line| expected.limit.holds(line));
                let tap = scenario.topology.port_name(tap.port);
                agree(&format!("tap {tap}, channel {name:?}"), lines.collect(), expected.lines);
            }
        }
    }
    assert!(read.is_empty(), "what is recorded was tapped");
}

/// Fails with what differs first.
fn agree(place: &str, mut read: Vec<Line>, mut expected: Vec<Line>) {
    // What stands at one place is in no order.
    for lines in [&mut read, &mut expected] {
        lines.sort_by_cached_key(|line| (line.at, format!("{:?}", line.what)));
    }
    let same = read.iter().zip(&expected).take_while(|(read, expected)| read == expected).count();
    let (read, expected) = (read.get(same), expected.get(same));
    assert_eq!((read, expected), (None, None), "what is read happened: {place}");
}

/// What of the lines of a channel is compared.
#[derive(Clone, Copy, Debug)]
struct Limit {
    /// Own lines before this place.
    own: u64,
    /// Lines of the sender before this one.
    sender: u64,
    /// Own lines that are not.
    left_out: LeftOut,
}

/// Lines of a channel that are not compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LeftOut {
    Nothing,
    ResetEnds,
    CaptureEnds,
}

impl Limit {
    fn holds(&self, line: &Line) -> bool {
        let kind = match &line.what {
            Told::Event(Event::SenderStopped | Event::SenderResumed(_)) => {
                return line.at < self.sender;
            }
            Told::Event(Event::ResetEnded) => LeftOut::ResetEnds,
            Told::Packet(packet) if packet.ended_by == EndedBy::CaptureEnd => LeftOut::CaptureEnds,
            Told::Packet(_) | Told::Event(_) => return line.at < self.own,
        };
        line.at < self.own && self.left_out != kind
    }
}

/// What the analyzer reads, channel by channel.
fn lines(rows: &[Row]) -> Lines {
    let mut lines = Lines::new();
    for Row { channel, at, what, .. } in rows {
        let [packets, events] = lines.entry(*channel).or_default();
        let (lines, what) = match what {
            timeline::What::Packet(packet) => (packets, Told::Packet(seen(packet))),
            timeline::What::Event(event) => (events, Told::Event(*event)),
            timeline::What::Detail(_) => continue,
            timeline::What::Omitted { rounds, every } => {
                let round = round(events, &(at.0.saturating_sub(*every)..at.0));
                events.extend((1..=*rounds).flat_map(|number| {
                    let later = move |line: &Line| line.at + number * every;
                    round.clone().into_iter().map(move |line| Line { at: later(&line), ..line })
                }));
                continue;
            }
        };
        lines.push(Line { at: at.0, what });
    }
    lines
}

/// What a channel's own characters brought in a round of a repeat: every further round brings the same.
/// Nobody repeats packets.
fn round(events: &[Line], places: &Range<u64>) -> Vec<Line> {
    let own = |line: &&Line| {
        let sender =
            matches!(line.what, Told::Event(Event::SenderStopped | Event::SenderResumed(_)));
        places.contains(&line.at) && !sender
    };
    events.iter().filter(own).cloned().collect()
}

fn seen(packet: &PacketSeen) -> Packet {
    Packet {
        start: packet.start.0,
        end: packet.end.0,
        length: packet.length,
        route: packet.route.bytes().to_vec(),
        tag: packet.tag,
        payload: packet.payload(),
        check: packet.check,
        ended_by: packet.ended_by,
    }
}
