//! Tracks the state of a channel up to the character where it is cut.

use super::chunk::{Chunk, ChunkContent};
use super::start_state::{
    StartCommand, StartOrder, StartPacket, StartReset, StartSender, StartState,
};
use crate::character::Symbol;
use crate::framing::{FrameEvent, Framer};
use crate::time::{OPEN_LINK, Tick};

/// Iterations of a repeat that are processed before others are skipped: a pattern of one IDLE opens the link
/// after 16. F-7
const ROUNDS_FIRST: u64 = OPEN_LINK.0 + 2;
/// Iterations processed at the end, for the places of the last events.
const ROUNDS_LAST: u64 = 2;

/// State of one channel.
#[derive(Clone, Debug)]
pub(super) struct StartTracker {
    framer: Framer,
    declared: Option<StartState>,
    wire: TrackedWire,
}

/// What the characters so far determine; places are those of the last such character.
#[derive(Clone, Debug, Default)]
struct TrackedWire {
    packet: Option<StartPacket>,
    silent: u64,
    is_alive: bool,
    command: Option<StartCommand>,
    /// First and last STOP since the last GO or open link.
    stops: Option<[Tick; 2]>,
    go: Option<Tick>,
    open: Option<Tick>,
    reset: Option<Tick>,
    probe: Option<(Tick, u8)>,
    reply: Option<Tick>,
    data: Tick,
    sender: Option<StartSender>,
}

impl StartTracker {
    /// A tracker before the first character; `declared` is the state of a recording that is itself a slice.
    pub(super) fn new(declared: Option<StartState>) -> Self {
        Self { framer: Framer::new(), declared, wire: TrackedWire::default() }
    }

    /// Processes characters; a repeat costs some iterations.
    pub(super) fn feed(&mut self, chunk: &Chunk<'_>) {
        if let Some(start) = self.declared.take().filter(|start| start.at == chunk.first) {
            self.framer.seek(chunk.first, &mut |_, _| {});
            self.framer.resume(&start);
            self.wire = TrackedWire::of(&start);
        }
        let Self { framer, wire, .. } = self;
        framer.seek(chunk.first, &mut |at, event| wire.event(at, event));
        let (chars, count) = match chunk.content {
            ChunkContent::Literal(chars) => (chars, 1),
            ChunkContent::Repeat { pattern, count } => (pattern, count),
        };
        let (mut left, mut grown) = (count, 0);
        while left > 0 {
            let skipped = left.saturating_sub(ROUNDS_LAST);
            if count - left == ROUNDS_FIRST && skipped > 0 {
                framer.skip(skipped * chars.len() as u64);
                wire.grow(grown * skipped);
                left -= skipped;
            }
            let before = wire.inside();
            framer.feed(chars, &mut |at, event| wire.event(at, event));
            grown = wire.inside().saturating_sub(before);
            left -= 1;
        }
    }

    /// The state before a character, if everything directly before it was recorded. `peer` is the opposite
    /// channel.
    pub(super) fn state(&self, at: Tick, peer: Option<&Self>) -> Option<StartState> {
        if let Some(declared) = self.declared.filter(|declared| declared.at == at) {
            return Some(declared);
        }
        if self.framer.position() != Some(at) {
            return None;
        }
        let wire = &self.wire;
        let peer = peer.map(|peer| &peer.wire);
        // Both clear what F-4 counts.
        let opposite = peer.and_then(|peer| peer.reset.max(peer.open));
        let known = wire.open.max(opposite);
        let mut command = wire.command;
        for change in command.iter_mut().flat_map(|command| &mut command.changes) {
            *change = change.filter(|place| Some(*place) > known);
        }
        let reply = peer.and_then(|peer| peer.reply);
        Some(StartState {
            at,
            packet: wire.packet,
            silent: wire.silent,
            is_alive: wire.is_alive,
            sender: peer.and_then(|peer| wire.sender(peer)),
            command,
            probe: wire.probe.filter(|(place, _)| reply < Some(*place)),
            data: wire.data,
        })
    }
}

impl TrackedWire {
    fn of(start: &StartState) -> Self {
        let StartState { packet, silent, is_alive, sender, command, probe, data, at: _ } = *start;
        Self { packet, silent, is_alive, command, probe, data, sender, ..Self::default() }
    }

    /// Bytes of the packet so far.
    const fn inside(&self) -> u64 {
        match self.packet {
            Some(StartPacket::Inside(bytes)) => bytes,
            Some(StartPacket::Between | StartPacket::Reset(_)) | None => 0,
        }
    }

    fn grow(&mut self, more: u64) {
        if let Some(StartPacket::Inside(bytes)) = &mut self.packet {
            *bytes = bytes.saturating_add(more);
        }
    }

    /// Flow control of this channel's sender, by the STOPs and GOs of the opposite channel. F-1, F-7, R-1
    fn sender(&self, peer: &Self) -> Option<StartSender> {
        let Some([first, last]) = peer.stops else {
            let is_known = peer.go.is_some() || peer.open.is_some() || self.reset.is_some();
            return if is_known { Some(StartSender::Going) } else { self.sender };
        };
        // After a silence of its own the sender may have restarted: its state is unknown.
        let since = match self.reset {
            Some(reset) if reset >= last => return Some(StartSender::Going),
            Some(reset) if reset >= first => last,
            Some(_) | None => match self.sender {
                Some(StartSender::Stopped(since)) => since.min(first),
                Some(StartSender::Going) | None => first,
            },
        };
        (self.open < Some(since)).then_some(StartSender::Stopped(since))
    }

    fn event(&mut self, at: Tick, event: FrameEvent<'_>) {
        match event {
            FrameEvent::Begin | FrameEvent::LinkRestored => {}
            FrameEvent::Hole { .. } => *self = Self::default(),
            FrameEvent::Synchronized => {
                // A packet whose first bytes were not recorded ends here too.
                self.packet = Some(StartPacket::Between);
            }
            FrameEvent::Start(data) | FrameEvent::Data(data) => {
                let bytes = self.inside().saturating_add(data.len() as u64);
                // A packet that began before the boundaries were known may have begun earlier still.
                self.packet = self.packet.map(|_| StartPacket::Inside(bytes));
                self.data(at, data);
            }
            FrameEvent::Discarded(data) => {
                self.follow(StartReset::Data);
                self.data(at, data);
            }
            FrameEvent::Idle(periods) => {
                self.follow(StartReset::Late);
                self.silent = self.silent.saturating_add(periods).min(OPEN_LINK.0);
            }
            FrameEvent::Control { decoded, .. } => {
                self.alive();
                self.symbol(at, decoded.symbol());
            }
            FrameEvent::End(_) | FrameEvent::ResetEnded => {
                self.packet = self.packet.map(|_| StartPacket::Between);
            }
            FrameEvent::LinkOpen => {
                self.open = Some(at);
                (self.stops, self.sender) = (None, None);
            }
            FrameEvent::Reset => {
                self.reset = Some(at);
                self.sender = None;
                self.packet = Some(StartPacket::Reset(StartReset::Nothing));
            }
        }
    }

    fn symbol(&mut self, at: Tick, symbol: Option<Symbol>) {
        match symbol {
            Some(Symbol::Go) => {
                self.command(at, StartOrder::Go);
                (self.stops, self.go) = (None, Some(at));
            }
            Some(Symbol::Stop) => {
                self.command(at, StartOrder::Stop);
                let first = self.stops.map_or(at, |[first, _]| first);
                self.stops = Some([first, at]);
            }
            Some(Symbol::Probe(number)) => self.probe = Some((at, number.value())),
            Some(Symbol::Reply(_)) => self.reply = Some(at),
            Some(Symbol::Gap) => return,
            Some(_) | None => {}
        }
        let is_command = matches!(symbol, Some(Symbol::Go | Symbol::Stop));
        self.follow(if is_command { StartReset::Command } else { StartReset::Late });
    }

    fn data(&mut self, at: Tick, data: &[u8]) {
        self.alive();
        self.data = Tick(at.0.saturating_add(data.len() as u64));
    }

    const fn alive(&mut self) {
        (self.silent, self.is_alive) = (0, true);
    }

    /// Notes a change of STOP and GO; that of the first command of a recording is not known. F-4
    fn command(&mut self, at: Tick, order: StartOrder) {
        match &mut self.command {
            None => self.command = Some(StartCommand { order, changes: [None; 2] }),
            Some(command) if command.order != order => {
                let [last, _] = command.changes;
                *command = StartCommand { order, changes: [Some(at), last] };
            }
            Some(_) => {}
        }
    }

    /// Notes a character in a reset, other than its GAP. R-1
    const fn follow(&mut self, kind: StartReset) {
        use StartReset::{Command, Data, Late, Nothing};
        if let Some(StartPacket::Reset(reset)) = &mut self.packet {
            *reset = match (*reset, kind) {
                (Nothing, Command) => Command,
                (Data, _) | (_, Data) => Data,
                (Nothing | Command | Late, Nothing | Command | Late) => Late,
            };
        }
    }
}
