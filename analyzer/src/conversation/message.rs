//! State of one message: its transmissions, their answers and the conclusions at its end. T-5, T-8,
//! T-10

use crate::capture_network::LinkKey;
use crate::event::Picoseconds;
use std::collections::VecDeque;

use codec::transport::{NackReason, TransportTimestamp};

use super::observation::{Observation, ObservationKind, ResendCause, StormKind, Violation};
use super::totals::letter;
use super::transport_packet::{
    ConversationKey, DataContent, HeaderTrust, ObservedLabel, ObservedPacket, ObservedPlace,
    PacketContent, TransportFate,
};
use super::visibility::{MICROSECOND, Visibility, clock_difference, is_before};
use crate::journey::MatchCertainty;

/// Maximum number of transmissions kept per message. *Chosen*: an answer to an older one is merely
/// late.
const SENT_MAX: usize = 8;

/// Maximum number of observations held per message. *Chosen*: most messages have two packets.
const PENDING_MAX: usize = 24;

/// Number of NACKs, or of retransmissions without an answer, that make a storm. *Chosen*: they take
/// 32 ms at a timeout of 4 ms, and occur once in a hundred million messages if one packet in ten is
/// lost.
const STORM: u64 = 8;

/// Longest time of an ACK from the tap into the tables of its NIC. *Chosen*: a period of the scan, 1 ms (T-10).
const GRACE: Picoseconds = 1_000_000_000;

#[derive(Clone, Debug)]
pub(super) struct MessageState {
    pub(super) number: u64,
    pub(super) key: ConversationKey,
    /// Time of the first capture of its first transmission.
    pub(super) since: Picoseconds,
    /// Time of the first packet that observations about it rest on.
    grounds: Picoseconds,
    /// Link of its first capture, and true if each transmission shows its answer.
    sight: (LinkKey, bool),
    pub(super) label: ObservedLabel,
    pub(super) data: DataContent,
    /// `Doubtful` while all captured transmissions are corrupted: `data` is unreliable.
    pub(super) reading: HeaderTrust,
    sent: VecDeque<SentData>,
    /// Number of retransmissions before which the previous transmission had no answer.
    unanswered: u64,
    nacks: u64,
    /// The first ACK that arrived or may have arrived.
    pub(super) ack: Option<ReceivedAnswer>,
    /// `Before` if a transmission that is no longer kept was acknowledged.
    was_written: bool,
    pub(super) nack: Option<NackReason>,
    pending: Vec<Observation>,
    letters: Vec<char>,
}

#[derive(Clone, Debug)]
struct SentData {
    place: ObservedPlace,
    timestamp: TransportTimestamp,
    reading: HeaderTrust,
    data: DataContent,
    fate: TransportFate,
    certainty: MatchCertainty,
    ack: Option<ReceivedAnswer>,
    nack: Option<ReceivedAnswer>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ReceivedAnswer {
    pub(super) place: ObservedPlace,
    /// Time of its last capture.
    last: Picoseconds,
    fate: TransportFate,
    label: ObservedLabel,
}

/// Relation of a timestamp to the transmissions of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TimestampMatch {
    /// The timestamp of a kept transmission.
    Known,
    /// Between the first and the last: of a transmission that is no longer kept.
    Between,
    /// Older than all transmissions.
    Before,
    /// Newer than all transmissions.
    After,
}

impl MessageState {
    /// Starts a message with its first captured transmission.
    pub(super) fn new(
        (number, grounds): (u64, Picoseconds),
        seen: &ObservedPacket,
        data: DataContent,
    ) -> Self {
        let mut message = Self {
            number,
            key: seen.key(),
            since: seen.place.time,
            grounds,
            sight: (seen.links.0, seen.shows_answers || seen.fate.is_lost()),
            label: seen.label(),
            data,
            reading: seen.reading,
            sent: VecDeque::new(),
            unanswered: 0,
            nacks: 0,
            ack: None,
            was_written: false,
            nack: None,
            pending: Vec::new(),
            letters: Vec::new(),
        };
        message.sent.push_back(SentData::new(seen, data));
        message.push(seen.place, seen.label(), seen.fate, ObservationKind::Data(data));
        message
    }

    pub(super) fn last_place(&self) -> ObservedPlace {
        let sent = self.sent.back().map(|sent| sent.place);
        let places = self.pending.iter().map(|observation| observation.place).chain(sent);
        places.max_by_key(|place| place.time).unwrap_or_default()
    }

    /// Timestamp of the last transmission, of a corrupted one only if all are.
    pub(super) fn newest(&self) -> TransportTimestamp {
        let sound = self.sent.iter().rfind(|sent| sent.reading == HeaderTrust::Sound);
        sound.map_or(self.label.timestamp, |sent| sent.timestamp)
    }

    /// True if any answer to it would be captured.
    pub(super) fn would_show_answer(&self, scene: &Visibility) -> bool {
        let (link, is_shown) = self.sight;
        let is_complete = scene.is_complete_since(self.since);
        is_complete && (is_shown || scene.shows_answers_between(self.key.pair(), link))
    }

    pub(super) fn match_timestamp(&self, timestamp: TransportTimestamp) -> TimestampMatch {
        if self.sent.iter().any(|sent| sent.timestamp == timestamp) {
            TimestampMatch::Known
        } else if is_before(timestamp, self.label.timestamp) {
            TimestampMatch::Before
        } else if is_before(self.newest(), timestamp) {
            TimestampMatch::After
        } else {
            TimestampMatch::Between
        }
    }

    pub(super) fn push(
        &mut self,
        place: ObservedPlace,
        label: ObservedLabel,
        fate: TransportFate,
        observed: ObservationKind,
    ) {
        let (key, message, since) = (self.key, Some(self.number), self.grounds);
        self.pending.push(Observation { place, since, key, message, label, fate, observed });
    }

    /// Adds a transmission, or a second capture of one by another tap that was not matched to the
    /// first.
    pub(super) fn add_transmission(&mut self, seen: &ObservedPacket, data: DataContent) {
        let timestamp = seen.header.timestamp;
        if let Some(sent) = self.sent.iter_mut().find(|sent| sent.timestamp == timestamp) {
            sent.fate = seen.fate;
            return;
        }
        if self.reading == HeaderTrust::Doubtful {
            (self.label, self.data, self.reading) = (seen.label(), data, seen.reading);
        }
        self.sight.1 &= seen.shows_answers || seen.fate.is_lost();
        let last = self.sent.back().is_some_and(|sent| sent.ack.or(sent.nack).is_none());
        self.unanswered += u64::from(last);
        self.sent.push_back(SentData::new(seen, data));
        if last && self.unanswered == STORM {
            let storm = ObservationKind::Storm(StormKind::Resent);
            self.push(seen.place, seen.label(), seen.fate, storm);
        }
    }

    /// Adds an answer to one of the transmissions, with its round trip.
    pub(super) fn add_answer(&mut self, seen: &ObservedPacket) {
        let label = seen.label();
        let answer = ReceivedAnswer { place: seen.place, last: seen.last, fate: seen.fate, label };
        let Some(sent) = self.sent.iter_mut().find(|it| it.timestamp == label.timestamp) else {
            return;
        };
        let sure = sent.certainty == MatchCertainty::Certain;
        let (since, was_hurt) = (sent.place.time, sent.fate == TransportFate::Hurt && sure);
        if sent.fate.is_lost() && !was_hurt && matches!(seen.what, PacketContent::Ack) {
            // The ACK proves that the data was not lost: part of its path is uncaptured, or the
            // loss was another packet's.
            sent.fate = TransportFate::OutOfSight;
        }
        let said = match seen.what {
            PacketContent::Ack => &mut sent.ack,
            PacketContent::Data(_) | PacketContent::Nack(_) => &mut sent.nack,
        };
        // A second capture of the same answer by another tap: each transmission has one answer.
        let again = said.is_some_and(|before| before.place.channel != seen.place.channel);
        // The answer that arrived takes precedence.
        if said.is_none_or(|before| before.fate.is_lost()) {
            *said = Some(answer);
        }
        let (written, mut broken) = (self.is_written(), None);
        let observed = match seen.what {
            PacketContent::Nack(reason) => {
                self.nacks += u64::from(!again);
                self.nack = Some(reason).filter(|_| !seen.fate.is_lost()).or(self.nack);
                // A restarted receiver has no state and accepts SYNC as new. T-12
                let opens = self.data.sync == codec::transport::SyncFlag::Set;
                if written && reason != NackReason::NoChannelState && !opens {
                    broken = Some(Violation::NackAfterAck);
                }
                ObservationKind::Nack(reason)
            }
            PacketContent::Data(_) | PacketContent::Ack => {
                if was_hurt {
                    broken = Some(Violation::AckOfLost);
                }
                let counts = !seen.fate.is_lost();
                let better = self.ack.is_none_or(|it| {
                    it.fate != TransportFate::Arrived && seen.fate == TransportFate::Arrived
                });
                if counts && better {
                    self.ack = Some(answer);
                }
                ObservationKind::Ack(counts.then(|| seen.last.saturating_sub(since)))
            }
        };
        if again {
            return;
        }
        self.push(seen.place, label, seen.fate, observed);
        if let Some(broken) = broken {
            self.push(seen.place, label, seen.fate, ObservationKind::Broken(broken));
        }
        if self.nacks == STORM && matches!(seen.what, PacketContent::Nack(_)) {
            self.push(seen.place, label, seen.fate, ObservationKind::Storm(StormKind::Nacks));
        }
    }

    /// True if the receiver has acknowledged any transmission.
    pub(super) fn is_written(&self) -> bool {
        self.was_written || self.sent.iter().any(|sent| sent.ack.is_some())
    }

    /// Determines the cause of the second kept transmission and removes the first.
    fn explain_oldest(&mut self, scene: &Visibility) {
        let Some(first) = self.sent.pop_front() else { return };
        if first.ack.is_some() {
            self.was_written = true;
        }
        let Some(next) = self.sent.front() else { return };
        let (place, label) =
            (next.place, ObservedLabel { timestamp: next.timestamp, ..self.label });
        let (since, fate, data) = (next.place.time, next.fate, next.data);
        let taken =
            next.ack.is_some() || next.fate == TransportFate::Arrived && next.nack.is_none();
        // By the timestamps, at the latest: it may wait in its NIC before its first capture. T-8
        let behind = clock_difference(first.timestamp, next.timestamp) + MICROSECOND;
        let made = next.place.time.min(first.place.time.saturating_add(behind));
        let clock = scene.latest_send_time(self.key.source, next.timestamp);
        let made = clock.map_or(made, |clock| made.min(clock.saturating_add(MICROSECOND)));
        // True if the timestamps leave time for the answer, but it arrived after the retransmission
        // was made.
        let patient = |answer: ReceivedAnswer| {
            let trip = answer.last.saturating_sub(first.place.time);
            let had = clock_difference(first.timestamp, next.timestamp);
            made <= answer.last && trip.saturating_add(2 * MICROSECOND) <= had
        };
        let is_delayed = first.ack.or(first.nack).or(self.ack).is_some_and(patient);
        let before = scene.fate(first.fate, self.key.destination, first.place.time);
        let is_seen = before != TransportFate::Arrived || self.would_show_answer(scene);
        let before = if is_seen { before } else { TransportFate::OutOfSight };
        let judged = |answer: ReceivedAnswer| {
            let fate = scene.fate(answer.fate, self.key.source, answer.place.time);
            ReceivedAnswer { fate, ..answer }
        };
        let (ack, nack) = (first.ack.map(judged), first.nack.map(judged));
        let there = self.ack.filter(|ack| ack.fate == TransportFate::Arrived);
        let cause = resend_cause(before, (ack, nack), (since, made), there);
        let cause =
            if cause == ResendCause::TooEarly && is_delayed { ResendCause::Delayed } else { cause };
        self.push(place, label, fate, ObservationKind::Resent(data, cause));
        if cause == ResendCause::AfterAck {
            self.push(place, label, fate, ObservationKind::Broken(Violation::AfterAck));
        }
        if taken && self.was_written {
            self.push(place, label, fate, ObservationKind::Duplicate);
        }
        for late in [first.ack, first.nack].into_iter().flatten().filter(|it| it.last > since) {
            self.push(late.place, late.label, late.fate, ObservationKind::Late);
        }
    }

    /// Limits the number of kept transmissions and held observations.
    pub(super) fn limit_memory(&mut self, scene: &Visibility, out: &mut impl FnMut(Observation)) {
        while self.sent.len() > SENT_MAX {
            self.explain_oldest(scene);
        }
        if self.pending.len() >= PENDING_MAX {
            self.emit_pending(scene, out);
        }
    }

    /// Determines the causes of all kept transmissions at the end of the message.
    pub(super) fn explain_all(&mut self, scene: &Visibility) {
        while self.sent.len() > 1 {
            self.explain_oldest(scene);
        }
        let source = self.key.source;
        self.ack = self.ack.filter(|ack| !scene.fate(ack.fate, source, ack.place.time).is_lost());
    }

    /// Emits the held observations in order of time. Returns the message's letters.
    pub(super) fn finish(
        mut self,
        scene: &Visibility,
        out: &mut impl FnMut(Observation),
    ) -> Vec<char> {
        self.emit_pending(scene, out);
        self.letters
    }

    fn emit_pending(&mut self, scene: &Visibility, out: &mut impl FnMut(Observation)) {
        self.pending.sort_by_key(|observation| observation.place.time);
        let is_shown = self.would_show_answer(scene);
        for mut observation in self.pending.drain(..) {
            if !is_shown && observation.observed == ObservationKind::Storm(StormKind::Resent) {
                continue;
            }
            scene.update_fate(&mut observation);
            if self.letters.len() < super::history::RAW_MAX {
                self.letters.extend(letter(observation.observed, observation.fate));
            }
            out(observation);
        }
    }
}

impl SentData {
    fn new(seen: &ObservedPacket, data: DataContent) -> Self {
        let ObservedPacket { place, reading, fate, certainty, .. } = *seen;
        let ObservedLabel { timestamp, .. } = seen.label();
        Self { place, timestamp, reading, data, fate, certainty, ack: None, nack: None }
    }
}

/// Cause of a retransmission, from the fates of the previous transmission and of its ACK and NACK.
/// `there` is the first ACK of any transmission that arrived. `since` is the time of the
/// retransmission's first capture, `made` the latest time of its creation. T-10
fn resend_cause(
    before: TransportFate,
    (ack, nack): (Option<ReceivedAnswer>, Option<ReceivedAnswer>),
    (since, made): (Picoseconds, Picoseconds),
    there: Option<ReceivedAnswer>,
) -> ResendCause {
    if let Some(ack) = there.filter(|ack| ack.place.time < since) {
        let long_ago = made.saturating_sub(ack.last) > GRACE;
        return if long_ago { ResendCause::AfterAck } else { ResendCause::TooEarly };
    }
    // The answer reached its first tap no earlier than the retransmission did.
    let later = |answer: ReceivedAnswer| answer.place.time >= since && !answer.fate.is_lost();
    match (ack, nack) {
        (Some(answer), _) | (None, Some(answer)) if later(answer) => ResendCause::TooEarly,
        (Some(answer), _) | (None, Some(answer)) if answer.fate == TransportFate::Hurt => {
            ResendCause::Corrupt
        }
        (Some(ack), _) => match ack.fate {
            TransportFate::Hurt => ResendCause::Corrupt,
            TransportFate::Lost => ResendCause::LostAck,
            TransportFate::Arrived => ResendCause::TooEarly,
            TransportFate::OutOfSight | TransportFate::UnderWay => ResendCause::Unknown,
        },
        (None, Some(nack)) if nack.last > since && nack.fate == TransportFate::Arrived => {
            ResendCause::TooEarly
        }
        (None, Some(_)) => ResendCause::Nack,
        (None, None) => match before {
            TransportFate::Hurt => ResendCause::Corrupt,
            TransportFate::Lost => ResendCause::LostData,
            TransportFate::Arrived => ResendCause::Unanswered,
            TransportFate::OutOfSight | TransportFate::UnderWay => ResendCause::Unknown,
        },
    }
}
