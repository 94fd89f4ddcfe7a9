//! Comparison of IP with the truth: the fields of each packet on each captured channel, and the sums of
//! each conversation. H-1
//!
//! Expectations follow from the packets that were sent and captured intact, never from the analysis.

#![expect(clippy::wildcard_enum_match_arm, reason = "most kinds of rows are not about IP")]

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, VecDeque};

use codec::capture::ChannelId;
use codec::ip::TAG;
use codec::packet::CrcCheck;

use super::channel_score::MatchCount;
use super::journeys::QUIET;
use super::truth::{TruthFrame, TruthIp, TruthLine, TruthWhat};
use crate::ip::{IpChecksum, IpRow};
use crate::ip_conversation::IpConversations;
use crate::journey::Journey;
use crate::packet::{FrameEnd, ReceivedPacket};

/// Maximum number of examples. *Chosen*: as many as a reader examines.
const ODD_MAX: usize = 16;

/// Maximum number of packets that wait for their counterpart. *Chosen*: more than a channel has in the longest lag.
const WAITING_MAX: usize = 1 << 14;

/// A packet of the truth that may still be captured.
#[derive(Clone, Debug)]
struct SentIp {
    label: TruthIp,
    tail: PacketTail,
    is_captured: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PacketTail {
    Whole,
    /// Truncated: what is left may have a good CRC. P-4
    Cut,
}

impl SentIp {
    /// True if a frame is the packet, and nothing else. P-4
    fn shows(&self, frame: &TruthFrame) -> bool {
        self.tail == PacketTail::Whole && self.label.length == frame.payload
    }
}

/// One side of a packet on a channel; `None` if it is not compared.
#[derive(Clone, Debug, PartialEq, Eq)]
enum WaitingLine {
    Truth(Option<String>),
    Analysis(String),
}

/// Sums of a conversation: packets, bytes, packets lost and packets sent again.
type IpSums = [u64; 4];

#[derive(Debug, Default)]
pub(super) struct IpScore {
    /// Packets by name.
    sent: BTreeMap<String, SentIp>,
    /// Those of them that have ended, with the times of their ends.
    over: VecDeque<(u64, String)>,
    /// By channel and first byte.
    waiting: BTreeMap<(ChannelId, u64), WaitingLine>,
    packets: MatchCount,
    sums: BTreeMap<String, IpSums>,
    found: IpConversations,
    odd: Vec<(&'static str, &'static str, String)>,
}

impl IpScore {
    pub(super) fn row(&mut self, row: &TruthLine) {
        let over = |(at, _): &mut (u64, String)| at.saturating_add(QUIET) < row.at;
        while let Some((_, name)) = self.over.pop_front_if(over) {
            self.sent.remove(&name);
        }
        let Some(name) = &row.packet else { return };
        match &row.what {
            TruthWhat::IpTransmitted(label) => {
                let label = label.clone();
                let sent = SentIp { label, tail: PacketTail::Whole, is_captured: false };
                self.sent.insert(name.clone(), sent);
            }
            TruthWhat::Truncated | TruthWhat::Overflow => {
                self.sent.get_mut(name).into_iter().for_each(|sent| sent.tail = PacketTail::Cut);
            }
            TruthWhat::Consumed { handling, .. } if handling == "delivered" => self.end(row, name),
            TruthWhat::Consumed { .. } | TruthWhat::Dropped { .. } | TruthWhat::Merged => {
                self.end(row, name);
                let sent = self.sent.get(name).filter(|sent| sent.is_captured);
                let sums = sent.and_then(|sent| self.sums.get_mut(&key(&sent.label)));
                sums.into_iter().for_each(|[.., lost, _]| *lost += 1);
            }
            _ => {}
        }
    }

    fn end(&mut self, row: &TruthLine, name: &str) {
        if self.sent.contains_key(name) {
            self.over.push_back((row.at, name.to_owned()));
        }
    }

    pub(super) fn frame(&mut self, id: ChannelId, row: &TruthLine, frame: &TruthFrame) {
        let good = frame.crc == CrcCheck::Good.name() && frame.ended_by == FrameEnd::Gap.name();
        if !good || frame.tag != Some(TAG) {
            return;
        }
        let sent = row.packet.as_ref().and_then(|name| self.sent.get_mut(name));
        // What is left of two packets may have a good CRC. P-4
        let sent = sent.filter(|sent| sent.shows(frame));
        if let Some(sent) = &mut sent.filter(|sent| !sent.is_captured) {
            sent.is_captured = true;
            let [packets, data, _, again] = self.sums.entry(key(&sent.label)).or_default();
            *packets += 1;
            *data += sent.label.data;
            *again += u64::from(sent.label.again == Some(true));
        }
        let sent = row.packet.as_ref().and_then(|name| self.sent.get(name));
        let sent = sent.filter(|sent| sent.shows(frame));
        let line = sent.map(|sent| text(&expected(&sent.label)));
        self.meet((id, frame.start), WaitingLine::Truth(line));
    }

    /// Processes a packet of the analysis.
    pub(super) fn packet(&mut self, id: ChannelId, packet: &ReceivedPacket) {
        let good = packet.check == CrcCheck::Good && packet.ended_by == FrameEnd::Gap;
        if good && packet.tag.is_some_and(|tag| tag.value() == TAG) {
            let found = packet.ip.as_ref().map_or_else(String::new, |ip| text(&ip.row()));
            self.meet((id, packet.start.0), WaitingLine::Analysis(found));
        }
    }

    fn meet(&mut self, place: (ChannelId, u64), line: WaitingLine) {
        let (truth, found) = match (self.waiting.entry(place), line) {
            (Entry::Vacant(vacant), line) => {
                vacant.insert(line);
                if self.waiting.len() > WAITING_MAX {
                    self.waiting.pop_first();
                }
                return;
            }
            (Entry::Occupied(other), line) => match (other.remove(), line) {
                (WaitingLine::Truth(truth), WaitingLine::Analysis(found))
                | (WaitingLine::Analysis(found), WaitingLine::Truth(truth)) => (truth, found),
                (WaitingLine::Truth(_), WaitingLine::Truth(_))
                | (WaitingLine::Analysis(_), WaitingLine::Analysis(_)) => return,
            },
        };
        let Some(truth) = truth else { return };
        self.packets.in_truth += 1;
        self.packets.found += 1;
        self.packets.right += u64::from(truth == found);
        if truth != found && self.odd.len() < ODD_MAX {
            self.odd.push(("missed", "ip", truth));
            self.odd.push(("invented", "ip", found));
        }
    }

    /// Adds the packet of a journey of the analysis, if a tap has seen it intact.
    pub(super) fn journey(&mut self, journey: &Journey) {
        if journey.ip.as_ref().is_some_and(|ip| ip.is_sound()) {
            self.found.add(0, journey);
        }
    }

    /// Ends the comparison: counts by kind, and the first differences.
    pub(super) fn finish(self) -> IpOutcome {
        let Self { packets, sums, found, mut odd, .. } = self;
        let mut talks = MatchCount { in_truth: sums.len() as u64, ..MatchCount::default() };
        let mut sums: BTreeMap<String, IpSums> = sums;
        for (_, row) in found.rows() {
            let own = [row.packets, row.data, row.lost, row.retransmissions];
            let ends = [(&row.source, row.source_port), (&row.destination, row.destination_port)];
            let key = key_of(row.protocol, ends);
            // Packets that are not of a stack have no row in the truth.
            let Some(truth) = sums.remove(&key) else { continue };
            talks.found += 1;
            talks.right += u64::from(truth == own);
            if truth != own {
                odd.push(("missed", "ip-conversation", format!("{key}: {truth:?}")));
                odd.push(("invented", "ip-conversation", format!("{key}: {own:?}")));
            }
        }
        let lost = sums.into_iter().map(|(key, own)| format!("{key}: {own:?}"));
        odd.extend(lost.map(|text| ("missed", "ip-conversation", text)));
        odd.truncate(2 * ODD_MAX);
        IpOutcome { counts: [("ip", packets), ("ip-conversation", talks)], odd }
    }
}

/// Result of the comparison.
pub(super) struct IpOutcome {
    pub(super) counts: [(&'static str, MatchCount); 2],
    /// Account, kind and description.
    pub(super) odd: Vec<(&'static str, &'static str, String)>,
}

/// Row that the analysis must have of a packet, whose checksums are right unless the truth tells otherwise.
fn expected(label: &TruthIp) -> IpRow {
    let TruthIp { protocol, source, destination, .. } = label.clone();
    let is_checked = label.offset.is_none() && protocol != "other";
    let checksum = match label.checksum.as_deref() {
        Some("bad") => IpChecksum::Bad,
        Some("absent") => IpChecksum::Absent,
        None if is_checked => IpChecksum::Good,
        Some(_) | None => IpChecksum::Unchecked,
    };
    IpRow {
        source: Some(source),
        destination: Some(destination),
        protocol: crate::ip::PROTOCOLS.iter().find(|it| **it == protocol).copied(),
        id: Some(label.id),
        offset: label.offset,
        source_port: label.source_port,
        destination_port: label.destination_port,
        sequence: label.sequence,
        acknowledgment: label.acknowledgment,
        flags: label.flags.clone(),
        data: Some(label.data),
        checksum: checksum.name(),
        ..IpRow::default()
    }
}

/// All fields but the window of TCP, which the truth does not tell.
fn text(row: &IpRow) -> String {
    format!("{} {:?} checksum {}", row.summary(), row.id, row.checksum)
}

fn key(label: &TruthIp) -> String {
    let ends = [(&label.source, label.source_port), (&label.destination, label.destination_port)];
    key_of(&label.protocol, ends)
}

fn key_of(
    protocol: &str,
    [(source, from), (destination, to)]: [(&String, Option<u16>); 2],
) -> String {
    format!("{protocol} {source} {from:?} > {destination} {to:?}")
}
