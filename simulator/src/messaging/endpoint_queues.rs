//! An endpoint: its four queues and its credits, and what it sends. T-9

use std::collections::{BTreeMap, VecDeque};

use codec::transport::{EndpointId, MessageRole, Nic};

use super::counters::EndpointStatistics;
use super::event::{MessageId, MessagingEvent};
use super::mapping::PageMappings;
use super::message::SharedMessage;
use super::plan::{EndpointParameters, EndpointPlan};
use super::scheduler::EndpointSupply;
use super::segment::MemorySegment;

/// An endpoint.
#[derive(Clone, Debug)]
pub(super) struct EndpointQueues {
    pub(super) plan: EndpointPlan,
    pub(super) place: EndpointResidency,
    pub(super) statistics: EndpointStatistics,
    pub(super) parameters: EndpointParameters,
    /// Messages handed over so far.
    next: u32,
    credits: u16,
    requests_out: VecDeque<SendQueueItem>,
    replies_out: VecDeque<SendQueueItem>,
    pub(super) requests_in: VecDeque<SharedMessage>,
    pub(super) replies_in: VecDeque<ReplyQueueItem>,
    /// Places in the receive queues that are kept for what comes in by DMA: requests and replies.
    pub(super) kept: [usize; 2],
    /// Places in the reply send queue that are kept for requests that are being handled.
    pub(super) replying: usize,
    /// Requests that took a credit, by number.
    waiting: BTreeMap<u32, PendingRequest>,
    pub(super) segment: MemorySegment,
    /// Pages of its host memory with a DMA mapping, if not all have one.
    pub(super) mapped: PageMappings,
}

/// Where an endpoint is. T-13, T-15
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EndpointResidency {
    /// In host memory.
    Away,
    /// In this frame.
    Resident(usize),
    /// In a frame, but on its way out of it.
    Leaving,
}

/// A message in a send queue. It keeps its place until it is acknowledged or goes back.
#[derive(Clone, Debug)]
struct SendQueueItem {
    letter: SharedMessage,
    to: Nic,
    stage: SendStage,
}

/// What has become of a message in a send queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SendStage {
    Ready,
    Underway,
}

/// A message in the reply receive queue.
#[derive(Clone, Debug)]
pub(super) enum ReplyQueueItem {
    /// A reply.
    Reply(SharedMessage),
    /// A message of this endpoint that is back. T-11
    Returned(SharedMessage),
}

/// What the application reads.
#[derive(Clone, Debug)]
pub(super) enum ReadMessage {
    /// From the request receive queue.
    Request(SharedMessage),
    /// From the reply receive queue.
    Other(ReplyQueueItem),
}

/// A request that took a credit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PendingRequest {
    /// The stream that it is of.
    pub stream: usize,
    /// The number of the first message of its transfer: its own, but for bulk messages.
    pub transfer: u32,
    /// Where it was sent.
    pub to: (Nic, EndpointId),
    /// When it was handed over.
    pub since: u64,
    /// What it waits for.
    pub until: RequestWait,
}

/// What a request waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RequestWait {
    /// To be acknowledged.
    Acknowledged,
    /// For its reply, until then.
    Answered(u64),
    /// To be read: it is back.
    Read,
}

/// A message that may go now, or never.
#[derive(Clone, Debug)]
pub(super) enum SendPick {
    /// It may be sent.
    Send(SharedMessage),
    /// No packet can be sent there.
    Nowhere(SharedMessage),
}

/// Whether a NIC can be sent to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SendPath {
    /// There is a free logical channel, and room.
    Open,
    /// There is none now.
    Blocked,
    /// There is none ever.
    None,
}

impl EndpointQueues {
    /// One in host memory.
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

    /// The number of the next message that its application hands over.
    pub(super) const fn number(&mut self) -> u32 {
        let number = self.next;
        self.next = number.wrapping_add(1);
        number
    }

    /// Credits that are left. T-9
    pub(super) const fn credits(&self) -> u16 {
        self.credits
    }

    /// Whether a request may be handed over: there is a credit for it, and a place in the send queue. A
    /// request whose reply came before its ACK still has its place. T-9
    pub(super) fn can_request(&self) -> bool {
        self.credits > 0 && self.requests_out.len() < usize::from(self.parameters.credits)
    }

    /// A request takes a credit. T-9
    pub(super) fn spend(&mut self, number: u32, waiting: PendingRequest) {
        self.credits = self.credits.saturating_sub(1);
        self.waiting.insert(number, waiting);
    }

    /// A request is over: its credit is back, once. T-9
    pub(super) fn restore(&mut self, number: u32) -> Option<PendingRequest> {
        let waiting = self.waiting.remove(&number)?;
        self.credits = self.credits.saturating_add(1);
        Some(waiting)
    }

    /// The request of that number, if it has a credit.
    pub(super) fn waiting(&self, number: u32) -> Option<PendingRequest> {
        self.waiting.get(&number).copied()
    }

    /// Whether a request of that number has a credit, and no reply.
    pub(super) fn waits_for(&self, number: u32) -> bool {
        self.waiting.contains_key(&number)
    }

    /// Looks whether a message that is read is as it was sent.
    pub(super) fn check(&mut self, letter: &SharedMessage, told: &mut Vec<MessagingEvent>) {
        if !letter.is_intact() {
            self.statistics.damaged += 1;
            told.push(MessagingEvent::Damaged(letter.id, self.plan.id));
        }
    }

    /// When the application stops to wait for a reply.
    pub(super) fn patience(&self) -> Option<u64> {
        self.waiting.values().filter_map(PendingRequest::deadline).min()
    }

    /// The numbers of requests that have been waited for too long.
    pub(super) fn overdue(&self, now: u64) -> Vec<u32> {
        let late = |waiting: &PendingRequest| waiting.deadline().is_some_and(|until| until <= now);
        let late = self.waiting.iter().filter(|(_, waiting)| late(waiting));
        late.map(|(number, _)| *number).collect()
    }

    /// Whether a request that is read can be answered.
    pub(super) fn can_reply(&self) -> bool {
        self.replies_out.len() + self.replying < self.reply_places()
    }

    pub(super) fn reply_places(&self) -> usize {
        usize::from(self.parameters.request_queue)
    }

    /// The application hands a message over, which is in the send queue now.
    pub(super) fn accept(&mut self, letter: SharedMessage, to: Nic) {
        let item = |letter| SendQueueItem { letter, to, stage: SendStage::Ready };
        match letter.role {
            MessageRole::Request => self.requests_out.push_back(item(letter)),
            MessageRole::Reply => {
                self.replying = self.replying.saturating_sub(1);
                self.replies_out.push_back(item(letter));
            }
        }
    }

    /// The message that goes next: a reply before requests, so that nobody waits in a circle.
    pub(super) fn pick(&self, way: impl Fn(Nic, &SharedMessage) -> SendPath) -> Option<SendPick> {
        self.ready().find_map(|item| match way(item.to, &item.letter) {
            SendPath::Open => Some(SendPick::Send(item.letter.clone())),
            SendPath::None => Some(SendPick::Nowhere(item.letter.clone())),
            SendPath::Blocked => None,
        })
    }

    /// What the scheduler needs to know. T-14
    pub(super) fn queue_supply(
        &self,
        way: impl Fn(Nic, &SharedMessage) -> SendPath,
    ) -> EndpointSupply {
        match self.place {
            EndpointResidency::Away | EndpointResidency::Leaving => EndpointSupply::Away,
            EndpointResidency::Resident(_) if self.ready().next().is_none() => {
                EndpointSupply::Empty
            }
            EndpointResidency::Resident(_)
                if self.ready().all(|item| way(item.to, &item.letter) == SendPath::Blocked) =>
            {
                EndpointSupply::Blocked
            }
            EndpointResidency::Resident(_) => EndpointSupply::Ready,
        }
    }

    /// Whether something waits to be sent, so that it should be in a frame.
    pub(super) fn has_ready(&self) -> bool {
        self.ready().next().is_some()
    }

    fn ready(&self) -> impl Iterator<Item = &SendQueueItem> {
        let all = self.replies_out.iter().chain(&self.requests_out);
        all.filter(|item| item.stage == SendStage::Ready)
    }

    /// Where a message of its goes that waits to be sent.
    pub(super) fn destination(&self, id: MessageId) -> Option<(SharedMessage, Nic)> {
        let item = self.ready().find(|item| item.letter.id == id)?;
        Some((item.letter.clone(), item.to))
    }

    /// A message is on its way.
    pub(super) fn underway(&mut self, id: MessageId) {
        self.stage(id, SendStage::Underway);
    }

    /// A message was on its way and is to be sent again: it leaves the frame with its endpoint. T-13
    pub(super) fn again(&mut self, id: MessageId) {
        self.stage(id, SendStage::Ready);
    }

    fn stage(&mut self, id: MessageId, stage: SendStage) {
        let all = self.replies_out.iter_mut().chain(&mut self.requests_out);
        all.filter(|item| item.letter.id == id).for_each(|item| item.stage = stage);
    }

    /// A message is done with: it was written, or nobody will know. Its application waits for the
    /// reply now, if it asked.
    pub(super) fn settle(&mut self, now: u64, id: MessageId) {
        self.remove(id);
        if let Some(waiting) = self.waiting.get_mut(&id.number) {
            waiting.until = RequestWait::Answered(now.saturating_add(self.parameters.patience));
        }
    }

    /// A message is back, and goes into the reply receive queue. T-11
    pub(super) fn bring_back(&mut self, letter: SharedMessage) {
        self.remove(letter.id);
        if let Some(waiting) = self.waiting.get_mut(&letter.id.number) {
            waiting.until = RequestWait::Read;
        }
        // It has room: what was handed over kept its place in a send queue.
        self.replies_in.push_back(ReplyQueueItem::Returned(letter));
    }

    fn remove(&mut self, id: MessageId) {
        self.requests_out.retain(|item| item.letter.id != id);
        self.replies_out.retain(|item| item.letter.id != id);
    }

    /// What stands in its segment.
    pub(super) fn segment(&self) -> &MemorySegment {
        &self.segment
    }

    /// Its frame is lost: what it had to send, and what had come and was not read.
    pub(super) fn lose(&mut self) -> (Vec<SharedMessage>, Vec<SharedMessage>) {
        self.place = EndpointResidency::Away;
        let sent = self.replies_out.drain(..).chain(self.requests_out.drain(..));
        let sent = sent.map(|item| item.letter).collect();
        let replies = self.replies_in.drain(..).filter_map(|incoming| match incoming {
            ReplyQueueItem::Reply(letter) => Some(letter),
            ReplyQueueItem::Returned(_) => None,
        });
        let come = self.requests_in.drain(..).chain(replies).collect();
        (sent, come)
    }

    /// The requests that it waits for, by number.
    pub(super) fn open(&self) -> Vec<(u32, RequestWait)> {
        self.waiting.iter().map(|(number, waiting)| (*number, waiting.until)).collect()
    }

    /// Whether it is in a frame, and not on its way out of it.
    pub(super) const fn is_resident(&self) -> bool {
        match self.place {
            EndpointResidency::Resident(_) => true,
            EndpointResidency::Away | EndpointResidency::Leaving => false,
        }
    }

    /// Whether it has no message, and waits for none.
    pub(super) fn is_quiet(&self) -> bool {
        self.requests_out.is_empty()
            && self.replies_out.is_empty()
            && self.requests_in.is_empty()
            && self.replies_in.is_empty()
            && self.waiting.is_empty()
    }

    /// Whether credits are conserved, and no queue is longer than it may be.
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
