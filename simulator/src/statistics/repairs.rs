//! Repairs of a mapped network after faults. N-4

use std::collections::BTreeSet;

use serde::{Serialize, Serializer};

use super::picoseconds;
use crate::mapping::MappingNotice;
use crate::topology::NodeId;
use crate::truth::{PacketHandling, TruthEvent, TruthEventKind};

/// Repair of a mapped network after a fault has begun or ended. N-4
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct NetworkRepair {
    /// Time of the fault, in periods of the full rate.
    #[serde(rename = "fault_ps", serialize_with = "in_picoseconds")]
    pub fault: u64,
    /// Time from the fault to the first delivery of a packet whose host had installed new routes
    /// before it sent it; of mapping packets none.
    #[serde(rename = "repaired_ps", serialize_with = "in_picoseconds")]
    pub took: Option<u64>,
    /// Packets, those of mapping aside, that were lost meanwhile.
    #[serde(rename = "lost_packets")]
    pub lost: u64,
}

fn in_picoseconds<S: Serializer, T: Copy + Into<Option<u64>>>(
    time: &T,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    (*time).into().map(picoseconds).serialize(serializer)
}

/// Repairs in order of time, and what the latest one needs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct RepairTracker {
    repairs: Vec<NetworkRepair>,
    /// Hosts that have installed routes since the latest fault.
    #[serde(skip)]
    renewed: BTreeSet<NodeId>,
}

/// Purpose of a packet in transit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum FlightPurpose {
    #[default]
    User,
    /// Its host has installed routes since the latest fault.
    UserRenewed,
    Mapping,
}

impl RepairTracker {
    /// The repairs, in order of time.
    pub fn list(&self) -> &[NetworkRepair] {
        &self.repairs
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.repairs.is_empty()
    }

    /// Purpose of a packet that a host injects now, unless it is of mapping.
    pub(super) fn purpose_from(&self, host: NodeId) -> FlightPurpose {
        if self.renewed.contains(&host) { FlightPurpose::UserRenewed } else { FlightPurpose::User }
    }

    pub(super) fn observe(&mut self, happened: &TruthEvent) {
        if let TruthEventKind::Mapping(MappingNotice::Installed { .. }) = happened.kind {
            self.renewed.insert(happened.place.node);
        } else if let (TruthEventKind::Fault(_), false) = (&happened.kind, self.renewed.is_empty())
        {
            self.renewed.clear();
            self.repairs.push(NetworkRepair { fault: happened.at, took: None, lost: 0 });
        }
    }

    /// Counts the end of a packet for the latest repair. One that was not consumed is lost.
    pub(super) fn observe_end(
        &mut self,
        at: u64,
        purpose: Option<FlightPurpose>,
        handling: Option<PacketHandling>,
    ) {
        let Some(repair) = self.repairs.last_mut().filter(|repair| repair.took.is_none()) else {
            return;
        };
        let delivered = handling == Some(PacketHandling::Delivered);
        match (purpose, delivered) {
            (Some(FlightPurpose::UserRenewed), true) => {
                repair.took = Some(at.saturating_sub(repair.fault));
            }
            (Some(FlightPurpose::User | FlightPurpose::UserRenewed), false) => repair.lost += 1,
            (Some(FlightPurpose::User), true) | (Some(FlightPurpose::Mapping) | None, _) => {}
        }
    }
}
