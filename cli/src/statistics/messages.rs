//! Statistics of messages: by endpoint, and of the reliability protocol. T

use analyzer::render::{StyledLine, TextStyle};
use codec::transport::NackReason;
use simulator::messaging::{EndpointStatistics, MessagingStatistics};

use super::{EndpointCounts, ListLength, StatisticsOfRun, busiest, counts, more, short};

/// Prints statistics of hosts with endpoints, if there are any.
pub(super) fn print(
    run: StatisticsOfRun<'_>,
    length: ListLength,
    out: &mut impl FnMut(StyledLine),
) {
    if run.scenario.messaging.is_empty() {
        return;
    }
    endpoints(run, length, out);
    protocol(run, out);
}

impl<'a> StatisticsOfRun<'a> {
    /// Name and counters of all endpoints.
    pub(super) fn endpoints(self) -> impl Iterator<Item = EndpointCounts> {
        self.scenario.messaging.iter().flat_map(move |(host, plan)| {
            let name = self.scenario.topology.node(*host).map_or("?", |node| &node.name);
            plan.endpoints.iter().filter_map(move |endpoint| {
                let messaging = self.network.interface(*host)?.messaging()?;
                let statistics = *messaging.endpoint_statistics(endpoint.id)?;
                Some(EndpointCounts { endpoint: format!("{name}.{}", endpoint.id.0), statistics })
            })
        })
    }
}

fn endpoints(run: StatisticsOfRun<'_>, length: ListLength, out: &mut impl FnMut(StyledLine)) {
    let messages = |EndpointCounts { statistics, .. }: &EndpointCounts| {
        statistics.requests_sent.saturating_add(statistics.requests_read)
    };
    let all = run.endpoints().map(|endpoint| (messages(&endpoint), endpoint));
    let (busiest, left) = busiest(all.collect(), length);
    out(StyledLine::default());
    let head = format!(
        "{:<9}{:>9}{:>9}{:>9}{:>9}{:>9} {:>7}{:>8}{:>8}",
        "endpoint",
        "requests",
        "replies",
        "returned",
        "received",
        "replied",
        "min µs",
        "mean",
        "max"
    );
    out(StyledLine::of(TextStyle::Head, head));
    busiest.iter().for_each(|counts| out(endpoint(&counts.endpoint, &counts.statistics)));
    more(left, "endpoint", out);
}

fn endpoint(name: &str, statistics: &EndpointStatistics) -> StyledLine {
    let EndpointStatistics { requests_sent, completed, returned, .. } = *statistics;
    let EndpointStatistics { requests_read, replies_sent, replies_returned, .. } = *statistics;
    let returned = returned.saturating_add(replies_returned);
    let numbers = format!("{name:<9}{requests_sent:>9}{completed:>9}");
    let role = if returned > 0 { TextStyle::Bad } else { TextStyle::Plain };
    let line = StyledLine::of(TextStyle::Plain, numbers)
        .and(role, format!("{returned:>9}"))
        .and(TextStyle::Plain, format!("{requests_read:>9}{replies_sent:>9}"));
    let trips = statistics.round_trips;
    let Some(mean) = trips.mean() else { return line };
    let times = [trips.min, mean, trips.max].map(short);
    let [least, mean, most] = times;
    line.and(TextStyle::Plain, format!(" {least:>7}{mean:>8}{most:>8}"))
}

/// Totals of all NICs.
fn protocol(run: StatisticsOfRun<'_>, out: &mut impl FnMut(StyledLine)) {
    let StatisticsOfRun { scenario, network, .. } = run;
    let mut sum = MessagingStatistics::default();
    for host in scenario.messaging.keys() {
        let messaging = network.interface(*host).and_then(|interface| interface.messaging());
        if let Some(messaging) = messaging {
            add(&mut sum, &messaging.statistics());
        }
    }
    let nacks: u64 = sum.nacks_sent.iter().sum();
    out(StyledLine::default());
    let text = format!("data packets: {}, ACKs: {}, NACKs: {nacks}", sum.data_sent, sum.acks_sent);
    out(StyledLine::of(TextStyle::Plain, text));
    let others = [
        ("retransmissions", sum.retransmitted),
        ("duplicates", sum.duplicates),
        ("stale", sum.stale),
        ("late answers", sum.late),
        ("malformed", sum.malformed),
        ("overruns", sum.overruns),
        ("dropped while the bus was busy", sum.held_up),
        ("loads", sum.loads),
        ("restarts", sum.restarts),
    ];
    if others.iter().any(|(_, count)| *count > 0) {
        let others = others.into_iter().map(|(what, count)| (what, count, TextStyle::Notice));
        counts(StyledLine::of(TextStyle::Plain, "in all"), ": ", others, out);
    }
    for (reason, count) in
        NackReason::ALL.iter().zip(sum.nacks_sent).filter(|(_, count)| *count > 0)
    {
        out(StyledLine::of(TextStyle::Bad, format!("{count:>10}  NACKs {}", reason.name())));
    }
}

fn add(sum: &mut MessagingStatistics, one: &MessagingStatistics) {
    for (sum, one) in [
        (&mut sum.data_sent, one.data_sent),
        (&mut sum.retransmitted, one.retransmitted),
        (&mut sum.acks_sent, one.acks_sent),
        (&mut sum.duplicates, one.duplicates),
        (&mut sum.stale, one.stale),
        (&mut sum.late, one.late),
        (&mut sum.malformed, one.malformed),
        (&mut sum.overruns, one.overruns),
        (&mut sum.held_up, one.held_up),
        (&mut sum.loads, one.loads),
        (&mut sum.restarts, one.restarts),
    ] {
        *sum = sum.saturating_add(one);
    }
    for (sum, one) in sum.nacks_sent.iter_mut().zip(one.nacks_sent) {
        *sum = sum.saturating_add(one);
    }
}
