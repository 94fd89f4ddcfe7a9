//! Statistics of messages: by endpoint, and of the reliability protocol. T

use analyzer::render::{StyledLine, TextStyle};
use codec::transport::NackReason;
use simulator::messaging::{EndpointStatistics, MessagingStatistics};
use simulator::statistics::LogHistogram;

use super::{EndpointCounts, StatisticsOfRun, busiest, counts, more, short};
use crate::text_table::{TextColumn, print_columns};

/// Prints statistics of hosts with endpoints, if there are any.
pub(super) fn print(run: StatisticsOfRun<'_>, shown: usize, out: &mut impl FnMut(StyledLine)) {
    if run.scenario.messaging.is_empty() {
        return;
    }
    endpoints(run, shown, out);
    protocol(run, out);
}

impl<'a> StatisticsOfRun<'a> {
    /// Name and counters of all endpoints.
    pub(super) fn endpoints(self) -> impl Iterator<Item = EndpointCounts> {
        self.scenario.messaging.iter().flat_map(move |(host, plan)| {
            let name = self.scenario.topology.node(*host).map_or("?", |node| &node.name);
            plan.endpoints.iter().filter_map(move |endpoint| {
                let messaging = self.network.interface(*host)?.messaging()?;
                let statistics = messaging.endpoint_statistics(endpoint.id)?.clone();
                Some(EndpointCounts { endpoint: format!("{name}.{}", endpoint.id.0), statistics })
            })
        })
    }
}

fn endpoints(run: StatisticsOfRun<'_>, shown: usize, out: &mut impl FnMut(StyledLine)) {
    let load = |EndpointCounts { statistics, .. }: &EndpointCounts| {
        statistics.requests_sent.saturating_add(statistics.requests_read)
    };
    let (endpoints, left) = busiest(run.endpoints().collect(), load, shown);
    let returned = |EndpointCounts { statistics, .. }: &EndpointCounts| {
        let returned = statistics.returned.saturating_add(statistics.replies_returned);
        let style = if returned > 0 { TextStyle::Bad } else { TextStyle::Plain };
        (style, returned.to_string())
    };
    let count = |head: &str, of: fn(&EndpointStatistics) -> u64| {
        TextColumn::of(head, &endpoints, |counts| of(&counts.statistics).to_string())
    };
    let time = |head: &str, of: fn(&LogHistogram) -> Option<u64>| {
        TextColumn::of(head, &endpoints, |counts| {
            of(&counts.statistics.round_trips).map_or_else(String::new, short)
        })
    };
    out(StyledLine::default());
    let columns = [
        TextColumn::of("endpoint", &endpoints, |counts| counts.endpoint.clone()).left(),
        count("requests", |counts| counts.requests_sent),
        count("replies", |counts| counts.completed),
        TextColumn::styled("returned", &endpoints, returned),
        count("read", |counts| counts.requests_read),
        count("replied", |counts| counts.replies_sent),
        time("min µs", LogHistogram::min),
        time("mean", LogHistogram::mean),
        time("max", LogHistogram::max),
    ];
    print_columns(&columns, out);
    more(left, "endpoint", out);
}

/// Totals of all NICs.
fn protocol(run: StatisticsOfRun<'_>, out: &mut impl FnMut(StyledLine)) {
    let all: Vec<MessagingStatistics> = run.hosts().filter_map(|host| host.messaging).collect();
    let sum =
        |of: &dyn Fn(&MessagingStatistics) -> u64| all.iter().map(of).fold(0, u64::saturating_add);
    let nacks = sum(&|it| it.nacks_sent.iter().sum());
    let (sent, acks) = (sum(&|it| it.data_sent), sum(&|it| it.acks_sent));
    out(StyledLine::default());
    let text = format!("data packets: {sent}, ACKs: {acks}, NACKs: {nacks}");
    out(StyledLine::of(TextStyle::Plain, text));
    let others = [
        ("retransmissions", sum(&|it| it.retransmitted)),
        ("duplicates", sum(&|it| it.duplicates)),
        ("stale", sum(&|it| it.stale)),
        ("late answers", sum(&|it| it.late)),
        ("malformed", sum(&|it| it.malformed)),
        ("overruns", sum(&|it| it.overruns)),
        ("dropped while the bus was busy", sum(&|it| it.held_up)),
        ("loads", sum(&|it| it.loads)),
        ("restarts", sum(&|it| it.restarts)),
    ];
    if others.iter().any(|(_, count)| *count > 0) {
        let others = others.into_iter().map(|(what, count)| (what, count, TextStyle::Notice));
        counts(StyledLine::of(TextStyle::Plain, "in all"), ": ", others, out);
    }
    for (place, reason) in NackReason::ALL.iter().enumerate() {
        let count = sum(&|it| it.nacks_sent.get(place).copied().unwrap_or(0));
        if count > 0 {
            out(StyledLine::of(TextStyle::Bad, format!("{count:>10}  NACKs {}", reason.name())));
        }
    }
}
