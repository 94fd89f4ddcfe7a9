//! One message: its transmissions, the answers to each, and what they tell when it is over. T-5, T-8, T-10

use std::collections::VecDeque;

use codec::transport::{Reason, Timestamp};

use super::noticed::{Broken, Cause, Label, Noticed, Remark, Storm};
use super::scene::Scene;
use super::seen::{Data, Fate, Key, Place, Reading, Seen, What};
use super::sums::letter;
use crate::path::Certainty;
use crate::timeline::Time;

/// Transmissions that are kept of a message. *Chosen*: an answer to an older one is no more than late.
const SENT_MAX: usize = 8;

/// What is kept of a message before it is handed out. *Chosen*: most messages have two packets.
const PENDING_MAX: usize = 24;

/// NACKs of one message, or retransmissions without an answer, that are a storm. *Chosen*: at a timeout of
/// 4 ms they take 32 ms, and where one packet in ten is lost they come once in a hundred million.
const STORM: u64 = 8;

/// For how long an ACK may be on its way from the tap into its NIC's tables. *Chosen*: a period of the scan,
/// 1 ms (T-10).
const GRACE: Time = 1_000_000_000;

/// A microsecond, in which timestamps count. T-8
const MICROSECOND: Time = 1_000_000;

/// A message that is being sent.
#[derive(Clone, Debug)]
pub(super) struct Message {
    pub(super) number: u64,
    pub(super) key: Key,
    /// When its first transmission was first seen.
    pub(super) since: Time,
    /// Of its first transmission.
    pub(super) label: Label,
    pub(super) data: Data,
    /// Whether all transmissions before were hurt, so that its content is not known.
    pub(super) reading: Reading,
    sent: VecDeque<Sent>,
    /// Retransmissions at which there was no answer to the transmission before.
    unanswered: u64,
    nacks: u64,
    /// The first ACK that got there, or may have.
    pub(super) ack: Option<Answer>,
    /// Whether the receiver has written it, by an ACK to a transmission that is kept no more.
    written: Written,
    /// The reason of the last NACK.
    pub(super) nack: Option<Reason>,
    pending: Vec<Noticed>,
    letters: Vec<char>,
}

/// A transmission.
#[derive(Clone, Debug)]
struct Sent {
    place: Place,
    timestamp: Timestamp,
    data: Data,
    fate: Fate,
    certainty: Certainty,
    ack: Option<Answer>,
    nack: Option<Answer>,
}

/// An answer to a transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) place: Place,
    /// When it was last seen.
    last: Time,
    fate: Fate,
    label: Label,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Written {
    Not,
    Before,
}

/// Whether one time of a clock that wraps is before another. T-8
pub(super) const fn is_before(one: Timestamp, other: Timestamp) -> bool {
    let ahead = other.0.wrapping_sub(one.0);
    ahead != 0 && ahead < 1 << 31
}

/// Time from one reading of a wrapping clock to a later one. T-8
pub(super) fn behind(one: Timestamp, other: Timestamp) -> Time {
    Time::from(other.0.wrapping_sub(one.0)) * MICROSECOND
}

/// How a packet stands to the transmissions of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Echo {
    /// It is one of them, or echoes one.
    Known,
    /// It is between them: of one that is kept no more.
    Between,
    /// It is older than all of them.
    Before,
    /// It is newer than all of them.
    After,
}

impl Message {
    /// A message that is sent, for the first time as far as is known.
    pub(super) fn new(number: u64, seen: &Seen, data: Data) -> Self {
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
            written: Written::Not,
            nack: None,
            pending: Vec::new(),
            letters: Vec::new(),
        };
        message.sent.push_back(Sent::new(seen, data));
        message.push(seen.place, seen.label(), seen.fate, Remark::Data(data));
        message
    }

    /// Where the last of its packets was first seen.
    pub(super) fn last_place(&self) -> Place {
        let sent = self.sent.back().map(|sent| sent.place);
        let places = self.pending.iter().map(|noticed| noticed.place).chain(sent);
        places.max_by_key(|place| place.time).unwrap_or_default()
    }

    /// The newest transmission's time by its sender's clock.
    pub(super) fn newest(&self) -> Timestamp {
        self.sent.back().map_or(self.label.timestamp, |sent| sent.timestamp)
    }

    /// How a time stands to those of the transmissions.
    pub(super) fn echo(&self, timestamp: Timestamp) -> Echo {
        if self.sent.iter().any(|sent| sent.timestamp == timestamp) {
            Echo::Known
        } else if is_before(timestamp, self.label.timestamp) {
            Echo::Before
        } else if is_before(self.newest(), timestamp) {
            Echo::After
        } else {
            Echo::Between
        }
    }

    pub(super) fn push(&mut self, place: Place, label: Label, fate: Fate, remark: Remark) {
        let (key, message) = (self.key, Some(self.number));
        self.pending.push(Noticed { place, key, message, label, fate, remark });
    }

    /// Another transmission; or another sight of one, if two taps saw it and nothing told that it was one.
    pub(super) fn again(&mut self, seen: &Seen, data: Data) {
        let timestamp = seen.header.timestamp;
        if let Some(sent) = self.sent.iter_mut().find(|sent| sent.timestamp == timestamp) {
            sent.fate = seen.fate;
            return;
        }
        if self.reading == Reading::Doubtful {
            (self.data, self.reading) = (data, seen.reading);
        }
        let last = self.sent.back().is_some_and(|sent| sent.ack.or(sent.nack).is_none());
        self.unanswered += u64::from(last);
        self.sent.push_back(Sent::new(seen, data));
        if last && self.unanswered == STORM {
            self.push(seen.place, seen.label(), seen.fate, Remark::Storm(Storm::Resent));
        }
    }

    /// An answer to one of its transmissions; tells how long that took.
    pub(super) fn answer(&mut self, seen: &Seen) {
        let label = seen.label();
        let answer = Answer { place: seen.place, last: seen.last, fate: seen.fate, label };
        let Some(sent) = self.sent.iter_mut().find(|it| it.timestamp == label.timestamp) else {
            return;
        };
        let sure = sent.certainty == Certainty::Certain;
        let (since, was_hurt) = (sent.place.time, sent.fate == Fate::Hurt && sure);
        if sent.fate.is_lost() && !was_hurt && matches!(seen.what, What::Ack) {
            // It was not, then: its way was not recorded, or this is another packet's.
            sent.fate = Fate::OutOfSight;
        }
        let said = match seen.what {
            What::Ack => &mut sent.ack,
            What::Data(_) | What::Nack(_) => &mut sent.nack,
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
            What::Nack(reason) => {
                self.nacks += u64::from(!again);
                self.nack = Some(reason).filter(|_| !seen.fate.is_lost()).or(self.nack);
                // A receiver that was started anew knows nothing, and takes SYNC for new. T-12
                let opens = self.data.sync == codec::transport::Sync::Set;
                if written && reason != Reason::NoChannelState && !opens {
                    broken = Some(Broken::NackAfterAck);
                }
                Remark::Nack(reason)
            }
            What::Data(_) | What::Ack => {
                if was_hurt {
                    broken = Some(Broken::AckOfLost);
                }
                let counts = !seen.fate.is_lost();
                let better = self
                    .ack
                    .is_none_or(|it| it.fate != Fate::Arrived && seen.fate == Fate::Arrived);
                if counts && better {
                    self.ack = Some(answer);
                }
                Remark::Ack(counts.then(|| seen.last.saturating_sub(since)))
            }
        };
        if again {
            return;
        }
        self.push(seen.place, label, seen.fate, remark);
        if let Some(broken) = broken {
            self.push(seen.place, label, seen.fate, Remark::Broken(broken));
        }
        if self.nacks == STORM && matches!(seen.what, What::Nack(_)) {
            self.push(seen.place, label, seen.fate, Remark::Storm(Storm::Nacks));
        }
    }

    /// Whether the receiver has said that it wrote it.
    pub(super) fn is_written(&self) -> bool {
        self.written == Written::Before || self.sent.iter().any(|sent| sent.ack.is_some())
    }

    /// Says why the second of the transmissions that are kept was made, and forgets the first.
    fn settle(&mut self, scene: &Scene) {
        let Some(first) = self.sent.pop_front() else { return };
        if first.ack.is_some() {
            self.written = Written::Before;
        }
        let Some(next) = self.sent.front() else { return };
        let (place, label) = (next.place, Label { timestamp: next.timestamp, ..self.label });
        let (since, fate, data) = (next.place.time, next.fate, next.data);
        let taken = next.ack.is_some() || next.fate == Fate::Arrived && next.nack.is_none();
        let made = next.made_behind(&first);
        let clock = scene.made(self.key.source, next.timestamp);
        let made = clock.map_or(made, |clock| made.min(clock.saturating_add(MICROSECOND)));
        // By the sender's clock the answer had so long; by the wire's it need not have.
        let patient = |answer: Answer| {
            let trip = answer.last.saturating_sub(first.place.time);
            let had = behind(first.timestamp, next.timestamp);
            made <= answer.last && trip.saturating_add(2 * MICROSECOND) <= had
        };
        let answer = first.ack.or(first.nack);
        let is_delayed = answer.or(self.ack).is_some_and(patient);
        let to = self.key.destination;
        let before = scene.fate(first.fate, to, first.place.time);
        let judged = |answer: Answer| {
            let fate = scene.fate(answer.fate, self.key.source, answer.place.time);
            Answer { fate, ..answer }
        };
        let (ack, nack) = (first.ack.map(judged), first.nack.map(judged));
        let there = self.ack.filter(|ack| ack.fate == Fate::Arrived);
        let cause = cause(before, (ack, nack), (since, made), there);
        let cause = if cause == Cause::TooEarly && is_delayed { Cause::Delayed } else { cause };
        self.push(place, label, fate, Remark::Resent(data, cause));
        if cause == Cause::AfterAck {
            self.push(place, label, fate, Remark::Broken(Broken::AfterAck));
        }
        if taken && self.written == Written::Before {
            self.push(place, label, fate, Remark::Duplicate);
        }
        for late in [first.ack, first.nack].into_iter().flatten().filter(|it| it.last > since) {
            self.push(late.place, late.label, late.fate, Remark::Late);
        }
    }

    /// Lets go of what is too much: of transmissions, and of what has been noticed.
    pub(super) fn relieve(&mut self, scene: &Scene, out: &mut impl FnMut(Noticed)) {
        while self.sent.len() > SENT_MAX {
            self.settle(scene);
        }
        if self.pending.len() >= PENDING_MAX {
            self.hand_out(scene, out);
        }
    }

    /// Nothing comes to it any more: says why each transmission was made.
    pub(super) fn settle_all(&mut self, scene: &Scene) {
        while self.sent.len() > 1 {
            self.settle(scene);
        }
        let source = self.key.source;
        self.ack = self.ack.filter(|ack| !scene.fate(ack.fate, source, ack.place.time).is_lost());
    }

    /// It is over: hands out all that has been noticed, in order of time. Returns its letters.
    pub(super) fn finish(mut self, scene: &Scene, out: &mut impl FnMut(Noticed)) -> Vec<char> {
        self.hand_out(scene, out);
        self.letters
    }

    fn hand_out(&mut self, scene: &Scene, out: &mut impl FnMut(Noticed)) {
        self.pending.sort_by_key(|noticed| noticed.place.time);
        for mut noticed in self.pending.drain(..) {
            scene.judge(&mut noticed);
            if self.letters.len() < super::history::RAW_MAX {
                self.letters.extend(letter(noticed.remark, noticed.fate));
            }
            out(noticed);
        }
    }
}

impl Sent {
    fn new(seen: &Seen, data: Data) -> Self {
        let Seen { place, fate, certainty, .. } = *seen;
        let timestamp = seen.header.timestamp;
        Self { place, timestamp, data, fate, certainty, ack: None, nack: None }
    }

    /// When it was made, at the latest: in a network that is full it waits in its NIC before it is seen, and by
    /// its sender's clock it came so long behind another. T-8
    fn made_behind(&self, other: &Self) -> Time {
        let behind = behind(other.timestamp, self.timestamp) + MICROSECOND;
        self.place.time.min(other.place.time.saturating_add(behind))
    }
}

/// Why a message was sent again at a time: by what became of the transmission before and of the ACK and the
/// NACK to it; `there` is the first ACK that was seen to arrive, to whichever transmission. The times are when
/// it was seen, and when it was made. T-10
fn cause(
    before: Fate,
    (ack, nack): (Option<Answer>, Option<Answer>),
    (since, made): (Time, Time),
    there: Option<Answer>,
) -> Cause {
    if let Some(ack) = there.filter(|ack| ack.place.time < since) {
        let long_ago = made.saturating_sub(ack.last) > GRACE;
        return if long_ago { Cause::AfterAck } else { Cause::TooEarly };
    }
    // It was not even on its way to where it was first seen.
    let later = |answer: Answer| answer.place.time >= since && !answer.fate.is_lost();
    match (ack, nack) {
        (Some(answer), _) | (None, Some(answer)) if later(answer) => Cause::TooEarly,
        (Some(answer), _) | (None, Some(answer)) if answer.fate == Fate::Hurt => Cause::Corrupt,
        (Some(ack), _) => match ack.fate {
            Fate::Hurt => Cause::Corrupt,
            Fate::Lost => Cause::LostAck,
            Fate::Arrived => Cause::TooEarly,
            Fate::OutOfSight | Fate::UnderWay => Cause::Unknown,
        },
        (None, Some(nack)) if nack.last > since && nack.fate == Fate::Arrived => Cause::TooEarly,
        (None, Some(_)) => Cause::Nack,
        (None, None) => match before {
            Fate::Hurt => Cause::Corrupt,
            Fate::Lost => Cause::LostData,
            Fate::Arrived => Cause::Unanswered,
            Fate::OutOfSight | Fate::UnderWay => Cause::Unknown,
        },
    }
}
