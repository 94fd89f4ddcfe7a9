//! The demos of `fixtures/`: what the analyzer reads at every port is what really happened.

use std::fs;
use std::path::Path;

use laws::network::simulated;
use simulator::scenario::{PortTap, Scenario};

#[test]
#[expect(clippy::disallowed_methods, reason = "the fixtures are files")]
fn what_is_read_at_every_port_of_a_demo_is_what_happened() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let mut scenarios = 0;
    for entry in fs::read_dir(fixtures).unwrap() {
        let file = entry.unwrap().path().join("scenario.toml");
        let Ok(text) = fs::read(&file) else { continue };
        let text = String::from_utf8(text).unwrap();
        let name = file.display().to_string();
        let mut scenario = Scenario::read(&name, &text).unwrap_or_else(|error| panic!("{error}"));
        let ports = scenario.topology.cables().iter().flat_map(|cable| cable.ends);
        scenario.taps =
            ports.map(|port| PortTap { port, from: 0, to: scenario.duration }).collect();
        simulated(&scenario);
        scenarios += 1;
    }
    // Fourteen demos, and the whole deadlock of one.
    assert_eq!(scenarios, 15);
}
