//! What a host's messaging has done since the beginning, for experiments.

/// Classes of a [`RoundTripTimes::histogram`].
pub const CLASSES: usize = 32;

/// What a host's messaging has done since the beginning. Times in periods of the full rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MessagingStatistics {
    /// How long the host's processor was busy; waiting in a poll of an empty endpoint is not counted.
    pub host_busy: u64,
    /// Of that: sending.
    pub host_send: u64,
    /// Of that: receiving.
    pub host_receive: u64,
    /// How long the NIC's processor was busy.
    pub firmware_busy: u64,
    /// How long the bus between them was busy.
    pub bus_busy: u64,
    /// Data packets handed to the sending engine, those sent again included.
    pub data_sent: u64,
    /// Of those, sent again. T-10
    pub retransmitted: u64,
    /// Data packets taken in.
    pub data_received: u64,
    /// ACKs handed to the sending engine.
    pub acks_sent: u64,
    /// NACKs handed to the sending engine: by reason, in the order of [`codec::transport::NackReason`].
    pub nacks_sent: [u64; 6],
    /// NACKs that counted, likewise. T-8
    pub nacks_received: [u64; 6],
    /// Data packets that had been written before. T-5
    pub duplicates: u64,
    /// Data packets of an incarnation that is over. T-12
    pub stale: u64,
    /// ACKs and NACKs that answered nothing. T-8
    pub late: u64,
    /// Malformed or from nowhere. T-7
    pub malformed: u64,
    /// Dropped for want of room in the NIC.
    pub overruns: u64,
    /// Data packets dropped because one of their logical channel waited for the bus. T-4
    pub held_up: u64,
    /// Endpoints loaded. T-15
    pub loads: u64,
    /// Pages of host memory mapped for DMA after a fault. T-15
    pub mappings: u64,
    /// Endpoints unloaded. T-13
    pub unloads: u64,
    /// Times that the control program was loaded again.
    pub restarts: u64,
}

/// What an endpoint has done since the beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EndpointStatistics {
    /// Requests that its application handed over.
    pub requests_sent: u64,
    /// Bytes of those: argument words or payload.
    pub request_bytes: u64,
    /// Replies to them that its application read.
    pub completed: u64,
    /// Requests that came back. T-6, T-11
    pub returned: u64,
    /// Of those: sent again to the same endpoint.
    pub sent_again: u64,
    /// Of those: sent to another endpoint. What is neither was dropped.
    pub sent_elsewhere: u64,
    /// Requests whose replies are not waited for any more.
    pub given_up: u64,
    /// Requests of others that its application read.
    pub requests_read: u64,
    /// Bytes of those.
    pub bytes_read: u64,
    /// Replies that its application handed over.
    pub replies_sent: u64,
    /// Replies that came back. T-6, T-11
    pub replies_returned: u64,
    /// Replies that answered no request that was waited for.
    pub stray: u64,
    /// Messages whose bytes were not those that were sent.
    pub damaged: u64,
    /// Events posted for it.
    pub events: u64,
    /// From handing a request over to having handled its reply.
    pub round_trips: RoundTripTimes,
}

/// Times of round trips, in periods of the full rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RoundTripTimes {
    /// How many.
    pub count: u64,
    /// Their sum.
    pub sum: u64,
    /// The shortest; 0 if there is none.
    pub min: u64,
    /// The longest.
    pub max: u64,
    /// How many took from 2 to the place on, up to the next: 0 and 1 periods in the first, all that are
    /// longer in the last.
    pub histogram: [u64; CLASSES],
}

impl RoundTripTimes {
    /// Counts one.
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

    /// The mean, rounded down; none if there is none.
    #[must_use]
    pub const fn mean(&self) -> Option<u64> {
        self.sum.checked_div(self.count)
    }
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
