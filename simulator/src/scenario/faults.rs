//! `[[fault]]`: faults at given or random times.

use codec::character::ProbeNumber;

use super::error::any_of;
use super::keys::KeyFormat;
use super::limits::{DURATION_MAX, FAULTS_MAX};
use super::names::{NameLookup, NetworkCompleteness, node_name};
use super::parameters::{self, ConsumptionFormat};
use super::toml_reader::{TomlItem, TomlTable, TomlText};
use super::toml_writer::{TomlKeys, TomlPage, word_of};
use crate::fault::{BitErrors, FaultKind, FaultSpec};
use crate::rng::Rng;
use crate::topology::{NodeKind, NodePort, Topology};

#[derive(Clone, Copy)]
enum FaultPlace {
    Port,
    SwitchPort,
    Node,
    Host,
}

#[derive(Clone, Copy)]
enum FaultExtent {
    Momentary,
    Lasting,
}

type FaultAt = Box<dyn Fn(NodePort) -> FaultKind>;

/// Key of a fault, its place and extent, and the reader of its further keys.
type FaultRow = (&'static str, FaultPlace, FaultExtent, fn(&mut TomlTable<'_>) -> Option<FaultAt>);

const FAULTS: [FaultRow; 12] = [
    ("noise", FaultPlace::Port, FaultExtent::Lasting, |table| {
        let errors = match table.item("errors") {
            Some(item) => item.word(&ERRORS),
            None => Some(BitErrors::Weaken),
        };
        let mean = table.needed("mean_characters");
        let (errors, mean) = (errors?, mean?.integer(1..=DURATION_MAX)?);
        kind(move |channel| FaultKind::Noise { channel, errors, mean })
    }),
    ("flip", FaultPlace::Port, FaultExtent::Momentary, |table| {
        let bits = table.needed("bits")?.integer(1..=0x1ff)?;
        kind(move |channel| FaultKind::Flip { channel, bits })
    }),
    ("open_wire", FaultPlace::Port, FaultExtent::Lasting, |table| {
        let wire = table.needed("wire")?.integer(0..=8)?;
        kind(move |channel| FaultKind::OpenWire { channel, wire })
    }),
    ("cut", FaultPlace::Port, FaultExtent::Lasting, |_| kind(|port| FaultKind::Cut { port })),
    ("lose_gap", FaultPlace::Port, FaultExtent::Lasting, |_| {
        kind(|channel| FaultKind::LoseGap { channel })
    }),
    ("forward_reset", FaultPlace::Port, FaultExtent::Momentary, |_| {
        kind(|port| FaultKind::ForwardReset { port })
    }),
    ("backward_reset", FaultPlace::Port, FaultExtent::Momentary, |_| {
        kind(|port| FaultKind::BackwardReset { port })
    }),
    ("probe", FaultPlace::Port, FaultExtent::Momentary, |table| {
        let number = table.item("number").map_or(Some(0), |item| item.integer(0..=7));
        let number = ProbeNumber::new(number?)?;
        kind(move |port| FaultKind::Probe { port, number })
    }),
    ("power_off", FaultPlace::Node, FaultExtent::Lasting, |_| {
        kind(|port| FaultKind::PowerOff { node: port.node })
    }),
    ("dead_port", FaultPlace::SwitchPort, FaultExtent::Lasting, |_| {
        kind(|port| FaultKind::DeadPort { port })
    }),
    ("consume", FaultPlace::Host, FaultExtent::Lasting, |table| {
        let how = parameters::consumption(&table.needed("how")?)?;
        kind(move |port| FaultKind::Consume { host: port.node, how })
    }),
    ("restart", FaultPlace::Host, FaultExtent::Momentary, |_| {
        kind(|port| FaultKind::Restart { host: port.node })
    }),
];

#[expect(clippy::unnecessary_wraps, reason = "readers of further keys may fail")]
fn kind(kind: impl Fn(NodePort) -> FaultKind + 'static) -> Option<FaultAt> {
    Some(Box::new(kind))
}

const ERRORS: [(&str, BitErrors); 2] = [("weaken", BitErrors::Weaken), ("flip", BitErrors::Flip)];

enum FaultTiming {
    At(u64),
    /// Poisson process: mean interval, start, end.
    Every(u64, u64, u64),
}

/// First of the random streams for `[[fault]]` tables, one per table; the network uses the lower
/// ones.
const FIRST_STREAM: u64 = 4 << 32;

pub(super) struct FaultReader<'a> {
    map: NameLookup<'a>,
    seed: u64,
    duration: u64,
    faults: Vec<FaultSpec>,
}

impl<'a> FaultReader<'a> {
    pub(super) const fn new(map: NameLookup<'a>, seed: u64, duration: u64) -> Self {
        Self { map, seed, duration, faults: Vec::new() }
    }

    /// Faults of all tables, ordered by time, then by position in the file.
    pub(super) fn read(mut self, root: &mut TomlTable<'_>) -> Vec<FaultSpec> {
        for (place, table) in (0..).zip(root.tables("fault")) {
            let rng = Rng::new(self.seed, FIRST_STREAM | place);
            self.fault(table, rng);
        }
        self.faults.sort_by_key(|fault| fault.at);
        self.faults
    }

    fn fault(&mut self, mut table: TomlTable<'_>, mut rng: Rng) {
        let when = self.when(&mut table);
        let given = FAULTS.iter().filter_map(|row| Some((table.item(row.0)?, row)));
        let given: Vec<_> = given.collect();
        let (place, (_, part, extent, read)) = match given.as_slice() {
            [] => {
                let keys = FAULTS.map(|(key, ..)| key);
                // Any other key may belong to the missing one.
                return table.missing(&format!("expected one of {}", any_of(&keys)));
            }
            [one] => one,
            [(first, _), (second, _), ..] => {
                let expected = format!("expected one of `{}` and `{}`", first.key, second.key);
                return self.map.problems.add(&second.span, "two faults in one table", expected);
            }
        };
        let kind = read(&mut table);
        let lasts = match extent {
            FaultExtent::Lasting => table.time("for", 1..=DURATION_MAX).map(|time| time.periods),
            FaultExtent::Momentary => None,
        };
        table.finish();
        // Without a place no times need to be drawn: there may be billions.
        let targets = self.targets(place, *part).filter(|targets| !targets.is_empty());
        let (Some(when), Some(kind), Some(targets)) = (when, kind, targets) else { return };
        let fault = |at: u64, rng: &mut Rng| {
            let choice = usize::try_from(rng.below(targets.len() as u64)).unwrap_or(0);
            let until = lasts.map(|lasts| at.saturating_add(lasts));
            Some(FaultSpec { at, until, kind: kind(*targets.get(choice)?) })
        };
        self.add(place, &when, fault, &mut rng);
    }

    fn when(&self, table: &mut TomlTable<'_>) -> Option<FaultTiming> {
        let last = self.duration.saturating_sub(1);
        let at = table.time("at", 0..=last);
        if table.has_time("every") {
            let every = table.time("every", 1..=DURATION_MAX);
            if let Some(at) = at {
                let message = "a fault with both a time and random times".to_owned();
                table.report_at(&at.span, message, "expected one of the two");
            }
            let from = table.time("from", 0..=last);
            let to = table.time("to", 1..=self.duration);
            let (from, to) = (from.map_or(0, |time| time.periods), to.map(|time| time.periods));
            return Some(FaultTiming::Every(every?.periods, from, to.unwrap_or(self.duration)));
        }
        if !table.has_time("at") {
            let _ = table.item("every_us");
            table.missing("expected `at_us`, or `every_us` for faults at random");
        }
        Some(FaultTiming::At(at?.periods))
    }

    fn add(
        &mut self,
        place: &TomlItem<'_>,
        when: &FaultTiming,
        fault: impl Fn(u64, &mut Rng) -> Option<FaultSpec>,
        rng: &mut Rng,
    ) {
        match *when {
            FaultTiming::At(at) => self.faults.extend(fault(at, rng)),
            FaultTiming::Every(mean, from, to) => {
                let mut at = from.saturating_add(rng.exponential(mean));
                while at < to {
                    if self.faults.len() >= FAULTS_MAX {
                        let message = format!("more than {FAULTS_MAX} faults in all");
                        let expected = "expected a longer time between them";
                        self.map.problems.add(&place.span, message, expected);
                        return;
                    }
                    self.faults.extend(fault(at, rng));
                    at = at.saturating_add(rng.exponential(mean));
                }
            }
        }
    }

    /// Candidate places: one by name, or all suitable ones for `any`. A node is represented by its
    /// port 0.
    fn targets(&self, place: &TomlItem<'_>, part: FaultPlace) -> Option<Vec<NodePort>> {
        let text = place.text(match part {
            FaultPlace::Node => "the name of a node, or `any`",
            FaultPlace::Host => "the name of a host, or `any`",
            FaultPlace::Port | FaultPlace::SwitchPort => "a port, like `s0:3`, or `any`",
        })?;
        if text.text != "any" {
            return self.target(&text, part).map(|target| vec![target]);
        }
        let topology = self.map.topology;
        let hosts = topology.hosts();
        let all: Vec<NodePort> = match part {
            FaultPlace::Node => {
                hosts.chain(topology.switches()).map(NameLookup::host_port).collect()
            }
            FaultPlace::Host => hosts.map(NameLookup::host_port).collect(),
            FaultPlace::SwitchPort => {
                let ports = self.map.cabled_ports().into_iter();
                ports.filter(|port| self.is_switch(*port)).collect()
            }
            FaultPlace::Port => self.map.cabled_ports(),
        };
        if all.is_empty() && self.map.whole == NetworkCompleteness::Complete {
            place.report("expected a network with a part that can have this fault".to_owned());
        }
        Some(all)
    }

    fn target(&self, text: &TomlText<'_>, part: FaultPlace) -> Option<NodePort> {
        match part {
            FaultPlace::Node => self.map.node(text).map(NameLookup::host_port),
            FaultPlace::Host => self.map.host(text).map(NameLookup::host_port),
            FaultPlace::Port => self.map.cabled_port(text),
            FaultPlace::SwitchPort => {
                let port = self.map.cabled_port(text)?;
                if !self.is_switch(port) {
                    let message = format!("`{}` is a port of a host", text.text);
                    self.map.problems.add(&text.span, message, "expected a port of a switch");
                    return None;
                }
                Some(port)
            }
        }
    }

    fn is_switch(&self, port: NodePort) -> bool {
        let kind = self.map.topology.node(port.node).map(|node| node.kind);
        matches!(kind, Some(NodeKind::Switch(_)))
    }
}

pub(super) fn write(page: &mut TomlPage, faults: &[FaultSpec], topology: &Topology) {
    for fault in faults {
        let mut keys = TomlKeys::default();
        keys.value("at_periods", fault.at);
        write_fault(&mut keys, fault.kind, topology);
        if let Some(until) = fault.until {
            keys.value("for_periods", until.saturating_sub(fault.at));
        }
        page.element("fault", &keys);
    }
}

fn write_fault(keys: &mut TomlKeys, what: FaultKind, topology: &Topology) {
    match what {
        FaultKind::Noise { channel, errors, mean } => {
            keys.text("noise", &topology.port_name(channel));
            keys.text("errors", word_of(&ERRORS, errors));
            keys.value("mean_characters", mean);
        }
        FaultKind::Flip { channel, bits } => {
            keys.text("flip", &topology.port_name(channel));
            keys.value("bits", format!("0b{bits:09b}"));
        }
        FaultKind::OpenWire { channel, wire } => {
            keys.text("open_wire", &topology.port_name(channel));
            keys.value("wire", wire);
        }
        FaultKind::Cut { port } => keys.text("cut", &topology.port_name(port)),
        FaultKind::LoseGap { channel } => keys.text("lose_gap", &topology.port_name(channel)),
        FaultKind::ForwardReset { port } => keys.text("forward_reset", &topology.port_name(port)),
        FaultKind::BackwardReset { port } => keys.text("backward_reset", &topology.port_name(port)),
        FaultKind::Probe { port, number } => {
            keys.text("probe", &topology.port_name(port));
            keys.value("number", number.value());
        }
        FaultKind::PowerOff { node } => keys.text("power_off", node_name(topology, node)),
        FaultKind::DeadPort { port } => keys.text("dead_port", &topology.port_name(port)),
        FaultKind::Consume { host, how } => {
            keys.text("consume", node_name(topology, host));
            ConsumptionFormat.write(keys, "how", how);
        }
        FaultKind::Restart { host } => keys.text("restart", node_name(topology, host)),
    }
}

#[cfg(test)]
mod tests {
    use crate::scenario::Scenario;

    /// Without a duration the maximum of 2⁴⁰ periods applies; random faults without a possible
    /// place were once drawn one by one.
    #[test]
    fn faults_with_nowhere_to_happen_are_not_drawn() {
        let text = "[[fault]]\nevery_periods = 1\ncut = \"any\"\nfor_periods = 5\n";
        let error = Scenario::read("net.toml", text).unwrap_err();
        assert!(error.to_string().contains("duration_us"), "{error}");
    }
}
