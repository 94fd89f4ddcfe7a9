//! The demos of `fixtures/`, simulated once and analysed once: what the analyzer reads at every port is
//! what really happened.

use std::sync::LazyLock;

use laws::judged_network::{self, JudgedNetwork};
use laws::repair::draws;
use laws::{corpus, engines, taps};
use simulator::clock::NodeClock;
use simulator::truth::TraceLevel;

/// Demos and the whole deadlock of one, with a tap at every port.
pub(crate) static EVERY_PORT: LazyLock<Vec<(String, JudgedNetwork)>> = LazyLock::new(|| {
    let scenarios = corpus::scenarios().into_iter();
    let judged = scenarios.map(|(name, mut scenario)| {
        scenario.taps = taps::at_every_port(&scenario);
        (name, JudgedNetwork::of(scenario))
    });
    judged.collect()
});

/// Mean widths in cells, of 80, of the bounds of slack buffers. Most of the time nothing but GO
/// stands there, and that a buffer with less than 48 full cells says nothing is all there is to know.
const WIDTHS: &str = "\
demo-adversary 28.0
demo-campus 46.1
demo-campus-router 46.9
demo-clocks 56.5
demo-contention 41.3
demo-cut 47.7
demo-dateline 43.6
demo-glitch 47.0
demo-ip 46.8
demo-lossy 47.0
demo-lost-gap 46.1
demo-mapping 46.9
demo-multicast 46.7
demo-nacks 46.4
demo-now36 45.3
demo-open-wire 47.1
demo-overcommit 46.7
demo-restart 47.0
demo-ring 44.4
demo-self-healing 45.2
demo-slack 46.0
demo-two-hosts 47.2
demo-two-mappers 1.0
demo-unreachable 47.0
ring-deadlock 44.4
";

#[test]
fn what_is_read_at_every_port_of_a_demo_is_what_happened() {
    let mut widths = String::new();
    for (name, judged) in &*EVERY_PORT {
        let tenths = (judged_network::check(judged).mean() + 50) / 100;
        widths += &format!("{name} {}.{}\n", tenths / 10, tenths % 10);
    }
    assert_eq!(widths, WIDTHS);
}

/// Up to an eighth of a millisecond, and a third of one where clocks are unlike.
#[test]
fn both_engines_agree_on_the_demos() {
    for (number, (_, judged)) in EVERY_PORT.iter().enumerate() {
        let mut scenario = judged.scenario.clone();
        scenario.duration = scenario.duration.min(draws(10_000));
        engines::compare(&scenario, TraceLevel::Everything, 1999);
        scenario.duration = scenario.duration.min(draws(3_000));
        if number % 2 == 0 {
            scenario.set_clocks(|_| NodeClock::Random);
        } else {
            engines::far_apart(&mut scenario);
        }
        engines::compare(&scenario, TraceLevel::Everything, 1999);
    }
}
