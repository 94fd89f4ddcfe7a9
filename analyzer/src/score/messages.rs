//! Conversations against the truth: each packet of the protocol that taps show whole, what it is, and
//! which messages were refused for good. T-5, T-6, T-10
//!
//! What is expected follows from the packets that were sent and seen, never from what was found.

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
use crate::packet::PacketEnd;

/// Examples that are kept. *Chosen*: as many as one looks at.
const ODD_MAX: usize = 16;

/// Packets that were hurt which are kept. *Chosen*: what is hurt is sent again in milliseconds.
const HURT_MAX: usize = 1 << 16;

/// Kind of a compared line, in the words of `docs/output.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum MessageLineKind {
    /// A data packet.
    Data,
    /// One that sends again what was seen before. T-10
    Retransmission,
    /// Reason why it does. T-10
    Cause,
    /// An ACK. T-5
    Ack,
    /// A NACK. T-6
    Nack,
    /// A data packet that is not written, for it had been before. T-5
    Duplicate,
    /// A message that is refused for good. T-6
    Refused,
    /// One that ended on its logical channel without an ACK otherwise, as the next shows: it went back, or
    /// went with its endpoint. T-11, T-13
    Gone,
}

/// Something about a packet: equal in both accounts, or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct MessageLine {
    label: TruthLabel,
    kind: MessageLineKind,
    /// The reason of a NACK.
    reason: Option<&'static str>,
}

/// A packet of the protocol on its way, which no tap has seen whole.
#[derive(Clone, Debug)]
struct ScoredSending {
    line: MessageLine,
    /// Data only: the message.
    message: Option<String>,
    tail: FrameTail,
}

/// State of a packet's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FrameTail {
    Whole,
    /// The rest does not parse, or as another packet, whatever its CRC happens to be. P-4
    Cut,
}

/// The latest message of a logical channel, as far as taps showed it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct LatestTransmission {
    message: String,
    label: TruthLabel,
    end: ScoredEnding,
    /// Number of writes: more than one if its receiver was restarted, which no wire shows.
    written: u8,
}

/// Known end of a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ScoredEnding {
    /// Nothing.
    #[default]
    Not,
    /// An ACK was sent, which need not have come to its sender in time.
    Answered,
    /// It was acknowledged, or refused for good.
    Over,
}

/// Comparison of conversations.
#[derive(Clone, Debug, Default)]
pub(super) struct MessageScore {
    /// By their names.
    sent: BTreeMap<String, ScoredSending>,
    /// Those of them that have reached their end, and when.
    over: VecDeque<(u64, String)>,
    latest: BTreeMap<ScoredLabel, LatestTransmission>,
    /// The same of what was hurt wherever it was seen.
    spoilt: BTreeMap<ScoredLabel, LatestTransmission>,
    /// Lines that may be missing because of corruption before them.
    either: BTreeSet<MessageLine>,
    /// Lines without a counterpart so far: so many more in the truth, or, below 0, found.
    open: BTreeMap<MessageLine, i64>,
    counts: BTreeMap<MessageLineKind, MatchCount>,
    causes: CauseScore,
    /// Ports of hosts that have sent any.
    hosts: BTreeSet<String>,
    /// The first wrong causes.
    wrong: Vec<(TruthLabel, String)>,
}

impl MessageLineKind {
    /// Every kind, in the order in which they are shown.
    pub(super) const ALL: [Self; 8] = [
        Self::Data,
        Self::Retransmission,
        Self::Cause,
        Self::Ack,
        Self::Nack,
        Self::Duplicate,
        Self::Refused,
        Self::Gone,
    ];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Data => "data",
            Self::Retransmission => "retransmission",
            Self::Cause => "cause",
            Self::Ack => "ack",
            Self::Nack => "nack",
            Self::Duplicate => "duplicate",
            Self::Refused => "refused",
            Self::Gone => "gone",
        }
    }
}

impl MessageLine {
    const fn new(kind: MessageLineKind, label: TruthLabel) -> Self {
        Self { label, kind, reason: None }
    }

    /// A message is gone: whichever of its transmissions was the last, of which some may be hurt.
    const fn gone(label: TruthLabel) -> Self {
        Self::new(MessageLineKind::Gone, TruthLabel { timestamp: 0, ..label })
    }
}

impl MessageScore {
    /// Something happened to a message or a packet.
    pub(super) fn row(&mut self, row: &TruthLine) {
        let over = |(at, _): &mut (u64, String)| at.saturating_add(QUIET) < row.at;
        if let Some((_, name)) = self.over.pop_front_if(over) {
            self.sent.remove(&name);
        }
        let sent = (row.packet.as_deref().unwrap_or_default(), row.at);
        if row.what.is_transmission() && !self.hosts.contains(&row.place) {
            self.hosts.insert(row.place.clone());
        }
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
                sent.into_iter().for_each(|sent| sent.tail = FrameTail::Cut);
                return;
            }
            // What was lost may still be on the wire: its frame is told when that has ended.
            TruthWhat::Consumed { .. } | TruthWhat::Dropped { .. } => return self.ended(row),
            _ => return,
        };
        if let Some(name) = &row.packet {
            self.sent.insert(name.clone(), ScoredSending { line, message, tail: FrameTail::Whole });
        }
    }

    /// A packet has reached its end.
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
            // Until its NIC has looked at it.
            self.may_be(MessageLine::new(MessageLineKind::Duplicate, label));
        }
    }

    /// An ACK is sent.
    fn acknowledges(&mut self, label: TruthLabel) {
        self.ends(ScoredEnding::Answered, |it| it.label.is_use(label));
        let latest = self.latest.get(&label.key());
        if latest.is_none_or(|latest| latest.written < 2) {
            self.either.remove(&MessageLine::new(MessageLineKind::Duplicate, label));
        }
    }

    /// A NACK is sent; the name of its reason.
    fn refused(&mut self, label: TruthLabel, reason: &str) -> Option<&'static str> {
        self.either.remove(&MessageLine::new(MessageLineKind::Duplicate, label));
        let reason = NackReason::ALL.into_iter().find(|it| it.name() == reason);
        if reason.is_some_and(NackReason::is_final) {
            // Its sender may be started anew before it returns it: the NACK is all that is seen.
            self.may_be(MessageLine::new(MessageLineKind::Refused, label));
            self.ends(ScoredEnding::Answered, |it| it.label.is_use(label));
        }
        reason.map(NackReason::name)
    }

    /// A frame stood on a captured channel.
    pub(super) fn frame(&mut self, row: &TruthLine, frame: &TruthFrame) {
        let Some(name) = &row.packet else { return };
        let Some(ScoredSending { line, message, tail }) = self.sent.get(name).cloned() else {
            return;
        };
        let (end, written) = (ScoredEnding::Not, 0);
        let latest =
            message.map(|message| LatestTransmission { message, label: line.label, end, written });
        let good = frame.crc == CrcCheck::Good.name() && frame.ended_by == PacketEnd::Gap.name();
        if !good || tail == FrameTail::Cut || frame.tag != Some(TAG) {
            self.spoilt.extend(latest.map(|latest| (line.label.key(), latest)));
            self.may_be(line);
            return self.may_be(MessageLine::new(MessageLineKind::Retransmission, line.label));
        }
        self.causes.seen(name);
        self.sent.remove(name);
        self.either.remove(&line);
        // An answer has the label of the data that it answers.
        if line.kind == MessageLineKind::Data {
            self.either.remove(&MessageLine::new(MessageLineKind::Retransmission, line.label));
        }
        self.expect(line);
        latest.into_iter().for_each(|latest| self.seen(latest));
    }

    /// Something is known of how the latest message of a logical channel ends.
    fn ends(&mut self, end: ScoredEnding, is_it: impl Fn(&LatestTransmission) -> bool) {
        let of_it = self.latest.values_mut().filter(|latest| is_it(latest));
        of_it.filter(|latest| latest.end != ScoredEnding::Over).for_each(|latest| latest.end = end);
    }

    /// A data packet was seen whole.
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

    /// Something was found; the truth of it is known.
    pub(super) fn found(&mut self, noticed: &Observation) {
        let label = TruthLabel::of(noticed);
        let line = match noticed.remark {
            ObservationKind::Data(_) => MessageLine::new(MessageLineKind::Data, label),
            ObservationKind::Resent(_, cause) => {
                self.find(MessageLine::new(MessageLineKind::Data, label));
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
            ObservationKind::Gone(Abandonment::Unanswered | Abandonment::Withdrawn) => {
                MessageLine::gone(label)
            }
            // Nothing tells a message that went back from one that was opened anew, where the next one
            // has the same bytes.
            ObservationKind::Gone(Abandonment::Reopened)
                if self.open.contains_key(&MessageLine::gone(label)) =>
            {
                MessageLine::gone(label)
            }
            // That is said of answers too.
            ObservationKind::Stale
                if self.open.contains_key(&MessageLine::new(MessageLineKind::Data, label)) =>
            {
                MessageLine::new(MessageLineKind::Data, label)
            }
            ObservationKind::Stale | ObservationKind::Late => return,
            ObservationKind::Gone(_) | ObservationKind::Storm(_) | ObservationKind::Broken(_) => {
                return;
            }
        };
        self.find(line);
    }

    /// Reason why a message was sent again.
    fn cause(&mut self, label: TruthLabel, cause: ResendCause) {
        // Where links were not captured, no wire tells.
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

    /// One more in the truth, or, below 0, in the capture.
    fn add(&mut self, line: MessageLine, step: i64) {
        let open = self.open.remove(&line).unwrap_or(0);
        if open.signum() == -step {
            self.counts.entry(line.kind).or_default().right += 1;
        }
        if open != -step {
            self.open.insert(line, open + step);
        }
    }

    /// The counts by kind.
    pub(super) fn counts(&self) -> [(MessageLineKind, MatchCount); 8] {
        MessageLineKind::ALL.map(|kind| (kind, self.counts.get(&kind).copied().unwrap_or_default()))
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

    /// A data packet that was sent, what befell it, and the frame of what was left of it, whose CRC is good.
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
        let counts = messages.counts();
        counts
            .iter()
            .find(|(kind, _)| *kind == MessageLineKind::Data)
            .map_or(0, |(_, count)| count.in_truth)
    }

    /// A sender that gives up ends a packet with a GAP, and the byte before that may be its CRC by chance:
    /// what is left still is none of the protocol's. R-4, P-4
    #[test]
    fn of_a_packet_that_was_cut_nothing_is_expected_whatever_its_crc() {
        let cut = r#"{"at":30,"place":"s0:1","packet":"h0#0","event":"truncated","rule":"R-4"}"#;
        assert_eq!([data_expected(""), data_expected(cut)], [1, 0]);
    }
}
