//! `[[replay]]`: packets that a host has recorded, sent again. H-1

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use codec::ip::{HostCapture, HostPacket};
use codec::words::shortened;

use super::limits::RECORDING_MAX;
use super::names::{NameLookup, NetworkCompleteness};
use super::toml_reader::{NANO, PERIODS_PER_US, TomlItem, TomlTable, TomlText};
use super::traffic::COMMAND;
use super::{FileReader, keys};
use crate::routes::RouteTable;
use crate::topology::NodeId;
use crate::traffic::{CommandForm, PacketReplay, ReplayedPacket};

/// Highest speed, and inverse of the lowest. *Chosen*
const SPEED_MAX: u128 = 1_000_000;

pub(super) struct ReplayReader<'a> {
    pub(super) map: NameLookup<'a>,
    pub(super) routes: &'a RouteTable,
    pub(super) duration: u64,
    pub(super) files: FileReader<'a>,
}

/// A table, without its packets.
struct ReplayPlan {
    hosts: BTreeMap<Ipv4Addr, NodeId>,
    start: u64,
    /// Speed in 10⁻⁹.
    speed: u128,
    command: CommandForm,
}

impl ReplayReader<'_> {
    pub(super) fn read(&self, root: &mut TomlTable<'_>) -> Vec<PacketReplay> {
        let mut left = RECORDING_MAX;
        let tables = root.tables("replay").into_iter();
        tables.filter_map(|table| self.replay(table, &mut left)).collect()
    }

    fn replay(&self, mut table: TomlTable<'_>, left: &mut usize) -> Option<PacketReplay> {
        let file = table.needed("file");
        let hosts = table.needed("hosts").and_then(|item| self.hosts(&item));
        let start = table.time("start", 0..=self.duration.saturating_sub(1));
        let speed = table.item("speed").map_or(Some(NANO), |item| speed(&item));
        let command = keys::read(COMMAND, &mut table, CommandForm::default());
        table.finish();
        let start = start.map_or(0, |start| start.periods);
        let name = file.as_ref().and_then(|file| file.text("the name of a file"));
        let (file, name, hosts, speed) = (file?, name?.text, hosts?, speed?);
        let plan = ReplayPlan { hosts, start, speed, command };
        if self.map.whole == NetworkCompleteness::Incomplete {
            return None;
        }
        let replay =
            self.recorded(name, left).and_then(|capture| self.planned(name, &plan, capture));
        replay.map_err(|(message, expected)| file.add(message, &expected)).ok()
    }

    /// The hosts that have the addresses of the file.
    fn hosts(&self, item: &TomlItem<'_>) -> Option<BTreeMap<Ipv4Addr, NodeId>> {
        let Some(mut table) = item.as_table() else {
            item.report(
                "expected addresses and hosts, like `{ \"10.0.0.7\" = \"h0\" }`".to_owned(),
            );
            return None;
        };
        let names = table.names().into_iter();
        let read = |name: TomlText<'_>| {
            let host = table.item(name.text)?.text("the name of a host")?;
            let address = name.text.parse::<Ipv4Addr>();
            if address.is_err() {
                let message = format!("`{}` is no IPv4 address", shortened(name.text));
                table.report_at(&name.span, message, "expected one like `10.0.0.7`");
            }
            Some((address.ok()?, self.map.cabled_host(&host)?))
        };
        let hosts: Vec<_> = names.map(read).collect();
        hosts.into_iter().collect()
    }

    fn recorded(&self, file: &str, left: &mut usize) -> Result<HostCapture, (String, String)> {
        let name = shortened(file);
        let bytes = (self.files)(file, *left).map_err(|error| {
            let expected = format!(
                "expected files beside the scenario, of {RECORDING_MAX} bytes at most in all"
            );
            (format!("{name} cannot be read: {}", shortened(&error)), expected)
        })?;
        *left = left.saturating_sub(bytes.len());
        HostCapture::read(&bytes).map_err(|error| {
            (
                format!("{name}: {error}"),
                "expected a whole pcapng or pcap file of whole packets".to_owned(),
            )
        })
    }

    /// The packets between two of the hosts.
    fn planned(
        &self,
        file: &str,
        plan: &ReplayPlan,
        capture: HostCapture,
    ) -> Result<PacketReplay, (String, String)> {
        let name = shortened(file);
        let [mut elsewhere, mut late] = [0; 2];
        let mut packets = Vec::new();
        let example = capture.packets.first().map(|packet| packet.ends);
        for HostPacket { time, ends, bytes } in capture.packets {
            let [from, to] = ends.map(|address| plan.hosts.get(&address).copied());
            let (Some(from), Some(to)) = (from, to.filter(|to| Some(*to) != from)) else {
                elsewhere += 1;
                continue;
            };
            if self.routes.get(from, to).is_none() {
                let [from, to] = [from, to].map(|node| shortened(self.map.name(node)));
                let message = format!("there is no route from `{from}` to `{to}`");
                return Err((message, "expected hosts with routes between them".to_owned()));
            }
            // A time of 2⁶⁴ ns and more is beyond any run.
            let ns = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
            let periods = u128::from(ns) * u128::from(PERIODS_PER_US) * NANO / (1_000 * plan.speed);
            let at = u64::try_from(periods).unwrap_or(u64::MAX).saturating_add(plan.start);
            if at < self.duration {
                packets.push(ReplayedPacket { from, to, at, command: plan.command, bytes });
            } else {
                late += 1;
            }
        }
        if packets.is_empty() && late == 0 {
            let expected = match example {
                Some([from, to]) => format!("expected addresses in it, like {from} and {to}"),
                None => "expected a file with IPv4 packets".to_owned(),
            };
            return Err((format!("{name} has no packet between two of the hosts"), expected));
        }
        let (others, sent) = (capture.others, packets.len() as u64);
        let omitted = others + elsewhere + late;
        let note = format!(
            "{name}: {omitted} of {} packets are not sent: {others} are no IPv4 packets with a right \
             header, {elsewhere} are not between two of the hosts, {late} are later than the end",
            sent + omitted
        );
        Ok(PacketReplay { packets, note: (omitted > 0).then_some(note) })
    }
}

/// Speed in 10⁻⁹.
fn speed(item: &TomlItem<'_>) -> Option<u128> {
    let limits = NANO / SPEED_MAX..=NANO * SPEED_MAX;
    let nanos = item.as_nanos().filter(|nanos| limits.contains(nanos));
    if nanos.is_none() {
        item.report("expected a number from 0.000001 to 1000000, nine decimals at most".to_owned());
    }
    nanos
}
