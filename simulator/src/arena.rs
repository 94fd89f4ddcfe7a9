//! Parts of a simulation by number. A number that no part has is an error of the simulator itself,
//! which ends it with a message.

use std::fmt::Debug;
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// The number of a part in its arena.
pub(crate) trait PartNumber: Copy + Debug {
    /// The number of the part at a place.
    fn at(place: usize) -> Self;

    /// The place of the part, from 0.
    fn place(self) -> usize;
}

macro_rules! part_numbers {
    ($($(#[$doc:meta])* $name:ident)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
        pub(crate) struct $name(pub(crate) u32);

        impl PartNumber for $name {
            #[inline]
            fn at(place: usize) -> Self {
                let number = u32::try_from(place);
                Self(number.unwrap_or_else(|_| unreachable!("a scenario's limits are far below 2³²")))
            }

            #[inline]
            fn place(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

part_numbers! {
    /// A port with a cable, or a virtual channel of one.
    UnitId
    /// An interface of a host or router.
    HostId
    /// A switch.
    SwitchId
    /// A host with several interfaces. I-7
    ShareId
    /// Nodes with the same clock. W-6
    GroupId
    /// An endpoint of a host.
    EndpointNumber
    /// A thread of a host's applications.
    ThreadNumber
    /// A stream of messages of a host.
    StreamNumber
}

impl UnitId {
    /// A virtual channel of the port whose first one this is. C-7
    pub(crate) fn with_channel(self, channel: u8) -> Self {
        Self(self.0 + u32::from(channel))
    }
}

/// Parts of a kind by number.
#[derive(Clone, Debug)]
pub(crate) struct PartArena<I, T> {
    parts: Vec<T>,
    number: PhantomData<I>,
}

impl<I: PartNumber, T> PartArena<I, T> {
    /// Adds a part, and returns its number.
    pub(crate) fn push(&mut self, part: T) -> I {
        self.parts.push(part);
        I::at(self.parts.len() - 1)
    }

    pub(crate) const fn len(&self) -> usize {
        self.parts.len()
    }

    /// The numbers of all parts, in ascending order.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = I> + use<I, T> {
        (0..self.parts.len()).map(I::at)
    }

    /// The first part for which something is true.
    pub(crate) fn position(&self, is_it: impl FnMut(&T) -> bool) -> Option<I> {
        self.parts.iter().position(is_it).map(I::at)
    }

    pub(crate) fn iter(&self) -> std::slice::Iter<'_, T> {
        self.parts.iter()
    }

    pub(crate) fn iter_mut(&mut self) -> std::slice::IterMut<'_, T> {
        self.parts.iter_mut()
    }
}

impl<I, T> Default for PartArena<I, T> {
    fn default() -> Self {
        Self { parts: Vec::new(), number: PhantomData }
    }
}

impl<I: PartNumber, T> FromIterator<T> for PartArena<I, T> {
    fn from_iter<P: IntoIterator<Item = T>>(parts: P) -> Self {
        Self { parts: parts.into_iter().collect(), number: PhantomData }
    }
}

impl<I: PartNumber, T> Index<I> for PartArena<I, T> {
    type Output = T;

    #[inline]
    fn index(&self, number: I) -> &T {
        self.parts.get(number.place()).unwrap_or_else(|| no_part(number, self.parts.len()))
    }
}

impl<I: PartNumber, T> IndexMut<I> for PartArena<I, T> {
    #[inline]
    fn index_mut(&mut self, number: I) -> &mut T {
        let count = self.parts.len();
        self.parts.get_mut(number.place()).unwrap_or_else(|| no_part(number, count))
    }
}

#[cold]
#[expect(clippy::panic, reason = "an error of the simulator itself")]
fn no_part(number: impl PartNumber, count: usize) -> ! {
    panic!("{number:?} is the number of none of {count} parts")
}
