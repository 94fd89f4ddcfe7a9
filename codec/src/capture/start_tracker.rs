//! Tracks the state of a channel up to the character where it is cut.

use super::channel::Channel;
use super::chunk::Chunk;
use super::start_state::{FlowCommand, StartSender, StartState};
use crate::character::{Symbol, decode_control};
use crate::framing::{FrameEvent, Framer, FramerMode};
use crate::time::{CharacterPeriod, OPEN_LINK, Tick};

/// Iterations of a repeat that are processed before others are skipped: a pattern of one IDLE opens the link
/// after 16. F-7
const ROUNDS_FIRST: u64 = OPEN_LINK.0 + 2;
/// Iterations processed at the end, for the places of the last events.
const ROUNDS_LAST: u64 = 2;

#[derive(Clone, Debug, Default)]
pub(super) struct StartTracker {
    framer: Framer,
    /// State in the description, until its first character.
    declared: Option<StartState>,
    wire: TrackedWire,
    /// True if virtual channels share the characters: the state of each is not tracked. C-7
    is_shared: bool,
    period: CharacterPeriod,
}

/// State that the characters so far determine; places are those of the last such character.
#[derive(Clone, Debug, Default)]
struct TrackedWire {
    /// Without what the framer and the opposite channel determine.
    state: StartState,
    /// True in a packet that began before the recording, as long as nothing of it was recorded.
    is_cut: bool,
    /// First of the recorded characters without a hole.
    begun: Option<Tick>,
    /// First and last STOP since the last GO or open link.
    stops: Option<[Tick; 2]>,
    go: Option<Tick>,
    open: Option<Tick>,
    reset: Option<Tick>,
    reply: Option<Tick>,
}

impl StartTracker {
    /// State before the first character of a channel.
    pub(super) fn new(channel: &Channel) -> Self {
        let is_shared = channel.profile().is_some();
        let (declared, period) = (StartState::of(channel), channel.period);
        let framer = Framer::new().with_rules(channel.link_rules());
        Self { framer, declared, is_shared, period, ..Self::default() }
    }

    /// Adds the state of a further recording: the earliest applies, and none if one of them, which is no slice, has none.
    pub(super) fn declare(&mut self, state: Option<StartState>) {
        let both = self.declared.zip(state).map(<[StartState; 2]>::from);
        self.declared = both.and_then(|both| both.into_iter().min_by_key(|state| state.at));
    }

    /// Processes characters; a repeat costs some iterations.
    pub(super) fn feed(&mut self, chunk: &Chunk<'_>) {
        let Self { framer, declared, wire, .. } = self;
        framer.seek(chunk.first, &mut |at, event| wire.event(at, event));
        if let Some(start) = declared.take().and_then(|start| start.before(chunk.first)) {
            framer.resume(start.packet, start.silent);
            (wire.state, wire.is_cut) = (start, start.packet == Some(FramerMode::Inside));
        }
        let (chars, count) = chunk.content.parts();
        let count = count.unwrap_or(1);
        let rounds = count.min(ROUNDS_FIRST + ROUNDS_LAST);
        for round in 0..rounds {
            let packets = wire.state.packets;
            framer.feed(chars, &mut |at, event| wire.event(at, event));
            if round + 1 == ROUNDS_FIRST {
                let skipped = count - rounds;
                framer.skip(skipped * chars.len() as u64);
                wire.state.packets += (wire.state.packets - packets) * skipped;
            }
        }
    }

    /// The state before a character; in a hole what is known behind it. `peer` is the opposite
    /// channel: what it determines is known if it has the same rate and was recorded up to the same character.
    pub(super) fn state(&self, at: Tick, peer: Option<&Self>) -> Option<StartState> {
        if let Some(declared) = self.declared {
            return if declared.at >= at { Some(declared) } else { declared.before(at) };
        }
        match self.framer.position().filter(|_| !self.is_shared) {
            Some(position) if position == at => {}
            Some(position) if position < at => {
                let Self { mut framer, mut wire, .. } = self.clone();
                framer.seek(at, &mut |at, event| wire.event(at, event));
                return Some(StartState { at, ..wire.state });
            }
            Some(_) | None => return None,
        }
        let Self { wire, framer, .. } = self;
        let is_seen =
            |peer: &&Self| (peer.period, peer.framer.position()) == (self.period, Some(at));
        let is_alone = peer.is_none();
        let peer = peer.filter(is_seen).map(|peer| &peer.wire);
        let is_known = |place: Tick| match peer {
            Some(peer) => wire.has_witness(place, peer),
            None => is_alone,
        };
        // Both clear what F-4 counts.
        let cleared = wire.open.max(peer.and_then(|peer| peer.reset.max(peer.open)));
        let command = wire.state.command.map(|(command, changes)| {
            (command, changes.map(|it| it.filter(|it| is_known(*it) && Some(*it) > cleared)))
        });
        let reply = peer.and_then(|peer| peer.reply);
        Some(StartState {
            at,
            packet: if wire.is_cut { Some(FramerMode::Inside) } else { framer.state().mode() },
            silent: framer.state().silent(),
            sender: peer.and_then(|peer| wire.sender(peer)),
            command,
            probe: wire.state.probe.filter(|(it, _)| is_known(*it) && reply < Some(*it)),
            ..wire.state
        })
    }
}

impl TrackedWire {
    /// Flow control of this channel's sender, by the STOPs and GOs of the opposite channel. F-1, F-7, R-1
    fn sender(&self, peer: &Self) -> Option<StartSender> {
        // What ends a stop ends one that was declared, too.
        let is_reset = self.reset.is_some_and(|reset| self.has_witness(reset, peer));
        let is_ended = peer.go.is_some() || peer.open.is_some() || is_reset;
        let before =
            self.state.sender.filter(|_| !is_ended && self.has_witness(self.state.at, peer));
        let Some([first, last]) = peer.stops else {
            return if is_ended { Some(StartSender::Going) } else { before };
        };
        // After a silence of its own the sender may have restarted: its state is unknown.
        let since = match self.reset {
            Some(reset) if reset >= last => return Some(StartSender::Going),
            Some(reset) if reset >= first => last,
            Some(_) | None => match before {
                Some(StartSender::Stopped(since)) => since.min(first),
                Some(StartSender::Going) | None => first,
            },
        };
        (self.open < Some(since)).then_some(StartSender::Stopped(since))
    }

    fn event(&mut self, at: Tick, event: FrameEvent<'_>) {
        match event {
            FrameEvent::Begin => self.begun = Some(at),
            FrameEvent::LinkRestored => {}
            FrameEvent::Idle(_) | FrameEvent::ResetEnded => {}
            FrameEvent::Synchronized => self.end_cut(),
            FrameEvent::Hole { .. } => {
                self.end_cut();
                let state = self.state.behind_hole();
                *self = Self { state, begun: Some(at), ..Self::default() };
            }
            FrameEvent::Start(data) | FrameEvent::Data(data) | FrameEvent::Discarded(data) => {
                (self.state.alive, self.is_cut) = (Some(true), false);
                self.state.data = Tick(at.0.saturating_add(data.len() as u64));
            }
            FrameEvent::Fill(codes) => {
                for (place, code) in (at.0..).zip(codes) {
                    self.symbol(Tick(place), decode_control(*code).symbol());
                }
            }
            FrameEvent::Control { decoded, .. } => {
                self.state.alive = Some(true);
                self.symbol(at, decoded.symbol());
            }
            FrameEvent::End(_) => self.state.packets += 1,
            FrameEvent::LinkOpen => {
                self.open = Some(at);
                self.stops = None;
                self.state.sender = self.state.sender.filter(|it| *it == StartSender::Going);
            }
            FrameEvent::Reset => {
                self.reset = Some(at);
                self.state.sender = None;
            }
        }
    }

    /// True if the opposite channel was recorded from a place on without a hole, or from the cut on if that is later.
    fn has_witness(&self, place: Tick, peer: &Self) -> bool {
        peer.begun <= Some(place.max(self.state.at))
    }

    /// Counts a packet of which the recording has nothing but the end.
    fn end_cut(&mut self) {
        self.state.packets += u64::from(std::mem::take(&mut self.is_cut));
    }

    fn symbol(&mut self, at: Tick, symbol: Option<Symbol>) {
        match symbol {
            Some(Symbol::Go) => {
                self.command(at, FlowCommand::Go);
                (self.stops, self.go) = (None, Some(at));
            }
            Some(Symbol::Stop) => {
                self.command(at, FlowCommand::Stop);
                let first = self.stops.map_or(at, |[first, _]| first);
                self.stops = Some([first, at]);
            }
            Some(Symbol::Probe(number)) => self.state.probe = Some((at, number.value())),
            Some(Symbol::Reply(_)) => self.reply = Some(at),
            Some(_) | None => {}
        }
    }

    /// Notes a change of STOP and GO; that of the first command of a recording is not known. F-4
    fn command(&mut self, at: Tick, command: FlowCommand) {
        match &mut self.state.command {
            None => self.state.command = Some((command, [None; 2])),
            Some((known, [last, before])) if *known != command => {
                (*known, *before, *last) = (command, *last, Some(at));
            }
            Some(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::capture::ChunkContent;
    use crate::notation::parse;

    const WORDS: [&str; 8] = ["05", "83", "GAP", "IDLE", "IDLE×7", "GO", "STOP", "FRES"];

    proptest! {
        #[test]
        fn a_repeat_leaves_the_state_that_its_rounds_leave(
            words in prop::collection::vec(prop::sample::select(&WORDS[..]), 1..8),
            count in 1..60_u64,
        ) {
            let pattern = parse(&words.join(" ")).unwrap();
            let (pattern, first) = (pattern.chars(), Tick(7));
            let repeat = Chunk { first, content: ChunkContent::Repeat { pattern, count } };
            let mut each = StartTracker::new(&Channel::named("a>b"));
            let mut whole = each.clone();
            whole.feed(&repeat);
            for round in 0..count {
                let first = Tick(first.0 + round * pattern.len() as u64);
                each.feed(&Chunk { first, content: ChunkContent::Literal(pattern) });
            }
            prop_assert_eq!(whole.state(repeat.end(), None), each.state(repeat.end(), None));
        }
    }

    #[test]
    fn a_reset_and_a_silence_end_the_stops_before_them() {
        let (begun, stops) = (Some(Tick(0)), Some([Tick(10), Tick(20)]));
        let peer = TrackedWire { begun, stops, ..Default::default() };
        let [first, last] = [10, 20].map(|at| Some(StartSender::Stopped(Tick(at))));
        for (reset, open, sender) in [
            (None, Some(10), None),
            (Some(9), None, first),
            (Some(10), None, last),
            (Some(20), None, Some(StartSender::Going)),
        ] {
            let [reset, open] = [reset, open].map(|at| at.map(Tick));
            let found = TrackedWire { reset, open, ..Default::default() }.sender(&peer);
            assert_eq!(found, sender, "{reset:?} {open:?}");
        }
    }
}
