//! Requests and probes that wait for an answer: tickets, timeouts, repetitions.

use std::collections::{BTreeMap, VecDeque};

use codec::mapping::ProbeTicket;

/// Most requests without an answer at a time. *Chosen*: enough that silence, which takes most of the
/// time, is waited for at many ports at once; few enough that probes seldom meet.
const WINDOW: usize = 16;

/// Requests of one interface, in the order of their transmission.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct RequestQueue<T> {
    queued: VecDeque<SentRequest<T>>,
    flying: BTreeMap<u32, SentRequest<T>>,
    /// Times at which requests are taken for silent, in order. Some have been answered.
    deadlines: VecDeque<(u64, u32)>,
    next: u32,
    sent: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct SentRequest<T> {
    task: T,
    /// Transmissions left.
    left: u32,
}

impl<T: Clone> RequestQueue<T> {
    /// A queue whose first ticket is `first`, so that answers to former ones are recognized.
    pub(super) fn new(first: u32) -> Self {
        let (queued, deadlines) = (VecDeque::new(), VecDeque::new());
        Self { queued, flying: BTreeMap::new(), deadlines, next: first, sent: 0 }
    }

    /// Queues a task, to be sent `tries` times at most.
    pub(super) fn push(&mut self, task: T, tries: u32) {
        self.queued.push_back(SentRequest { task, left: tries.max(1) });
    }

    /// True if a task waits, and the window allows it.
    pub(super) fn may_send(&self) -> bool {
        self.flying.len() < WINDOW && !self.queued.is_empty()
    }

    /// The next task to be sent, if the window allows, and its ticket.
    pub(super) fn send(&mut self, deadline: u64) -> Option<(ProbeTicket, T)> {
        let request = self.may_send().then(|| self.queued.pop_front())??;
        let (ticket, task) = (self.next, request.task.clone());
        self.next = self.next.wrapping_add(1);
        self.sent += 1;
        self.flying.insert(ticket, request);
        self.deadlines.push_back((deadline, ticket));
        Some((ProbeTicket(ticket), task))
    }

    /// The task of a ticket, if it has no answer yet.
    pub(super) fn task(&self, ticket: ProbeTicket) -> Option<&T> {
        self.flying.get(&ticket.0).map(|request| &request.task)
    }

    /// Ends the task of a ticket.
    pub(super) fn finish(&mut self, ticket: ProbeTicket) -> Option<T> {
        self.flying.remove(&ticket.0).map(|request| request.task)
    }

    /// Queues the tasks again whose time is over; returns the first that was sent often enough.
    pub(super) fn silent(&mut self, now: u64) -> Option<T> {
        while let Some((_, ticket)) = self.deadlines.pop_front_if(|(at, _)| *at <= now) {
            let Some(mut request) = self.flying.remove(&ticket) else { continue };
            request.left -= 1;
            if request.left == 0 {
                return Some(request.task);
            }
            self.queued.push_back(request);
        }
        None
    }

    /// Time of the next silence.
    pub(super) fn due(&mut self) -> Option<u64> {
        while let Some((_, ticket)) = self.deadlines.front()
            && !self.flying.contains_key(ticket)
        {
            self.deadlines.pop_front();
        }
        self.deadlines.front().map(|(at, _)| *at)
    }

    /// Moves all times back, and counts transmissions and tickets from 0 on. Returns the former
    /// tickets of the requests that wait for an answer, in the order of their new ones.
    pub(super) fn shift_back(&mut self, by: u64) -> Vec<ProbeTicket> {
        let former: Vec<u32> = self.flying.keys().copied().collect();
        let renewed = |ticket: u32| former.binary_search(&ticket).ok()?.try_into().ok();
        let deadlines = self.deadlines.drain(..);
        let waiting = deadlines.filter_map(|(at, it)| Some((at.saturating_sub(by), renewed(it)?)));
        self.deadlines = waiting.collect();
        self.flying = (0..).zip(std::mem::take(&mut self.flying).into_values()).collect();
        (self.next, self.sent) = (u32::try_from(former.len()).unwrap_or(u32::MAX), 0);
        former.into_iter().map(ProbeTicket).collect()
    }

    /// Forgets the tasks that are not to be kept.
    pub(super) fn retain(&mut self, keep: impl Fn(&T) -> bool) {
        self.queued.retain(|request| keep(&request.task));
        self.flying.retain(|_, request| keep(&request.task));
    }

    /// Removes and returns the tasks of a kind that have not been sent yet.
    pub(super) fn take_queued(&mut self, which: impl Fn(&T) -> bool) -> Vec<T> {
        let (taken, kept) =
            self.queued.drain(..).partition::<VecDeque<_>, _>(|request| which(&request.task));
        self.queued = kept;
        taken.into_iter().map(|request| request.task).collect()
    }

    /// True if nothing is queued or without an answer.
    pub(super) fn is_idle(&self) -> bool {
        self.queued.is_empty() && self.flying.is_empty()
    }

    /// Ticket of the next transmission.
    pub(super) const fn next_ticket(&self) -> ProbeTicket {
        ProbeTicket(self.next)
    }

    /// Number of transmissions so far.
    pub(super) const fn sent(&self) -> u64 {
        self.sent
    }
}
