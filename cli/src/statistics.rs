//! Statistics of a run, as text and as JSON (`docs/output.md`, Statistics).

mod latencies;
mod messages;
mod standing;

use std::cmp::Reverse;

use analyzer::render::{StyledLine, TextStyle, count, microseconds};
use codec::time::FULL_RATE_PERIOD_PS;
use serde::Serialize;
use simulator::interface::{HostStatistics, MappingCounters, RouterCounters};
use simulator::messaging::{EndpointStatistics, MessagingStatistics};
use simulator::network::Network;
use simulator::port::PortLed;
use simulator::scenario::Scenario;
use simulator::statistics::{ChannelStatistics, PacketLatencies, RunStatistics, picoseconds};
use simulator::truth::{PacketHandling, RuleId};

use crate::output::StandardOutput;
use crate::text_table::{TextColumn, print_columns};

/// Version of the JSON object. A member is added without a new version.
const VERSION: u32 = 1;
/// Columns that a line of items fills before the next one begins.
const WIDTH: usize = 78;
/// Number of hosts and channels printed, the busiest ones. *Chosen*: with the rest they fill a screen.
pub(crate) const SHOWN: usize = 16;
/// Rate of one byte per period, in Mb/s. §4.2
const FULL_RATE_MB_S: u128 = 640;
#[derive(Clone, Copy)]
pub(crate) struct StatisticsOfRun<'a> {
    pub(crate) scenario: &'a Scenario,
    pub(crate) network: &'a Network,
    pub(crate) seen: &'a RunStatistics,
}

/// Complete statistics of a run.
#[derive(Serialize)]
struct StatisticsDocument<'a> {
    statistics: u32,
    seed: u64,
    duration_ps: u64,
    simulated_ps: u64,
    packets: &'a RunStatistics,
    latencies: &'a PacketLatencies,
    hosts: Vec<HostCounts<'a>>,
    channels: Vec<ChannelCounts>,
    endpoints: Vec<EndpointCounts>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    routers: Vec<RouterCounts>,
}

#[derive(Serialize)]
struct HostCounts<'a> {
    host: &'a str,
    #[serde(flatten)]
    statistics: HostStatistics,
    messaging: Option<MessagingStatistics>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mapping: Option<MappingCounters>,
}

#[derive(Serialize)]
struct ChannelCounts {
    /// Name, as in captures.
    channel: String,
    period_ps: u64,
    #[serde(flatten)]
    statistics: ChannelStatistics,
    /// Highest fill of the slack buffer, and its size.
    fill_max: u32,
    cells: u32,
    lamp: &'static str,
    #[serde(skip)]
    colour: TextStyle,
}

#[derive(Serialize)]
struct RouterCounts {
    /// Name of the port that sends.
    port: String,
    #[serde(flatten)]
    counters: RouterCounters,
}

#[derive(Serialize)]
struct EndpointCounts {
    endpoint: String,
    #[serde(flatten)]
    statistics: EndpointStatistics,
}

impl<'a> StatisticsOfRun<'a> {
    pub(crate) fn json(self) -> String {
        let Self { scenario, network, seen } = self;
        let document = StatisticsDocument {
            statistics: VERSION,
            seed: scenario.seed,
            duration_ps: picoseconds(scenario.duration),
            simulated_ps: picoseconds(network.now()),
            packets: seen,
            latencies: &seen.latencies,
            hosts: self.hosts().collect(),
            channels: self.channels().collect(),
            endpoints: self.endpoints().collect(),
            routers: self.routers().collect(),
        };
        // Strings and numbers only: it does not fail.
        serde_json::to_string(&document).unwrap_or_default() + "\n"
    }

    fn hosts(self) -> impl Iterator<Item = HostCounts<'a>> {
        self.scenario.topology.hosts().filter_map(move |host| {
            let interface = self.network.interface(host)?;
            Some(HostCounts {
                host: self.scenario.topology.node(host).map_or("?", |node| &node.name),
                statistics: *interface.statistics(),
                messaging: interface.messaging().map(|messaging| messaging.statistics()),
                mapping: interface.mapping(),
            })
        })
    }

    fn routers(self) -> impl Iterator<Item = RouterCounts> {
        let topology = &self.scenario.topology;
        topology.routers().flat_map(|router| topology.ports(router)).filter_map(move |port| {
            let counters = self.network.router(port)?;
            Some(RouterCounts { port: topology.port_name(port), counters })
        })
    }

    fn channels(self) -> impl Iterator<Item = ChannelCounts> {
        let channels = self.scenario.topology.cables().iter().flat_map(|cable| {
            let [a, b] = cable.ends;
            [(a, b, cable.link), (b, a, cable.link.turned())]
        });
        let topology = &self.scenario.topology;
        let channels = channels.flat_map(|(from, to, link)| {
            let ends = topology.virtual_ports(from).zip(topology.virtual_ports(to));
            ends.map(move |(from, to)| (from, to, link))
        });
        channels.filter_map(move |(from, to, link)| {
            let (passed, led) = self.network.port_state(from)?;
            let (far, _) = self.network.port_state(to)?;
            let [own, other] = link.ports;
            let divisor = u64::from(own.divisor.get());
            let statistics = ChannelStatistics {
                periods: self.network.now() / divisor,
                data: passed.data,
                stopped: passed.stopped,
                commands: passed.commands,
                packets: passed.packets,
            };
            let (lamp, colour) = lamp(led);
            Some(ChannelCounts {
                channel: [from, to].map(|port| topology.port_name(port)).join(">"),
                period_ps: picoseconds(divisor),
                statistics,
                fill_max: far.fill_max,
                cells: other.slack.cells(),
                lamp,
                colour,
            })
        })
    }

    /// Prints the statistics as text, with the busiest hosts, endpoints and channels.
    pub(crate) fn print(self, shown: usize, output: &mut StandardOutput) {
        let out = &mut |line: StyledLine| output.line(&line);
        let seen = self.seen;
        totals(self, out);
        mapping(self, out);
        hosts(self, shown, out);
        messages::print(self, shown, out);
        latencies::print(&seen.latencies, out);
        channels(self, shown, out);
        rules("dropped", seen.drops.iter(), out);
        rules("truncated", seen.truncations.iter(), out);
    }
}

fn totals(run: StatisticsOfRun<'_>, out: &mut impl FnMut(StyledLine)) {
    let (seen, periods) = (run.seen, run.network.now());
    let handled = seen.handlings.iter().map(|(handling, count)| {
        let role =
            if *handling == PacketHandling::Delivered { TextStyle::Good } else { TextStyle::Bad };
        (handling.name(), *count, role)
    });
    let standing = seen.standing(run.network, 0);
    let still = standing.as_ref().map_or(0, |it| it.packets);
    let under_way = u64::try_from(seen.under_way()).unwrap_or(u64::MAX);
    let in_transit = under_way.saturating_sub(still);
    let why = standing.map(|it| standing::standstill(run, &it)).unwrap_or_default();
    let others = [
        (why.as_str(), still, TextStyle::Bad),
        ("dropped", seen.dropped(), TextStyle::Bad),
        ("merged", seen.merged, TextStyle::Bad),
        ("in transit", in_transit, TextStyle::Plain),
        ("lost cells", seen.overflows, TextStyle::Bad),
        ("changed on wires", seen.wire_errors, TextStyle::Bad),
        ("timed out", seen.blocked, TextStyle::Bad),
    ];
    let mut head = format!("{} µs, {}", time(periods), count(seen.injected, "packet"));
    // A packet that a fault breaks in two ends twice, and a multicast at each of its receivers.
    let ended = seen.consumed + seen.dropped() + seen.merged + under_way;
    if ended > seen.injected {
        head.push_str(&format!(", with their parts and copies {ended}"));
    }
    let head = StyledLine::of(TextStyle::Head, head);
    counts(head, ": ", handled.chain(others), out);
    if seen.payload > 0 {
        let rate = mb_s(seen.payload, periods);
        out(StyledLine::of(
            TextStyle::Plain,
            format!("payload delivered: {}, {rate} Mb/s", count(seen.payload, "byte")),
        ));
    }
}

/// Prints the latest map of each mapper, and the repairs of a mapped network.
fn mapping(run: StatisticsOfRun<'_>, out: &mut impl FnMut(StyledLine)) {
    let mut line = |text| out(StyledLine::of(TextStyle::Plain, text));
    for host in run.hosts() {
        let Some(counts) = host.mapping.filter(|counts| counts.maps > 0) else { continue };
        let (probes, took) = (counts.map_probes, time(counts.map_periods));
        let maps = count(counts.maps, "map");
        line(format!("{}: {maps}, the last of {probes} probes in {took} µs", host.host));
    }
    for RouterCounts { port, counters } in run.routers() {
        let RouterCounters { forwarded, unknown, full } = counters;
        line(format!(
            "{port}: {forwarded} passed on, {unknown} to unknown addresses, {full} without memory"
        ));
    }
    for repair in run.seen.repairs.list() {
        let took = repair.took.map(time);
        let took =
            took.map_or_else(|| "not repaired".to_owned(), |it| format!("repaired in {it} µs"));
        let lost = count(repair.lost, "packet");
        line(format!("fault at {} µs: {took}, {lost} lost", time(repair.fault)));
    }
}

/// Prints a heading and the counts that are not 0, in as many lines as they need.
fn counts<'a>(
    head: StyledLine,
    mut mark: &str,
    counts: impl Iterator<Item = (&'a str, u64, TextStyle)>,
    out: &mut impl FnMut(StyledLine),
) {
    let mut line = head;
    for (what, count, role) in counts.filter(|(_, count, _)| *count > 0) {
        let text = format!("{count} {what}");
        let full = line.to_string().chars().count() + text.len() + mark.len() > WIDTH;
        line = line.and(TextStyle::Plain, if full { "," } else { mark });
        if full {
            out(std::mem::replace(&mut line, StyledLine::of(TextStyle::Plain, "    ")));
        }
        line = line.and(role, text);
        mark = ", ";
    }
    out(line);
}

fn hosts(run: StatisticsOfRun<'_>, shown: usize, out: &mut impl FnMut(StyledLine)) {
    let load = |host: &HostCounts<'_>| {
        host.statistics.sent_bytes.saturating_add(host.statistics.received_bytes)
    };
    let (hosts, left) = busiest(run.hosts().collect(), load, shown);
    let rate = |bytes| mb_s(bytes, run.network.now());
    out(StyledLine::default());
    let columns = [
        TextColumn::of("host", &hosts, |host| host.host.to_owned()).left(),
        TextColumn::of("sent", &hosts, |host| host.statistics.injected.to_string()),
        TextColumn::of("Mb/s", &hosts, |host| rate(host.statistics.sent_bytes)),
        TextColumn::of("received", &hosts, |host| host.statistics.received.to_string()),
        TextColumn::of("Mb/s", &hosts, |host| rate(host.statistics.received_bytes)),
    ];
    print_columns(&columns, out);
    more(left, "host", out);
}

fn channels(run: StatisticsOfRun<'_>, shown: usize, out: &mut impl FnMut(StyledLine)) {
    let load = |channel: &ChannelCounts| {
        channel.statistics.data.saturating_add(channel.statistics.stopped)
    };
    let (channels, left) = busiest(run.channels().collect(), load, shown);
    let all = channels.as_slice();
    let share = |head: &str, of: fn(&ChannelStatistics) -> u32| {
        TextColumn::of(head, all, |channel| percent(of(&channel.statistics)))
    };
    let stopped = |ChannelCounts { statistics, .. }: &ChannelCounts| {
        let style = if statistics.stopped > 0 { TextStyle::Notice } else { TextStyle::Plain };
        (style, percent(statistics.stoppage()))
    };
    let fill = |ChannelCounts { fill_max, cells, .. }: &ChannelCounts| {
        let style = if fill_max < cells { TextStyle::Plain } else { TextStyle::Bad };
        (style, format!("{fill_max} of {cells}"))
    };
    out(StyledLine::default());
    let columns = [
        TextColumn::of("channel", all, |channel| channel.channel.clone()).left(),
        TextColumn::of("packets", all, |channel| channel.statistics.packets.to_string()),
        share("use %", ChannelStatistics::utilisation),
        TextColumn::styled("stopped %", all, stopped),
        share("STOP/GO %", ChannelStatistics::overhead),
        TextColumn::styled("max fill", all, fill),
        TextColumn::styled("lamp", all, |channel| (channel.colour, channel.lamp.to_owned())).left(),
    ];
    print_columns(&columns, out);
    more(left, "channel", out);
}

const fn lamp(light: PortLed) -> (&'static str, TextStyle) {
    match light {
        PortLed::Off => ("off", TextStyle::Dim),
        PortLed::Red => ("red", TextStyle::Bad),
        PortLed::Green => ("green", TextStyle::Good),
        PortLed::Yellow => ("yellow", TextStyle::Notice),
    }
}

fn rules<'a>(
    what: &str,
    counts: impl ExactSizeIterator<Item = (&'a RuleId, &'a u64)>,
    out: &mut impl FnMut(StyledLine),
) {
    if counts.len() == 0 {
        return;
    }
    out(StyledLine::default());
    out(StyledLine::of(TextStyle::Head, format!("packets {what} by rule")));
    for (rule, count) in counts {
        out(StyledLine::of(TextStyle::Bad, format!("{count:>10}  {:<5}", rule.0))
            .and(TextStyle::Plain, words(*rule)));
    }
}

/// Short descriptions of the rules by which packets are lost; the full text is in `docs/rules.md`.
fn words(rule: RuleId) -> &'static str {
    const WORDS: [(&str, &str); 10] = [
        ("F-7", "the link fell silent or lost power"),
        ("F-9", "a slack buffer was full"),
        ("P-9", "no bytes were left"),
        ("R-1", "its sender started a forward reset"),
        ("R-2", "the receiver was in a forward reset"),
        ("R-3", "the switch or interface was reset"),
        ("R-4", "the blocked-packet timeout expired"),
        ("S-1", "its route byte selects no port in use"),
        ("S-2", "it had no route byte at a switch"),
        ("W-5", "an open wire lost its bytes"),
    ];
    WORDS.iter().find(|(id, _)| *id == rule.0).map_or("see docs/rules.md", |(_, words)| words)
}

/// The items with the highest load, in their original order, and the number of the others.
fn busiest<T>(all: Vec<T>, load: impl Fn(&T) -> u64, shown: usize) -> (Vec<T>, usize) {
    let left = all.len().saturating_sub(shown);
    let mut ranked: Vec<_> = all.into_iter().enumerate().collect();
    ranked.sort_by_key(|(place, item)| (Reverse(load(item)), *place));
    ranked.truncate(shown);
    ranked.sort_by_key(|(place, _)| *place);
    (ranked.into_iter().map(|(_, item)| item).collect(), left)
}

fn more(left: usize, what: &str, out: &mut impl FnMut(StyledLine)) {
    if left > 0 {
        let others = count(left, &format!("less busy {what}"));
        out(StyledLine::of(TextStyle::Dim, format!("and {others}")));
    }
}

/// Periods of the full rate in microseconds.
pub(crate) fn time(periods: u64) -> String {
    microseconds(u128::from(periods) * u128::from(FULL_RATE_PERIOD_PS))
}

/// Periods of the full rate in microseconds, rounded to hundredths.
fn short(periods: u64) -> String {
    let hundredths = (u128::from(periods) * u128::from(FULL_RATE_PERIOD_PS) + 5_000) / 10_000;
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}

/// Rate in Mb/s of `bytes` in `periods` of the full rate.
pub(crate) fn mb_s(bytes: u64, periods: u64) -> String {
    let tenths = u128::from(bytes) * FULL_RATE_MB_S * 10 / u128::from(periods.max(1));
    format!("{}.{}", tenths / 10, tenths % 10)
}

/// Parts per million as a percentage.
pub(crate) fn percent(ppm: u32) -> String {
    format!("{}.{:02}", ppm / 10_000, ppm / 100 % 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_exact_and_those_of_the_busiest_in_their_own_order() {
        assert_eq!((time(1), time(80)), ("0.0125".to_owned(), "1.0000".to_owned()));
        // 12.5 ns is nearer to 0.01 µs, 37.5 ns to 0.04.
        assert_eq!((short(1), short(3)), ("0.01".to_owned(), "0.04".to_owned()));
        assert_eq!((mb_s(80, 80), mb_s(1, 3)), ("640.0".to_owned(), "213.3".to_owned()));
        assert_eq!((percent(62_500), percent(1_000_000)), ("6.25".to_owned(), "100.00".to_owned()));
        let busy = |count: u64, shown| busiest((0..count).collect(), |item| item % 3, shown);
        assert_eq!(busy(4, SHOWN), (vec![0, 1, 2, 3], 0));
        assert_eq!(busy(24, usize::MAX), ((0..24).collect(), 0));
        // All eight of 2 and all eight of 1.
        assert_eq!(busy(24, SHOWN), ((0..24).filter(|item| item % 3 > 0).collect(), 8));
    }
}
