//! Counters of a host's messaging.

use std::collections::BTreeMap;

use codec::transport::NackReason;
use serde::{Serialize, Serializer};

use crate::statistics::{self, HistogramBucket};

/// Classes of a [`RoundTripTimes::histogram`].
pub const CLASSES: usize = 32;

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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
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
    /// Round-trip times: from handing over a request to having handled its reply.
    pub round_trips: RoundTripTimes,
}

/// Round-trip times, in periods of the full rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RoundTripTimes {
    /// Number.
    pub count: u64,
    /// Sum.
    #[serde(rename = "sum_ps", serialize_with = "picoseconds")]
    pub sum: u64,
    /// Minimum; 0 if there is none.
    #[serde(rename = "min_ps", serialize_with = "picoseconds")]
    pub min: u64,
    /// Maximum.
    #[serde(rename = "max_ps", serialize_with = "picoseconds")]
    pub max: u64,
    /// Numbers by binary logarithm; the last class has all longer times too.
    #[serde(rename = "buckets", serialize_with = "classes")]
    pub histogram: [u64; CLASSES],
}

impl RoundTripTimes {
    /// Records a time.
    pub fn count(&mut self, time: u64) {
        self.min = if self.count == 0 { time } else { self.min.min(time) };
        self.max = self.max.max(time);
        self.sum = self.sum.saturating_add(time);
        self.count += 1;
        let class = time.max(1).ilog2() as usize;
        if let Some(class) = self.histogram.get_mut(class.min(CLASSES - 1)) {
            *class += 1;
        }
    }

    /// Mean, rounded down.
    #[must_use]
    pub const fn mean(&self) -> Option<u64> {
        self.sum.checked_div(self.count)
    }
}

/// Serializes periods of the full rate as picoseconds.
fn picoseconds<S: Serializer>(periods: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(statistics::picoseconds(*periods))
}

/// Serializes counts by the names of their reasons, without those that are 0.
fn by_reason<S: Serializer>(counts: &[u64; 6], serializer: S) -> Result<S::Ok, S::Error> {
    let named = NackReason::ALL.iter().map(|reason| reason.name()).zip(counts);
    named.filter(|(_, count)| **count > 0).collect::<BTreeMap<_, _>>().serialize(serializer)
}

/// Serializes the classes that are not empty: longest time and count.
fn classes<S: Serializer>(counts: &[u64; CLASSES], serializer: S) -> Result<S::Ok, S::Error> {
    let ends = (0..CLASSES).map(|class| statistics::picoseconds((1 << (class + 1)) - 1));
    let classes = ends.zip(counts).filter(|(_, count)| **count > 0);
    let class = |(to_ps, count): (u64, &u64)| HistogramBucket { to_ps, count: *count };
    serializer.collect_seq(classes.map(class))
}

/// Index of a reason's counter.
pub(super) fn reason_class(reason: NackReason) -> usize {
    NackReason::ALL.iter().position(|other| *other == reason).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trips_have_least_most_mean_and_class() {
        let mut trips = RoundTripTimes::default();
        assert_eq!(trips.mean(), None);
        [40, 20, 0, u64::MAX].into_iter().for_each(|time| trips.count(time));
        assert_eq!((trips.min, trips.max, trips.count), (0, u64::MAX, 4));
        assert_eq!((trips.histogram[0], trips.histogram[4], trips.histogram[5]), (1, 1, 1));
        assert_eq!(trips.histogram[31], 1);
    }
}
