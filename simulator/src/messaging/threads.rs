//! Processor of a host and the threads of its applications, which read and send messages. T-9
//!
//! One thread polls all endpoints without events in turn: it handles received messages, sends due
//! ones, and goes on to the next endpoint. A thread with an event sleeps until a message arrives. A
//! thread that writes to a non-resident endpoint is suspended until it is resident.

use super::costs::MessageCosts;
use super::endpoint_queues::{EndpointQueues, ReceivedMessage};
use super::message::SharedMessage;
use super::plan::WakeMode;
use super::serial_server::SerialServer;
use super::stream::StreamSource;
use crate::arena::{EndpointNumber, PartArena, PartNumber, StreamNumber, ThreadNumber};

#[derive(Clone, Debug)]
pub(super) struct ApplicationHost {
    pub(super) processor: SerialServer<HostJob>,
    pub(super) threads: PartArena<ThreadNumber, ApplicationThread>,
    /// Last running thread and the start of its time slice.
    last: Option<(ThreadNumber, u64)>,
    pub(super) sources: PartArena<StreamNumber, StreamSource>,
}

#[derive(Clone, Debug)]
pub(super) struct ApplicationThread {
    pub(super) wake: WakeMode,
    pub(super) endpoints: Vec<EndpointNumber>,
    pub(super) at: usize,
    pub(super) step: ThreadStep,
    pub(super) state: ThreadState,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ThreadStep {
    Read,
    Send,
}

#[derive(Clone, Debug)]
pub(super) enum ThreadState {
    Looking,
    /// The thread found nothing, and resumes at `wake`: it polls, or sleeps.
    Idle {
        since: u64,
        wake: Option<u64>,
    },
    Answering(EndpointNumber, SharedMessage),
    Working,
    /// It writes a message to an endpoint that is not resident.
    Suspended(EndpointNumber, SharedMessage),
}

#[derive(Clone, Debug)]
pub(super) enum HostJob {
    Read { thread: ThreadNumber, endpoint: EndpointNumber, read: ReceivedMessage },
    Write { thread: ThreadNumber, endpoint: EndpointNumber, letter: SharedMessage },
}

impl ApplicationHost {
    pub(super) fn new(
        endpoints: &PartArena<EndpointNumber, EndpointQueues>,
        sources: PartArena<StreamNumber, StreamSource>,
    ) -> Self {
        let mut polled = Vec::new();
        let mut threads = Vec::new();
        for place in endpoints.numbers() {
            match endpoints[place].plan.wake {
                WakeMode::Poll => polled.push(place),
                WakeMode::Event => {
                    threads.push(ApplicationThread::new(WakeMode::Event, vec![place]));
                }
            }
        }
        if !polled.is_empty() {
            threads.insert(0, ApplicationThread::new(WakeMode::Poll, polled));
        }
        let threads = threads.into_iter().collect();
        Self { processor: SerialServer::default(), threads, last: None, sources }
    }

    pub(super) fn due(&self) -> Option<u64> {
        self.processor
            .due()
            .or_else(|| self.threads.iter().filter_map(ApplicationThread::due).min())
    }

    pub(super) fn is_idle(&self) -> bool {
        self.processor.is_idle()
            && self.threads.iter().all(|thread| matches!(thread.state, ThreadState::Idle { .. }))
    }

    pub(super) fn waits_for(&self, endpoint: EndpointNumber) -> bool {
        self.threads.iter().any(|thread| thread.is_suspended_at(endpoint))
    }

    /// Time of an endpoint's next message, and its stream.
    pub(super) fn next_stream(&self, endpoint: EndpointNumber) -> Option<(u64, StreamNumber)> {
        let own = self.sources.numbers().filter(|it| self.sources[*it].endpoint == endpoint);
        own.filter_map(|stream| Some((self.sources[stream].due()?, stream))).min()
    }

    /// Runnable threads in order: the last one first while its time slice lasts.
    pub(super) fn turns(&self, now: u64, costs: &MessageCosts) -> Vec<ThreadNumber> {
        let count = self.threads.len();
        let first = match self.last {
            Some((last, since)) if now.saturating_sub(since) < costs.host_quantum => last.place(),
            Some((last, _)) => last.place() + 1,
            None => 0,
        };
        let turns = (0..count).map(|turn| ThreadNumber::at((first + turn) % count));
        turns.filter(|turn| self.threads[*turn].may_run(now)).collect()
    }
}

impl ApplicationHost {
    /// Gives the processor to a thread and returns the time of the switch.
    pub(super) fn switch(&mut self, now: u64, thread: ThreadNumber, costs: &MessageCosts) -> u64 {
        let before = self.last.filter(|(last, since)| {
            // No other thread was runnable at the end of its quantum, which begins anew.
            *last != thread || now.saturating_sub(*since) < costs.host_quantum
        });
        if before.is_none_or(|(last, _)| last != thread) {
            self.last = Some((thread, now));
        }
        before.map_or(0, |(last, _)| if last == thread { 0 } else { costs.host_switch })
    }

    /// Takes the message of a thread suspended at this endpoint.
    pub(super) fn suspended(
        &mut self,
        endpoint: EndpointNumber,
    ) -> Option<(ThreadNumber, SharedMessage)> {
        let number = self.threads.position(|thread| thread.is_suspended_at(endpoint))?;
        let state = &mut self.threads[number].state;
        let state = std::mem::replace(state, ThreadState::Looking);
        if let ThreadState::Suspended(_, letter) = state { Some((number, letter)) } else { None }
    }
}

impl ApplicationThread {
    fn new(wake: WakeMode, endpoints: Vec<EndpointNumber>) -> Self {
        Self { wake, endpoints, at: 0, step: ThreadStep::Read, state: ThreadState::Looking }
    }

    fn is_suspended_at(&self, endpoint: EndpointNumber) -> bool {
        matches!(&self.state, ThreadState::Suspended(other, _) if *other == endpoint)
    }

    const fn due(&self) -> Option<u64> {
        match self.state {
            ThreadState::Idle { wake, .. } => wake,
            ThreadState::Looking | ThreadState::Answering(..) => Some(0),
            ThreadState::Working | ThreadState::Suspended(..) => None,
        }
    }

    fn may_run(&self, now: u64) -> bool {
        self.due().is_some_and(|due| due <= now)
    }

    pub(super) fn advance(&mut self) {
        self.step = match self.step {
            ThreadStep::Read => ThreadStep::Send,
            ThreadStep::Send => {
                self.at = (self.at + 1) % self.endpoints.len().max(1);
                ThreadStep::Read
            }
        };
    }

    /// Skips polls: `time` in all, `poll` each.
    pub(super) fn advance_polls(&mut self, time: u64, poll: u64) {
        let count = self.endpoints.len().max(1);
        let looks = time.checked_div(poll).unwrap_or(0) % count as u64;
        self.at = (self.at + usize::try_from(looks).unwrap_or(0)) % count;
    }

    /// Next time from `from` on at which a polling thread looks at an endpoint, or at any; each
    /// poll takes `poll`.
    pub(super) fn next_pass(&self, since: u64, from: u64, place: Option<usize>, poll: u64) -> u64 {
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
