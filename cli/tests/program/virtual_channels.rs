//! Captures of links with virtual channels. C-7

use std::fs;

use crate::support::{ScratchDirectory, bad, capture, fixture, good, refused, run};

#[test]
fn rows_are_those_of_each_virtual_channel() {
    let directory = ScratchDirectory::new("virtual-channels");
    let [declared, bare] = ["declared", "bare"].map(|name| directory.file(name));
    let (text, profile) =
        (fixture("virtual-channels/capture.txt"), fixture("virtual-channels/lab.profile"));
    good(&["import", &text, "-o", &declared, "--profile", &profile, "--tap", "a:0"]);
    good(&["import", &text, "-o", &bare]);
    let file = capture("virtual-channels");
    assert!(fs::read(declared).unwrap() == fs::read(&file).unwrap());
    let expected = fs::read_to_string(fixture("virtual-channels/packets.jsonl")).unwrap();
    let options = ["--hex", "--format", "jsonl"];
    assert_eq!(good(&[&["packets", &file][..], &options].concat()), expected);
    let assumed = [&["packets", &bare, "--profile", &profile][..], &options].concat();
    assert_eq!(good(&assumed), expected);
    let packets = |channel: &str| good(&["packets", &file, "--count", "--channel", channel]);
    assert_eq!(["a:0", "a:0.vc0", "b:0-a:0"].map(packets), ["4\n", "2\n", "0\n"]);
    let show = |channel: &str| good(&["show", &file, "--plain", "--channel", channel]);
    assert!(show("a:0.vc0-b:0.vc0").contains("05 VC1 VC1 VC0 aa"), "{}", show("a:0.vc0"));
    assert!(show("a:0.vc1-b:0.vc1").contains("05 VC0 VC0 VC1 bb"), "{}", show("a:0.vc1"));
    assert!(good(&["watch", &bare, "--profile", &profile]).contains("a:0.vc1>b:0.vc1"));
    // A capture of the same packets, whether the profile is declared or assumed.
    good(&["diff", &file, &bare, "--profile", &profile]);
    // Without a profile the codes are invalid. C-5
    assert!(good(&["show", &bare, "--plain"]).contains("05 !51 05 !50 aa"));
}

#[test]
fn the_command_after_a_finding_reads_the_profile_too() {
    let directory = ScratchDirectory::new("profile-see");
    let (profile, file) = (fixture("virtual-channels/lab.profile"), directory.file("capture"));
    // A packet whose CRC byte is wrong, on the virtual channel that is selected.
    let text = directory.write("text", b"a:0>b:0\nGAP !50 05 aa bb GAP 05 aa 00 GAP\n");
    good(&["import", &text, "-o", &file]);
    let select = ["--profile", &profile, "--filter", "finding == crc-bad"];
    let found = run(&[&["check", &file, "--format", "jsonl"][..], &select].concat()).out;
    let expected = format!("packets {file} --profile {profile} --channel 'a:0.vc0>b:0.vc0'");
    assert!(found.contains(&expected), "{found}");
    let page = run(&[&["report", &file, "-o", "-"][..], &select].concat()).out;
    assert!(page.contains(&format!("packets {file} --profile {profile} --channel")));
}

#[test]
fn a_profile_that_is_wrong_is_refused_with_its_line() {
    let directory = ScratchDirectory::new("profiles");
    let path = directory.file("wrong.profile");
    for (text, fault) in [
        ("VC0=50 # fine\nVC1=51\nGO1=60 STOP1=51\n", "line 3: STOP1: code 51 is taken by VC1"),
        ("VC0=50\r\nVC9=51", "line 2: \"VC9=51\" is no symbol with its code"),
        ("VC0=50 VC1=51 GO1=60", "STOP1 has no code"),
        (&"#".repeat(1 << 20), "a link profile exceeds 65536 bytes"),
    ] {
        fs::write(&path, text).unwrap();
        refused(&["check", &capture("virtual-channels"), "--profile", &path], fault);
    }
    let missing = directory.file("missing.profile");
    let said = bad(&["info", &capture("virtual-channels"), "--profile", &missing]);
    assert!(said.contains("--profile"));
}
