//! Keys of cables, their wires and their virtual channels. W-3, W-4, W-7, B-1, C-7

use codec::virtual_channels::{LinkProfile, ProfileError};
use codec::words::shortened;

use super::keys::{BoolPair, FieldKey, IntRange, KeyFormat, KeyList, WithKey, WordList, key};
use super::toml_reader::{TomlItem, TomlTable};
use crate::link::shared_line::VirtualCodes;
use crate::wires::{
    CableEnds, CableFlow, CableType, CableWires, DISTURBANCE_PS_MAX, SKEW_PS_MAX, WireSkew,
};
#[cfg(test)]
use crate::{rng::Rng, wires::NanosecondText};

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

    /// None, since it excludes others.
    #[cfg(test)]
    fn any(&self, _: &str, _: &mut Rng) -> (String, String) {
        (String::new(), String::new())
    }
}
