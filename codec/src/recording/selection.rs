//! Signals by name: the wires of channels among those of a recording.

use std::collections::{BTreeMap, BTreeSet};

use super::SignalTable;
use super::vcd_writer::scope_names;
use crate::wires::WIRES;
use crate::words::listed;

/// Names that are listed where several fit.
const LISTED: usize = 6;

/// Scopes that are searched for channels. *Chosen*
const SCOPES_SEEN: usize = 64;

/// True if a name is a wanted one.
type NameRule<'a> = &'a dyn Fn(&str, &str) -> bool;

/// Signals of a bus, or one alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignalGroup {
    /// Name with scopes, without numbers of bits.
    pub name: String,
    /// Signals with the numbers of their bits, in the order of the file.
    pub bits: Vec<(usize, Option<usize>)>,
}

/// Nine signals of a channel, wire 0 first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WireSelection {
    /// Numbers of the signals.
    pub signals: [usize; WIRES],
    /// True if the names give another order than the file.
    pub is_reordered: bool,
}

/// Name without the number of a bit, and that number: of `tx[8]`, `tx(8)`, `tx<8>`, `tx_8`, `tx_8_` and `D8`.
fn split_bit(name: &str) -> (&str, Option<usize>) {
    let inner = name.trim_end_matches([']', ')', '>', ' ', '_']);
    let digits = inner.bytes().rev().take_while(u8::is_ascii_digit).count();
    let (stem, digits) = inner.split_at(inner.len() - digits);
    match digits.parse() {
        Ok(bit) => (stem.trim_end_matches(['[', '(', '<', ' ', '_']), Some(bit)),
        Err(_) => (name, None),
    }
}

/// Scopes of a name and what stands behind them; a point inside brackets is none between scopes.
fn split_scope(name: &str) -> (&str, &str) {
    name.rsplit_once('.').unwrap_or(("", name))
}

/// True if a name is the other one, or its end behind scopes.
fn is_suffix(name: &str, wanted: &str) -> bool {
    let before = name.strip_suffix(wanted);
    before.is_some_and(|before| before.is_empty() || before.ends_with(['.', '\\']))
}

impl SignalTable {
    /// The signal of a name, or the bits of a bus, most significant first. The exact name goes before those that end
    /// with it.
    ///
    /// # Errors
    ///
    /// A name that no signal has, or several have.
    pub fn find(&self, wanted: &str) -> Result<Vec<usize>, String> {
        let plain = wanted.trim().trim_matches('/').replace('/', ".");
        let names = || self.names().iter().enumerate();
        for wanted in [wanted, &plain, &plain.to_lowercase()] {
            let rules: [NameRule<'_>; 2] = [&|name, wanted| name == wanted, &is_suffix];
            for rule in rules {
                let signals =
                    names().filter(|(_, name)| rule(name, wanted)).map(|(at, _)| self.net(at));
                if let Some(signal) = self.only(wanted, signals)? {
                    return Ok(vec![signal]);
                }
                if let Some(bus) = self.bus(wanted, rule)? {
                    return Ok(bus);
                }
            }
            // Programs write `tx[8]`, `tx(8)`, `tx<8>` and `tx_8` for the same.
            let (stem, bit) = split_bit(wanted);
            let alike = names().filter(|(_, name)| {
                let (other, of_other) = split_bit(name);
                bit.is_some() && of_other == bit && is_suffix(other, stem)
            });
            if let Some(signal) = self.only(wanted, alike.map(|(at, _)| self.net(at)))? {
                return Ok(vec![signal]);
            }
        }
        Err(format!("no signal {wanted}"))
    }

    /// The only signal of some.
    fn only(
        &self,
        wanted: &str,
        signals: impl Iterator<Item = usize>,
    ) -> Result<Option<usize>, String> {
        let mut signals: Vec<usize> = signals.collect();
        signals.sort_unstable();
        signals.dedup();
        match signals.as_slice() {
            [] => Ok(None),
            [one] => Ok(Some(*one)),
            several => {
                let names = several.iter().filter_map(|at| self.names().get(*at));
                let names = listed(names.map(String::as_str), LISTED);
                Err(format!("several signals are called {wanted}: {names}"))
            }
        }
    }

    /// The bits of a bus, most significant first: all of `tx`, or those of `tx[8:0]`.
    fn bus(&self, wanted: &str, rule: NameRule<'_>) -> Result<Option<Vec<usize>>, String> {
        let (stem, range) = super::variables::split_range(wanted);
        let bounds = super::variables::bounds(range);
        let (one, other) = bounds.unwrap_or((0, usize::MAX));
        let bits = one.min(other)..=one.max(other);
        let stem = if bounds.is_some() { stem } else { wanted };
        let mut all = Vec::new();
        for (at, name) in self.names().iter().enumerate() {
            if let (name, Some(bit)) = split_bit(name)
                && bits.contains(&bit)
                && rule(name, stem)
            {
                all.push((bit, self.net(at)));
            }
        }
        all.sort_unstable_by(|one, other| other.cmp(one));
        all.dedup();
        let is_whole = bounds.is_none() || all.len() > bits.end() - bits.start();
        for same in all.chunk_by(|one, other| one.0 == other.0) {
            self.only(wanted, same.iter().map(|(_, at)| *at))?;
        }
        Ok((all.len() > 1 && is_whole).then(|| all.into_iter().map(|(_, at)| at).collect()))
    }

    /// The wires of a channel, wire 0 first, by the names of d and 7 to 0, of buses, or of both: `d,t[7:0]`. A name
    /// may have commas.
    ///
    /// # Errors
    ///
    /// Names that are not nine different signals.
    pub fn wires(&self, text: &str) -> Result<[usize; WIRES], String> {
        let parts: Vec<&str> = text.split(',').map(str::trim).collect();
        let has_commas = self.names().iter().any(|name| name.contains(','));
        let (mut left, mut all) = (parts.as_slice(), Vec::new());
        while let [first, ..] = left {
            let longest = if has_commas { left.len() } else { 0 };
            let joined = (2..=longest).rev().find_map(|count| {
                let (name, rest) = left.split_at(count);
                Some((self.find(&name.join(",")).ok()?, rest))
            });
            let (signals, rest) = match joined {
                Some(found) => found,
                None => (self.find(first)?, left.get(1..).unwrap_or_default()),
            };
            if let Some(twice) = signals.iter().find(|signal| all.contains(*signal)) {
                let name = self.names().get(*twice).map_or("", String::as_str);
                return Err(format!("signal {name} is named twice"));
            }
            all.extend(signals);
            left = rest;
        }
        all.reverse();
        let count = all.len();
        <[usize; WIRES]>::try_from(all).map_err(|_| {
            format!("{count} signals in --wires, expected {WIRES}: of d, 7, 6, 5, 4, 3, 2, 1, 0")
        })
    }

    /// The signals in groups: buses folded, each net once, in the order of the file.
    pub fn groups(&self) -> Vec<SignalGroup> {
        let mut groups: Vec<SignalGroup> = Vec::new();
        let mut places = BTreeMap::new();
        for (at, name) in self.names().iter().enumerate().filter(|(at, _)| self.is_first(*at)) {
            let (stem, bit) = split_bit(name);
            let place = *places.entry((stem, bit.is_some())).or_insert(groups.len());
            match groups.get_mut(place) {
                Some(group) => group.bits.push((at, bit)),
                None => groups.push(SignalGroup { name: stem.to_owned(), bits: vec![(at, bit)] }),
            }
        }
        groups
    }

    /// The wires of as many channels as are wanted, or of as many as there are, with the scope that all nine share.
    /// `None` if the names do not tell.
    pub fn channels(&self, wanted: Option<usize>) -> Option<Vec<WireSelection>> {
        let all: Vec<usize> = (0..self.names().len()).filter(|at| self.is_first(*at)).collect();
        let groups: Vec<Vec<usize>> = self.groups().iter().map(SignalGroup::ascending).collect();
        let scope = |at: &usize| self.names().get(*at).map(|name| split_scope(name).0);
        let mut scopes: Vec<(Option<&str>, Vec<usize>)> = Vec::new();
        for at in &all {
            if let Some((_, signals)) = scopes.iter_mut().find(|(known, _)| *known == scope(at)) {
                signals.push(*at);
            } else if scopes.len() < SCOPES_SEEN {
                scopes.push((scope(at), vec![*at]));
            }
        }
        let scopes: Vec<Vec<usize>> = scopes.into_iter().map(|(_, signals)| signals).collect();
        let nine = |sets: &[Vec<usize>]| {
            sets.iter().filter(|set| set.len() == WIRES).cloned().collect::<Vec<_>>()
        };
        let whole = |sets: Vec<Vec<usize>>| {
            let is_whole = sets.iter().all(|set| set.len() % WIRES == 0);
            if is_whole { sets } else { Vec::new() }
        };
        let [of_name, of_scope] = [nine(&groups), nine(&scopes)];
        let apart = if of_scope.len() == scopes.len() { of_scope.clone() } else { Vec::new() };
        // First what leaves no signal out, unless names say more; then sets of nine among others.
        let lanes = lanes(&groups);
        let whole =
            [whole(groups), apart, self.eight_and_d(), lanes, whole(scopes), whole(vec![all])];
        let sets = whole.into_iter().chain([of_name, of_scope]);
        let sets = sets.map(|sets| {
            let chunks = sets.iter().flat_map(|set| set.chunks_exact(WIRES));
            chunks.filter_map(|nine| Some(self.arranged(nine.try_into().ok()?))).collect::<Vec<_>>()
        });
        let mut sets = sets.filter(|sets| !sets.is_empty());
        match wanted {
            Some(count) => sets.find(|sets| sets.len() == count),
            None => sets.next(),
        }
    }

    /// Buses of eight with a signal `d` beside them: `t0` to `t7` and `td`, `t_D0` to `t_D7` and `t_d`.
    fn eight_and_d(&self) -> Vec<Vec<usize>> {
        let (groups, mut alone) = (self.groups(), BTreeMap::<_, Vec<usize>>::new());
        let plain = |name: &str| name.to_lowercase().replace('_', "");
        for group in groups.iter().filter(|group| group.bits.len() == 1) {
            let (scope, name) = split_scope(&group.name);
            alone.entry((scope, plain(name))).or_default().extend(group.ascending());
        }
        let with_d = |group: &SignalGroup| {
            let (scope, stem) = split_scope(&group.name);
            let stem = plain(stem);
            let stems = [&stem, stem.trim_end_matches('d'), stem.trim_end_matches("data"), ""];
            let names = stems.map(|stem| (scope, format!("{stem}d")));
            let found: BTreeSet<_> =
                names.iter().filter_map(|it| alone.get(it)).flatten().collect();
            let d = found.first().filter(|_| found.len() == 1 && group.bits.len() == WIRES - 1)?;
            Some([group.ascending(), vec![**d]].concat())
        };
        let sets: Vec<_> = groups.iter().filter_map(with_d).collect();
        let all: BTreeSet<_> = sets.iter().flatten().collect();
        // A `d` that two buses claim is that of neither.
        if all.len() == sets.len() * WIRES { sets } else { Vec::new() }
    }

    /// The wires of nine signals: by the numbers in their names if those are 0 to 8, or 0 to 7 beside one other;
    /// else as given.
    fn arranged(&self, given: [usize; WIRES]) -> WireSelection {
        let split = |at| split_bit(self.names().get(at).map_or("", String::as_str));
        let mut sorted = given.map(|at| {
            let (stem, bit) = split(at);
            let is_alone = given.iter().filter(|other| split(**other).0 == stem).count() == 1;
            (is_alone, stem, bit, at)
        });
        sorted.sort_unstable();
        let [(.., stem, first, _), ..] = sorted;
        let counts = |count: usize| {
            let expected = first.into_iter().flat_map(|first| first..).map(Some);
            let told = sorted.iter().take(count).filter(|(_, other, ..)| *other == stem);
            told.zip(expected).filter(|((.., bit, _), expected)| bit == expected).count() == count
        };
        let is_told = counts(WIRES) || first == Some(0) && counts(WIRES - 1);
        let signals = if is_told { sorted.map(|(.., at)| at) } else { given };
        WireSelection { signals, is_reordered: signals != given }
    }

    /// The scope that nine signals share, without those around it.
    pub fn scope_of(&self, selection: &WireSelection) -> Option<&str> {
        let scopes =
            selection.signals.map(|at| self.names().get(at).map(|name| split_scope(name).0));
        let [first, others @ ..] = &scopes;
        let scope = first.filter(|_| others.iter().all(|other| other == first))?;
        Some(split_scope(scope).1)
    }

    /// The channels of a dump that [`super::VcdWriter`] wrote, in the order of their names; `None` if a name is not the scope
    /// of exactly one.
    pub fn channels_named(&self, names: &[&str]) -> Option<Vec<WireSelection>> {
        let all = self.channels(None)?;
        let scopes = scope_names(names);
        let of_scope = |scope: &String| {
            let mut found = all.iter().filter(|it| self.scope_of(it) == Some(scope.as_str()));
            found.next().filter(|_| found.next().is_none()).copied()
        };
        scopes.iter().map(of_scope).collect()
    }
}

impl SignalGroup {
    /// The signals by ascending bits, as far as these are different; else as given.
    pub fn ascending(&self) -> Vec<usize> {
        let mut bits = self.bits.clone();
        bits.sort_by_key(|(_, bit)| *bit);
        let is_clear = bits.windows(2).all(|two| matches!(two, [one, other] if one.1 < other.1));
        let order = if is_clear { &bits } else { &self.bits };
        order.iter().map(|(at, _)| *at).collect()
    }
}

/// The channels of two buses alone, one of bytes and one of a `d` for each of them: `data[15:0]` and `ctl[1:0]`.
fn lanes(groups: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let [one, other] = groups else { return Vec::new() };
    let (low, d) = if one.len() > other.len() { (one, other) } else { (other, one) };
    let lanes = low.chunks(WIRES - 1).zip(d).map(|(low, d)| [low, &[*d]].concat());
    if low.len() == d.len() * (WIRES - 1) { lanes.collect() } else { Vec::new() }
}

/// The channel of a scope that [`super::VcdWriter`] wrote: `h1:0>s1:1` of `h1_0_to_s1_1`.
pub fn channel_of_scope(scope: &str) -> Option<String> {
    let (from, to) = scope.split_once("_to_")?;
    let port = |end: &str| {
        let (node, port) = end.rsplit_once('_')?;
        let is_port = !node.is_empty() && port.parse::<u8>().is_ok();
        is_port.then(|| format!("{node}:{port}"))
    };
    Some(format!("{}>{}", port(from)?, port(to)?))
}

#[cfg(test)]
mod tests {
    use super::super::variables::VariableName;
    use super::*;

    /// Signals of declarations: scope, width and name of each.
    fn table(declarations: &str) -> SignalTable {
        let mut all = SignalTable::default();
        for (at, line) in declarations.split("; ").enumerate() {
            let words: Vec<&str> = line.split(' ').collect();
            let range = words.get(3).copied().unwrap_or_default();
            let name = VariableName { scopes: &[words[0].to_owned()], name: words[2], range };
            all.declare(name, words[1].parse().unwrap(), &at.to_be_bytes()).unwrap();
        }
        all
    }

    fn names(table: &SignalTable, signals: &[usize]) -> String {
        signals.iter().map(|at| table.names()[*at].as_str()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn wires_are_found_by_many_forms_of_names() {
        let links = table(
            "top.u1 9 tx [8:0]; top.u2 9 rx[0:8]; top 1 d; top 8 t(7:0); a.b 1 c,1; a 1 b.c; b 1 d; a 1 q_1_; a 1 q_0",
        );
        let bus: Vec<String> = (0..9).map(|bit| format!("top.u1.tx[{bit}]")).collect();
        let (tx, rx) = (bus.join(" "), bus.join(" ").replace("u1.tx", "u2.rx"));
        let eight = (0..8).map(|bit| format!("top.t[{bit}]")).collect::<Vec<_>>().join(" ");
        for (text, expected) in [
            ("tx", tx.as_str()),
            ("tx[8:0]", &tx),
            ("u1.tx[0:8]", &tx),
            ("top/u1/tx", &tx),
            ("TX", &tx),
            ("tx(8 downto 0)", &tx),
            ("tx(8),tx(7),tx[6],tx[5:0]", &tx),
            ("rx", &rx),
            ("top.d,t", &format!("{eight} top.d")),
            ("tx[7:0]", "8 signals in --wires, expected 9: of d, 7, 6, 5, 4, 3, 2, 1, 0"),
            ("q", "2 signals in --wires, expected 9: of d, 7, 6, 5, 4, 3, 2, 1, 0"),
            ("tx[9:0]", "no signal tx[9:0]"),
            ("top.d,t[7:1],top.d", "signal top.d is named twice"),
            ("c,1", "1 signals in --wires, expected 9: of d, 7, 6, 5, 4, 3, 2, 1, 0"),
            ("r", "no signal r"),
            ("d", "several signals are called d: top.d, b.d"),
        ] {
            let found = links.wires(text).map_or_else(|error| error, |it| names(&links, &it));
            assert_eq!(found, expected, "{text}");
        }
        assert_eq!(names(&links, &links.find("q[1:0]").unwrap()), "a.q_1_ a.q_0");
    }

    #[test]
    fn channels_are_guessed_from_names() {
        let ordered = |prefix: &str, order: &str| {
            let all = order.split("").filter(|bit| !bit.is_empty());
            let all = all.map(|bit| format!("{prefix} 1 D{bit}").replace("Dd", "d"));
            all.collect::<Vec<_>>().join("; ")
        };
        let both = |order: &str, other: &str| [ordered("a", order), ordered("b", other)].join("; ");
        for (declarations, expected) in [
            (ordered("a", "01234567d"), "a"),
            (ordered("a", "d76543210"), "a"),
            (ordered("a", "37d102564"), "a"),
            (both("76543210d", "01234567d"), "ab"),
            // Among others: a clock, a counter.
            (format!("t 1 clk; t 32 n; {}", ordered("a", "01234567d")), "a"),
            (format!("{}; t 2 n", ordered("t", "d01234567")), "t"),
        ] {
            let table = table(&declarations);
            let found = table.channels(None).unwrap();
            let found: Vec<String> = found.iter().map(|it| names(&table, &it.signals)).collect();
            let expected: Vec<String> = expected
                .chars()
                .map(|scope| {
                    let bits = "D0 D1 D2 D3 D4 D5 D6 D7 d".split(' ');
                    bits.map(|bit| format!("{scope}.{bit}")).collect::<Vec<_>>().join(" ")
                })
                .collect();
            assert_eq!(found, expected, "{declarations}");
        }
        // Numbers that begin with 1 and bits that are there twice tell no order.
        assert!(!table(&ordered("a", "87654321d")).channels(None).unwrap()[0].is_reordered);
        let bits = vec![(0, Some(1)), (1, Some(0)), (2, Some(0))];
        assert_eq!(SignalGroup { name: String::new(), bits }.ascending(), [0, 1, 2]);
        // By nothing but their scopes, which alternate.
        let mixed = "pqrstuvwx".chars().map(|name| format!("a 1 {name}; b 1 {name}"));
        let found = table(&mixed.collect::<Vec<_>>().join("; ")).channels(None).unwrap();
        let found: Vec<Vec<usize>> = found.iter().map(|it| it.signals.to_vec()).collect();
        assert_eq!(found, [0, 1].map(|first| (first..18).step_by(2).collect::<Vec<_>>()));
        // Bytes of two channels, then the `d` of both, or both as one bus; each with a signal whose name ends in a number.
        for (text, ends) in [
            ("t 8 tx 7:0; t 8 rx 7:0; t 1 txd; t 1 rxd", [(7, 16), (15, 17)]),
            ("t 16 data 15:0; t 2 ctl 1:0", [(15, 17), (7, 16)]),
            ("t 8 data1 7:0; t 1 ctl1; t 8 data2 7:0; t 1 ctl2", [(7, 8), (16, 17)]),
        ] {
            let bytes = table(text).channels(None).unwrap();
            let bytes: Vec<Vec<usize>> = bytes.iter().map(|it| it.signals.to_vec()).collect();
            let expected =
                ends.map(|(low, d)| (low - 7..=low).rev().chain([d]).collect::<Vec<_>>());
            assert_eq!(bytes, expected, "{text}");
        }
        let link = both("01234567d", "01234567d").replace("a 1", "h1_0_to_s1_1 1");
        let link = table(&link.replace("b 1", "s1_1_to_h1_0 1"));
        assert_eq!(link.channels_named(&["s1:1>h1:0", "h1:0>s1:1"]).unwrap()[0].signals[0], 9);
        assert_eq!(channel_of_scope("s1_1_to_h1_0").as_deref(), Some("s1:1>h1:0"));
        let others = ["s1_1_h1_0", "_1_to_h1_0", "s1_x_to_h1_0", "s1_1_to_h1_256"];
        assert_eq!(others.map(channel_of_scope), [None, None, None, None]);
        assert_eq!(link.channels(Some(3)), None);
    }

    /// Eight bits and one signal that is called `d`, alone or behind their name, in their scope.
    #[test]
    fn a_bus_of_eight_has_the_only_d_beside_it() {
        let with = "a 8 t; a 1 d/a 8 t; a 1 td/a 8 t; a 1 t_D/a 8 t; a 1 d; b 1 d/a 8 t_D; a 1 t_d/a 8 t_Data; a 1 td; a 1 r_d";
        let without = "a 8 t; b 1 d/a 8 t; a 2 d/a 8 t; a 1 e/a 7 t; a 1 d/a 9 t; a 1 d/a 8 t; a 1 d; a 1 td/a 8 t_D; a 1 r_d/a 8 D; a 1 d; a 8 E; a 1 e";
        for (rows, expected) in [(with, vec![vec![7, 6, 5, 4, 3, 2, 1, 0, 8]]), (without, vec![])] {
            rows.split('/').for_each(|row| assert_eq!(table(row).eight_and_d(), expected, "{row}"));
        }
    }
}
