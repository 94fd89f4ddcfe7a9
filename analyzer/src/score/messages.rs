//! Comparison of conversations with the truth: each transport packet that a tap captured intact,
//! its kind, and the messages that were refused finally. T-5, T-6, T-10
//!
//! Expectations follow from the packets that were sent and captured, never from the analysis.

#![expect(clippy::wildcard_enum_match_arm, reason = "most kinds of rows are not about messages")]

mod causes;
mod label;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use codec::packet::CrcCheck;
use codec::transport::{NackReason, TAG};

use self::causes::{CauseScore, TransportFrameEnd, TransportFrameKind as Of};
use self::label::ScoredLabel;
use super::channel_score::MatchCount;
use super::journeys::QUIET;
use super::truth::{TruthFrame, TruthLabel, TruthLine, TruthWhat};
use crate::conversation::{Abandonment, Observation, ObservationKind, ResendCause};
use crate::named_enum::named_enum;
use crate::packet::FrameEnd;

/// Maximum number of examples. *Chosen*: as many as a reader examines.
const ODD_MAX: usize = 16;

/// Maximum number of optional lines kept. *Chosen*: a corrupted packet is retransmitted within
/// milliseconds.
const HURT_MAX: usize = 1 << 16;

named_enum! {
    /// Kind of a compared line, named as in `docs/output.md`.
    pub(super) enum MessageLineKind {
        Data = "data",
        /// A data packet of a message that was captured before. T-10
        Retransmission = "retransmission",
        /// Cause of a retransmission. T-10
        Cause = "cause",
        /// An ACK. T-5
        Ack = "ack",
        /// A NACK. T-6
        Nack = "nack",
        /// A data packet that is discarded as already written. T-5
        Duplicate = "duplicate",
        /// A message with a final NACK. T-6
        Refused = "refused",
        /// A message that ended without an ACK or final NACK, as the next one on its logical channel
        /// shows: it was returned, or removed with its endpoint. T-11, T-13
        Gone = "gone",
    }
}

/// A fact about a packet, comparable for equality between truth and analysis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct MessageLine {
    label: TruthLabel,
    kind: MessageLineKind,
    /// The reason of a NACK.
    reason: Option<&'static str>,
}

/// A transport packet that no tap has captured intact so far.
#[derive(Clone, Debug)]
struct ScoredSending {
    line: MessageLine,
    /// Name of the message; data only.
    message: Option<String>,
    /// Truncated: the rest does not parse, or parses as another packet, even if its CRC is good.
    /// P-4
    is_cut: bool,
}

/// The latest captured message of a logical channel.
#[derive(Clone, Debug, PartialEq, Eq)]
struct LatestTransmission {
    message: String,
    label: TruthLabel,
    end: ScoredEnding,
    /// Number of times it was written: more than once if its receiver restarted, which a capture
    /// does not show.
    written: u8,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ScoredEnding {
    #[default]
    Not,
    /// An ACK was sent, but may not have arrived in time.
    Answered,
    /// Acknowledged or finally refused.
    Over,
}

#[derive(Clone, Debug, Default)]
pub(super) struct MessageScore {
    /// Transport packets that were not captured intact, by name.
    sent: BTreeMap<String, ScoredSending>,
    /// Names of the packets of `sent` that have ended, with the times of their ends.
    over: VecDeque<(u64, String)>,
    latest: BTreeMap<ScoredLabel, LatestTransmission>,
    /// Latest message of each logical channel with corrupted captures only.
    spoilt: BTreeMap<ScoredLabel, LatestTransmission>,
    /// Optional lines: the analysis may contain them or not.
    either: BTreeSet<MessageLine>,
    /// Unmatched lines: the surplus in the truth, or, if negative, in the analysis.
    open: BTreeMap<MessageLine, i64>,
    counts: BTreeMap<MessageLineKind, MatchCount>,
    causes: CauseScore,
    /// Ports of hosts that have sent transport packets.
    hosts: BTreeSet<String>,
    wrong: Vec<(TruthLabel, String)>,
}

impl MessageLine {
    const fn new(kind: MessageLineKind, label: TruthLabel) -> Self {
        Self { label, kind, reason: None }
    }

    /// The line of a gone message; the timestamp is 0, as the last transmission may be corrupted.
    const fn gone(label: TruthLabel) -> Self {
        Self::new(MessageLineKind::Gone, TruthLabel { timestamp: 0, ..label })
    }
}

impl MessageScore {
    /// Processes a row of the truth about a message or a packet.
    pub(super) fn row(&mut self, row: &TruthLine) {
        let over = |(at, _): &mut (u64, String)| at.saturating_add(QUIET) < row.at;
        if let Some((_, name)) = self.over.pop_front_if(over) {
            self.sent.remove(&name);
        }
        let sent = (row.packet.as_deref().unwrap_or_default(), row.at);
        let (line, message) = match &row.what {
            TruthWhat::MessageTransmitted { message, label } => {
                self.causes.data(sent, message, *label);
                (MessageLine::new(MessageLineKind::Data, *label), Some(message.clone()))
            }
            TruthWhat::AckTransmitted(label) => {
                self.causes.answer(sent, Of::Ack, label.answered());
                self.acknowledges(label.answered());
                (MessageLine::new(MessageLineKind::Ack, label.answered()), None)
            }
            TruthWhat::NackTransmitted { label, reason } => {
                self.causes.answer(sent, Of::Nack, label.answered());
                let reason = self.refused(label.answered(), reason);
                let line = MessageLine::new(MessageLineKind::Nack, label.answered());
                (MessageLine { reason, ..line }, None)
            }
            TruthWhat::TransportDuplicate(label) => {
                let seen = self.latest.get(&label.key());
                if seen.is_some_and(|latest| latest.label.incarnation == label.incarnation) {
                    self.expect(MessageLine::new(MessageLineKind::Duplicate, *label));
                }
                return;
            }
            TruthWhat::MessageReturned { message, why } if why == "refused" => {
                let latest = self.latest.values().find(|latest| latest.message == *message);
                if let Some(label) = latest.map(|latest| latest.label) {
                    self.expect(MessageLine::new(MessageLineKind::Refused, label));
                }
                return self.ends(ScoredEnding::Over, |it| it.message == *message);
            }
            TruthWhat::MessageWritten { message } => {
                let latest = self.latest.values_mut().find(|latest| latest.message == *message);
                if let Some(latest) = latest {
                    latest.written = latest.written.saturating_add(1);
                }
                return;
            }
            TruthWhat::MessageAcknowledged { message } => {
                return self.ends(ScoredEnding::Over, |it| it.message == *message);
            }
            TruthWhat::Truncated => {
                let sent = row.packet.as_ref().and_then(|name| self.sent.get_mut(name));
                sent.into_iter().for_each(|sent| sent.is_cut = true);
                return;
            }
            // A lost packet may still be on the wire: the row of its frame follows when the frame
            // ends.
            TruthWhat::Consumed { .. } | TruthWhat::Dropped { .. } => return self.ended(row),
            _ => return,
        };
        if !self.hosts.contains(&row.place) {
            self.hosts.insert(row.place.clone());
        }
        if let Some(name) = &row.packet {
            self.sent.insert(name.clone(), ScoredSending { line, message, is_cut: false });
        }
    }

    /// Processes the end of a packet.
    fn ended(&mut self, row: &TruthLine) {
        let name = row.packet.as_deref().unwrap_or_default();
        let known = row.packet.as_ref().filter(|name| self.sent.contains_key(*name));
        self.over.extend(known.map(|name| (row.at, name.clone())));
        let good = matches!(&row.what, TruthWhat::Consumed { crc: Some(crc), .. }
            if crc == CrcCheck::Good.name());
        let inside =
            matches!(row.what, TruthWhat::Dropped { .. }) && self.hosts.contains(&row.place);
        let end = match (good, inside) {
            (true, _) => TransportFrameEnd::Arrived(row.at),
            (false, true) => TransportFrameEnd::Inside,
            (false, false) => TransportFrameEnd::Lost,
        };
        if let Some(label) = self.causes.ended(name, end).filter(|_| good) {
            // Optional until the receiving NIC has answered.
            self.may_be(MessageLine::new(MessageLineKind::Duplicate, label));
        }
    }

    /// Processes a sent ACK.
    fn acknowledges(&mut self, label: TruthLabel) {
        self.ends(ScoredEnding::Answered, |it| it.label.is_use(label));
        let latest = self.latest.get(&label.key());
        if latest.is_none_or(|latest| latest.written < 2) {
            self.either.remove(&MessageLine::new(MessageLineKind::Duplicate, label));
        }
    }

    /// Processes a sent NACK. Returns the name of its reason.
    fn refused(&mut self, label: TruthLabel, reason: &str) -> Option<&'static str> {
        self.either.remove(&MessageLine::new(MessageLineKind::Duplicate, label));
        let reason = NackReason::ALL.into_iter().find(|it| it.name() == reason);
        if reason.is_some_and(NackReason::is_final) {
            // The sender may restart before it returns the message: then only the NACK is captured.
            self.may_be(MessageLine::new(MessageLineKind::Refused, label));
            self.ends(ScoredEnding::Answered, |it| it.label.is_use(label));
        }
        reason.map(NackReason::name)
    }

    /// Processes a frame of the truth on a captured channel.
    pub(super) fn frame(&mut self, row: &TruthLine, frame: &TruthFrame) {
        let Some(name) = &row.packet else { return };
        let Some(ScoredSending { line, message, is_cut }) = self.sent.get(name).cloned() else {
            return;
        };
        let (end, written) = (ScoredEnding::Not, 0);
        let latest =
            message.map(|message| LatestTransmission { message, label: line.label, end, written });
        let good = frame.crc == CrcCheck::Good.name() && frame.ended_by == FrameEnd::Gap.name();
        if !good || is_cut || frame.tag != Some(TAG) {
            self.spoilt.extend(latest.map(|latest| (line.label.key(), latest)));
            self.may_be(line);
            return self.may_be(MessageLine::new(MessageLineKind::Retransmission, line.label));
        }
        self.causes.seen(name);
        self.sent.remove(name);
        self.either.remove(&line);
        // An answer has the label of its data, so it must not remove that line.
        if line.kind == MessageLineKind::Data {
            self.either.remove(&MessageLine::new(MessageLineKind::Retransmission, line.label));
        }
        self.expect(line);
        latest.into_iter().for_each(|latest| self.seen(latest));
    }

    /// Updates the end of the latest messages that `is_it` selects.
    fn ends(&mut self, end: ScoredEnding, is_it: impl Fn(&LatestTransmission) -> bool) {
        let of_it = self.latest.values_mut().filter(|latest| is_it(latest));
        of_it.filter(|latest| latest.end != ScoredEnding::Over).for_each(|latest| latest.end = end);
    }

    /// Processes a data packet that was captured intact.
    fn seen(&mut self, mut now: LatestTransmission) {
        let (label, key) = (now.label, now.label.key());
        let again = MessageLine::new(MessageLineKind::Retransmission, label);
        let same = |before: &LatestTransmission| {
            before.message == now.message && before.label.incarnation == label.incarnation
        };
        let before = self.latest.get(&key);
        if let Some(before) = before.filter(|before| before.message == now.message) {
            now.written = before.written;
        }
        let before = before.map(|latest| (latest.message == now.message, latest.label, latest.end));
        match before {
            Some((true, _, end)) => now.end = end,
            Some((false, label, end)) if label.incarnation != now.label.incarnation => match end {
                ScoredEnding::Not => self.expect(MessageLine::gone(label)),
                ScoredEnding::Answered => self.may_be(MessageLine::gone(label)),
                ScoredEnding::Over => {}
            },
            Some((false, ..)) | None => {}
        }
        if self.latest.get(&key).is_some_and(same) {
            self.expect(again);
        } else if self.spoilt.get(&key).is_some_and(same) {
            self.may_be(again);
        }
        self.latest.insert(key, now);
    }

    fn may_be(&mut self, line: MessageLine) {
        self.either.insert(line);
        if self.either.len() > HURT_MAX {
            self.either.pop_first();
        }
    }

    /// Adds an observation of the analysis.
    pub(super) fn found(&mut self, observation: &Observation) {
        let label = TruthLabel::of(observation);
        let (gone, data) =
            (MessageLine::gone(label), MessageLine::new(MessageLineKind::Data, label));
        let line = match observation.observed {
            ObservationKind::Data(_) => data,
            ObservationKind::Resent(_, cause) => {
                self.find(data);
                self.cause(label, cause);
                MessageLine::new(MessageLineKind::Retransmission, label)
            }
            ObservationKind::Ack(_) => MessageLine::new(MessageLineKind::Ack, label),
            ObservationKind::Nack(reason) => MessageLine {
                reason: Some(reason.name()),
                ..MessageLine::new(MessageLineKind::Nack, label)
            },
            ObservationKind::Duplicate => MessageLine::new(MessageLineKind::Duplicate, label),
            ObservationKind::Gone(Abandonment::Refused) => {
                MessageLine::new(MessageLineKind::Refused, label)
            }
            ObservationKind::Gone(Abandonment::Unanswered | Abandonment::Withdrawn) => gone,
            // If the next message has the same bytes, a returned message cannot be distinguished
            // from one that was retransmitted in a new incarnation.
            ObservationKind::Gone(Abandonment::Reopened) if self.open.contains_key(&gone) => gone,
            // Answers are also reported as stale.
            ObservationKind::Stale if self.open.contains_key(&data) => data,
            ObservationKind::Stale | ObservationKind::Late => return,
            ObservationKind::Gone(_) | ObservationKind::Storm(_) | ObservationKind::Broken(_) => {
                return;
            }
        };
        self.find(line);
    }

    /// Compares the cause of a retransmission.
    fn cause(&mut self, label: TruthLabel, cause: ResendCause) {
        // On uncaptured links the cause is unknown.
        let known = self.causes.of_resent(label).filter(|_| cause != ResendCause::Unknown);
        let Some(causes) = known else { return };
        let count = self.counts.entry(MessageLineKind::Cause).or_default();
        count.in_truth += 1;
        count.found += 1;
        if causes.contains(&cause) {
            count.right += 1;
        } else if self.wrong.len() < ODD_MAX {
            let names: Vec<&str> = causes.iter().map(|cause| cause.name()).collect();
            self.wrong.push((label, format!("{}, found: {}", names.join(" or "), cause.name())));
        }
    }

    fn expect(&mut self, line: MessageLine) {
        self.counts.entry(line.kind).or_default().in_truth += 1;
        self.add(line, 1);
    }

    fn find(&mut self, line: MessageLine) {
        let expected = self.open.get(&line).is_some_and(|more| *more > 0);
        if expected || !self.either.contains(&line) {
            self.counts.entry(line.kind).or_default().found += 1;
            self.add(line, -1);
        }
    }

    /// Adds a line of the truth (`step` 1) or of the analysis (`step` −1).
    fn add(&mut self, line: MessageLine, step: i64) {
        let open = self.open.remove(&line).unwrap_or(0);
        if open.signum() == -step {
            self.counts.entry(line.kind).or_default().right += 1;
        }
        if open != -step {
            self.open.insert(line, open + step);
        }
    }

    pub(super) fn counts(&self) -> [(&'static str, MatchCount); 8] {
        MessageLineKind::ALL
            .map(|kind| (kind.name(), self.counts.get(&kind).copied().unwrap_or_default()))
    }

    /// The first differences: account, kind and description.
    pub(super) fn odd(&self) -> impl Iterator<Item = (&'static str, &'static str, String)> {
        let open = self.open.iter().take(ODD_MAX).map(|(line, more)| {
            let account = if *more > 0 { "missed" } else { "invented" };
            let reason = line.reason.map_or_else(String::new, |reason| format!(", {reason}"));
            (account, line.kind.name(), format!("{}{reason}", line.label))
        });
        let wrong = |(label, what): &(TruthLabel, String)| {
            ("missed", MessageLineKind::Cause.name(), format!("{label}: {what}"))
        };
        open.chain(self.wrong.iter().map(wrong))
    }
}

#[cfg(test)]
mod tests {
    use super::super::truth::TruthReader;
    use super::*;

    /// Number of data packets expected from a transmission, a row `between`, and a frame with a
    /// good CRC.
    fn data_expected(between: &str) -> u64 {
        let sent = r#"{"at":1,"place":"h0:0","packet":"h0#0","event":"message-transmitted",
            "message":"h0.0#0","source":0,"destination":1,"channel":0,"seq":0,"timestamp":9,
            "incarnation":3,"sync":true,"again":false}"#;
        let frame = r#"{"at":40,"place":"s0:1","packet":"h0#0","event":"sent","start":20,"end":39,
            "length":20,"route":[],"tag":1,"payload":18,"crc":"good","syndrome":0,"ended_by":"gap"}"#;
        let text = [sent, between, frame].map(|row| row.replace('\n', " ")).join("\n");
        let mut lines = TruthReader::new(text.as_bytes());
        let mut messages = MessageScore::default();
        while let Some(row) = lines.next().unwrap() {
            messages.row(&row);
            if let TruthWhat::Sent(frame) = &row.what {
                messages.frame(&row, frame);
            }
        }
        messages.counts.get(&MessageLineKind::Data).map_or(0, |count| count.in_truth)
    }

    /// A blocked sender truncates a packet with a GAP, and the last byte may be a valid CRC by
    /// chance: the rest is still not a transport packet. R-4, P-4
    #[test]
    fn of_a_packet_that_was_cut_nothing_is_expected_whatever_its_crc() {
        let cut = r#"{"at":30,"place":"s0:1","packet":"h0#0","event":"truncated","rule":"R-4"}"#;
        assert_eq!([data_expected(""), data_expected(cut)], [1, 0]);
    }
}
