//! Packets between networks against the truth: journeys are found, and those of a packet joined. N-5

use std::collections::BTreeMap;

use laws::journeys;
use laws::judged_network::JudgedNetwork;

/// Two hosts in either network, a fibre of 2 km, 12 packets each way.
const TEXT: &str = "seed = 3\nduration_us = 12000\n[routes]\nmethod = 'mapped'\n\
    [mapper]\nperiod_us = 1000\ntimeout_us = 50\ntries = 2\n[[switch]]\nname = 's0'\n[[switch]]\nname = 's1'\n\
    [[host]]\nname = 'a'\nat = 's0:0'\n[[host]]\nname = 'b'\nat = 's0:3'\n\
    [[host]]\nname = 'c'\nat = 's1:0'\n[[host]]\nname = 'd'\nat = 's1:4'\n\
    [[fibre]]\nname = 'f'\nlength_km = 2\nmode = 'router'\n\
    [[cable]]\nends = ['s0:6', 'f.0:0']\n[[cable]]\nends = ['f.1:0', 's1:7']\n\
    [[traffic]]\nfrom = 'a'\nto = 'c'\ntag = 5\npayload = [0, 400]\npackets = 12\nevery_us = 90\nstart_us = 10000\n\
    [[traffic]]\nfrom = 'd'\nto = 'b'\ntag = 6\npayload = 60\npackets = 12\nevery_us = 90\nstart_us = 10000\n";

#[test]
fn the_halves_of_a_way_through_a_router_are_joined() {
    let scenario = crate::tapped(TEXT);
    let judged = JudgedNetwork::of(scenario);
    let score = judged.score();
    let wrong: Vec<_> = score.scores.iter().filter(|row| !row.is_perfect()).collect();
    assert!(wrong.is_empty(), "{wrong:?}, {:?}", score.differences);

    let outcome = &judged.outcome;
    let journeys = journeys::journeys(&outcome.capture);
    let name = |id: codec::capture::ChannelId| outcome.channels[id.0 as usize].name.clone();
    let by_number: BTreeMap<_, _> = journeys.iter().map(|it| (it.number, it)).collect();
    let mut ways = BTreeMap::<_, usize>::new();
    for journey in journeys.iter().filter(|it| it.tag.is_some_and(|tag| tag.value() == 3)) {
        let first = name(journey.hops.first().unwrap().channel);
        let before = journey.relayed.map(|relayed| {
            // 2 km are 10 µs; the packet is sent whole to the fibre and from it.
            assert!(relayed.after >= 10_000_000 + 12_500 * 16, "{relayed:?}");
            name(by_number[&relayed.journey].hops.first().unwrap().channel)
        });
        *ways.entry((before, first)).or_default() += 1;
    }
    let way = |before: Option<&str>, first: &str| (before.map(str::to_owned), first.to_owned());
    let expected = [
        (way(None, "a:0>s0:0"), 12),
        (way(None, "d:0>s1:4"), 12),
        (way(Some("a:0>s0:0"), "f.1:0>s1:7"), 12),
        (way(Some("d:0>s1:4"), "f.0:0>s0:6"), 12),
    ];
    assert_eq!(ways, expected.into());
}
