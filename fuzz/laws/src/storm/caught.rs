//! Laws panic where they are broken: here that is caught, and told in which law it was.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

/// A law that is broken.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Broken {
    /// Where it stands, or what else gave up: file and line.
    pub place: String,
    /// What it says.
    pub text: String,
}

thread_local! {
    static CATCHING: Cell<u32> = const { Cell::new(0) };
    static LAST: RefCell<Option<Broken>> = const { RefCell::new(None) };
}

static HOOK: Once = Once::new();

impl Broken {
    /// Whether it is the same law, whatever broke it: it stands at the same place, and begins with the same
    /// words, up to the first that may be about the case.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        self.place == other.place && self.head() == other.head()
    }

    fn head(&self) -> &str {
        let end = self.text.find(|c: char| c.is_ascii_digit() || c == '{' || c == '\n');
        self.text.get(..end.unwrap_or(self.text.len())).unwrap_or_default()
    }
}

/// What comes of something that looks after laws, or which of them is broken. Nothing is printed.
///
/// # Errors
/// The first law that is broken.
pub fn caught<T>(run: impl FnOnce() -> T) -> Result<T, Broken> {
    HOOK.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |panic| {
            if CATCHING.get() == 0 {
                before(panic);
                return;
            }
            let text = panic.payload_as_str().unwrap_or("something else than words");
            let place = panic
                .location()
                .map_or_else(String::new, |place| format!("{}:{}", place.file(), place.line()));
            LAST.set(Some(Broken { place, text: text.to_owned() }));
        }));
    });
    CATCHING.set(CATCHING.get() + 1);
    let result = catch_unwind(AssertUnwindSafe(run));
    CATCHING.set(CATCHING.get() - 1);
    result.map_err(|_| LAST.take().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn broken(what: u32) -> Broken {
        caught(|| assert!(what == 0, "{what} is nothing, law {what}")).unwrap_err()
    }

    #[test]
    fn a_law_that_is_broken_is_told_with_its_place_and_text() {
        assert_eq!(caught(|| 7), Ok(7));
        let broken = broken(3);
        assert!(broken.place.contains("caught.rs:"), "{broken:?}");
        assert_eq!(broken.text, "3 is nothing, law 3");
    }

    #[test]
    fn laws_are_told_apart_by_place_and_first_words() {
        assert!(broken(3).is_same(&broken(4)));
        let other = caught(|| assert!(broken(1).text.is_empty(), "another")).unwrap_err();
        assert!(!broken(3).is_same(&other));
    }
}
