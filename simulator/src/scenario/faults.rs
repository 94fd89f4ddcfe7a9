//! `[[fault]]`: faults at given or random times.

use codec::character::ProbeNumber;

use super::error::any_of;
use super::limits::{DURATION_MAX, FAULTS_MAX};
use super::names::NameLookup;
use super::network::NetworkCompleteness;
use super::parameters;
use super::toml_reader::{TomlItem, TomlTable, TomlText};
use super::write::{NodeNames, TomlKeys, TomlPage, word_of};
use crate::fault::{BitErrors, FaultKind, FaultSpec};
use crate::interface::ConsumptionMode;
use crate::rng::Rng;
use crate::topology::{NodeKind, NodePort};

/// Kind of a fault. Its key's value names the faulty part.
#[derive(Clone, Copy)]
enum FaultKey {
    Noise,
    Flip,
    OpenWire,
    Cut,
    LoseGap,
    ForwardReset,
    BackwardReset,
    Probe,
    PowerOff,
    DeadPort,
    Consume,
    Restart,
}

const KINDS: [(&str, FaultKey); 12] = [
    ("noise", FaultKey::Noise),
    ("flip", FaultKey::Flip),
    ("open_wire", FaultKey::OpenWire),
    ("cut", FaultKey::Cut),
    ("lose_gap", FaultKey::LoseGap),
    ("forward_reset", FaultKey::ForwardReset),
    ("backward_reset", FaultKey::BackwardReset),
    ("probe", FaultKey::Probe),
    ("power_off", FaultKey::PowerOff),
    ("dead_port", FaultKey::DeadPort),
    ("consume", FaultKey::Consume),
    ("restart", FaultKey::Restart),
];

const ERRORS: [(&str, BitErrors); 2] = [("weaken", BitErrors::Weaken), ("flip", BitErrors::Flip)];

/// Fault without its place.
#[derive(Clone, Copy)]
enum FaultTemplate {
    Noise(BitErrors, u64),
    Flip(u16),
    OpenWire(u8),
    Cut,
    LoseGap,
    ForwardReset,
    BackwardReset,
    Probe(ProbeNumber),
    PowerOff,
    DeadPort,
    Consume(ConsumptionMode),
    Restart,
}

/// Time of a fault, in periods.
enum FaultTiming {
    At(u64),
    /// Poisson process: mean interval, start, end.
    Every(u64, u64, u64),
}

/// First of the random streams for `[[fault]]` tables, one per table; the network uses the lower
/// ones.
const TIMES_DICE: u64 = 4 << 32;

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
            let dice = Rng::new(self.seed, TIMES_DICE | place);
            self.fault(table, dice);
        }
        self.faults.sort_by_key(|fault| fault.at);
        self.faults
    }

    fn fault(&mut self, mut table: TomlTable<'_>, mut dice: Rng) {
        let when = self.when(&mut table);
        let mut given = KINDS
            .iter()
            .filter_map(|(key, kind)| Some((table.item(key)?, *kind)))
            .collect::<Vec<_>>()
            .into_iter();
        let Some((place, kind)) = given.next() else {
            let keys = KINDS.map(|(key, _)| key);
            table.missing(&format!("expected one of {}", any_of(&keys)));
            // Any other key may belong to the one that is missing.
            return;
        };
        if let Some((second, _)) = given.next() {
            let expected = format!("expected one of `{}` and `{}`", place.key, second.key);
            self.map.problems.add(&second.span, "a fault of two kinds", expected);
            return;
        }
        let what = fault_template(&mut table, kind);
        let lasts = if kind.lasts() {
            table.time(["for_us", "for_periods"], 1..=DURATION_MAX).map(|time| time.periods)
        } else {
            None
        };
        table.finish();
        // Where there is nothing to break, no time need be drawn: there may be billions.
        let targets = self.targets(&place, kind).filter(|targets| !targets.is_empty());
        if let (Some(when), Some(what), Some(targets)) = (when, what, targets) {
            self.add(
                &place,
                &when,
                |at, dice| {
                    let choice = usize::try_from(dice.below(targets.len() as u64)).unwrap_or(0);
                    let what = what.at(*targets.get(choice)?);
                    debug_assert_eq!(kind.lasts(), what.lasts(), "a fault is of its kind");
                    Some(FaultSpec {
                        at,
                        until: lasts.map(|lasts| at.saturating_add(lasts)),
                        kind: what,
                    })
                },
                &mut dice,
            );
        }
    }

    fn when(&self, table: &mut TomlTable<'_>) -> Option<FaultTiming> {
        let last = self.duration.saturating_sub(1);
        let at = table.time(["at_us", "at_periods"], 0..=last);
        let random = ["every_us", "every_periods"];
        if table.has_any(&random) {
            let every = table.time(random, 1..=DURATION_MAX);
            if let Some(at) = at {
                let message = "a fault at a time and at random".to_owned();
                table.report_at(&at.span, message, "expected one of the two");
            }
            let from = table.time(["from_us", "from_periods"], 0..=last);
            let to = table.time(["to_us", "to_periods"], 1..=self.duration);
            let (from, to) = (from.map_or(0, |time| time.periods), to.map(|time| time.periods));
            return Some(FaultTiming::Every(every?.periods, from, to.unwrap_or(self.duration)));
        }
        if !table.has_any(&["at_us", "at_periods"]) {
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
        dice: &mut Rng,
    ) {
        match *when {
            FaultTiming::At(at) => self.faults.extend(fault(at, dice)),
            FaultTiming::Every(mean, from, to) => {
                let mut at = from.saturating_add(dice.exponential(mean));
                while at < to {
                    if self.faults.len() >= FAULTS_MAX {
                        let message = format!("more than {FAULTS_MAX} faults in all");
                        let expected = "expected a longer time between them";
                        self.map.problems.add(&place.span, message, expected);
                        return;
                    }
                    self.faults.extend(fault(at, dice));
                    at = at.saturating_add(dice.exponential(mean));
                }
            }
        }
    }

    /// Candidate places: one by name, or all suitable ones for `any`. A node is represented by its
    /// port 0.
    fn targets(&self, place: &TomlItem<'_>, kind: FaultKey) -> Option<Vec<NodePort>> {
        let text = place.text(kind.place())?;
        if text.text != "any" {
            return self.target(&text, kind).map(|target| vec![target]);
        }
        let topology = self.map.topology;
        let all: Vec<NodePort> = match kind {
            FaultKey::PowerOff => {
                topology.hosts().chain(topology.switches()).map(NameLookup::host_port).collect()
            }
            FaultKey::Consume | FaultKey::Restart => {
                topology.hosts().map(NameLookup::host_port).collect()
            }
            FaultKey::DeadPort => {
                let ports = self.map.cabled_ports().into_iter();
                ports.filter(|port| self.is_switch(*port)).collect()
            }
            FaultKey::Noise
            | FaultKey::Flip
            | FaultKey::OpenWire
            | FaultKey::Cut
            | FaultKey::LoseGap
            | FaultKey::ForwardReset
            | FaultKey::BackwardReset
            | FaultKey::Probe => self.map.cabled_ports(),
        };
        if all.is_empty() && self.map.whole == NetworkCompleteness::Yes {
            place.report("expected something in the network that can break so".to_owned());
        }
        Some(all)
    }

    fn target(&self, text: &TomlText<'_>, kind: FaultKey) -> Option<NodePort> {
        match kind {
            FaultKey::PowerOff => self.map.node(text).map(NameLookup::host_port),
            FaultKey::Consume | FaultKey::Restart => self.map.host(text).map(NameLookup::host_port),
            FaultKey::DeadPort => {
                let port = self.map.cabled_port(text)?;
                if !self.is_switch(port) {
                    let message = format!("`{}` is a port of a host", text.text);
                    self.map.problems.add(&text.span, message, "expected a port of a switch");
                    return None;
                }
                Some(port)
            }
            FaultKey::Noise
            | FaultKey::Flip
            | FaultKey::OpenWire
            | FaultKey::Cut
            | FaultKey::LoseGap
            | FaultKey::ForwardReset
            | FaultKey::BackwardReset
            | FaultKey::Probe => self.map.cabled_port(text),
        }
    }

    fn is_switch(&self, port: NodePort) -> bool {
        let kind = self.map.topology.node(port.node).map(|node| node.kind);
        matches!(kind, Some(NodeKind::Switch(_)))
    }
}

impl FaultKey {
    const fn lasts(self) -> bool {
        match self {
            Self::Noise
            | Self::OpenWire
            | Self::Cut
            | Self::LoseGap
            | Self::PowerOff
            | Self::DeadPort
            | Self::Consume => true,
            Self::Flip | Self::ForwardReset | Self::BackwardReset | Self::Probe | Self::Restart => {
                false
            }
        }
    }

    /// Expected value of the key.
    const fn place(self) -> &'static str {
        match self {
            Self::PowerOff => "the name of a node, or `any`",
            Self::Consume | Self::Restart => "the name of a host, or `any`",
            Self::Noise
            | Self::Flip
            | Self::OpenWire
            | Self::Cut
            | Self::LoseGap
            | Self::ForwardReset
            | Self::BackwardReset
            | Self::Probe
            | Self::DeadPort => "a port, like `s0:3`, or `any`",
        }
    }
}

impl FaultTemplate {
    const fn at(self, port: NodePort) -> FaultKind {
        match self {
            Self::Noise(errors, mean) => FaultKind::Noise { channel: port, errors, mean },
            Self::Flip(bits) => FaultKind::Flip { channel: port, bits },
            Self::OpenWire(wire) => FaultKind::OpenWire { channel: port, wire },
            Self::Cut => FaultKind::Cut { port },
            Self::LoseGap => FaultKind::LoseGap { channel: port },
            Self::ForwardReset => FaultKind::ForwardReset { port },
            Self::BackwardReset => FaultKind::BackwardReset { port },
            Self::Probe(number) => FaultKind::Probe { port, number },
            Self::PowerOff => FaultKind::PowerOff { node: port.node },
            Self::DeadPort => FaultKind::DeadPort { port },
            Self::Consume(how) => FaultKind::Consume { host: port.node, how },
            Self::Restart => FaultKind::Restart { host: port.node },
        }
    }
}

/// Reads the further keys of a kind.
fn fault_template(table: &mut TomlTable<'_>, kind: FaultKey) -> Option<FaultTemplate> {
    Some(match kind {
        FaultKey::Noise => {
            let errors = match table.item("errors") {
                Some(item) => item.word(&ERRORS),
                None => Some(BitErrors::Weaken),
            };
            let mean = table.needed("mean_characters");
            FaultTemplate::Noise(errors?, mean?.integer(1..=DURATION_MAX)?)
        }
        FaultKey::Flip => FaultTemplate::Flip(table.needed("bits")?.integer(1..=0x1ff)?),
        FaultKey::OpenWire => FaultTemplate::OpenWire(table.needed("wire")?.integer(0..=8)?),
        FaultKey::Cut => FaultTemplate::Cut,
        FaultKey::LoseGap => FaultTemplate::LoseGap,
        FaultKey::ForwardReset => FaultTemplate::ForwardReset,
        FaultKey::BackwardReset => FaultTemplate::BackwardReset,
        FaultKey::Probe => {
            let number = table.item("number").map_or(Some(0), |item| item.integer(0..=7));
            FaultTemplate::Probe(ProbeNumber::new(number?)?)
        }
        FaultKey::PowerOff => FaultTemplate::PowerOff,
        FaultKey::DeadPort => FaultTemplate::DeadPort,
        FaultKey::Consume => {
            FaultTemplate::Consume(parameters::consumption(&table.needed("how")?)?)
        }
        FaultKey::Restart => FaultTemplate::Restart,
    })
}

pub(super) fn write(page: &mut TomlPage, faults: &[FaultSpec], names: NodeNames<'_>) {
    for fault in faults {
        let mut keys = TomlKeys::default();
        keys.value("at_periods", fault.at);
        write_fault(&mut keys, fault.kind, names);
        if let Some(until) = fault.until {
            keys.value("for_periods", until.saturating_sub(fault.at));
        }
        page.element("fault", &keys);
    }
}

fn write_fault(keys: &mut TomlKeys, what: FaultKind, names: NodeNames<'_>) {
    match what {
        FaultKind::Noise { channel, errors, mean } => {
            keys.text("noise", &names.port(channel));
            keys.text("errors", word_of(&ERRORS, errors));
            keys.value("mean_characters", mean);
        }
        FaultKind::Flip { channel, bits } => {
            keys.text("flip", &names.port(channel));
            keys.value("bits", format!("0b{bits:09b}"));
        }
        FaultKind::OpenWire { channel, wire } => {
            keys.text("open_wire", &names.port(channel));
            keys.value("wire", wire);
        }
        FaultKind::Cut { port } => keys.text("cut", &names.port(port)),
        FaultKind::LoseGap { channel } => keys.text("lose_gap", &names.port(channel)),
        FaultKind::ForwardReset { port } => keys.text("forward_reset", &names.port(port)),
        FaultKind::BackwardReset { port } => keys.text("backward_reset", &names.port(port)),
        FaultKind::Probe { port, number } => {
            keys.text("probe", &names.port(port));
            keys.value("number", number.value());
        }
        FaultKind::PowerOff { node } => keys.text("power_off", names.node(node)),
        FaultKind::DeadPort { port } => keys.text("dead_port", &names.port(port)),
        FaultKind::Consume { host, how } => {
            keys.text("consume", names.node(host));
            parameters::write_consumption(keys, "how", how);
        }
        FaultKind::Restart { host } => keys.text("restart", names.node(host)),
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
