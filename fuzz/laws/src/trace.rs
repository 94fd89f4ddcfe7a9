//! Trace of the operations of a law, for reproductions: they need it although the law may fail halfway. It is
//! recorded only on request.

use std::cell::{Cell, RefCell};

use codec::character::Character;
use codec::transport::Nic;
use simulator::messaging::MessagingEvent;

use crate::failure::{LawFailure, catch_failure};

/// Most entries. *Chosen*: no picture shows more.
const ENTRIES_MAX: usize = 1 << 16;

#[derive(Clone, Debug)]
pub(crate) enum LawTraceEntry {
    Did(u64, String),
    /// Event between NICs, in words.
    Happened(String),
    /// A packet began to go from one NIC to another.
    Packet(u64, Nic, Nic, Vec<u8>),
    Row(u64, Nic, MessagingEvent),
    Period(Character, Character),
}

thread_local! {
    static IS_KEPT: Cell<bool> = const { Cell::new(false) };
    static ENTRIES: RefCell<Vec<LawTraceEntry>> = const { RefCell::new(Vec::new()) };
}

pub(crate) fn is_recording() -> bool {
    IS_KEPT.get()
}

/// Records an entry, if recording is on.
#[inline]
pub(crate) fn record(entry: impl FnOnce() -> LawTraceEntry) {
    if IS_KEPT.get() {
        ENTRIES.with_borrow_mut(|entries| {
            if entries.len() < ENTRIES_MAX {
                entries.push(entry());
            }
        });
    }
}

/// Runs a function, and returns the entries that it recorded in this thread.
pub(crate) fn traced<T>(
    attempt: impl FnOnce() -> T,
) -> (Result<T, LawFailure>, Vec<LawTraceEntry>) {
    ENTRIES.take();
    IS_KEPT.set(true);
    let result = catch_failure(attempt);
    IS_KEPT.set(false);
    (result, ENTRIES.take())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_told_outlives_a_broken_law() {
        record(|| LawTraceEntry::Did(0, "nobody asked".to_owned()));
        let (result, entries) = traced(|| {
            record(|| LawTraceEntry::Did(1, "before".to_owned()));
            assert!(entries_are_few(), "broken");
        });
        assert_eq!(result.unwrap_err().text, "broken");
        assert!(matches!(entries.as_slice(), [LawTraceEntry::Did(1, text)] if text == "before"));
    }

    fn entries_are_few() -> bool {
        ENTRIES.with_borrow(|entries| entries.len() != 1)
    }
}
