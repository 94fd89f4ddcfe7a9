//! `import`: recordings of the wires of `link-1`, made of its capture by other programs.
//!
//! `fixtures/recordings/link-1.vcd` was written by pyvcd at 1 ns: clocks 80 ppm slow and 60 ppm fast, a skew of up
//! to 5 ns and 1 ns of jitter; character 0 at 100 ns. sigrok-cli made `link-1.sr` of it.

use crate::support::{ScratchDirectory, capture, fixture, good, run};

const LINK: [&str; 4] = ["--channel", "h1:0>s1:1", "--channel", "s1:1>h1:0"];

/// What the packets of a capture hold, without their times; the recording ends in the last one.
fn packets(path: &str) -> Vec<String> {
    let fields = "channel,packet,length,route,tag,crc,ended_by,start";
    let all = good(&[
        "packets",
        path,
        "--fields",
        fields,
        "--format",
        "csv",
        "--no-head",
        "--sort",
        "channel,packet",
    ]);
    let complete = all.lines().filter(|line| !line.contains("capture-end"));
    complete.map(|line| line.rsplit_once(',').unwrap().0.to_owned()).collect()
}

#[test]
fn recordings_of_other_programs_hold_the_packets_of_the_capture() {
    let directory = ScratchDirectory::new("import");
    let (original, imported) = (capture("link-1"), directory.file("imported"));
    for name in ["link-1.vcd", "link-1.sr"] {
        let recording = fixture(&format!("recordings/{name}"));
        let said = good(&[&["import", &recording, "-o", &imported], &LINK[..]].concat());
        assert_eq!(packets(&imported), packets(&original), "{name}");
        // Skew of up to 5 ns and jitter of 1 ns, of 6.25 ns.
        assert!(said.contains("a receiver waits (W-3); beyond it: 0"), "{said}");
        for line in said.lines().filter(|line| line.contains("M/s")) {
            let ppm: f64 = line.split(['(', ' ']).rev().nth(1).unwrap().parse().unwrap();
            // The recording is 2.4 µs long: 1 ns of it is 400 ppm.
            assert!(ppm.abs() < 400.0, "{line}");
        }
    }
}

#[test]
fn wires_are_named_one_by_one() {
    let directory = ScratchDirectory::new("import-wires");
    let recording = fixture("recordings/link-1.vcd");
    let imported = directory.file("imported");
    // First with wires 4 and 6 swapped.
    let wires = |link: &str, order: &str| {
        let names: Vec<String> = order.split(' ').map(|wire| format!("{link}.D{wire}")).collect();
        names.join(",")
    };
    let wrong = [wires("link0", "d 7 4 5 6 3 2 1 0"), wires("link1", "d 7 4 5 6 3 2 1 0")];
    let named = ["--wires", &wrong[0], "--wires", &wrong[1]];
    let command = [&["import", &recording, "-o", &imported], &LINK[..], &named[..]].concat();
    good(&command);
    assert_ne!(packets(&imported), packets(&capture("link-1")));
    let right = [wires("link0", "d 7 6 5 4 3 2 1 0"), wires("link1", "d 7 6 5 4 3 2 1 0")];
    let named = ["--wires", &right[0], "--wires", &right[1]];
    good(&[&["import", &recording, "-o", &imported], &LINK[..], &named[..]].concat());
    assert_eq!(packets(&imported), packets(&capture("link-1")));
}

#[test]
fn what_is_no_recording_is_named_with_its_place() {
    let directory = ScratchDirectory::new("import-errors");
    let out = directory.file("out");
    for (content, error) in [
        ("", "no heading with the names of signals"),
        ("$date x", "line 1: a section begins here and does not end: no $end"),
        (
            "$timescale 3 ns $end",
            "line 1: timescale is 3ns, not 1, 10 or 100 of s, ms, us, ns, ps or fs",
        ),
        ("$var wire x", "line 1: a section begins here and does not end"),
        (
            "$enddefinitions $end\n",
            "9 signals needed; name them with --wires; the recording has 0 signals",
        ),
        (
            "a,b\n0,1\n",
            "9 signals needed; name them with --wires; the recording has 2 signals: a, b",
        ),
        ("Time [s],a,b,c,d,e,f,g,h,i\n1,0,0,0,0,0,0,0,0,2\n", "line 2: level \"2\" is not 0 or 1"),
        (
            "Time [s],a,b,c,d,e,f,g,h,i\nx,0,0,0,0,0,0,0,0,0\n",
            "line 2: time \"x\" is not in seconds",
        ),
        ("PK\u{3}\u{4}", "no sigrok session"),
    ] {
        let recording = directory.write("recording", content.as_bytes());
        let done = run(&["import", &recording, "-o", &out]);
        assert_eq!(done.status, Some(2), "{content:?}");
        assert!(done.err.contains(error), "{content:?}: {}", done.err);
        assert!(!std::path::Path::new(&out).exists());
    }
    let vcd = std::fs::read_to_string(fixture("recordings/link-1.vcd")).unwrap();
    let back = directory.write("back", vcd.replace("\n#500\n", "\n#5\n").as_bytes());
    let done = run(&[&["import", &back, "-o", &out], &LINK[..]].concat());
    assert!(done.err.contains("time #5 is earlier than the time before it"), "{}", done.err);
}
