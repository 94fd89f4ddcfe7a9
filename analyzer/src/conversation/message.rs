//! One message: its transmissions, the answers to each, and what they tell when it is over. T-5, T-8, T-10

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

/// Transmissions that are kept of a message. *Chosen*: an answer to an older one is no more than late.
const SENT_MAX: usize = 8;

/// Observations kept of a message before they are emitted. *Chosen*: most messages have two packets.
const PENDING_MAX: usize = 24;

/// NACKs of one message, or retransmissions without an answer, that are a storm. *Chosen*: at a timeout of
/// 4 ms they take 32 ms, and where one packet in ten is lost they come once in a hundred million.
const STORM: u64 = 8;

/// For how long an ACK may be on its way from the tap into its NIC's tables. *Chosen*: a period of the scan,
/// 1 ms (T-10).
const GRACE: Picoseconds = 1_000_000_000;

/// A message that is being sent.
#[derive(Clone, Debug)]
pub(super) struct MessageState {
    pub(super) number: u64,
    pub(super) key: ConversationKey,
    /// Time at which its first transmission was first seen.
    pub(super) since: Picoseconds,
    /// Label of its first transmission.
    pub(super) label: ObservedLabel,
    pub(super) data: DataContent,
    /// True if all transmissions before were hurt, so that its content is not known.
    pub(super) reading: HeaderTrust,
    sent: VecDeque<SentData>,
    /// Retransmissions at which there was no answer to the transmission before.
    unanswered: u64,
    nacks: u64,
    /// The first ACK that got there, or may have.
    pub(super) ack: Option<ReceivedAnswer>,
    /// True if the receiver has written it, by an ACK to a transmission that is kept no more.
    written: WrittenState,
    /// The reason of the last NACK.
    pub(super) nack: Option<NackReason>,
    pending: Vec<Observation>,
    letters: Vec<char>,
}

/// A transmission.
#[derive(Clone, Debug)]
struct SentData {
    place: ObservedPlace,
    timestamp: TransportTimestamp,
    data: DataContent,
    fate: TransportFate,
    certainty: MatchCertainty,
    ack: Option<ReceivedAnswer>,
    nack: Option<ReceivedAnswer>,
}

/// An answer to a transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ReceivedAnswer {
    pub(super) place: ObservedPlace,
    /// Time at which it was last seen.
    last: Picoseconds,
    fate: TransportFate,
    label: ObservedLabel,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WrittenState {
    Not,
    Before,
}

/// Relation of a timestamp to the transmissions of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TimestampMatch {
    /// It is one of them, or echoes one.
    Known,
    /// It is between them: of one that is kept no more.
    Between,
    /// It is older than all of them.
    Before,
    /// It is newer than all of them.
    After,
}

impl MessageState {
    /// A message that is sent, for the first time as far as is known.
    pub(super) fn new(number: u64, seen: &ObservedPacket, data: DataContent) -> Self {
        let mut message = Self {
            number,
            key: seen.key(),
            since: seen.place.time,
            label: seen.label(),
            data,
            reading: seen.reading,
            sent: VecDeque::new(),
            unanswered: 0,
            nacks: 0,
            ack: None,
            written: WrittenState::Not,
            nack: None,
            pending: Vec::new(),
            letters: Vec::new(),
        };
        message.sent.push_back(SentData::new(seen, data));
        message.push(seen.place, seen.label(), seen.fate, ObservationKind::Data(data));
        message
    }

    /// Place at which the last of its packets was first seen.
    pub(super) fn last_place(&self) -> ObservedPlace {
        let sent = self.sent.back().map(|sent| sent.place);
        let places = self.pending.iter().map(|noticed| noticed.place).chain(sent);
        places.max_by_key(|place| place.time).unwrap_or_default()
    }

    /// The newest transmission's time by its sender's clock.
    pub(super) fn newest(&self) -> TransportTimestamp {
        self.sent.back().map_or(self.label.timestamp, |sent| sent.timestamp)
    }

    /// Relates a timestamp to those of the transmissions.
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
        remark: ObservationKind,
    ) {
        let (key, message) = (self.key, Some(self.number));
        self.pending.push(Observation { place, key, message, label, fate, remark });
    }

    /// Another transmission; or another sight of one, if two taps saw it and nothing told that it was one.
    pub(super) fn add_transmission(&mut self, seen: &ObservedPacket, data: DataContent) {
        let timestamp = seen.header.timestamp;
        if let Some(sent) = self.sent.iter_mut().find(|sent| sent.timestamp == timestamp) {
            sent.fate = seen.fate;
            return;
        }
        if self.reading == HeaderTrust::Doubtful {
            (self.data, self.reading) = (data, seen.reading);
        }
        let last = self.sent.back().is_some_and(|sent| sent.ack.or(sent.nack).is_none());
        self.unanswered += u64::from(last);
        self.sent.push_back(SentData::new(seen, data));
        if last && self.unanswered == STORM {
            self.push(
                seen.place,
                seen.label(),
                seen.fate,
                ObservationKind::Storm(StormKind::Resent),
            );
        }
    }

    /// An answer to one of its transmissions; tells how long that took.
    pub(super) fn add_answer(&mut self, seen: &ObservedPacket) {
        let label = seen.label();
        let answer = ReceivedAnswer { place: seen.place, last: seen.last, fate: seen.fate, label };
        let Some(sent) = self.sent.iter_mut().find(|it| it.timestamp == label.timestamp) else {
            return;
        };
        let sure = sent.certainty == MatchCertainty::Certain;
        let (since, was_hurt) = (sent.place.time, sent.fate == TransportFate::Hurt && sure);
        if sent.fate.is_lost() && !was_hurt && matches!(seen.what, PacketContent::Ack) {
            // It was not, then: its way was not recorded, or this is another packet's.
            sent.fate = TransportFate::OutOfSight;
        }
        let said = match seen.what {
            PacketContent::Ack => &mut sent.ack,
            PacketContent::Data(_) | PacketContent::Nack(_) => &mut sent.nack,
        };
        // Another tap saw it too, and nothing told that it was the same: to each transmission there is one.
        let again = said.is_some_and(|before| before.place.channel != seen.place.channel);
        // Of several, the one that got there counts.
        if said.is_none_or(|before| before.fate.is_lost()) {
            *said = Some(answer);
        }
        let written = self.is_written();
        let mut broken = None;
        let remark = match seen.what {
            PacketContent::Nack(reason) => {
                self.nacks += u64::from(!again);
                self.nack = Some(reason).filter(|_| !seen.fate.is_lost()).or(self.nack);
                // A receiver that was started anew knows nothing, and takes SYNC for new. T-12
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
        self.push(seen.place, label, seen.fate, remark);
        if let Some(broken) = broken {
            self.push(seen.place, label, seen.fate, ObservationKind::Broken(broken));
        }
        if self.nacks == STORM && matches!(seen.what, PacketContent::Nack(_)) {
            self.push(seen.place, label, seen.fate, ObservationKind::Storm(StormKind::Nacks));
        }
    }

    /// True if the receiver has said that it wrote it.
    pub(super) fn is_written(&self) -> bool {
        self.written == WrittenState::Before || self.sent.iter().any(|sent| sent.ack.is_some())
    }

    /// Says why the second of the transmissions that are kept was made, and forgets the first.
    fn explain_oldest(&mut self, scene: &Visibility) {
        let Some(first) = self.sent.pop_front() else { return };
        if first.ack.is_some() {
            self.written = WrittenState::Before;
        }
        let Some(next) = self.sent.front() else { return };
        let (place, label) =
            (next.place, ObservedLabel { timestamp: next.timestamp, ..self.label });
        let (since, fate, data) = (next.place.time, next.fate, next.data);
        let taken =
            next.ack.is_some() || next.fate == TransportFate::Arrived && next.nack.is_none();
        let made = next.made_behind(&first);
        let clock = scene.latest_send_time(self.key.source, next.timestamp);
        let made = clock.map_or(made, |clock| made.min(clock.saturating_add(MICROSECOND)));
        // By the sender's clock the answer had so long; by the wire's it need not have.
        let patient = |answer: ReceivedAnswer| {
            let trip = answer.last.saturating_sub(first.place.time);
            let had = clock_difference(first.timestamp, next.timestamp);
            made <= answer.last && trip.saturating_add(2 * MICROSECOND) <= had
        };
        let answer = first.ack.or(first.nack);
        let is_delayed = answer.or(self.ack).is_some_and(patient);
        let to = self.key.destination;
        let before = scene.fate(first.fate, to, first.place.time);
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
        if taken && self.written == WrittenState::Before {
            self.push(place, label, fate, ObservationKind::Duplicate);
        }
        for late in [first.ack, first.nack].into_iter().flatten().filter(|it| it.last > since) {
            self.push(late.place, late.label, late.fate, ObservationKind::Late);
        }
    }

    /// Lets go of what is too much: of transmissions, and of what has been noticed.
    pub(super) fn limit_memory(&mut self, scene: &Visibility, out: &mut impl FnMut(Observation)) {
        while self.sent.len() > SENT_MAX {
            self.explain_oldest(scene);
        }
        if self.pending.len() >= PENDING_MAX {
            self.emit_pending(scene, out);
        }
    }

    /// Nothing comes to it any more: says why each transmission was made.
    pub(super) fn explain_all(&mut self, scene: &Visibility) {
        while self.sent.len() > 1 {
            self.explain_oldest(scene);
        }
        let source = self.key.source;
        self.ack = self.ack.filter(|ack| !scene.fate(ack.fate, source, ack.place.time).is_lost());
    }

    /// It is over: hands out all that has been noticed, in order of time. Returns its letters.
    pub(super) fn finish(
        mut self,
        scene: &Visibility,
        out: &mut impl FnMut(Observation),
    ) -> Vec<char> {
        self.emit_pending(scene, out);
        self.letters
    }

    fn emit_pending(&mut self, scene: &Visibility, out: &mut impl FnMut(Observation)) {
        self.pending.sort_by_key(|noticed| noticed.place.time);
        for mut noticed in self.pending.drain(..) {
            scene.update_fate(&mut noticed);
            if self.letters.len() < super::history::RAW_MAX {
                self.letters.extend(letter(noticed.remark, noticed.fate));
            }
            out(noticed);
        }
    }
}

impl SentData {
    fn new(seen: &ObservedPacket, data: DataContent) -> Self {
        let ObservedPacket { place, fate, certainty, .. } = *seen;
        let timestamp = seen.header.timestamp;
        Self { place, timestamp, data, fate, certainty, ack: None, nack: None }
    }

    /// Latest time at which it was made: in a full network it waits in its NIC before it is seen, and by
    /// its sender's clock it came so long behind another. T-8
    fn made_behind(&self, other: &Self) -> Picoseconds {
        let behind = clock_difference(other.timestamp, self.timestamp) + MICROSECOND;
        self.place.time.min(other.place.time.saturating_add(behind))
    }
}

/// Cause of a retransmission, judged by the fates of the transmission before and of the ACK and the
/// NACK to it; `there` is the first ACK that was seen to arrive, to whichever transmission. The times are when
/// it was seen, and when it was made. T-10
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
    // It was not even on its way to where it was first seen.
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
