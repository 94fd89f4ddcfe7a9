//! Streams that IP or a multicast does not permit. H-1, N-6

use std::collections::BTreeSet;

use codec::words::shortened;

use super::{StreamTemplate, TrafficReader};
use crate::ip::{DATAGRAM_MAX, STREAMS_MAX};
use crate::scenario::arrivals::ArrivalLaw;
use crate::topology::NodeId;
use crate::traffic::StreamDestination;

impl TrafficReader<'_> {
    /// Problem of streams over IP.
    pub(super) fn ip_problem(
        &self,
        pairs: &[(NodeId, StreamDestination)],
        form: &StreamTemplate,
    ) -> Option<(String, &'static str)> {
        form.stream.protocol?;
        let is_one = |to: &StreamDestination| matches!(to, StreamDestination::One(_));
        let count = self.streams.iter().filter(|stream| stream.protocol.is_some()).count();
        if pairs.iter().any(|(_, to)| !is_one(to)) {
            Some(("several receivers of a stream".to_owned(), "expected one receiver"))
        } else if matches!(form.law, ArrivalLaw::Closed(..)) {
            Some(("a window of requests over IP".to_owned(), "expected another arrival process"))
        } else if form.stream.payload.most() > DATAGRAM_MAX {
            Some((
                format!("a payload of {} bytes over IP", form.stream.payload.most()),
                "expected 65507 bytes at most",
            ))
        } else if count + pairs.len() > STREAMS_MAX {
            Some((format!("more than {STREAMS_MAX} streams over IP"), "expected fewer"))
        } else {
            None
        }
    }

    /// Problem of multicasts. N-6
    pub(super) fn multicast_problem(
        &self,
        pairs: &[(NodeId, StreamDestination)],
        form: &StreamTemplate,
    ) -> Option<(String, &'static str)> {
        form.stream.multicast?;
        let is_group = |to: &StreamDestination| match to {
            StreamDestination::One(_) => false,
            StreamDestination::Among(to) => to.iter().collect::<BTreeSet<_>>().len() == to.len(),
        };
        let mut roots: BTreeSet<_> =
            self.streams.iter().filter(|it| it.multicast.is_some()).map(|it| it.from).collect();
        if !pairs.iter().all(|(_, to)| is_group(to)) {
            Some((
                "no group of receivers".to_owned(),
                "expected a list of different hosts, or `uniform`",
            ))
        } else if matches!(form.law, ArrivalLaw::Closed(..)) {
            Some(("a window of multicasts".to_owned(), "expected another arrival process"))
        } else if let Some((twice, _)) = pairs.iter().find(|(from, _)| !roots.insert(*from)) {
            let name = shortened(self.map.name(*twice));
            Some((format!("a second group of `{name}`"), "expected one group of each sender"))
        } else {
            None
        }
    }
}
