//! Slack buffers of demos and of random networks: the truth is always within the bounds, and they
//! are no wider than they were.

use std::panic::catch_unwind;

use laws::network::analyzed::AnalyzedCapture;
use laws::network::facts::rates_are_alike;
use laws::network::input::NetworkInput;
use laws::network::run::run;
use laws::network::slack::{BoundsWidth, check};
use laws::repair::SeededRng;
use laws::{corpus, taps};
use simulator::network::VisitOrder;
use simulator::scenario::Scenario;
use simulator::truth::TraceLevel;

fn width(scenario: &Scenario) -> BoundsWidth {
    let outcome = run(scenario, TraceLevel::Everything, VisitOrder::AsGiven, 1000);
    check(scenario, &outcome, &AnalyzedCapture::of(&outcome.capture))
}

/// The mean width, to a tenth of a cell.
fn cells(width: &BoundsWidth) -> String {
    let tenths = (width.mean() + 50) / 100;
    format!("{}.{}", tenths / 10, tenths % 10)
}

/// Mean widths in cells, of 80, with every port of a demo tapped. Most of the time nothing but GO
/// stands there, and that a buffer with less than 48 full cells says nothing is all there is to know.
const DEMOS: &str = "\
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
fn the_fills_of_demos_are_within_their_bounds() {
    let mut lines = String::new();
    for (name, mut scenario) in corpus::scenarios() {
        scenario.taps = taps::at_every_port(&scenario);
        let width = width(&scenario);
        assert_eq!(width.contradictions, 0, "{name}");
        lines += &format!("{name} {}\n", cells(&width));
    }
    assert_eq!(lines, DEMOS);
}

#[test]
fn the_fills_of_random_networks_are_within_their_bounds() {
    let mut dice = SeededRng::new(b"slack");
    let mut sum = BoundsWidth::default();
    for _ in 0..500 {
        let len = usize::try_from(60 + dice.below(240)).unwrap();
        let plan = NetworkInput::from_bytes(&dice.bytes(len)).unwrap();
        let scenario = plan.scenario().filter(rates_are_alike);
        let Some(scenario) = scenario else { continue };
        let width = catch_unwind(|| width(&scenario));
        let width = width.unwrap_or_else(|_| panic!("{plan:?}"));
        assert_eq!(width.contradictions, 0, "{plan:?}");
        sum.periods += width.periods;
        sum.doubled += width.doubled;
    }
    let said = format!("{} in the mean over {} periods", cells(&sum), sum.periods);
    assert!(sum.periods > 1_000_000 && sum.mean() < 22_000, "{said}");
}
