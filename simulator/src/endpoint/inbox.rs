//! What comes for an endpoint: whether it can be taken, its receive queues, its staging area. T-5, T-6

use codec::transport::{EndpointKey, Form, Reason, Role};

use super::costs::Layers;
use super::parcel::Letter;
use super::queue::{Endpoint, Incoming, Place, Read};

impl Endpoint {
    /// Why a message cannot be written here now, if it cannot: what is final comes first. T-6
    pub(super) fn refusal(&self, letter: &Letter, layers: Layers) -> Option<Reason> {
        if self.refuses(letter.key, layers) || !self.reaches(letter) {
            return Some(Reason::BadKey);
        }
        match self.place {
            Place::Resident(_) => {}
            Place::Away | Place::Leaving => return Some(Reason::NotResident),
        }
        let [requests, replies] = self.kept;
        let has_room = match letter.role {
            Role::Request => {
                self.requests_in.len() + requests < usize::from(self.parameters.request_queue)
            }
            Role::Reply => self.replies_in.len() + replies < self.places(),
        };
        if !has_room {
            return Some(Reason::QueueFull);
        }
        let has_stage = self.staged_or_kept() < usize::from(self.parameters.staging);
        (letter.is_transferred() && !has_stage).then_some(Reason::NoResource)
    }

    /// Places of the reply receive queue: for a reply to each request, and for each message that may
    /// come back.
    fn places(&self) -> usize {
        usize::from(self.parameters.credits).saturating_add(self.reply_places())
    }

    fn refuses(&self, key: EndpointKey, layers: Layers) -> bool {
        match layers {
            Layers::Baseline | Layers::Reliability => false,
            Layers::Protection => key != self.plan.key,
        }
    }

    /// Reading: a key opens no memory beyond the segment, so that what goes there is refused as by a
    /// wrong key. It would never be taken; refused without being final it would be sent for ever. T-6
    fn reaches(&self, letter: &Letter) -> bool {
        match letter.form {
            Form::Short | Form::Medium => true,
            Form::Bulk { offset, .. } => self.segment.holds(offset, letter.bytes.len()),
        }
    }

    /// Messages in the staging area that were not read yet, or that are on their way there.
    pub(super) fn staged_or_kept(&self) -> usize {
        let replies = self.replies_in.iter().filter(|incoming| match incoming {
            Incoming::Reply(letter) => letter.is_transferred(),
            Incoming::Returned(_) => false,
        });
        let requests = self.requests_in.iter().filter(|letter| letter.is_transferred());
        requests.count() + replies.count() + self.kept.iter().sum::<usize>()
    }

    /// Keeps a place for a message that comes in by DMA.
    pub(super) const fn keep(&mut self, role: Role) {
        let [requests, replies] = &mut self.kept;
        match role {
            Role::Request => *requests += 1,
            Role::Reply => *replies += 1,
        }
    }

    /// It has come in.
    pub(super) const fn free(&mut self, role: Role) {
        let [requests, replies] = &mut self.kept;
        match role {
            Role::Request => *requests = requests.saturating_sub(1),
            Role::Reply => *replies = replies.saturating_sub(1),
        }
    }

    /// Writes a message, or says why not. An event is posted if the queues were empty. T-5, T-6
    pub(super) fn write(&mut self, letter: &Letter, layers: Layers) -> Result<(), Reason> {
        if let Some(reason) = self.refusal(letter, layers) {
            return Err(reason);
        }
        if self.requests_in.is_empty() && self.replies_in.is_empty() {
            self.statistics.events += 1;
        }
        match letter.form {
            Form::Short | Form::Medium => {}
            Form::Bulk { offset, .. } => self.segment.write(offset, &letter.bytes),
        }
        match letter.role {
            Role::Request => self.requests_in.push_back(letter.clone()),
            Role::Reply => self.replies_in.push_back(Incoming::Reply(letter.clone())),
        }
        Ok(())
    }

    /// Whether there is something that the application can read.
    pub(super) fn has_incoming(&self) -> bool {
        !self.replies_in.is_empty() || (!self.requests_in.is_empty() && self.can_reply())
    }

    /// What the application reads next: replies before requests. A request keeps a place for its reply.
    pub(super) fn read(&mut self) -> Option<Read> {
        if let Some(incoming) = self.replies_in.pop_front() {
            return Some(Read::Other(incoming));
        }
        if !self.can_reply() {
            return None;
        }
        let letter = self.requests_in.pop_front()?;
        self.replying += 1;
        Some(Read::Request(letter))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use codec::transport::{EndpointId, Nic};

    use super::super::parcel::{Address, Parcel};
    use super::super::plan::{EndpointParameters, EndpointPlan, Wake};
    use super::super::told::MessageId;
    use super::*;

    /// An endpoint that is there, with two places for requests, and a request for it.
    fn endpoint() -> (Endpoint, Letter) {
        let (id, key) = (EndpointId(3), EndpointKey(7));
        let plan = EndpointPlan { id, key, segment: 0, wake: Wake::Poll };
        let parameters = EndpointParameters { request_queue: 2, ..EndpointParameters::default() };
        let mut endpoint = Endpoint::new(plan, parameters);
        endpoint.place = Place::Resident(0);
        let sent = MessageId { nic: Nic(1), endpoint: EndpointId(0), number: 0 };
        let address = Address { id: sent, to: id, key };
        (endpoint, Arc::new(Parcel::request(address, Form::Medium, 100)))
    }

    #[test]
    fn what_is_still_on_the_bus_has_its_place_in_the_receive_queue() {
        let (mut endpoint, letter) = endpoint();
        let refusal = |endpoint: &Endpoint| endpoint.refusal(&letter, Layers::Protection);
        // One is written, and another on its way to the host: that is all there is room for. T-6
        assert_eq!(endpoint.write(&letter, Layers::Protection), Ok(()));
        assert_eq!(refusal(&endpoint), None);
        endpoint.keep(Role::Request);
        assert_eq!(refusal(&endpoint), Some(Reason::QueueFull));
        endpoint.free(Role::Request);
        assert_eq!(refusal(&endpoint), None);
    }

    #[test]
    fn a_request_is_read_only_if_its_reply_has_a_place() {
        let (mut endpoint, letter) = endpoint();
        for _ in 0..2 {
            assert_eq!(endpoint.write(&letter, Layers::Protection), Ok(()));
            assert!(endpoint.read().is_some());
        }
        // Both replies are still to be made, and both places are theirs. T-9
        assert_eq!(endpoint.write(&letter, Layers::Protection), Ok(()));
        assert!(!endpoint.has_incoming());
        assert!(endpoint.read().is_none());
    }
}
