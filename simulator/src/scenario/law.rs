//! How large packets are, and when they come.

use std::num::NonZeroU32;
use std::ops::RangeInclusive;

use codec::tick::Ticks;

use super::limits::{BURST_MAX, DURATION_MAX, PAYLOAD_MAX};
use super::table::{Item, NANO, Table};
use super::write::Keys;
use crate::traffic::{Arrivals, Size};

/// When packets come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Law {
    /// So many periods apart.
    Every(Spacing, u64),
    /// So as to take this share of the host's link, in 10⁻⁹.
    Load(Spacing, u128),
    /// As many as the link takes.
    Saturating,
    /// So many not answered, the next so many periods after an answer.
    Closed(NonZeroU32, u64),
}

/// How packets are spaced around the mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spacing {
    Constant,
    Poisson,
    Bursts(NonZeroU32),
}

impl Spacing {
    /// Packets that come together.
    pub(super) const fn together(self) -> u32 {
        match self {
            Self::Constant | Self::Poisson => 1,
            Self::Bursts(count) => count.get(),
        }
    }

    pub(super) const fn arrivals(self, periods: u64) -> Arrivals {
        match self {
            Self::Constant => Arrivals::Constant(Ticks(periods)),
            Self::Poisson => Arrivals::Poisson(Ticks(periods)),
            Self::Bursts(count) => Arrivals::Bursts(count, Ticks(periods)),
        }
    }
}

/// The keys that say when: one law, and what belongs to it.
pub(super) fn read(table: &mut Table<'_>) -> Option<Law> {
    let every = table.time(["every_us", "every_periods"], 1..=DURATION_MAX);
    let load = table.item("load");
    let saturate = table.item("saturate");
    let window = table.item("window");
    let spans = [
        every.as_ref().map(|every| every.span.clone()),
        load.as_ref().map(|load| load.span.clone()),
        saturate.as_ref().map(|saturate| saturate.span.clone()),
        window.as_ref().map(|window| window.span.clone()),
    ];
    let mut given = spans.into_iter().flatten();
    let first = given.next();
    if let Some(second) = given.next() {
        let expected = "expected one of `every_us`, `load`, `saturate` and `window`";
        table.tell(&second, "traffic comes by two laws".to_owned(), expected);
        // What belongs to either is not unknown.
        let _ = ["law", "burst", "think_us", "think_periods"].map(|key| table.item(key));
        return None;
    }
    if table.has_any(&["every_us", "every_periods"]) {
        let spacing = spacing(table, Spacing::Constant);
        return Some(Law::Every(spacing?, every?.periods));
    }
    if let Some(load) = load {
        let spacing = spacing(table, Spacing::Poisson);
        return share(&load).and_then(|nanos| Some(Law::Load(spacing?, nanos)));
    }
    if let Some(window) = window {
        let think = table.time(["think_us", "think_periods"], 0..=DURATION_MAX);
        let window = NonZeroU32::new(window.integer(1..=BURST_MAX)?)?;
        return Some(Law::Closed(window, think.map_or(0, |think| think.periods)));
    }
    let Some(saturate) = saturate else {
        if first.is_none() {
            table.missing("expected one of `every_us`, `load`, `saturate` and `window`");
        }
        return None;
    };
    let truth = saturate.truth()?;
    if !truth {
        saturate.wrong("expected `true`, or another law".to_owned());
    }
    truth.then_some(Law::Saturating)
}

fn spacing(table: &mut Table<'_>, default: Spacing) -> Option<Spacing> {
    let law = table.item("law");
    let burst = table.item("burst");
    match (law, burst) {
        (Some(_), Some(burst)) => {
            burst.wrong("expected `law` or `burst`, not both".to_owned());
            None
        }
        (Some(law), None) => {
            law.word(&[("constant", Spacing::Constant), ("poisson", Spacing::Poisson)])
        }
        (None, Some(burst)) => NonZeroU32::new(burst.integer(1..=BURST_MAX)?).map(Spacing::Bursts),
        (None, None) => Some(default),
    }
}

/// A share of the whole, in 10⁻⁹: more than none of it.
fn share(item: &Item<'_>) -> Option<u128> {
    let nanos = item.as_nanos().filter(|nanos| (1_000..=NANO).contains(nanos));
    if nanos.is_none() {
        item.wrong("expected a share from 0.000001 to 1, nine decimals at most".to_owned());
    }
    nanos
}

/// `payload`: a number, two numbers, or small and large ones.
pub(super) fn payload(table: &mut Table<'_>) -> Option<Size> {
    size(&table.needed("payload")?, 0..=PAYLOAD_MAX, BYTES)
}

/// What sizes in bytes look like.
pub(super) const BYTES: &str =
    "bytes, like `1024`, `[64, 1024]` or `{ small = 16, large = 1024, large_share = 0.1 }`";

/// A law of sizes, each within limits: a number, two numbers, or small and large ones. `like` says what they
/// look like.
pub(super) fn size(item: &Item<'_>, limits: RangeInclusive<u64>, like: &str) -> Option<Size> {
    if let Some(mut table) = item.as_table() {
        let mut size = |key| table.needed(key)?.integer(limits.clone());
        let (small, large) = (size("small"), size("large"));
        let nanos = table.needed("large_share").and_then(|item| share(&item));
        table.finish();
        // The share of all packets, 1, is one in 65 536 less.
        let share = u16::try_from((nanos? * 65_536 + NANO / 2) / NANO).unwrap_or(u16::MAX);
        return Some(Size::Bimodal { small: small?, large: large?, share });
    }
    if item.as_integer().is_some() {
        return item.integer(limits).map(Size::Fixed);
    }
    let list = item.as_list().unwrap_or_default();
    let [least, most] = list.as_slice() else {
        item.wrong(format!("expected {like}"));
        return None;
    };
    let (least, last): (u32, u32) = (least.integer(limits.clone())?, most.integer(limits)?);
    if least > last {
        most.wrong(format!("expected {least} or more"));
        return None;
    }
    Some(Size::Uniform(least, last))
}

/// The mean of a law of sizes, in 65 536ths of a byte.
pub(super) fn mean_payload(size: Size) -> u128 {
    match size {
        Size::Fixed(bytes) => u128::from(bytes) * 65_536,
        Size::Uniform(least, most) => (u128::from(least) + u128::from(most)) * 32_768,
        Size::Bimodal { small, large, share } => {
            let share = u128::from(share);
            u128::from(small) * (65_536 - share) + u128::from(large) * share
        }
    }
}

/// The largest of a law of sizes.
pub(super) const fn most(size: Size) -> u32 {
    match size {
        Size::Fixed(bytes) => bytes,
        Size::Uniform(least, most) => {
            if least > most {
                least
            } else {
                most
            }
        }
        Size::Bimodal { small, large, .. } => {
            if small > large {
                small
            } else {
                large
            }
        }
    }
}

/// A law of sizes in another unit: all of them so many times as large.
pub(super) fn times(size: Size, factor: u32) -> Size {
    let times = |size: u32| size.saturating_mul(factor);
    match size {
        Size::Fixed(size) => Size::Fixed(times(size)),
        Size::Uniform(least, most) => Size::Uniform(times(least), times(most)),
        Size::Bimodal { small, large, share } => {
            Size::Bimodal { small: times(small), large: times(large), share }
        }
    }
}

/// Writes what [`read`] reads: no load is kept, but what came of it.
pub(super) fn write(keys: &mut Keys, arrivals: Arrivals) {
    match arrivals {
        Arrivals::Constant(Ticks(periods)) => keys.value("every_periods", periods),
        Arrivals::Poisson(Ticks(periods)) => {
            keys.value("every_periods", periods);
            keys.text("law", "poisson");
        }
        Arrivals::Bursts(count, Ticks(periods)) => {
            keys.value("every_periods", periods);
            keys.value("burst", count);
        }
        Arrivals::Saturating => keys.value("saturate", true),
        Arrivals::Closed(window, Ticks(think)) => {
            keys.value("window", window);
            keys.differing("think_periods", think, 0);
        }
    }
}

/// Writes what [`size`] reads.
pub(super) fn written(size: Size) -> String {
    match size {
        Size::Fixed(size) => size.to_string(),
        Size::Uniform(least, most) => format!("[{least}, {most}]"),
        Size::Bimodal { small, large, share } => {
            // The nearest 10⁻⁹ is nearer than the next 65 536th; the least share there is means none.
            let nanos = ((u128::from(share) * NANO + (1 << 15)) >> 16).max(1_000);
            format!("{{ small = {small}, large = {large}, large_share = 0.{nanos:09} }}")
        }
    }
}

/// A law of sizes in another unit: all of them so many times smaller.
pub(super) fn parts(size: Size, factor: u32) -> Size {
    let part = |size: u32| size / factor.max(1);
    match size {
        Size::Fixed(size) => Size::Fixed(part(size)),
        Size::Uniform(least, most) => Size::Uniform(part(least), part(most)),
        Size::Bimodal { small, large, share } => {
            Size::Bimodal { small: part(small), large: part(large), share }
        }
    }
}
