//! `slice`, `merge` and `diff`.

use crate::support::{ScratchDirectory, capture, capture_bytes, good, piped, refused, run};

#[test]
fn a_capture_that_is_cut_and_joined_has_the_same_characters() {
    let directory = ScratchDirectory::new("slice-merge");
    let [a, b, whole] = ["a", "b", "whole"].map(|name| directory.file(name));
    for name in ["link-1", "link-14", "demo-cut", "demo-slack", "demo-lossy"] {
        let path = capture(name);
        // The second cut overlaps: the same characters in both parts. Each with an order of its own.
        for ([end, start], parts) in [(["20us", "20us"], [&a, &b]), (["1001ch", "777ch"], [&b, &a])]
        {
            let [end, start] =
                if name.starts_with("link") { ["99ch", "99ch"] } else { [end, start] };
            good(&["slice", &path, "--to", end, "-o", &a]);
            good(&["slice", &path, "--from", start, "-o", &b]);
            let said = good(&["merge", parts[0], parts[1], "-o", &whole]);
            assert!(said.ends_with(" channels written\n"), "{said}");
            for view in ["show", "info", "check"] {
                let expected = good_or_found(view, &path);
                assert_eq!(good_or_found(view, &whole), expected, "{name}");
                let joined = run(&[view, "--join", parts[0], parts[1]]);
                // Commands for the same files.
                let files = format!("{} {} --join", parts[0], parts[1]);
                assert_eq!(joined.out.replace(&files, "FILE"), expected, "{name}");
            }
            let network = good(&["topology", parts[0], parts[1], "--join"]);
            assert_eq!(network, good(&["topology", &whole]), "{name}");
            for export in [&["export", "packets"][..], &["export", "states"], &["report"]] {
                let export = |files: &[&str]| piped(&[export, files, &["-o", "-"]].concat(), b"");
                let (one, joined) = (export(&[&whole]), export(&[parts[0], parts[1], "--join"]));
                assert!(matches!(joined.status, Some(0 | 1)), "{}", joined.err);
                let joined = String::from_utf8_lossy(&joined.bytes).into_owned();
                let files = format!("{} {} --join", parts[0], parts[1]);
                let one = String::from_utf8_lossy(&one.bytes).into_owned();
                let file =
                    |text: String, name: &str| text.replace(name, "FILE").replace(parts[0], "FILE");
                assert!(file(joined, &files) == file(one, &whole), "{name} {}", parts[0]);
            }
        }
    }
}

/// Output of a view; findings are no failure.
fn good_or_found(view: &str, path: &str) -> String {
    let done = run(&[view, path]);
    assert!(matches!(done.status, Some(0 | 1)) && done.err.is_empty(), "{}", done.err);
    // `check` prints commands for this file.
    done.out.replace(path, "FILE")
}

#[test]
fn a_slice_keeps_places_channels_and_findings() {
    let directory = ScratchDirectory::new("slice");
    let (path, part) = (capture("demo-cut"), directory.file("part"));
    good(&["slice", &path, "--from", "15us", "--to", "25us", "--channel", "h1:0", "-o", &part]);
    let window = ["show", &path, "--plain", "--channel", "h1:0", "--from", "15us", "--to", "25us"];
    // The first line counts the channels that are not shown.
    let shown = good(&window);
    assert_eq!(shown.split_once('\n').unwrap().1, good(&["show", "--plain", &part]));
    good(&["slice", &path, "--finding", "open-link", "--around", "1us", "-o", &part]);
    let found = run(&["check", &part, "--filter", "finding == open-link", "--fields", "at"]).out;
    assert!(found.contains("1615"), "{found}");
    // As a pipe, and again from a slice.
    let piped = piped(&["slice", "-", "-o", "-", "--from", "20us"], &capture_bytes("demo-cut"));
    assert_eq!((piped.status, piped.err.as_str()), (Some(0), ""));
    let later = directory.write("later", &piped.bytes);
    good(&["slice", &later, "--from", "15us", "-o", &part]);
    assert_eq!(directory.read("part"), piped.bytes, "a cut before the start changes nothing");
    let twice = directory.write("twice", &capture_bytes("demo-cut").repeat(2));
    let unnamed = "the first of 2 captures was cut; --capture names another";
    let cuts: [(&[&str], &str); 3] =
        [(&[], unnamed), (&["--capture", "0"], ""), (&["--capture", "1"], "")];
    for (named, told) in cuts {
        let done = run(&[&["slice", &twice, "-o", &part], named].concat());
        assert!(done.err.contains(told), "{named:?}: {}", done.err);
        assert_eq!((done.status, done.err.is_empty()), (Some(0), told.is_empty()), "{named:?}");
    }
}

#[test]
fn what_cannot_be_cut_or_joined_is_named_and_leaves_no_file() {
    let directory = ScratchDirectory::new("slice-errors");
    let path = capture("demo-cut");
    let mut bytes = capture_bytes("demo-cut");
    let damaged = directory.write("damaged", &bytes[..2000]);
    // A byte inside a packet.
    bytes[1600] ^= 0x11;
    let changed = directory.write("changed", &bytes);
    let out = directory.file("out");
    let cases: [(&[&str], &str); 3] = [
        (&["slice", &damaged], "byte 1444: block 7"),
        (&["merge", &path, &damaged], "byte 1444: block 7"),
        (&["merge", &path, &changed], "where a file before has"),
    ];
    for (arguments, expected) in cases {
        refused(&[arguments, &["-o", &out]].concat(), expected);
    }
    let same = run(&["slice", &changed, "-o", &changed]);
    assert!(same.err.contains("the capture would be overwritten"), "{}", same.err);
    assert_eq!(directory.names(), ["changed", "damaged"]);
}

#[test]
fn captures_that_differ_show_the_first_difference_of_each_channel() {
    let (cut, lossy) = (capture("demo-cut"), capture("demo-lossy"));
    assert!(good(&["diff", &cut, &cut]).starts_with("✓ no difference on 4 channels\n"));
    let differs = run(&["diff", &cut, &lossy]);
    assert_eq!((differs.status, differs.err.as_str()), (Some(1), ""));
    assert!(differs.out.starts_with("✗ ") && differs.out.contains("\n  - "), "{}", differs.out);
    let moved = ["diff", &cut, &lossy, "--ignore", "time", "--filter", "moved > 0", "--count"];
    assert_eq!(run(&moved).out, "0\n");
    let table = run(&["diff", &cut, &lossy, "--format", "csv", "--fields", "channel,differs"]).out;
    assert!(table.starts_with("channel,differs\n") && table.contains(",true\n"), "{table}");
    let directory = ScratchDirectory::new("diff");
    let damaged = directory.write("damaged", &capture_bytes("demo-cut")[..2000]);
    let failed = run(&["diff", &cut, &damaged]);
    assert_eq!(failed.status, Some(2));
    assert!(failed.err.contains("byte 1444: block 7"), "{}", failed.err);
    // The version of the first chunk: what can be read of a file is compared, whichever of the two it is.
    let (mut faulty, mut at) = (capture_bytes("demo-cut"), 0);
    while faulty[at] != 6 {
        at += usize::from(faulty[at + 4]) + 256 * usize::from(faulty[at + 5]);
    }
    faulty[at + 28] = 9;
    let faulty = directory.write("faulty", &faulty);
    for files in [[&cut, &faulty], [&faulty, &cut]] {
        let told = run(&["diff", files[0], files[1]]);
        assert_eq!(told.status, Some(2), "{files:?}");
        assert!(told.err.contains("faulty: ") && told.err.contains("version"), "{}", told.err);
    }
}
