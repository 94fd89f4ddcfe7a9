//! One conversation: state + packet → what is noticed. T-2, T-4, T-5, T-8, T-11, T-12

use std::collections::VecDeque;

use codec::crc::Residue;
use codec::transport::{Incarnation, Reason, Sync, Timestamp};

use super::history::History;
use super::message::{Echo, Message, is_before};
use super::noticed::{Broken, Gone, Label, Noticed, Remark};
use super::scene::Scene;
use super::seen::{Data, Fate, Key, Link, Place, Reading, Seen, What};
use super::sums::Sums;
use crate::timeline::Time;

/// Messages that are over and kept, to know late packets by. *Chosen*: what is late is a message or two
/// late.
const OVER_MAX: usize = 4;

/// One conversation.
#[derive(Clone, Debug)]
pub(super) struct Talk {
    /// Counts from 0, in the order in which they were first seen.
    pub(super) number: u64,
    pub(super) key: Key,
    pub(super) first: Place,
    pub(super) last: Time,
    pub(super) sums: Sums,
    pub(super) history: History,
    current: Option<Message>,
    over: VecDeque<Over>,
    /// The newest incarnation, and the link on which its data is first seen.
    newest: Option<(Incarnation, Link)>,
    /// The first transmission of all, by its sender's clock.
    eldest: Option<Timestamp>,
    messages: u64,
}

/// A message that is over.
#[derive(Clone, Copy, Debug)]
struct Over {
    number: u64,
    /// When it began.
    since: Time,
    label: Label,
    newest: Timestamp,
    /// True for a message without SYNC that was acknowledged: only a NACK with reason 4 may follow. T-12
    settled: bool,
}

/// What comes behind a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    /// One of its incarnation with the other number: it must have been acknowledged. T-4
    Flipped,
    /// Another of its incarnation and number.
    Same,
    /// One of a newer incarnation, with this content.
    Newer(Residue),
    /// Nothing that was captured.
    Nothing,
}

/// How a data packet stands to the message that is being sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stands {
    /// It sends that again.
    Again,
    /// It sends the next, which comes behind it.
    Next(Next),
    /// It is of what is over.
    Stale,
    /// It is hurt, and need not be what it says.
    Doubtful,
}

impl Talk {
    pub(super) fn new(number: u64, seen: &Seen) -> Self {
        Self {
            number,
            key: seen.key(),
            first: seen.place,
            last: seen.last,
            sums: Sums::default(),
            history: History::default(),
            current: None,
            over: VecDeque::new(),
            newest: None,
            eldest: None,
            messages: 0,
        }
    }

    /// Takes the next packet, in order of first sight.
    pub(super) fn step(&mut self, seen: &Seen, scene: &Scene, out: &mut impl FnMut(Noticed)) {
        self.last = self.last.max(seen.last);
        match seen.what {
            What::Data(data) => self.data(seen, data, scene, out),
            What::Ack | What::Nack(_) => self.answer(seen, scene, out),
        }
        if let Some(message) = &mut self.current {
            message.relieve(scene, &mut counted(&mut self.sums, out));
        }
    }

    fn data(&mut self, seen: &Seen, data: Data, scene: &Scene, out: &mut impl FnMut(Noticed)) {
        match self.stands(seen, data) {
            Stands::Doubtful => {}
            Stands::Stale => {
                self.tell(seen, Remark::Stale, out);
                let newest = self.newest.filter(|(newest, link)| {
                    newest.is_newer_than(seen.header.incarnation) && *link == seen.links.0
                });
                if newest.is_some() {
                    self.tell(seen, Remark::Broken(Broken::Backwards), out);
                }
            }
            Stands::Again => {
                if let Some(message) = &mut self.current {
                    message.again(seen, data);
                }
            }
            Stands::Next(next) => {
                self.close(next, Some(seen), scene, out);
                self.open(seen, data, scene);
            }
        }
    }

    /// How a data packet stands to what was before.
    fn stands(&self, seen: &Seen, data: Data) -> Stands {
        let Label { incarnation, seq, timestamp } = seen.label();
        let sound = seen.reading == Reading::Sound;
        let Some((newest, _)) = self.newest else {
            return if sound { Stands::Next(Next::Nothing) } else { Stands::Doubtful };
        };
        if newest != incarnation {
            return match (sound, incarnation.is_newer_than(newest)) {
                (false, _) => Stands::Doubtful,
                (true, true) => Stands::Next(Next::Newer(data.content)),
                (true, false) => Stands::Stale,
            };
        }
        if self.over(seen.label()).is_some() {
            return Stands::Stale;
        }
        let Some(message) = &self.current else { return Stands::Next(Next::Flipped) };
        if message.label.seq != seq {
            let newer = is_before(message.newest(), timestamp);
            return if newer { Stands::Next(Next::Flipped) } else { Stands::Stale };
        }
        let both = sound && message.reading == Reading::Sound;
        if both && message.data.content != data.content {
            return Stands::Next(Next::Same);
        }
        match message.echo(timestamp) {
            Echo::Known | Echo::Between | Echo::After => Stands::Again,
            Echo::Before => Stands::Stale,
        }
    }

    /// A message begins.
    fn open(&mut self, seen: &Seen, data: Data, scene: &Scene) {
        let incarnation = seen.header.incarnation;
        let mut message = Message::new(self.messages, seen, data);
        let odd = match (self.newest, data.sync) {
            // The capture may have begun in the middle of it.
            (None, Sync::Clear) => None,
            (None, Sync::Set) => {
                self.sums.incarnations += 1;
                None
            }
            (Some((newest, _)), sync) if newest != incarnation => {
                self.sums.incarnations += 1;
                (sync == Sync::Clear).then_some(Broken::SyncMissing)
            }
            (Some(_), Sync::Set) => Some(Broken::SyncAgain),
            (Some(_), Sync::Clear) => None,
        };
        let since = self.over.front().map_or(self.first.time, |over| over.since);
        if let Some(broken) = odd.filter(|_| scene.is_whole(since)) {
            message.push(seen.place, seen.label(), seen.fate, Remark::Broken(broken));
        }
        self.messages += 1;
        self.newest = Some((incarnation, seen.links.0));
        self.eldest = self.eldest.or(Some(seen.header.timestamp));
        self.current = Some(message);
    }

    /// The message that is being sent is over, since another comes behind it, or nothing.
    fn close(
        &mut self,
        next: Next,
        by: Option<&Seen>,
        scene: &Scene,
        out: &mut impl FnMut(Noticed),
    ) {
        let Some(mut message) = self.current.take() else { return };
        message.settle_all(scene);
        let acknowledged = message.ack.is_some();
        self.sums.acknowledged += u64::from(acknowledged);
        let (gone, broken) = ending(&message, next);
        let gone = gone.map(|gone| match gone {
            // Absence of an answer is no proof where none can be seen.
            Gone::Unanswered if !self.is_heard(message.since, scene) => Gone::Unseen,
            Gone::Refused
            | Gone::Unanswered
            | Gone::Withdrawn
            | Gone::Reopened
            | Gone::Unseen
            | Gone::Open => gone,
        });
        let sure = match broken {
            // Of the first message that is seen, an older transmission may have had the ACK.
            Some(Broken::TwoOutstanding) => {
                self.over.front().is_some_and(|over| self.is_visible(over.since, scene))
            }
            Some(_) | None => scene.is_whole(message.since),
        };
        let broken = broken.filter(|_| sure);
        let place = by.map_or_else(|| message.last_place(), |by| by.place);
        let label = Label { timestamp: message.newest(), ..message.label };
        if let Some(gone) = gone {
            message.push(place, label, Fate::Arrived, Remark::Gone(gone));
        }
        if let (Some(broken), Some(by)) = (broken, by) {
            message.push(place, by.label(), by.fate, Remark::Broken(broken));
        }
        let Message { number, since, label, data, .. } = message;
        let newest = message.newest();
        let settled = acknowledged && data.sync == Sync::Clear;
        self.over.push_front(Over { number, since, label, newest, settled });
        self.over.truncate(OVER_MAX);
        let letters = message.finish(scene, &mut counted(&mut self.sums, out));
        self.history.add(letters.into_iter());
    }

    fn answer(&mut self, seen: &Seen, scene: &Scene, out: &mut impl FnMut(Noticed)) {
        let label = seen.label();
        let sound = seen.reading == Reading::Sound;
        if let Some(message) = self.current.as_mut().filter(|it| is_of(it, label)) {
            match (message.echo(label.timestamp), sound) {
                (Echo::Known, _) => return message.answer(seen),
                (Echo::Between, true) => {
                    self.heard(seen, out);
                    return self.tell(seen, Remark::Late, out);
                }
                (Echo::Before | Echo::After, _) | (Echo::Between, false) => {}
            }
        }
        if !sound {
            return;
        }
        self.heard(seen, out);
        let odd = match self.over(label).copied() {
            Some(over) => {
                let refused =
                    matches!(seen.what, What::Nack(reason) if reason != Reason::NoChannelState);
                self.tell(seen, Remark::Late, out);
                (over.settled && refused).then_some(Broken::NackAfterAck)
            }
            None if self.newest.is_some_and(|(it, _)| it.is_newer_than(label.incarnation)) => {
                return self.tell(seen, Remark::Stale, out);
            }
            None => self.is_unasked(label, scene).then_some(Broken::Unasked),
        };
        if let Some(broken) = odd {
            self.tell(seen, Remark::Broken(broken), out);
        }
    }

    /// An answer that is none to the message that is being sent.
    fn heard(&mut self, seen: &Seen, out: &mut impl FnMut(Noticed)) {
        match seen.what {
            What::Nack(reason) => self.tell(seen, Remark::Nack(reason), out),
            What::Data(_) | What::Ack => self.tell(seen, Remark::Ack(None), out),
        }
    }

    /// Whether what an answer echoes would have been seen, had it been sent.
    fn is_unasked(&self, label: Label, scene: &Scene) -> bool {
        let kept = self.over.back().filter(|_| self.over.len() == OVER_MAX);
        let eldest = kept.map(|over| over.label.timestamp).or(self.eldest);
        let Some(eldest) = eldest else { return false };
        is_before(eldest, label.timestamp) && self.is_visible(self.first.time, scene)
    }

    /// Whether nothing that was sent or answered since a time can have been missed.
    fn is_visible(&self, since: Time, scene: &Scene) -> bool {
        let seen = |(_, link)| scene.is_answered(self.key.pair(), link);
        scene.is_whole(since) && self.newest.is_some_and(seen)
    }

    /// Whether an answer, had there been one since a time, would have been seen.
    fn is_heard(&self, since: Time, scene: &Scene) -> bool {
        scene.is_whole(since) && self.newest.is_some_and(|(_, link)| scene.is_heard(link))
    }

    /// The message that is over to which a packet belongs.
    fn over(&self, label: Label) -> Option<&Over> {
        self.over.iter().find(|over| {
            let Label { incarnation, seq, timestamp } = over.label;
            (incarnation, seq) == (label.incarnation, label.seq)
                && !is_before(label.timestamp, timestamp)
                && !is_before(over.newest, label.timestamp)
        })
    }

    /// Tells of a packet that belongs to no message that is being sent.
    fn tell(&mut self, seen: &Seen, remark: Remark, out: &mut impl FnMut(Noticed)) {
        let message = self.over(seen.label()).map(|over| over.number);
        let Seen { place, fate, .. } = *seen;
        let noticed = Noticed { place, key: self.key, message, label: seen.label(), fate, remark };
        counted(&mut self.sums, out)(noticed);
    }

    /// Nothing comes any more.
    pub(super) fn finish(&mut self, scene: &Scene, out: &mut impl FnMut(Noticed)) {
        self.close(Next::Nothing, None, scene, out);
    }
}

fn is_of(message: &Message, label: Label) -> bool {
    (message.label.incarnation, message.label.seq) == (label.incarnation, label.seq)
}

/// How a message ended that is not acknowledged, and what must not be about what comes behind it, if all
/// answers were seen.
fn ending(message: &Message, next: Next) -> (Option<Gone>, Option<Broken>) {
    let refused = message.nack.is_some_and(Reason::is_final);
    match (next, message.ack.is_some()) {
        (Next::Same, true) => (None, Some(Broken::Unflipped)),
        (Next::Flipped | Next::Newer(_) | Next::Nothing, true) => (None, None),
        (Next::Flipped | Next::Same | Next::Newer(_) | Next::Nothing, false) if refused => {
            (Some(Gone::Refused), None)
        }
        (Next::Same, false) => (Some(Gone::Unseen), Some(Broken::Altered)),
        // Its ACK seems to be lost, and was not: its way was not recorded.
        (Next::Flipped, false) if message.is_written() => (Some(Gone::Unseen), None),
        (Next::Flipped, false) => (Some(Gone::Unseen), Some(Broken::TwoOutstanding)),
        (Next::Newer(content), false) => {
            let reopened = message.nack == Some(Reason::NoChannelState)
                || (message.reading == Reading::Sound && message.data.content == content);
            let gone = match message.nack {
                _ if reopened => Gone::Reopened,
                Some(_) => Gone::Withdrawn,
                None => Gone::Unanswered,
            };
            (Some(gone), None)
        }
        (Next::Nothing, false) => (Some(Gone::Open), None),
    }
}

/// Counts what is handed out.
fn counted<'a>(sums: &'a mut Sums, out: &'a mut impl FnMut(Noticed)) -> impl FnMut(Noticed) + 'a {
    |noticed| {
        sums.count(&noticed);
        out(noticed);
    }
}
