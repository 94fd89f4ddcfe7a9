//! State of one conversation and its transitions. T-2, T-4, T-5, T-8, T-11, T-12

use crate::capture_network::LinkKey;
use crate::event::Picoseconds;
use std::collections::VecDeque;

use codec::crc::CrcResidue;
use codec::transport::{ChannelIncarnation, NackReason, SyncFlag, TransportTimestamp};

use super::history::MessageHistory;
use super::message::{MessageState, TimestampMatch};
use super::observation::{Abandonment, Observation, ObservationKind, Violation};
use super::totals::ConversationTotals;
use super::transport_packet::{
    ConversationKey, DataContent, HeaderTrust, ObservedLabel, ObservedPacket, ObservedPlace,
    PacketContent, TransportFate,
};
use super::visibility::{Visibility, is_before};

/// Maximum number of finished messages kept to recognize late packets. *Chosen*: packets are late
/// by a message or two.
const OVER_MAX: usize = 4;

#[derive(Clone, Debug, Default)]
pub(super) struct ConversationState {
    /// Number of the conversation in order of first capture, from 0.
    pub(super) number: u64,
    pub(super) key: ConversationKey,
    pub(super) first: ObservedPlace,
    pub(super) last: Picoseconds,
    pub(super) sums: ConversationTotals,
    pub(super) history: MessageHistory,
    current: Option<MessageState>,
    over: VecDeque<FinishedMessage>,
    /// The newest incarnation, and the link of the first capture of its data.
    newest: Option<(ChannelIncarnation, LinkKey)>,
    /// Timestamp of the first transmission.
    eldest: Option<TransportTimestamp>,
    messages: u64,
}

#[derive(Clone, Copy, Debug)]
struct FinishedMessage {
    number: u64,
    /// Time of the message's first capture.
    since: Picoseconds,
    label: ObservedLabel,
    newest: TransportTimestamp,
    /// True if acknowledged without SYNC: only a NACK with reason 4 may follow. T-12
    settled: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NextMessage {
    /// Same incarnation, other number: the current message must have been acknowledged. T-4
    Flipped,
    /// Same incarnation and sequence number, different message.
    Same,
    /// A newer incarnation, with this content.
    Newer(CrcResidue),
    /// No later message was captured.
    Nothing,
}

/// Relation of a data packet to the current message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DataRelation {
    /// A transmission of the current message.
    Again,
    /// First transmission of the next message.
    Next(NextMessage),
    /// A transmission of a finished message or an old incarnation.
    Stale,
    /// A corrupted packet whose header is unreliable.
    Doubtful,
}

impl ConversationState {
    pub(super) fn new(number: u64, seen: &ObservedPacket) -> Self {
        Self { number, key: seen.key(), first: seen.place, last: seen.last, ..Self::default() }
    }

    /// Processes the next packet, in order of first capture.
    pub(super) fn step(
        &mut self,
        seen: &ObservedPacket,
        scene: &Visibility,
        out: &mut impl FnMut(Observation),
    ) {
        self.last = self.last.max(seen.last);
        match seen.what {
            PacketContent::Data(data) => self.data(seen, data, scene, out),
            PacketContent::Ack | PacketContent::Nack(_) => self.answer(seen, scene, out),
        }
        if let Some(message) = &mut self.current {
            message.limit_memory(scene, &mut counted(&mut self.sums, out));
        }
    }

    fn data(
        &mut self,
        seen: &ObservedPacket,
        data: DataContent,
        scene: &Visibility,
        out: &mut impl FnMut(Observation),
    ) {
        match self.relation(seen, data) {
            DataRelation::Doubtful => {}
            DataRelation::Stale => {
                self.emit(seen, ObservationKind::Stale, out);
                let newest = self.newest.filter(|(newest, link)| {
                    newest.is_newer_than(seen.header.incarnation) && *link == seen.links.0
                });
                if newest.is_some() {
                    self.emit(seen, ObservationKind::Broken(Violation::Backwards), out);
                }
            }
            DataRelation::Again => {
                if let Some(message) = &mut self.current {
                    message.add_transmission(seen, data);
                }
            }
            DataRelation::Next(next) => {
                self.close(next, Some(seen), scene, out);
                self.open(seen, data, scene);
            }
        }
    }

    /// Relates a data packet to the messages before it.
    fn relation(&self, seen: &ObservedPacket, data: DataContent) -> DataRelation {
        let ObservedLabel { incarnation, seq, timestamp } = seen.label();
        let sound = seen.reading == HeaderTrust::Sound;
        let Some((newest, _)) = self.newest else {
            let first = DataRelation::Next(NextMessage::Nothing);
            return if sound { first } else { DataRelation::Doubtful };
        };
        if newest != incarnation {
            return match (sound, incarnation.is_newer_than(newest)) {
                (false, _) => DataRelation::Doubtful,
                (true, true) => DataRelation::Next(NextMessage::Newer(data.content)),
                (true, false) => DataRelation::Stale,
            };
        }
        if self.finished_message(seen.label()).is_some() {
            return DataRelation::Stale;
        }
        let Some(message) = &self.current else { return DataRelation::Next(NextMessage::Flipped) };
        let is_known = message.reading == HeaderTrust::Sound;
        if message.label.seq != seq {
            let newer = !is_known || is_before(message.newest(), timestamp);
            return match (sound, newer) {
                // The bit may be that of the message before, damaged.
                (false, _) if message.ack.is_none() => DataRelation::Doubtful,
                (_, true) => DataRelation::Next(NextMessage::Flipped),
                (false, false) => DataRelation::Doubtful,
                (true, false) => DataRelation::Stale,
            };
        }
        if sound && is_known && message.data.content != data.content {
            return DataRelation::Next(NextMessage::Same);
        }
        let is_before = message.match_timestamp(timestamp) == TimestampMatch::Before;
        match (sound, is_known && is_before) {
            (_, false) => DataRelation::Again,
            (false, true) => DataRelation::Doubtful,
            (true, true) => DataRelation::Stale,
        }
    }

    fn open(&mut self, seen: &ObservedPacket, data: DataContent, scene: &Visibility) {
        let incarnation = seen.header.incarnation;
        let since = self.over.front().map_or(self.first.time, |over| over.since);
        let mut message = MessageState::new((self.messages, since), seen, data);
        let odd = match (self.newest, data.sync) {
            // The capture may have begun in the middle of the incarnation.
            (None, SyncFlag::Clear) => None,
            (None, SyncFlag::Set) => {
                self.sums.incarnations += 1;
                None
            }
            (Some((newest, _)), sync) if newest != incarnation => {
                self.sums.incarnations += 1;
                (sync == SyncFlag::Clear).then_some(Violation::SyncMissing)
            }
            (Some(_), SyncFlag::Set) => Some(Violation::SyncAgain),
            (Some(_), SyncFlag::Clear) => None,
        };
        if let Some(broken) = odd.filter(|_| scene.is_complete_since(since)) {
            message.push(seen.place, seen.label(), seen.fate, ObservationKind::Broken(broken));
        }
        self.messages += 1;
        self.newest = Some((incarnation, seen.links.0));
        self.eldest = self.eldest.or(Some(seen.header.timestamp));
        self.current = Some(message);
    }

    /// Ends the current message; `by` is the first packet of the next one, if there is one.
    fn close(
        &mut self,
        next: NextMessage,
        by: Option<&ObservedPacket>,
        scene: &Visibility,
        out: &mut impl FnMut(Observation),
    ) {
        let Some(mut message) = self.current.take() else { return };
        message.explain_all(scene);
        let acknowledged = message.ack.is_some();
        self.sums.acknowledged += u64::from(acknowledged);
        let (gone, broken) = ending(&message, next);
        // A missing answer proves nothing on a link that carries no captured answers.
        let shown = gone != Some(Abandonment::Unanswered) || message.would_show_answer(scene);
        let gone = if shown { gone } else { Some(Abandonment::Unseen) };
        let sure = match broken {
            // The first captured message may have had its ACK before the capture.
            Some(Violation::TwoOutstanding) => {
                self.over.front().is_some_and(|over| self.is_visible(over.since, scene))
            }
            Some(_) | None => scene.is_complete_since(message.since),
        };
        let broken = broken.filter(|_| sure);
        let place = by.map_or_else(|| message.last_place(), |by| by.place);
        let label = ObservedLabel { timestamp: message.newest(), ..message.label };
        if let Some(gone) = gone {
            message.push(place, label, TransportFate::Arrived, ObservationKind::Gone(gone));
        }
        if let (Some(broken), Some(by)) = (broken, by) {
            message.push(place, by.label(), by.fate, ObservationKind::Broken(broken));
        }
        let MessageState { number, since, label, data, .. } = message;
        let newest = message.newest();
        let settled = acknowledged && data.sync == SyncFlag::Clear;
        self.over.push_front(FinishedMessage { number, since, label, newest, settled });
        self.over.truncate(OVER_MAX);
        let letters = message.finish(scene, &mut counted(&mut self.sums, out));
        self.history.add(letters.into_iter());
    }

    fn answer(
        &mut self,
        seen: &ObservedPacket,
        scene: &Visibility,
        out: &mut impl FnMut(Observation),
    ) {
        let label = seen.label();
        let sound = seen.reading == HeaderTrust::Sound;
        if let Some(message) = self.current.as_mut().filter(|it| is_of(it, label)) {
            let timestamp = message.match_timestamp(label.timestamp);
            if timestamp == TimestampMatch::Known {
                return message.add_answer(seen);
            } else if timestamp == TimestampMatch::Between && sound {
                self.emit_unmatched_answer(seen, out);
                return self.emit(seen, ObservationKind::Late, out);
            }
        }
        if !sound {
            return;
        }
        self.emit_unmatched_answer(seen, out);
        let odd = match self.finished_message(label).copied() {
            Some(over) => {
                let refused = matches!(seen.what, PacketContent::Nack(reason) if reason != NackReason::NoChannelState);
                self.emit(seen, ObservationKind::Late, out);
                (over.settled && refused).then_some(Violation::NackAfterAck)
            }
            None if self.newest.is_some_and(|(it, _)| it.is_newer_than(label.incarnation)) => {
                return self.emit(seen, ObservationKind::Stale, out);
            }
            None => self.is_unsolicited(label, scene).then_some(Violation::Unasked),
        };
        if let Some(broken) = odd {
            self.emit(seen, ObservationKind::Broken(broken), out);
        }
    }

    /// Reports an answer that does not match the current message.
    fn emit_unmatched_answer(&mut self, seen: &ObservedPacket, out: &mut impl FnMut(Observation)) {
        let is_nack = if let PacketContent::Nack(reason) = seen.what { Some(reason) } else { None };
        self.emit(seen, is_nack.map_or(ObservationKind::Ack(None), ObservationKind::Nack), out);
    }

    /// True if the capture would contain the transmission that an answer echoes, had it been sent.
    fn is_unsolicited(&self, label: ObservedLabel, scene: &Visibility) -> bool {
        let kept = self.over.back().filter(|_| self.over.len() == OVER_MAX);
        let eldest = kept.map(|over| over.label.timestamp).or(self.eldest);
        let Some(eldest) = eldest else { return false };
        is_before(eldest, label.timestamp) && self.is_visible(self.first.time, scene)
    }

    /// True if the capture contains all data and answers of the conversation since `since`.
    fn is_visible(&self, since: Picoseconds, scene: &Visibility) -> bool {
        let seen = |(_, link)| scene.shows_answers_between(self.key.pair(), link);
        scene.is_complete_since(since) && self.newest.is_some_and(seen)
    }

    fn finished_message(&self, label: ObservedLabel) -> Option<&FinishedMessage> {
        self.over.iter().find(|over| {
            let ObservedLabel { incarnation, seq, timestamp } = over.label;
            (incarnation, seq) == (label.incarnation, label.seq)
                && !is_before(label.timestamp, timestamp)
                && !is_before(over.newest, label.timestamp)
        })
    }

    /// Reports a packet that does not belong to the current message.
    fn emit(
        &mut self,
        seen: &ObservedPacket,
        observed: ObservationKind,
        out: &mut impl FnMut(Observation),
    ) {
        let message = self.finished_message(seen.label()).map(|over| over.number);
        let ObservedPacket { place, fate, .. } = *seen;
        let since = self.over.back().map_or(self.first.time, |over| over.since);
        let (key, label) = (self.key, seen.label());
        let observation = Observation { place, since, key, message, label, fate, observed };
        counted(&mut self.sums, out)(observation);
    }

    /// Ends the last message.
    pub(super) fn finish(&mut self, scene: &Visibility, out: &mut impl FnMut(Observation)) {
        self.close(NextMessage::Nothing, None, scene, out);
    }
}

fn is_of(message: &MessageState, label: ObservedLabel) -> bool {
    (message.label.incarnation, message.label.seq) == (label.incarnation, label.seq)
}

/// Returns the end of an unacknowledged message and the violation that the next message implies,
/// provided that all answers were captured.
fn ending(message: &MessageState, next: NextMessage) -> (Option<Abandonment>, Option<Violation>) {
    let refused = message.nack.is_some_and(NackReason::is_final);
    if message.ack.is_some() {
        return (None, (next == NextMessage::Same).then_some(Violation::Unflipped));
    }
    if refused {
        return (Some(Abandonment::Refused), None);
    }
    match next {
        NextMessage::Same => (Some(Abandonment::Unseen), Some(Violation::Altered)),
        NextMessage::Flipped => {
            // The ACK that seemed lost must have arrived by an uncaptured path.
            let is_written = message.is_written();
            (Some(Abandonment::Unseen), (!is_written).then_some(Violation::TwoOutstanding))
        }
        NextMessage::Newer(content) => {
            let reopened = message.nack == Some(NackReason::NoChannelState)
                || (message.reading == HeaderTrust::Sound && message.data.content == content);
            let gone = match message.nack {
                _ if reopened => Abandonment::Reopened,
                Some(_) => Abandonment::Withdrawn,
                None => Abandonment::Unanswered,
            };
            (Some(gone), None)
        }
        NextMessage::Nothing => (Some(Abandonment::Open), None),
    }
}

/// Counts each observation before it is emitted.
fn counted<'a>(
    sums: &'a mut ConversationTotals,
    out: &'a mut impl FnMut(Observation),
) -> impl FnMut(Observation) + 'a {
    |observation| {
        sums.count(&observation);
        out(observation);
    }
}
