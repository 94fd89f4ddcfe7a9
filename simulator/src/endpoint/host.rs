//! The host's processor and the threads of its applications, which read and send messages. T-9
//!
//! One thread polls all endpoints that have no event of their own, in turn: it handles what has come
//! for one, then sends what one wants sent, then goes on to the next. A thread with an event sleeps
//! until something comes. A thread that writes to an endpoint that is not resident is suspended until
//! it is.

use codec::transport::Nic;

use super::costs::Costs;
use super::parcel::Letter;
use super::plan::Wake;
use super::queue::Read;
use super::server::Server;
use super::stream::Source;

/// A host's processor, its threads and what they want sent.
#[derive(Clone, Debug)]
pub(super) struct Host {
    pub(super) processor: Server<Job>,
    pub(super) threads: Vec<Thread>,
    /// The thread that had the processor last, and since when.
    last: Option<(usize, u64)>,
    pub(super) sources: Vec<Source>,
}

/// A thread of an application.
#[derive(Clone, Debug)]
pub(super) struct Thread {
    pub(super) wake: Wake,
    /// The places of its endpoints.
    pub(super) endpoints: Vec<usize>,
    /// Which of them it looks at next.
    pub(super) at: usize,
    /// What it looks for there.
    pub(super) step: Step,
    pub(super) state: State,
}

/// What a thread does at an endpoint, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Read,
    Send,
}

/// What a thread is at.
#[derive(Clone, Debug)]
pub(super) enum State {
    /// It looks for something to do.
    Looking,
    /// It has found nothing since then, and goes on as soon as that: polling in turn, or asleep.
    Idle { since: u64, wake: Option<u64> },
    /// It has read a request, and answers it.
    Answering(usize, Letter),
    /// It has the processor.
    Working,
    /// It waits for an endpoint to be loaded, to which it writes.
    Suspended(Write),
}

/// What the processor works on.
#[derive(Clone, Debug)]
pub(super) enum Job {
    Read { thread: usize, endpoint: usize, read: Read },
    Write { thread: usize, write: Write },
}

/// A message that is handed over.
#[derive(Clone, Debug)]
pub(super) struct Write {
    pub(super) endpoint: usize,
    pub(super) letter: Letter,
    pub(super) to: Nic,
}

impl Host {
    /// A host whose endpoints wake their applications so.
    pub(super) fn new(wakes: impl Iterator<Item = Wake>, sources: Vec<Source>) -> Self {
        let mut polled = Vec::new();
        let mut threads = Vec::new();
        for (place, wake) in wakes.enumerate() {
            match wake {
                Wake::Poll => polled.push(place),
                Wake::Event => threads.push(Thread::new(wake, vec![place])),
            }
        }
        if !polled.is_empty() {
            threads.insert(0, Thread::new(Wake::Poll, polled));
        }
        Self { processor: Server::default(), threads, last: None, sources }
    }

    /// When it has something to do by itself.
    pub(super) fn due(&self) -> Option<u64> {
        self.processor.due().or_else(|| self.threads.iter().filter_map(Thread::due).min())
    }

    /// Whether nobody does anything.
    pub(super) fn is_idle(&self) -> bool {
        self.processor.is_idle()
            && self.threads.iter().all(|thread| matches!(thread.state, State::Idle { .. }))
    }

    /// Whether a thread waits for an endpoint to be loaded.
    pub(super) fn waits_for(&self, endpoint: usize) -> bool {
        self.threads.iter().any(|thread| thread.is_suspended_at(endpoint))
    }

    /// How long its processor has been busy.
    pub(super) const fn busy(&self) -> u64 {
        self.processor.busy()
    }

    /// When a stream of an endpoint next has a message, and which.
    pub(super) fn next_stream(&self, endpoint: usize) -> Option<(u64, usize)> {
        let of = self.sources.iter().enumerate().filter(|(_, source)| source.endpoint == endpoint);
        of.filter_map(|(stream, source)| Some((source.due()?, stream))).min()
    }

    /// The threads that may have the processor, in turn: who has had it goes on for its quantum.
    pub(super) fn turns(&self, now: u64, costs: &Costs) -> Vec<usize> {
        let count = self.threads.len();
        let first = match self.last {
            Some((last, since)) if now.saturating_sub(since) < costs.host_quantum => last,
            Some((last, _)) => last + 1,
            None => 0,
        };
        let turns = (0..count).map(|turn| (first + turn) % count);
        turns
            .filter(|turn| self.threads.get(*turn).is_some_and(|thread| thread.may_run(now)))
            .collect()
    }
}

impl Host {
    /// What a thread is at now.
    pub(super) fn set(&mut self, thread: usize, state: State) {
        if let Some(thread) = self.threads.get_mut(thread) {
            thread.state = state;
        }
    }

    /// A thread gets the processor. What it takes to go over to it.
    pub(super) fn switch(&mut self, now: u64, thread: usize, costs: &Costs) -> u64 {
        match self.last {
            Some((last, since)) if last == thread => {
                // Nobody else wanted it: its quantum begins anew.
                if now.saturating_sub(since) >= costs.host_quantum {
                    self.last = Some((thread, now));
                }
                0
            }
            Some(_) => {
                self.last = Some((thread, now));
                costs.host_switch
            }
            None => {
                self.last = Some((thread, now));
                0
            }
        }
    }

    /// What a thread writes that waits for this endpoint, and the thread.
    pub(super) fn suspended(&mut self, endpoint: usize) -> Option<(usize, Write)> {
        let place = self.threads.iter().position(|thread| thread.is_suspended_at(endpoint))?;
        let thread = self.threads.get_mut(place)?;
        match std::mem::replace(&mut thread.state, State::Looking) {
            State::Suspended(write) => Some((place, write)),
            State::Looking | State::Idle { .. } | State::Answering(..) | State::Working => None,
        }
    }
}

impl Thread {
    fn new(wake: Wake, endpoints: Vec<usize>) -> Self {
        Self { wake, endpoints, at: 0, step: Step::Read, state: State::Looking }
    }

    /// Whether it waits for this endpoint to be loaded.
    const fn is_suspended_at(&self, endpoint: usize) -> bool {
        match &self.state {
            State::Suspended(write) => write.endpoint == endpoint,
            State::Looking | State::Idle { .. } | State::Answering(..) | State::Working => false,
        }
    }

    const fn due(&self) -> Option<u64> {
        match self.state {
            State::Idle { wake, .. } => wake,
            State::Looking | State::Answering(..) => Some(0),
            State::Working | State::Suspended(_) => None,
        }
    }

    fn may_run(&self, now: u64) -> bool {
        self.due().is_some_and(|due| due <= now)
    }

    /// Goes on to the next step.
    pub(super) fn advance(&mut self) {
        self.step = match self.step {
            Step::Read => Step::Send,
            Step::Send => {
                self.at = (self.at + 1) % self.endpoints.len().max(1);
                Step::Read
            }
        };
    }

    /// It has polled in turn for so long, each look at an endpoint so long.
    pub(super) fn catch_up(&mut self, time: u64, poll: u64) {
        let count = self.endpoints.len().max(1);
        let looks = time.checked_div(poll).unwrap_or(0) % count as u64;
        self.at = (self.at + usize::try_from(looks).unwrap_or(0)) % count;
    }

    /// When a thread that polls comes by: at a place of its from a time on, or anywhere. Each look at
    /// an endpoint takes so long.
    pub(super) fn passes(&self, since: u64, from: u64, place: Option<usize>, poll: u64) -> u64 {
        if poll == 0 {
            return from.max(since);
        }
        let count = self.endpoints.len().max(1) as u64;
        let looks = from.saturating_sub(since).div_ceil(poll);
        let more = place.map_or(0, |place| {
            let at = (self.at as u64).saturating_add(looks) % count;
            (place as u64 + count - at) % count
        });
        since.saturating_add(looks.saturating_add(more).saturating_mul(poll))
    }
}
