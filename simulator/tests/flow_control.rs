//! Buffer needs and overhead of STOP and GO, for any behaviour of sink and source. F-3, F-4
//! (§4.5.2)

use crate::support;

use std::collections::BTreeMap;

use codec::time::Ticks;
use myriscope_simulator::link::{LinkParameters, PortParameters, SlackSize};
use proptest::prelude::*;
use support::flow::{
    BLOCKED, BufferResult, FLOWING, FlowChannel, PeriodInputs, SinkAction, SourceAction,
};

/// A link with these latencies, and slack in plenty.
fn link(delay: u64, latency: u8, hysteresis: u32) -> LinkParameters {
    let plenty = u32::try_from(2 * delay).unwrap_or(u32::MAX) + 30;
    with_slack(delay, latency, SlackSize { go_slack: plenty, hysteresis, stop_slack: plenty })
}

fn with_slack(delay: u64, latency: u8, slack: SlackSize) -> LinkParameters {
    let (generation, interpretation) = (latency, latency);
    let port = PortParameters { slack, generation, interpretation, ..Default::default() };
    LinkParameters::alike(Ticks(delay), port)
}

/// Reachable states of a channel; from each the next states with the number of commands sent.
struct StateGraph(Vec<Vec<(usize, u32)>>);

impl StateGraph {
    /// States reachable with these inputs.
    fn of(link: &LinkParameters, wills: &[PeriodInputs]) -> Self {
        let first = FlowChannel::new(link);
        let mut known = BTreeMap::from([(format!("{first:?}"), 0)]);
        let mut channels = vec![first];
        let mut next = Vec::new();
        while let Some(channel) = channels.get(next.len()).cloned() {
            let ways = wills.iter().map(|will| {
                let mut channel = channel.clone();
                let outcome = channel.step(*will);
                assert_ne!(outcome.buffer, BufferResult::Overflowed);
                let number = *known.entry(format!("{channel:?}")).or_insert(channels.len());
                if number == channels.len() {
                    channels.push(channel);
                }
                (number, u32::from(outcome.command.is_some()))
            });
            let ways = ways.collect();
            next.push(ways);
        }
        Self(next)
    }

    /// Maximum number of commands within these periods, from any state.
    fn most(&self, periods: u32) -> u32 {
        let mut most = vec![0; self.0.len()];
        let best = |ways: &[(usize, u32)], most: &[u32]| {
            ways.iter().map(|(to, sent)| most[*to] + sent).max().unwrap_or(0)
        };
        for _ in 0..periods {
            most = self.0.iter().map(|ways| best(ways, &most)).collect();
        }
        most.into_iter().max().unwrap_or(0)
    }
}

/// Inputs of a saturated sender with any sink.
const SATURATED: [PeriodInputs; 2] = [FLOWING, BLOCKED];
const ANY: [PeriodInputs; 4] = [
    FLOWING,
    BLOCKED,
    PeriodInputs { source: SourceAction::Rests, sink: SinkAction::Takes },
    PeriodInputs { source: SourceAction::Rests, sink: SinkAction::Rests },
];

/// Periods in which STOP or GO is sent.
fn commands(link: &LinkParameters, wills: impl IntoIterator<Item = PeriodInputs>) -> Vec<u64> {
    let mut channel = FlowChannel::new(link);
    let steps = (0..).zip(wills).filter(|(_, will)| channel.step(*will).command.is_some());
    steps.map(|(at, _)| at).collect()
}

/// F-4: STOP after h characters more than `go_slack`; then those under way come in too, and have to
/// go out with the h; then GO, and it takes as long until characters come in again.
const fn round(delay: u32, latency: u32, hysteresis: u32) -> u32 {
    2 * (hysteresis + under_way(delay, latency))
}

/// F-4: characters that come in after the one with which the slack buffer rises to its threshold:
/// 2 · D periods pass from one that leaves with the STOP to the first that does not come any more,
/// the latencies come on top, and one of them is that which raised it.
const fn under_way(delay: u32, latency: u32) -> u32 {
    2 * delay - 1 + 2 * latency
}

/// Minimum slack without losses, to keep the states few.
fn tight(delay: u32, latency: u8, hysteresis: u32) -> LinkParameters {
    let slack = SlackSize { go_slack: 1, hysteresis, stop_slack: under_way(delay, latency.into()) };
    with_slack(delay.into(), latency, slack)
}

/// For 25 m and h = 16 there are too many states, but not for 1 period and h = 16: 2 of 34.
#[test]
fn no_sink_makes_more_of_stop_and_go_than_two_in_a_round() {
    for (delay, latency, hysteresis) in
        [(1, 0, 2), (1, 0, 3), (1, 0, 16), (1, 1, 3), (2, 0, 2), (2, 0, 3), (2, 0, 4), (2, 1, 2)]
    {
        let states = StateGraph::of(&tight(delay, latency, hysteresis), &SATURATED);
        let round = round(delay, latency.into(), hysteresis);
        assert_eq!(states.most(20 * round), 40, "{delay} {latency} {hysteresis}");
    }
}

/// With a source that rests when STOP has been raised, fewer characters are in transit: 2 of 2h + 2
/// · D − 1, which is 33 for 1 period and h = 16.
#[test]
fn a_source_that_rests_at_the_right_time_makes_the_round_shorter() {
    for (delay, hysteresis) in [(1, 2), (1, 3), (1, 16), (2, 4), (2, 5)] {
        let states = StateGraph::of(&tight(delay, 0, hysteresis), &ANY);
        let round = 2 * hysteresis + 2 * delay - 1;
        assert_eq!(states.most(20 * round), 40, "{delay} {hysteresis}");
    }
}

#[test]
fn no_source_and_no_sink_make_more_than_two_of_2h_minus_1_characters_stop_or_go() {
    for (delay, hysteresis) in [(1, 1), (1, 2), (1, 3), (1, 16), (2, 2), (2, 3), (2, 4), (2, 5)] {
        let states = StateGraph::of(&tight(delay, 0, hysteresis), &ANY);
        assert!(states.most(2 * hysteresis - 1) <= 2, "{delay} {hysteresis}");
    }
}

/// The worst case of the search, produced by the sink of `ConsumptionMode::Adversary`.
#[test]
fn a_sink_that_takes_while_its_last_command_is_stop_is_the_worst() {
    for (delay, latency) in [(1, 0), (2, 0), (12, 0), (12, 2)] {
        let will =
            PeriodInputs { source: SourceAction::Offers, sink: SinkAction::TakesWhileStopped };
        let times = commands(&link(delay.into(), latency, 16), vec![will; 2_000]);
        let half = u64::from(round(delay, latency.into(), 16)) / 2;
        assert!(times.len() > 30);
        assert!(times.windows(2).all(|pair| pair[1] - pair[0] == half), "{times:?}");
    }
}

/// The least `stop_slack` that loses nothing, and the least `go_slack` with which a sink that goes
/// on after a stop, and takes in every period, finds a byte in every one. F-4
fn least_slack(delay: u64) -> (u32, u32) {
    let first = u32::try_from(2 * delay).unwrap_or(u32::MAX) - 10;
    let mut slack = link(delay, 2, 16).ports[0].slack;
    let stop_slack = (first..).find(|stop_slack| {
        slack.stop_slack = *stop_slack;
        let mut channel = FlowChannel::new(&with_slack(delay, 2, slack));
        (0..6 * delay + 100).all(|_| channel.step(BLOCKED).buffer != BufferResult::Overflowed)
    });
    slack.stop_slack = stop_slack.unwrap_or(0);
    let go_slack = (first..).find(|go_slack| {
        slack.go_slack = *go_slack;
        let mut channel = FlowChannel::new(&with_slack(delay, 2, slack));
        (0..6 * delay + 100).for_each(|_| {
            channel.step(BLOCKED);
        });
        (0..8 * delay).all(|_| channel.step(FLOWING).buffer != BufferResult::Starved)
    });
    (stop_slack.unwrap_or(0), go_slack.unwrap_or(0))
}

/// N-5 (Micro, `HotI`): about 1500 bytes of slack for a kilometre. In glass (5 ns/m) it is 400
/// periods long. Above the upper threshold go the characters under way; below the lower one those
/// that are taken from the period in which GO is generated, the next after the one that leaves
/// `go_slack`, up to the one before the next character comes: 2 · D and the latencies.
#[test]
fn a_kilometre_of_fibre_needs_1600_bytes_of_slack() {
    assert_eq!(least_slack(400), (803, 804));
    assert_eq!(least_slack(800), (1603, 1604), "1600 more for the second kilometre");
    assert_eq!(least_slack(12), (27, 28), "25 m of cable");
}

proptest! {
    /// F-4, the law itself: three in a row take 2h − 1 periods from the first to the last.
    #[test]
    fn any_third_stop_or_go_comes_2h_minus_1_periods_after_the_first(
        delay in 1_u64..30, latency in 0_u8..4, hysteresis in 2_u32..20,
        rests in prop::collection::vec((0_usize..4, 1_usize..60), 1..60),
    ) {
        let wills = rests.iter().flat_map(|(will, periods)| vec![ANY[*will]; *periods]);
        let times = commands(&link(delay, latency, hysteresis), wills);
        let least = u64::from(2 * hysteresis - 1);
        prop_assert!(times.windows(3).all(|three| three[2] - three[0] >= least), "{:?}", times);
    }
}
