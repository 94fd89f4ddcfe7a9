//! `export`: the wires of a capture, which `import` reads as the same capture, and its timelines.

#![expect(clippy::indexing_slicing, reason = "a test that cannot go on stops")]

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::import::packets;
use crate::support::{ScratchDirectory, capture, capture_bytes, good, json_lines, run};

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

/// The first field of a number.
fn one<'b>(fields: &[(u64, u64, &'b [u8])], number: u64) -> Option<(u64, &'b [u8])> {
    fields.iter().find(|(field, ..)| *field == number).map(|it| (it.1, it.2))
}

/// An event of a trace: number and name of its track, kind and time, and its name with its annotations.
type TraceEvent = (u64, String, u64, u64, String);

fn events(trace: &[u8]) -> Vec<TraceEvent> {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let (mut tracks, mut names, mut events) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
    let mut named = BTreeSet::new();
    for (trace_packet, _, packet) in fields(trace) {
        assert_eq!(trace_packet, 1);
        let packet = fields(packet);
        if let Some((_, track)) = one(&packet, 60) {
            let track = fields(track);
            let (uuid, name) = (one(&track, 1).unwrap().0, text(one(&track, 2).unwrap().1));
            let group: Option<&String> = one(&track, 5).map(|(group, _)| &tracks[&group]);
            let ends = name.split_once(' ').and_then(|(ends, _)| ends.split_once('>'));
            let is_of = |it: &String| ends.is_some_and(|(a, b)| it.contains(a) && it.contains(b));
            assert!(group.is_none_or(is_of), "{name}");
            // A link of the same name in another capture has a group of its own.
            assert!(named.insert((one(&track, 5).map(|it| it.0), name.clone())), "{name} twice");
            tracks.insert(uuid, name);
        }
        for (list, _, name) in one(&packet, 12).map_or(Vec::new(), |(_, names)| fields(names)) {
            let name = fields(name);
            names.insert((list, one(&name, 1).unwrap().0), text(one(&name, 2).unwrap().1));
        }
        let Some((_, event)) = one(&packet, 11) else { continue };
        let event = fields(event);
        let [kind, track] = [9, 11].map(|field| one(&event, field).unwrap().0);
        let mut told = one(&event, 10).map_or(String::new(), |(name, _)| names[&(2, name)].clone());
        for (.., annotation) in event.iter().filter(|it| it.0 == 4) {
            let annotation = fields(annotation);
            let number = || one(&annotation, 3).unwrap().0.to_string();
            let value = one(&annotation, 6).map_or_else(number, |(_, word)| text(word));
            told += &format!(" {}={value}", names[&(3, one(&annotation, 1).unwrap().0)]);
        }
        events.push((track, tracks[&track].clone(), kind, one(&packet, 8).unwrap().0, told));
    }
    events
}

/// Events that a trace of a part has, by the rows of the commands: its states, findings and packets.
fn expected_events(original: &str, part: &[&str]) -> Vec<String> {
    let rows = |view: &[&str], part: &[&str]| {
        json_lines(&run(&[view, &["--format", "jsonl", original], part].concat()).out)
    };
    let mut told = Vec::new();
    let mut tell = |row: &Value, track: &str, text: String| {
        let nanoseconds = row["time_ps"].as_u64().unwrap() / 1000;
        told.push(format!("{} {track} {nanoseconds} {text}", row["channel"]).replace('"', ""));
    };
    for row in rows(&["links", "--intervals"], part) {
        tell(&row, "state", format!("{} character={}", row["state"], row["start"]));
    }
    for row in rows(&["check", "--each"], part).iter().filter(|row| row["row"] == "case") {
        let text = format!("{} character={} count={}", row["finding"], row["at"], row["count"]);
        tell(row, "findings", text);
    }
    let packets = rows(&["packets"], part);
    let is_part = |hop: &&Value| {
        packets.iter().any(|it| ["channel", "packet"].into_iter().all(|at| it[at] == hop[at]))
    };
    for journey in rows(&["journeys"], &[]) {
        let tag = journey["tag"].as_u64().map(|tag| format!("tag {tag:02x}"));
        for hop in journey["hops"].as_array().unwrap().iter().filter(is_part) {
            let text = format!(
                "{} character={} packet={} bytes={} crc={} fate={} match={}",
                tag.as_deref().unwrap_or("packet"),
                hop["start"],
                hop["packet"],
                hop["length"],
                hop["crc"],
                journey["fate"],
                journey["certainty"],
            );
            tell(hop, "packets", text);
        }
    }
    told
}

#[test]
fn a_trace_has_all_states_hops_bounds_and_findings_in_order_of_time() {
    let directory = ScratchDirectory::new("export-twice");
    let original = &directory.write("twice", &capture_bytes("ring-deadlock").repeat(2));
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
    let (mut open, mut found, mut fills) = (BTreeMap::<u64, u64>::new(), Vec::new(), [0; 2]);
    for (track, name, kind, time, text) in events(&trace) {
        match kind {
            1 => assert_eq!(open.insert(track, time), None, "one slice at a time"),
            2 => assert!(open.remove(&track).unwrap() <= time),
            3 => {}
            kind => {
                assert_eq!(kind, 4);
                fills[usize::from(name.ends_with(" slack buffer, at most"))] += 1;
            }
        }
        if kind % 2 == 1 {
            found.push(format!("{name} {time} {text}"));
        }
    }
    assert!(open.is_empty(), "every slice ends");
    let mut expected = expected_events(original, part);
    found.sort();
    expected.sort();
    assert_eq!(found, expected, "{part:?}");
    assert!(!part.is_empty() || fills[0] > 0);
    assert_eq!(fills[0], fills[1]);
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
