//! Keys of cables, their wires and their virtual channels. W-3, W-4, W-7, B-1, C-7

use codec::virtual_channels::{LinkProfile, ProfileError};

use super::error::shortened;
use super::keys::{BoolPair, FieldKey, IntRange, KeyFormat, KeyList, WithKey, WordList, key};
use super::toml_reader::{TomlItem, TomlTable};
use super::toml_writer::TomlKeys;
use crate::link::LinkParameters;
use crate::link::shared_line::VirtualCodes;
#[cfg(test)]
use crate::rng::Rng;
use crate::wires::{
    CableEnds, CableFlow, CableType, CableWires, DISTURBANCE_PS_MAX, NanosecondText, SKEW_PS_MAX,
    WireSkew,
};

/// Repeaters of a cable. *Chosen*
const REPEATERS_MAX: u64 = 64;

/// W-3, W-4, W-7, B-1
pub(super) const CABLE: &KeyList<CableWires> = &[
    key!(CableWires, "type", WordList(&CableType::WORDS), kind),
    key!(CableWires, "skew_ns", SkewFormat, skew),
    key!(CableWires, "polarity_ns", NanosecondRange(SKEW_PS_MAX), polarity_ps),
    key!(CableWires, "jitter_ns", NanosecondRange(SKEW_PS_MAX), jitter_ps),
    key!(CableWires, "straight", BoolPair([CableEnds::Mirrored, CableEnds::Straight]), ends),
    key!(CableWires, "repeaters", IntRange(0..=REPEATERS_MAX), repeaters),
    key!(CableWires, "kind", WordList(&CableFlow::WORDS), flow),
    &WithKey(
        key!(CableWires, "handshake_ns", NanosecondRange(DISTURBANCE_PS_MAX), handshake_ps),
        |wires, _| wires.flow == CableFlow::Handshake,
    ),
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

/// Codes of virtual channels as text, or `none`. C-7
pub(super) struct ProfileFormat;

impl KeyFormat<Option<VirtualCodes>> for ProfileFormat {
    fn read(&self, table: &mut TomlTable<'_>, name: &'static str) -> Option<Option<VirtualCodes>> {
        let item = table.item(name)?;
        let text = item.text("codes of virtual channels, like `VC0=50,VC1=51,GO1=60,STOP1=6f`")?;
        if text.text == "none" {
            return Some(None);
        }
        match text.text.parse::<LinkProfile>() {
            Ok(profile) => Some(Some(VirtualCodes::of(&profile))),
            Err(fault) => {
                let fault = if let ProfileError::Word(word) = fault {
                    ProfileError::Word(shortened(&word))
                } else {
                    fault
                };
                item.report(fault.to_string());
                None
            }
        }
    }

    fn write(&self, keys: &mut TomlKeys, name: &'static str, value: Option<VirtualCodes>) {
        let profile = value.and_then(|codes| codes.profile());
        keys.text(name, &profile.map_or_else(|| "none".to_owned(), |profile| profile.to_string()));
    }

    /// None, since it excludes others.
    #[cfg(test)]
    fn any(&self, _: &str, _: &mut Rng) -> (String, String) {
        (String::new(), String::new())
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
