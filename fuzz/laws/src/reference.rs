//! Meaning of characters, one at a time, from the rules alone: the second witness against the analyzer.

use analyzer::event::FlowCommand;
use codec::time::CharacterPeriod;
use std::sync::LazyLock;

use analyzer::event::{LinkEvent, ResumeCause};
use analyzer::packet::FrameEnd;

use codec::character::{Character, ProbeNumber, ReplyStatus, Symbol};

/// Decoding of a control code by a receiver, with correction. C-2, C-4, C-5
pub fn decode_symbol(code: u8) -> Option<(Symbol, SymbolMatch)> {
    static TABLE: LazyLock<Vec<Option<(Symbol, SymbolMatch)>>> =
        LazyLock::new(|| (0..=u8::MAX).map(by_rule).collect());
    TABLE.get(usize::from(code)).copied().flatten()
}

fn by_rule(code: u8) -> Option<(Symbol, SymbolMatch)> {
    let fixed = [
        (0x00, Symbol::Idle),
        (0x0c, Symbol::Gap),
        (0x03, Symbol::Go),
        (0x0f, Symbol::Stop),
        (0x30, Symbol::OverrunAlarm),
        (0x33, Symbol::ForwardReset),
        (0x3c, Symbol::BackwardReset),
    ];
    let exact = match code {
        0xc0..=0xc7 => ProbeNumber::new(code - 0xc0).map(Symbol::Probe),
        0xf0..=0xff => ReplyStatus::new(code - 0xf0).map(Symbol::Reply),
        _ => fixed.iter().find(|(own, _)| *own == code).map(|(_, symbol)| *symbol),
    };
    let weak = |own: u8| own & code == code && (own ^ code).count_ones() == 1;
    let near = || fixed.iter().find(|(own, _)| weak(*own)).map(|(_, symbol)| *symbol);
    match exact {
        Some(symbol) => Some((symbol, SymbolMatch::Exactly)),
        None => near().map(|symbol| (symbol, SymbolMatch::Weakly)),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SymbolMatch {
    Exactly,
    /// One 1 short. C-4
    Weakly,
}

/// CRC-8 by long division. P-4
pub fn crc(bytes: &[u8]) -> u8 {
    // x²+x+1 comes in where x⁸ leaves: without a comparison, as fuzzing watches those.
    let step = |crc: u8| {
        let leaves = crc >> 7;
        (crc << 1) ^ leaves ^ (leaves << 1) ^ (leaves << 2)
    };
    bytes.iter().fold(0, |crc, byte| (0..8).fold(crc ^ byte, |crc, _| step(crc)))
}

/// A packet as a receiver frames it. P-1, P-2, P-5, P-9
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReferencePacket {
    /// From 0 on its channel.
    pub number: u64,
    pub start: u64,
    pub end: u64,
    pub bytes: Vec<u8>,
    /// The leading bytes with MSB 1 before the CRC byte.
    pub route: Vec<u8>,
    /// The byte after them, if it is before the CRC byte.
    pub tag: Option<u8>,
    /// Computed ⊕ received CRC, but of a runt or a part.
    pub syndrome: Option<u8>,
    /// True if its start or its end was not recorded. P-7
    pub is_partial: bool,
    pub ended_by: FrameEnd,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReferenceEvent {
    Packet(ReferencePacket),
    Event(LinkEvent),
    /// STOP or GO. F-1
    Command(FlowCommand),
}

/// Event, and the place of its character.
pub type PlacedEvent = (u64, ReferenceEvent);

#[derive(Clone, Debug, Default)]
pub struct ReferenceReceiver {
    next: Option<u64>,
    /// True once it is known where packets begin: behind GAP, FRES or 16 silent periods.
    is_framed: bool,
    idle: u64,
    doing: ReferenceState,
    packets: u64,
    events: Vec<PlacedEvent>,
}

#[derive(Clone, Debug, Default)]
enum ReferenceState {
    #[default]
    Nothing,
    Packet {
        start: u64,
        end: u64,
        bytes: Vec<u8>,
        is_whole: bool,
    },
    Reset,
}

impl ReferenceReceiver {
    /// Takes the character of a place; places left out are a hole.
    pub fn take(&mut self, at: u64, character: Character) {
        if let Some(next) = self.next.replace(at + 1).filter(|next| *next < at) {
            self.close(at, FrameEnd::Hole);
            self.event(at, LinkEvent::Hole { missing: at - next });
            (self.idle, self.is_framed) = (0, false);
            self.doing = ReferenceState::Nothing;
        }
        if character == Character::Control(0) {
            self.idle += 1;
            if self.idle == 16 {
                self.is_framed = true;
                self.close(at, FrameEnd::OpenLink);
                self.event(at, LinkEvent::OpenLink);
            }
            return;
        }
        if self.idle >= 16 {
            self.event(at, LinkEvent::LinkRestored);
        }
        self.idle = 0;
        match character {
            Character::Data(byte) => self.data(at, byte),
            Character::Control(code) => match decode_symbol(code) {
                None => self.event(at, LinkEvent::InvalidCode(code)),
                Some((symbol, SymbolMatch::Exactly)) => self.symbol(at, symbol),
                Some((symbol, SymbolMatch::Weakly)) => {
                    self.event(at, LinkEvent::CorrectedCode { code, symbol });
                    self.symbol(at, symbol);
                }
            },
        }
    }

    /// Ends the recording: the events, and the packet that the end cuts.
    pub fn finish(mut self) -> (Vec<PlacedEvent>, Option<PlacedEvent>) {
        let before = self.events.len();
        if let Some(next) = self.next {
            self.close(next - 1, FrameEnd::CaptureEnd);
        }
        let cut = self.events.drain(before..).next();
        (self.events, cut)
    }

    fn data(&mut self, at: u64, byte: u8) {
        match &mut self.doing {
            ReferenceState::Nothing => {
                let (bytes, is_whole) = (vec![byte], self.is_framed);
                self.doing = ReferenceState::Packet { start: at, end: at, bytes, is_whole };
            }
            ReferenceState::Packet { end, bytes, .. } => {
                *end = at;
                bytes.push(byte);
            }
            ReferenceState::Reset => {}
        }
    }

    fn symbol(&mut self, at: u64, symbol: Symbol) {
        self.is_framed |= matches!(symbol, Symbol::Gap | Symbol::ForwardReset);
        match symbol {
            Symbol::Gap => {
                self.close(at, FrameEnd::Gap);
                if matches!(self.doing, ReferenceState::Reset) {
                    self.doing = ReferenceState::Nothing;
                    self.event(at, LinkEvent::ResetEnded);
                }
            }
            Symbol::ForwardReset => {
                self.close(at, FrameEnd::Reset);
                self.doing = ReferenceState::Reset;
                self.event(at, LinkEvent::ForwardReset);
            }
            Symbol::Go => self.events.push((at, ReferenceEvent::Command(FlowCommand::Go))),
            Symbol::Stop => self.events.push((at, ReferenceEvent::Command(FlowCommand::Stop))),
            Symbol::OverrunAlarm => self.event(at, LinkEvent::OverrunAlarm),
            Symbol::BackwardReset => self.event(at, LinkEvent::BackwardReset),
            Symbol::Probe(number) => self.event(at, LinkEvent::Probe(number)),
            Symbol::Reply(status) => self.event(at, LinkEvent::Reply(status)),
            Symbol::Idle | Symbol::Virtual { .. } | _ => {}
        }
    }

    fn event(&mut self, at: u64, event: LinkEvent) {
        self.events.push((at, ReferenceEvent::Event(event)));
    }

    fn close(&mut self, at: u64, ended_by: FrameEnd) {
        let ReferenceState::Packet { start, end, bytes, is_whole } = &self.doing else { return };
        let (body, syndrome) = match bytes.as_slice() {
            [body @ .., last] if !body.is_empty() => (body, Some(crc(body) ^ last)),
            runt => (runt, None),
        };
        let is_partial = matches!(ended_by, FrameEnd::Hole | FrameEnd::CaptureEnd)
            || (!is_whole && syndrome != Some(0));
        let syndrome = syndrome.filter(|_| !is_partial);
        let route: Vec<u8> = body.iter().copied().take_while(|byte| *byte >= 0x80).collect();
        let tag = body.get(route.len()).copied();
        let packet = ReferencePacket {
            number: self.packets,
            start: *start,
            end: *end,
            bytes: bytes.clone(),
            route,
            tag,
            syndrome,
            is_partial,
            ended_by,
        };
        self.packets += 1;
        self.doing = ReferenceState::Nothing;
        self.events.push((at, ReferenceEvent::Packet(packet)));
    }
}

/// A channel among others: all its characters with their places.
#[derive(Clone, Debug)]
pub struct ReferenceChannel {
    /// Its character period.
    pub period: CharacterPeriod,
    /// The opposite channel, by its index.
    pub peer: Option<usize>,
    /// Observed where its sender is.
    pub is_at_sender: bool,
    pub characters: Vec<(u64, Character)>,
}

/// Event on a channel: index of the channel, place, event.
pub type ReferenceRow = (usize, u64, ReferenceEvent);

/// Order of the rows of an instant and channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum RowOrigin {
    Own,
    Sender,
}

/// Events of all channels in order of time; last, the packets that the end of the recording cuts.
pub fn rows(tracks: &[ReferenceChannel]) -> Vec<ReferenceRow> {
    let mut event = Vec::new();
    let mut cut = Vec::new();
    for (channel, track) in tracks.iter().enumerate() {
        let mut receiver = ReferenceReceiver::default();
        track.characters.iter().for_each(|(at, character)| receiver.take(*at, *character));
        let (before, at_end) = receiver.finish();
        let time = |at: u64| track.period.time(at);
        event.extend(before.into_iter().map(|(at, event)| (time(at), channel, at, event)));
        cut.extend(at_end.map(|(at, event)| (time(at), channel, at, event)));
    }
    cut.sort_by_key(|(time, channel, ..)| (*time, *channel));
    event.sort_by_key(|(time, channel, ..)| (*time, *channel));
    let mut stopped = vec![ReferenceSender::Going; tracks.len()];
    let mut rows = Vec::new();
    let inputs = event.iter().filter_map(|(time, channel, _, event)| {
        let input = command(event, *channel, tracks)?;
        // What arrives with a reset arrives at its sender later, unless both were observed there. R-1
        let is_reset = matches!(event, ReferenceEvent::Event(LinkEvent::ForwardReset));
        let is_at_sender = tracks.get(input.0)?.is_at_sender;
        Some((*time, if is_reset { 2 * u8::from(is_at_sender) } else { 1 }, input))
    });
    let mut inputs: Vec<_> = inputs.collect();
    inputs.sort_by_key(|(time, rank, _)| (*time, *rank));
    for (time, _, (governed, next, by)) in inputs {
        if let (Some(sender), Some(track)) = (stopped.get_mut(governed), tracks.get(governed)) {
            let event = match (*sender, next) {
                (ReferenceSender::Going, ReferenceSender::Stopped) => {
                    Some(LinkEvent::SenderStopped)
                }
                (ReferenceSender::Stopped, ReferenceSender::Going) => {
                    by.map(LinkEvent::SenderResumed)
                }
                (ReferenceSender::Going, ReferenceSender::Going)
                | (ReferenceSender::Stopped, ReferenceSender::Stopped) => None,
            };
            *sender = next;
            let at = track.period.periods(time);
            let row = |event| (time, governed, RowOrigin::Sender, at, ReferenceEvent::Event(event));
            rows.extend(event.map(row));
        }
    }
    for (time, channel, at, event) in event {
        if !matches!(event, ReferenceEvent::Command(_)) {
            rows.push((time, channel, RowOrigin::Own, at, event));
        }
    }
    rows.sort_by_key(|(time, channel, origin, ..)| (*time, *channel, *origin));
    let rows = rows.into_iter().map(|(_, channel, _, at, event)| (channel, at, event));
    // What the end closes comes last, however long ago its channel fell silent.
    rows.chain(cut.into_iter().map(|(_, channel, at, event)| (channel, at, event))).collect()
}

/// A sender's flow control. What a hole leaves open is as good as going: a STOP is news, a GO not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReferenceSender {
    Going,
    Stopped,
}

/// Sender that an event stops or resumes, and the cause. F-1, F-2, F-7, R-1
fn command(
    event: &ReferenceEvent,
    own: usize,
    tracks: &[ReferenceChannel],
) -> Option<(usize, ReferenceSender, Option<ResumeCause>)> {
    let peer = tracks.get(own)?.peer;
    match event {
        ReferenceEvent::Command(FlowCommand::Stop) => Some((peer?, ReferenceSender::Stopped, None)),
        ReferenceEvent::Command(FlowCommand::Go) => {
            Some((peer?, ReferenceSender::Going, Some(ResumeCause::Go)))
        }
        ReferenceEvent::Event(LinkEvent::OpenLink) => {
            Some((peer?, ReferenceSender::Going, Some(ResumeCause::OpenLink)))
        }
        ReferenceEvent::Event(LinkEvent::Hole { .. }) => {
            Some((peer?, ReferenceSender::Going, None))
        }
        ReferenceEvent::Event(LinkEvent::ForwardReset) => {
            Some((own, ReferenceSender::Going, Some(ResumeCause::Reset)))
        }
        ReferenceEvent::Packet(_) | ReferenceEvent::Event(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_crc_are_those_of_the_rules() {
        let weak = |symbol| Some((symbol, SymbolMatch::Weakly));
        assert_eq!(decode_symbol(0x0f), Some((Symbol::Stop, SymbolMatch::Exactly)));
        for (codes, symbol) in [
            (&[0x04, 0x08][..], Symbol::Gap),
            (&[0x01, 0x02], Symbol::Go),
            (&[0x0e, 0x0d, 0x0b, 0x07], Symbol::Stop),
            (&[0x13, 0x23, 0x31, 0x32], Symbol::ForwardReset),
            (&[0x10, 0x20], Symbol::OverrunAlarm),
            (&[0x1c, 0x2c, 0x34, 0x38], Symbol::BackwardReset),
        ] {
            assert!(codes.iter().all(|code| decode_symbol(*code) == weak(symbol)), "{symbol}");
        }
        let all = (0..=u8::MAX).filter(|code| decode_symbol(*code).is_some()).count();
        assert_eq!(all, 7 + 8 + 16 + 18);
        assert_eq!(crc(b"123456789"), 0xf4);
    }
}
