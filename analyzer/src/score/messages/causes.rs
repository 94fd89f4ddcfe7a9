//! True causes of retransmissions: the fates of each transmission and of the answers to it. T-10

use std::collections::{BTreeMap, VecDeque};

use super::{ScoredLabel, TruthLabel};
use crate::conversation::ResendCause;

/// Transmissions that are kept of a message. *Chosen*: what was long before the last says nothing of it.
const SENT_MAX: usize = 32;

/// Reason why messages were sent again.
#[derive(Clone, Debug, Default)]
pub(super) struct CauseScore {
    /// The latest message of each logical channel.
    sent: BTreeMap<ScoredLabel, VecDeque<ScoredTransmission>>,
    /// Earlier messages: the acceptable causes of a retransmission, until one is found.
    known: BTreeMap<TruthLabel, &'static [ResendCause]>,
    /// Packets in transit, by name.
    packets: BTreeMap<String, TransportFrame>,
}

/// A packet on its way.
#[derive(Clone, Copy, Debug)]
struct TransportFrame {
    label: TruthLabel,
    kind: TransportFrameKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TransportFrameKind {
    Data,
    Ack,
    Nack,
}

/// A data packet that was sent, once.
#[derive(Clone, Debug)]
struct ScoredTransmission {
    label: TruthLabel,
    message: String,
    /// Time, in periods of the full rate.
    at: u64,
    end: TransportFrameEnd,
    /// Answers to it.
    answers: Vec<ScoredAnswer>,
}

#[derive(Clone, Copy, Debug)]
struct ScoredAnswer {
    kind: TransportFrameKind,
    at: u64,
    end: TransportFrameEnd,
    sight: SightingPlace,
}

/// Visibility of an answer at the taps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SightingPlace {
    /// None has seen it whole.
    None,
    /// One has.
    Whole,
}

/// Fate of a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum TransportFrameEnd {
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

impl CauseScore {
    /// A data packet was sent.
    pub(super) fn data(&mut self, (name, at): (&str, u64), message: &str, label: TruthLabel) {
        self.packets
            .insert(name.to_owned(), TransportFrame { label, kind: TransportFrameKind::Data });
        let sent = self.sent.entry(label.key()).or_default();
        if sent.back().is_some_and(|before| before.message != message) {
            // The message before is over, and so is what tells why it was sent again.
            let again =
                sent.iter().filter_map(|it| Some((it.label, expected_causes(sent, it.label)?)));
            self.known.extend(again);
            sent.clear();
        }
        let message = message.to_owned();
        sent.push_back(ScoredTransmission {
            label,
            message,
            at,
            end: TransportFrameEnd::UnderWay,
            answers: Vec::new(),
        });
        if sent.len() > SENT_MAX {
            sent.pop_front();
        }
    }

    /// An answer was sent to data with this label.
    pub(super) fn answer(
        &mut self,
        (name, at): (&str, u64),
        kind: TransportFrameKind,
        label: TruthLabel,
    ) {
        self.packets.insert(name.to_owned(), TransportFrame { label, kind });
        if let Some(sent) = self.of(label) {
            let (end, sight) = (TransportFrameEnd::UnderWay, SightingPlace::None);
            sent.answers.push(ScoredAnswer { kind, at, end, sight });
        }
    }

    /// A packet was seen whole.
    pub(super) fn seen(&mut self, name: &str) {
        let Some(TransportFrame { label, kind }) = self.packets.get(name).copied() else { return };
        let Some(sent) = self.of(label) else { return };
        let on_its_way =
            |it: &&mut ScoredAnswer| it.kind == kind && it.end == TransportFrameEnd::UnderWay;
        sent.answers.iter_mut().filter(on_its_way).for_each(|it| it.sight = SightingPlace::Whole);
    }

    /// A packet has reached its end. Its label, if it is data.
    pub(super) fn ended(&mut self, name: &str, end: TransportFrameEnd) -> Option<TruthLabel> {
        let TransportFrame { label, kind } = self.packets.remove(name)?;
        let sent = self.of(label)?;
        if kind == TransportFrameKind::Data {
            sent.end = end;
            return Some(label);
        }
        let on_its_way =
            |it: &&mut ScoredAnswer| it.kind == kind && it.end == TransportFrameEnd::UnderWay;
        if let Some(answer) = sent.answers.iter_mut().find(on_its_way) {
            answer.end = end;
        }
        None
    }

    fn of(&mut self, label: TruthLabel) -> Option<&mut ScoredTransmission> {
        self.sent.get_mut(&label.key())?.iter_mut().rev().find(|sent| sent.label == label)
    }

    /// Reason why a message was sent again with this label: what may be said, more than one where no wire
    /// tells which. None if too little is known.
    pub(super) fn of_resent(&mut self, label: TruthLabel) -> Option<&'static [ResendCause]> {
        let known = self.known.remove(&label);
        known.or_else(|| expected_causes(self.sent.get(&label.key())?, label))
    }
}

/// Reason why a message was sent again with this label, of all its transmissions.
fn expected_causes(
    sent: &VecDeque<ScoredTransmission>,
    label: TruthLabel,
) -> Option<&'static [ResendCause]> {
    let place = sent.iter().rposition(|sent| sent.label == label)?;
    let now = sent.get(place)?;
    let before = sent.get(place.checked_sub(1)?)?;
    let mut answers = sent.iter().take(place).flat_map(|sent| &sent.answers);
    let arrived = |answer: &ScoredAnswer| matches!(answer.end, TransportFrameEnd::Arrived(_));
    if answers.any(|it| it.kind == TransportFrameKind::Ack && it.at < now.at && arrived(it)) {
        return Some(&[ResendCause::TooEarly, ResendCause::AfterAck]);
    }
    match (before.answers.last(), before.end) {
        (Some(ScoredAnswer { end: TransportFrameEnd::UnderWay, .. }), _)
        | (None, TransportFrameEnd::UnderWay) => None,
        (Some(ScoredAnswer { end: TransportFrameEnd::Arrived(at), kind, .. }), _) => match kind {
            TransportFrameKind::Nack if *at < now.at => Some(&[ResendCause::Nack]),
            TransportFrameKind::Ack | TransportFrameKind::Nack | TransportFrameKind::Data => {
                Some(&[ResendCause::TooEarly])
            }
        },
        // What was hurt before a tap saw it need not look like an answer.
        (
            Some(ScoredAnswer {
                end: TransportFrameEnd::Lost | TransportFrameEnd::Inside,
                kind,
                sight,
                ..
            }),
            _,
        ) => Some(match (kind, sight) {
            (TransportFrameKind::Nack, SightingPlace::Whole) => {
                &[ResendCause::Nack, ResendCause::Corrupt]
            }
            (TransportFrameKind::Nack, SightingPlace::None) => {
                &[ResendCause::Nack, ResendCause::Corrupt, ResendCause::Unanswered]
            }
            (TransportFrameKind::Ack | TransportFrameKind::Data, SightingPlace::Whole) => {
                &[ResendCause::LostAck, ResendCause::Corrupt]
            }
            (TransportFrameKind::Ack | TransportFrameKind::Data, SightingPlace::None) => {
                &[ResendCause::LostAck, ResendCause::Corrupt, ResendCause::Unanswered]
            }
        }),
        (None, TransportFrameEnd::Arrived(_)) => Some(&[ResendCause::Unanswered]),
        (None, TransportFrameEnd::Inside) => {
            Some(&[ResendCause::LostData, ResendCause::Corrupt, ResendCause::Unanswered])
        }
        (None, TransportFrameEnd::Lost) => Some(&[ResendCause::LostData, ResendCause::Corrupt]),
    }
}
