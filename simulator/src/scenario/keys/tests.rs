use super::KeyList;
use crate::rng::Rng;
use crate::scenario::cables::CABLE;
use crate::scenario::costs::COSTS;
use crate::scenario::endpoints::TRANSPORT;
use crate::scenario::parameters::{INTERFACE, PORT, SWITCH};
use crate::scenario::{Scenario, ScenarioError, with_key};

fn noted(text: &str) -> Result<(Scenario, Vec<String>), ScenarioError> {
    Scenario::read_noted("net.toml", text, None, &|_, _| Err("no file".to_owned()))
}

fn notes(text: &str) -> Vec<String> {
    noted(text).unwrap_or_else(|error| panic!("{error}\n{text}")).1
}

/// A key of a section with two random values; none for a key that excludes others.
fn drawn<S: Copy>(section: &KeyList<S>, rng: &mut Rng) -> Option<(String, [String; 2])> {
    let at = usize::try_from(rng.below(section.len() as u64)).unwrap();
    let [(key, one), (other_key, other)] = [(); 2].map(|()| section[at].any(rng));
    (key == other_key && !key.is_empty() && one != other).then_some((key, [one, other]))
}

/// Two values of a key that give the same scenario: one of them at least has no effect.
#[test]
fn a_key_that_can_be_changed_without_any_effect_is_named() {
    let (mut rng, mut count) = (Rng::new(1, 0), 0);
    for folder in std::fs::read_dir("../fixtures").unwrap() {
        let path = folder.unwrap().path().join("scenario.toml");
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        for _ in 0..24 {
            let (section, drawn) = match rng.below(8) {
                0 => ("link", drawn(PORT, &mut rng)),
                1 => ("link", drawn(CABLE, &mut rng)),
                2 => ("switch_defaults", drawn(PORT, &mut rng)),
                3 => ("switch_defaults", drawn(SWITCH, &mut rng)),
                4 => ("interface", drawn(PORT, &mut rng)),
                5 => ("interface", drawn(INTERFACE, &mut rng)),
                6 => ("transport", drawn(TRANSPORT, &mut rng)),
                _ => ("costs", drawn(COSTS, &mut rng)),
            };
            let Some((key, values)) = drawn else { continue };
            let path = format!("{section}.{key}");
            let read = values.map(|value| noted(&with_key(&text, &path, &value).unwrap()));
            let [Ok((one, notes)), Ok((other, others))] = read else { continue };
            let name = format!("`{key}` in [{section}] has no effect here");
            let is_named = notes.iter().chain(&others).any(|note| note.contains(&name));
            assert!(one != other || is_named, "{path} of {text}");
            count += usize::from(is_named);
        }
    }
    assert!(count > 50, "{count}");
}

#[test]
fn every_key_of_the_fixtures_has_an_effect() {
    for folder in std::fs::read_dir("../fixtures").unwrap() {
        let path = folder.unwrap().path().join("scenario.toml");
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        assert_eq!(notes(&text), [""; 0], "{}", path.display());
    }
}

#[test]
fn a_key_needs_what_makes_use_of_it() {
    let base = "duration_us = 9\n[topology]\nkind = 'ring'\nswitches = 3\n";
    let traffic = "[[traffic]]\nfrom = 'h0'\nto = 'h1'\npayload = 100\nsaturate = true\n";
    let ip = traffic.replace("traffic", "ip") + "proto = 'udp'\n";
    let sum = format!("{traffic}checksum = 'host'\n");
    let endpoint = "[[endpoint]]\nname = 'a'\nhost = 'h0'\n";
    let profile = "[link]\nprofile = 'VC0=50,VC1=51,GO1=60,STOP1=6f'\n";
    for (section, key, needs) in [
        ("switch_defaults", "dateline = true", profile),
        ("switch_defaults", "replies = false", "[link]\nsymbols = 'all'\n"),
        ("link", "handshake_ns = 3", "kind = 'handshake'\n"),
        ("interface", "copy_us = 3", "stack = 'one-copy'\n"),
        ("interface", "interrupt_us = 3", "arrivals = 'interrupt'\n"),
        ("interface", "mtu = 1500", &*ip),
        ("interface", "checksum_us = 3", &*sum),
        ("interface", "mapping_us = 3", "[routes]\nmethod = 'mapped'\n"),
        ("transport", "credits = 3", endpoint),
        ("costs", "page = 3", endpoint),
    ] {
        let (name, _) = key.split_once(' ').unwrap();
        let text = format!("{base}[{section}]\n{key}\n");
        let note =
            format!("line 6: `{name}` in [{section}] has no effect here: nothing uses its value");
        assert_eq!(notes(&text), [note]);
        assert_eq!(notes(&(text + needs)), [""; 0]);
    }
    // All cables have keys of their own.
    let own =
        "[[switch]]\nname = 's'\n[[host]]\nname = 'h'\nat = 's:0'\nlength_m = 3\ngo_slack = 4\n";
    let both = notes(&format!("duration_us = 9\n[link]\nlength_m = 2\ngo_slack = 3\n{own}"));
    let named: Vec<&str> = both.iter().filter_map(|note| note.split('`').nth(1)).collect();
    assert_eq!(named, ["length_m", "go_slack"]);
}
