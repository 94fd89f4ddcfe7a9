//! `[[fault]]`: what breaks, at a time or at random.

use codec::character::ProbeNumber;

use super::error::any_of;
use super::limits::{DURATION_MAX, FAULTS_MAX};
use super::map::Map;
use super::network::Whole;
use super::parameters;
use super::table::{Item, Table, Text};
use super::write::{Keys, Names, Page, word_of};
use crate::chance::Dice;
use crate::fault::{Break, Errors, Fault};
use crate::interface::Consumption;
use crate::topology::{NodeKind, Port};

/// What breaks; each is a key, whose value says where.
#[derive(Clone, Copy)]
enum Kind {
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

const KINDS: [(&str, Kind); 12] = [
    ("noise", Kind::Noise),
    ("flip", Kind::Flip),
    ("open_wire", Kind::OpenWire),
    ("cut", Kind::Cut),
    ("lose_gap", Kind::LoseGap),
    ("forward_reset", Kind::ForwardReset),
    ("backward_reset", Kind::BackwardReset),
    ("probe", Kind::Probe),
    ("power_off", Kind::PowerOff),
    ("dead_port", Kind::DeadPort),
    ("consume", Kind::Consume),
    ("restart", Kind::Restart),
];

const ERRORS: [(&str, Errors); 2] = [("weaken", Errors::Weaken), ("flip", Errors::Flip)];

/// A kind with all that is said of it.
#[derive(Clone, Copy)]
enum What {
    Noise(Errors, u64),
    Flip(u16),
    OpenWire(u8),
    Cut,
    LoseGap,
    ForwardReset,
    BackwardReset,
    Probe(ProbeNumber),
    PowerOff,
    DeadPort,
    Consume(Consumption),
    Restart,
}

/// When it happens, in periods.
enum When {
    At(u64),
    /// At random, so many apart in the mean, from one time to another.
    Every(u64, u64, u64),
}

/// The stream of dice of the first table; the network has those below. Each table has its own.
const TIMES_DICE: u64 = 4 << 32;

/// What is read of the faults.
pub(super) struct Breakage<'a> {
    map: Map<'a>,
    seed: u64,
    duration: u64,
    faults: Vec<Fault>,
}

impl<'a> Breakage<'a> {
    pub(super) const fn new(map: Map<'a>, seed: u64, duration: u64) -> Self {
        Self { map, seed, duration, faults: Vec::new() }
    }

    /// The faults of all tables, in order of time; those of one time in order of the file.
    pub(super) fn read(mut self, root: &mut Table<'_>) -> Vec<Fault> {
        for (place, table) in (0..).zip(root.tables("fault")) {
            let dice = Dice::new(self.seed, TIMES_DICE | place);
            self.fault(table, dice);
        }
        self.faults.sort_by_key(|fault| fault.at);
        self.faults
    }

    fn fault(&mut self, mut table: Table<'_>, mut dice: Dice) {
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
        let what = what(&mut table, kind);
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
                    Some(Fault { at, until: lasts.map(|lasts| at.saturating_add(lasts)), what })
                },
                &mut dice,
            );
        }
    }

    fn when(&self, table: &mut Table<'_>) -> Option<When> {
        let last = self.duration.saturating_sub(1);
        let at = table.time(["at_us", "at_periods"], 0..=last);
        let random = ["every_us", "every_periods"];
        if table.has_any(&random) {
            let every = table.time(random, 1..=DURATION_MAX);
            if let Some(at) = at {
                let message = "a fault at a time and at random".to_owned();
                table.tell(&at.span, message, "expected one of the two");
            }
            let from = table.time(["from_us", "from_periods"], 0..=last);
            let to = table.time(["to_us", "to_periods"], 1..=self.duration);
            let (from, to) = (from.map_or(0, |time| time.periods), to.map(|time| time.periods));
            return Some(When::Every(every?.periods, from, to.unwrap_or(self.duration)));
        }
        if !table.has_any(&["at_us", "at_periods"]) {
            let _ = table.item("every_us");
            table.missing("expected `at_us`, or `every_us` for faults at random");
        }
        Some(When::At(at?.periods))
    }

    fn add(
        &mut self,
        place: &Item<'_>,
        when: &When,
        fault: impl Fn(u64, &mut Dice) -> Option<Fault>,
        dice: &mut Dice,
    ) {
        match *when {
            When::At(at) => self.faults.extend(fault(at, dice)),
            When::Every(mean, from, to) => {
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

    /// Where it may happen: one place by its name, or `any`, all that fit. A node stands for its
    /// port 0.
    fn targets(&self, place: &Item<'_>, kind: Kind) -> Option<Vec<Port>> {
        let text = place.text(kind.place())?;
        if text.text != "any" {
            return self.target(&text, kind).map(|target| vec![target]);
        }
        let topology = self.map.topology;
        let all: Vec<Port> = match kind {
            Kind::PowerOff => {
                topology.hosts().chain(topology.switches()).map(Map::host_port).collect()
            }
            Kind::Consume | Kind::Restart => topology.hosts().map(Map::host_port).collect(),
            Kind::DeadPort => {
                let ports = self.map.cabled_ports().into_iter();
                ports.filter(|port| self.is_switch(*port)).collect()
            }
            Kind::Noise
            | Kind::Flip
            | Kind::OpenWire
            | Kind::Cut
            | Kind::LoseGap
            | Kind::ForwardReset
            | Kind::BackwardReset
            | Kind::Probe => self.map.cabled_ports(),
        };
        if all.is_empty() && self.map.whole == Whole::Yes {
            place.wrong("expected something in the network that can break so".to_owned());
        }
        Some(all)
    }

    fn target(&self, text: &Text<'_>, kind: Kind) -> Option<Port> {
        match kind {
            Kind::PowerOff => self.map.node(text).map(Map::host_port),
            Kind::Consume | Kind::Restart => self.map.host(text).map(Map::host_port),
            Kind::DeadPort => {
                let port = self.map.cabled_port(text)?;
                if !self.is_switch(port) {
                    let message = format!("`{}` is a port of a host", text.text);
                    self.map.problems.add(&text.span, message, "expected a port of a switch");
                    return None;
                }
                Some(port)
            }
            Kind::Noise
            | Kind::Flip
            | Kind::OpenWire
            | Kind::Cut
            | Kind::LoseGap
            | Kind::ForwardReset
            | Kind::BackwardReset
            | Kind::Probe => self.map.cabled_port(text),
        }
    }

    fn is_switch(&self, port: Port) -> bool {
        let kind = self.map.topology.node(port.node).map(|node| node.kind);
        matches!(kind, Some(NodeKind::Switch(_)))
    }
}

impl Kind {
    /// Whether it can be mended after a time.
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

    /// What its value must be.
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

impl What {
    const fn at(self, port: Port) -> Break {
        match self {
            Self::Noise(errors, mean) => Break::Noise { channel: port, errors, mean },
            Self::Flip(bits) => Break::Flip { channel: port, bits },
            Self::OpenWire(wire) => Break::OpenWire { channel: port, wire },
            Self::Cut => Break::Cut { port },
            Self::LoseGap => Break::LoseGap { channel: port },
            Self::ForwardReset => Break::ForwardReset { port },
            Self::BackwardReset => Break::BackwardReset { port },
            Self::Probe(number) => Break::Probe { port, number },
            Self::PowerOff => Break::PowerOff { node: port.node },
            Self::DeadPort => Break::DeadPort { port },
            Self::Consume(how) => Break::Consume { host: port.node, how },
            Self::Restart => Break::Restart { host: port.node },
        }
    }
}

/// What else is said of a kind.
fn what(table: &mut Table<'_>, kind: Kind) -> Option<What> {
    Some(match kind {
        Kind::Noise => {
            let errors = match table.item("errors") {
                Some(item) => item.word(&ERRORS),
                None => Some(Errors::Weaken),
            };
            let mean = table.needed("mean_characters");
            What::Noise(errors?, mean?.integer(1..=DURATION_MAX)?)
        }
        Kind::Flip => What::Flip(table.needed("bits")?.integer(1..=0x1ff)?),
        Kind::OpenWire => What::OpenWire(table.needed("wire")?.integer(0..=8)?),
        Kind::Cut => What::Cut,
        Kind::LoseGap => What::LoseGap,
        Kind::ForwardReset => What::ForwardReset,
        Kind::BackwardReset => What::BackwardReset,
        Kind::Probe => {
            let number = table.item("number").map_or(Some(0), |item| item.integer(0..=7));
            What::Probe(ProbeNumber::new(number?)?)
        }
        Kind::PowerOff => What::PowerOff,
        Kind::DeadPort => What::DeadPort,
        Kind::Consume => What::Consume(parameters::consumption(&table.needed("how")?)?),
        Kind::Restart => What::Restart,
    })
}

/// Writes faults, each at its time.
pub(super) fn write(page: &mut Page, faults: &[Fault], names: Names<'_>) {
    for fault in faults {
        let mut keys = Keys::default();
        keys.value("at_periods", fault.at);
        write_what(&mut keys, fault.what, names);
        if let Some(until) = fault.until {
            keys.value("for_periods", until.saturating_sub(fault.at));
        }
        page.element("fault", &keys);
    }
}

fn write_what(keys: &mut Keys, what: Break, names: Names<'_>) {
    match what {
        Break::Noise { channel, errors, mean } => {
            keys.text("noise", &names.port(channel));
            keys.text("errors", word_of(&ERRORS, errors));
            keys.value("mean_characters", mean);
        }
        Break::Flip { channel, bits } => {
            keys.text("flip", &names.port(channel));
            keys.value("bits", format!("0b{bits:09b}"));
        }
        Break::OpenWire { channel, wire } => {
            keys.text("open_wire", &names.port(channel));
            keys.value("wire", wire);
        }
        Break::Cut { port } => keys.text("cut", &names.port(port)),
        Break::LoseGap { channel } => keys.text("lose_gap", &names.port(channel)),
        Break::ForwardReset { port } => keys.text("forward_reset", &names.port(port)),
        Break::BackwardReset { port } => keys.text("backward_reset", &names.port(port)),
        Break::Probe { port, number } => {
            keys.text("probe", &names.port(port));
            keys.value("number", number.value());
        }
        Break::PowerOff { node } => keys.text("power_off", names.node(node)),
        Break::DeadPort { port } => keys.text("dead_port", &names.port(port)),
        Break::Consume { host, how } => {
            keys.text("consume", names.node(host));
            parameters::write_consumption(keys, "how", how);
        }
        Break::Restart { host } => keys.text("restart", names.node(host)),
    }
}

#[cfg(test)]
mod tests {
    use crate::scenario::Scenario;

    /// Without a duration the longest one counts: 2⁴⁰ periods, in which random faults that had
    /// nowhere to happen were drawn one by one.
    #[test]
    fn faults_with_nowhere_to_happen_are_not_drawn() {
        let text = "[[fault]]\nevery_periods = 1\ncut = \"any\"\nfor_periods = 5\n";
        let error = Scenario::read("net.toml", text).unwrap_err();
        assert!(error.to_string().contains("duration_us"), "{error}");
    }
}
