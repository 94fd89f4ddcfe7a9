//! What becomes of each message.

use std::fmt;
use std::rc::Rc;

use codec::transport::{EndpointId, Nic};
use simulator::transport::OutboundMessage;

use super::TransportChecker;

/// Messages are carried by their number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MessageNumber(pub u32);

impl fmt::Display for MessageNumber {
    /// A letter of the alphabet, if it is one of the first.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match u8::try_from(self.0) {
            Ok(number @ 0..26) => write!(f, "{}", char::from(b'A' + number)),
            Ok(_) | Err(_) => write!(f, "message {}", self.0),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct EndpointAddress {
    pub(crate) nic: Nic,
    pub(crate) endpoint: EndpointId,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum TransportOutcome {
    Open,
    /// Its application has it ready, or it has left its frame with its endpoint. T-13
    Stored,
    Acknowledged,
    Returned,
    Lost,
}

/// Life of its destination in which a message was written last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum WriteState {
    Never,
    Before,
    Now,
}

/// Claim checked beside the laws. There are counterexamples to two of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExtraClaim {
    /// The latest transmission of what is outstanding is answered whenever it arrives. This one holds:
    /// it is what property 3 rests on.
    ReceivedIsAnswered,
    /// A message that comes back unreachable was not written.
    ReturnedIsUnwritten,
    /// A message is written once, over all lives of the NIC that it goes to.
    OneLife,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct TransportRecord {
    pub(crate) from: EndpointAddress,
    pub(crate) to: EndpointAddress,
    pub(crate) key: u64,
    pub(crate) end: TransportOutcome,
    pub(super) written: WriteState,
}

impl TransportChecker {
    pub(in super::super) const fn change_key(&mut self) {
        self.keys_have_changed = true;
    }

    pub(in super::super) fn account(&self, number: MessageNumber) -> &TransportRecord {
        match self.accounts.get(number.0 as usize) {
            Some(account) => account,
            None => unsent(number),
        }
    }

    pub(super) fn account_mut(&mut self, number: MessageNumber) -> &mut TransportRecord {
        match Rc::make_mut(&mut self.accounts).get_mut(number.0 as usize) {
            Some(account) => account,
            None => unsent(number),
        }
    }

    pub(super) fn set(&mut self, number: MessageNumber, end: TransportOutcome) {
        self.account_mut(number).end = end;
    }

    pub(super) fn is_written(&self, number: MessageNumber, when: WriteState) -> bool {
        self.account(number).written == when
    }

    /// Messages of a NIC that wait for a channel, or for their endpoint to be loaded.
    pub(crate) fn waiting(
        &self,
        nic: Nic,
    ) -> impl Iterator<Item = (MessageNumber, EndpointAddress)> {
        let accounts = (0..).map(MessageNumber).zip(self.accounts.iter());
        let waits = move |account: &TransportRecord| {
            account.from.nic == nic && account.end == TransportOutcome::Stored
        };
        accounts.filter(move |(_, it)| waits(it)).map(|(number, account)| (number, account.from))
    }

    /// A message that an application hands over.
    pub(crate) fn accept(
        &mut self,
        from: EndpointAddress,
        to: EndpointAddress,
        key: u64,
    ) -> MessageNumber {
        let (end, written) = (TransportOutcome::Stored, WriteState::Never);
        let number = u32::try_from(self.accounts.len()).unwrap_or(u32::MAX);
        Rc::make_mut(&mut self.accounts).push(TransportRecord { from, to, key, end, written });
        MessageNumber(number)
    }

    /// Hosts that send again what a restart took, which is no part of the protocol.
    pub(in super::super) fn send_lost_again(&mut self, nic: Nic) {
        let is_lost =
            |it: &&mut TransportRecord| it.from.nic == nic && it.end == TransportOutcome::Lost;
        for account in Rc::make_mut(&mut self.accounts).iter_mut().filter(is_lost) {
            account.end = TransportOutcome::Stored;
        }
    }

    /// What was written at a NIC was written in a life before.
    pub(super) fn forget_writes(&mut self, nic: Nic) {
        for account in Rc::make_mut(&mut self.accounts) {
            if account.to.nic == nic && account.written == WriteState::Now {
                account.written = WriteState::Before;
            }
        }
    }

    pub(super) fn letter(&self, number: MessageNumber) -> OutboundMessage<MessageNumber> {
        OutboundMessage { endpoint: self.account(number).from.endpoint, message: number }
    }
}

#[cold]
#[expect(clippy::panic, reason = "a broken law")]
fn unsent(number: MessageNumber) -> ! {
    panic!("{number}: a message that nobody sent")
}
