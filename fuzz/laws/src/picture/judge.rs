//! Whether a law holds of an input; and of one of which it does not, the least that breaks it likewise.

use std::fmt;
use std::panic::{self, AssertUnwindSafe, PanicHookInfo, catch_unwind};
use std::sync::{Mutex, PoisonError};

use crate::Law;
use crate::shrink::shortest;

/// Whether a law holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It does.
    Holds,
    /// It does not.
    Breaks(Breach),
}

/// How a law was broken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Breach {
    /// What it said.
    pub message: String,
    /// Where, as `file:line:column`.
    pub place: String,
}

/// An input that breaks a law as a longer one does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Minimal {
    /// The input.
    pub input: Vec<u8>,
    /// How often the law was run to find it.
    pub runs: u32,
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, at {}", self.message, self.place)
    }
}

impl Breach {
    /// Whether the same law was broken, at the same place and in the same words. Numbers and what else
    /// is told of the case may differ.
    #[must_use]
    pub fn is_like(&self, other: &Self) -> bool {
        self.place == other.place && words(&self.message) == words(&other.message)
    }
}

/// The words of the first line of a message, as far as they are the law's own.
fn words(message: &str) -> String {
    let line = message.lines().next().unwrap_or_default();
    let line = line.split(['{', '[', '"']).next().unwrap_or_default();
    line.chars().filter(|c| !c.is_ascii_digit()).collect()
}

/// Whether a law holds of an input.
#[must_use]
pub fn judged(law: Law, input: &[u8]) -> Verdict {
    attempted(|| law(input)).map_or_else(Verdict::Breaks, |()| Verdict::Holds)
}

/// Does something that may panic, in any thread of its own, and says nothing of it but to its caller.
///
/// # Errors
/// It panicked.
pub fn attempted<T>(attempt: impl FnOnce() -> T) -> Result<T, Breach> {
    /// The hook is one for all threads.
    static TURN: Mutex<()> = Mutex::new(());
    static SEEN: Mutex<Vec<Breach>> = Mutex::new(Vec::new());
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let seen = || SEEN.lock().unwrap_or_else(PoisonError::into_inner);
    seen().clear();
    let before = panic::take_hook();
    panic::set_hook(Box::new(move |panic: &PanicHookInfo<'_>| {
        let place = panic.location().map_or_else(String::new, ToString::to_string);
        let message = panic.payload_as_str().unwrap_or_default().to_owned();
        seen().push(Breach { message, place });
    }));
    let result = catch_unwind(AssertUnwindSafe(attempt));
    panic::set_hook(before);
    result.map_err(|payload| {
        let text = payload.downcast_ref::<String>().cloned();
        let text = text.or_else(|| payload.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        let message = text.unwrap_or_default();
        // Other threads may have panicked for reasons of their own.
        let own = seen().iter().find(|breach| breach.message == message).cloned();
        own.unwrap_or(Breach { message, place: "?".to_owned() })
    })
}

/// The shortest input, with as many zeros as can be where it is no text, that breaks a law as this one does. At most so many
/// runs of the law are made; after them the best one so far is it.
#[must_use]
pub fn minimal(law: Law, input: &[u8], breach: &Breach, runs: u32) -> Minimal {
    let done = std::cell::Cell::new(0);
    let fails = |input: &[u8]| {
        if done.get() >= runs {
            return false;
        }
        done.set(done.get() + 1);
        match judged(law, input) {
            Verdict::Holds => false,
            Verdict::Breaks(other) => other.is_like(breach),
        }
    };
    let mut least = input.to_vec();
    let odd = |c: char| c.is_control() && c != '\n' && c != '\t';
    let is_text = str::from_utf8(input).is_ok_and(|text| !text.contains(odd));
    loop {
        let before = least.clone();
        // Operations take some bytes each: what goes, goes best whole.
        for (unit, skip) in [(4, 3), (4, 0), (1, 0)] {
            least = without(&least, unit, skip, &fails);
        }
        let places = if is_text { 0..0 } else { 0..least.len() };
        for at in places {
            let mut simpler = least.clone();
            let was = simpler.get_mut(at).map(std::mem::take);
            if was != Some(0) && fails(&simpler) {
                least = simpler;
            }
        }
        if least == before || done.get() >= runs {
            return Minimal { input: least, runs: done.get() };
        }
    }
}

/// The input without what it does not need, in units of so many bytes behind the first few.
fn without(input: &[u8], unit: usize, skip: usize, fails: &impl Fn(&[u8]) -> bool) -> Vec<u8> {
    let (head, rest) = input.split_at(skip.min(input.len()));
    let units: Vec<&[u8]> = rest.chunks(unit).collect();
    let whole = |units: &[&[u8]]| [head, &units.concat()].concat();
    let least = shortest(&units, &|units| fails(&whole(units)));
    whole(&least)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Broken by two bytes in this order, wherever they are.
    fn law(input: &[u8]) {
        let first = input.iter().position(|byte| *byte == 7);
        let second = input.iter().rposition(|byte| *byte == 9);
        let len = input.len();
        if let (Some(first), Some(second)) = (first, second) {
            assert!(second < first, "{len} bytes: 9 comes before 7");
        }
        assert!(len != 3, "another law");
    }

    fn breach(input: &[u8]) -> Breach {
        match judged(law, input) {
            Verdict::Breaks(breach) => breach,
            Verdict::Holds => panic!("it holds"),
        }
    }

    #[test]
    fn a_law_that_holds_does_and_one_that_does_not_says_where() {
        assert_eq!(judged(law, &[9, 7]), Verdict::Holds);
        let breach = breach(&[1, 7, 1, 9]);
        assert_eq!(breach.message, "4 bytes: 9 comes before 7");
        assert!(breach.place.contains("picture/judge.rs:"), "{breach}");
    }

    #[test]
    fn the_least_input_breaks_the_same_law_and_no_other() {
        let long: Vec<u8> = (0..200).collect();
        let found = breach(&long);
        let least = minimal(law, &long, &found, 10_000);
        assert_eq!(least.input, [7, 9]);
        assert!(least.runs < 500, "{least:?}");
        let another = breach(&[1, 2, 3]);
        assert!(!another.is_like(&found));
        assert_eq!(minimal(law, &[1, 2, 3], &another, 1000).input, [0, 0, 0]);
        assert_eq!(minimal(law, b"abc", &another, 1000).input, b"abc");
    }

    #[test]
    fn when_no_run_is_left_the_best_so_far_is_it() {
        let long: Vec<u8> = (0..200).collect();
        let least = minimal(law, &long, &breach(&long), 3);
        assert_eq!(least.runs, 3);
        assert!(breach(&least.input).is_like(&breach(&long)));
        assert_eq!(minimal(law, &long, &breach(&long), 0).input, long);
    }

    #[test]
    fn a_panic_in_a_thread_of_its_own_is_found_too() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        let breach = attempted(|| pool.install(|| panic!("in a pool"))).unwrap_err();
        assert_eq!(breach.message, "in a pool");
        assert!(breach.place.contains("judge.rs"));
    }
}
