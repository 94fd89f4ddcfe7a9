//! Nodes with clocks of their own: equal clocks change nothing but times; unlike ones make holes and
//! pairs of characters where arithmetic says, and nothing is lost. W-6

use crate::support;

use codec::Character;
use codec::time::CharacterPeriod;
use myriscope_simulator::scenario::Scenario;
use myriscope_simulator::truth::{StopGo, TruthEvent, TruthEventKind};
use support::{RunWay, TestRun};

/// The characters of all channels, from their first place on, and the events of a run.
struct RecordedRun {
    names: Vec<String>,
    periods: Vec<CharacterPeriod>,
    channels: Vec<(u64, Vec<Character>)>,
    events: Vec<TruthEvent>,
}

impl RecordedRun {
    fn of(text: &str, slice: u64) -> Self {
        let way = RunWay { slice, ..RunWay::USUAL };
        let run = TestRun::finished(support::read(text), way);
        assert!(run.happened.is_sorted_by_key(|event| event.at), "events are in order");
        let channels = run.network.channels();
        let recorded = (0..channels.len()).map(|channel| {
            let (first, chars) = run.recorded(channel);
            (first, chars.chars().iter().collect())
        });
        Self {
            names: channels.iter().map(|channel| channel.name.clone()).collect(),
            periods: channels.iter().map(|channel| channel.period).collect(),
            channels: recorded.collect(),
            events: run.happened,
        }
    }

    fn channel(&self, name: &str) -> usize {
        self.names.iter().position(|other| other == name).unwrap()
    }

    /// The places of the bytes of a channel.
    fn bytes(&self, name: &str) -> Vec<u64> {
        let (first, chars) = &self.channels[self.channel(name)];
        let places = (*first..).zip(chars);
        places.filter(|(_, it)| matches!(it, Character::Data(_))).map(|(at, _)| at).collect()
    }

    fn count(&self, kind: impl Fn(&TruthEventKind) -> bool) -> usize {
        self.events.iter().filter(|event| kind(&event.kind)).count()
    }
}

#[test]
fn equal_clocks_change_nothing_but_times() {
    const LINE: &str = "kind = 'line'\nswitches = 3\nhosts_per_switch = 2\n";
    const RING: &str = "kind = 'ring'\nswitches = 4\n[routes]\nmethod = 'shortest'\n";
    for (network, link, clock) in [
        (LINE, "", 80),
        (LINE, "go_slack = 1\nhysteresis = 1\nstop_slack = 40\nlength_m = 3", -100),
        (LINE, "rate_divisor = 3\ndelay_periods = 7\nfill = 'idle-9'", 33),
        (RING, "blocked_periods = 900\nhysteresis = 3\nsymbols = 'all'", -1),
    ] {
        let text = |clocks: &str| {
            format!(
                "seed = 5\nduration_periods = 60000\n[topology]\n{network}[link]\n{link}\n{clocks}
                 [[host]]\nname = 'x'\nclock_ppm = 7\n[[traffic]]\nto = 'uniform'\n\
                 payload = [0, 300]\nload = 0.7\n[[traffic]]\nfrom = 'h0'\nto = 'h1'\n\
                 saturate = true\npayload = 40\n[[tap]]\nall = true\n"
            )
        };
        let clocks =
            format!("[switch_defaults]\nclock_ppm = {clock}\n[interface]\nclock_ppm = {clock}\n");
        let plain = RecordedRun::of(&text("").replace("clock_ppm = 7\n", ""), 1000);
        let run = RecordedRun::of(&text(&clocks), 777);
        let period = CharacterPeriod::FULL_RATE.sped_up(clock);
        assert_eq!(plain.names, run.names);
        assert!(plain.events.len() > 1000, "{}", plain.events.len());
        for ((from, one), (other_from, other)) in plain.channels.iter().zip(&run.channels) {
            let length = one.len().min(other.len());
            assert_eq!((from, &one[..length]), (other_from, &other[..length]), "{clock}");
            assert!(one.len() - length < 8);
        }
        let before = |event: &&TruthEvent| event.at < 59_900;
        for (one, other) in plain.events.iter().filter(before).zip(&run.events) {
            assert_eq!(
                (&one.kind, one.place, one.packet),
                (&other.kind, other.place, other.packet)
            );
            assert_eq!(other.time_ps.map(u128::from), Some(period.time(one.at)));
            assert_eq!(u128::from(other.at), period.time(one.at) / 12_500);
        }
    }
}

/// A host sends a packet through a switch; both have clocks.
fn one_packet(host: i16, switch: i16, payload: u32, keys: &str) -> RecordedRun {
    RecordedRun::of(
        &format!(
            "duration_periods = 1200000\n[interface]\nmemory = 5000000\n\
             [[switch]]\nname = 's0'\nclock_ppm = {switch}\n{keys}
             [[host]]\nname = 'h0'\nat = 's0:0'\nclock_ppm = {host}\n[[host]]\nname = 'h1'\n\
             at = 's0:1'\nclock_ppm = 100\n[[traffic]]\nfrom = 'h0'\nto = 'h1'\npackets = 1\n\
             every_us = 10\npayload = {payload}\n[[tap]]\nport = 's0:0'\n[[tap]]\nport = 's0:1'\n"
        ),
        100_000,
    )
}

/// W-6
#[test]
fn a_slower_sender_leaves_a_hole_each_time_that_a_tick_finds_no_character() {
    for (host, switch) in [(-100, 100), (-80, 0), (0, 37), (-100, -99)] {
        let run = one_packet(host, switch, 1_000_000, "routing_periods = 0");
        let [from, to] = [host, switch].map(|ppm| CharacterPeriod::FULL_RATE.sped_up(ppm.into()));
        assert_eq!(run.periods[run.channel("h0:0>s0:0")], from);
        assert_eq!(run.periods[run.channel("s0:1>h1:0")], to);
        // The route byte goes no further. A byte waits for what follows it: it may be the CRC. P-5
        let (arrived, sent) = (run.bytes("h0:0>s0:0"), run.bytes("s0:1>h1:0"));
        assert_eq!((arrived.len(), sent.len()), (1_000_003, 1_000_002));
        let tick = |place: u64| (place * from.fs()).div_ceil(to.fs());
        let mut last = sent[0] - 1;
        for (at, sent) in sent.iter().enumerate().map(|(index, at)| (index + 2, *at)) {
            let next = arrived.get(at).map_or(arrived[at - 1] + 1, |place| *place);
            let expected = (last + 1).max(tick(next));
            assert_eq!(sent, expected, "byte {at}, {host} {switch}");
            last = sent;
        }
        // Ticks of the switch less those of the host: that many found nothing.
        let span = arrived[1_000_002] - arrived[0];
        let holes = sent[1_000_001] - sent[0] - 1_000_001;
        let expected = tick(arrived[1_000_002]) - tick(arrived[0]) - span;
        assert!(expected.abs_diff(holes) <= 3, "{expected} {holes}");
    }
}

#[test]
fn a_faster_sender_fills_the_slack_buffer_until_stop() {
    for (host, switch) in [(100, -100), (80, 0), (0, -50)] {
        let run = one_packet(host, switch, 1_000_000, "");
        let [from, to] = [host, switch].map(|ppm| CharacterPeriod::FULL_RATE.sped_up(ppm.into()));
        let (arrived, sent) = (run.bytes("h0:0>s0:0"), run.bytes("s0:1>h1:0"));
        assert_eq!((arrived.len(), sent.len()), (1_000_003, 1_000_002));
        // One byte a tick is taken from the first one on, and the route byte before it. A tick has
        // stored what had arrived by its time.
        let stored = |tick: u64| tick * to.fs() / from.fs() - arrived[0] + 1;
        let mut expected = (sent[0]..).find(|tick| stored(*tick) - (tick - sent[0]) > 48);
        let stops: Vec<_> = run
            .events
            .iter()
            .filter(|event| {
                matches!(event.kind, TruthEventKind::Threshold { command: StopGo::Stop, .. })
            })
            .filter_map(|event| event.time_ps)
            .collect();
        let first = stops.first().map(|time| to.periods(u128::from(*time)));
        expected = expected.filter(|tick| *tick < sent[sent.len() - 1]);
        let (first, expected) = (first.unwrap(), expected.unwrap());
        assert!(expected.abs_diff(first) <= 1, "{first} {expected}");
        // From GO at 32 on it takes 16 more, and the characters of a round trip, to the next.
        let most = 2 + u64::try_from(i64::from(host - switch)).unwrap() / 16;
        assert!((1..=most).contains(&(stops.len() as u64)), "{stops:?}");
        assert_eq!(run.count(|kind| matches!(kind, TruthEventKind::Overflow)), 0);
    }
}

#[test]
fn nothing_is_lost_whatever_the_clocks() {
    let mut stops = 0;
    for seed in 0..12 {
        let (network, delay) = match seed % 4 {
            0 => ("kind = 'mesh'\nwidth = 2\nheight = 2\nhosts_per_switch = 2", 12),
            1 => ("kind = 'line'\nswitches = 3\nhosts_per_switch = 2", 1),
            2 => ("kind = 'switch'\nports = 8\nhosts = 5", 14),
            _ => ("kind = 'random'\nswitches = 3\nhosts = 5\nports = 8\nlinks = 2", 5),
        };
        // Two more than with equal clocks: a character that comes with another in a tick, and the
        // one sent in the rest of a tick.
        let (generation, interpretation) = (seed % 3, seed % 5);
        let enough = 2 * delay + generation + interpretation + 2;
        let run = RecordedRun::of(
            &format!(
                "seed = {seed}\nduration_periods = 60000\n[topology]\n{network}\n[link]\n\
                 delay_periods = {delay}\ngo_slack = {}\nhysteresis = {}\nstop_slack = {enough}\n\
                 generation_periods = {generation}\ninterpretation_periods = {interpretation}\n\
                 [switch_defaults]\nclock_ppm = 'random'\n[interface]\nclock_ppm = 'random'\n\
                 [[traffic]]\nto = 'uniform'\npayload = [0, 700]\nsaturate = true\n\
                 [[tap]]\nall = true\n",
                seed % 7,
                1 + seed % 3,
            ),
            20_000,
        );
        let lost = |kind: &TruthEventKind| {
            matches!(
                kind,
                TruthEventKind::Overflow | TruthEventKind::Dropped(_) | TruthEventKind::LinkOpen
            )
        };
        let first = run.events.iter().find(|event| lost(&event.kind));
        assert!(first.is_none(), "{seed}: {first:?}");
        assert!(run.count(|kind| matches!(kind, TruthEventKind::Consumed { .. })) > 100);
        stops += run.count(|kind| matches!(kind, TruthEventKind::Commanded(StopGo::Stop)));
        // Both ends of a cable see the same characters, a delay apart; here one end is tapped.
        assert!(run.periods.iter().any(|period| *period != CharacterPeriod::FULL_RATE));
    }
    assert!(stops > 500, "{stops}");
}

/// The figures of `docs/measurements.md`, "Clocks".
#[test]
fn a_slow_switch_stops_what_comes_and_leaves_holes_in_what_goes() {
    let figures = |clock: i16| {
        let run = RecordedRun::of(
            &format!(
                "duration_periods = 1200000\n[interface]\nmemory = 5000000\n\
                 [[switch]]\nname = 's0'\nclock_ppm = {clock}\n\
                 [[switch]]\nname = 's1'\n[[cable]]\nends = ['s0:7', 's1:7']\n[[host]]\n\
                 name = 'h0'\nat = 's0:0'\n[[host]]\nname = 'h1'\nat = 's1:0'\n[[traffic]]\n\
                 from = 'h0'\nto = 'h1'\npackets = 1\nevery_us = 10\npayload = 1000000\n\
                 [[tap]]\nport = 's0:0'\n[[tap]]\nport = 's1:0'\n"
            ),
            100_000,
        );
        let (came, went) = (run.bytes("h0:0>s0:0"), run.bytes("s1:0>h1:0"));
        let holes = |bytes: &[u64]| bytes.windows(2).filter(|pair| pair[1] - pair[0] > 1).count();
        let stops = run
            .count(|kind| matches!(kind, TruthEventKind::Threshold { command: StopGo::Stop, .. }));
        let stop =
            run.events.iter().find(|event| matches!(event.kind, TruthEventKind::Threshold { .. }));
        let stopped: u64 = came.windows(2).map(|pair| pair[1] - pair[0] - 1).sum();
        let late = |bytes: &[u64]| bytes[bytes.len() - 1] - bytes[0] + 1 - bytes.len() as u64;
        (stops, stop.map(|event| event.at), stopped, holes(&went), late(&went))
    };
    assert_eq!(figures(0), (0, None, 0, 0, 0));
    assert_eq!(figures(-80), (2, Some(225_018), 88, 38, 38));
}

/// Taps begin at the first tick of their sender at or behind a time; noise ends by the clock of its receiver.
#[test]
fn times_of_a_scenario_are_the_next_ticks_of_a_clock() {
    let time = |periods: u64| periods * CharacterPeriod::FULL_RATE.fs();
    for ppm in [-100, -1, 0, 1, 100] {
        let text = format!(
            "duration_periods = 1000300\n[[switch]]\nname = 's0'\nclock_ppm = {ppm}\n[[host]]\n\
             name = 'h0'\nat = 's0:0'\n[[tap]]\nport = 's0:0'\nfrom_periods = 1000007\n[[fault]]\n\
             at_periods = 1000000\nnoise = 'h0:0'\nerrors = 'flip'\nmean_characters = 2\nfor_periods = 150\n"
        );
        let run = RecordedRun::of(&text, 100);
        let [sent, came] = ["s0:0>h0:0", "h0:0>s0:0"].map(|name| run.channel(name));
        assert_eq!(run.channels[sent].0, time(1_000_007).div_ceil(run.periods[sent].fs()), "{ppm}");
        let (first, chars) = &run.channels[came];
        let fill = [Character::Control(0x03), Character::GAP];
        let last = chars.iter().rposition(|it| !fill.contains(it)).unwrap() as u64;
        let ends = (first + last) * run.periods[came].fs();
        assert!(ends.abs_diff(time(1_000_150)) < time(20), "{ppm}: {ends}");
    }
}

#[test]
fn a_clock_lies_within_the_tolerance() {
    let read = |clock: &str| {
        let text = format!("duration_us = 1\n[[switch]]\nname = 's0'\nclock_ppm = {clock}\n");
        Scenario::read("clocks", &text).map_or_else(|error| error.to_string(), |_| String::new())
    };
    assert_eq!(["-100", "0", "100", "'random'"].map(read), [""; 4]);
    for bad in ["-101", "101", "0.5", "'spread'", "99999999999999999999"] {
        assert!(read(bad).contains("parts per million from -100 to 100"), "{bad}");
    }
}
