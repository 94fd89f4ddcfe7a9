//! `export wires`: the wires of a capture, which `import` reads as the same capture.

use crate::import::packets;
use crate::support::{ScratchDirectory, bad, capture, good};

const LINK: [&str; 4] = ["--channel", "h1:0>s1:1", "--channel", "s1:1>h1:0"];

#[test]
fn exported_wires_are_imported_as_the_same_packets() {
    let directory = ScratchDirectory::new("export");
    let (original, dump) = (capture("link-1"), directory.file("wires.vcd"));
    for options in [
        &[][..],
        &["--skew", "5.5", "--jitter", "1", "--seed", "3"],
        &["--skew", "0,1,2.5,3,4,5.5,1,0.5,0.001"],
    ] {
        let said = good(&[&["export", "wires", &original, "-o", &dump], options].concat());
        assert!(said.contains(" --channel 'h1:0>s1:1' --channel 's1:1>h1:0'"), "{said}");
        let imported = directory.file("imported");
        let report = good(&[&["import", &dump, "-o", &imported], &LINK[..]].concat());
        assert_eq!(packets(&imported), packets(&original), "{options:?}");
        assert!(report.contains("beyond it: 0"), "{report}");
    }
    let text = std::fs::read_to_string(&dump).unwrap();
    assert!(
        text.contains("$scope module h1_0_to_s1_1 $end\n$var wire 1 ! D0 $end\n"),
        "{text:.400}"
    );
    assert!(text.contains("\nsGAP ~!\n"), "characters stand beside the wires");
}

#[test]
fn a_channel_alone_and_what_cannot_be_exported() {
    let directory = ScratchDirectory::new("export-errors");
    let (original, dump) = (capture("link-1"), directory.file("wires.vcd"));
    let export = ["export", "wires", &original, "-o", &dump];
    good(&[&export[..], &["--channel", "h1:0-s1:1"]].concat());
    let text = std::fs::read_to_string(&dump).unwrap();
    assert_eq!(text.matches("$scope").count(), 1, "{text:.400}");
    for (options, error) in [
        (["--skew", "1,2"], "2 delays, expected 1 or 9"),
        (["--skew", "1000.1"], "is no time from 0 to 1000 ns"),
        (["--jitter", "NaN"], "is no time from 0 to 1000 ns"),
        (["--channel", "h9"], "no channel \"h9\""),
        (["--capture", "1"], "no capture 1; the file has 1"),
    ] {
        let said = bad(&[&export[..], &options].concat());
        assert!(said.contains(error), "{options:?}: {said}");
    }
    let same = bad(&["export", "wires", &original, "-o", &original]);
    assert!(same.contains("the capture would be overwritten"), "{same}");
}
