//! `[[fault]]` and `[[probe]]`: faults and probes at given or random times.

use std::collections::BTreeMap;

use codec::character::ProbeNumber;
use codec::words::quoted;

use super::cables::NanosecondRange;
use super::limits::{DURATION_MAX, FAULTS_MAX};
use super::names::{NameLookup, NetworkCompleteness};
use super::parameters;
use super::toml_reader::{TomlItem, TomlTable, TomlText};
use crate::fault::{BitErrors, FaultKind, FaultPlace, FaultSpec, ProbeAction};
use crate::rng::Rng;
use crate::topology::{NodeId, NodeKind, NodePort};
use crate::wires::{DISTURBANCE_PS_MAX, WireFault};

/// Reads the further keys of a kind.
fn read_kind(table: &mut TomlTable<'_>, kind: FaultKind) -> Option<FaultKind> {
    Some(match kind {
        FaultKind::Noise { errors, .. } => {
            let errors =
                table.item("errors").map_or(Some(errors), |item| item.word(&BitErrors::WORDS));
            let mean = table.needed("mean_characters");
            FaultKind::Noise { errors: errors?, mean: mean?.integer(1..=DURATION_MAX)? }
        }
        FaultKind::Flip { .. } => {
            FaultKind::Flip { bits: table.needed("bits")?.integer(1..=0x1ff)? }
        }
        FaultKind::OpenWire { .. } => {
            FaultKind::OpenWire { wire: table.needed("wire")?.integer(0..=8)? }
        }
        FaultKind::Probe(_) => {
            let number = table.item("number").map_or(Some(0), |item| item.integer(0..=7));
            FaultKind::Probe(ProbeNumber::new(number?)?)
        }
        FaultKind::Consume(_) => {
            FaultKind::Consume(parameters::consumption(&table.needed("how")?)?)
        }
        FaultKind::Wires(fault) => FaultKind::Wires(read_wires(table, fault)?),
        FaultKind::Cut
        | FaultKind::LoseGap
        | FaultKind::ForwardReset
        | FaultKind::BackwardReset
        | FaultKind::PowerOff
        | FaultKind::SupplyOff
        | FaultKind::DeadPort
        | FaultKind::Restart => kind,
    })
}

fn read_wires(table: &mut TomlTable<'_>, fault: WireFault) -> Option<WireFault> {
    let limits = NanosecondRange(DISTURBANCE_PS_MAX);
    let wire = |table: &mut TomlTable<'_>, key: &str| table.needed(key)?.integer(0..=8);
    let time = |table: &mut TomlTable<'_>, key: &'static str, default: u32| {
        table.item(key).map_or(Some(default), |item| limits.of(&item))
    };
    Some(match fault {
        WireFault::Short { .. } => {
            let item = table.needed("wires")?;
            let list = item.as_list().unwrap_or_default();
            let numbers: Option<Vec<u64>> = list.iter().map(TomlItem::as_integer).collect();
            match numbers.unwrap_or_default().as_slice() {
                &[one @ 0..=8, other @ 0..=8] if one != other => {
                    WireFault::Short { wires: [one, other].map(|it| u8::try_from(it).unwrap_or(8)) }
                }
                _ => {
                    item.report("expected two different wires from 0 to 8".to_owned());
                    return None;
                }
            }
        }
        WireFault::Glitch { width_ps, .. } => {
            let wire = wire(table, "wire");
            let (offset_ps, width_ps) =
                (time(table, "offset_ns", 0), time(table, "width_ns", width_ps));
            WireFault::Glitch { wire: wire?, offset_ps: offset_ps?, width_ps: width_ps? }
        }
        WireFault::MissedTransition { .. } => {
            WireFault::MissedTransition { wire: wire(table, "wire")? }
        }
        WireFault::Crosstalk { width_ps, .. } => {
            let (from, to) = (wire(table, "from_wire"), wire(table, "wire"));
            let mean = table.needed("mean_transitions");
            let width_ps = time(table, "width_ns", width_ps);
            let mean = mean?.integer(1..=DURATION_MAX)?;
            WireFault::Crosstalk { from: from?, to: to?, mean, width_ps: width_ps? }
        }
        WireFault::SlowEdge { .. } => {
            let wire = wire(table, "wire");
            let late = table.needed("late_ns");
            WireFault::SlowEdge { wire: wire?, late_ps: limits.of(&late?)? }
        }
    })
}

enum FaultTiming {
    At(u64),
    /// Poisson process: mean interval, start, end.
    Every(u64, u64, u64),
}

/// First of the random streams for `[[fault]]` tables, one per table; the network uses the lower
/// ones.
const FIRST_STREAM: u64 = 4 << 32;

/// First of the random streams for `[[probe]]` tables.
const PROBE_STREAM: u64 = 11 << 32;

pub(super) struct FaultReader<'a> {
    map: NameLookup<'a>,
    seed: u64,
    duration: u64,
    faults: Vec<FaultSpec>,
    /// The other nodes with the same power supply. B-1, I-3
    powered: &'a BTreeMap<NodeId, Vec<NodeId>>,
}

impl<'a> FaultReader<'a> {
    pub(super) const fn new(
        map: NameLookup<'a>,
        powered: &'a BTreeMap<NodeId, Vec<NodeId>>,
        seed: u64,
        duration: u64,
    ) -> Self {
        Self { map, seed, duration, faults: Vec::new(), powered }
    }

    /// Faults of all tables, ordered by time, then by position in the file.
    pub(super) fn read(mut self, root: &mut TomlTable<'_>) -> Vec<FaultSpec> {
        for (place, table) in (0..).zip(root.tables("fault")) {
            let rng = Rng::new(self.seed, FIRST_STREAM | place);
            self.fault(table, rng);
        }
        for (place, table) in (0..).zip(root.tables("probe")) {
            let rng = Rng::new(self.seed, PROBE_STREAM | place);
            self.probe(table, rng);
        }
        let power = self.faults.iter().filter(|fault| fault.kind.acts_on() == FaultPlace::Node);
        let others = power.flat_map(|fault| {
            let others = self.powered.get(&fault.place.node).into_iter().flatten();
            others.map(|it| FaultSpec { place: NameLookup::host_port(*it), ..fault.clone() })
        });
        let others: Vec<_> = others.filter(|it| !self.faults.contains(it)).collect();
        self.faults.extend(others);
        self.faults.sort_by_key(|fault| fault.at);
        self.faults
    }

    fn fault(&mut self, mut table: TomlTable<'_>, mut rng: Rng) {
        let when = self.when(&mut table, "fault");
        let given = FaultKind::all().filter_map(|kind| Some((table.item(kind.name())?, kind)));
        let given: Vec<_> = given.collect();
        let (place, given) = match given.as_slice() {
            [] => {
                let keys: Vec<_> = FaultKind::all().map(|kind| kind.name()).collect();
                // Any other key may belong to the missing one.
                return table
                    .missing(&format!("expected one of {}", quoted(keys.iter().copied(), "or")));
            }
            [one] => one,
            [(first, _), (second, _), ..] => {
                let expected = format!("expected one of `{}` and `{}`", first.key, second.key);
                return self.map.problems.add(&second.span, "two faults in one table", expected);
            }
        };
        let kind = read_kind(&mut table, *given);
        let lasts = if given.lasts() { table.time("for", 1..=DURATION_MAX) } else { None };
        table.finish();
        let targets = self.targets(place, given.acts_on());
        let (Some(when), Some(kind), Some(targets)) = (when, kind, targets) else { return };
        self.place((place, &targets), &when, (kind, lasts.map(|time| time.periods)), &mut rng);
    }

    /// A probe and the action that it asks for. R-6
    fn probe(&mut self, mut table: TomlTable<'_>, mut rng: Rng) {
        let when = self.when(&mut table, "probe");
        let port = table.needed("port");
        let action = table.needed("action");
        table.finish();
        let action = action.and_then(|action| action.word(&ProbeAction::WORDS));
        let targets = port.as_ref().and_then(|port| self.targets(port, FaultPlace::Sender));
        let (Some(when), Some(port), Some(action), Some(targets)) = (when, port, action, targets)
        else {
            return;
        };
        let kind = FaultKind::Probe(action.probe());
        self.place((&port, &targets), &when, (kind, None), &mut rng);
    }

    /// Adds a fault at each of its times, at any of its places.
    fn place(
        &mut self,
        (place, targets): (&TomlItem<'_>, &[NodePort]),
        when: &FaultTiming,
        (kind, lasts): (FaultKind, Option<u64>),
        rng: &mut Rng,
    ) {
        // Without a place no times need to be drawn: there may be billions.
        if targets.is_empty() {
            return;
        }
        let fault = |at: u64, rng: &mut Rng| {
            let choice = usize::try_from(rng.below(targets.len() as u64)).unwrap_or(0);
            let until = lasts.map(|lasts| at.saturating_add(lasts));
            Some(FaultSpec { at, until, place: *targets.get(choice)?, kind })
        };
        self.add(place, when, fault, rng);
    }

    fn when(&self, table: &mut TomlTable<'_>, what: &str) -> Option<FaultTiming> {
        let last = self.duration.saturating_sub(1);
        let at = table.time("at", 0..=last);
        if table.has_time("every") {
            let every = table.time("every", 1..=DURATION_MAX);
            if let Some(at) = at {
                let message = format!("a {what} with both a time and random times");
                table.report_at(&at.span, message, "expected one of the two");
            }
            let from = table.time("from", 0..=last);
            let to = table.time("to", 1..=self.duration);
            let (from, to) = (from.map_or(0, |time| time.periods), to.map(|time| time.periods));
            return Some(FaultTiming::Every(every?.periods, from, to.unwrap_or(self.duration)));
        }
        if !table.has_time("at") {
            let _ = table.item("every_us");
            table.missing(&format!("expected `at_us`, or `every_us` for {what}s at random"));
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
            FaultPlace::Port | FaultPlace::Sender | FaultPlace::SwitchPort => {
                "a port, like `s0:3`, or `any`"
            }
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
            FaultPlace::Port | FaultPlace::Sender => self.map.cabled_ports(),
        };
        if all.is_empty() && self.map.whole == NetworkCompleteness::Complete {
            place.report("expected a network with a part that can have this fault".to_owned());
        }
        Some(all)
    }

    fn target(&self, text: &TomlText<'_>, part: FaultPlace) -> Option<NodePort> {
        match part {
            FaultPlace::Node => {
                let interface = self.map.first_interface(text.text);
                interface.or_else(|| self.map.node(text)).map(NameLookup::host_port)
            }
            FaultPlace::Host => self.map.host(text).map(NameLookup::host_port),
            FaultPlace::Port => self.map.cabled_port(text),
            FaultPlace::Sender => self.map.sending_port(text),
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
