//! Work of a host's threads: reading messages, replying, sending the messages of their streams. T-9

use std::sync::Arc;

use codec::transport::{EndpointId, EndpointKey, MessageForm, MessageRole, Nic};

use super::endpoint_queues::{EndpointResidency, PendingRequest, ReceivedMessage, RequestWait};
use super::message::{HostMessage, MessageAddress, SharedMessage};
use super::plan::{ReturnHandler, WakeMode};
use super::stream::{MessageDraft, ResendRequest};
use super::threads::{HostJob, ThreadState, ThreadStep};
use super::{HostMessaging, MessagingEvent};
use crate::arena::{EndpointNumber, ThreadNumber};
use crate::truth::MessageId;

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
    fn run(&mut self, number: ThreadNumber) -> Option<(u64, HostJob)> {
        let thread = &mut self.host.threads[number];
        let mut time =
            match (std::mem::replace(&mut thread.state, ThreadState::Working), thread.wake) {
                (ThreadState::Answering(endpoint, request), _) => {
                    return Some(self.answer(number, endpoint, &request));
                }
                (ThreadState::Idle { .. }, WakeMode::Event) => self.costs.host_wake,
                (ThreadState::Idle { since, .. }, WakeMode::Poll) => {
                    thread.advance_polls(self.clock.saturating_sub(since), self.costs.host_poll);
                    0
                }
                (ThreadState::Looking | ThreadState::Working, _) => 0,
                (suspended @ ThreadState::Suspended(..), _) => {
                    thread.state = suspended;
                    return None;
                }
            };
        let steps = 2 * thread.endpoints.len();
        for _ in 0..steps {
            let thread = &mut self.host.threads[number];
            let (step, endpoint) = (thread.step, thread.endpoints.get(thread.at).copied()?);
            thread.advance();
            let job = match step {
                ThreadStep::Read => self.read(number, endpoint),
                ThreadStep::Send => self.request(number, endpoint),
            };
            match (job, step) {
                (Some((more, job)), _) => return Some((time.saturating_add(more), job)),
                (None, ThreadStep::Read) => time = time.saturating_add(self.costs.host_poll),
                (None, ThreadStep::Send) => {}
            }
        }
        let thread = &mut self.host.threads[number];
        thread.step = ThreadStep::Read;
        thread.state = ThreadState::Idle { since: self.clock, wake: None };
        self.schedule_wake(number);
        None
    }

    /// Determines when an idle thread resumes.
    fn schedule_wake(&mut self, number: ThreadNumber) {
        let thread = &self.host.threads[number];
        let ThreadState::Idle { since, .. } = thread.state else { return };
        let poll = self.costs.host_poll;
        let wakes = thread.endpoints.iter().enumerate().filter_map(|(turn, place)| {
            let endpoint = &self.endpoints[*place];
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
        self.host.threads[number].state = ThreadState::Idle { since, wake };
    }

    /// Updates the thread of an endpoint after a change.
    pub(super) fn notify(&mut self, endpoint: EndpointNumber) {
        let thread = self.host.threads.position(|thread| thread.endpoints.contains(&endpoint));
        if let Some(thread) = thread {
            self.schedule_wake(thread);
        }
    }

    fn read(&mut self, thread: ThreadNumber, place: EndpointNumber) -> Option<(u64, HostJob)> {
        let read = self.endpoints[place].read()?;
        let copied = match &read {
            ReceivedMessage::Request(letter) | ReceivedMessage::Reply(letter) => letter.copied(),
            ReceivedMessage::Returned(_) => 0,
        };
        let time = self.costs.host_receive.saturating_add(self.costs.copying(copied));
        self.statistics.host_receive = self.statistics.host_receive.saturating_add(time);
        Some((time, HostJob::Read { thread, endpoint: place, read }))
    }

    fn answer(
        &mut self,
        thread: ThreadNumber,
        place: EndpointNumber,
        request: &SharedMessage,
    ) -> (u64, HostJob) {
        let to = (request.id.nic, request.id.endpoint);
        let address = self.address(place, to, self.names.get(&to).copied().unwrap_or_default());
        let letter = Arc::new(HostMessage::reply(address, request));
        let time = self.costs.host_send;
        self.statistics.host_send = self.statistics.host_send.saturating_add(time);
        (time, HostJob::Write { thread, endpoint: place, letter })
    }

    /// Sends the due message of an endpoint if it has a credit. T-9
    fn request(&mut self, thread: ThreadNumber, place: EndpointNumber) -> Option<(u64, HostJob)> {
        let now = self.clock;
        let endpoint = &self.endpoints[place];
        let (due, stream) = self.host.next_stream(place)?;
        if due > now || !endpoint.can_request() {
            return None;
        }
        let (to, key) = self.host.sources[stream].target();
        let address = self.address(place, to, key);
        let number = address.id.number;
        let draft = self.host.sources[stream].draw(now, number)?;
        let waiting = PendingRequest {
            stream,
            transfer: draft.transfer,
            since: now,
            until: RequestWait::Acknowledged,
        };
        self.endpoints[place].spend(number, waiting);
        let letter = Arc::new(HostMessage::request(address, draft.form, draft.length));
        let copied = if letter.is_transferred() { letter.bytes.len() as u64 } else { 0 };
        let time = self.costs.host_send.saturating_add(self.costs.copying(copied));
        self.statistics.host_send = self.statistics.host_send.saturating_add(time);
        Some((time, HostJob::Write { thread, endpoint: place, letter }))
    }

    fn address(
        &mut self,
        place: EndpointNumber,
        to: (Nic, EndpointId),
        key: EndpointKey,
    ) -> MessageAddress {
        let nic = self.nic;
        let endpoint = &mut self.endpoints[place];
        let id = MessageId { nic, endpoint: endpoint.plan.id, number: endpoint.number() };
        MessageAddress { id, to, key }
    }

    pub(super) fn end_host(&mut self) {
        match self.host.processor.end(self.clock) {
            Some(HostJob::Read { thread, endpoint, read }) => {
                self.handle(endpoint, &read);
                self.host.threads[thread].state = match read {
                    ReceivedMessage::Request(letter) => ThreadState::Answering(endpoint, letter),
                    ReceivedMessage::Reply(_) | ReceivedMessage::Returned(_) => {
                        ThreadState::Looking
                    }
                };
            }
            Some(HostJob::Write { thread, endpoint, letter }) => {
                self.write(thread, endpoint, letter);
            }
            None => {}
        }
    }

    /// Handles a message; the reply to a request follows.
    fn handle(&mut self, place: EndpointNumber, read: &ReceivedMessage) {
        let endpoint = &mut self.endpoints[place];
        let statistics = &mut endpoint.statistics;
        match read {
            ReceivedMessage::Request(letter) => {
                statistics.requests_read += 1;
                statistics.bytes_read += letter.bytes.len() as u64;
                endpoint.check(letter, &mut self.events);
            }
            ReceivedMessage::Reply(letter) => {
                let waited = letter.answers().filter(|number| endpoint.waiting(*number).is_some());
                match waited {
                    Some(_) => endpoint.statistics.completed += 1,
                    // It was given up, or came back, or was never asked.
                    None => endpoint.statistics.stray += 1,
                }
                endpoint.check(letter, &mut self.events);
                if let Some(waiting) = waited.and_then(|number| self.restore(place, number)) {
                    let waited = self.clock.saturating_sub(waiting.since);
                    self.endpoints[place].statistics.round_trips.record(waited);
                }
            }
            ReceivedMessage::Returned(letter) => match letter.role {
                MessageRole::Request => {
                    statistics.returned += 1;
                    if !self.send_once_more(place, letter) {
                        self.restore(place, letter.id.number);
                    }
                }
                MessageRole::Reply => statistics.replies_returned += 1,
            },
        }
    }

    /// Sends a returned request again if its handler does so, and restores its credit. Text
    fn send_once_more(&mut self, place: EndpointNumber, letter: &SharedMessage) -> bool {
        let endpoint = &mut self.endpoints[place];
        let Some(PendingRequest { stream, transfer, .. }) = endpoint.waiting(letter.id.number)
        else {
            return false;
        };
        let source = &mut self.host.sources[stream];
        let (target, key) = match source.plan.returned {
            ReturnHandler::SendAgain => (source.plan.to, source.plan.key),
            ReturnHandler::SendElsewhere(other, key) if letter.to != other => (other, key),
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
    pub(super) fn restore(&mut self, place: EndpointNumber, number: u32) -> Option<PendingRequest> {
        let endpoint = &mut self.endpoints[place];
        let waiting = endpoint.restore(number)?;
        self.events.push(MessagingEvent::Credits(endpoint.plan.id, endpoint.credits));
        self.host.sources[waiting.stream].answered(self.clock, waiting.transfer);
        Some(waiting)
    }

    /// Writes a message to its endpoint; suspends the thread if that is not resident.
    fn write(&mut self, thread: ThreadNumber, place: EndpointNumber, letter: SharedMessage) {
        let endpoint = &mut self.endpoints[place];
        let frame = match endpoint.place {
            EndpointResidency::Resident(frame) => frame,
            EndpointResidency::Away | EndpointResidency::Leaving => {
                self.host.threads[thread].state = ThreadState::Suspended(place, letter);
                self.request_load(place);
                return;
            }
        };
        self.events.push(MessagingEvent::Accepted(letter.id, letter.to));
        match letter.role {
            MessageRole::Request => {
                self.events.push(MessagingEvent::Credits(endpoint.plan.id, endpoint.credits));
                endpoint.statistics.requests_sent += 1;
                endpoint.statistics.request_bytes += letter.bytes.len() as u64;
            }
            MessageRole::Reply => endpoint.statistics.replies_sent += 1,
        }
        endpoint.accept(letter);
        self.frames.touch(frame);
        self.host.threads[thread].state = ThreadState::Looking;
    }

    pub(super) fn resume(&mut self, place: EndpointNumber) {
        if let Some((thread, letter)) = self.host.suspended(place) {
            self.write(thread, place, letter);
        }
    }

    pub(super) fn give_up_overdue(&mut self) {
        for place in self.endpoints.numbers() {
            for number in self.endpoints[place].overdue(self.clock) {
                self.give_up_request(place, number);
            }
        }
    }

    pub(super) fn give_up_request(&mut self, place: EndpointNumber, number: u32) {
        let endpoint = &mut self.endpoints[place];
        let id = MessageId { nic: self.nic, endpoint: endpoint.plan.id, number };
        self.events.push(MessagingEvent::GivenUp(id));
        endpoint.statistics.given_up += 1;
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
