//! Groups and slices of the program, recomputed from the rows that it prints: captures of networks whose links have
//! two rates, are cut and come back.

use std::collections::{BTreeMap, BTreeSet};

use analyzer::render::count;
use analyzer::window::WindowEdge;
use codec::crc::crc8;
use serde_json::{Map, Value};

use crate::support::{ScratchDirectory, capture, good, refused, run};

/// Captures of networks, whole and from a time on.
pub(crate) fn captures(directory: &ScratchDirectory) -> Vec<String> {
    let all = (0..2).flat_map(|seed| {
        let rate = |host: u64| 1 + (seed + host) % 3;
        let host = |host| {
            let (switch, port, rate) = (host / 2, host % 2, rate(host));
            format!("[[host]]\nname = 'h{host}'\nat = 's{switch}:{port}'\na = {{ rate_divisor = {rate} }}\n")
        };
        let text = format!(
            "seed = {seed}\nduration_us = 120\n[[switch]]\nname = 's0'\n[[switch]]\nname = 's1'\n\
             [[cable]]\nends = ['s0:7', 's1:7']\nb = {{ rate_divisor = 2 }}\n{}\
             [[traffic]]\nto = 'uniform'\npayload = [4, 200]\nload = 0.5\n\
             [[fault]]\nevery_us = 30\ncut = 'any'\nfor_us = 5\n\
             [[fault]]\nevery_us = 8\nnoise = 'any'\nmean_characters = 60\nfor_us = 5\n\
             [[tap]]\nall = true\n",
            (0..4).map(host).collect::<String>()
        );
        let scenario = directory.write("net.toml", text.as_bytes());
        let [whole, part] = ["net", "part"].map(|name| directory.file(&format!("{name}{seed}.pcapng")));
        good(&["simulate", &scenario, "-o", &whole]);
        good(&["slice", &whole, "--from", &format!("{}us", 17 + seed), "--to", "101us", "-o", &part]);
        [whole, part]
    });
    all.collect()
}

pub(crate) fn rows(arguments: &[&str]) -> Vec<Map<String, Value>> {
    let done = run(&[arguments, &["--format", "jsonl"]].concat());
    assert!(matches!(done.status, Some(0 | 1)), "{arguments:?}");
    assert_eq!(done.err, "", "{arguments:?}");
    done.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn number(row: &Map<String, Value>, field: &str) -> u64 {
    row[field].as_u64().unwrap()
}

#[test]
fn groups_are_of_the_rows_with_their_values() {
    let directory = ScratchDirectory::new("recount-groups");
    let captures = captures(&directory);
    for (command, fields) in [
        ("packets", &["crc", "ended_by"][..]),
        ("packets", &["channel", "tag", "crc"]),
        ("packets", &["route"]),
        ("events", &["channel", "event"]),
        ("journeys", &["fate", "certainty"]),
        ("journeys", &["hops.channel"]),
        ("links", &["period_ps", "packets.crc.bad"]),
        ("series", &["packets", "bad", "arrived"]),
    ] {
        for files in [&captures[..1], &captures[1..2], &captures[..]] {
            let files: Vec<&str> = files.iter().map(String::as_str).collect();
            let mut expected: BTreeMap<String, u64> = BTreeMap::new();
            for row in rows(&[&[command], &files[..]].concat()) {
                let values: Vec<Value> =
                    fields.iter().map(|field| at(Value::Object(row.clone()), field)).collect();
                *expected.entry(Value::from(values).to_string()).or_default() += 1;
            }
            let found = rows(&[&[command], &files[..], &["--group", &fields.join(",")]].concat());
            let groups = found.len();
            let found: BTreeMap<String, u64> = found
                .iter()
                .map(|row| {
                    let values: Vec<Value> =
                        fields.iter().map(|field| row[*field].clone()).collect();
                    (Value::from(values).to_string(), number(row, "count"))
                })
                .collect();
            assert_eq!((found, groups), (expected.clone(), expected.len()), "{command} {fields:?}");
        }
    }
}

/// A member of a member; of a list, those of all its elements.
fn at(value: Value, path: &str) -> Value {
    let (name, rest) = path.split_once('.').unwrap_or((path, ""));
    match value {
        value if path.is_empty() => value,
        Value::Object(mut members) => at(members.remove(name).unwrap_or_default(), rest),
        Value::Array(list) => list.into_iter().map(|element| at(element, path)).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Value::Null,
    }
}

/// From so long before its first character up to so long behind its end, on all channels.
#[test]
fn a_slice_around_a_finding_has_the_characters_of_that_time() {
    let directory = ScratchDirectory::new("recount-slice");
    let part = directory.file("around.pcapng");
    for capture in captures(&directory) {
        let channels = rows(&["info", &capture]);
        let recorded = |row: &&Map<String, Value>| row["characters"] != 0;
        let recorded = || channels.iter().filter(recorded);
        let from = recorded().map(|row| number(row, "time_ps")).min().unwrap();
        let to = recorded().map(|row| number(row, "end_ps") + number(row, "period_ps")).max();
        let [from, to] = [from, to.unwrap()].map(|time| WindowEdge::Picoseconds(time.into()));
        let whole = format!("it was recorded from {from} to {to}; nothing was written");
        refused(&["slice", &capture, "--from", "9s", "-o", &part], &whole);
        let period = |name: &Value| {
            number(channels.iter().find(|row| row["name"] == *name).unwrap(), "period_ps")
        };
        let findings = rows(&["check", &capture]);
        let findings = findings.iter().filter(|row| row["row"] == "finding");
        for (finding, place) in findings.zip(1..).step_by(5) {
            let own = period(&finding["channel"]);
            for (around, time) in [("7ch", 7 * own), ("123456ps", 123_456)] {
                let at = number(finding, "at") * own;
                let [from, to] = [at.saturating_sub(time), at + own + time];
                let place = ["--finding", &place.to_string(), "--around", around];
                good(&[&["slice", &capture, "-o", &part], &place[..]].concat());
                let cut = rows(&["info", &part]);
                for whole in &channels {
                    let period = number(whole, "period_ps");
                    let first = from.div_ceil(period).max(whole["first"].as_u64().unwrap());
                    let last = (to - 1) / period;
                    let last = last.min(whole["last"].as_u64().unwrap());
                    let found = cut.iter().find(|row| row["name"] == whole["name"]);
                    let found =
                        found.and_then(|row| Some([row["first"].as_u64()?, row["last"].as_u64()?]));
                    let expected = (first <= last).then_some([first, last]);
                    assert_eq!(found, expected, "{around} around {finding:?} on {whole:?}");
                }
            }
        }
    }
}

/// Each packet of a run without damage, in which a host takes none from some time on, has one outcome.
#[test]
fn outcomes_of_packets_add_up() {
    let (directory, mut seen) = (ScratchDirectory::new("recount-outcomes"), 0);
    for seed in 0..4 {
        let text = format!(
            "seed = {seed}\nduration_us = 300\n\
             fault = [{{ at_us = {}, consume = 'h{seed}', how = 'never' }}{}]\n\
             topology = {{ kind = 'line', switches = 2, hosts_per_switch = 2 }}\n\
             traffic = [{{ to = 'uniform', payload = [4, 200], load = 0.5 }}]\n",
            40 * seed,
            if seed < 2 { "" } else { ", { every_us = 30, cut = 'any', for_us = 5 }" }
        );
        let text = good(&["simulate", &directory.write("net.toml", text.as_bytes()), "--stats"]);
        let (head, _) = text.split_once("\npayload").unwrap();
        let (packets, outcomes) = head.split_once(": ").unwrap();
        let packets = packets.split(' ').filter_map(|it| it.parse().ok()).next_back().ok_or(());
        let outcomes = outcomes.split([',', '\n']).filter(|it| !it.ends_with(" lost cells"));
        let outcomes = outcomes.map(|it| it.trim().split(' ').next().unwrap());
        let counts = outcomes.filter_map(|count| count.parse::<u64>().ok());
        assert_eq!(Ok(counts.sum::<u64>()), packets, "{text}");
        let both = [" stand still since ", " in transit"].map(|it| head.contains(it));
        seen += usize::from(both == [true; 2] && head.contains(" with their parts"));
    }
    assert!(seen > 0);
}

#[test]
fn sums_of_conversations_are_of_their_rows() {
    let directory = ScratchDirectory::new("recount-conversations");
    // Versions, and kinds of version 1. T-7
    let unread = (0..16).map(|version| version << 4).chain(0x13..0x18);
    let unread = unread.map(|it| format!("GAP 01 {it:02x} {:02x} GAP ", crc8(&[1, it])));
    let text = format!("h0:0>h1:0\n{}\n", unread.collect::<String>().repeat(3));
    let (text, unread_file) = (directory.write("text", text.as_bytes()), directory.file("unread"));
    good(&["import", &text, "-o", &unread_file]);
    let demos = ["demo-nacks", "demo-lossy", "demo-restart", "demo-overcommit"].map(capture);
    for file in demos.iter().chain([&unread_file]) {
        let text = run(&["conversations", file]).out;
        let mut pairs: BTreeMap<[u64; 2], [u64; 3]> = BTreeMap::new();
        for row in rows(&["conversations", file]) {
            let pair = ["source", "destination"].map(|it| number(&row, it));
            let sums = pairs.entry(pair).or_default().iter_mut();
            let fields = ["messages", "bytes", "acknowledged"];
            sums.zip(fields).for_each(|(sum, field)| *sum += number(&row, field));
        }
        let found = text.lines().filter(|line| line.starts_with("NIC "));
        assert_eq!(found.count(), pairs.len(), "{text}");
        for ([source, destination], [messages, bytes, acknowledged]) in pairs {
            let sums = [count(messages, "message"), count(bytes, "byte")].join(", ");
            let line = format!("NIC {source} → NIC {destination}   {sums}   {acknowledged} ack");
            assert!(text.contains(&line), "{line}: {text}");
        }
        let unread = rows(&["conversations", "--events", file, "--filter", "event.malformed"]);
        let faults: BTreeSet<String> = unread.iter().map(|row| row["fault"].to_string()).collect();
        let line = format!("{} packets malformed (T-7)\n", unread.len());
        assert_eq!(text.contains(&line), !unread.is_empty(), "{line}: {text}");
        assert_eq!(text.matches("× byte ").count(), faults.len().min(16), "{text}");
        let more = faults.len().checked_sub(16).map(|more| format!("  and {more} faults more\n"));
        assert!(more.as_ref().is_none_or(|more| text.contains(more)), "{more:?}: {text}");
        assert_eq!(more.is_some(), *file == unread_file);
    }
}
