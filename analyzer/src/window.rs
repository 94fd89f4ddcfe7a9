//! A stretch of time or of characters, to which a view may be restricted.

use codec::capture::Channel;
use codec::tick::Tick;

/// A place in a capture, said without a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edge {
    /// The character of that index, on whatever channel.
    Character(Tick),
    /// The first character that begins at so many picoseconds or later.
    Picoseconds(u128),
}

/// From an edge on, up to another and without it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// The first character inside.
    pub from: Edge,
    /// The first character beyond.
    pub to: Option<Edge>,
}

impl Window {
    /// Everything.
    pub const ALL: Self = Self { from: Edge::Character(Tick(0)), to: None };

    /// The window's edges on one channel.
    #[must_use]
    pub fn on(&self, channel: &Channel) -> (Tick, Tick) {
        let to = self.to.map_or(Tick(u64::MAX), |edge| edge.on(channel));
        (self.from.on(channel), to)
    }

    /// Whether a character of a channel is inside.
    #[must_use]
    pub fn holds(&self, channel: &Channel, at: Tick) -> bool {
        let (from, to) = self.on(channel);
        from <= at && at < to
    }
}

impl Edge {
    fn on(self, channel: &Channel) -> Tick {
        match self {
            Self::Character(at) => at,
            Self::Picoseconds(time) => {
                let at = time.div_ceil(u128::from(channel.period_ps.get()));
                Tick(u64::try_from(at).unwrap_or(u64::MAX))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_means_the_first_character_that_begins_then_or_later() {
        let channel = Channel::named("a>b");
        let window =
            Window { from: Edge::Picoseconds(12_501), to: Some(Edge::Picoseconds(50_000)) };
        assert_eq!(window.on(&channel), (Tick(2), Tick(4)));
        assert!(!window.holds(&channel, Tick(1)) && window.holds(&channel, Tick(2)));
        assert!(window.holds(&channel, Tick(3)) && !window.holds(&channel, Tick(4)));
    }
}
