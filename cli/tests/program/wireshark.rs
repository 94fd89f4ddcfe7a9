//! The dissector for Wireshark, as tshark runs it. The variable `MYRISCOPE_TSHARK` demands tshark.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use analyzer::filter::RowKind;
use codec::capture::{ByteOrder, CaptureWriter, Channel, ChannelId, Chunk, ChunkContent};
use codec::chars::CharBuf;
use codec::packet::{CrcCheck, Packet, PacketTag};
use codec::time::Tick;
use serde_json::Value;

use crate::support::{
    RunOutcome, ScratchDirectory, capture, fixture, good, json, json_lines, program, repeats, run,
};

/// Filters that both programs read, behind the kind of their rows.
const FILTERS: &str = include_str!("filters.txt");

/// A directory with the settings of Wireshark; none if tshark is absent and not demanded.
#[expect(clippy::print_stderr, reason = "a test that is skipped is reported")]
fn settings(name: &str) -> Option<ScratchDirectory> {
    if Command::new("tshark").arg("--version").output().is_err() {
        assert!(std::env::var_os("MYRISCOPE_TSHARK").is_none(), "tshark is not installed");
        eprintln!("skipped: tshark is not installed");
        return None;
    }
    let directory = ScratchDirectory::new(name);
    good(&["wireshark", "--install", &directory.file("wireshark")]);
    Some(directory)
}

/// Lines that tshark prints with these settings.
fn tshark(settings: &ScratchDirectory, arguments: &[&str]) -> Vec<String> {
    let mut command = Command::new("tshark");
    command.env("XDG_CONFIG_HOME", settings.path()).env("HOME", settings.path());
    let outcome = RunOutcome::from(command.args(arguments).output().unwrap());
    let errors = outcome.err.lines().filter(|line| !line.starts_with("Running as user "));
    assert_eq!(errors.collect::<String>(), "", "{arguments:?}");
    assert_eq!(outcome.status, Some(0), "{arguments:?}");
    outcome.out.lines().map(str::to_owned).collect()
}

/// All captures of the fixtures.
fn captures() -> Vec<String> {
    let files = |below: &str| fs::read_dir(fixture(below)).unwrap();
    let directories = files("").map(|entry| entry.unwrap().path().join("capture.pcapng"));
    let findings = files("findings").map(|entry| entry.unwrap().path());
    let all = directories.chain(findings).filter(|path| path.is_file());
    let all = all.filter(|path| path.extension().is_some_and(|it| it == "pcapng"));
    let mut all: Vec<String> = all.map(|path| path.to_str().unwrap().to_owned()).collect();
    all.sort();
    assert!(all.len() > 60, "{}", all.len());
    all
}

/// Records of all captures in one file of many sections, and the rows of the program.
fn exported(
    directory: &ScratchDirectory,
    kind: RowKind,
    captures: &[String],
) -> (String, Vec<Value>) {
    let options: &[&str] = if kind == RowKind::Journeys { &["--journeys"] } else { &[] };
    let mut all = Vec::new();
    for capture in captures {
        let one = directory.file("one.pcapng");
        run(&[&["export", "packets", capture, "-o", &one], options].concat());
        all.append(&mut fs::read(one).unwrap());
    }
    let hex: &[&str] = if kind == RowKind::Packets { &["--hex"] } else { &[] };
    let rows = rows(kind, captures, hex);
    (directory.write("all.pcapng", &all), rows)
}

fn rows(kind: RowKind, captures: &[String], options: &[&str]) -> Vec<Value> {
    let files: Vec<&str> = captures.iter().map(String::as_str).collect();
    let arguments = [&[kind.command(), "--format", "jsonl"], options, &files].concat();
    json_lines(&run(&arguments).out)
}

/// Values of a field in a row, as tshark prints them.
fn values(row: &Value, path: &str, out: &mut Vec<String>) {
    let (name, rest) = path.split_once('.').unwrap_or((path, ""));
    match row.get(name) {
        None | Some(Value::Null) => {}
        Some(Value::Array(list)) if list.is_empty() && name == "route" => {}
        Some(Value::Array(list)) if name == "route" && rest.is_empty() => {
            let byte = |byte: &Value| format!("{:02x}", byte.as_u64().unwrap());
            out.push(list.iter().map(byte).collect());
        }
        Some(Value::Array(list)) if rest.is_empty() => out.push(list.len().to_string()),
        Some(Value::Array(list)) => list.iter().for_each(|element| values(element, rest, out)),
        Some(member @ Value::Object(_)) if !rest.is_empty() => values(member, rest, out),
        Some(Value::Object(_)) => {}
        Some(Value::Bool(flag)) => out.push(u8::from(*flag).to_string()),
        Some(Value::String(text)) => out.push(text.clone()),
        Some(number @ Value::Number(_)) => out.push(number.to_string()),
    }
}

#[test]
fn fields_are_those_of_the_program() {
    let Some(directory) = settings("wireshark-fields") else { return };
    let captures = captures();
    for kind in [RowKind::Packets, RowKind::Journeys] {
        let (file, all) = exported(&directory, kind, &captures);
        let names = kind.fields().iter().map(|field| field.name);
        // Wireshark has fields of its own for IP.
        let is_own =
            |name: &&str| !matches!(*name, "file" | "transport" | "ip") && !name.starts_with("ip.");
        let names: Vec<&str> = names.filter(is_own).collect();
        let frames = cells(&directory, &file, &names);
        assert_eq!(frames.len(), all.len());
        for (frame, row) in frames.iter().zip(&all) {
            for (name, cell) in names.iter().zip(frame) {
                let mut expected = Vec::new();
                values(row, name, &mut expected);
                let place = [&row["file"], &row["packet"], &row["journey"]];
                let is_bytes = matches!(*name, "route" | "bytes");
                let cell = if is_bytes { cell.replace(':', "") } else { cell.clone() };
                assert_eq!(cell, expected.join("^"), "{name} of {place:?}");
            }
        }
    }
}

/// Filters select what they select in the program, of the captures that are not large: as many rows, with as many
/// bytes in their frames. All filters in one run, as tshark takes a second to start.
fn filters_select_what_they_select_in_the_program(name: &str, kind: RowKind) {
    let Some(directory) = settings(name) else { return };
    let mut captures = captures();
    captures.retain(|file| fs::metadata(file).unwrap().len() < 60_000);
    let (file, all) = exported(&directory, kind, &captures);
    let of_kind = |line: &'static str| line.strip_prefix(kind.command())?.strip_prefix(' ');
    let filters: Vec<&str> = FILTERS.lines().filter_map(of_kind).collect();
    let statistics: Vec<String> = filters.iter().map(|it| format!("-zio,phs,{it}")).collect();
    let print = ["-q", "-r", &file].into_iter().chain(statistics.iter().map(String::as_str));
    let printed = tshark(&directory, &print.collect::<Vec<_>>()).join("\n");
    let number = |text: &str| text.parse::<u64>().unwrap();
    let place = |row: &Value| {
        ["file", "capture", "channel", "packet", "journey"].map(|name| row[name].to_string())
    };
    let lengths = cells(&directory, &file, &["frame.len"]).concat();
    let lengths: BTreeMap<_, _> = all.iter().map(place).zip(lengths).collect();
    let tables: Vec<&str> = printed.split("Filter: ").skip(1).collect();
    assert_eq!(tables.len(), filters.len());
    for (filter, table) in tables.iter().map(|table| table.split_once('\n').unwrap()) {
        // Protocols within others are indented.
        let outermost = table.lines().filter(|line| !line.starts_with(' '));
        let sums = outermost.filter_map(|line| line.split_once("frames:")?.1.split_once(" bytes:"));
        let add = |all: [u64; 2], (rows, bytes)| [all[0] + number(rows), all[1] + number(bytes)];
        let theirs = sums.fold([0, 0], add);
        let ours = rows(kind, &captures, &["--filter", filter]);
        assert!(!ours.is_empty(), "{filter} selects nothing");
        let bytes = ours.iter().map(|row| number(lengths.get(&place(row)).unwrap())).sum();
        assert_eq!(theirs, [ours.len() as u64, bytes], "{filter}");
    }
}

#[test]
fn filters_of_packets_are_those_of_the_program() {
    filters_select_what_they_select_in_the_program("wireshark-packets", RowKind::Packets);
}

#[test]
fn filters_of_journeys_are_those_of_the_program() {
    filters_select_what_they_select_in_the_program("wireshark-journeys", RowKind::Journeys);
}

/// Cells of fields in rows of tshark, of one frame each.
fn cells(settings: &ScratchDirectory, file: &str, names: &[impl AsRef<str>]) -> Vec<Vec<String>> {
    let fields = names.iter().flat_map(|name| ["-e", name.as_ref()]);
    let print = ["-r", file, "-T", "fields", "-E", "aggregator=^"].into_iter();
    let lines = tshark(settings, &print.chain(fields).collect::<Vec<_>>());
    lines.iter().map(|line| line.split('\t').map(str::to_owned).collect()).collect()
}

#[test]
fn types_of_four_bytes_are_read_as_by_the_program() {
    let Some(directory) = settings("wireshark-vita26") else { return };
    let (capture, file) = (capture("vita26"), directory.file("packets.pcapng"));
    good(&["export", "packets", &capture, "--dialect", "vita26", "-o", &file]);
    let fields = RowKind::Packets.fields().iter().map(|field| field.name);
    let names: Vec<&str> = fields.filter(|name| name.starts_with("vita26.")).collect();
    let rows = rows(RowKind::Packets, std::slice::from_ref(&capture), &["--dialect", "vita26"]);
    for (cells, row) in cells(&directory, &file, &names).iter().zip(&rows) {
        for (name, cell) in names.iter().zip(cells) {
            let mut expected = Vec::new();
            // A malformed header has no further fields in either.
            values(row, name, &mut expected);
            assert_eq!(cell, &expected.concat(), "{name} of {row}");
        }
    }
    for (kind, filter) in [("ethernet", "arp || udp.dstport == 9"), ("ip", "udp.dstport == 9")] {
        let options = ["--dialect", "vita26", "--payload", kind, "-o", &file];
        good(&[&["export", "packets", &capture], &options[..]].concat());
        let all = tshark(&directory, &["-r", &file]).len();
        assert_eq!(tshark(&directory, &["-r", &file, "-Y", filter]).len(), all);
    }
}

/// Fixtures whose characters are compared with the rows.
const CHARACTERS: [&str; 7] = [
    "link-1",
    "link-14",
    "demo-cut",
    "demo-glitch",
    "demo-open-wire",
    "demo-lossy",
    "ring-deadlock",
];

#[test]
fn characters_are_counted_as_by_the_program() {
    let Some(directory) = settings("wireshark-characters") else { return };
    let counts =
        "characters data control.IDLE control.GAP control.STOP corrected invalid".split(' ');
    let names = counts.clone().map(|name| if name == "data" { "myrinet.data" } else { name });
    let names: Vec<&str> = ["channel"].into_iter().chain(names).collect();
    for name in CHARACTERS {
        let file = capture(name);
        let mut sums: BTreeMap<String, [u64; 7]> = BTreeMap::new();
        for frame in cells(&directory, &file, &names) {
            let sum = sums.entry(frame[0].clone()).or_default();
            for (sum, cell) in sum.iter_mut().zip(&frame[1..]) {
                *sum += cell.parse().unwrap_or(0);
            }
        }
        for row in rows(RowKind::Channels, std::slice::from_ref(&file), &[]) {
            let count = |path: &str| path.split('.').fold(&row, |at, name| &at[name]).as_u64();
            let ours: Vec<u64> = counts.clone().map(|path| count(path).unwrap_or(0)).collect();
            let theirs = sums.get(row["name"].as_str().unwrap()).copied().unwrap_or_default();
            assert_eq!(theirs[..], ours, "{name}: {}", row["name"]);
        }
    }
}

#[test]
fn packets_of_a_chunk_are_framed_as_by_the_program() {
    let Some(directory) = settings("wireshark-frames") else { return };
    let fields = ["channel", "start", "end", "length", "crc", "ended_by"];
    let (mut framed, mut all) = (0, 0);
    for name in CHARACTERS {
        let file = capture(name);
        let ours = rows(RowKind::Packets, std::slice::from_ref(&file), &[]);
        let ours = ours.iter().map(|row| fields.map(|name| row[name].to_string().replace('"', "")));
        let ours: Vec<[String; 6]> = ours.collect();
        all += ours.len();
        for frame in cells(&directory, &file, &fields) {
            let lists: Vec<Vec<&str>> =
                frame.iter().map(|cell| cell.split('^').collect()).collect();
            for place in (0..lists[1].len()).filter(|_| !frame[1].is_empty()) {
                let one = |list: &Vec<&str>| list.get(place).unwrap_or(&list[0]).to_string();
                let packet: Vec<String> = lists.iter().map(one).collect();
                assert!(ours.iter().any(|row| row[..] == packet), "{name}: {packet:?}");
                framed += 1;
            }
        }
    }
    // The others are parts of several chunks.
    assert!(framed * 2 > all, "{framed} of {all}");
}

/// A capture of one packet for each type and payload.
fn capture_of(payloads: &[(u8, Vec<u8>)]) -> Vec<u8> {
    let channels = [Channel::named("h0:0>h1:0")];
    let mut file = CaptureWriter::new(Vec::new(), ByteOrder::Little, &channels).unwrap();
    let mut first = 0;
    for (tag, payload) in payloads {
        let packet = Packet {
            route: &[],
            tag: Some(PacketTag::new(*tag).unwrap()),
            payload,
            check: CrcCheck::Good,
        };
        let mut chars = CharBuf::default();
        packet.emit(&mut chars);
        let content = ChunkContent::Literal(chars.chars());
        file.write(ChannelId(0), &Chunk { first: Tick(first), content }).unwrap();
        first += chars.chars().len() as u64;
    }
    file.finish().unwrap()
}

fn from_hex(text: &str) -> Vec<u8> {
    let digits = text.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).unwrap());
    digits.map(|pair| u8::from_str_radix(pair, 16).unwrap()).collect()
}

#[test]
fn transport_packets_are_dissected_as_the_published_ones() {
    let Some(directory) = settings("wireshark-payloads") else { return };
    let vectors = json(&fs::read_to_string(fixture("transport.json")).unwrap());
    let packets =
        |name: &str| vectors[name].as_array().unwrap().iter().filter(|it| it["then"].is_null());
    let bytes = |it: &Value| (1, from_hex(it["hex"].as_str().unwrap()));
    let transport: Vec<(u8, Vec<u8>)> =
        packets("good").chain(packets("malformed")).map(bytes).collect();
    let file = directory.write("transport", &capture_of(&transport));
    let means = "kind seq sync role source destination channel timestamp incarnation reason \
                 source_endpoint destination_endpoint key handler offset total";
    let means: Vec<&str> = means.split(' ').collect();
    let names: Vec<String> = means.iter().map(|name| format!("transport.{name}")).collect();
    let frames = cells(&directory, &file, &names);
    for (frame, packet) in frames.iter().zip(packets("good")) {
        let member = |name: &&str| packet["means"].get(name).map(Value::to_string);
        let expected = means.iter().map(|name| member(name).unwrap_or_default().replace('"', ""));
        assert_eq!(*frame, expected.collect::<Vec<_>>(), "{}", packet["name"]);
    }
    for (frame, packet) in frames.iter().skip(packets("good").count()).zip(packets("malformed")) {
        let one = packet["hex"] != "";
        assert_eq!(frame[0], if one { "malformed" } else { "" }, "{}", packet["name"]);
    }
    assert_eq!(frames.len(), transport.len());
}

#[test]
fn mapping_packets_are_dissected_as_the_table_of_the_rules_has_them() {
    let Some(directory) = settings("wireshark-mapping") else { return };
    let request = "0060dd01020301020304000000050283bf";
    let fields = [
        "kind", "source", "ticket", "version", "route", "piece", "pieces", "mapper", "status",
        "winner",
    ];
    let from = "00:60:dd:01:02:03";
    let asked = format!("{from} 16909060 5 83:bf");
    let cases = [
        (format!("10{request}"), format!("host-probe {asked} - - - - -")),
        (format!("14{request}000100026d6170"), format!("map {asked} 1 2 - - -")),
        (format!("15{request}000100026d6170"), format!("routes {asked} 1 2 - - -")),
        (format!("16{request}"), format!("install {asked} - - - - -")),
        (format!("24{request}0181000100026d6170"), format!("map {asked} 1 2 - - -")),
        (
            "110060dd010203000000070060dd0a0b0c0000000802".to_owned(),
            format!("answer {from} 7 8 - - - 00:60:dd:0a:0b:0c installed -"),
        ),
        ("120060dd01020300000009".to_owned(), format!("switch-probe {from} 9 - - - - - - -")),
        ("130060dd01020300000009".to_owned(), format!("compare-probe {from} 9 - - - - - - -")),
        (
            "170060dd0102030060dd0a0b0c".to_owned(),
            format!("resign {from} - - - - - - - 00:60:dd:0a:0b:0c"),
        ),
        (format!("10{}", &request[..20]), "- - - - - - - - - -".to_owned()),
        (
            "180060dd01020300000009010801030000000a".to_owned(),
            format!("identity-probe {from} 9 - - - - - - -"),
        ),
        (format!("22{request}"), "- - - - - - - - - -".to_owned()),
        (format!("19{request}"), "- - - - - - - - - -".to_owned()),
    ];
    let payloads = cases.each_ref().map(|(hex, _)| (2, from_hex(hex)));
    let file = directory.write("mapping", &capture_of(&payloads));
    let frames = cells(&directory, &file, &fields.map(|name| format!("mapping.{name}")));
    for (frame, (hex, expected)) in frames.iter().zip(&cases) {
        let shown: Vec<&str> =
            frame.iter().map(|it| if it.is_empty() { "-" } else { it }).collect();
        assert_eq!(shown.join(" "), *expected, "{hex}");
    }
}

/// A copy of a file whose blocks of packets follow with damage: bytes flipped, and cut short.
#[expect(clippy::indexing_slicing, reason = "the file is complete")]
fn damaged(file: &[u8]) -> Vec<u8> {
    let word = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap()) as usize;
    let (mut out, mut at) = (Vec::new(), 0);
    while at < file.len() {
        let block = &file[at..at + word(at + 4)];
        out.extend(block);
        let is_packet = word(at) == 6 && out.len() < 1 << 18;
        let payload = if is_packet { &block[28..28 + word(at + 20)] } else { &[] };
        let places = (0..payload.len()).filter(|at| *at < 80 || at % 61 == 0);
        for payload in places.flat_map(|at| {
            let flipped = |value: u8| [&payload[..at], &[value], &payload[at + 1..]].concat();
            [flipped(0xff), flipped(payload[at] ^ 1), payload[..at].to_vec()]
        }) {
            let len = u32::try_from(payload.len()).unwrap();
            let total = (32 + len.next_multiple_of(4)).to_le_bytes();
            out.extend(
                [&[6, 0, 0, 0], &total[..], &block[8..20], &len.to_le_bytes(), &len.to_le_bytes()]
                    .concat(),
            );
            out.extend(&payload);
            out.resize(out.len().next_multiple_of(4), 0);
            out.extend(total);
        }
        at += block.len();
    }
    out
}

#[test]
fn hostile_files_are_dissected_without_errors_of_the_program() {
    let Some(directory) = settings("wireshark-hostile") else { return };
    let printed = |file: &str| {
        let lines = tshark(&directory, &["-C", "Myriscope", "-V", "-r", file]);
        [lines, tshark(&directory, &["-Y", "frame", "-r", file])].concat()
    };
    let names = [("\u{1b}[2J\n\0>\u{9b}31m", "83 05 92 GAP PRB3 IDLE FRES"), ("", "STOP GO ff")];
    for (options, name) in
        [(None, "link-7"), (Some("--channel=h0:0"), "demo-cut"), (Some("--journeys"), "demo-cut")]
    {
        let (mut original, copy) = (capture(name), directory.file("copy"));
        if let Some(option) = options {
            good(&["export", "packets", &original, "-o", &copy, option]);
            original = copy.clone();
        }
        let bytes = damaged(&fs::read(&original).unwrap());
        let file = directory.write("damaged", &bytes);
        let lines = printed(&file);
        let is_fault =
            |line: &&String| line.contains("Lua Error") || line.contains("Not dissected");
        assert_eq!(lines.iter().find(is_fault), None, "{name}");
        assert!(lines.iter().any(|line| line.contains("Malformed")), "{name}");
    }
    for (channel, characters) in names {
        let capture = repeats(&[Channel::named(channel)], [(characters, u64::MAX / 8)]);
        let capture = directory.write("named", &capture);
        let packets = directory.file("packets");
        run(&["export", "packets", &capture, "-o", &packets]);
        for file in [capture, packets] {
            // Wireshark prints names of interfaces as they are.
            let own = printed(&file).into_iter().filter(|line| !line.contains("nterface"));
            let text = own.collect::<String>();
            assert!(!text.contains(char::is_control) && !text.contains("Not dissected"), "{text}");
        }
    }
}

#[cfg(unix)]
#[test]
fn installed_files_colour_rows_and_offer_the_simulation() {
    let Some(directory) = settings("wireshark-install") else { return };
    let install = |options: &[&str]| {
        let mut command = program(&[&["wireshark", "--install"], options].concat());
        RunOutcome::from(command.env("XDG_CONFIG_HOME", directory.path()).output().unwrap())
    };
    let lua = "wireshark/plugins/myriscope.lua";
    let first = install(&[]);
    assert_eq!((first.status, first.out.lines().count()), (Some(0), 6), "{}", first.err);
    assert!(first.out.starts_with(&directory.file(lua)), "{}", first.out);
    directory.write(lua, b"-- mine\n");
    let refused = install(&[]);
    assert!(refused.err.contains("a file of another origin"), "{}", refused.err);
    assert_eq!(refused.status, Some(2));
    assert_eq!(directory.read(lua), b"-- mine\n");
    assert_eq!(install(&["--replace"]).status, Some(0));
    assert_eq!(good(&["wireshark"]).as_bytes(), directory.read(lua));

    let colours = |file: &str| {
        let print =
            ["-C", "Myriscope", "--color", "-T", "fields", "-e", "frame.coloring_rule.name", "-r"];
        let mut names = tshark(&directory, &[&print[..], &[file]].concat());
        names.sort();
        names.dedup();
        names
    };
    let expected = ["Myrinet bad CRC", "Myrinet fill", "Myrinet reset", "Myrinet stopped"];
    assert_eq!(colours(&capture("demo-ring"))[1..], expected);
    let packets = directory.file("packets");
    good(&["export", "packets", &capture("demo-glitch"), "-o", &packets]);
    assert!(colours(&packets).contains(&"Myrinet bad CRC".to_owned()));

    let listed = tshark(&directory, &["-D"]);
    assert!(listed.iter().any(|line| line.ends_with("myrinet (Myrinet simulation)")), "{listed:?}");
    let fields = ["-T", "fields", "-e", "channel", "-e", "chunk.first"];
    let captured = directory.file("captured");
    for (option, demo) in [
        ("demo:cut".to_owned(), "cut"),
        (format!("scenario:{}", fixture("demo-cut/scenario.toml")), "cut"),
    ] {
        let mut command = Command::new("tshark");
        command.env("XDG_CONFIG_HOME", directory.path()).env("HOME", directory.path());
        command.args(["-i", "myrinet", "-w", &captured, "-o", &format!("extcap.myrinet.{option}")]);
        let outcome = RunOutcome::from(command.output().unwrap());
        assert_eq!(outcome.status, Some(0), "{}", outcome.err);
        let original = capture(&format!("demo-{demo}"));
        let chunks = |file: &str| tshark(&directory, &[&["-r", file], &fields[..]].concat());
        assert_eq!(chunks(&captured), chunks(&original));
    }
}
