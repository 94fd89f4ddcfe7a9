//! Captures made by an independent reference from the rules alone, row for row: `fixtures/link-*`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use codec::capture::{Channel, ReadProgress};
use codec::crc::crc8;
use myriscope_analyzer::event_reader::CounterReader;
use myriscope_analyzer::packet::ByteRetention;
use myriscope_analyzer::timeline::EventFilter;
use myriscope_analyzer::window::TimeWindow;
use serde_json::{Value, to_value};

use crate::snapshots;
use crate::support::{capture, rows};

fn fixtures() -> Vec<PathBuf> {
    let mut found = snapshots::fixtures("link-");
    found.iter_mut().for_each(|path| _ = path.pop());
    assert_eq!(found.len(), 6, "the fixtures with expected rows");
    found
}

fn open(fixture: &Path) -> fs::File {
    fs::File::open(fixture.join("capture.pcapng")).unwrap()
}

/// Rows by channel. The reference lists a channel's own events before those of its sender, this
/// project all in order; both keep to time, so a stable sort brings them together.
fn by_channel(rows: impl Iterator<Item = Value>) -> BTreeMap<String, Vec<Value>> {
    let mut channels: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for row in rows {
        channels.entry(row["channel"].as_str().unwrap().to_owned()).or_default().push(row);
    }
    for rows in channels.values_mut() {
        rows.sort_by_key(|row| row.get("at").and_then(Value::as_u64));
    }
    channels
}

fn expected(fixture: &Path, name: &str) -> BTreeMap<String, Vec<Value>> {
    let text = fs::read_to_string(fixture.join(name)).unwrap();
    by_channel(text.lines().map(|line| serde_json::from_str(line).unwrap()))
}

fn found(fixture: &Path, want: EventFilter) -> BTreeMap<String, Vec<Value>> {
    let rows =
        rows(open(fixture), want, ByteRetention::Forget).into_iter().map(|(channel, row)| {
            let packet = row.body.packet().map(|packet| to_value(packet.row(&channel)).unwrap());
            let event = row.body.link().map(|event| to_value(event.row(&channel, row.at)).unwrap());
            packet.or(event).unwrap_or_else(|| panic!("{}: rows left out", fixture.display()))
        });
    by_channel(rows)
}

#[test]
fn packets_are_those_of_the_reference() {
    for fixture in fixtures() {
        let found = found(&fixture, EventFilter::Packets);
        let mut expected = expected(&fixture, "packets.jsonl");
        // The reference has no parts of packets: what their bytes seem to say is not compared.
        for (own, row) in expected.values_mut().flatten().zip(found.values().flatten()) {
            let is_part = row["crc"] == "partial";
            for key in ["crc", "syndrome", "route", "tag"].into_iter().filter(|_| is_part) {
                own[key] = row[key].clone();
            }
        }
        assert_eq!(found, expected);
    }
}

#[test]
fn events_are_those_of_the_reference() {
    for fixture in fixtures() {
        assert_eq!(found(&fixture, EventFilter::Events), expected(&fixture, "events.jsonl"));
    }
}

#[test]
fn counts_are_those_of_the_reference() {
    for fixture in fixtures() {
        let text = fs::read_to_string(fixture.join("info.json")).unwrap();
        let expected: Value = serde_json::from_str(&text).unwrap();
        let mut tallies = CounterReader::new(open(&fixture));
        while tallies.step(&TimeWindow::ALL, &mut |fault| panic!("{fault}")).unwrap()
            == ReadProgress::More
        {}
        let rows: Vec<Value> =
            tallies.channels().iter().map(|(id, c)| to_value(c.row(*id)).unwrap()).collect();
        assert_eq!(Value::from(rows), expected["channels"], "{}", fixture.display());
        assert_eq!(tallies.skipped_interfaces(), expected["skipped_interfaces"]);
    }
}

/// `fixtures/transport.json`
#[test]
fn transport_packets_say_what_the_published_ones_mean() {
    let path = format!("{}/../fixtures/transport.json", env!("CARGO_MANIFEST_DIR"));
    let vectors: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let good = vectors["good"].as_array().unwrap().iter();
    for vector in good.filter(|vector| vector["then"].is_null()) {
        // Behind the tag.
        let hex = format!("01{}", vector["hex"].as_str().unwrap());
        let byte = |at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
        let mut bytes: Vec<u8> = (0..hex.len()).step_by(2).map(byte).collect();
        bytes.push(crc8(&bytes));
        let bytes: String = bytes.iter().map(|byte| format!("{byte:02x} ")).collect();
        let file = capture(&[Channel::named("a:0>b:0")], &[(0, 0, format!("GAP {bytes}GAP"), 0)]);
        let rows = rows(file.as_slice(), EventFilter::Packets, ByteRetention::Forget);
        let packet = rows.iter().find_map(|(_, row)| row.body.packet()).unwrap();
        let found = to_value(packet.transport.as_ref().unwrap().row()).unwrap();
        for (name, meant) in vector["means"].as_object().unwrap() {
            let meant = match name.as_str() {
                "sync" => Value::from(*meant == 1),
                // No row has it.
                "payload" => Value::Null,
                _ => meant.clone(),
            };
            assert_eq!(found[name], meant, "{}: {name}", vector["name"]);
        }
    }
}
