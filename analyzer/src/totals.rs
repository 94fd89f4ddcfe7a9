//! Totals that are added field by field.

use std::collections::BTreeMap;

/// Totals to which others of the same kind can be added.
pub(crate) trait AddTotals {
    /// Adds the other totals; counters stop at their maximum.
    fn absorb(&mut self, other: &Self);
}

impl AddTotals for u64 {
    fn absorb(&mut self, other: &Self) {
        *self = self.saturating_add(*other);
    }
}

impl AddTotals for u128 {
    fn absorb(&mut self, other: &Self) {
        *self = self.saturating_add(*other);
    }
}

impl<T: AddTotals, const N: usize> AddTotals for [T; N] {
    fn absorb(&mut self, other: &Self) {
        self.iter_mut().zip(other).for_each(|(sum, more)| sum.absorb(more));
    }
}

impl<K: Copy + Ord, T: AddTotals + Default> AddTotals for BTreeMap<K, T> {
    fn absorb(&mut self, other: &Self) {
        other.iter().for_each(|(key, more)| self.entry(*key).or_default().absorb(more));
    }
}

/// Declares structs whose fields are all totals, and that are totals themselves.
macro_rules! totals {
    ($($(#[$meta:meta])* $vis:vis struct $Struct:ident {
        $($(#[$doc:meta])* $field_vis:vis $field:ident: $Field:ty,)+
    })+) => {$(
        $(#[$meta])*
        $vis struct $Struct { $($(#[$doc])* $field_vis $field: $Field,)+ }

        impl crate::totals::AddTotals for $Struct {
            fn absorb(&mut self, other: &Self) {
                let Self { $($field,)+ } = self;
                $(crate::totals::AddTotals::absorb($field, &other.$field);)+
            }
        }
    )+};
}

pub(crate) use totals;
