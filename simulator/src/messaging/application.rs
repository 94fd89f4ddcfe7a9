//! Work of a host's threads: reading messages, replying, sending the messages of their streams. T-9

use std::sync::Arc;

use codec::transport::{EndpointId, EndpointKey, MessageForm, MessageRole, Nic};

use super::endpoint_queues::{
    EndpointResidency, PendingRequest, ReadMessage, ReplyQueueItem, RequestWait,
};
use super::event::MessageId;
use super::message::{HostMessage, MessageAddress, SharedMessage};
use super::plan::{ReturnHandler, WakeMode};
use super::stream::{MessageDraft, ResendRequest};
use super::threads::{HostJob, PendingWrite, ThreadState, ThreadStep};
use super::{HostMessaging, MessagingEvent};

impl HostMessaging {
    /// Assigns the free host processor to a runnable thread.
    pub(super) fn begin_host(&mut self) {
        let now = self.clock;
        if !self.host.processor.is_idle() {
            return;
        }
        for thread in self.host.turns(now, &self.costs) {
            if let Some((time, job)) = self.run(thread) {
                let time = time.saturating_add(self.host.switch(now, thread, &self.costs));
                self.host.processor.begin(now, time, job);
                return;
            }
        }
    }

    /// Next job of a thread and its duration.
    fn run(&mut self, place: usize) -> Option<(u64, HostJob)> {
        let thread = self.host.threads.get_mut(place)?;
        let mut time =
            match (std::mem::replace(&mut thread.state, ThreadState::Working), thread.wake) {
                (ThreadState::Answering(endpoint, request), _) => {
                    return Some(self.answer(place, endpoint, &request));
                }
                (ThreadState::Idle { .. }, WakeMode::Event) => self.costs.host_wake,
                (ThreadState::Idle { since, .. }, WakeMode::Poll) => {
                    thread.advance_polls(self.clock.saturating_sub(since), self.costs.host_poll);
                    0
                }
                (ThreadState::Looking | ThreadState::Working, _) => 0,
                (suspended @ ThreadState::Suspended(_), _) => {
                    thread.state = suspended;
                    return None;
                }
            };
        let steps = 2 * thread.endpoints.len();
        for _ in 0..steps {
            let thread = self.host.threads.get_mut(place)?;
            let (step, endpoint) = (thread.step, thread.endpoints.get(thread.at).copied()?);
            thread.advance();
            let job = match step {
                ThreadStep::Read => self.read(place, endpoint),
                ThreadStep::Send => self.request(place, endpoint),
            };
            match (job, step) {
                (Some((more, job)), _) => return Some((time.saturating_add(more), job)),
                (None, ThreadStep::Read) => time = time.saturating_add(self.costs.host_poll),
                (None, ThreadStep::Send) => {}
            }
        }
        self.become_idle(place);
        None
    }

    fn become_idle(&mut self, place: usize) {
        if let Some(thread) = self.host.threads.get_mut(place) {
            thread.step = ThreadStep::Read;
            thread.state = ThreadState::Idle { since: self.clock, wake: None };
        }
        self.schedule_wake(place);
    }

    /// Determines when an idle thread resumes.
    fn schedule_wake(&mut self, place: usize) {
        let Some(thread) = self.host.threads.get(place) else { return };
        let ThreadState::Idle { since, .. } = thread.state else { return };
        let poll = self.costs.host_poll;
        let wakes = thread.endpoints.iter().enumerate().filter_map(|(turn, place)| {
            let endpoint = self.endpoints.get(*place)?;
            let read = endpoint.has_incoming().then_some((self.clock, Some(turn)));
            let stream = self.host.next_stream(*place).filter(|_| endpoint.can_request());
            let send = stream.map(|(due, _)| (due.max(self.clock), None));
            let wake = |(from, turn)| match thread.wake {
                WakeMode::Poll => thread.next_pass(since, from, turn, poll),
                WakeMode::Event => from,
            };
            read.into_iter().chain(send).map(wake).min()
        });
        let wake = wakes.min();
        if let Some(thread) = self.host.threads.get_mut(place) {
            thread.state = ThreadState::Idle { since, wake };
        }
    }

    /// Updates the thread of an endpoint after a change.
    pub(super) fn notify(&mut self, endpoint: usize) {
        let of = self.host.threads.iter().position(|thread| thread.endpoints.contains(&endpoint));
        if let Some(thread) = of {
            self.schedule_wake(thread);
        }
    }

    fn read(&mut self, thread: usize, place: usize) -> Option<(u64, HostJob)> {
        let read = self.endpoints.get_mut(place)?.read()?;
        let copied = match &read {
            ReadMessage::Request(letter) | ReadMessage::Other(ReplyQueueItem::Reply(letter)) => {
                letter.copied()
            }
            ReadMessage::Other(ReplyQueueItem::Returned(_)) => 0,
        };
        let time = self.costs.host_receive.saturating_add(self.costs.copying(copied));
        self.statistics.host_receive = self.statistics.host_receive.saturating_add(time);
        Some((time, HostJob::Read { thread, endpoint: place, read }))
    }

    fn answer(&mut self, thread: usize, place: usize, request: &SharedMessage) -> (u64, HostJob) {
        let to = (request.id.nic, request.id.endpoint);
        let address = self.address(place, to, self.names.get(&to).copied().unwrap_or_default());
        let letter = Arc::new(HostMessage::reply(address, request));
        let time = self.costs.host_send;
        self.statistics.host_send = self.statistics.host_send.saturating_add(time);
        (time, HostJob::Write { thread, write: PendingWrite { endpoint: place, letter, to: to.0 } })
    }

    /// Sends the due message of an endpoint if it has a credit. T-9
    fn request(&mut self, thread: usize, place: usize) -> Option<(u64, HostJob)> {
        let now = self.clock;
        let endpoint = self.endpoints.get(place)?;
        let (due, stream) = self.host.next_stream(place)?;
        if due > now || !endpoint.can_request() {
            return None;
        }
        let source = self.host.sources.get(stream)?;
        let (to, key) = source.target();
        let address = self.address(place, to, key);
        let number = address.id.number;
        let draft = self.host.sources.get_mut(stream)?.draw(now, number)?;
        let waiting = PendingRequest {
            stream,
            transfer: draft.transfer,
            to,
            since: now,
            until: RequestWait::Acknowledged,
        };
        self.endpoints.get_mut(place)?.spend(number, waiting);
        let letter = Arc::new(HostMessage::request(address, draft.form, draft.length));
        let copied = if letter.is_transferred() { letter.bytes.len() as u64 } else { 0 };
        let time = self.costs.host_send.saturating_add(self.costs.copying(copied));
        self.statistics.host_send = self.statistics.host_send.saturating_add(time);
        Some((
            time,
            HostJob::Write { thread, write: PendingWrite { endpoint: place, letter, to: to.0 } },
        ))
    }

    fn address(
        &mut self,
        place: usize,
        (_, to): (Nic, EndpointId),
        key: EndpointKey,
    ) -> MessageAddress {
        let nic = self.nic;
        let endpoint = self.endpoints.get_mut(place);
        let (endpoint, number) = endpoint
            .map_or_else(Default::default, |endpoint| (endpoint.plan.id, endpoint.number()));
        MessageAddress { id: MessageId { nic, endpoint, number }, to, key }
    }

    pub(super) fn end_host(&mut self) {
        match self.host.processor.end(self.clock) {
            Some(HostJob::Read { thread, endpoint, read }) => {
                let state = match read {
                    ReadMessage::Request(letter) => {
                        self.handle_request(endpoint, &letter);
                        ThreadState::Answering(endpoint, letter)
                    }
                    ReadMessage::Other(incoming) => {
                        self.handle(endpoint, &incoming);
                        ThreadState::Looking
                    }
                };
                self.host.set(thread, state);
            }
            Some(HostJob::Write { thread, write }) => self.write(thread, write),
            None => {}
        }
    }

    /// Handles a request; its reply follows.
    fn handle_request(&mut self, place: usize, letter: &SharedMessage) {
        let Some(endpoint) = self.endpoints.get_mut(place) else { return };
        endpoint.statistics.requests_read += 1;
        endpoint.statistics.bytes_read += letter.bytes.len() as u64;
        endpoint.check(letter, &mut self.events);
    }

    fn handle(&mut self, place: usize, incoming: &ReplyQueueItem) {
        let Some(endpoint) = self.endpoints.get_mut(place) else { return };
        let statistics = &mut endpoint.statistics;
        let number = match incoming {
            ReplyQueueItem::Reply(letter) => {
                let waited = letter.answers().filter(|number| endpoint.waiting(*number).is_some());
                match waited {
                    Some(_) => endpoint.statistics.completed += 1,
                    // It was given up, or came back, or was never asked.
                    None => endpoint.statistics.stray += 1,
                }
                endpoint.check(letter, &mut self.events);
                waited
            }
            ReplyQueueItem::Returned(letter) => match letter.role {
                MessageRole::Request => {
                    statistics.returned += 1;
                    Some(letter.id.number)
                }
                MessageRole::Reply => {
                    statistics.replies_returned += 1;
                    None
                }
            },
        };
        let Some(number) = number else { return };
        if let ReplyQueueItem::Returned(letter) = incoming
            && self.send_once_more(place, letter)
        {
            return;
        }
        if let Some(waiting) = self.restore(place, number)
            && let ReplyQueueItem::Reply(_) = incoming
            && let Some(endpoint) = self.endpoints.get_mut(place)
        {
            endpoint.statistics.round_trips.record(self.clock.saturating_sub(waiting.since));
        }
    }

    /// Sends a returned request again if its handler does so, and restores its credit. Text
    fn send_once_more(&mut self, place: usize, letter: &SharedMessage) -> bool {
        let Some(endpoint) = self.endpoints.get_mut(place) else { return false };
        let waiting = endpoint.waiting(letter.id.number);
        let source = waiting.and_then(|waiting| self.host.sources.get_mut(waiting.stream));
        let (Some(PendingRequest { transfer, to, .. }), Some(source)) = (waiting, source) else {
            return false;
        };
        let (target, key) = match source.plan.returned {
            ReturnHandler::SendAgain => (source.plan.to, source.plan.key),
            ReturnHandler::SendElsewhere(other, key) if to != other => (other, key),
            ReturnHandler::Drop | ReturnHandler::SendElsewhere(..) => return false,
        };
        let draft = MessageDraft { transfer, form: letter.form, length: letter.bytes.len() };
        source.resend(ResendRequest { draft, to: target, key });
        let statistics = &mut endpoint.statistics;
        let count = if target == source.plan.to {
            &mut statistics.sent_again
        } else {
            &mut statistics.sent_elsewhere
        };
        *count += 1;
        endpoint.restore(letter.id.number);
        self.events.push(MessagingEvent::Credits(endpoint.plan.id, endpoint.credits));
        self.notify(place);
        true
    }

    /// Restores the credit of a finished request and informs its stream. T-9
    pub(super) fn restore(&mut self, place: usize, number: u32) -> Option<PendingRequest> {
        let endpoint = self.endpoints.get_mut(place)?;
        let waiting = endpoint.restore(number)?;
        self.events.push(MessagingEvent::Credits(endpoint.plan.id, endpoint.credits));
        if let Some(source) = self.host.sources.get_mut(waiting.stream) {
            source.answered(self.clock, waiting.transfer);
        }
        Some(waiting)
    }

    /// Writes a message to its endpoint; suspends the thread if that is not resident.
    fn write(&mut self, thread: usize, write: PendingWrite) {
        let Some(endpoint) = self.endpoints.get_mut(write.endpoint) else { return };
        let frame = match endpoint.place {
            EndpointResidency::Resident(frame) => frame,
            EndpointResidency::Away | EndpointResidency::Leaving => {
                let place = write.endpoint;
                self.host.set(thread, ThreadState::Suspended(write));
                self.request_load(place);
                return;
            }
        };
        let PendingWrite { letter, to, .. } = write;
        self.events.push(MessagingEvent::Accepted(letter.id, (to, letter.to)));
        match letter.role {
            MessageRole::Request => {
                self.events.push(MessagingEvent::Credits(endpoint.plan.id, endpoint.credits));
                endpoint.statistics.requests_sent += 1;
                endpoint.statistics.request_bytes += letter.bytes.len() as u64;
            }
            MessageRole::Reply => endpoint.statistics.replies_sent += 1,
        }
        endpoint.accept(letter, to);
        self.frames.touch(frame);
        self.host.set(thread, ThreadState::Looking);
    }

    pub(super) fn resume(&mut self, place: usize) {
        if let Some((thread, write)) = self.host.suspended(place) {
            self.write(thread, write);
        }
    }

    pub(super) fn give_up_overdue(&mut self) {
        for place in 0..self.endpoints.len() {
            let overdue = self.endpoints.get(place).map(|endpoint| endpoint.overdue(self.clock));
            for number in overdue.into_iter().flatten() {
                self.give_up_request(place, number);
            }
        }
    }

    pub(super) fn give_up_request(&mut self, place: usize, number: u32) {
        if let Some(endpoint) = self.endpoints.get_mut(place) {
            let id = MessageId { nic: self.nic, endpoint: endpoint.plan.id, number };
            self.events.push(MessagingEvent::GivenUp(id));
            endpoint.statistics.given_up += 1;
        }
        self.restore(place, number);
        self.notify(place);
    }
}

impl HostMessage {
    /// Bytes that the receiving host copies: bulk messages into the segment. Text
    const fn copied(&self) -> u64 {
        match self.form {
            MessageForm::Short | MessageForm::Medium => 0,
            MessageForm::Bulk { .. } => self.bytes.len() as u64,
        }
    }
}
