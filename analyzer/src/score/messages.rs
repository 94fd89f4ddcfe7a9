//! Conversations against the truth: each packet of the protocol that taps show whole, what it is, and
//! which messages were refused for good. T-5, T-6, T-10
//!
//! What is expected follows from the packets that were sent and seen, never from what was found.

#![expect(clippy::wildcard_enum_match_arm, reason = "most kinds of rows are not about messages")]

mod causes;
mod label;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use codec::packet::Check;
use codec::transport::{Reason, TAG};

use self::causes::{Causes, End, Kind as Of};
use self::label::Key;
use super::balance::Count;
use super::journeys::QUIET;
use super::truth::{Frame, Happened, Label, What};
use crate::conversation::{Cause, Gone, Noticed, Remark};
use crate::packet::{EndedBy, crc_name};

/// Examples that are kept. *Chosen*: as many as one looks at.
const ODD_MAX: usize = 16;

/// Packets that were hurt which are kept. *Chosen*: what is hurt is sent again in milliseconds.
const HURT_MAX: usize = 1 << 16;

/// What is compared, in the words of `docs/output.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// A data packet.
    Data,
    /// One that sends again what was seen before. T-10
    Retransmission,
    /// Why it does. T-10
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
struct Line {
    label: Label,
    kind: Kind,
    /// The reason of a NACK.
    reason: Option<&'static str>,
}

/// A packet of the protocol on its way, which no tap has seen whole.
#[derive(Clone, Debug)]
struct Sent {
    line: Line,
    /// Of data: the message.
    message: Option<String>,
    tail: Tail,
}

/// Whether a packet still has its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tail {
    Whole,
    /// What is left of it is none of the protocol's, or another, whatever its CRC happens to be. P-4
    Cut,
}

/// The latest message of a logical channel, as far as taps showed it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Latest {
    message: String,
    label: Label,
    end: Ended,
    /// How often it was written: more than once if its receiver was started anew, which no wire shows.
    written: u8,
}

/// What is known of how a message ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Ended {
    /// Nothing.
    #[default]
    Not,
    /// An ACK was sent, which need not have come to its sender in time.
    Answered,
    /// It was acknowledged, or refused for good.
    Over,
}

/// What both tell of conversations.
#[derive(Clone, Debug, Default)]
pub(super) struct Messages {
    /// By their names.
    sent: BTreeMap<String, Sent>,
    /// Those of them that have reached their end, and when.
    over: VecDeque<(u64, String)>,
    latest: BTreeMap<Key, Latest>,
    /// The same of what was hurt wherever it was seen.
    spoilt: BTreeMap<Key, Latest>,
    /// What may be found or not, for it was hurt, or what was before it was.
    either: BTreeSet<Line>,
    /// Lines without a counterpart so far: so many more in the truth, or, below 0, found.
    open: BTreeMap<Line, i64>,
    counts: BTreeMap<Kind, Count>,
    causes: Causes,
    /// Ports of hosts that have sent any.
    hosts: BTreeSet<String>,
    /// What was said that was not why, the first of it.
    wrong: Vec<(Label, String)>,
}

impl Kind {
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

impl Line {
    const fn new(kind: Kind, label: Label) -> Self {
        Self { label, kind, reason: None }
    }

    /// A message is gone: whichever of its transmissions was the last, of which some may be hurt.
    const fn gone(label: Label) -> Self {
        Self::new(Kind::Gone, Label { timestamp: 0, ..label })
    }
}

impl Messages {
    /// Something happened to a message or a packet.
    pub(super) fn row(&mut self, row: &Happened) {
        let over = |(at, _): &mut (u64, String)| at.saturating_add(QUIET) < row.at;
        if let Some((_, name)) = self.over.pop_front_if(over) {
            self.sent.remove(&name);
        }
        let sent = (row.packet.as_deref().unwrap_or_default(), row.at);
        if row.what.is_transmission() && !self.hosts.contains(&row.place) {
            self.hosts.insert(row.place.clone());
        }
        let (line, message) = match &row.what {
            What::MessageTransmitted { message, label } => {
                self.causes.data(sent, message, *label);
                (Line::new(Kind::Data, *label), Some(message.clone()))
            }
            What::AckTransmitted(label) => {
                self.causes.answer(sent, Of::Ack, label.answered());
                self.acknowledges(label.answered());
                (Line::new(Kind::Ack, label.answered()), None)
            }
            What::NackTransmitted { label, reason } => {
                self.causes.answer(sent, Of::Nack, label.answered());
                let reason = self.refused(label.answered(), reason);
                (Line { reason, ..Line::new(Kind::Nack, label.answered()) }, None)
            }
            What::TransportDuplicate(label) => {
                let seen = self.latest.get(&label.key());
                if seen.is_some_and(|latest| latest.label.incarnation == label.incarnation) {
                    self.expect(Line::new(Kind::Duplicate, *label));
                }
                return;
            }
            What::MessageReturned { message, why } if why == "refused" => {
                let latest = self.latest.values().find(|latest| latest.message == *message);
                if let Some(label) = latest.map(|latest| latest.label) {
                    self.expect(Line::new(Kind::Refused, label));
                }
                return self.ends(Ended::Over, |it| it.message == *message);
            }
            What::MessageWritten { message } => {
                let latest = self.latest.values_mut().find(|latest| latest.message == *message);
                if let Some(latest) = latest {
                    latest.written = latest.written.saturating_add(1);
                }
                return;
            }
            What::MessageAcknowledged { message } => {
                return self.ends(Ended::Over, |it| it.message == *message);
            }
            What::Truncated => {
                let sent = row.packet.as_ref().and_then(|name| self.sent.get_mut(name));
                sent.into_iter().for_each(|sent| sent.tail = Tail::Cut);
                return;
            }
            // What was lost may still be on the wire: its frame is told when that has ended.
            What::Consumed { .. } | What::Dropped { .. } => {
                return self.ended(row);
            }
            _ => return,
        };
        if let Some(name) = &row.packet {
            self.sent.insert(name.clone(), Sent { line, message, tail: Tail::Whole });
        }
    }

    /// A packet has reached its end.
    fn ended(&mut self, row: &Happened) {
        let name = row.packet.as_deref().unwrap_or_default();
        let known = row.packet.as_ref().filter(|name| self.sent.contains_key(*name));
        self.over.extend(known.map(|name| (row.at, name.clone())));
        let good = matches!(&row.what, What::Consumed { crc: Some(crc), .. }
            if crc == crc_name(Check::Good));
        let inside = matches!(row.what, What::Dropped { .. }) && self.hosts.contains(&row.place);
        let end = match (good, inside) {
            (true, _) => End::Arrived(row.at),
            (false, true) => End::Inside,
            (false, false) => End::Lost,
        };
        if let Some(label) = self.causes.ended(name, end).filter(|_| good) {
            // Until its NIC has looked at it.
            self.may_be(Line::new(Kind::Duplicate, label));
        }
    }

    /// An ACK is sent.
    fn acknowledges(&mut self, label: Label) {
        self.ends(Ended::Answered, |it| it.label.is_use(label));
        let latest = self.latest.get(&label.key());
        if latest.is_none_or(|latest| latest.written < 2) {
            self.either.remove(&Line::new(Kind::Duplicate, label));
        }
    }

    /// A NACK is sent; the name of its reason.
    fn refused(&mut self, label: Label, reason: &str) -> Option<&'static str> {
        self.either.remove(&Line::new(Kind::Duplicate, label));
        let reason = Reason::ALL.into_iter().find(|it| it.name() == reason);
        if reason.is_some_and(Reason::is_final) {
            // Its sender may be started anew before it returns it: the NACK is all that is seen.
            self.may_be(Line::new(Kind::Refused, label));
            self.ends(Ended::Answered, |it| it.label.is_use(label));
        }
        reason.map(Reason::name)
    }

    /// A frame stood on a captured channel.
    pub(super) fn frame(&mut self, row: &Happened, frame: &Frame) {
        let Some(name) = &row.packet else { return };
        let Some(Sent { line, message, tail }) = self.sent.get(name).cloned() else { return };
        let (end, written) = (Ended::Not, 0);
        let latest = message.map(|message| Latest { message, label: line.label, end, written });
        let good = frame.crc == crc_name(Check::Good) && frame.ended_by == EndedBy::Gap.name();
        if !good || tail == Tail::Cut || frame.tag != Some(TAG) {
            self.spoilt.extend(latest.map(|latest| (line.label.key(), latest)));
            self.may_be(line);
            return self.may_be(Line::new(Kind::Retransmission, line.label));
        }
        self.causes.seen(name);
        self.sent.remove(name);
        self.either.remove(&line);
        // An answer has the label of the data that it answers.
        if line.kind == Kind::Data {
            self.either.remove(&Line::new(Kind::Retransmission, line.label));
        }
        self.expect(line);
        latest.into_iter().for_each(|latest| self.seen(latest));
    }

    /// Something is known of how the latest message of a logical channel ends.
    fn ends(&mut self, end: Ended, is_it: impl Fn(&Latest) -> bool) {
        let of_it = self.latest.values_mut().filter(|latest| is_it(latest));
        of_it.filter(|latest| latest.end != Ended::Over).for_each(|latest| latest.end = end);
    }

    /// A data packet was seen whole.
    fn seen(&mut self, mut now: Latest) {
        let (label, key) = (now.label, now.label.key());
        let again = Line::new(Kind::Retransmission, label);
        let same = |before: &Latest| {
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
                Ended::Not => self.expect(Line::gone(label)),
                Ended::Answered => self.may_be(Line::gone(label)),
                Ended::Over => {}
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

    fn may_be(&mut self, line: Line) {
        self.either.insert(line);
        if self.either.len() > HURT_MAX {
            self.either.pop_first();
        }
    }

    /// Something was found; the truth of it is known.
    pub(super) fn found(&mut self, noticed: &Noticed) {
        let label = Label::of(noticed);
        let line = match noticed.remark {
            Remark::Data(_) => Line::new(Kind::Data, label),
            Remark::Resent(_, cause) => {
                self.find(Line::new(Kind::Data, label));
                self.cause(label, cause);
                Line::new(Kind::Retransmission, label)
            }
            Remark::Ack(_) => Line::new(Kind::Ack, label),
            Remark::Nack(reason) => {
                Line { reason: Some(reason.name()), ..Line::new(Kind::Nack, label) }
            }
            Remark::Duplicate => Line::new(Kind::Duplicate, label),
            Remark::Gone(Gone::Refused) => Line::new(Kind::Refused, label),
            Remark::Gone(Gone::Unanswered | Gone::Withdrawn) => Line::gone(label),
            // Nothing tells a message that went back from one that was opened anew, where the next one
            // has the same bytes.
            Remark::Gone(Gone::Reopened) if self.open.contains_key(&Line::gone(label)) => {
                Line::gone(label)
            }
            // That is said of answers too.
            Remark::Stale if self.open.contains_key(&Line::new(Kind::Data, label)) => {
                Line::new(Kind::Data, label)
            }
            Remark::Stale | Remark::Late => return,
            Remark::Gone(_) | Remark::Storm(_) | Remark::Broken(_) => return,
        };
        self.find(line);
    }

    /// Why a message was sent again.
    fn cause(&mut self, label: Label, cause: Cause) {
        // Where links were not captured, no wire tells.
        let known = self.causes.of_resent(label).filter(|_| cause != Cause::Unknown);
        let Some(causes) = known else { return };
        let count = self.counts.entry(Kind::Cause).or_default();
        count.in_truth += 1;
        count.found += 1;
        if causes.contains(&cause) {
            count.right += 1;
        } else if self.wrong.len() < ODD_MAX {
            let names: Vec<&str> = causes.iter().map(|cause| cause.name()).collect();
            self.wrong.push((label, format!("{}, found: {}", names.join(" or "), cause.name())));
        }
    }

    fn expect(&mut self, line: Line) {
        self.counts.entry(line.kind).or_default().in_truth += 1;
        self.add(line, 1);
    }

    fn find(&mut self, line: Line) {
        let expected = self.open.get(&line).is_some_and(|more| *more > 0);
        if expected || !self.either.contains(&line) {
            self.counts.entry(line.kind).or_default().found += 1;
            self.add(line, -1);
        }
    }

    /// One more in the truth, or, below 0, in the capture.
    fn add(&mut self, line: Line, step: i64) {
        let open = self.open.remove(&line).unwrap_or(0);
        if open.signum() == -step {
            self.counts.entry(line.kind).or_default().right += 1;
        }
        if open != -step {
            self.open.insert(line, open + step);
        }
    }

    /// What they came to, kind by kind.
    pub(super) fn counts(&self) -> [(Kind, Count); 8] {
        Kind::ALL.map(|kind| (kind, self.counts.get(&kind).copied().unwrap_or_default()))
    }

    /// What only one of the two tells, the first of it: which account, the kind, and what it is.
    pub(super) fn odd(&self) -> impl Iterator<Item = (&'static str, &'static str, String)> {
        let open = self.open.iter().take(ODD_MAX).map(|(line, more)| {
            let account = if *more > 0 { "missed" } else { "invented" };
            let reason = line.reason.map_or_else(String::new, |reason| format!(", {reason}"));
            (account, line.kind.name(), format!("{}{reason}", line.label))
        });
        let wrong = |(label, what): &(Label, String)| {
            ("missed", Kind::Cause.name(), format!("{label}: {what}"))
        };
        open.chain(self.wrong.iter().map(wrong))
    }
}

#[cfg(test)]
mod tests {
    use super::super::truth::Lines;
    use super::*;

    /// A data packet that was sent, what befell it, and the frame of what was left of it, whose CRC is good.
    fn data_expected(between: &str) -> u64 {
        let sent = r#"{"at":1,"place":"h0:0","packet":"h0#0","event":"message-transmitted",
            "message":"h0.0#0","source":0,"destination":1,"channel":0,"seq":0,"timestamp":9,
            "incarnation":3,"sync":true,"again":false}"#;
        let frame = r#"{"at":40,"place":"s0:1","packet":"h0#0","event":"sent","start":20,"end":39,
            "length":20,"route":[],"tag":1,"payload":18,"crc":"good","syndrome":0,"ended_by":"gap"}"#;
        let text = [sent, between, frame].map(|row| row.replace('\n', " ")).join("\n");
        let mut lines = Lines::new(text.as_bytes());
        let mut messages = Messages::default();
        while let Some(row) = lines.next().unwrap() {
            messages.row(&row);
            if let What::Sent(frame) = &row.what {
                messages.frame(&row, frame);
            }
        }
        let counts = messages.counts();
        counts.iter().find(|(kind, _)| *kind == Kind::Data).map_or(0, |(_, count)| count.in_truth)
    }

    /// A sender that gives up ends a packet with a GAP, and the byte before that may be its CRC by chance:
    /// what is left still is none of the protocol's. R-4, P-4
    #[test]
    fn of_a_packet_that_was_cut_nothing_is_expected_whatever_its_crc() {
        let cut = r#"{"at":30,"place":"s0:1","packet":"h0#0","event":"truncated","rule":"R-4"}"#;
        assert_eq!([data_expected(""), data_expected(cut)], [1, 0]);
    }
}
