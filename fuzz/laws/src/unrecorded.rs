//! What was not recorded is never judged: without some of its chunks, or whole channels, a capture has no kinds of
//! errors and warnings that it does not have as a whole, and no other circles. One in which nothing is wrong has none.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use analyzer::blocking::{BlockingEvent, STANDS, WaitRoot};
use analyzer::finding::{FactValue, FindingKind, FindingSet, NOTHING_FOLLOWS, Severity};
use analyzer::journey::JourneyFate;
use analyzer::link::interval::{ActivityInterval, ChannelActivity};
use codec::capture::{ByteOrder, Channel, ChannelId};
use codec::character::{Symbol, decode_control};
use codec::time::{LinkTimeout, Tick};
use simulator::scenario::Scenario;
use simulator::truth::TraceLevel;

use crate::capture_input::{self, OwnedChunk};
use crate::network::analyzed::AnalyzedCapture;
use crate::network::findings::is_in_order;
use crate::network::input::NetworkInput;
use crate::network::run::{RunOutcome, run};
use crate::repair::SeededRng;
use crate::standstill::circle::{CircleNetwork, CircleShape};
use crate::taps;

/// A capture of one section, as its chunks.
#[derive(Clone, Debug, Default)]
pub struct RecordedChunks {
    channels: BTreeMap<ChannelId, Channel>,
    chunks: Vec<(ChannelId, OwnedChunk)>,
    /// Errors and warnings in the whole. A stop as long as a standstill is one where the recording ends in it.
    known: BTreeSet<FindingKind>,
    /// Circles in the whole.
    circles: BTreeSet<Vec<ChannelId>>,
    /// Channels of the whole, and what held up their senders.
    causes: BTreeSet<[String; 2]>,
    /// First and last byte of packets on each channel that no switch is known to have dropped behind it.
    kept: BTreeSet<(ChannelId, Tick, Tick)>,
    /// Characters of the whole at which the sender of a channel was stopped.
    stopped: BTreeMap<ChannelId, Vec<[Tick; 2]>>,
}

/// Parts of a capture that are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OmittedPart {
    /// Chunks from one number up to another, as `editcap` counts them from 1.
    Run(usize, usize),
    /// Likewise, those of one channel.
    RunOf(ChannelId, usize, usize),
    /// All chunks of channels whose bit is 1.
    Channels(u64),
    /// All chunks that are nothing but fill, of channels whose bit is 1.
    Fill(u64),
    /// Chunks whose bit is 1, counted modulo 61.
    Some(u64),
}

/// Findings of wires on which a STOP may not be one.
const DAMAGED: [FindingKind; 3] =
    [FindingKind::DataWhileStopped, FindingKind::InvalidCode, FindingKind::OverrunAlarm];

impl RecordedChunks {
    pub fn of(capture: &[u8]) -> Self {
        let analyzed = AnalyzedCapture::of(capture);
        let stopped = analyzed.intervals.iter().map(|(id, all)| {
            let stopped = all.iter().filter(|it| it.state == ChannelActivity::Stopped);
            (*id, stopped.map(|it| [it.start, it.end]).collect())
        });
        let AnalyzedCapture { set, blocked, .. } = &analyzed;
        let (known, circles) = (wrong(set), circles(blocked));
        // A damaged command need not be what the sender understood.
        let is_damaged = DAMAGED.iter().any(|kind| known.contains(kind));
        let stopped = if is_damaged { BTreeMap::new() } else { stopped.collect() };
        let kept = analyzed.journeys.iter().flat_map(|journey| {
            let is_dropped = matches!(journey.fate, JourneyFate::Dropped(_));
            let kept = journey.hops.len() - usize::from(is_dropped);
            journey.hops.iter().take(kept).map(|hop| (hop.channel, hop.start, hop.end))
        });
        let mut read = Self { known, circles, stopped, kept: kept.collect(), ..Self::default() };
        let is_long = |blocked: &BlockingEvent| matches!(blocked, BlockingEvent::Stop(stop) if stop.until - stop.since >= STANDS);
        read.known.extend(blocked.iter().any(is_long).then_some(FindingKind::Standstill));
        let (channels, chunks) = capture_input::parts(capture);
        read.channels = (0..).map(ChannelId).zip(channels).collect();
        read.chunks = chunks;
        let stops = blocked.iter().filter_map(|blocked| match blocked {
            BlockingEvent::Stop(stop) => Some((stop, stop.standing.as_ref())),
            BlockingEvent::Deadlock(_) => None,
        });
        let told = stops.flat_map(|(stop, standing)| {
            let standing = standing.map_or(stop.root, |it| it.root);
            [stop.root.name(), standing.name(), read.name(stop.last())].map(|it| (stop.channel, it))
        });
        let causes = told.map(|(id, cause)| [read.name(id), cause].map(str::to_owned));
        read.causes = causes.chain(read.causes(set)).collect();
        read
    }

    fn name(&self, id: ChannelId) -> &str {
        self.channels.get(&id).map_or("", |channel| &channel.name)
    }

    /// Channels and what is said to hold up their senders. What is out of sight or unknown accuses nobody, and a sender of which
    /// nothing follows on a handshake cable is not accused. B-1
    fn causes(&self, set: &FindingSet) -> BTreeSet<[String; 2]> {
        let is_handshake =
            |id| self.channels.get(&id).is_some_and(|it| it.link_timeout() == LinkTimeout::Never);
        let facts =
            set.found().flat_map(|(_, id, found)| found.facts.iter().map(move |it| (id, it)));
        let causes = facts.filter_map(|(id, fact)| {
            let cause = match (fact.name, &fact.value) {
                ("cause", FactValue::Word(word)) => *word,
                ("by", FactValue::Channel(by)) => self.name(*by),
                (_, _) => return None,
            };
            let is_nobody =
                [WaitRoot::OutOfSight, WaitRoot::Unknown].map(WaitRoot::name).contains(&cause)
                    || cause == NOTHING_FOLLOWS && is_handshake(id);
            (!is_nobody).then(|| [self.name(id), cause].map(str::to_owned))
        });
        causes.collect()
    }

    /// True if a sender is said to do as it likes while it was stopped.
    fn is_free(&self, interval: &ActivityInterval) -> bool {
        let ActivityInterval { channel, start, end, state } = *interval;
        let stopped = self.stopped.get(&channel).into_iter().flatten();
        matches!(state, ChannelActivity::Idle | ChannelActivity::Starved)
            && stopped.into_iter().any(|[from, to]| *from < end && start < *to)
    }

    /// The capture without a part.
    pub fn without(&self, part: OmittedPart) -> Vec<u8> {
        let channels: Vec<Channel> = self.channels.values().cloned().collect();
        let mut counts = BTreeMap::<ChannelId, usize>::new();
        let is_kept = |(number, (id, chunk)): &(usize, &(ChannelId, OwnedChunk))| {
            let own = counts.entry(*id).or_default();
            *own += 1;
            !part.has(*id, chunk, *number, *own)
        };
        let kept = (1..).zip(&self.chunks).filter(is_kept).map(|(_, chunk)| chunk.clone());
        let kept: Vec<_> = kept.collect();
        let written = capture_input::write(ByteOrder::Little, &channels, &kept);
        assert!(written.is_ok(), "what was read can be written: {:?}", written.err());
        written.unwrap_or_default()
    }

    /// Errors and warnings that the capture has only without a part; another circle is one, another cause of a standstill,
    /// a sender that may send where it was stopped, and a packet said to be dropped.
    pub fn accused(&self, part: OmittedPart) -> Vec<&'static str> {
        self.accused_in(&self.without(part))
    }

    /// Errors and warnings, in the same sense, that another capture of the same characters has and this one has not.
    pub fn accused_in(&self, capture: &[u8]) -> Vec<&'static str> {
        let AnalyzedCapture { set, blocked, intervals, journeys, .. } =
            AnalyzedCapture::of(capture);
        let dropped = journeys.iter().filter(|it| matches!(it.fate, JourneyFate::Dropped(_)));
        let mut dropped = dropped.filter_map(|it| it.hops.last());
        let dropped = dropped
            .any(|hop| self.kept.contains(&(hop.channel, hop.start, hop.end)))
            .then_some("a packet that was not dropped");
        let circle = (!circles(&blocked).is_subset(&self.circles)).then_some("another circle");
        let cause = (!self.causes(&set).is_subset(&self.causes)).then_some("another cause");
        let is_free = intervals.values().flatten().any(|it| self.is_free(it));
        let free = is_free.then_some("a stopped sender that may send");
        let found = wrong(&set);
        let found = found.difference(&self.known).map(|kind| kind.about().name);
        found.chain(circle).chain(cause).chain(free).chain(dropped).collect()
    }

    pub fn draw(&self, dice: &mut SeededRng) -> OmittedPart {
        let [kind, one, two, three] = [(); 4].map(|()| dice.roll());
        let below = |number: u64, bound: usize| {
            usize::try_from(number % bound.max(1) as u64).unwrap_or_default()
        };
        let channel = below(one, self.channels.len());
        let channel = ChannelId(u32::try_from(channel).unwrap_or_default());
        let is_one = kind / 12 % 2 == 0;
        let own = self.chunks.iter().filter(|(id, _)| *id == channel).count();
        let count = if is_one { own } else { self.chunks.len() };
        let first = 1 + below(two, count);
        let last = first + below(three, 1 + below(three >> 32, count / 2));
        let run = |first, last| match is_one {
            true => OmittedPart::RunOf(channel, first, last),
            false => OmittedPart::Run(first, last),
        };
        match kind % 12 {
            0..=3 => run(first, last),
            4 | 5 => run(first, first),
            6 | 7 => run(1, first),
            8 | 9 => run(first, usize::MAX),
            10 if is_one => {
                OmittedPart::Channels(if two % 2 == 0 { three } else { 1 << (one % 64) })
            }
            10 => OmittedPart::Some(two & three),
            _ => OmittedPart::Fill(if is_one { u64::MAX } else { two }),
        }
    }
}

impl OmittedPart {
    fn has(self, id: ChannelId, chunk: &OwnedChunk, number: usize, own: usize) -> bool {
        let has_bit = |bits: u64| bits >> (id.0 % 64) & 1 == 1;
        match self {
            Self::Run(first, last) => (first..=last).contains(&number),
            Self::RunOf(channel, first, last) => id == channel && (first..=last).contains(&own),
            Self::Channels(bits) => has_bit(bits),
            Self::Fill(bits) => has_bit(bits) && is_fill(chunk),
            Self::Some(bits) => bits >> (number % 61) & 1 == 1,
        }
    }
}

fn is_fill(chunk: &OwnedChunk) -> bool {
    let chars = chunk.chars.chars();
    let symbol = |code: &u8| {
        let symbol = decode_control(*code).symbol();
        matches!(symbol, Some(Symbol::Gap | Symbol::Go | Symbol::Stop | Symbol::Idle))
    };
    chars.data_count() == 0 && chars.low().iter().all(symbol)
}

fn wrong(set: &FindingSet) -> BTreeSet<FindingKind> {
    let found = set.found().map(|(kind, ..)| kind);
    found.filter(|kind| kind.about().severity != Severity::Note).collect()
}

fn circles(blocked: &[BlockingEvent]) -> BTreeSet<Vec<ChannelId>> {
    let circles = blocked.iter().filter_map(|blocked| match blocked {
        BlockingEvent::Deadlock(deadlock) => Some(deadlock.channels.clone()),
        BlockingEvent::Stop(_) => None,
    });
    circles.collect()
}

/// The captures of `fixtures`, with their names.
#[expect(clippy::disallowed_methods, reason = "the fixtures are files")]
pub fn fixtures() -> Vec<(String, RecordedChunks)> {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures");
    let mut names: Vec<_> =
        fs::read_dir(root).into_iter().flatten().flatten().map(|it| it.path()).collect();
    names.sort();
    let read = names.into_iter().filter_map(|path| {
        let capture = fs::read(path.join("capture.pcapng")).ok()?;
        Some((path.file_name()?.to_string_lossy().into_owned(), RecordedChunks::of(&capture)))
    });
    read.collect()
}

/// The capture of a random network, with random taps or all, in which nothing is wrong.
pub fn sound_network(number: u64) -> Option<RecordedChunks> {
    let (draft, mut dice) = NetworkInput::sound(b"unrecorded", number)?;
    let mut scenario = draft.scenario();
    if dice.below(2) == 0 {
        scenario.taps = taps::at_every_cable(&scenario);
    }
    let outcome = RunOutcome::of(&scenario);
    let is_sound = !scenario.taps.is_empty() && is_in_order(&scenario, &outcome);
    let chunks = is_sound.then(|| RecordedChunks::of(&outcome.capture))?;
    chunks.known.is_empty().then_some(chunks)
}

/// The capture of all links of a random network with faults. Packets are misrouted and corrupted in it, of which the
/// whole may leave open what a part tells.
pub fn broken_network(number: u64) -> Option<RecordedChunks> {
    let mut dice = SeededRng::numbered(b"broken", number);
    let mut scenario = NetworkInput::from_bytes(&dice.bytes(700))?.scenario()?;
    scenario.taps = taps::at_every_cable(&scenario);
    let outcome = run(&scenario, TraceLevel::Nothing, 1 << 16);
    let mut chunks = RecordedChunks::of(&outcome.capture);
    chunks.known.extend([FindingKind::Misrouted, FindingKind::CorruptedInTransit]);
    Some(chunks)
}

/// The capture of a random network with a circle, of all links or of those between switches.
pub fn deadlocked_network(number: u64) -> Option<RecordedChunks> {
    let mut networks = CircleShape::ALL.into_iter().flat_map(CircleShape::starts);
    let (shape, start) = networks.nth(usize::try_from(number % 15).ok()?)?;
    let text = CircleNetwork::of(shape, start, number)?.text;
    let scenario = Scenario::read("circle", &text).ok()?;
    let outcome = run(&scenario, TraceLevel::Nothing, 1 << 9);
    Some(RecordedChunks::of(&outcome.capture)).filter(|it| !it.circles.is_empty())
}

/// Draws parts of a capture, and returns those without which something else is wrong, and what.
pub fn judged(
    capture: &RecordedChunks,
    draws: u64,
    dice: &mut SeededRng,
) -> Vec<(OmittedPart, Vec<&'static str>)> {
    let parts = (0..draws).map(|_| capture.draw(dice));
    let judged = parts.map(|part| (part, capture.accused(part)));
    judged.filter(|(_, accused)| !accused.is_empty()).collect()
}
