//! Receiving side of an endpoint: admission, receive queues, staging area. T-5, T-6

use std::collections::VecDeque;

use codec::transport::{MessageForm, MessageRole, NackReason};

use super::costs::ProtocolLayers;
use super::endpoint_queues::{EndpointQueues, ReceivedMessage};
use super::message::SharedMessage;

/// Bytes of a page, and maximum of a message in a staging area. *Chosen*: a page of an
/// `UltraSPARC`.
const PAGE: u32 = 8192;

/// Page of host memory with a DMA mapping. T-6, T-15
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HostPage {
    Staging(usize),
    Segment(u32),
}

/// Pinned pages with a DMA mapping, oldest first, each with its minimum stay.
pub(super) type PageMappings = VecDeque<(HostPage, u64)>;

impl EndpointQueues {
    /// Reason to refuse a message now; final reasons come first. T-6
    pub(super) fn refusal(
        &self,
        letter: &SharedMessage,
        layers: ProtocolLayers,
    ) -> Option<NackReason> {
        if !self.admits(letter, layers) || !self.reaches(letter) {
            return Some(NackReason::BadKey);
        }
        if !self.is_resident() {
            return Some(NackReason::NotResident);
        }
        let [requests, replies] = self.kept;
        let has_room = match letter.role {
            MessageRole::Request => {
                self.requests_in.len() + requests < usize::from(self.parameters.request_queue)
            }
            MessageRole::Reply => self.replies_in.len() + replies < self.places(),
        };
        if !has_room {
            return Some(NackReason::QueueFull);
        }
        let has_stage = self.staged_or_kept() < usize::from(self.parameters.staging);
        (letter.is_transferred() && !has_stage).then_some(NackReason::NoResource)
    }

    /// Size of the reply receive queue: a reply to each request, and each message that may be
    /// returned.
    fn places(&self) -> usize {
        usize::from(self.parameters.credits).saturating_add(self.reply_places())
    }

    fn admits(&self, letter: &SharedMessage, layers: ProtocolLayers) -> bool {
        layers < ProtocolLayers::Protection || letter.key == self.plan.key
    }

    /// Reading: a range beyond the segment is refused like a wrong key. A refusal that is not final
    /// would have it sent for ever. T-6
    fn reaches(&self, letter: &SharedMessage) -> bool {
        match letter.form {
            MessageForm::Short | MessageForm::Medium => true,
            MessageForm::Bulk { offset, .. } => self.segment.holds(offset, letter.bytes.len()),
        }
    }

    /// Messages in the staging area, or on their way there.
    pub(super) fn staged_or_kept(&self) -> usize {
        let replies = self.replies_in.iter().filter(
            |item| matches!(item, ReceivedMessage::Reply(letter) if letter.is_transferred()),
        );
        let requests = self.requests_in.iter().filter(|letter| letter.is_transferred());
        requests.count() + replies.count() + self.kept.iter().sum::<usize>()
    }

    pub(super) const fn keep(&mut self, role: MessageRole) {
        let [requests, replies] = &mut self.kept;
        match role {
            MessageRole::Request => *requests += 1,
            MessageRole::Reply => *replies += 1,
        }
    }

    pub(super) const fn free(&mut self, role: MessageRole) {
        let [requests, replies] = &mut self.kept;
        match role {
            MessageRole::Request => *requests = requests.saturating_sub(1),
            MessageRole::Reply => *replies = replies.saturating_sub(1),
        }
    }

    /// Writes a message, or returns the reason to refuse it. Posts an event if the queues were
    /// empty. T-5, T-6
    pub(super) fn write(
        &mut self,
        letter: &SharedMessage,
        layers: ProtocolLayers,
    ) -> Result<(), NackReason> {
        if let Some(reason) = self.refusal(letter, layers) {
            return Err(reason);
        }
        if self.requests_in.is_empty() && self.replies_in.is_empty() {
            self.statistics.events += 1;
        }
        if let MessageForm::Bulk { offset, .. } = letter.form {
            self.segment.write(offset, &letter.bytes);
        }
        match letter.role {
            MessageRole::Request => self.requests_in.push_back(letter.clone()),
            MessageRole::Reply => self.replies_in.push_back(ReceivedMessage::Reply(letter.clone())),
        }
        Ok(())
    }

    pub(super) fn has_incoming(&self) -> bool {
        !self.replies_in.is_empty() || (!self.requests_in.is_empty() && self.can_reply())
    }

    /// Next message for the application: replies before requests. A request reserves a place for
    /// its reply.
    pub(super) fn read(&mut self) -> Option<ReceivedMessage> {
        if let Some(incoming) = self.replies_in.pop_front() {
            return Some(incoming);
        }
        if !self.can_reply() {
            return None;
        }
        let letter = self.requests_in.pop_front()?;
        self.replying += 1;
        Some(ReceivedMessage::Request(letter))
    }
}

impl EndpointQueues {
    /// Unmapped page of a message, if mappings are limited.
    pub(super) fn unmapped(&self, letter: &SharedMessage) -> Option<HostPage> {
        self.parameters.mappings?;
        let pages = match letter.form {
            MessageForm::Short => return None,
            MessageForm::Medium => [HostPage::Staging(self.staged_or_kept()); 2],
            MessageForm::Bulk { offset, .. } => {
                let last = u32::try_from(letter.bytes.len()).unwrap_or(PAGE).saturating_sub(1);
                [offset, offset.saturating_add(last)].map(|at| HostPage::Segment(at / PAGE))
            }
        };
        pages.into_iter().find(|page| !self.mapped.iter().any(|(mapped, _)| mapped == page))
    }

    /// Earliest time for another mapping.
    pub(super) fn mapping_due(&self) -> u64 {
        let most = usize::from(self.parameters.mappings.unwrap_or(u16::MAX));
        let oldest = self.mapped.front().filter(|_| self.mapped.len() >= most);
        oldest.map_or(0, |(_, stays)| *stays)
    }

    /// Maps a page, replacing the oldest beyond the limit.
    pub(super) fn map(&mut self, page: HostPage, stays: u64) {
        self.mapped.push_back((page, stays));
        if self.mapped.len() > usize::from(self.parameters.mappings.unwrap_or(u16::MAX)) {
            self.mapped.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use codec::transport::{EndpointId, EndpointKey, Nic};

    use super::super::endpoint_queues::EndpointResidency;
    use super::super::message::{HostMessage, MessageAddress};
    use super::super::plan::{EndpointParameters, EndpointPlan, WakeMode};
    use super::*;
    use crate::truth::MessageId;

    /// Resident endpoint with two places for requests, and a request.
    fn endpoint() -> (EndpointQueues, SharedMessage) {
        let (id, key) = (EndpointId(3), EndpointKey(7));
        let plan = EndpointPlan { id, key, segment: 0, wake: WakeMode::Poll };
        let parameters = EndpointParameters { request_queue: 2, ..EndpointParameters::default() };
        let mut endpoint = EndpointQueues::new(plan, parameters);
        endpoint.place = EndpointResidency::Resident(0);
        let sent = MessageId { nic: Nic(1), endpoint: EndpointId(0), number: 0 };
        let address = MessageAddress { id: sent, to: (Nic(0), id), key };
        (endpoint, Arc::new(HostMessage::request(address, MessageForm::Medium, 100)))
    }

    #[test]
    fn what_is_still_on_the_bus_has_its_place_in_the_receive_queue() {
        let (mut endpoint, letter) = endpoint();
        let refusal =
            |endpoint: &EndpointQueues| endpoint.refusal(&letter, ProtocolLayers::Protection);
        // One is written, and another on its way to the host: that is all there is room for. T-6
        assert_eq!(endpoint.write(&letter, ProtocolLayers::Protection), Ok(()));
        assert_eq!(refusal(&endpoint), None);
        endpoint.keep(MessageRole::Request);
        assert_eq!(refusal(&endpoint), Some(NackReason::QueueFull));
        endpoint.free(MessageRole::Request);
        assert_eq!(refusal(&endpoint), None);
    }

    #[test]
    fn a_request_is_read_only_if_its_reply_has_a_place() {
        let (mut endpoint, letter) = endpoint();
        for _ in 0..2 {
            assert_eq!(endpoint.write(&letter, ProtocolLayers::Protection), Ok(()));
            assert!(endpoint.read().is_some());
        }
        // Both replies are still to be made, and both places are theirs. T-9
        assert_eq!(endpoint.write(&letter, ProtocolLayers::Protection), Ok(()));
        assert!(!endpoint.has_incoming());
        assert!(endpoint.read().is_none());
    }
}
