//! Why messages were sent again, as it was: what became of each transmission and of the answers to it. T-10

use std::collections::{BTreeMap, VecDeque};

use super::{Key, Label};
use crate::conversation::Cause;

/// Transmissions that are kept of a message. *Chosen*: what was long before the last says nothing of it.
const SENT_MAX: usize = 32;

/// Why messages were sent again.
#[derive(Clone, Debug, Default)]
pub(super) struct Causes {
    /// Of the latest message of each logical channel.
    sent: BTreeMap<Key, VecDeque<Transmission>>,
    /// Of messages before: what may be said of a retransmission, until something is.
    known: BTreeMap<Label, &'static [Cause]>,
    /// What packets that are on their way are, by their names.
    packets: BTreeMap<String, Packet>,
}

/// A packet on its way.
#[derive(Clone, Copy, Debug)]
struct Packet {
    label: Label,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Data,
    Ack,
    Nack,
}

/// A data packet that was sent, once.
#[derive(Clone, Debug)]
struct Transmission {
    label: Label,
    message: String,
    /// When, in periods of the full rate.
    at: u64,
    end: End,
    /// Answers to it.
    answers: Vec<Answer>,
}

#[derive(Clone, Copy, Debug)]
struct Answer {
    kind: Kind,
    at: u64,
    end: End,
    sight: Sight,
}

/// Whether taps show what an answer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sight {
    /// None has seen it whole.
    None,
    /// One has.
    Whole,
}

/// What became of a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum End {
    /// Nothing yet.
    #[default]
    UnderWay,
    /// It came to a host with a good CRC, then.
    Arrived(u64),
    /// It did not.
    Lost,
    /// It was lost in a host, as no wire shows. R-3, F-7
    Inside,
}

impl Causes {
    /// A data packet was sent.
    pub(super) fn data(&mut self, (name, at): (&str, u64), message: &str, label: Label) {
        self.packets.insert(name.to_owned(), Packet { label, kind: Kind::Data });
        let sent = self.sent.entry(label.key()).or_default();
        if sent.back().is_some_and(|before| before.message != message) {
            // The message before is over, and so is what tells why it was sent again.
            let again = sent.iter().filter_map(|it| Some((it.label, why(sent, it.label)?)));
            self.known.extend(again);
            sent.clear();
        }
        let message = message.to_owned();
        sent.push_back(Transmission {
            label,
            message,
            at,
            end: End::UnderWay,
            answers: Vec::new(),
        });
        if sent.len() > SENT_MAX {
            sent.pop_front();
        }
    }

    /// An answer was sent to data with this label.
    pub(super) fn answer(&mut self, (name, at): (&str, u64), kind: Kind, label: Label) {
        self.packets.insert(name.to_owned(), Packet { label, kind });
        if let Some(sent) = self.of(label) {
            let (end, sight) = (End::UnderWay, Sight::None);
            sent.answers.push(Answer { kind, at, end, sight });
        }
    }

    /// A packet was seen whole.
    pub(super) fn seen(&mut self, name: &str) {
        let Some(Packet { label, kind }) = self.packets.get(name).copied() else { return };
        let Some(sent) = self.of(label) else { return };
        let on_its_way = |it: &&mut Answer| it.kind == kind && it.end == End::UnderWay;
        sent.answers.iter_mut().filter(on_its_way).for_each(|it| it.sight = Sight::Whole);
    }

    /// A packet has reached its end. Its label, if it is data.
    pub(super) fn ended(&mut self, name: &str, end: End) -> Option<Label> {
        let Packet { label, kind } = self.packets.remove(name)?;
        let sent = self.of(label)?;
        if kind == Kind::Data {
            sent.end = end;
            return Some(label);
        }
        let on_its_way = |it: &&mut Answer| it.kind == kind && it.end == End::UnderWay;
        if let Some(answer) = sent.answers.iter_mut().find(on_its_way) {
            answer.end = end;
        }
        None
    }

    fn of(&mut self, label: Label) -> Option<&mut Transmission> {
        self.sent.get_mut(&label.key())?.iter_mut().rev().find(|sent| sent.label == label)
    }

    /// Why a message was sent again with this label: what may be said, more than one where no wire
    /// tells which. None if too little is known.
    pub(super) fn of_resent(&mut self, label: Label) -> Option<&'static [Cause]> {
        let known = self.known.remove(&label);
        known.or_else(|| why(self.sent.get(&label.key())?, label))
    }
}

/// Why a message was sent again with this label, of all its transmissions.
fn why(sent: &VecDeque<Transmission>, label: Label) -> Option<&'static [Cause]> {
    let place = sent.iter().rposition(|sent| sent.label == label)?;
    let now = sent.get(place)?;
    let before = sent.get(place.checked_sub(1)?)?;
    let mut answers = sent.iter().take(place).flat_map(|sent| &sent.answers);
    let arrived = |answer: &Answer| matches!(answer.end, End::Arrived(_));
    if answers.any(|it| it.kind == Kind::Ack && it.at < now.at && arrived(it)) {
        return Some(&[Cause::TooEarly, Cause::AfterAck]);
    }
    match (before.answers.last(), before.end) {
        (Some(Answer { end: End::UnderWay, .. }), _) | (None, End::UnderWay) => None,
        (Some(Answer { end: End::Arrived(at), kind, .. }), _) => match kind {
            Kind::Nack if *at < now.at => Some(&[Cause::Nack]),
            Kind::Ack | Kind::Nack | Kind::Data => Some(&[Cause::TooEarly]),
        },
        // What was hurt before a tap saw it need not look like an answer.
        (Some(Answer { end: End::Lost | End::Inside, kind, sight, .. }), _) => {
            Some(match (kind, sight) {
                (Kind::Nack, Sight::Whole) => &[Cause::Nack, Cause::Corrupt],
                (Kind::Nack, Sight::None) => &[Cause::Nack, Cause::Corrupt, Cause::Unanswered],
                (Kind::Ack | Kind::Data, Sight::Whole) => &[Cause::LostAck, Cause::Corrupt],
                (Kind::Ack | Kind::Data, Sight::None) => {
                    &[Cause::LostAck, Cause::Corrupt, Cause::Unanswered]
                }
            })
        }
        (None, End::Arrived(_)) => Some(&[Cause::Unanswered]),
        (None, End::Inside) => Some(&[Cause::LostData, Cause::Corrupt, Cause::Unanswered]),
        (None, End::Lost) => Some(&[Cause::LostData, Cause::Corrupt]),
    }
}
