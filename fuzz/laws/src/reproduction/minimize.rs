//! Minimizes an input that breaks a law.

use crate::failure::{LawFailure, catch_failure};
use crate::shrink::shortest;

/// An input that breaks a law as a longer one does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MinimizedInput {
    pub input: Vec<u8>,
    pub runs: u32,
}

/// The shortest input, with as many zeros as can be where it is no text, that breaks a law as this one does. At
/// most `runs` runs of the law are made; after them the best input so far is the result.
pub fn minimal(
    law: impl Fn(&[u8]),
    input: &[u8],
    broken: &LawFailure,
    runs: u32,
) -> MinimizedInput {
    let mut done = 0;
    let mut fails = |input: &[u8]| {
        if done >= runs {
            return false;
        }
        done += 1;
        catch_failure(|| law(input)).is_err_and(|other| other.is_same(broken))
    };
    let mut least = input.to_vec();
    let odd = |c: char| c.is_control() && c != '\n' && c != '\t';
    let is_text = str::from_utf8(input).is_ok_and(|text| !text.contains(odd));
    loop {
        let before = least.clone();
        // Operations take some bytes each: what goes, goes best whole.
        for (unit, skip) in [(4, 3), (4, 0), (1, 0)] {
            least = without(&least, unit, skip, &mut fails);
        }
        let places = if is_text { 0..0 } else { 0..least.len() };
        for at in places {
            let mut simpler = least.clone();
            let was = simpler.get_mut(at).map(std::mem::take);
            if was != Some(0) && fails(&simpler) {
                least = simpler;
            }
        }
        if least == before {
            return MinimizedInput { input: least, runs: done };
        }
    }
}

/// The input without what it does not need, in units of `unit` bytes after the first `skip`.
fn without(
    input: &[u8],
    unit: usize,
    skip: usize,
    fails: &mut impl FnMut(&[u8]) -> bool,
) -> Vec<u8> {
    let (head, rest) = input.split_at(skip.min(input.len()));
    let units: Vec<&[u8]> = rest.chunks(unit).collect();
    let whole = |units: &[&[u8]]| [head, &units.concat()].concat();
    let least = shortest(&units, &mut |units| fails(&whole(units)));
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

    fn broken(input: &[u8]) -> LawFailure {
        catch_failure(|| law(input)).unwrap_err()
    }

    #[test]
    fn the_least_input_breaks_the_same_law_and_no_other() {
        let long: Vec<u8> = (0..200).collect();
        let found = broken(&long);
        let least = minimal(law, &long, &found, 10_000);
        assert_eq!(least.input, [7, 9]);
        assert!(least.runs < 500, "{least:?}");
        let another = broken(&[1, 2, 3]);
        assert!(!another.is_same(&found));
        assert_eq!(minimal(law, &[1, 2, 3], &another, 1000).input, [0, 0, 0]);
        assert_eq!(minimal(law, b"abc", &another, 1000).input, b"abc");
    }

    #[test]
    fn when_no_run_is_left_the_best_so_far_is_it() {
        let long: Vec<u8> = (0..200).collect();
        let least = minimal(law, &long, &broken(&long), 3);
        assert_eq!(least.runs, 3);
        assert!(broken(&least.input).is_same(&broken(&long)));
        assert_eq!(minimal(law, &long, &broken(&long), 0).input, long);
    }
}
