//! Running stream of requests: due times, and the pieces of bulk transfers.

use std::collections::{BTreeMap, VecDeque};

use codec::packet::PacketTag;
use codec::transport::{EndpointId, EndpointKey, MEDIUM_MAX, MessageForm, Nic, TAG, WORDS_MAX};

use super::plan::{MessageKind, MessageStream};
use crate::arena::EndpointNumber;
use crate::node::NodeId;
use crate::rng::Rng;
use crate::traffic::{CommandForm, StreamDestination, StreamGenerator, TrafficStream};

/// Minimum size of a message: its number.
const BYTES_MIN: u32 = 4;

#[derive(Clone, Debug)]
pub(super) struct StreamSource {
    pub(super) plan: MessageStream,
    pub(super) endpoint: EndpointNumber,
    machine: StreamGenerator,
    resent: VecDeque<ResendRequest>,
    transfer: Option<BulkTransfer>,
    /// Unanswered messages of each transfer, by its first number.
    open: BTreeMap<u32, u32>,
}

#[derive(Clone, Copy, Debug)]
struct BulkTransfer {
    first: u32,
    offset: u32,
    total: u32,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct ResendRequest {
    pub draft: MessageDraft,
    pub to: (Nic, EndpointId),
    pub key: EndpointKey,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MessageDraft {
    /// Number of the first message of its transfer.
    pub transfer: u32,
    pub form: MessageForm,
    pub length: usize,
}

impl StreamSource {
    pub(super) fn new(plan: MessageStream, endpoint: EndpointNumber, rng: Rng) -> Option<Self> {
        let stream = TrafficStream {
            from: NodeId(0),
            to: StreamDestination::One(NodeId(1)),
            tag: PacketTag::new(TAG)?,
            protocol: None,
            multicast: None,
            payload: plan.size,
            arrivals: plan.arrivals,
            start: plan.start,
            packets: plan.count,
            command: CommandForm::default(),
        };
        let machine = StreamGenerator::new(stream, rng);
        let (resent, open) = (VecDeque::new(), BTreeMap::new());
        Some(Self { plan, endpoint, machine, resent, transfer: None, open })
    }

    /// Time of the next message; 0 within a transfer and for a returned message.
    pub(super) fn due(&self) -> Option<u64> {
        match self.transfer {
            _ if !self.resent.is_empty() => Some(0),
            Some(_) => Some(0),
            None => self.machine.due(),
        }
    }

    pub(super) fn target(&self) -> ((Nic, EndpointId), EndpointKey) {
        let usual = (self.plan.to, self.plan.key);
        self.resent.front().map_or(usual, |resend| (resend.to, resend.key))
    }

    pub(super) fn resend(&mut self, resend: ResendRequest) {
        self.resent.push_back(resend);
    }

    /// Takes the next message and assigns it this number.
    pub(super) fn draw(&mut self, now: u64, number: u32) -> Option<MessageDraft> {
        if let Some(resend) = self.resent.pop_front() {
            return Some(resend.draft);
        }
        let transfer = match self.transfer.take() {
            Some(transfer) => transfer,
            None => {
                let total = self.machine.draw(now, number)?.length.max(BYTES_MIN);
                let transfer = BulkTransfer { first: number, offset: 0, total };
                self.open.insert(number, self.messages(total));
                transfer
            }
        };
        let BulkTransfer { first, offset, total } = transfer;
        let (form, length) = match self.plan.kind {
            MessageKind::Short => {
                (MessageForm::Short, (total.div_ceil(4) as usize).min(WORDS_MAX) * 4)
            }
            MessageKind::Medium => (MessageForm::Medium, (total as usize).min(MEDIUM_MAX)),
            MessageKind::Bulk => {
                let length = piece(total.saturating_sub(offset));
                let next = offset.saturating_add(length);
                if next < total {
                    self.transfer = Some(BulkTransfer { offset: next, ..transfer });
                }
                (MessageForm::Bulk { offset, total }, length as usize)
            }
        };
        Some(MessageDraft { transfer: first, form, length })
    }

    /// Counts a message that was answered or given up.
    pub(super) fn answered(&mut self, now: u64, transfer: u32) {
        if let Some(left) = self.open.get_mut(&transfer) {
            *left = left.saturating_sub(1);
            if *left == 0 {
                self.open.remove(&transfer);
                self.machine.answered(now, transfer);
            }
        }
    }

    fn messages(&self, total: u32) -> u32 {
        match self.plan.kind {
            MessageKind::Short | MessageKind::Medium => 1,
            MessageKind::Bulk => total.div_ceil(PIECE),
        }
    }
}

const PIECE: u32 = 8192;

/// Size of the next piece, such that the last one has room for its number.
fn piece(left: u32) -> u32 {
    if left > PIECE && left - PIECE < BYTES_MIN { PIECE - BYTES_MIN } else { left.min(PIECE) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messaging::ReturnHandler;
    use crate::traffic::{ArrivalProcess, PayloadSize};
    use codec::time::Ticks;

    fn source(kind: MessageKind, bytes: u32) -> StreamSource {
        let plan = MessageStream {
            from: EndpointId(0),
            to: (Nic(1), EndpointId(0)),
            key: EndpointKey(0),
            kind,
            size: PayloadSize::Fixed(bytes),
            arrivals: ArrivalProcess::Constant(Ticks(100)),
            start: 50,
            count: Some(2),
            returned: ReturnHandler::Drop,
        };
        StreamSource::new(plan, EndpointNumber(0), Rng::new(1, 1)).unwrap()
    }

    /// Offsets and lengths of the pieces of a transfer.
    fn pieces(total: u32) -> Vec<(u32, usize)> {
        let mut source = source(MessageKind::Bulk, total);
        let mut pieces = Vec::new();
        for number in 0.. {
            let draft = source.draw(50, number).unwrap();
            assert_eq!(draft.transfer, 0);
            let MessageForm::Bulk { offset, total: whole } = draft.form else {
                panic!("{draft:?}")
            };
            assert_eq!(whole, total);
            pieces.push((offset, draft.length));
            if source.due() != Some(0) {
                break;
            }
        }
        pieces
    }

    #[test]
    fn a_piece_is_as_large_as_can_be_and_has_room_for_its_number() {
        assert_eq!(pieces(4), [(0, 4)]);
        assert_eq!(pieces(8192), [(0, 8192)]);
        assert_eq!(pieces(8193), [(0, 8188), (8188, 5)]);
        assert_eq!(pieces(8196), [(0, 8192), (8192, 4)]);
        assert_eq!(pieces(20_000), [(0, 8192), (8192, 8192), (16_384, 3616)]);
    }

    #[test]
    fn words_are_whole_and_no_more_than_fit() {
        let length = |kind, bytes| source(kind, bytes).draw(50, 0).unwrap().length;
        assert_eq!(
            [1, 4, 5, 32, 99].map(|bytes| length(MessageKind::Short, bytes)),
            [4, 4, 8, 32, 32]
        );
        assert_eq!([0, 5, 9999].map(|bytes| length(MessageKind::Medium, bytes)), [4, 5, 8192]);
    }

    #[test]
    fn a_stream_has_its_times_and_its_end() {
        let mut source = source(MessageKind::Short, 4);
        assert_eq!(source.due(), Some(50));
        source.draw(50, 0).unwrap();
        assert_eq!(source.due(), Some(150));
        source.draw(150, 1).unwrap();
        assert_eq!(source.due(), None);
    }
}
