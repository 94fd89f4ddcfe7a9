//! Keys of ports, switches and interfaces.

use std::num::NonZeroU32;

use codec::route::RouteAddressing;
use codec::time::Ticks;

use super::cables::ProfileFormat;
use super::extension_format::ExtensionFormat;
use super::keys::{
    AnyKey, BoolPair, FieldKey, IntRange, KeyFormat, KeyList, ScenarioUse, SectionKey, TimeRange,
    WithKey, WordList, key,
};
use super::limits::{
    BLOCKED_MAX, COMMANDS_MAX, CONSUMPTION_MAX, DIVISOR_MAX, DURATION_MAX, LATENCY_MAX, MEMORY_MAX,
    MTU_MIN, PART_MAX, SLACK_MAX,
};
use super::toml_reader::{TimeUnit, TomlItem, TomlTable};
use crate::clock::{CLOCK_TOLERANCE_PPM, NodeClock};
use crate::interface::{
    ConsumptionMode, CopyPath, DmaBus, InterfaceParameters as Interface, RelayPolicy, SoftwarePath,
};
use crate::link::shared_line::PassageMode;
use crate::link::{FillMode, FramingMode, PortParameters as Port, ResetEnding, SymbolSet};
use crate::messaging::BusMode;
#[cfg(test)]
use crate::rng::Rng;
use crate::topology::{
    ArbitrationPolicy, ForwardingMode, SWITCH_PORTS_MAX, SwitchParameters as Switch,
};
use crate::traffic::SignalMode;

const ADDRESSING: [(&str, RouteAddressing); 2] =
    [("relative", RouteAddressing::Relative), ("absolute", RouteAddressing::Absolute)];

const BUSES: [(&str, DmaBus); 4] = [
    ("ideal", DmaBus::Ideal),
    ("sbus", DmaBus::SBus),
    ("streaming", DmaBus::Mode(BusMode::Streaming)),
    ("consistent", DmaBus::Mode(BusMode::Consistent)),
];

const STACKS: [(&str, CopyPath); 2] =
    [("zero-copy", CopyPath::ZeroCopy), ("one-copy", CopyPath::OneCopy)];

const RELAYS: [(&str, RelayPolicy); 2] = [("wait", RelayPolicy::Wait), ("drop", RelayPolicy::Drop)];
const PATHS: [(&str, SoftwarePath); 2] =
    [("kernel", SoftwarePath::Kernel), ("api", SoftwarePath::Api)];

const SIGNALS: [(&str, SignalMode); 2] =
    [("poll", SignalMode::Poll), ("interrupt", SignalMode::Interrupt)];

/// F-1, F-3, F-4, F-8, R-1, R-4, R-6, C-7
pub(super) const PORT: &KeyList<Port> = &[
    key!(Port, "rate_divisor", IntRange(1..=DIVISOR_MAX), divisor),
    key!(Port, "go_slack", IntRange(0..=SLACK_MAX), slack.go_slack),
    key!(Port, "hysteresis", IntRange(1..=SLACK_MAX), slack.hysteresis),
    key!(Port, "stop_slack", IntRange(0..=SLACK_MAX), slack.stop_slack),
    key!(Port, "generation_periods", LATENCY, generation),
    key!(Port, "interpretation_periods", LATENCY, interpretation),
    &BlockedKey(TimeUnit::Periods),
    key!(Port, "symbols", WordList(&SymbolSet::WORDS), symbols),
    &WithKey(key!(Port, "replies", BoolPair([false, true]), replies), |port, _| {
        port.symbols == SymbolSet::All
    }),
    key!(Port, "reset", WordList(&ResetEnding::WORDS), reset),
    key!(Port, "fill", WordList(&FillMode::WORDS), fill),
    key!(Port, "framing", WordList(&FramingMode::WORDS), framing),
    key!(Port, "profile", ProfileFormat, profile),
    &WithKey(key!(Port, "dateline", BoolPair(PASSAGES), passage), |port, _| port.profile.is_some()),
];

const PASSAGES: [PassageMode; 2] = [PassageMode::Same, PassageMode::Next];

const LATENCY: IntRange = IntRange(0..=LATENCY_MAX);

/// S-1, S-5, S-6, S-8
pub(super) const SWITCH: &KeyList<Switch> = &[
    &ModelKey,
    key!(Switch, "ports", IntRange(1..=SWITCH_PORTS_MAX as u64), ports),
    key!(Switch, "addressing", WordList(&ADDRESSING), addressing),
    key!(Switch, "routing", TimeRange(0..=u8::MAX as u64), routing),
    key!(Switch, "token_step", TimeRange(0..=u8::MAX as u64), token_step),
    key!(Switch, "arbitration", WordList(ArbitrationPolicy::WORDS), arbitration),
    key!(Switch, "extensions", ExtensionFormat, extensions),
    key!(Switch, "clock_ppm", ClockFormat, clock),
    key!(Switch, "forwarding", WordList(&ForwardingMode::WORDS), forwarding),
    key!(Switch, "supplies", IntRange(1..=2), supplies),
];

/// Products and their ports. All of them are relative. S-10 (§3.2)
const MODELS: [(&str, u8); 3] = [("M2-SW8A", 8), ("M2F-SW8", 8), ("M2F-SW4", 4)];

/// The name of a product, in place of the keys that it decides.
struct ModelKey;

impl SectionKey<Switch> for ModelKey {
    fn read(&'static self, table: &mut TomlTable<'_>, to: &mut Switch) -> Option<AnyKey<Switch>> {
        let ports = table.word("model", &MODELS)?;
        for key in ["ports", "addressing"] {
            if let Some(item) = table.item(key) {
                item.report("expected no such key: the model decides it".to_owned());
            }
        }
        (to.ports, to.addressing) = (ports, RouteAddressing::Relative);
        Some(self)
    }

    fn copy(&self, from: Switch, to: &mut Switch) {
        (to.ports, to.addressing) = (from.ports, from.addressing);
    }

    fn decides(&self) -> &[&'static str] {
        &["ports", "addressing"]
    }

    /// None, since it excludes others.
    #[cfg(test)]
    fn any(&self, _: &mut Rng) -> (String, String) {
        (String::new(), String::new())
    }
}

/// System calls and drivers are those of the kernel's path. H-1
const KERNEL: fn(Interface, &ScenarioUse) -> bool = |it, _| it.host.path == SoftwarePath::Kernel;

/// I-3, I-4, I-5, I-6
pub(super) const INTERFACE: &KeyList<Interface> = &[
    key!(Interface, "bus", WordList(&BUSES), bus),
    key!(Interface, "memory", IntRange(0..=MEMORY_MAX), memory),
    key!(Interface, "program", IntRange(0..=PART_MAX), program),
    key!(Interface, "send_memory", IntRange(0..=PART_MAX), send_memory),
    key!(Interface, "receive_memory", IntRange(0..=PART_MAX), receive_memory),
    key!(Interface, "consumption", ConsumptionFormat, consumption),
    key!(Interface, "boot", TimeRange(0..=DURATION_MAX), boot),
    key!(Interface, "commands", IntRange(1..=COMMANDS_MAX), commands),
    key!(Interface, "command", TimeRange(0..=DURATION_MAX), costs.command),
    key!(Interface, "packet", TimeRange(0..=DURATION_MAX), costs.packet),
    &WithKey(
        key!(Interface, "interrupt", TimeRange(0..=DURATION_MAX), host.interrupt),
        |it, scope| scope.interrupts || it.host.arrivals == SignalMode::Interrupt,
    ),
    &WithKey(
        key!(Interface, "checksum", TimeRange(0..=DURATION_MAX), host.checksum),
        |_, scope| scope.checksums,
    ),
    key!(Interface, "arrivals", WordList(&SIGNALS), host.arrivals),
    &WithKey(key!(Interface, "system_call", TimeRange(0..=DURATION_MAX), host.system_call), KERNEL),
    &WithKey(key!(Interface, "driver", TimeRange(0..=DURATION_MAX), host.driver), KERNEL),
    &WithKey(key!(Interface, "copy", TimeRange(0..=DURATION_MAX), host.copy), |it, _| {
        it.host.stack == CopyPath::OneCopy
    }),
    key!(Interface, "stack", WordList(&STACKS), host.stack),
    key!(Interface, "path", WordList(&PATHS), host.path),
    &WithKey(key!(Interface, "multicast", WordList(&RELAYS), relay), |_, scope| scope.multicast),
    &WithKey(key!(Interface, "mtu", IntRange(MTU_MIN..=u16::MAX as u64), mtu), |_, scope| scope.ip),
    &WithKey(key!(Interface, "mapping", TimeRange(0..=DURATION_MAX), costs.mapping), |_, scope| {
        scope.mapping
    }),
    key!(Interface, "clock_ppm", ClockFormat, clock),
];

/// Blocked-packet timeout, which counts the port's own periods: microseconds are divided by the
/// port's final divisor.
struct BlockedKey(TimeUnit);

impl SectionKey<Port> for BlockedKey {
    fn read(&'static self, table: &mut TomlTable<'_>, to: &mut Port) -> Option<AnyKey<Port>> {
        let time = table.time("blocked", 1..=BLOCKED_MAX)?;
        to.blocked = Ticks(time.periods);
        Some(match time.unit {
            TimeUnit::Microseconds => &Self(TimeUnit::Microseconds),
            TimeUnit::Periods => self,
        })
    }

    fn copy(&self, from: Port, to: &mut Port) {
        to.blocked = match self.0 {
            TimeUnit::Microseconds => Ticks((from.blocked.0 / u64::from(to.divisor.get())).max(1)),
            TimeUnit::Periods => from.blocked,
        };
    }

    fn decides(&self) -> &[&'static str] {
        &["blocked"]
    }

    #[cfg(test)]
    fn any(&self, rng: &mut Rng) -> (String, String) {
        let unit = if rng.below(2) == 0 { "us" } else { "periods" };
        (format!("blocked_{unit}"), rng.between(1, BLOCKED_MAX / 80).to_string())
    }
}

/// A word, or a number of periods per character. I-4
pub(super) struct ConsumptionFormat;

impl KeyFormat<ConsumptionMode> for ConsumptionFormat {
    fn read(&self, table: &mut TomlTable<'_>, name: &'static str) -> Option<ConsumptionMode> {
        consumption(&table.item(name)?)
    }

    #[cfg(test)]
    fn any(&self, name: &str, rng: &mut Rng) -> (String, String) {
        let every = rng.between(1, CONSUMPTION_MAX);
        if every.is_multiple_of(2) {
            return (name.to_owned(), every.to_string());
        }
        WordList(&ConsumptionMode::WORDS).any(name, rng)
    }
}

pub(super) fn consumption(item: &TomlItem<'_>) -> Option<ConsumptionMode> {
    if item.as_text().is_some() {
        return item.word(&ConsumptionMode::WORDS);
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

/// Parts per million, or any of them. W-6
struct ClockFormat;

impl KeyFormat<NodeClock> for ClockFormat {
    fn read(&self, table: &mut TomlTable<'_>, name: &'static str) -> Option<NodeClock> {
        let item = table.item(name)?;
        let random = item.as_text().is_some_and(|word| word.text == "random");
        let ppm = item.as_signed().and_then(|ppm| i16::try_from(ppm).ok());
        let ppm = ppm.filter(|ppm| ppm.abs() <= CLOCK_TOLERANCE_PPM).map(NodeClock::Ppm);
        let clock = ppm.or(random.then_some(NodeClock::Random));
        if clock.is_none() {
            item.report(format!(
                "expected `random`, or parts per million from -{CLOCK_TOLERANCE_PPM} to \
                 {CLOCK_TOLERANCE_PPM}, the tolerance of an oscillator"
            ));
        }
        clock
    }

    #[cfg(test)]
    fn any(&self, name: &str, rng: &mut Rng) -> (String, String) {
        let most = i64::from(CLOCK_TOLERANCE_PPM);
        let ppm = i64::try_from(rng.below(220)).unwrap() - 110;
        let value = if ppm.abs() > most { "'random'".to_owned() } else { ppm.to_string() };
        (name.to_owned(), value)
    }
}
