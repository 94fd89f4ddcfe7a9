//! Patterns of traffic: receivers of hosts by their positions, from 0.

use crate::scenario::limits::NODES_MAX;
use crate::scenario::names::NameLookup;
use crate::scenario::toml_reader::TomlTable;
use crate::topology::NodeId;
use crate::traffic::StreamDestination;

/// A pattern, by its word in a scenario.
#[derive(Clone, Copy)]
pub(super) struct TrafficPattern {
    pub(super) name: &'static str,
    pub(super) rule: PatternRule,
}

/// Choice of receivers.
#[derive(Clone, Copy)]
pub(super) enum PatternRule {
    /// Any host, drawn for each packet.
    Uniform,
    /// Any host, one of them more often than the others, drawn for each packet.
    Hotspot,
    /// One for each sender; none if it sends nothing.
    Paired(PatternPartner, PatternSize),
}

/// Position of the receiver, by that of the sender, the number of hosts, and the pattern's own number.
type PatternPartner = fn(usize, usize, usize) -> Option<usize>;

/// Condition on the number of hosts and the pattern's own number, and its text.
type PatternSize = (fn(usize, usize) -> bool, &'static str);

/// Keys of a table that belong to its pattern.
#[derive(Clone, Copy, Default)]
pub(super) struct PatternKeys {
    /// `by` or `radix`.
    pub(super) number: Option<usize>,
    /// Host that gets more than others.
    pub(super) hot: Option<NodeId>,
    /// Weight of that host; the others have 1.
    pub(super) weight: Option<usize>,
}

const ANY: PatternSize = (|_, _| true, "");
const SQUARE: PatternSize = (
    |count, _| count >= 4 && count.isqrt().pow(2) == count,
    "expected a square number of them, four at least",
);
const RINGS: PatternSize = (
    |count, radix| radix >= 3 && is_power(count, radix),
    "expected a power of `radix`, which is three at least",
);
const BITS: PatternSize =
    (|count, _| count >= 4 && count.is_power_of_two(), "expected a power of two, four at least");

const PATTERNS: [TrafficPattern; 8] = [
    TrafficPattern { name: "uniform", rule: PatternRule::Uniform },
    TrafficPattern { name: "hotspot", rule: PatternRule::Hotspot },
    paired("shift", |at, count, by| Some((at + by) % count.max(1)), ANY),
    paired("neighbour", |at, _, _| Some(at ^ 1), ANY),
    paired("bisect", bisect, ANY),
    paired("transpose", transpose, SQUARE),
    paired("tornado", tornado, RINGS),
    paired("bit-reversal", reversed, BITS),
];

const fn paired(name: &'static str, partner: PatternPartner, size: PatternSize) -> TrafficPattern {
    TrafficPattern { name, rule: PatternRule::Paired(partner, size) }
}

/// The number with its binary digits in reverse.
fn reversed(at: usize, count: usize, _: usize) -> Option<usize> {
    at.reverse_bits().checked_shr(count.leading_zeros() + 1)
}

/// Half of the hosts and the other half, to each other.
fn bisect(at: usize, count: usize, _: usize) -> Option<usize> {
    let half = count / 2;
    if at < half { Some(at + half) } else { at.checked_sub(half).filter(|_| at < 2 * half) }
}

/// Rows and columns of a square exchanged.
fn transpose(at: usize, count: usize, _: usize) -> Option<usize> {
    let side = count.isqrt();
    Some(at.checked_rem(side)? * side + at.checked_div(side)?)
}

/// Nearly half way around the ring of each digit.
fn tornado(at: usize, count: usize, radix: usize) -> Option<usize> {
    let (mut to, mut place) = (0, 1);
    while place < count {
        let digit = at.checked_div(place)?.checked_rem(radix)?;
        to += (digit + radix.div_ceil(2) - 1) % radix * place;
        place = place.checked_mul(radix)?;
    }
    Some(to)
}

fn is_power(count: usize, radix: usize) -> bool {
    let powers = std::iter::successors(Some(radix), |power| power.checked_mul(radix));
    powers.take_while(|power| *power <= count).any(|power| power == count)
}

/// Names of all patterns.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    PATTERNS.iter().map(|pattern| pattern.name)
}

/// Pairs hosts by their position; a host without a partner sends nothing.
pub(super) fn permuted(
    hosts: &[NodeId],
    partner: impl Fn(usize) -> Option<usize>,
) -> Vec<(NodeId, StreamDestination)> {
    let pair = |(at, from): (usize, &NodeId)| {
        let to = *hosts.get(partner(at)?)?;
        (to != *from).then_some((*from, StreamDestination::One(to)))
    };
    hosts.iter().enumerate().filter_map(pair).collect()
}

impl TrafficPattern {
    pub(super) fn find(name: &str) -> Option<Self> {
        PATTERNS.iter().find(|pattern| pattern.name == name).copied()
    }

    /// Problem of a number of hosts, and what is expected.
    pub(super) fn problem(&self, count: usize, number: usize) -> Option<(String, &'static str)> {
        let PatternRule::Paired(_, (fits, expected)) = self.rule else { return None };
        let found = || format!("`to` is \"{}\" with {count} hosts", self.name);
        (!fits(count, number)).then(|| (found(), expected))
    }
}

impl PatternKeys {
    pub(super) fn read(
        pattern: Option<TrafficPattern>,
        table: &mut TomlTable<'_>,
        map: &NameLookup<'_>,
    ) -> Self {
        let limits = 1..=NODES_MAX as u64;
        match pattern.map(|pattern| pattern.name) {
            Some("shift") => Self { number: table.integer("by", limits), ..Self::default() },
            Some("tornado") => Self { number: table.integer("radix", limits), ..Self::default() },
            Some("hotspot") => {
                let hot = table.needed("hot");
                let hot = hot.as_ref().and_then(|item| item.text("the name of a host"));
                Self {
                    hot: hot.and_then(|text| map.cabled_host(&text)),
                    weight: table.integer("weight", 1..=WEIGHT_MAX),
                    number: None,
                }
            }
            _ => Self::default(),
        }
    }

    /// The hosts of a hotspot, the hot one as often as it is to be drawn.
    pub(super) fn weighted(&self, mut hosts: Vec<NodeId>) -> Option<Vec<NodeId>> {
        hosts.extend(std::iter::repeat_n(self.hot?, self.weight.unwrap_or(WEIGHT) - 1));
        Some(hosts)
    }
}

/// *Chosen*
const WEIGHT_MAX: u64 = 1_000;
/// *Chosen*: in a network of 64 hosts the hot one gets a seventh of the packets.
const WEIGHT: usize = 10;

#[cfg(test)]
mod tests {
    use super::*;

    /// Receivers of all positions, - for none; worked out by hand.
    #[test]
    fn receivers_are_those_of_the_definitions() {
        for (name, count, number, expected) in [
            ("shift", 4, 1, "1 2 3 0"),
            ("neighbour", 4, 1, "1 0 3 2"),
            ("bisect", 5, 1, "2 3 0 1 -"),
            // Row 0 is 0 1 2, column 0 is 0 3 6.
            ("transpose", 9, 1, "0 3 6 1 4 7 2 5 8"),
            // ⌈5/2⌉ − 1 = 2, ⌈6/2⌉ − 1 = 2.
            ("tornado", 5, 5, "2 3 4 0 1"),
            ("tornado", 6, 6, "2 3 4 5 0 1"),
            // Each of the two digits one on, modulo three.
            ("tornado", 9, 3, "4 5 3 7 8 6 1 2 0"),
            // 000 100 010 110 001 101 011 111.
            ("bit-reversal", 8, 1, "0 4 2 6 1 5 3 7"),
        ] {
            let pattern = TrafficPattern::find(name).unwrap();
            let PatternRule::Paired(partner, _) = pattern.rule else { panic!("{name}") };
            let to = (0..count).map(|at| partner(at, count, number));
            let to = to.map(|to| to.map_or("-".to_owned(), |to| to.to_string()));
            assert_eq!(to.collect::<Vec<_>>().join(" "), expected, "{name} {count}");
            assert_eq!(pattern.problem(count, number), None);
        }
    }

    #[test]
    fn sizes_without_the_pattern_are_refused() {
        for (name, number, counts) in [
            ("transpose", 1, &[0, 1, 2, 8, usize::MAX][..]),
            ("bit-reversal", 1, &[0, 1, 2, 6, usize::MAX]),
            ("tornado", 3, &[0, 1, 2, 10, usize::MAX]),
            ("tornado", 1, &[0, 1, 2, 9]),
            ("tornado", 2, &[2, 4, 8]),
        ] {
            let pattern = TrafficPattern::find(name).unwrap();
            for count in counts {
                let (found, _) = pattern.problem(*count, number).unwrap();
                assert_eq!(found, format!("`to` is \"{name}\" with {count} hosts"));
            }
        }
    }
}
