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

use analyzer::event::{ChannelEvent, LinkEvent, TimedEvent};
use analyzer::packet::{PacketEnd, ReceivedPacket};
use codec::capture::ChannelId;
use codec::packet::{CrcCheck, PacketTag};
use simulator::scenario::Scenario;

use self::truth::PortTruth;
use super::analyzed::AnalyzedCapture;
use super::run::RunOutcome;

/// Something on a channel, at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
struct AgreementLine {
    at: u64,
    what: AgreementFact,
}

/// What both witnesses tell.
#[derive(Clone, Debug, PartialEq, Eq)]
enum AgreementFact {
    Packet(AgreementPacket),
    Event(LinkEvent),
}

/// A packet, as both witnesses see it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct AgreementPacket {
    start: u64,
    end: u64,
    length: u64,
    route: Vec<u8>,
    tag: Option<PacketTag>,
    payload: u64,
    check: CrcCheck,
    ended_by: PacketEnd,
}

/// The lines of the channels of a capture: packets, events.
type AgreementLines = BTreeMap<ChannelId, [Vec<AgreementLine>; 2]>;

/// What is read is what happened.
///
/// # Panics
/// If not.
pub fn check(scenario: &Scenario, outcome: &RunOutcome, reading: &AnalyzedCapture) {
    let mut read = lines(&reading.rows);
    for tap in &scenario.taps {
        let Some(truth) = PortTruth::new(scenario, outcome, tap.port) else { continue };
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
fn agree(place: &str, mut read: Vec<AgreementLine>, mut expected: Vec<AgreementLine>) {
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
struct ComparisonLimit {
    /// Own lines before this place.
    own: u64,
    /// Lines of the sender before this one.
    sender: u64,
    /// Own lines that are not.
    left_out: ExcludedLines,
}

/// Lines of a channel that are not compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ExcludedLines {
    Nothing,
    ResetEnds,
    CaptureEnds,
}

impl ComparisonLimit {
    fn holds(&self, line: &AgreementLine) -> bool {
        let kind = match &line.what {
            AgreementFact::Event(LinkEvent::SenderStopped | LinkEvent::SenderResumed(_)) => {
                return line.at < self.sender;
            }
            AgreementFact::Event(LinkEvent::ResetEnded) => ExcludedLines::ResetEnds,
            AgreementFact::Packet(packet) if packet.ended_by == PacketEnd::CaptureEnd => {
                ExcludedLines::CaptureEnds
            }
            AgreementFact::Packet(_) | AgreementFact::Event(_) => return line.at < self.own,
        };
        line.at < self.own && self.left_out != kind
    }
}

/// What the analyzer reads, channel by channel.
fn lines(rows: &[TimedEvent]) -> AgreementLines {
    let mut lines = AgreementLines::new();
    for TimedEvent { channel, at, body: what, .. } in rows {
        let [packets, events] = lines.entry(*channel).or_default();
        let (lines, what) = match what {
            ChannelEvent::Packet(packet) => (packets, AgreementFact::Packet(seen(packet))),
            ChannelEvent::Link(event) => (events, AgreementFact::Event(*event)),
            ChannelEvent::Begins
            | ChannelEvent::Framed
            | ChannelEvent::Head(_)
            | ChannelEvent::Data(_)
            | ChannelEvent::Command(_) => continue,
            ChannelEvent::Omitted { rounds, every } => {
                let round = round(events, &(at.0.saturating_sub(*every)..at.0));
                events.extend((1..=*rounds).flat_map(|number| {
                    let later = move |line: &AgreementLine| line.at + number * every;
                    round
                        .clone()
                        .into_iter()
                        .map(move |line| AgreementLine { at: later(&line), ..line })
                }));
                continue;
            }
        };
        lines.push(AgreementLine { at: at.0, what });
    }
    lines
}

/// What a channel's own characters brought in a round of a repeat: every further round brings the same.
/// Nobody repeats packets.
fn round(events: &[AgreementLine], places: &Range<u64>) -> Vec<AgreementLine> {
    let own = |line: &&AgreementLine| {
        let sender = matches!(
            line.what,
            AgreementFact::Event(LinkEvent::SenderStopped | LinkEvent::SenderResumed(_))
        );
        places.contains(&line.at) && !sender
    };
    events.iter().filter(own).cloned().collect()
}

fn seen(packet: &ReceivedPacket) -> AgreementPacket {
    AgreementPacket {
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
