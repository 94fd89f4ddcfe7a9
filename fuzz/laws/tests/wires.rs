//! Damaged wires in random networks: `examples/wires.rs` draws more of them.

use laws::damaged_wire::{WireOutcome, damaged_wire};

/// Networks that are drawn; the wire is between two taps in a few of them.
const DRAWN: u64 = 550;

/// W-5, P-5
#[test]
fn one_damaged_wire_between_two_taps_is_named() {
    let outcomes: Vec<WireOutcome> = (0..DRAWN).map(damaged_wire).collect();
    let missed: Vec<_> =
        outcomes.iter().filter(|it| matches!(it, WireOutcome::Missed(_))).collect();
    assert!(missed.is_empty(), "{missed:?}");
    // Channels with other rates end at other times; the bytes say enough.
    for number in [22495, 38448, 75265] {
        assert_eq!(damaged_wire(number), WireOutcome::Named, "{number}");
    }
    assert!(outcomes.iter().filter(|it| **it == WireOutcome::Named).count() >= 2);
}
