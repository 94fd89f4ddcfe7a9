//! Keys of cables and their wires. W-3, W-4, W-7

use super::keys::{BoolPair, FieldKey, IntRange, KeyFormat, KeyList, WordList, key};
use super::toml_reader::{TomlItem, TomlTable};
use super::toml_writer::TomlKeys;
use crate::link::LinkParameters;
#[cfg(test)]
use crate::rng::Rng;
use crate::wires::{CableEnds, CableType, CableWires, NanosecondText, SKEW_PS_MAX, WireSkew};

/// Repeaters of a cable. *Chosen*
const REPEATERS_MAX: u64 = 64;

/// W-3, W-4, W-7
pub(super) const CABLE: &KeyList<CableWires> = &[
    key!(CableWires, "type", WordList(&CableType::WORDS), kind),
    key!(CableWires, "skew_ns", SkewFormat, skew),
    key!(CableWires, "polarity_ns", NanosecondRange(SKEW_PS_MAX), polarity_ps),
    key!(CableWires, "jitter_ns", NanosecondRange(SKEW_PS_MAX), jitter_ps),
    key!(CableWires, "straight", BoolPair([CableEnds::Mirrored, CableEnds::Straight]), ends),
    key!(CableWires, "repeaters", IntRange(0..=REPEATERS_MAX), repeaters),
];

/// Time in nanoseconds with three decimals, up to this many picoseconds.
pub(super) struct NanosecondRange(pub(super) u64);

impl NanosecondRange {
    pub(super) fn of(&self, item: &TomlItem<'_>) -> Option<u32> {
        let ps = self.number(item);
        if ps.is_none() {
            item.report(format!("expected 0 to {} ns, three decimals at most", self.0 / 1000));
        }
        ps
    }

    fn number(&self, item: &TomlItem<'_>) -> Option<u32> {
        const NANOS_PER_PS: u128 = 1_000_000;
        let nanos = item.as_nanos()?;
        let ps = nanos.is_multiple_of(NANOS_PER_PS).then_some(nanos / NANOS_PER_PS)?;
        u32::try_from(ps).ok().filter(|ps| u64::from(*ps) <= self.0)
    }
}

impl KeyFormat<u32> for NanosecondRange {
    fn read(&self, table: &mut TomlTable<'_>, name: &'static str) -> Option<u32> {
        self.of(&table.item(name)?)
    }

    fn write(&self, keys: &mut TomlKeys, name: &'static str, value: u32) {
        keys.value(name, NanosecondText(value));
    }

    #[cfg(test)]
    fn any(&self, name: &str, rng: &mut Rng) -> (String, String) {
        let value = u32::try_from(rng.below(self.0 + 1)).unwrap();
        (name.to_owned(), NanosecondText(value).to_string())
    }
}

/// Skew of each wire, or the greatest at random.
struct SkewFormat;

impl KeyFormat<WireSkew> for SkewFormat {
    fn read(&self, table: &mut TomlTable<'_>, name: &'static str) -> Option<WireSkew> {
        let item = table.item(name)?;
        let range = NanosecondRange(SKEW_PS_MAX);
        let list = item.as_list();
        let skew = match &list {
            None => range.number(&item).map(WireSkew::UpTo),
            Some(list) => {
                let delays: Option<Vec<u32>> = list.iter().map(|item| range.number(item)).collect();
                delays.and_then(|delays| delays.try_into().ok()).map(WireSkew::Given)
            }
        };
        if skew.is_none() {
            item.report(format!(
                "expected the greatest skew in ns, or that of each of the nine wires in a list, \
                 from 0 to {} with three decimals at most",
                SKEW_PS_MAX / 1000
            ));
        }
        skew
    }

    fn write(&self, keys: &mut TomlKeys, name: &'static str, value: WireSkew) {
        match value {
            WireSkew::UpTo(most) => keys.value(name, NanosecondText(most)),
            WireSkew::Given(delays) => {
                let delays = delays.map(|delay| NanosecondText(delay).to_string());
                keys.value(name, format!("[{}]", delays.join(", ")));
            }
        }
    }

    #[cfg(test)]
    fn any(&self, name: &str, rng: &mut Rng) -> (String, String) {
        let list = [(); 9].map(|()| NanosecondRange(SKEW_PS_MAX).any(name, rng).1);
        let one = list[0].clone();
        (name.to_owned(), if rng.below(2) == 0 { one } else { format!("[{}]", list.join(", ")) })
    }
}

/// Writes the length or the delay of a cable.
pub(super) fn write_delay(keys: &mut TomlKeys, link: LinkParameters, base: LinkParameters) {
    const NM_PER_M: u64 = 1_000_000_000;
    let of = |link: LinkParameters| (link.cable_delay(), link.wires.length_nm);
    match of(link) {
        same if same == of(base) => {}
        (_, Some(length)) => {
            let metres = format!("{}.{:09}", length / NM_PER_M, length % NM_PER_M);
            keys.value("length_m", metres.trim_end_matches('0').trim_end_matches('.'));
        }
        (delay, None) => keys.value("delay_periods", delay.0),
    }
}
