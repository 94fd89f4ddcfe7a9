//! Keys of links, switches and interfaces.

use std::num::NonZeroU32;

use codec::route::RouteAddressing;
use codec::time::{FULL_RATE_PERIOD_PS, Ticks};

use super::limits::{
    BLOCKED_MAX, COMMANDS_MAX, CONSUMPTION_MAX, DELAY_MAX, DIVISOR_MAX, DURATION_MAX, LATENCY_MAX,
    MEMORY_MAX, SLACK_MAX,
};
use super::toml_reader::{NANO, TimeUnit, TomlItem, TomlTable};
use super::write::{TomlKeys, word_of};
use crate::interface::{ConsumptionMode, DmaBus, InterfaceParameters};
use crate::link::{
    DELAY_PS_PER_M, FillMode, FramingMode, LinkParameters, PortParameters, ResetEnding, SlackSize,
    SymbolSet,
};
use crate::topology::{ExtensionSupport, SWITCH_PORTS_MAX, SwitchParameters};

const SYMBOLS: [(&str, SymbolSet); 2] =
    [("mandatory", SymbolSet::Mandatory), ("all", SymbolSet::All)];

const ADDRESSING: [(&str, RouteAddressing); 2] =
    [("relative", RouteAddressing::Relative), ("absolute", RouteAddressing::Absolute)];

const BUSES: [(&str, DmaBus); 2] = [("ideal", DmaBus::Ideal), ("sbus", DmaBus::SBus)];

const APPETITES: [(&str, ConsumptionMode); 3] = [
    ("always", ConsumptionMode::Always),
    ("never", ConsumptionMode::Never),
    ("adversary", ConsumptionMode::Adversary),
];

/// Port parameters given in a table.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PortKeys {
    divisor: Option<NonZeroU32>,
    go_slack: Option<u32>,
    hysteresis: Option<u32>,
    stop_slack: Option<u32>,
    generation: Option<u8>,
    interpretation: Option<u8>,
    blocked: Option<(u64, TimeUnit)>,
    symbols: Option<SymbolSet>,
    replies: Option<bool>,
    reset: Option<ResetEnding>,
    fill: Option<FillMode>,
    framing: Option<FramingMode>,
}

impl PortKeys {
    pub(super) fn read(table: &mut TomlTable<'_>) -> Self {
        let blocked = table.time(["blocked_us", "blocked_periods"], 1..=BLOCKED_MAX);
        Self {
            divisor: table.integer("rate_divisor", 1..=DIVISOR_MAX).and_then(NonZeroU32::new),
            go_slack: table.integer("go_slack", 0..=SLACK_MAX),
            hysteresis: table.integer("hysteresis", 1..=SLACK_MAX),
            stop_slack: table.integer("stop_slack", 0..=SLACK_MAX),
            generation: table.integer("generation_periods", 0..=LATENCY_MAX),
            interpretation: table.integer("interpretation_periods", 0..=LATENCY_MAX),
            blocked: blocked.map(|time| (time.periods, time.unit)),
            symbols: table.word("symbols", &SYMBOLS),
            replies: table.item("replies").and_then(|item| item.boolean()),
            reset: table.word("reset", &ResetEnding::WORDS),
            fill: table.word("fill", &FillMode::WORDS),
            framing: table.word("framing", &FramingMode::WORDS),
        }
    }

    /// Overrides the parameters of a port.
    pub(super) fn over(&self, base: PortParameters) -> PortParameters {
        let divisor = self.divisor.unwrap_or(base.divisor);
        // The timeout counts the port's own periods.
        let blocked = self.blocked.map(|(periods, unit)| match unit {
            TimeUnit::Microseconds => Ticks((periods / u64::from(divisor.get())).max(1)),
            TimeUnit::Periods => Ticks(periods),
        });
        PortParameters {
            divisor,
            slack: SlackSize {
                go_slack: self.go_slack.unwrap_or(base.slack.go_slack),
                hysteresis: self.hysteresis.unwrap_or(base.slack.hysteresis),
                stop_slack: self.stop_slack.unwrap_or(base.slack.stop_slack),
            },
            generation: self.generation.unwrap_or(base.generation),
            interpretation: self.interpretation.unwrap_or(base.interpretation),
            blocked: blocked.unwrap_or(base.blocked),
            symbols: self.symbols.unwrap_or(base.symbols),
            replies: self.replies.unwrap_or(base.replies),
            reset: self.reset.unwrap_or(base.reset),
            fill: self.fill.unwrap_or(base.fill),
            framing: self.framing.unwrap_or(base.framing),
        }
    }
}

/// Link parameters given in a table: delay, and parameters of both ends or of one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LinkKeys {
    delay: Option<Ticks>,
    both: PortKeys,
    ends: [PortKeys; 2],
}

impl LinkKeys {
    /// Reads the table of a cable, or of a host with its cable.
    pub(super) fn read(table: &mut TomlTable<'_>) -> Self {
        let ends = ["a", "b"].map(|end| {
            let Some(mut table) = table.table(end) else { return PortKeys::default() };
            let keys = PortKeys::read(&mut table);
            table.finish();
            keys
        });
        Self { delay: delay(table), both: PortKeys::read(table), ends }
    }

    /// Overrides the parameters of a link.
    pub(super) fn over(&self, base: LinkParameters) -> LinkParameters {
        let [a, b] = base.ports.map(|port| self.both.over(port));
        let [own, other] = &self.ends;
        let ports = [own.over(a), other.over(b)];
        LinkParameters { delay: self.delay.unwrap_or(base.delay), ports }
    }
}

/// Reads `[link]`. F-4
pub(super) fn link(table: &mut TomlTable<'_>) -> LinkParameters {
    let keys = LinkKeys { delay: delay(table), both: PortKeys::read(table), ..Default::default() };
    keys.over(LinkParameters::default())
}

pub(super) fn write_link(keys: &mut TomlKeys, link: LinkParameters, base: LinkParameters) {
    keys.differing("delay_periods", link.delay.0, base.delay.0);
    let [a, b] = link.ports;
    let [base_a, base_b] = base.ports;
    if a == b && base_a == base_b {
        write_port(keys, a, base_a);
        return;
    }
    for (end, port, base) in [("a", a, base_a), ("b", b, base_b)] {
        let mut own = TomlKeys::default();
        write_port(&mut own, port, base);
        if !own.is_empty() {
            keys.value(end, own.inline());
        }
    }
}

fn write_port(keys: &mut TomlKeys, port: PortParameters, base: PortParameters) {
    let (slack, other) = (port.slack, base.slack);
    keys.differing("rate_divisor", port.divisor, base.divisor);
    keys.differing("go_slack", slack.go_slack, other.go_slack);
    keys.differing("hysteresis", slack.hysteresis, other.hysteresis);
    keys.differing("stop_slack", slack.stop_slack, other.stop_slack);
    keys.differing("generation_periods", port.generation, base.generation);
    keys.differing("interpretation_periods", port.interpretation, base.interpretation);
    keys.differing("blocked_periods", port.blocked.0, base.blocked.0);
    keys.word("symbols", &SYMBOLS, port.symbols, base.symbols);
    keys.differing("replies", port.replies, base.replies);
    keys.word("reset", &ResetEnding::WORDS, port.reset, base.reset);
    keys.word("fill", &FillMode::WORDS, port.fill, base.fill);
    keys.word("framing", &FramingMode::WORDS, port.framing, base.framing);
}

fn delay(table: &mut TomlTable<'_>) -> Option<Ticks> {
    let length = table.item("length_m");
    match (length, table.time(["delay_us", "delay_periods"], 1..=DELAY_MAX)) {
        (Some(length), Some(_)) => {
            length.report("expected a length or a delay, not both".to_owned());
            None
        }
        (Some(length), None) => {
            let delay = length.as_nanos().and_then(delay_of_nanometres);
            if delay.is_none() {
                let metres = DELAY_MAX * u64::from(FULL_RATE_PERIOD_PS) / DELAY_PS_PER_M;
                length.report(format!("expected a length from 0 to {metres} m"));
            }
            delay
        }
        (None, delay) => delay.map(|delay| Ticks(delay.periods)),
    }
}

/// Delay of a length in nanometres, as [`crate::link::delay_of_metres`].
fn delay_of_nanometres(nanometres: u128) -> Option<Ticks> {
    let period = NANO * u128::from(FULL_RATE_PERIOD_PS);
    let periods = nanometres.checked_mul(DELAY_PS_PER_M.into())?.div_ceil(period).max(1);
    u64::try_from(periods).ok().filter(|periods| *periods <= DELAY_MAX).map(Ticks)
}

pub(super) fn switch(table: &mut TomlTable<'_>, base: SwitchParameters) -> SwitchParameters {
    let mut short = |keys| {
        let time = table.time(keys, 0..=u8::MAX.into())?;
        u8::try_from(time.periods).ok()
    };
    let routing = short(["routing_us", "routing_periods"]).unwrap_or(base.routing);
    let token_step = short(["token_step_us", "token_step_periods"]).unwrap_or(base.token_step);
    SwitchParameters {
        ports: table.integer("ports", 1..=SWITCH_PORTS_MAX.into()).unwrap_or(base.ports),
        addressing: table.word("addressing", &ADDRESSING).unwrap_or(base.addressing),
        routing,
        token_step,
        extensions: match table.item("extensions").and_then(|item| item.boolean()) {
            Some(true) => ExtensionSupport::On,
            Some(false) => ExtensionSupport::Off,
            None => base.extensions,
        },
    }
}

pub(super) fn write_switch(keys: &mut TomlKeys, switch: SwitchParameters, base: SwitchParameters) {
    keys.differing("ports", switch.ports, base.ports);
    keys.word("addressing", &ADDRESSING, switch.addressing, base.addressing);
    keys.differing("routing_periods", switch.routing, base.routing);
    keys.differing("token_step_periods", switch.token_step, base.token_step);
    let [on, other] = [switch, base].map(|switch| switch.extensions == ExtensionSupport::On);
    keys.differing("extensions", on, other);
}

pub(super) fn interface(
    table: &mut TomlTable<'_>,
    base: InterfaceParameters,
) -> InterfaceParameters {
    let mut memory = |key| table.integer(key, 0..=MEMORY_MAX);
    let send_memory = memory("send_memory").unwrap_or(base.send_memory);
    let receive_memory = memory("receive_memory").unwrap_or(base.receive_memory);
    let boot = table.time(["boot_us", "boot_periods"], 0..=DURATION_MAX);
    InterfaceParameters {
        bus: table.word("bus", &BUSES).unwrap_or(base.bus),
        send_memory,
        receive_memory,
        consumption: table
            .item("consumption")
            .and_then(|item| consumption(&item))
            .unwrap_or(base.consumption),
        boot: boot.map_or(base.boot, |boot| Ticks(boot.periods)),
        commands: table.integer("commands", 1..=COMMANDS_MAX).unwrap_or(base.commands),
    }
}

pub(super) fn write_interface(
    keys: &mut TomlKeys,
    interface: InterfaceParameters,
    base: InterfaceParameters,
) {
    keys.word("bus", &BUSES, interface.bus, base.bus);
    keys.differing("send_memory", interface.send_memory, base.send_memory);
    keys.differing("receive_memory", interface.receive_memory, base.receive_memory);
    if interface.consumption != base.consumption {
        write_consumption(keys, "consumption", interface.consumption);
    }
    keys.differing("boot_periods", interface.boot.0, base.boot.0);
    keys.differing("commands", interface.commands, base.commands);
}

/// Reads a word, or a number of periods per character. I-4
pub(super) fn consumption(item: &TomlItem<'_>) -> Option<ConsumptionMode> {
    if item.as_text().is_some() {
        return item.word(&APPETITES);
    }
    let every = item
        .as_integer()
        .filter(|every| *every <= CONSUMPTION_MAX)
        .and_then(|every| NonZeroU32::new(u32::try_from(every).ok()?));
    if every.is_none() {
        item.report(format!(
            "expected `always`, `never`, `adversary`, or one character in 1 to {CONSUMPTION_MAX} \
             periods"
        ));
    }
    every.map(ConsumptionMode::Every)
}

pub(super) fn write_consumption(
    keys: &mut TomlKeys,
    key: &'static str,
    consumption: ConsumptionMode,
) {
    match consumption {
        ConsumptionMode::Every(periods) => keys.value(key, periods),
        ConsumptionMode::Always | ConsumptionMode::Never | ConsumptionMode::Adversary => {
            keys.text(key, word_of(&APPETITES, consumption));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::delay_of_metres;

    #[test]
    fn whole_metres_take_as_long_as_a_link_says() {
        for metres in [0, 1, 2, 3, 10, 25, 1_000, 2_000_000] {
            let delay = delay_of_nanometres(u128::from(metres) * NANO);
            assert_eq!(delay, Some(delay_of_metres(metres)));
        }
        // 2.5 m: 14 ns, 1.12 periods.
        assert_eq!(delay_of_nanometres(2_500_000_000), Some(Ticks(2)));
        assert_eq!(delay_of_nanometres(u128::MAX), None);
    }
}
