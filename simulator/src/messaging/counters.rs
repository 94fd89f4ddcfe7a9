//! Counters of a host's messaging.

use std::collections::BTreeMap;

use codec::transport::NackReason;
use serde::{Serialize, Serializer};

use crate::histogram::{self, LogHistogram};

/// Counters of a host's messaging since the start; times in periods of the full rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MessagingStatistics {
    /// Busy time of the host's processor, without polls of empty endpoints.
    #[serde(rename = "host_busy_ps", serialize_with = "picoseconds")]
    pub host_busy: u64,
    /// Part of it spent on sending.
    #[serde(rename = "host_send_ps", serialize_with = "picoseconds")]
    pub host_send: u64,
    /// Part of it spent on receiving.
    #[serde(rename = "host_receive_ps", serialize_with = "picoseconds")]
    pub host_receive: u64,
    /// Busy time of the NIC processor.
    #[serde(rename = "firmware_busy_ps", serialize_with = "picoseconds")]
    pub firmware_busy: u64,
    /// Busy time of the bus between them.
    #[serde(rename = "bus_busy_ps", serialize_with = "picoseconds")]
    pub bus_busy: u64,
    /// Data packets sent, retransmissions included.
    pub data_sent: u64,
    /// Retransmitted data packets. T-10
    pub retransmitted: u64,
    /// Data packets received.
    pub data_received: u64,
    /// ACKs sent.
    pub acks_sent: u64,
    /// NACKs sent, by reason in the order of [`codec::transport::NackReason`].
    #[serde(serialize_with = "by_reason")]
    pub nacks_sent: [u64; 6],
    /// NACKs received in time, likewise. T-8
    #[serde(serialize_with = "by_reason")]
    pub nacks_received: [u64; 6],
    /// Duplicate data packets. T-5
    pub duplicates: u64,
    /// Data packets of a former incarnation. T-12
    pub stale: u64,
    /// ACKs and NACKs that match no outstanding packet. T-8
    pub late: u64,
    /// Packets malformed or from an unknown source. T-7
    pub malformed: u64,
    /// Packets dropped because the NIC was full.
    pub overruns: u64,
    /// Data packets dropped while one of their logical channel waited for the bus. T-4
    pub held_up: u64,
    /// Endpoints loaded. T-15
    pub loads: u64,
    /// Pages of host memory mapped for DMA after a fault. T-15
    pub mappings: u64,
    /// Endpoints unloaded. T-13
    pub unloads: u64,
    /// Restarts of the control program.
    pub restarts: u64,
}

/// Counters of an endpoint since the start.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct EndpointStatistics {
    /// Requests sent by its application.
    pub requests_sent: u64,
    /// Their bytes: argument words or payload.
    pub request_bytes: u64,
    /// Requests whose reply was read.
    pub completed: u64,
    /// Returned requests. T-6, T-11
    pub returned: u64,
    /// Returned requests sent again to the same endpoint.
    pub sent_again: u64,
    /// Returned requests sent to another endpoint. The rest was dropped.
    pub sent_elsewhere: u64,
    /// Requests given up.
    pub given_up: u64,
    /// Requests read by its application.
    pub requests_read: u64,
    /// Their bytes.
    pub bytes_read: u64,
    /// Replies sent by its application.
    pub replies_sent: u64,
    /// Returned replies. T-6, T-11
    pub replies_returned: u64,
    /// Replies without a pending request.
    pub stray: u64,
    /// Messages with wrong bytes.
    pub damaged: u64,
    /// Events posted.
    pub events: u64,
    /// Round-trip times, in periods of the full rate: from handing over a request to having handled
    /// its reply.
    pub round_trips: LogHistogram,
}

/// Serializes periods of the full rate as picoseconds.
fn picoseconds<S: Serializer>(periods: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(histogram::picoseconds(*periods))
}

/// Serializes counts by the names of their reasons, without those that are 0.
fn by_reason<S: Serializer>(counts: &[u64; 6], serializer: S) -> Result<S::Ok, S::Error> {
    let named = NackReason::ALL.iter().map(|reason| reason.name()).zip(counts);
    named.filter(|(_, count)| **count > 0).collect::<BTreeMap<_, _>>().serialize(serializer)
}

/// Index of a reason's counter.
pub(super) fn reason_class(reason: NackReason) -> usize {
    NackReason::ALL.iter().position(|other| *other == reason).unwrap_or_default()
}
