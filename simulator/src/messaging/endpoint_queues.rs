//! Endpoints: four queues, credits, and pending requests. T-9

use std::collections::{BTreeMap, VecDeque};

use codec::transport::MessageRole;

use super::counters::EndpointStatistics;
use super::inbox::PageMappings;
use super::message::SharedMessage;
use super::plan::{EndpointParameters, EndpointPlan};
use super::scheduler::EndpointSupply;
use super::segment::MemorySegment;
use crate::arena::StreamNumber;
use crate::truth::{MessageId, MessagingEvent};

#[derive(Clone, Debug)]
pub(super) struct EndpointQueues {
    pub(super) plan: EndpointPlan,
    pub(super) place: EndpointResidency,
    pub(super) statistics: EndpointStatistics,
    pub(super) parameters: EndpointParameters,
    next: u32,
    pub(super) credits: u16,
    requests_out: VecDeque<SendQueueItem>,
    replies_out: VecDeque<SendQueueItem>,
    pub(super) requests_in: VecDeque<SharedMessage>,
    /// Replies, and returned messages of this endpoint. T-11
    pub(super) replies_in: VecDeque<ReceivedMessage>,
    /// Places in the receive queues reserved for messages in transfer: requests and replies.
    pub(super) kept: [usize; 2],
    /// Places in the reply send queue reserved for requests being handled.
    pub(super) replying: usize,
    /// Requests that hold a credit, by number.
    waiting: BTreeMap<u32, PendingRequest>,
    pub(super) segment: MemorySegment,
    /// Pages with a DMA mapping, if mappings are limited.
    pub(super) mapped: PageMappings,
}

/// Location of an endpoint. T-13, T-15
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EndpointResidency {
    Away,
    Resident(usize),
    Leaving,
}

/// Message in a send queue, which keeps its place until it is acknowledged or returned.
#[derive(Clone, Debug)]
struct SendQueueItem {
    letter: SharedMessage,
    stage: SendStage,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SendStage {
    Ready,
    Underway,
}

/// Message for the application.
#[derive(Clone, Debug)]
pub(super) enum ReceivedMessage {
    Request(SharedMessage),
    Reply(SharedMessage),
    Returned(SharedMessage),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PendingRequest {
    pub stream: StreamNumber,
    /// Number of the first message of its transfer; its own unless it is a bulk message.
    pub transfer: u32,
    /// Time when it was handed over.
    pub since: u64,
    pub until: RequestWait,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RequestWait {
    Acknowledged,
    /// Reply, with a deadline.
    Answered(u64),
    /// Being read after its return.
    Read,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SendPath {
    /// A logical channel and memory are free.
    Open,
    Blocked,
    /// The destination is unreachable.
    None,
}

impl EndpointQueues {
    pub(super) fn new(plan: EndpointPlan, parameters: EndpointParameters) -> Self {
        let segment = MemorySegment::new(plan.segment);
        Self {
            plan,
            place: EndpointResidency::Away,
            statistics: EndpointStatistics::default(),
            parameters,
            next: 0,
            credits: parameters.credits,
            requests_out: VecDeque::new(),
            replies_out: VecDeque::new(),
            requests_in: VecDeque::new(),
            replies_in: VecDeque::new(),
            kept: [0; 2],
            replying: 0,
            waiting: BTreeMap::new(),
            segment,
            mapped: PageMappings::new(),
        }
    }

    pub(super) const fn number(&mut self) -> u32 {
        let number = self.next;
        self.next = number.wrapping_add(1);
        number
    }

    /// Tests for a credit and a place in the send queue. A request whose reply came before its ACK
    /// still has its place. T-9
    pub(super) fn can_request(&self) -> bool {
        self.credits > 0 && self.requests_out.len() < usize::from(self.parameters.credits)
    }

    /// Takes a credit for a request. T-9
    pub(super) fn spend(&mut self, number: u32, waiting: PendingRequest) {
        self.credits = self.credits.saturating_sub(1);
        self.waiting.insert(number, waiting);
    }

    /// Restores the credit of a finished request, once. T-9
    pub(super) fn restore(&mut self, number: u32) -> Option<PendingRequest> {
        let waiting = self.waiting.remove(&number)?;
        self.credits = self.credits.saturating_add(1);
        Some(waiting)
    }

    pub(super) fn waiting(&self, number: u32) -> Option<PendingRequest> {
        self.waiting.get(&number).copied()
    }

    pub(super) fn check(&mut self, letter: &SharedMessage, events: &mut Vec<MessagingEvent>) {
        if !letter.is_intact() {
            self.statistics.damaged += 1;
            events.push(MessagingEvent::Damaged(letter.id, self.plan.id));
        }
    }

    pub(super) fn patience(&self) -> Option<u64> {
        self.waiting.values().filter_map(PendingRequest::deadline).min()
    }

    /// Numbers of the requests past their deadline.
    pub(super) fn overdue(&self, now: u64) -> Vec<u32> {
        let late = |waiting: &PendingRequest| waiting.deadline().is_some_and(|until| until <= now);
        let late = self.waiting.iter().filter(|(_, waiting)| late(waiting));
        late.map(|(number, _)| *number).collect()
    }

    pub(super) fn can_reply(&self) -> bool {
        self.replies_out.len() + self.replying < self.reply_places()
    }

    pub(super) fn reply_places(&self) -> usize {
        usize::from(self.parameters.request_queue)
    }

    pub(super) fn accept(&mut self, letter: SharedMessage) {
        let role = letter.role;
        let item = SendQueueItem { letter, stage: SendStage::Ready };
        match role {
            MessageRole::Request => self.requests_out.push_back(item),
            MessageRole::Reply => {
                self.replying = self.replying.saturating_sub(1);
                self.replies_out.push_back(item);
            }
        }
    }

    /// Next message that is not blocked: replies before requests, which avoids a deadlock.
    pub(super) fn pick(
        &self,
        path: impl Fn(&SharedMessage) -> SendPath,
    ) -> Option<(SharedMessage, SendPath)> {
        let mut paths = self.ready().map(|letter| (letter, path(letter)));
        let (letter, path) = paths.find(|(_, path)| *path != SendPath::Blocked)?;
        Some((letter.clone(), path))
    }

    /// State of the send queues for the scheduler. T-14
    pub(super) fn queue_supply(&self, path: impl Fn(&SharedMessage) -> SendPath) -> EndpointSupply {
        if !self.is_resident() {
            EndpointSupply::Away
        } else if !self.has_ready() {
            EndpointSupply::Empty
        } else if self.ready().all(|letter| path(letter) == SendPath::Blocked) {
            EndpointSupply::Blocked
        } else {
            EndpointSupply::Ready
        }
    }

    pub(super) fn has_ready(&self) -> bool {
        self.ready().next().is_some()
    }

    /// Messages waiting to be sent, replies first.
    pub(super) fn ready(&self) -> impl Iterator<Item = &SharedMessage> {
        let all = self.replies_out.iter().chain(&self.requests_out);
        all.filter(|item| item.stage == SendStage::Ready).map(|item| &item.letter)
    }

    /// Marks a message as sent, or as unsent: it leaves the frame with its endpoint. T-13
    pub(super) fn stage(&mut self, id: MessageId, stage: SendStage) {
        let all = self.replies_out.iter_mut().chain(&mut self.requests_out);
        all.filter(|item| item.letter.id == id).for_each(|item| item.stage = stage);
    }

    /// Removes a delivered message; a request now waits for its reply.
    pub(super) fn settle(&mut self, now: u64, id: MessageId) {
        self.remove(id);
        if let Some(waiting) = self.waiting.get_mut(&id.number) {
            waiting.until = RequestWait::Answered(now.saturating_add(self.parameters.patience));
        }
    }

    /// Puts a returned message into the reply receive queue. T-11
    pub(super) fn bring_back(&mut self, letter: SharedMessage) {
        self.remove(letter.id);
        if let Some(waiting) = self.waiting.get_mut(&letter.id.number) {
            waiting.until = RequestWait::Read;
        }
        // It has room: what was handed over kept its place in a send queue.
        self.replies_in.push_back(ReceivedMessage::Returned(letter));
    }

    fn remove(&mut self, id: MessageId) {
        self.requests_out.retain(|item| item.letter.id != id);
        self.replies_out.retain(|item| item.letter.id != id);
    }

    /// Clears the queues of a lost frame; returns unsent and unread messages.
    pub(super) fn lose(&mut self) -> (Vec<SharedMessage>, Vec<SharedMessage>) {
        self.place = EndpointResidency::Away;
        let sent = self.replies_out.drain(..).chain(self.requests_out.drain(..));
        let sent = sent.map(|item| item.letter).collect();
        let replies = self.replies_in.drain(..).filter_map(|incoming| match incoming {
            ReceivedMessage::Reply(letter) => Some(letter),
            ReceivedMessage::Returned(_) => None,
            ReceivedMessage::Request(_) => unreachable!("requests have a queue of their own"),
        });
        let come = self.requests_in.drain(..).chain(replies).collect();
        (sent, come)
    }

    pub(super) fn open(&self) -> Vec<(u32, RequestWait)> {
        self.waiting.iter().map(|(number, waiting)| (*number, waiting.until)).collect()
    }

    pub(super) const fn is_resident(&self) -> bool {
        matches!(self.place, EndpointResidency::Resident(_))
    }

    pub(super) fn is_quiet(&self) -> bool {
        self.requests_out.is_empty()
            && self.replies_out.is_empty()
            && self.requests_in.is_empty()
            && self.replies_in.is_empty()
            && self.waiting.is_empty()
    }

    /// Checks the conservation of credits and the limits of the queues.
    pub(super) fn is_consistent(&self) -> bool {
        let parameters = &self.parameters;
        usize::from(self.credits) + self.waiting.len() == usize::from(parameters.credits)
            && self.requests_out.len() <= usize::from(parameters.credits)
            && self.replies_out.len() + self.replying <= self.reply_places()
            && self.requests_in.len() <= usize::from(parameters.request_queue)
    }
}

impl PendingRequest {
    const fn deadline(&self) -> Option<u64> {
        match self.until {
            RequestWait::Answered(until) => Some(until),
            RequestWait::Acknowledged | RequestWait::Read => None,
        }
    }
}
