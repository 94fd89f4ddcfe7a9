//! Statistics of a run, complete, as one JSON object: `docs/output.md`, Statistics.

use std::collections::BTreeMap;

use serde::Serialize;
use simulator::interface::HostStatistics;
use simulator::messaging::{EndpointStatistics, MessagingStatistics};
use simulator::statistics::{PacketLatencies, picoseconds};

use super::{ChannelCounts, StatisticsOfRun, lamp};

/// Version of the object. A member is added without a new version.
const VERSION: u32 = 1;

#[derive(Serialize)]
struct StatisticsDocument<'a> {
    statistics: u32,
    seed: u64,
    duration_ps: u64,
    simulated_ps: u64,
    packets: PacketCounts,
    latencies: &'a PacketLatencies,
    hosts: Vec<HostRow<'a>>,
    channels: Vec<ChannelRow>,
    endpoints: Vec<EndpointRow>,
}

#[derive(Serialize)]
struct PacketCounts {
    injected: u64,
    injected_bytes: u64,
    consumed: u64,
    handling: BTreeMap<&'static str, u64>,
    payload_bytes: u64,
    payload_mbit_s: f64,
    in_transit: u64,
    dropped: BTreeMap<&'static str, u64>,
    truncated: BTreeMap<&'static str, u64>,
    merged: u64,
    lost_characters: u64,
    blocked_timeouts: u64,
}

#[derive(Serialize)]
struct HostRow<'a> {
    host: &'a str,
    #[serde(flatten)]
    counts: HostStatistics,
    sent_mbit_s: f64,
    received_mbit_s: f64,
    messaging: Option<MessagingStatistics>,
}

#[derive(Serialize)]
struct ChannelRow {
    channel: String,
    period_ps: u64,
    periods: u64,
    packets: u64,
    data: u64,
    stopped: u64,
    commands: u64,
    utilisation: f64,
    stopped_share: f64,
    commands_share: f64,
    fill_max: u32,
    cells: u32,
    lamp: &'static str,
}

#[derive(Serialize)]
struct EndpointRow {
    endpoint: String,
    #[serde(flatten)]
    counts: EndpointStatistics,
}

impl StatisticsOfRun<'_> {
    /// The statistics as one line of JSON.
    pub(crate) fn json(self) -> String {
        let Self { scenario, network, seen } = self;
        let document = StatisticsDocument {
            statistics: VERSION,
            seed: scenario.seed,
            duration_ps: picoseconds(scenario.duration),
            simulated_ps: picoseconds(network.now()),
            packets: self.packets(),
            latencies: &seen.latencies,
            hosts: self.hosts(),
            channels: self.channels().map(|channel| self.channel(&channel)).collect(),
            endpoints: self
                .endpoints()
                .map(|(endpoint, counts)| EndpointRow { endpoint, counts })
                .collect(),
        };
        // Strings and numbers only: it does not fail.
        serde_json::to_string(&document).unwrap_or_default() + "\n"
    }

    fn packets(self) -> PacketCounts {
        let Self { seen, network, .. } = self;
        let handling = seen.handlings.iter().map(|(handling, count)| (handling.name(), *count));
        let by_rule = |counts: &BTreeMap<simulator::truth::RuleId, u64>| {
            counts.iter().map(|(rule, count)| (rule.0, *count)).collect()
        };
        PacketCounts {
            injected: seen.injected,
            injected_bytes: seen.injected_bytes,
            consumed: seen.consumed,
            handling: handling.collect(),
            payload_bytes: seen.payload,
            payload_mbit_s: mbit_s(seen.payload, network.now()),
            in_transit: seen.under_way() as u64,
            dropped: by_rule(&seen.drops),
            truncated: by_rule(&seen.truncations),
            merged: seen.merged,
            lost_characters: seen.overflows,
            blocked_timeouts: seen.blocked,
        }
    }

    fn hosts(&self) -> Vec<HostRow<'_>> {
        let periods = self.network.now();
        let row = |host| {
            let interface = self.network.interface(host)?;
            let counts = *interface.statistics();
            Some(HostRow {
                host: self.host_name(host),
                counts,
                sent_mbit_s: mbit_s(counts.sent_bytes, periods),
                received_mbit_s: mbit_s(counts.received_bytes, periods),
                messaging: interface.messaging().map(|messaging| messaging.statistics()),
            })
        };
        self.scenario.topology.hosts().filter_map(row).collect()
    }

    fn channel(self, channel: &ChannelCounts) -> ChannelRow {
        let ChannelCounts { statistics, fill: (fill_max, cells), led, divisor, .. } = *channel;
        let share = |millionths: u32| f64::from(millionths) / 1e6;
        let (lamp, _) = lamp(led);
        ChannelRow {
            channel: self.channel_name(channel),
            period_ps: picoseconds(divisor),
            periods: statistics.periods,
            packets: statistics.packets,
            data: statistics.data,
            stopped: statistics.stopped,
            commands: statistics.commands,
            utilisation: share(statistics.utilisation()),
            stopped_share: share(statistics.stoppage()),
            commands_share: share(statistics.overhead()),
            fill_max,
            cells,
            lamp,
        }
    }
}

/// Rate in Mb/s with three decimals, of bytes in periods of the full rate.
fn mbit_s(bytes: u64, periods: u64) -> f64 {
    use simulator::experiment::result_table::MilliValue;
    let MilliValue(thousandths) = MilliValue::megabits(bytes, periods);
    i32::try_from(thousandths).map_or(f64::MAX, f64::from) / 1e3
}
