//! Waits worked out from rules, and what is told of them.

use std::fmt::Write as _;
use std::sync::Arc;

use codec::capture::Channel;
use codec::time::Tick;

use super::*;
use crate::event::FlowCommand;
use crate::journey::SwitchDelays;

/// Step of a test on one channel.
#[derive(Clone, Copy)]
enum BlockingStep {
    /// The sender is stopped.
    Stop,
    /// The sender is released.
    On(ResumeCause),
    /// The packet at the head of the input behind the channel waits for an output.
    Waits(u64, u32),
    /// The packet at the head has begun to leave by that output.
    Has(u64, u32),
    /// The packet at the head goes to an uncaptured output.
    Leaves(u64),
    /// A packet arrives at a host.
    Tag,
    Link(LinkEvent),
    /// The recording ends.
    End,
}
use BlockingStep::{End, Has, Leaves, Link, On, Stop, Tag, Waits};

const fn head(packet: u64, wants: Option<ChannelId>, passing: HeadProgress) -> HeadPacket {
    let delays = Some(SwitchDelays { path: 44 * PERIOD, drain: 500 });
    HeadPacket { packet, since: 0, wants, passing, contended: false, delays, first: 0 }
}

/// The network of channels with their opposites, on which GO comes first, recorded up to a time. Of a channel whose
/// name ends with `!` the opposite was not recorded.
fn recorded_to(end: Picoseconds, names: &[&str]) -> (CaptureNetwork, RecordedTime) {
    let (mut network, mut recorded) = <(CaptureNetwork, RecordedTime)>::default();
    for (id, name) in (0..).zip(names) {
        let (from, to) = name.split_once('>').unwrap();
        network.declare(ChannelId(id), &Arc::new(Channel::named(name.trim_end_matches('!'))));
        if !name.ends_with('!') {
            let opposite = Channel::named(format!("{to}>{from}"));
            network.declare(ChannelId(100 + id), &Arc::new(opposite));
            network.join(ChannelId(id), ChannelId(100 + id));
        }
        let ids = [id, 100 + id].map(ChannelId);
        for id in ids.into_iter().take(if name.ends_with('!') { 1 } else { 2 }) {
            recorded.declare(id);
            recorded.add(id, [0, end]);
            let body = ChannelEvent::Command(FlowCommand::Go);
            network.observe(&TimedEvent { time: 0, channel: id, at: Tick(0), body });
        }
    }
    (network, recorded)
}

/// Feeds steps, each at a period of a channel; prints the reported events, times in periods.
fn check(names: &[&str], steps: &[(u64, u32, BlockingStep)]) -> String {
    let end = steps.last().map_or(0, |(at, ..)| Picoseconds::from(*at) * PERIOD);
    let (mut network, recorded) = recorded_to(end, names);
    let mut blocking = BlockingTracker::default();
    let (mut heads, mut text) = (BTreeMap::new(), String::new());
    let name = |id: &ChannelId| names[usize::try_from(id.0).unwrap()];
    let mut out = |blocked: BlockingEvent| match blocked {
        BlockingEvent::Stop(stop) => {
            let chain: Vec<_> = stop.chain.iter().map(name).collect();
            let (from, to) = (stop.since / PERIOD, stop.until / PERIOD);
            let (number, channel) = (stop.number, name(&stop.channel));
            let root = stop.root;
            write!(text, "{from}..{to} #{number} {channel} -> {chain:?} {root:?}").unwrap();
            stop.behind.iter().for_each(|it| write!(text, " behind #{it}").unwrap());
            for OutputHolder { channel, packets } in &stop.holders {
                write!(text, " {packets} of {}", name(channel)).unwrap();
            }
            let packet = stop.packet.map_or(String::new(), |it| format!(" packet {it}"));
            let since = stop.standing.map(|it| it.since / PERIOD).filter(|it| *it > from);
            let since = since.map_or(String::new(), |it| format!(" from {it}"));
            writeln!(text, "{packet} {:?}{since}", stop.ended).unwrap();
        }
        BlockingEvent::Deadlock(Deadlock { channels, since, until, broken, .. }) => {
            let channels: Vec<_> = channels.iter().map(name).collect();
            let (from, to) = (since / PERIOD, until / PERIOD);
            let broken = broken.map(|(by, how)| (name(&by), how));
            writeln!(text, "{from}..{to} deadlock {channels:?} {broken:?}").unwrap();
        }
    };
    for (at, channel, step) in steps {
        let id = ChannelId(*channel);
        let byte = |first| ChannelEvent::Head(first);
        let (what, head) = match *step {
            Stop => (ChannelEvent::Link(LinkEvent::SenderStopped), None),
            On(by) => (ChannelEvent::Link(LinkEvent::SenderResumed(by)), None),
            Link(event) => (ChannelEvent::Link(event), None),
            Tag => (byte(5), None),
            Waits(it, to) => {
                (byte(0x80), Some(head(it, Some(ChannelId(to)), HeadProgress::Waiting)))
            }
            Has(it, to) => (byte(0x80), Some(head(it, Some(ChannelId(to)), HeadProgress::Begun))),
            Leaves(it) => (byte(0x80), Some(head(it, None, HeadProgress::Waiting))),
            End => {
                blocking.finish((&network, &recorded, end), &|_, _, _| true, &mut out);
                continue;
            }
        };
        head.into_iter().for_each(|head| _ = heads.insert(id, head));
        let now = Picoseconds::from(*at) * PERIOD;
        let row = TimedEvent { time: now, channel: id, at: Tick(*at), body: what };
        network.observe(&row);
        let heads = &|id| heads.get(&id).copied();
        let (network, recorded, leads) = (&network, &recorded, &|_, _, _| true);
        let context = WaitContext { network, recorded, now, heads, leads };
        blocking.take(&row, context, &mut out);
        blocking.update_targets(context, &mut out);
    }
    text
}

/// A ring of three switches.
const RING: [&str; 3] = ["c:0>a:1", "a:0>b:1", "b:0>c:1"];

/// A circle of three senders, the last of them stopped at 30, with what follows.
fn circle(ends: impl IntoIterator<Item = (u64, u32, BlockingStep)>) -> String {
    let begins = (0..3).map(|id| (u64::from(id) + 1, id, Has(0, (id + 1) % 3)));
    let stops = (0..3).map(|id| (u64::from(id) * 10 + 10, id, Stop));
    check(&RING, &begins.chain(stops).chain(ends).collect::<Vec<_>>())
}

#[test]
fn channels_that_wait_in_a_circle_for_longer_than_a_round_trip_are_a_deadlock() {
    let ends = [
        (2000, 1, On(ResumeCause::Reset)),
        (2005, 0, On(ResumeCause::Go)),
        (2010, 2, On(ResumeCause::Go)),
    ];
    insta::assert_snapshot!(circle(ends), @r#"
    30..2000 deadlock ["a:0>b:1", "b:0>c:1", "c:0>a:1"] Some(("a:0>b:1", Resumed(Reset)))
    20..2000 #1 a:0>b:1 -> ["b:0>c:1", "c:0>a:1", "a:0>b:1"] Cycle behind #2 packet 0 Resumed(Reset)
    10..2005 #0 c:0>a:1 -> ["a:0>b:1", "b:0>c:1", "c:0>a:1"] Cycle behind #1 packet 0 Resumed(Go)
    30..2010 #2 b:0>c:1 -> ["c:0>a:1", "a:0>b:1", "b:0>c:1"] Cycle behind #0 packet 0 Resumed(Go)
    "#);
    let ends = [1, 0, 2].map(|id| (1000 + 10 * u64::from(id), id, On(ResumeCause::Go)));
    assert!(!circle(ends).contains("deadlock"));
}

/// Characters under way have arrived 1024 periods after the last stop.
#[test]
fn the_end_of_the_recording_finds_a_circle_that_stood_for_long_enough() {
    insta::assert_snapshot!(circle([(5000, 0, End)]), @r#"
    30..5000 deadlock ["a:0>b:1", "b:0>c:1", "c:0>a:1"] None
    10..5000 #0 c:0>a:1 -> ["a:0>b:1", "b:0>c:1", "c:0>a:1"] Cycle behind #1 packet 0 CaptureEnd from 30
    20..5000 #1 a:0>b:1 -> ["b:0>c:1", "c:0>a:1", "a:0>b:1"] Cycle behind #2 packet 0 CaptureEnd from 30
    30..5000 #2 b:0>c:1 -> ["c:0>a:1", "a:0>b:1", "b:0>c:1"] Cycle behind #0 packet 0 CaptureEnd
    "#);
    insta::assert_snapshot!(circle([(1053, 0, End)]), @r#"
    10..1053 #0 c:0>a:1 -> ["a:0>b:1", "b:0>c:1", "c:0>a:1"] OutOfSight behind #1 packet 0 CaptureEnd from 30
    20..1053 #1 a:0>b:1 -> ["b:0>c:1", "c:0>a:1", "a:0>b:1"] OutOfSight behind #2 packet 0 CaptureEnd from 30
    30..1053 #2 b:0>c:1 -> ["c:0>a:1", "a:0>b:1", "b:0>c:1"] OutOfSight behind #0 packet 0 CaptureEnd
    "#);
    assert!(circle([(1054, 0, End)]).starts_with("30..1054 deadlock"));
}

/// F-7
#[test]
fn a_link_is_open_up_to_its_next_character_or_a_hole() {
    let ends = [LinkEvent::LinkRestored, LinkEvent::Hole { missing: 7 }];
    let roots = [None, Some(ends[0]), Some(ends[1])].map(|end| {
        let mut steps = vec![(1, 2, Link(LinkEvent::OpenLink))];
        steps.extend(end.map(|end| (5, 2, Link(end))));
        steps.extend([(10, 0, Waits(0, 2)), (20, 0, Stop), (500, 0, On(ResumeCause::Go))]);
        check(&FUNNEL, &steps)
    });
    let expected = ["OpenLink", "Switch", "Switch"];
    for (found, root) in roots.iter().zip(expected) {
        assert_eq!(
            found,
            &format!("20..500 #0 x:0>s:1 -> [\"s:0>h:0\"] {root} packet 0 Resumed(Go)\n")
        );
    }
}

/// Two inputs of a switch, and its output to a host.
const FUNNEL: [&str; 3] = ["x:0>s:1", "y:0>s:2", "s:0>h:0"];

#[test]
fn a_host_that_takes_nothing_is_the_root_of_all_behind_it() {
    let steps = [
        (0, 2, Tag),
        (1, 0, Has(0, 2)),
        (2, 1, Waits(0, 2)),
        (10, 2, Stop),
        (20, 0, Stop),
        (30, 1, Stop),
        (500, 2, On(ResumeCause::Go)),
        (510, 0, On(ResumeCause::Go)),
        (515, 1, Has(0, 2)),
        (520, 1, On(ResumeCause::Go)),
    ];
    insta::assert_snapshot!(check(&FUNNEL, &steps), @r#"
    10..500 #0 s:0>h:0 -> [] Host Resumed(Go)
    20..510 #1 x:0>s:1 -> ["s:0>h:0"] Host behind #0 packet 0 Resumed(Go)
    30..520 #2 y:0>s:2 -> ["s:0>h:0"] Host behind #0 1 of x:0>s:1 packet 0 Resumed(Go)
    "#);
}

#[test]
fn a_stop_ends_with_what_is_recorded_of_its_commands() {
    let hole = LinkEvent::Hole { missing: 900 };
    let steps = [
        (1, 0, Has(0, 2)),
        (10, 0, Stop),
        (1000, 100, Link(hole)),
        (1010, 0, Stop),
        (1020, 0, End),
    ];
    insta::assert_snapshot!(check(&FUNNEL, &steps), @r#"
    10..100 #0 x:0>s:1 -> ["s:0>h:0"] Switch packet 0 Hole
    1010..1020 #1 x:0>s:1 -> ["s:0>h:0"] Switch packet 0 CaptureEnd
    "#);
}

#[test]
fn an_output_that_is_busy_with_others_is_saturation() {
    let steps = [
        (1, 0, Has(0, 2)),
        (2, 1, Waits(0, 2)),
        (30, 1, Stop),
        (40, 0, Waits(1, 2)),
        (41, 0, Has(1, 2)),
        (42, 2, Tag),
        (90, 1, Has(0, 2)),
        (100, 1, On(ResumeCause::Go)),
    ];
    insta::assert_snapshot!(check(&FUNNEL, &steps), @r#"30..100 #0 y:0>s:2 -> ["s:0>h:0"] Busy 2 of x:0>s:1 packet 0 Resumed(Go)"#);
}

#[test]
fn the_longest_part_of_a_wait_counts() {
    // 60 periods for the host, then 40 for an uncaptured output.
    let steps = [
        (0, 2, Tag),
        (1, 0, Has(0, 2)),
        (10, 2, Stop),
        (10, 0, Stop),
        (70, 2, On(ResumeCause::Go)),
        (70, 0, Leaves(1)),
        (110, 0, On(ResumeCause::Reset)),
    ];
    insta::assert_snapshot!(check(&FUNNEL, &steps), @r#"
    10..70 #0 s:0>h:0 -> [] Host Resumed(Go)
    10..110 #1 x:0>s:1 -> ["s:0>h:0"] Host behind #0 packet 0 Resumed(Reset)
    "#);
}

#[test]
fn a_short_stop_of_the_output_is_not_the_reason() {
    let steps = [
        (0, 2, Tag),
        (1, 0, Waits(0, 2)),
        (10, 0, Stop),
        (20, 2, Stop),
        (40, 2, On(ResumeCause::Go)),
        (120, 0, On(ResumeCause::Go)),
    ];
    insta::assert_snapshot!(check(&FUNNEL, &steps), @r#"
    20..40 #1 s:0>h:0 -> [] Host Resumed(Go)
    10..120 #0 x:0>s:1 -> ["s:0>h:0"] Switch packet 0 Resumed(Go)
    "#);
}

/// The first of equal parts of a wait counts, and the first of equal stops of the output. A path is formed for each packet at the
/// head in 44 periods, and the rest of the last one takes 500.
#[test]
fn of_equal_parts_the_first_counts_and_each_packet_has_its_path() {
    const GO: BlockingStep = On(ResumeCause::Go);
    let output: &[_] = &[(20, 2, Stop), (50, 2, GO), (60, 2, Stop), (90, 2, GO)];
    for (steps, (at, end), expected) in [
        (&[(50, 0, Leaves(4)), (90, 0, Waits(5, 2))][..], (100, GO), "Switch packet 3 Resumed(Go)"),
        (output, (100, GO), "Host behind #1 packet 3 Resumed(Go)"),
        (&output[..2], (300, End), "Switch packet 3 CaptureEnd from 50"),
        (&[], (554, GO), "Switch packet 3 Resumed(Go)"),
        (&[], (555, GO), "Unknown packet 3 Resumed(Go)"),
        (&[(300, 0, Waits(4, 2))], (598, GO), "Switch packet 3 Resumed(Go)"),
    ] {
        let begins = [(0, 2, Tag), (1, 0, Waits(3, 2)), (10, 0, Stop)];
        let steps: Vec<_> = [&begins, steps, &[(at, 0, end)]].concat();
        let expected = format!("10..{at} #0 x:0>s:1 -> [\"s:0>h:0\"] {expected}");
        assert_eq!(check(&FUNNEL, &steps).lines().last(), Some(&*expected));
    }
    let steps = [(1, 0, Leaves(3)), (10, 0, Stop), (50, 0, Waits(4, 2)), (90, 0, GO)];
    let expected = "10..90 #0 x:0>s:1 -> [] OutOfSight packet 3 Resumed(Go)\n";
    assert_eq!(check(&FUNNEL, &steps), expected);
}

/// Without its commands, only packets that have an output one after the other show that it is not stopped.
#[test]
fn one_packet_at_an_output_is_no_turn() {
    let begins = [(1, 0, Waits(3, 2)), (10, 0, Stop), (20, 1, Has(1, 2)), (21, 2, Tag)];
    let turn = [(50, 1, Has(2, 2)), (51, 2, Tag)];
    for (turn, expected) in [(&turn[..0], "OutOfSight 1"), (&turn, "Busy 2")] {
        let steps = [&begins, turn, &[(100, 0, On(ResumeCause::Go))]].concat();
        let text = check(&["x:0>s:1", "y:0>s:2", "s:0>h:0!"], &steps);
        assert!(text.contains(&format!("{expected} of y:0>s:2 packet 3 Resumed(Go)")), "{text}");
    }
}
