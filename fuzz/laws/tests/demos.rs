//! The demos of `fixtures/`: what the analyzer reads at every port is what really happened.

use laws::network::simulated;
use laws::{corpus, taps};

#[test]
fn what_is_read_at_every_port_of_a_demo_is_what_happened() {
    let scenarios = corpus::scenarios();
    // Twenty-four demos, and the whole deadlock of one.
    assert_eq!(scenarios.len(), 25);
    for (_, mut scenario) in scenarios {
        scenario.taps = taps::at_every_port(&scenario);
        simulated(&scenario);
    }
}
