//! The text of a scenario that breaks a law, made smaller while it still breaks the same one: shorter, with fewer
//! tables and keys, earlier, with smaller numbers and shorter lists of characters. Always the same way, and bounded.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use simulator::messaging::MICROSECOND;
use simulator::scenario::{Scenario, ScenarioError};
use toml::Value;

use super::{StormLaws, tried};
use crate::failure::LawFailure;
use crate::shrink::shortest;

/// Longest time in which nothing begins, where more of it can be left out. *Chosen*
const QUIET: i64 = 500 * MICROSECOND.cast_signed();

const DURATION: &str = "duration_periods";
/// Keys of the times at which something begins.
const BEGINS: [&str; 3] = ["at_periods", "start_periods", "from_periods"];
/// Keys of the times at which it ends.
const ENDS: [&str; 2] = ["to_periods", DURATION];
/// Keys without which a network does more than with them.
const BOUNDS: [&str; 3] = ["packets", "count", "for_periods"];

#[derive(Clone, Debug)]
pub struct MinimizedScenario {
    pub text: String,
    pub scenario: Scenario,
    pub broken: LawFailure,
    pub tries: u32,
}

/// Minimizes the file of a scenario that breaks a law. `watch` gets the smallest one so far, at first and whenever another
/// was tried, and ends it by returning `Break`. A file with numbers beyond 2⁶³, which the TOML library has not, stays as
/// it is.
///
/// # Errors
/// The text is no scenario.
pub fn shrunk(
    text: &str,
    broken: &LawFailure,
    laws: StormLaws,
    watch: &mut dyn FnMut(&MinimizedScenario) -> ControlFlow<()>,
) -> Result<MinimizedScenario, ScenarioError> {
    let scenario = Scenario::read("scenario.toml", text)?;
    let document = toml::from_str(text);
    let text = text.to_owned();
    let least = MinimizedScenario { text, scenario, broken: broken.clone(), tries: 0 };
    let state = watch(&least);
    let Ok(document) = document else { return Ok(least) };
    let mut minimizer = ScenarioMinimizer { document, least, laws, state, watch };
    loop {
        let before = minimizer.document.clone();
        minimizer.shorten();
        minimizer.drop_elements();
        minimizer.drop_keys();
        minimizer.advance();
        minimizer.halve_numbers();
        minimizer.drop_words();
        if minimizer.document == before || minimizer.state.is_break() {
            return Ok(minimizer.least);
        }
    }
}

struct ScenarioMinimizer<'a> {
    /// The document of the least scenario.
    document: Value,
    least: MinimizedScenario,
    laws: StormLaws,
    state: ControlFlow<()>,
    watch: &'a mut dyn FnMut(&MinimizedScenario) -> ControlFlow<()>,
}

impl ScenarioMinimizer<'_> {
    /// Takes a document whose scenario breaks the law or is the same; true if it did.
    fn takes(&mut self, document: Value) -> bool {
        if self.state.is_break() {
            return false;
        }
        let text = toml::to_string(&document).unwrap_or_else(|error| unreachable!("{error}"));
        let Ok(scenario) = Scenario::read("smaller.toml", &text) else { return false };
        let mut broken = self.least.broken.clone();
        if scenario != self.least.scenario {
            self.least.tries += 1;
            match tried(&scenario, self.laws) {
                Err(other) if other.is_same(&broken) => broken = other,
                Ok(_) | Err(_) => {
                    self.state = (self.watch)(&self.least);
                    return false;
                }
            }
        }
        self.document = document;
        self.least = MinimizedScenario { text, scenario, broken, tries: self.least.tries };
        self.state = (self.watch)(&self.least);
        true
    }

    /// Ends the scenario earlier, without what would begin after that: a half of it, a quarter, and so on.
    fn shorten(&mut self) {
        for part in 1..=10 {
            let duration = self.document.get(DURATION).and_then(Value::as_integer).unwrap_or(0);
            let end = duration - (duration >> part);
            let mut smaller = self.document.clone();
            retain_elements(&mut smaller, |element| {
                let begin = BEGINS.iter().find_map(|key| element.get(key)?.as_integer());
                begin.is_none_or(|begin| begin < end)
            });
            change_times(&mut smaller, &ENDS, |time| time.min(end));
            if end < duration {
                self.takes(smaller);
            }
        }
    }

    /// Drops tables of lists with all that names them, those of the last list first: it names the others.
    fn drop_elements(&mut self) {
        let lists = self.document.as_table().into_iter().flatten();
        let lists = lists.filter_map(|(key, value)| Some((key.clone(), value.as_array()?.len())));
        let lists: Vec<(String, usize)> = lists.collect();
        for (key, _) in lists.iter().rev() {
            let before = self.document.clone();
            let list = before.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
            let places: Vec<usize> = (0..list.len()).collect();
            shortest(&places, &mut |kept| self.takes(without(&before, key, kept)));
        }
    }

    fn drop_keys(&mut self) {
        let mut number = 0;
        while let Some(Value::Table(table)) = nth(&mut self.document, number, &Value::is_table) {
            let keys: Vec<String> = table.keys().cloned().collect();
            let before = self.document.clone();
            shortest(&keys, &mut |kept| {
                let mut smaller = before.clone();
                let table = nth(&mut smaller, number, &Value::is_table);
                if let Some(table) = table.and_then(Value::as_table_mut) {
                    table.retain(|key, _| kept.iter().any(|it| it == key) || BOUNDS.contains(&key));
                }
                self.takes(smaller)
            });
            number += 1;
        }
    }

    /// Lets all that follows a quiet time begin sooner.
    fn advance(&mut self) {
        let mut refused = 0;
        loop {
            let mut times = BTreeSet::from([0]);
            change_times(&mut self.document, &BEGINS, |time| {
                times.insert(time);
                time
            });
            let gaps = times.iter().zip(times.iter().skip(1));
            let mut gaps = gaps.filter(|(last, next)| *next - *last > QUIET);
            let Some((last, next)) = gaps.nth(refused) else { return };
            // An even number of periods, so that fill stays as it is.
            let by = (next - last - QUIET / 2) & !1;
            let mut smaller = self.document.clone();
            for keys in [&BEGINS[..], &ENDS] {
                change_times(
                    &mut smaller,
                    keys,
                    |time| if time < *next { time } else { time - by },
                );
            }
            refused += usize::from(!self.takes(smaller));
        }
    }

    fn halve_numbers(&mut self) {
        let mut refused = 0;
        let is_number = |value: &Value| value.as_integer().is_some_and(|number| number > 0);
        loop {
            let mut smaller = self.document.clone();
            let Some(number) = nth(&mut smaller, refused, &is_number) else { return };
            *number = Value::Integer(number.as_integer().unwrap_or_default() / 2);
            refused += usize::from(!self.takes(smaller));
        }
    }

    /// Drops words of texts that have several: characters that are sent as they stand.
    fn drop_words(&mut self) {
        let is_words = |value: &Value| value.as_str().is_some_and(|text| text.contains(' '));
        let mut number = 0;
        loop {
            let mut smaller = self.document.clone();
            let Some(text) = nth(&mut smaller, number, &is_words) else { return };
            let all = text.as_str().unwrap_or_default().to_owned();
            let words: Vec<&str> = all.split(' ').collect();
            let left = shortest(&words, &mut |words| {
                let mut smaller = smaller.clone();
                let text = nth(&mut smaller, number, &is_words);
                if let Some(text) = text {
                    *text = Value::String(words.join(" "));
                }
                self.takes(smaller)
            });
            number += usize::from(left.len() > 1);
        }
    }
}

/// The value of a number among those of a document that are `wanted`, depth first.
fn nth<'a>(
    document: &'a mut Value,
    number: usize,
    wanted: &dyn Fn(&Value) -> bool,
) -> Option<&'a mut Value> {
    fn find<'a>(
        value: &'a mut Value,
        left: &mut usize,
        wanted: &dyn Fn(&Value) -> bool,
    ) -> Option<&'a mut Value> {
        if wanted(value) {
            if *left == 0 {
                return Some(value);
            }
            *left -= 1;
        }
        match value {
            Value::Array(list) => list.iter_mut().find_map(|value| find(value, left, wanted)),
            Value::Table(table) => {
                table.iter_mut().find_map(|(_, value)| find(value, left, wanted))
            }
            Value::String(_)
            | Value::Integer(_)
            | Value::Float(_)
            | Value::Boolean(_)
            | Value::Datetime(_) => None,
        }
    }
    find(document, &mut { number }, wanted)
}

/// Changes the times of these keys in all tables.
fn change_times(document: &mut Value, keys: &[&str], mut change: impl FnMut(i64) -> i64) {
    let mut number = 0;
    while let Some(table) = nth(document, number, &Value::is_table) {
        for key in keys {
            if let Some(Value::Integer(time)) = table.get_mut(key) {
                *time = change(*time);
            }
        }
        number += 1;
    }
}

/// Keeps some elements of the lists of tables; an empty list goes.
fn retain_elements(document: &mut Value, mut keep: impl FnMut(&mut Value) -> bool) {
    let Value::Table(root) = document else { return };
    root.retain(|_, value| {
        let Value::Array(list) = value else { return true };
        list.retain_mut(&mut keep);
        !list.is_empty()
    });
}

/// The document with these elements of a list only, and nothing that names the others.
fn without(document: &Value, key: &str, kept: &[usize]) -> Value {
    let mut document = document.clone();
    let mut gone = Vec::new();
    let name = |element: &Value| Some(element.get("name")?.as_str()?.to_owned());
    if let Some(Value::Array(list)) = document.get_mut(key) {
        let mut places = 0..;
        list.retain(|element| {
            let is_kept = places.next().is_some_and(|place| kept.contains(&place));
            gone.extend(name(element).filter(|_| !is_kept));
            is_kept
        });
    }
    retain_elements(&mut document, |_| true);
    while let Some(gone_name) = gone.pop() {
        retain_elements(&mut document, |element| {
            let is_kept = !names(element, &gone_name);
            gone.extend(name(element).filter(|_| !is_kept));
            is_kept
        });
        for (_, value) in document.as_table_mut().into_iter().flatten() {
            if let Value::Table(table) = value {
                table.retain(|_, value| !names(value, &gone_name));
            }
        }
    }
    document
}

/// True if a value names a node or endpoint, a port of it, or an endpoint at it. A list of more than two loses the name
/// instead, and a table its key.
fn names(value: &mut Value, name: &str) -> bool {
    match value {
        Value::String(text) => text
            .strip_prefix(name)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with([':', '.'])),
        Value::Array(list) => {
            let few = list.len().min(2);
            list.retain_mut(|value| !names(value, name));
            list.len() < few
        }
        Value::Table(table) => {
            table.remove(name);
            table.iter_mut().any(|(_, value)| names(value, name))
        }
        Value::Integer(_) | Value::Float(_) | Value::Boolean(_) | Value::Datetime(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storm::generator::draft;

    /// The first network of a seed that breaks the law that is wrong on purpose.
    fn found() -> (String, LawFailure) {
        let files = (0..).filter_map(|number| Some(draft(3, number, Some(8))?.text()));
        let broken = |text: &String| {
            let scenario = Scenario::read("storm.toml", text).unwrap();
            tried(&scenario, StormLaws::Canary).err()
        };
        files.filter_map(|text| broken(&text).map(|broken| (text, broken))).next().unwrap()
    }

    /// The network that is left after so many tries at most.
    fn left(text: &str, broken: &LawFailure, tries: u32) -> MinimizedScenario {
        let mut watch = |least: &MinimizedScenario| {
            if least.tries < tries { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        shrunk(text, broken, StormLaws::Canary, &mut watch).unwrap()
    }

    #[test]
    fn a_file_with_a_number_that_the_toml_library_has_not_stays_as_it_is() {
        let (text, broken) = found();
        let seed = text.lines().find(|line| line.starts_with("seed = ")).unwrap();
        let text = text.replace(seed, &format!("seed = {}", u64::MAX));
        let left = left(&text, &broken, 400);
        assert_eq!((left.text, left.tries), (text, 0));
    }

    #[test]
    fn a_network_that_breaks_a_law_is_made_small_and_still_breaks_it() {
        let (text, broken) = found();
        let left = left(&text, &broken, 400);
        assert!(left.broken.is_same(&broken), "{:?}", left.broken);
        let Scenario { topology, streams, raw, messaging, faults, taps, .. } = &left.scenario;
        // What is cut is a cable, and that has two ends.
        assert_eq!((topology.nodes().len(), topology.cables().len()), (2, 1));
        assert_eq!((streams.len(), raw.len(), messaging.len(), taps.len()), (0, 0, 0, 0));
        assert_eq!(faults.len(), 1, "{faults:?}");
        let again = Scenario::read("left.toml", &left.text).unwrap();
        assert_eq!(again, left.scenario);
        assert!(tried(&again, StormLaws::Canary).is_err(), "{}", left.text);
    }

    #[test]
    fn what_is_left_is_the_same_each_time_and_tries_have_an_end() {
        let (text, broken) = found();
        let [one, other] = [(); 2].map(|()| left(&text, &broken, 25));
        assert_eq!(one.text, other.text);
        assert_eq!((one.tries, other.tries), (25, 25));
    }

    #[test]
    fn each_smaller_network_is_seen_and_the_last_is_left() {
        let (text, broken) = found();
        let mut seen = Vec::new();
        let mut watch = |least: &MinimizedScenario| {
            seen.push(least.text.clone());
            seen.dedup();
            if seen.len() < 4 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        let left = shrunk(&text, &broken, StormLaws::Canary, &mut watch).unwrap();
        assert_eq!((seen.len(), &seen[0], &seen[3]), (4, &text, &left.text));
        for text in seen {
            let scenario = Scenario::read("seen.toml", &text).unwrap();
            assert!(tried(&scenario, StormLaws::Canary).is_err(), "{text}");
        }
    }

    /// N-2, N-3
    #[test]
    fn all_that_names_a_host_goes_with_it() {
        let text = "duration_us = 5\nroutes.method = 'mapped'\nmapper.who = 'h3'\n\
                    mapper.addresses = { h1 = '00:60:dd:00:00:01', h2 = '00:60:dd:00:00:02' }\n\
                    switch = [{ name = 's0' }]\n\
                    host = [{ name = 'h1', at = 's0:1' }, { name = 'h2', at = 's0:2' }, { name = 'h3' }]\n\
                    cable = [{ ends = ['h3:0', 's0:3'] }]\n\
                    endpoint = [{ name = 'server', host = 'h1' }, { name = 'client', host = 'h2' }]\n\
                    messages = [{ from = 'client', to = 'server', words = 1, every_us = 1 }]\n\
                    traffic = [{ from = 'h2', to = ['h1', 'h2', 'h3'], payload = 8, every_us = 1 }]\n\
                    tap = [{ port = 'h1:0' }, { port = 's0:2' }]\n";
        let document: Value = toml::from_str(text).unwrap();
        let mut shown = String::new();
        for kept in [[1, 2], [0, 1]] {
            let left = toml::to_string(&without(&document, "host", &kept)).unwrap();
            Scenario::read("left.toml", &left).unwrap_or_else(|error| panic!("{error}\n{left}"));
            shown += &format!("{left}---\n");
        }
        insta::assert_snapshot!(shown);
    }
}
