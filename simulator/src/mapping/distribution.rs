//! Distribution of a map, or of routes, in two phases: first every interface gets all pieces, then
//! those that have them install the routes. N-2, N-7
//!
//! *Chosen*: so the routes of two maps are in use at once for no longer than the second phase, in
//! which one short packet goes to each interface.

use std::sync::Arc;

use codec::mapping::{AnswerStatus, MapPiece, MappingRequest};

use super::map_routes::RoundTrip;

/// Bytes of a piece. *Chosen*: a packet that is soon gone.
const PIECE: usize = 256;

/// Deliveries to all interfaces of a map.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct MapDistribution {
    content: MapContent,
    deliveries: Vec<MapDelivery>,
    phase: DistributionPhase,
    /// Deliveries of the phase without a result.
    pending: usize,
}

/// Contents of the pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum MapContent {
    Map,
    Routes,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum DistributionPhase {
    Pieces,
    Installation,
}

/// Pieces for one interface.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct MapDelivery {
    pub(super) trip: RoundTrip,
    bytes: Arc<[u8]>,
    /// Number of the next piece.
    next: u16,
    stage: DeliveryStage,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum DeliveryStage {
    Open,
    Complete,
    Failed,
}

/// State of the distribution after an answer or silence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum DeliveryStep {
    /// Requests to these deliveries are to be sent.
    More(Vec<usize>),
    /// The first phase is over: the mapper installs its routes too.
    Install(Vec<usize>),
    /// The second phase is over; this many interfaces did not follow.
    Finished(usize),
}

impl MapDelivery {
    pub(super) const fn new(trip: RoundTrip, bytes: Arc<[u8]>) -> Self {
        Self { trip, bytes, next: 0, stage: DeliveryStage::Open }
    }

    fn piece(&self) -> MapPiece<'_> {
        let start = usize::from(self.next) * PIECE;
        let end = self.bytes.len().min(start + PIECE);
        let count = u16::try_from(self.bytes.len().div_ceil(PIECE).max(1)).unwrap_or(u16::MAX);
        MapPiece { number: self.next, count, bytes: self.bytes.get(start..end).unwrap_or_default() }
    }
}

impl MapDistribution {
    /// Begins the first phase.
    pub(super) fn begin(content: MapContent, deliveries: Vec<MapDelivery>) -> (Self, DeliveryStep) {
        let pending = deliveries.len();
        let phase = DistributionPhase::Pieces;
        let mut this = Self { content, deliveries, phase, pending };
        let step = if pending == 0 { this.end_phase() } else { this.all() };
        (this, step)
    }

    fn all(&self) -> DeliveryStep {
        DeliveryStep::More((0..self.deliveries.len()).collect())
    }

    /// The request to an interface.
    pub(super) fn request(&self, delivery: usize) -> MappingRequest<'_> {
        let delivery = self.delivery(delivery);
        match (self.phase, self.content) {
            (DistributionPhase::Installation, _) => MappingRequest::Install,
            (DistributionPhase::Pieces, MapContent::Map) => MappingRequest::Map(delivery.piece()),
            (DistributionPhase::Pieces, MapContent::Routes) => {
                MappingRequest::Routes(delivery.piece())
            }
        }
    }

    #[expect(clippy::indexing_slicing, reason = "its requests name their deliveries")]
    pub(super) fn delivery(&self, delivery: usize) -> &MapDelivery {
        &self.deliveries[delivery]
    }

    /// Notes an answer, or silence.
    #[expect(clippy::indexing_slicing, reason = "its requests name their deliveries")]
    pub(super) fn note(&mut self, place: usize, status: Option<AnswerStatus>) -> DeliveryStep {
        let delivery = &mut self.deliveries[place];
        let last = delivery.piece().count.saturating_sub(1);
        let stage = match (self.phase, status) {
            (DistributionPhase::Pieces, Some(AnswerStatus::Received)) if delivery.next < last => {
                delivery.next += 1;
                return DeliveryStep::More(vec![place]);
            }
            (DistributionPhase::Pieces, Some(AnswerStatus::Complete))
            | (DistributionPhase::Installation, Some(AnswerStatus::Installed)) => {
                DeliveryStage::Complete
            }
            (
                DistributionPhase::Pieces | DistributionPhase::Installation,
                None
                | Some(
                    AnswerStatus::Received
                    | AnswerStatus::Complete
                    | AnswerStatus::Installed
                    | AnswerStatus::Refused,
                ),
            ) => DeliveryStage::Failed,
        };
        delivery.stage = stage;
        self.pending = self.pending.saturating_sub(1);
        if self.pending == 0 { self.end_phase() } else { DeliveryStep::More(Vec::new()) }
    }

    fn end_phase(&mut self) -> DeliveryStep {
        let complete = (0..).zip(&self.deliveries);
        let complete = complete.filter(|(_, one)| one.stage == DeliveryStage::Complete);
        let complete: Vec<usize> = complete.map(|(place, _)| place).collect();
        match self.phase {
            DistributionPhase::Pieces => {
                self.phase = DistributionPhase::Installation;
                self.pending = complete.len();
                DeliveryStep::Install(complete)
            }
            DistributionPhase::Installation => {
                DeliveryStep::Finished(self.deliveries.len() - complete.len())
            }
        }
    }
}
