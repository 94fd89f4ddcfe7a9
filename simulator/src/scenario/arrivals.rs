//! Packet sizes and arrival processes.

use std::num::NonZeroU32;
use std::ops::RangeInclusive;

use codec::time::Ticks;

use super::limits::{BURST_MAX, DURATION_MAX, PAYLOAD_MAX};
use super::names::NameLookup;
use super::toml_reader::{NANO, TomlItem, TomlTable};
use crate::topology::{NodeId, Topology};
use crate::traffic::{ArrivalProcess, PayloadSize};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ArrivalLaw {
    Every(ArrivalSpacing, u64),
    /// Share of the host's link, in 10⁻⁹.
    Load(ArrivalSpacing, u128),
    Saturating,
    /// Window of unanswered packets, and think time after an answer in periods.
    Closed(NonZeroU32, u64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ArrivalSpacing {
    Constant,
    Poisson,
    Bursts(NonZeroU32),
}

impl ArrivalSpacing {
    pub(super) const fn packets_together(self) -> u32 {
        match self {
            Self::Constant | Self::Poisson => 1,
            Self::Bursts(count) => count.get(),
        }
    }

    pub(super) const fn arrivals(self, periods: u64) -> ArrivalProcess {
        match self {
            Self::Constant => ArrivalProcess::Constant(Ticks(periods)),
            Self::Poisson => ArrivalProcess::Poisson(Ticks(periods)),
            Self::Bursts(count) => ArrivalProcess::Bursts(count, Ticks(periods)),
        }
    }
}

impl ArrivalLaw {
    /// Arrival process of a host's packets, of `chars` characters in the mean (in 65 536ths).
    pub(super) fn process(
        self,
        topology: &Topology,
        from: NodeId,
        chars: impl FnOnce() -> u128,
    ) -> ArrivalProcess {
        match self {
            Self::Every(spacing, periods) => spacing.arrivals(periods),
            Self::Load(spacing, nanos) => {
                let link = topology.link(NameLookup::host_port(from));
                let divisor = link.map_or(NonZeroU32::MIN, |link| link.ports[0].divisor);
                let together = u128::from(spacing.packets_together());
                let scaled = chars() * u128::from(divisor.get()) * together;
                let mean = (scaled * NANO).div_ceil(nanos.max(1) * 65_536);
                spacing.arrivals(u64::try_from(mean).unwrap_or(u64::MAX))
            }
            Self::Saturating => ArrivalProcess::Saturating,
            Self::Closed(window, think) => ArrivalProcess::Closed(window, Ticks(think)),
        }
    }
}

pub(super) fn read(table: &mut TomlTable<'_>) -> Option<ArrivalLaw> {
    let every = table.time("every", 1..=DURATION_MAX);
    let load = table.item("load");
    let saturate = table.item("saturate");
    let window = table.item("window");
    let items = [&load, &saturate, &window].into_iter().flatten().map(|item| &item.span);
    let given: Vec<_> = every.iter().map(|every| &every.span).chain(items).cloned().collect();
    let mut given = given.into_iter();
    let first = given.next();
    if let Some(second) = given.next() {
        let expected = "expected one of `every_us`, `load`, `saturate` and `window`";
        table.report_at(&second, "two arrival processes".to_owned(), expected);
        // What belongs to either is not unknown.
        let _ = ["law", "burst", "think_us", "think_periods"].map(|key| table.item(key));
        return None;
    }
    if table.has_time("every") {
        let spacing = spacing(table, ArrivalSpacing::Constant);
        return Some(ArrivalLaw::Every(spacing?, every?.periods));
    }
    if let Some(load) = load {
        let spacing = spacing(table, ArrivalSpacing::Poisson);
        return share(&load).and_then(|nanos| Some(ArrivalLaw::Load(spacing?, nanos)));
    }
    if let Some(window) = window {
        let think = table.time("think", 0..=DURATION_MAX);
        let window = NonZeroU32::new(window.integer(1..=BURST_MAX)?)?;
        return Some(ArrivalLaw::Closed(window, think.map_or(0, |think| think.periods)));
    }
    let Some(saturate) = saturate else {
        if first.is_none() {
            table.missing("expected one of `every_us`, `load`, `saturate` and `window`");
        }
        return None;
    };
    let truth = saturate.boolean()?;
    if !truth {
        saturate.report("expected `true`, or another arrival process".to_owned());
    }
    truth.then_some(ArrivalLaw::Saturating)
}

fn spacing(table: &mut TomlTable<'_>, default: ArrivalSpacing) -> Option<ArrivalSpacing> {
    let law = table.item("law");
    let burst = table.item("burst");
    match (law, burst) {
        (Some(_), Some(burst)) => {
            burst.report("expected `law` or `burst`, not both".to_owned());
            None
        }
        (Some(law), None) => law
            .word(&[("constant", ArrivalSpacing::Constant), ("poisson", ArrivalSpacing::Poisson)]),
        (None, Some(burst)) => {
            NonZeroU32::new(burst.integer(1..=BURST_MAX)?).map(ArrivalSpacing::Bursts)
        }
        (None, None) => Some(default),
    }
}

/// Positive share, in 10⁻⁹.
fn share(item: &TomlItem<'_>) -> Option<u128> {
    let nanos = item.as_nanos().filter(|nanos| (1_000..=NANO).contains(nanos));
    if nanos.is_none() {
        item.report("expected a share from 0.000001 to 1, nine decimals at most".to_owned());
    }
    nanos
}

pub(super) fn payload(table: &mut TomlTable<'_>) -> Option<PayloadSize> {
    size(&table.needed("payload")?, 0..=PAYLOAD_MAX, BYTES)
}

pub(super) const BYTES: &str =
    "bytes, like `1024`, `[64, 1024]` or `{ small = 16, large = 1024, large_share = 0.1 }`";

/// Size distribution within limits: a number, a range, or small and large sizes. `like` is the
/// expected form in error messages.
pub(super) fn size(
    item: &TomlItem<'_>,
    limits: RangeInclusive<u64>,
    like: &str,
) -> Option<PayloadSize> {
    if let Some(mut table) = item.as_table() {
        let mut size = |key| table.needed(key)?.integer(limits.clone());
        let (small, large) = (size("small"), size("large"));
        let nanos = table.needed("large_share").and_then(|item| share(&item));
        table.finish();
        // The share of all packets, 1, is one in 65 536 less.
        let share = u16::try_from((nanos? * 65_536 + NANO / 2) / NANO).unwrap_or(u16::MAX);
        return Some(PayloadSize::Bimodal { small: small?, large: large?, share });
    }
    if item.as_integer().is_some() {
        return item.integer(limits).map(PayloadSize::Fixed);
    }
    let list = item.as_list().unwrap_or_default();
    let [least, most] = list.as_slice() else {
        item.report(format!("expected {like}"));
        return None;
    };
    let (least, last): (u32, u32) = (least.integer(limits.clone())?, most.integer(limits)?);
    if least > last {
        most.report(format!("expected {least} or more"));
        return None;
    }
    Some(PayloadSize::Uniform(least, last))
}

/// Mean size, in 65 536ths of a byte.
pub(super) fn mean_payload(size: PayloadSize) -> u128 {
    match size {
        PayloadSize::Fixed(bytes) => u128::from(bytes) * 65_536,
        PayloadSize::Uniform(least, most) => (u128::from(least) + u128::from(most)) * 32_768,
        PayloadSize::Bimodal { small, large, share } => {
            let share = u128::from(share);
            u128::from(small) * (65_536 - share) + u128::from(large) * share
        }
    }
}

pub(super) fn largest(size: PayloadSize) -> u32 {
    match size {
        PayloadSize::Fixed(bytes) => bytes,
        PayloadSize::Uniform(a, b) | PayloadSize::Bimodal { small: a, large: b, .. } => a.max(b),
    }
}

pub(super) fn converted(size: PayloadSize, unit: impl Fn(u32) -> u32) -> PayloadSize {
    match size {
        PayloadSize::Fixed(size) => PayloadSize::Fixed(unit(size)),
        PayloadSize::Uniform(least, most) => PayloadSize::Uniform(unit(least), unit(most)),
        PayloadSize::Bimodal { small, large, share } => {
            PayloadSize::Bimodal { small: unit(small), large: unit(large), share }
        }
    }
}
