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

/// Periods of the files.
const DURATION: u64 = 1_000_000_000;

/// Key of a section, or of a table in it, with a random value that it allows.
fn section_key<S: Copy>(table: &str, section: &KeyList<S>, rng: &mut Rng) -> (String, String) {
    let number = usize::try_from(rng.below(section.len() as u64)).unwrap();
    let (key, value) = section[number].any(rng);
    (format!("{table}.{key}"), value)
}

/// Key of an element of a list of up to 20, with a value.
fn element_key(list: &str, key: &str, value: &dyn ToString, rng: &mut Rng) -> (String, String) {
    (format!("{list}.{}.{key}", rng.below(20)), value.to_string())
}

fn size(rng: &mut Rng, least: u64, most: u64) -> String {
    let (a, b) = (rng.between(least, most), rng.between(least, most));
    match rng.below(3) {
        0 => a.to_string(),
        1 => format!("[{}, {}]", a.min(b), a.max(b)),
        _ => {
            let nanos = rng.between(1_000, 999_999_999);
            format!("{{ small = {a}, large = {b}, large_share = 0.{nanos:09} }}")
        }
    }
}

fn characters(rng: &mut Rng) -> String {
    let one = |_| format!("{}{:02x}", if rng.below(2) == 0 { "" } else { "!" }, rng.below(256));
    format!("'{}'", (0..20).map(one).collect::<Vec<_>>().join(" "))
}

/// Draws a key and a value for it.
type DrawKeyFn = fn(&mut Rng) -> (String, String);

const KEYS: [DrawKeyFn; 38] = [
    |rng| section_key("link", PORT, rng),
    |rng| section_key("link", CABLE, rng),
    |rng| section_key("switch_defaults", PORT, rng),
    |rng| section_key("switch_defaults", SWITCH, rng),
    |rng| section_key("interface", PORT, rng),
    |rng| section_key("interface", INTERFACE, rng),
    |rng| section_key("costs", COSTS, rng),
    |rng| section_key("transport", TRANSPORT, rng),
    |rng| section_key("mapper", MAPPER, rng),
    |rng| section_key("switch.0", SWITCH, rng),
    |rng| section_key("host.0", INTERFACE, rng),
    |rng| section_key("host.0.a", PORT, rng),
    |rng| section_key("cable.0", PORT, rng),
    |rng| section_key("cable.0.b", PORT, rng),
    |rng| element_key("traffic", "payload", &size(rng, 0, 1 << 20), rng),
    |rng| element_key("traffic", "start_periods", &rng.below(DURATION), rng),
    |rng| element_key("traffic", "every_periods", &rng.between(1, 1 << 40), rng),
    |rng| element_key("traffic", "tag", &rng.below(128), rng),
    |rng| element_key("traffic", "packets", &rng.next_u64(), rng),
    |rng| element_key("traffic", "burst", &rng.between(1, 1 << 20), rng),
    |rng| element_key("traffic", "window", &rng.between(1, 1 << 20), rng),
    |rng| element_key("traffic", "think_periods", &rng.below(1 << 40), rng),
    |rng| element_key("raw", "at_periods", &rng.below(DURATION), rng),
    |rng| element_key("raw", "chars", &characters(rng), rng),
    |rng| element_key("messages", "words", &size(rng, 1, 8), rng),
    |rng| element_key("messages", "bytes", &size(rng, 4, 8_192), rng),
    |rng| element_key("messages", "count", &rng.next_u64(), rng),
    |rng| element_key("messages", "key", &rng.next_u64(), rng),
    |rng| element_key("endpoint", "segment", &rng.below(1 << 20), rng),
    |rng| element_key("endpoint", "key", &rng.next_u64(), rng),
    |rng| element_key("fault", "at_periods", &rng.below(DURATION), rng),
    |rng| element_key("fault", "for_periods", &rng.between(1, 1 << 40), rng),
    |rng| element_key("fault", "mean_characters", &rng.between(1, 1 << 40), rng),
    |rng| element_key("fault", "wire", &rng.below(9), rng),
    |rng| element_key("fault", "bits", &rng.between(1, 0x1ff), rng),
    |rng| element_key("fault", "number", &rng.below(8), rng),
    |rng| element_key("tap", "from_periods", &rng.below(DURATION), rng),
    |rng| element_key("tap", "to_periods", &rng.between(1, DURATION), rng),
];

/// A file with a key set, if that is a scenario: some values exclude others.
fn with(text: &str, (key, value): &(String, String)) -> Option<String> {
    let set = with_key(text, key, value).ok()?;
    Scenario::read("net.toml", &set).is_ok().then_some(set)
}

/// One of the files with some keys set, each to a random value.
fn any_text(rng: &mut Rng) -> String {
    let mut text = FILES[usize::try_from(rng.below(2)).unwrap()].to_owned();
    for _ in 0..12 {
        let key = KEYS[usize::try_from(rng.below(KEYS.len() as u64)).unwrap()](rng);
        text = with(&text, &key).unwrap_or(text);
    }
    text
}

#[test]
fn every_key_that_is_drawn_fits_a_file() {
    for (number, draw) in (0..).zip(KEYS) {
        let mut rng = Rng::new(number, 0);
        let mut keys = std::iter::repeat_with(|| draw(&mut rng)).take(200);
        let fits = |key: &(String, String)| FILES.iter().any(|text| with(text, key).is_some());
        assert!(keys.any(|key| fits(&key)), "{:?}", draw(&mut rng));
    }
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
