//! Copies of packets: on successive taps, and of a switch.

use std::fs;

use crate::support::{RunOutcome, ScratchDirectory, fixture, good, run};

/// A scenario of a fixture, simulated: its capture, and the messages.
fn simulated(name: &str, directory: &ScratchDirectory) -> (String, String) {
    let (scenario, copy) = (fixture(&format!("{name}/scenario.toml")), directory.file(name));
    let RunOutcome { status, err, .. } = run(&["simulate", &scenario, "-o", &copy]);
    assert_eq!(status, Some(0));
    (copy, err)
}

/// S-9
#[test]
fn copies_of_a_multicast_are_branches_from_its_source() {
    let directory = ScratchDirectory::new("copies-multicast");
    let (capture, err) = simulated("multicast", &directory);
    assert_eq!(err, "");
    assert_eq!(fs::read(&capture).unwrap(), fs::read(fixture("multicast/copies.pcapng")).unwrap());
    let checked = good(&["check", &capture]);
    assert!(checked.starts_with("✓ nothing wrong") && !checked.contains("slow-path"), "{checked}");
    let fields = "journey,branch_of,hops.channel,fate,certainty";
    let journeys = good(&["journeys", &capture, "--fields", fields, "--format", "csv"]);
    let rows: Vec<&str> = journeys.lines().skip(1).collect();
    assert_eq!(rows.len(), 13, "{journeys}");
    assert!(rows.iter().all(|row| row.contains("h0:0>s0:0") && row.contains("arrived,certain")));
    let flows = good(&["flows", &capture, "--fields", "source,destination,packets"]);
    assert!(!flows.contains("\ns0") && flows.matches("h0").count() == 4, "{flows}");
    assert!(!good(&["topology", &capture]).contains("asks for another port"));
}

/// S-9, I-2
#[test]
fn a_copy_that_reaches_a_host_with_a_route_byte_is_misrouted() {
    let directory = ScratchDirectory::new("copies-misrouted");
    let text = fs::read_to_string(fixture("multicast/scenario.toml")).unwrap();
    let header = text.replace("03 01 00 02 00 03 00 f8", "02 01 00 02 01 84 e9");
    let sound = "[[traffic]]\nfrom = [\"h1\"]\nto = [\"h2\"]\nload = 0.1\npayload = 20\n";
    let capture = directory.simulate(&format!("{header}\n{sound}"));
    let found =
        run(&["check", &capture, "--format", "csv", "--fields", "finding,channel,count"]).out;
    assert!(found.contains("misrouted,s0:2>h2:0,4"), "{found}");
    assert!(!found.contains("merged"), "{found}");
}

#[test]
fn a_fault_that_acts_behind_its_tap_is_noted() {
    let directory = ScratchDirectory::new("copies-hidden");
    let (capture, err) = simulated("fault-behind-the-tap", &directory);
    let expected = "fault open_wire on s0:1>h1:0 acts behind every tap that its characters pass: the capture \
                    cannot show it; tap the port h1:0";
    assert!(err.contains(expected), "{err}");
    assert!(good(&["check", &capture]).starts_with("✓ nothing wrong"));
}

/// W-5, P-5
#[test]
fn a_damaged_wire_between_two_taps_is_named() {
    let directory = ScratchDirectory::new("copies-wire");
    let text = fs::read_to_string(fixture("fault-behind-the-tap/scenario.toml")).unwrap();
    let taps = text.replace("all = true", "port = \"s0:0\"\n[[tap]]\nport = \"h1:0\"");
    let capture = directory.simulate(&taps);
    // It is of the channels at both of its ends.
    for part in [&[][..], &["--channel", "h0:0>s0:0"], &["--channel", "s0:1>h1:0"]] {
        let rows = good(&[&["links", "--damage", &capture, "--format", "csv"], part].concat());
        let (head, row) = rows.trim_end().split_once('\n').unwrap();
        assert!(head.starts_with("after,seen,wire,cleared,set,packets,alone,damaged"), "{head}");
        assert!(row.starts_with("h0:0>s0:0,s0:1>h1:0,5,"), "{rows}");
    }
    let checked = run(&["check", &capture]).out;
    assert!(checked.contains("wire 5, ") && checked.contains("ones became 0"), "{checked}");
    let injured = good(&["journeys", &capture, "--filter", "injuries.wire == 5"]);
    assert!(injured.contains("byte ") && injured.contains("before ") && injured.contains("after "));
}

#[test]
fn captures_that_do_not_fit_are_noted_when_they_are_merged() {
    let directory = ScratchDirectory::new("copies-merge");
    let whole = fixture("multicast/copies.pcapng");
    let [early, late, both] = ["early", "late", "both"].map(|name| directory.file(name));
    good(&["slice", &whole, "--channel", "h1", "--to", "20us", "-o", &early]);
    good(&["slice", &whole, "--channel", "h2", "--from", "40us", "-o", &late]);
    let merged = run(&["merge", &early, &late, "-o", &both]);
    assert!(merged.err.contains("the times do not fit: "), "{}", merged.err);
    let offset = format!("{early}=35us");
    good(&["merge", &early, &late, "--offset", &offset, "-o", &both]);
    let times =
        good(&["packets", &both, "--channel", "h1", "--fields", "start", "--format", "csv"]);
    assert_eq!(times, "start\n3649\n");
    let network = "seed = 1\nduration_us = 20\n[topology]\nkind = \"mesh\"\nwidth = 2\nheight = 1\nhosts_per_switch = 1\n[[tap]]\nall = true\n";
    let other = directory.simulate(network);
    let merged = run(&["merge", &whole, &other, "-o", &both]);
    assert!(merged.err.contains("the networks do not fit: "), "{}", merged.err);
}
