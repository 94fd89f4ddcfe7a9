use crate::rng::Rng;
use crate::scenario::cables::CABLE;
use crate::scenario::costs::COSTS;
use crate::scenario::endpoints::TRANSPORT;
use crate::scenario::keys::KeyList;
use crate::scenario::mapper::MAPPER;
use crate::scenario::parameters::{INTERFACE, PORT, SWITCH};
use crate::scenario::{Scenario, UnwritableScenario, with_key};
use crate::topology::NodeId;
use crate::traffic::{RawText, StreamDestination};
use codec::character::Character;
use codec::chars::CharBuf;
use proptest::prelude::*;

/// Files with every kind of table, arrival, size, message and fault.
const FILES: [&str; 2] = [
    include_str!("../../../tests/scenarios/every-kind.toml"),
    include_str!("../../../tests/scenarios/mapped.toml"),
];

fn read(text: &str) -> Scenario {
    Scenario::read("net.toml", text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn written(scenario: &Scenario) -> String {
    scenario.write().unwrap_or_else(|error| panic!("{error}\n{}", error.text()))
}

fn any_key<S: Copy>(section: &KeyList<S>, rng: &mut Rng) -> (String, String) {
    section[usize::try_from(rng.below(section.len() as u64)).unwrap()].any(rng)
}

/// One of the files with some keys set, each to a random value that it allows.
fn any_text(rng: &mut Rng) -> String {
    let mut text = FILES[usize::try_from(rng.below(2)).unwrap()].to_owned();
    for _ in 0..6 {
        let (table, (key, value)) = match rng.below(14) {
            0 => ("link", any_key(PORT, rng)),
            1 => ("link", any_key(CABLE, rng)),
            2 => ("switch_defaults", any_key(PORT, rng)),
            3 => ("switch_defaults", any_key(SWITCH, rng)),
            4 => ("interface", any_key(PORT, rng)),
            5 => ("interface", any_key(INTERFACE, rng)),
            6 => ("costs", any_key(COSTS, rng)),
            7 => ("transport", any_key(TRANSPORT, rng)),
            8 => ("mapper", any_key(MAPPER, rng)),
            9 => ("switch.0", any_key(SWITCH, rng)),
            10 => ("host.0", any_key(INTERFACE, rng)),
            11 => ("host.0.a", any_key(PORT, rng)),
            12 => ("cable.0", any_key(PORT, rng)),
            _ => ("cable.0.b", any_key(PORT, rng)),
        };
        // Some values exclude others.
        if let Ok(set) = with_key(&text, &format!("{table}.{key}"), &value)
            && Scenario::read("net.toml", &set).is_ok()
        {
            text = set;
        }
    }
    text
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_is_read_back(seed: u64) {
        let one = read(&any_text(&mut Rng::new(seed, 0)));
        let text = written(&one);
        let other = read(&text);
        prop_assert_eq!(&one, &other, "{}", text);
        prop_assert_eq!(written(&other), text);
    }
}

#[test]
fn every_scenario_of_the_fixtures_is_written() {
    let mut count = 0;
    for folder in std::fs::read_dir("../fixtures").unwrap() {
        let path = folder.unwrap().path().join("scenario.toml");
        let Ok(text) = std::fs::read_to_string(path) else { continue };
        let one = read(&text);
        assert_eq!(read(&written(&one)), one);
        count += 1;
    }
    assert!(count > 10);
}

#[test]
fn every_kind_of_generated_network_is_written() {
    let kinds = [
        "kind = 'switch'",
        "kind = 'line'\nswitches = 3\nhosts_per_switch = 2",
        "kind = 'ring'\nswitches = 4",
        "kind = 'mesh'\nwidth = 3\nheight = 2",
        "kind = 'fat-tree'\nlevels = 3",
        "kind = 'now-subcluster'",
        "kind = 'now-cluster'",
        "kind = 'random'\nswitches = 5\nhosts = 9\nports = 6\nlinks = 2",
    ];
    for kind in kinds {
        let text = format!(
            "duration_us = 5\n[topology]\n{kind}\n[[traffic]]\nto = 'uniform'\npayload = 64\nload = 0.3\n[[tap]]\nall = true"
        );
        let one = read(&text);
        let text = written(&one);
        assert_eq!(read(&text), one, "{text}");
    }
}

#[test]
fn what_is_written_says_what_differs_and_no_more() {
    let one = read(include_str!("../../../../fixtures/demo-cut/scenario.toml"));
    insta::assert_snapshot!(written(&one));
}

#[test]
fn a_scenario_that_no_file_says_is_told_with_the_file_that_comes_nearest() {
    let text = "duration_us = 5\n[topology]\nkind = 'switch'\nports = 2\n[[traffic]]\nto = 'shift'\npayload = 64\nload = 0.3";
    let mut own = read(text);
    own.streams.truncate(1);
    own.streams[0].to = StreamDestination::One(NodeId(1));
    let error = own.write().unwrap_err();
    assert!(matches!(error, UnwritableScenario::Refused { .. }));
    insta::assert_snapshot!(error, @r#"
    no scenario file can express it:
    error: `h0` has no other host to send to
      --> scenario.toml:24:6
       |
    24 | to = "h0"
       |      ^^^^ expected hosts with routes between them
    "#);
    let mut first = read(text);
    first.interfaces.reverse();
    let error = first.write().unwrap_err();
    assert!(matches!(error, UnwritableScenario::Differs { .. }));
    insta::assert_snapshot!(error, @"no scenario file can express its interfaces");
    assert_eq!(read(error.text()), read(text));
}

#[test]
fn any_characters_can_be_raw() {
    let text = "duration_us = 5\n[topology]\nkind = 'switch'\nports = 2\n";
    let mut one = read(text);
    let data = (0..=255).map(Character::Data);
    let chars: CharBuf = data.chain((0..=255).map(Character::Control)).collect();
    one.raw.push(RawText { from: NodeId(2), at: 0, chars });
    assert_eq!(read(&written(&one)), one);
}
