//! Round trip: a network that is simulated, exported as wires and imported again has the same characters, whatever skew, jitter, clocks and
//! phases. W-1 to W-6

use std::panic::catch_unwind;

use laws::network::input::NetworkInput;
use laws::recordings::round_trip;
use laws::repair::SeededRng;

#[test]
fn what_is_exported_is_imported() {
    let mut characters = 0;
    for number in 0..150_u64 {
        let mut dice = SeededRng::numbered(b"recordings", number);
        let plan = NetworkInput::from_bytes(&dice.bytes_within(60, 400));
        let Some(scenario) = plan.and_then(|plan| plan.scenario()) else { continue };
        let came = catch_unwind(|| round_trip(scenario));
        characters += came.unwrap_or_else(|_| panic!("network {number}"));
    }
    assert!(characters > 100_000, "{characters}");
}
