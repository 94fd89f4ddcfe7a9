//! A receiver at the tap of one channel: frames, packets and link events. P-1, P-7..P-9, F-7, R-2, C-4, C-5

use codec::capture::{Channel, StartState};
use codec::character::{DecodedCode, Symbol, decode_control};
use codec::framing::{FrameEvent, Framer, FramerMode, FramerState};
use codec::time::Tick;
use codec::{Character, Chars};

use crate::event::{ChannelEvent, FlowCommand, LinkEvent};
use crate::packet::{ByteRetention, PacketAssembler, StartCoverage};

/// Converts the characters of a channel to events, one step per run of characters. Its size does not grow
/// with their number.
#[derive(Clone, Debug)]
pub struct ChannelReceiver {
    framer: Framer,
    decoder: EventDecoder,
}

/// Converts events of the framer to events of the channel.
#[derive(Clone, Debug)]
struct EventDecoder {
    packet: Option<PacketAssembler>,
    /// The last command to the opposite sender.
    command: Option<FlowCommand>,
    /// Number of ended packets.
    packets: u64,
    /// True in a packet that began before the recording, as long as nothing of it was recorded.
    is_cut: bool,
    /// Coverage of the first byte of a packet that begins now. P-7
    opening: StartCoverage,
    bytes: ByteRetention,
}

/// Result of one iteration of a repeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RepeatRound {
    /// True if the receiver's state is that before it.
    pub(crate) is_same: bool,
    /// Number of ended packets.
    pub(crate) packets: u64,
    /// Number of other events, without STOP and without the events inside packets.
    pub(crate) others: u64,
    /// Number of packet bytes.
    pub(crate) data: u64,
}

impl RepeatRound {
    /// True if further iterations have no events but repeated STOPs.
    pub(crate) fn is_settled(&self) -> bool {
        self.is_same && self.packets == 0 && self.others == 0
    }
}

impl ChannelReceiver {
    /// A receiver before its first character.
    pub const fn new(bytes: ByteRetention) -> Self {
        let decoder = EventDecoder {
            packet: None,
            command: None,
            packets: 0,
            is_cut: false,
            opening: StartCoverage::Unsure,
            bytes,
        };
        Self { framer: Framer::new(), decoder }
    }

    /// The receiver of a channel, by its rules and by its start. F-7, B-1, C-7, P-7
    pub fn of(channel: &Channel, bytes: ByteRetention) -> Self {
        let Self { framer, mut decoder } = Self::new(bytes);
        if channel.more.iter().any(|(key, word)| key == "start" && word == "power-up") {
            decoder.opening = StartCoverage::Seen;
        }
        Self { framer: framer.with_rules(channel.link_rules()), decoder }
    }

    /// The next character, once there was one.
    pub const fn next(&self) -> Option<Tick> {
        self.framer.position()
    }

    /// Moves to the next recorded character, not before the end of the last ones. A hole resets the state of
    /// the channel.
    pub fn seek(&mut self, first: Tick, out: &mut impl FnMut(Tick, ChannelEvent)) {
        let Self { framer, decoder } = self;
        framer.seek(first, &mut |at, event| decoder.decode(at, event, out));
    }

    /// Continues a recording that was cut before the next character, its first one. P-7
    pub(crate) fn resume(&mut self, start: &StartState, out: &mut impl FnMut(Tick, ChannelEvent)) {
        self.framer.resume(start.packet, start.silent);
        self.decoder.command = start.command.map(|(command, _)| command);
        self.decoder.packets = start.packets;
        self.decoder.is_cut = start.packet == Some(FramerMode::Inside);
        if let Some(FramerMode::Between | FramerMode::Reset) = start.packet {
            self.decoder.opening = StartCoverage::Seen;
            out(start.at, ChannelEvent::Framed);
        }
    }

    /// Processes the next characters: O(runs + bytes to check), not O(characters).
    pub fn feed(&mut self, chars: Chars<'_>, out: &mut impl FnMut(Tick, ChannelEvent)) {
        self.feed_observed(chars, &mut |_, _| {}, out);
    }

    /// Processes the next characters, and passes the events of the framer to an observer.
    pub(crate) fn feed_observed(
        &mut self,
        chars: Chars<'_>,
        observe: &mut impl FnMut(Tick, FrameEvent<'_>),
        out: &mut impl FnMut(Tick, ChannelEvent),
    ) {
        let Self { framer, decoder } = self;
        framer.feed(chars, &mut |at, event| {
            observe(at, event);
            decoder.decode(at, event, out);
        });
    }

    /// Processes characters that repeat: O(pattern) once an iteration changes nothing. Iterations with events
    /// are processed one by one.
    pub fn feed_repeated(
        &mut self,
        pattern: Chars<'_>,
        mut count: u64,
        out: &mut impl FnMut(Tick, ChannelEvent),
    ) {
        while count > 0 {
            let round = self.round(pattern, out);
            count -= 1;
            if round.is_settled() {
                self.skip(pattern, count, round);
                return;
            }
        }
    }

    /// Processes one iteration of a repeat.
    pub(crate) fn round(
        &mut self,
        pattern: Chars<'_>,
        out: &mut impl FnMut(Tick, ChannelEvent),
    ) -> RepeatRound {
        let (before, packets) = (self.state(), self.decoder.packets);
        let (mut others, mut data) = (0, 0);
        self.feed(pattern, &mut |at, event| {
            if let ChannelEvent::Link(_) | ChannelEvent::Command(FlowCommand::Go) = event {
                others += 1;
            } else if let ChannelEvent::Data(len) = event {
                data += len;
            }
            out(at, event);
        });
        let is_same = before == self.state();
        RepeatRound { is_same, packets: self.decoder.packets - packets, others, data }
    }

    /// Everything that determines further events, except the bytes of an arriving packet.
    const fn state(&self) -> (FramerState, Option<FlowCommand>) {
        (self.framer.state(), self.decoder.command)
    }

    /// Skips iterations equal to the last one, after at least two, or one that was settled. (Each symbol, and
    /// so each iteration, leaves the framer in a state that it does not change again.)
    pub(crate) fn skip(&mut self, pattern: Chars<'_>, rounds: u64, last: RepeatRound) {
        let len = pattern.len() as u64;
        let next = self.next().unwrap_or_default();
        self.framer.skip(len * rounds);
        self.decoder.packets += last.packets * rounds;
        if let Some(packet) = &mut self.decoder.packet {
            if next.since(packet.start).0 > len {
                // It began before the last iteration: it contains the data of all further ones.
                let data = |it| if let Character::Data(byte) = it { Some(byte) } else { None };
                let data: Vec<u8> = pattern.iter().filter_map(data).collect();
                packet.pass_over(next, (pattern, &data), rounds, self.framer.rules());
            } else {
                packet.shift(len * rounds);
            }
        }
    }

    /// Ends the recording, and a packet that is still arriving.
    pub fn finish(&mut self, out: &mut impl FnMut(Tick, ChannelEvent)) {
        let Self { framer, decoder } = self;
        framer.finish(&mut |at, event| decoder.decode(at, event, out));
    }
}

impl EventDecoder {
    /// Counts a packet of which the recording has nothing but the end.
    fn end_cut(&mut self) {
        self.packets += u64::from(std::mem::take(&mut self.is_cut));
    }

    #[inline]
    fn decode(
        &mut self,
        at: Tick,
        event: FrameEvent<'_>,
        out: &mut impl FnMut(Tick, ChannelEvent),
    ) {
        let link_event = match event {
            FrameEvent::Begin => {
                // Only character 0 is the first since power-up.
                if at > Tick(0) {
                    self.opening = StartCoverage::Unsure;
                }
                return out(at, ChannelEvent::Begins);
            }
            FrameEvent::Synchronized => {
                self.end_cut();
                self.opening = StartCoverage::Seen;
                return out(at, ChannelEvent::Framed);
            }
            FrameEvent::Start(data) => {
                self.is_cut = false;
                self.packet = Some(PacketAssembler::new(at, self.opening, self.bytes));
                data.first().into_iter().for_each(|first| out(at, ChannelEvent::Head(*first)));
                return self.data(at, data, out);
            }
            FrameEvent::Data(data) => return self.data(at, data, out),
            FrameEvent::Discarded(_) => return,
            FrameEvent::Idle(_) => return self.pause(at),
            FrameEvent::Fill(codes) => return self.fill(at, codes, out),
            FrameEvent::Control { code, decoded } => return self.control(at, code, decoded, out),
            FrameEvent::End(end) => {
                if let Some(packet) = self.packet.take() {
                    out(at, ChannelEvent::Packet(packet.close(self.packets, end)));
                    self.packets += 1;
                }
                return;
            }
            FrameEvent::Hole { missing } => {
                self.end_cut();
                (self.command, self.opening) = (None, StartCoverage::Unsure);
                LinkEvent::Hole { missing }
            }
            FrameEvent::LinkRestored => LinkEvent::LinkRestored,
            FrameEvent::LinkOpen => LinkEvent::OpenLink,
            FrameEvent::Reset => LinkEvent::ForwardReset,
            FrameEvent::ResetEnded => LinkEvent::ResetEnded,
        };
        out(at, ChannelEvent::Link(link_event));
    }

    #[inline]
    fn data(&mut self, at: Tick, data: &[u8], out: &mut impl FnMut(Tick, ChannelEvent)) {
        if let Some(packet) = &mut self.packet {
            packet.add(at, data);
        }
        out(at, ChannelEvent::Data(data.len() as u64));
    }

    /// Processes fill: only its commands have an effect again.
    fn fill(&mut self, at: Tick, codes: &[u8], out: &mut impl FnMut(Tick, ChannelEvent)) {
        let is_stop = |code: &u8| decode_control(*code).symbol() == Some(Symbol::Stop);
        // Commands alternate with what follows them.
        if self.command == Some(FlowCommand::Go) && !codes.iter().take(2).any(is_stop) {
            return;
        }
        for (place, code) in (at.0..).zip(codes) {
            self.control(Tick(place), *code, decode_control(*code), out);
        }
    }

    fn control(
        &mut self,
        at: Tick,
        code: u8,
        decoded: DecodedCode,
        out: &mut impl FnMut(Tick, ChannelEvent),
    ) {
        let symbol = match decoded {
            DecodedCode::Exact(symbol) => symbol,
            DecodedCode::Corrected(symbol) => {
                out(at, ChannelEvent::Link(LinkEvent::CorrectedCode { code, symbol }));
                symbol
            }
            DecodedCode::Invalid => {
                self.pause(at);
                return out(at, ChannelEvent::Link(LinkEvent::InvalidCode(code)));
            }
        };
        let event = match symbol {
            // A repeated GO has no effect: only a STOP of this channel could stop the opposite sender.
            Symbol::Go if self.command == Some(FlowCommand::Go) => return,
            Symbol::Go => self.command(FlowCommand::Go),
            Symbol::Stop => self.command(FlowCommand::Stop),
            Symbol::BackwardReset => ChannelEvent::Link(LinkEvent::BackwardReset),
            Symbol::OverrunAlarm => ChannelEvent::Link(LinkEvent::OverrunAlarm),
            Symbol::Probe(number) => ChannelEvent::Link(LinkEvent::Probe(number)),
            Symbol::Reply(status) => ChannelEvent::Link(LinkEvent::Reply(status)),
            // The framer reports their effects.
            Symbol::Gap | Symbol::ForwardReset => return,
            // IDLE is no character (C-6); unknown symbols are ignored (C-3, C-7).
            Symbol::Idle | Symbol::Virtual { .. } | _ => return,
        };
        out(at, event);
    }

    const fn command(&mut self, command: FlowCommand) -> ChannelEvent {
        self.command = Some(command);
        ChannelEvent::Command(command)
    }

    /// Notes a character inside a packet that may have been a GAP. P-1
    fn pause(&mut self, at: Tick) {
        if let Some(packet) = &mut self.packet {
            packet.pause(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use codec::notation::parse;

    use super::*;

    #[test]
    fn the_first_packet_begins_at_the_first_character_only_after_power_up() {
        for (key, word, opening) in [
            ("start", "power-up", StartCoverage::Seen),
            ("start", "later", StartCoverage::Unsure),
            ("end", "power-up", StartCoverage::Unsure),
        ] {
            let more = [(key.to_owned(), word.to_owned())].into();
            let channel = Channel { more, ..Channel::named("a:0>b:0") };
            let mut receiver = ChannelReceiver::of(&channel, ByteRetention::Forget);
            let mut openings = Vec::new();
            receiver.seek(Tick(0), &mut |_, _| {});
            receiver.feed(parse("83 05 GAP").unwrap().chars(), &mut |_, event| {
                if let ChannelEvent::Packet(packet) = event {
                    openings.push(packet.opening);
                }
            });
            assert_eq!(openings, [opening], "{key}={word}");
        }
    }
}
