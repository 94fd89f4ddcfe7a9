//! Waits in networks with all ports tapped: deadlock, saturation and dead sinks are distinguished, and nothing that
//! moves is a deadlock.

use std::collections::BTreeMap;

use analyzer::blocking::trees::WaitTrees;
use analyzer::blocking::{
    BLOCKED_TIMEOUT, BlockingEvent, Deadlock, DeadlockRelease, StopEnd, StopReport, WaitRoot,
};
use analyzer::event::ResumeCause;
use analyzer::finding::FindingKind;
use codec::capture::ChannelId;
use codec::time::Tick;
use laws::network::analyzed::{AnalyzedCapture, select};
use laws::network::run::RunOutcome;
use laws::network::waits;
use laws::repair::SeededRng;
use laws::{corpus, taps};
use simulator::scenario::Scenario;

/// A period of the full rate in picoseconds.
const PERIOD: u128 = 12_500;

/// A run of a scenario, and the analysis of its capture.
struct BlockingRun {
    scenario: Scenario,
    outcome: RunOutcome,
    analysis: AnalyzedCapture,
}

impl BlockingRun {
    fn of(text: &str) -> Self {
        Self::tapped(crate::read(text))
    }

    /// Tapped at every link.
    fn tapped(mut scenario: Scenario) -> Self {
        scenario.taps = taps::at_every_cable(&scenario);
        Self::as_tapped(scenario)
    }

    fn as_tapped(scenario: Scenario) -> Self {
        let outcome = RunOutcome::of(&scenario);
        let analysis = AnalyzedCapture::of(&outcome.capture);
        Self { scenario, outcome, analysis }
    }

    fn name(&self, id: ChannelId) -> &str {
        &self.outcome.channels[usize::try_from(id.0).unwrap()].name
    }

    fn stops(&self) -> impl Iterator<Item = &StopReport> {
        stops(&self.analysis)
    }

    fn deadlocks(&self) -> Vec<&Deadlock> {
        let deadlocks = self.analysis.blocked.iter().filter_map(|blocked| match blocked {
            BlockingEvent::Deadlock(deadlock) => Some(deadlock),
            BlockingEvent::Stop(_) => None,
        });
        deadlocks.collect()
    }

    fn names(&self, ids: &[ChannelId]) -> Vec<&str> {
        ids.iter().map(|id| self.name(*id)).collect()
    }

    /// Nothing that moves is called a deadlock.
    fn deadlocks_stand_still(&self) {
        waits::check(&self.scenario, &self.outcome, &self.analysis);
    }
}

fn stops(analysis: &AnalyzedCapture) -> impl Iterator<Item = &StopReport> {
    analysis.blocked.iter().filter_map(|blocked| match blocked {
        BlockingEvent::Stop(stop) => Some(stop),
        BlockingEvent::Deadlock(_) => None,
    })
}

fn demo(name: &str) -> BlockingRun {
    BlockingRun::tapped(corpus::scenario(name))
}

/// S-6: a switch of many ports takes longer to form a path than a slack buffer holds, and an output may be slower than the
/// input (B-1), so that senders are stopped; but nobody is in the way of anybody.
#[test]
fn a_switch_without_contention_is_not_busy() {
    for (ports, output, root) in [
        (16, "", WaitRoot::Switch),
        (32, "", WaitRoot::Switch),
        (8, "rate_divisor = 2", WaitRoot::SlowOutput),
        (8, "kind = 'handshake'", WaitRoot::SlowOutput),
    ] {
        let last = ports - 1;
        let text = format!(
            r#"
            duration_us = 1000
            [[switch]]
            name = "s0"
            ports = {ports}
            addressing = "absolute"
            [[host]]
            name = "h0"
            at = "s0:0"
            [[host]]
            name = "h1"
            at = "s0:{last}"
            {output}
            [[traffic]]
            from = "h0"
            to = "h1"
            payload = 400
            load = 1.0
            "#
        );
        let run = BlockingRun::of(&text);
        let stops = run.stops().count();
        assert!(stops > 50, "{ports} ports {output}: {stops}");
        assert!(run.stops().all(|stop| stop.root == root), "{ports} ports {output}");
    }
}

#[test]
fn a_ring_that_has_deadlocked_is_one_deadlock_up_to_the_timeout() {
    let run = demo("demo-ring");
    let deadlocks = run.deadlocks();
    assert_eq!(deadlocks.len(), 1, "{deadlocks:?}");
    let circle = ["s0:0>s1:1", "s1:0>s2:1", "s2:0>s3:1", "s3:0>s0:1"];
    assert_eq!(run.names(&deadlocks[0].channels), circle);
    // R-4: the first to be stopped gives up first; the circle closed with the last.
    let periods = deadlocks[0].periods;
    assert!((BLOCKED_TIMEOUT - 200..BLOCKED_TIMEOUT + 40).contains(&periods), "{periods}");
    let (_, broken) = deadlocks[0].broken.unwrap();
    assert_eq!(broken, DeadlockRelease::Resumed(ResumeCause::Reset));
    // Whoever was stopped so long was in it, or behind it.
    let long: Vec<_> = run.stops().filter(|stop| stop.periods > BLOCKED_TIMEOUT / 2).collect();
    assert_eq!(long.len(), 8);
    assert!(long.iter().all(|stop| stop.root == WaitRoot::Cycle), "{long:?}");
    assert!(
        run.stops()
            .all(|stop| stop.timed_out() == (stop.ended == StopEnd::Resumed(ResumeCause::Reset)))
    );
    run.deadlocks_stand_still();
    let (mut trees, mut text) = (WaitTrees::default(), String::new());
    run.analysis.blocked.iter().cloned().for_each(|blocked| trees.add(blocked));
    let channels = &run.outcome.channels;
    let known = |id: ChannelId| channels.get(usize::try_from(id.0).ok()?);
    analyzer::render::blocking(
        &trees,
        (1, analyzer::render::ReportLayout::default()),
        &known,
        &mut |line| text += &format!("{line}\n"),
    );
    let lines: Vec<&str> = text.lines().skip(3).take(4).collect();
    assert_eq!(
        lines,
        [
            "   ╭► s0:0>s1:1 waits for",
            "   │  s1:0>s2:1 waits for",
            "   │  s2:0>s3:1 waits for",
            "   ╰─ s3:0>s0:1 waits for the first",
        ]
    );
}

/// R-4: all is recorded but one channel of the circle, or the opposite one, from a time on.
#[test]
fn a_circle_is_a_deadlock_if_all_its_links_were_recorded_until_it_was_certain() {
    let mut scenario = corpus::scenario("demo-ring");
    scenario.duration = 20_000;
    let run = BlockingRun::tapped(scenario);
    let deadlock = run.deadlocks()[0];
    let certain = u64::try_from(deadlock.certain / PERIOD).unwrap();
    let turned = |id: &ChannelId| {
        let (from, to) = run.name(*id).split_once('>').unwrap();
        format!("{to}>{from}")
    };
    for id in &deadlock.channels {
        for cut in [run.name(*id).to_owned(), turned(id)] {
            for (until, expected) in [(certain - 1, 0), (certain, 1)] {
                let part = select(&run.outcome.capture, &|channel| {
                    Some((Tick(0), Tick(if channel.name == cut { until } else { u64::MAX })))
                });
                let analysis = AnalyzedCapture::of(&part);
                let deadlocks = analysis.set.total(FindingKind::Deadlock);
                let mut waiting = stops(&analysis).filter(|it| it.ended == StopEnd::CaptureEnd);
                let is_cycle = waiting.any(|stop| stop.root == WaitRoot::Cycle);
                assert_eq!(deadlocks, expected, "{cut} up to {until}");
                assert_eq!(is_cycle, expected > 0, "{cut} up to {until}");
            }
        }
    }
}

#[test]
fn an_output_that_many_want_is_busy_and_no_deadlock() {
    let run = demo("demo-contention");
    assert!(run.deadlocks().is_empty());
    let mut roots: BTreeMap<WaitRoot, u64> = BTreeMap::new();
    for stop in run.stops() {
        *roots.entry(stop.root).or_default() += 1;
        assert_eq!(run.names(&stop.chain), ["s0:0>h0:0"]);
        assert!(!stop.holders.is_empty() || stop.periods < 60, "{stop:?}");
    }
    assert_eq!(roots.keys().copied().collect::<Vec<_>>(), [WaitRoot::Busy]);
    // As tapped, two of the inputs were not recorded; their packets were, on the output.
    let tapped = BlockingRun::as_tapped(corpus::scenario("demo-contention"));
    let roots: Vec<_> = tapped.stops().map(|stop| stop.root).collect();
    assert_eq!((roots.len(), roots), (24, vec![WaitRoot::Busy; 24]));
}

#[test]
fn a_host_that_stops_taking_is_the_root_of_the_whole_tree() {
    let run = BlockingRun::of(
        "duration_periods = 8000
         [topology]
         kind = 'line'
         switches = 3
         [[traffic]]
         from = 'h0'
         to = 'h2'
         payload = 500
         saturate = true
         [[traffic]]
         from = 'h1'
         to = 'h2'
         payload = 500
         saturate = true
         [[fault]]
         at_periods = 2000
         consume = 'h2'
         how = 'never'
         for_periods = 4000",
    );
    assert!(run.deadlocks().is_empty());
    let long: Vec<_> = run.stops().filter(|stop| stop.periods > 3000).collect();
    // All of them but the way of nobody: s2 to h2, s1 to s2, h1 and s0 to s1, h0 to s0.
    assert_eq!(long.len(), 5, "{long:?}");
    for stop in long {
        assert_eq!(stop.root, WaitRoot::Host);
        assert!(run.name(stop.last()).ends_with(">h2:0"), "{stop:?}");
        assert_eq!(stop.behind.is_some(), !stop.chain.is_empty());
    }
}

/// Traffic in a ring: each host sends to the next, and to the one after that, all clockwise.
fn ring(dice: &mut SeededRng) -> String {
    let switches = 3 + dice.below(3);
    let mut text = format!(
        "seed = {}\nduration_periods = 16000\n[link]\nblocked_periods = {}\n\
         [topology]\nkind = 'ring'\nswitches = {switches}\n[routes]\nmethod = 'given'\n",
        dice.below(1000),
        1000 + dice.below(3000),
    );
    // From port 2 of a switch to its port 0, on from 1 to 0, and from 1 to 2: -2, -1, +1.
    for (host, (bytes, on)) in
        (0..switches).flat_map(|it| [(it, ("be 81", 1)), (it, ("be bf 81", 2))])
    {
        let to = (host + on) % switches;
        text += &format!("[[route]]\nfrom = 'h{host}'\nto = 'h{to}'\nbytes = '{bytes}'\n");
        let (least, every) = (30 + dice.below(300), 100 + dice.below(1200));
        text += &format!(
            "[[traffic]]\nfrom = 'h{host}'\nto = 'h{to}'\npayload = [{least}, {}]\n\
             every_periods = {every}\nlaw = 'poisson'\n",
            least + dice.below(400)
        );
    }
    text
}

#[test]
fn in_storms_around_rings_nothing_that_moves_is_called_a_deadlock() {
    let (mut dice, mut deadlocks) = (SeededRng::new(b"storms around rings"), 0);
    for _ in 0..24 {
        let run = BlockingRun::of(&ring(&mut dice));
        run.deadlocks_stand_still();
        deadlocks += run.deadlocks().len();
        for stop in run.stops().filter(|stop| stop.ended == StopEnd::Resumed(ResumeCause::Reset)) {
            // Hosts may also give up where they get no turn for as long.
            let between_switches = run.name(stop.channel).starts_with('s');
            assert!(stop.root == WaitRoot::Cycle || !between_switches, "{stop:?}");
        }
    }
    assert!(deadlocks > 5, "{deadlocks}");
}

/// The only tap is between h0 and its switch. Read as relative, its route byte 80 leads back to h0, where packets of h9
/// are: the output that it may request otherwise was not captured. S-1
#[test]
fn what_may_wait_for_an_uncaptured_output_is_out_of_sight() {
    for addressing in ["absolute", "relative"] {
        let text = format!(
            "duration_us = 200\n[topology]\nkind = 'line'\nswitches = 2\n[switch_defaults]\naddressing = '{addressing}'\n\
             [[host]]\nname = 'h9'\nat = 's0:7'\n\
             [[traffic]]\nfrom = 'h0'\nto = 'h1'\npayload = 1000\nevery_us = 15\n\
             [[traffic]]\nfrom = 'h9'\nto = 'h0'\npayload = 1000\nevery_us = 27\n\
             [[fault]]\nat_us = 0\nconsume = 'h1'\nhow = 40\n[[tap]]\nport = 'h0:0'\n"
        );
        let run = BlockingRun::as_tapped(crate::read(&text));
        let roots: Vec<WaitRoot> = run.stops().map(|stop| stop.root).collect();
        assert!(
            !roots.is_empty() && roots.iter().all(|it| *it == WaitRoot::OutOfSight),
            "{roots:?}"
        );
    }
}
