//! Catches the panics of broken laws, with their place and text.

use std::cell::Cell;
use std::fmt;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind, set_hook, take_hook};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use std::thread::{self, ThreadId};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LawFailure {
    /// Position where it stands, or what else gave up: file, line and column.
    pub place: String,
    pub text: String,
}

impl fmt::Display for LawFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, at {}", self.text, self.place)
    }
}

impl LawFailure {
    /// Tests whether it is the same law, whatever broke it: at the same place and in the same words. Numbers and
    /// other details of the case may differ.
    pub fn is_same(&self, other: &Self) -> bool {
        self.place == other.place && self.words().eq(other.words())
    }

    /// The words of the first line, as far as they are the law's own.
    fn words(&self) -> impl Iterator<Item = char> {
        let end = self.text.find(['{', '[', '"', '\n']).unwrap_or(self.text.len());
        self.text.chars().take(end).filter(|c| !c.is_ascii_digit())
    }
}

#[derive(Debug)]
struct FailureLog {
    catching: u32,
    broken: Vec<(ThreadId, LawFailure)>,
}

static SEEN: Mutex<FailureLog> = Mutex::new(FailureLog { catching: 0, broken: Vec::new() });

thread_local! {
    static CATCHING: Cell<u32> = const { Cell::new(0) };
}

fn failure_log() -> MutexGuard<'static, FailureLog> {
    SEEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs laws, in this thread or a pool of its own, and catches the first failure. Nothing is printed.
///
/// # Errors
/// The first law that is broken.
pub fn catch_failure<T>(run: impl FnOnce() -> T) -> Result<T, LawFailure> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |panic| {
            if !record_panic(panic) {
                before(panic);
            }
        }));
    });
    failure_log().catching += 1;
    CATCHING.set(CATCHING.get() + 1);
    let result = catch_unwind(AssertUnwindSafe(run));
    CATCHING.set(CATCHING.get() - 1);
    let mut seen = failure_log();
    seen.catching -= 1;
    let result = result.map_err(|payload| {
        let text = payload.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| payload.downcast_ref::<&str>().copied());
        let text = text.unwrap_or("something else than words");
        // A pool passes on the panic of one thread; others may have panics of their own.
        let own = thread::current().id();
        let same = |of_thread: &dyn Fn(ThreadId) -> bool| {
            seen.broken.iter().position(|(id, it)| of_thread(*id) && it.text == text)
        };
        let at = same(&|id| id == own).or_else(|| same(&|_| true));
        let unknown = || LawFailure { place: "?".to_owned(), text: text.to_owned() };
        at.map_or_else(unknown, |at| seen.broken.swap_remove(at).1)
    });
    if seen.catching == 0 {
        seen.broken.clear();
    }
    result
}

/// Keeps the text of a panic, if this thread checks laws, or another does and this may be a thread of
/// a pool of theirs: those have no name, as those of tests have.
fn record_panic(panic: &PanicHookInfo<'_>) -> bool {
    let mut seen = failure_log();
    if CATCHING.get() == 0 && (seen.catching == 0 || thread::current().name().is_some()) {
        return false;
    }
    let text = panic.payload_as_str().unwrap_or("something else than words").to_owned();
    let place = panic.location().map_or_else(String::new, ToString::to_string);
    seen.broken.push((thread::current().id(), LawFailure { place, text }));
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn broken(what: u32) -> LawFailure {
        catch_failure(|| assert!(what == 0, "{what} is nothing, law {what}")).unwrap_err()
    }

    #[test]
    fn a_law_that_is_broken_is_told_with_its_place_and_text() {
        assert_eq!(catch_failure(|| 7), Ok(7));
        let broken = broken(3);
        assert!(broken.place.contains("failure.rs:"), "{broken:?}");
        assert_eq!(broken.text, "3 is nothing, law 3");
    }

    #[test]
    fn laws_are_told_apart_by_place_and_words() {
        assert!(broken(3).is_same(&broken(14)));
        let say = |text: &str| catch_failure(|| panic!("{text}")).unwrap_err();
        assert!(!say("3 is nothing, law 3").is_same(&broken(3)));
        assert!(say("no row 12: {a}").is_same(&say("no row 7: {b}")));
        assert!(!say("no row 12: {a}").is_same(&say("no column 12: {a}")));
    }

    #[test]
    fn a_law_that_is_broken_in_a_pool_is_told_too() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        let broken = catch_failure(|| pool.install(|| panic!("in a pool"))).unwrap_err();
        assert_eq!(broken.text, "in a pool");
        assert!(broken.place.contains("failure.rs:"), "{broken:?}");
    }

    #[test]
    fn what_is_caught_within_what_is_caught_is_its_own() {
        let outer = catch_failure(|| {
            let inner = broken(5);
            assert!(inner.text.is_empty(), "outer");
        });
        assert_eq!(outer.unwrap_err().text, "outer");
    }
}
