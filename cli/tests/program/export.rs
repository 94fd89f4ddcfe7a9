//! `export`: the wires of a capture, which `import` reads as the same capture, and its timelines.

use std::collections::BTreeMap;

use crate::import::packets;
use crate::support::{ScratchDirectory, capture, good, json_lines, run};

const LINK: [&str; 4] = ["--channel", "h1:0>s1:1", "--channel", "s1:1>h1:0"];

#[test]
fn exported_wires_are_imported_as_the_same_packets() {
    let directory = ScratchDirectory::new("export");
    let (original, dump) = (capture("link-1"), directory.file("wires.vcd"));
    for (options, longest) in [
        (&[][..], "0.00 ns"),
        (&["--skew", "5.5", "--jitter", "1", "--seed", "3"], "5."),
        (&["--skew", "0,1,2.5,3,4,5.5,1,0.5,0.001"], "5.50 ns"),
    ] {
        let said = good(&[&["export", "wires", &original, "-o", &dump], options].concat());
        assert!(said.contains(" --channel 'h1:0>s1:1' --channel 's1:1>h1:0'"), "{said}");
        let imported = directory.file("imported");
        let report = good(&[&["import", &dump, "-o", &imported], &LINK[..]].concat());
        assert_eq!(packets(&imported), packets(&original), "{options:?}");
        assert!(report.contains("beyond it: 0"), "{report}");
        assert!(report.contains(&format!("longest character {longest}")), "{report}");
    }
    let text = directory.text("wires.vcd");
    let head = "$scope module h1_0_to_s1_1 $end\n$var wire 1 ! D0 $end\n";
    assert!(text.contains(head), "{text:.400}");
    assert!(text.contains("\nsGAP ~!\n"), "characters stand beside the wires");
    // A channel alone.
    good(&["export", "wires", &original, "-o", &dump, "--channel", "h1:0-s1:1"]);
    assert_eq!(directory.text("wires.vcd").matches("$scope").count(), 1);
}

/// A field of a message of protocol buffers: its number, and a number or bytes.
fn fields(mut bytes: &[u8]) -> Vec<(u64, u64, &[u8])> {
    fn varint(bytes: &mut &[u8]) -> u64 {
        let length = bytes.iter().position(|byte| *byte < 0x80).unwrap() + 1;
        let (number, rest) = bytes.split_at(length);
        *bytes = rest;
        number.iter().rev().fold(0, |value, byte| value << 7 | u64::from(byte & 0x7f))
    }
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        let key = varint(&mut bytes);
        let (value, length) = match key & 7 {
            0 => (varint(&mut bytes), 0),
            1 => (0, 8),
            2 => (0, varint(&mut bytes)),
            kind => unreachable!("wire type {kind}"),
        };
        let (content, rest) = bytes.split_at(usize::try_from(length).unwrap());
        bytes = rest;
        fields.push((key >> 3, value, content));
    }
    fields
}

/// Numbers of rows of a view.
fn rows(view: &[&str], field: &str) -> usize {
    let rows = run(&[view, &["--format", "jsonl"]].concat()).out;
    rows.matches(&format!("\"{field}\":")).count()
}

#[test]
fn a_trace_has_all_states_hops_bounds_and_findings_in_order_of_time() {
    let original = &capture("ring-deadlock");
    check_trace(original, &[]);
    // Selections that begin or end with a state.
    let edges = ["links", "--intervals", original, "--filter", "start > 0", "--limit", "4"];
    for edge in json_lines(&good(&[&edges[..], &["--format", "jsonl"]].concat())) {
        let edge = format!("{}ch", edge["start"]);
        check_trace(original, &["--from", &edge]);
        check_trace(original, &["--to", &edge]);
    }
}

fn check_trace(original: &str, part: &[&str]) {
    let directory = ScratchDirectory::new("export-perfetto");
    let file = directory.file("trace");
    good(&[&["export", "perfetto", original, "-o", &file], part].concat());
    let trace = directory.read("trace");
    let (mut tracks, mut counts) = (BTreeMap::new(), BTreeMap::<(String, u64), usize>::new());
    let mut open = BTreeMap::<u64, u64>::new();
    for (trace_packet, _, packet) in fields(&trace) {
        assert_eq!(trace_packet, 1);
        let packet = fields(packet);
        let one = |fields: &[(u64, u64, &[u8])], number| {
            fields.iter().find(|(field, ..)| *field == number).map(|it| (it.1, it.2.to_vec()))
        };
        if let Some((_, track)) = one(&packet, 60) {
            let track = fields(&track);
            let (uuid, name) = (one(&track, 1).unwrap().0, one(&track, 2).unwrap().1);
            let group = one(&track, 5).map(|(group, _)| tracks.get(&group).cloned().unwrap());
            let name = String::from_utf8(name).unwrap();
            let ends = name.split_once(' ').and_then(|(ends, _)| ends.split_once('>'));
            let is_of =
                |group: String| ends.is_some_and(|it| group.contains(it.0) && group.contains(it.1));
            assert!(group.is_none_or(is_of), "{name}");
            tracks.insert(uuid, name);
        }
        let Some((_, event)) = one(&packet, 11) else { continue };
        let event = fields(&event);
        let [kind, track] = [9, 11].map(|field| one(&event, field).unwrap().0);
        let time = one(&packet, 8).unwrap().0;
        let name = tracks.get(&track).unwrap().split_once(' ').unwrap().1.to_owned();
        *counts.entry((name, kind)).or_default() += 1;
        match kind {
            1 => assert_eq!(open.insert(track, time), None, "one slice at a time"),
            2 => assert!(open.remove(&track).unwrap() <= time),
            kind => assert!(kind == 3 || kind == 4),
        }
    }
    assert!(open.is_empty(), "every slice ends");
    let count = |name: &str, kind| counts.get(&(name.to_owned(), kind)).copied().unwrap_or(0);
    let intervals = rows(&[&["links", "--intervals", original], part].concat(), "state");
    assert_eq!([count("state", 1), count("state", 2)], [intervals; 2]);
    let packets = rows(&[&["packets", original], part].concat(), "packet");
    assert_eq!([count("packets", 1), count("packets", 2)], [packets; 2]);
    let findings = rows(&[&["check", "--each", original], part].concat(), "finding");
    assert_eq!(count("findings", 3), findings);
    assert!(!part.is_empty() || count("slack buffer, at least", 4) > 0);
    assert_eq!(count("slack buffer, at least", 4), count("slack buffer, at most", 4));
}

#[test]
fn a_dump_of_states_is_in_order_of_time() {
    let directory = ScratchDirectory::new("export-states");
    let (original, file) = (capture("demo-glitch"), directory.file("states.vcd"));
    good(&["export", "states", &original, "-o", &file, "--channel", "h0:0>s0:0"]);
    let dump = directory.text("states.vcd");
    let times: Vec<u64> =
        dump.lines().filter_map(|line| line.strip_prefix('#')?.parse().ok()).collect();
    assert!(times.len() > 20 && times.is_sorted_by(|one, next| one < next), "{times:?}");
}

#[cfg(not(feature = "parquet"))]
#[test]
fn tables_need_a_feature() {
    let command = ["export", "parquet", &capture("link-1"), "-o", "tables"];
    crate::support::refused(&command, "built without the feature `parquet`");
}
