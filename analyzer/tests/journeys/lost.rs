//! Packets that were dropped, and those that may not have been.

use super::*;

#[test]
fn a_packet_without_a_route_is_dropped_at_a_switch() {
    let p = relative();
    let [lost, q, r] = [packet(&[5, 1, 2, 3]), hop(&p), hop(&hop(&p))];
    let came = [(100, lost), (120, p)];
    insta::assert_snapshot!(analysis_text(&[(A, &came), (B, &[(160, q)]), (C, &[(200, r)])]), @"
    1.5000  h0 > s0 0:1 > s1 2:3 > h1                  05       16      1.0000           0  arrived
    1.2500  h0 > s0 0:?                                05        3           -           -  dropped (S-2)
    ");
}

/// Nothing but a port beyond 1, a declared path or a packet that lost its first byte tells a switch from an undeclared end
/// of a fibre, which passes packets on without a look at their route. N-5
#[test]
fn what_may_be_an_end_of_a_fibre_drops_no_packet() {
    let dropped = JourneyFate::Dropped(Some("S-2"));
    let (lost, routed) = (packet(&[5, 1, 2, 3]), packet(&[0x81, 5, 1, 2, 3]));
    let passed = [(100, routed.clone()), (200, lost.clone())];
    let (came, left) = ([(200, lost)], [(140, hop(&routed))]);
    let cases: [([SentJourney<'_>; 2], bool, JourneyFate); 6] = [
        ([("h0:0>n:1", &came), ("", &[])], false, JourneyFate::OutOfSight),
        ([("h0:0>n:0", &came), ("n:1>h1:0", &[])], false, JourneyFate::OutOfSight),
        ([("h0:0>n:0", &passed), ("n:1>h1:0", &left)], false, dropped),
        ([("h0:0>n:0", &came), ("n:1>h1:0", &[])], true, dropped),
        ([("h0:0>n:2", &came), ("", &[])], false, dropped),
        ([("h0:0>n:0", &came), ("n:2>h1:0", &[])], false, dropped),
    ];
    for (channels, has_path, fate) in cases {
        let path = has_path.then(|| ("path".to_owned(), "44".to_owned()));
        let declared = channels.map(|(name, _)| Channel {
            more: path.clone().into_iter().collect(),
            ..Channel::named(name)
        });
        let texts = channels.map(|(_, packets)| sent(packets).remove(0).1);
        let parts = [(0, 0, &texts[0], 0), (1, 0, &texts[1], 0)];
        let (text, journeys) = read(&support::capture(&declared, &parts));
        let lost = journeys.iter().find(|journey| journey.hops[0].start == Tick(200));
        assert_eq!(lost.map(|journey| journey.fate), Some(fate), "{text}");
    }
}

#[test]
fn a_packet_that_others_overtake_was_dropped() {
    let (lost, p) = (packet(&[0x81, 0x81, 9, 9, 9, 9]), relative());
    let (q, r) = (hop(&p), hop(&hop(&p)));
    let came = [(100, lost), (120, p)];
    // Likewise if its first byte is the first character.
    let first = sent_until(2100, &came).remove(0).1.split_off("GAP (GO)×98 GAP ".len());
    let (second, third) = (sent(&[(60, q.clone())]), sent(&[(100, r.clone())]));
    let file = recording(&[(A, vec![(0, first)]), (B, second), (C, third)]);
    assert_eq!(fate(&file), JourneyFate::Dropped(None));
    insta::assert_snapshot!(analysis_text(&[(A, &came), (B, &[(160, q)]), (C, &[(200, r)])]), @"
    1.5000  h0 > s0 0:1 > s1 2:3 > h1                  05       16      1.0000           0  arrived
    1.2500  h0 > s0 0:1                                09        3           -           -  dropped (cause unknown)
    ");
    // A short one may be that of an input of which nothing was captured, if there is one.
    let (lost, short) = (packet(&[0x81, 0x81, 9, 9]), packet(&[0x81, 0x81, 5, 1]));
    for (first, fate, certainty) in [
        (0x81, JourneyFate::Dropped(None), MatchCertainty::Certain),
        (0x83, JourneyFate::OutOfSight, MatchCertainty::ByOrder),
    ] {
        let came = [(60, packet(&[first, 5, 6, 7])), (100, lost.clone()), (120, short.clone())];
        let (text, journeys) = journeys(&[(A, &came), (B, &[(160, hop(&short))])]);
        let of = |start| journeys.iter().find(|it| it.hops[0].start == Tick(start)).unwrap();
        assert_eq!((of(100).fate, of(120).certainty), (fate, certainty), "{text}");
    }
}

/// Clocks of recordings may be apart: an equal packet left before it came.
#[test]
fn what_left_before_it_came_was_not_dropped() {
    let [p, next, other] = [1, 2, 3].map(|byte| packet(&[0x81, 5, byte, 7]));
    let of = |early: &[u8]| {
        let left = [(60, hop(early)), (180, hop(&next))];
        let came = [(100, p.clone()), (120, next.clone())];
        let (_, journeys) = journeys(&[(A, &came), (B, &left)]);
        journeys.iter().find(|it| it.hops[0].start == Tick(100)).unwrap().fate
    };
    assert_eq!(of(&p), JourneyFate::OutOfSight);
    assert_eq!(of(&other), JourneyFate::Dropped(None));
}

/// Without its first byte, a zero, a packet has a good CRC, and a route byte in front. P-4
#[test]
fn what_may_have_come_out_damaged_was_not_dropped() {
    let (hurt, next) = (packet(&[0x82, 0, 0x81, 1, 2, 3, 4, 5]), packet(&[0x82, 5, 6, 7]));
    let (left, other) = (hop(&hurt).split_off(1), packet(&[9; 7]));
    let of = |left| {
        let out = [(180, left), (220, hop(&next))];
        let came = [(100, hurt.clone()), (140, next.clone())];
        fate(&capture(&[(A, &came), (D, &out)]))
    };
    assert_eq!(of(left), JourneyFate::OutOfSight);
    // Another sender's.
    assert_eq!(of(other), JourneyFate::Dropped(None));
}

/// The second one leaves s0 at 6160, and so overtakes the first, unless that left while nothing was recorded there, or
/// what left then is mistaken for one of them: all that came in the 5120 periods before. Or it left in a reset, whose data
/// are no packets. R-2
#[test]
fn what_may_have_left_unseen_was_not_dropped() {
    let (first, second) = (packet(&[0x81, 0x81, 9, 9, 9, 9]), relative());
    let left: Vec<String> = hop(&second).iter().map(|byte| format!("{byte:02x}")).collect();
    let of = |[from, to]: [u64; 2], symbol: &str| {
        let came = sent_until(8000, &[(6100, first.clone()), (6120, second.clone())]);
        let before = (from > 0).then(|| (0, format!("GAP (GO)×{}", from - 1)));
        let (until, rest) = (6159 - to, 1839 - left.len());
        let behind = format!("(GO)×{until} GAP {} GAP (GO)×{rest}", left.join(" "));
        let output = if symbol.is_empty() {
            before.into_iter().chain([(to, behind)]).collect()
        } else {
            let (_, before) = before.unwrap();
            vec![(0, format!("{before} {symbol} (GO)×{} GAP {behind}", to - from - 2))]
        };
        fate(&recording(&[(A, came), (B, output)]))
    };
    let (dropped, out_of_sight) = (JourneyFate::Dropped(None), JourneyFate::OutOfSight);
    for (hidden, symbol, expected) in [
        ([40, 980], "", dropped),
        ([40, 981], "", out_of_sight),
        ([6040, 6100], "", out_of_sight),
        ([6130, 6150], "", out_of_sight),
        // Recorded from later on.
        ([0, 980], "", dropped),
        ([0, 6150], "", out_of_sight),
        ([6130, 6150], "FRES", out_of_sight),
        // Nothing can have left in so short a one.
        ([6130, 6138], "FRES", dropped),
        ([6130, 6150], "GO", dropped),
    ] {
        assert_eq!(of(hidden, symbol), expected, "{hidden:?} {symbol}");
    }
}

/// The second one leaves s0 at 160, so that the first had left by then, if it was not dropped: up to 40
/// periods later it may come to the tap. W-2
#[test]
fn what_had_not_come_to_a_tap_when_the_recording_ended_was_not_dropped() {
    let (first, second) = (packet(&[0x82, 5, 1, 2, 3, 4]), packet(&[0x81, 0x81, 5, 1, 2, 3, 4]));
    let of = |end| {
        let came = [(100, first.clone()), (120, second.clone())];
        let left = [(160, hop(&second))];
        let channels = [(A, &came[..]), (B, &left[..]), (D, &[][..])];
        fate(&recording(&channels.map(|(name, packets)| (name, sent_until(end, packets)))))
    };
    let (under_way, lost) = (JourneyFate::UnderWay, JourneyFate::Dropped(None));
    assert_eq!([180, 198, 400].map(of), [under_way, under_way, lost]);
}
