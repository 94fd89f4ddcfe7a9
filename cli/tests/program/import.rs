//! `import`: recordings of the wires of `link-1`, made of its capture by other programs.
//!
//! `fixtures/recordings/link-1.vcd` was written by pyvcd at 1 ns: clocks 80 ppm slow and 60 ppm fast, a skew of up
//! to 5 ns and 1 ns of jitter; character 0 at 100 ns. sigrok-cli made `link-1.sr` of it, vcd2fst
//! `link-1.fst` and, with `-Z`, `link-1-zlib.fst`. `vector.fst` is that of `vector.vcd`, which has a bus and unknown levels.

mod sampled;

use fastrand::Rng;

use crate::support::{ScratchDirectory, capture, fixture, good, gzip, piped, refused, run};

const LINK: [&str; 4] = ["--channel", "h1:0>s1:1", "--channel", "s1:1>h1:0"];

/// Rows of a capture's packets, without their times; the recording ends in the last one.
pub(crate) fn packets(path: &str) -> Vec<String> {
    let fields = "channel,packet,length,route,tag,crc,ended_by,start";
    let table = ["--fields", fields, "--format", "csv", "--no-head", "--sort", "channel,packet"];
    let all = good(&[&["packets", path], &table[..]].concat());
    let complete = all.lines().filter(|line| !line.contains("capture-end"));
    complete.map(|line| line.rsplit_once(',').unwrap().0.to_owned()).collect()
}

/// Packets between symbols, as bits of characters: every wire changes, every CRC is good.
fn traffic() -> Vec<u16> {
    let (mut characters, mut random) = (vec![0, 0x00c, 0x003], Rng::with_seed(1));
    for _ in 0..40 {
        let bytes: Vec<u8> = (0..24).map(|_| random.u8(..)).collect();
        characters.extend(bytes.iter().map(|byte| 0x100 | u16::from(*byte)));
        characters.extend([0x100 | u16::from(codec::crc::crc8(&bytes)), 0x00c, 0, 0x003, 0x00c]);
    }
    characters
}

/// A table with a row a character, columns from wire 0 to d, once some columns have been changed. W-1
fn samples(characters: &[u16], damage: impl Fn(usize, &mut [u16; 9])) -> Vec<String> {
    let mut levels = 0;
    let mut rows = vec!["a,b,c,d,e,f,g,h,i".to_owned()];
    for (at, bits) in characters.iter().enumerate() {
        levels ^= bits;
        let mut row: [u16; 9] = std::array::from_fn(|wire| levels >> wire & 1);
        damage(at, &mut row);
        rows.push(row.map(|level| level.to_string()).join(","));
    }
    rows
}

/// Report and faults of samples that both edges of `sendclk` have clocked.
fn import_samples(rows: &[String], options: &[&str]) -> (String, String) {
    let directory = ScratchDirectory::new(&format!("import-{:?}", std::thread::current().id()));
    let recording = directory.write("recording.csv", rows.join("\n").as_bytes());
    let out = directory.file("out");
    let command = ["import", &recording, "-o", &out, "--sample-rate", "state"];
    let done = run(&[&command[..], options].concat());
    // What is no Myrinet as it is, or is known to be wrong, needs --force.
    let is_refused = done.err.contains("--force converts it");
    assert!(!is_refused || !std::path::Path::new(&out).exists());
    assert_eq!(done.status, Some(if is_refused { 2 } else { 0 }), "{}", done.err);
    (done.out, done.err)
}

#[test]
fn each_order_of_the_wires_is_named_and_repaired() {
    let sent = traffic();
    let orders: [([usize; 9], &str); 5] = [
        ([0, 1, 2, 3, 4, 5, 6, 7, 8], ""),
        ([8, 7, 6, 5, 4, 3, 2, 1, 0], "opposite order, as at the other end of a cable (W-7): so"),
        ([7, 6, 5, 4, 3, 2, 1, 0, 8], "the wires 7 to 0 are in the opposite order: so read, 40"),
        ([0, 1, 2, 3, 6, 5, 4, 7, 8], "wires 6 and 4 are swapped: so read, 40 of 40 packets"),
        ([3, 8, 1, 0, 7, 5, 2, 6, 4], "signals, in the given order from 0 to d, are wires"),
    ];
    for (order, fault) in orders {
        let rows = samples(&sent, |_, row| *row = order.map(|wire| row[wire]));
        let (said, faults) = import_samples(&rows, &[]);
        let is_told = faults.contains(fault) && faults.is_empty() == fault.is_empty();
        assert!(is_told, "{order:?} {faults}");
        let all = "40 of 40 packets with a good CRC (P-4), 0 codes";
        assert_eq!(said.contains(all), fault.is_empty());
        let (said, faults) = import_samples(&rows, &["--guess"]);
        assert_eq!(faults, "", "{order:?}");
        assert!(said.contains(all), "{said}");
        // Two packets prove a usual mistake, one leaves the order open.
        let few = |count: usize| import_samples(&rows[..4 + 29 * count], &[]);
        let (_, faults) = few(2);
        let is_proved = faults.contains("so read, 2 of 2") && faults.contains("--force converts");
        assert!(fault.is_empty() || is_proved || order[0] == 3, "{order:?} {faults}");
        let (said, faults) = few(1);
        let is_open = said.contains("order of the wires not checked");
        assert!(is_open || faults.contains("--force converts"), "{order:?} {said} {faults}");
        assert!(!faults.contains("look like one"), "{order:?} {faults}");
    }
    // That the only packet is bad is more than that nothing could be checked.
    let mut hurt = [&[0x003, 0x00c].repeat(20)[..], &sent[3..4 + 29]].concat();
    hurt[50] ^= 1;
    let (_, faults) = import_samples(&samples(&hurt, |_, _| {}), &[]);
    assert!(faults.contains("there: 1, 0 of them good"), "{faults}");
}

#[test]
fn each_fault_of_the_wires_is_named() {
    let sent = traffic();
    let late = sent.iter().skip(1).zip(&sent).map(|(now, before)| now & !8 | before & 8);
    let late: Vec<u16> = std::iter::once(0).chain(late).collect();
    let noise: Vec<u16> =
        sent.iter().zip(1_u16..).map(|(bits, at)| bits ^ (at * 37 % 511)).collect();
    let every_other = |rows: Vec<String>| rows.into_iter().step_by(2).collect();
    let cases: [(Vec<String>, &str); 6] = [
        (samples(&sent, |_, row| row[5] = 1), "wire 5 never changes and characters are bad"),
        (samples(&sent, |_, row| row[8] = 0), "wire d never changes and characters are bad"),
        (samples(&late, |_, _| {}), "wire 3 recorded a character too late: moved, 40 of 40"),
        (every_other(samples(&sent, |_, _| {})), "as samples of one edge of sendclk do (W-2)"),
        (every_other(samples(&sent[..33], |_, _| {})), "of one edge of sendclk are two"),
        (samples(&noise, |_, _| {}), "no Myrinet found: "),
    ];
    for (rows, fault) in cases {
        let (_, faults) = import_samples(&rows, &[]);
        assert!(faults.contains(fault), "{fault}: {faults}");
        let (said, forced) = import_samples(&rows, &["--force"]);
        assert!(forced.contains(fault) && said.contains("M/s"), "{fault}: {forced}");
    }
}

#[test]
fn a_recording_comes_from_a_pipe_and_characters_from_a_text() {
    let directory = ScratchDirectory::new("import-pipe");
    let (out, eye) = (directory.file("out"), directory.file("eye.svg"));
    let vcd = std::fs::read(fixture("recordings/link-1.vcd")).unwrap();
    for input in [gzip(&vcd), vcd] {
        let done =
            piped(&[&["import", "-", "-o", &out, "--eye", &eye], &LINK[..]].concat(), &input);
        assert_eq!((done.status, done.err.as_str()), (Some(0), ""));
        assert_eq!(packets(&out), packets(&capture("link-1")));
    }
    let svg = std::fs::read_to_string(&eye).unwrap();
    let counts = ["6.25 ns (W-3)", "text-anchor=\"end\""].map(|it| svg.matches(it).count());
    assert_eq!(counts, [2, 18]);
    // The capture is the only output where it goes to standard output.
    let text = "h1:0>s1:1\nGAP 83 05 1e GAP # one packet\nIDLE*3\ns1:1>h1:0\n(GO GAP)*4\n";
    let done = piped(&["import", "-", "-o", "-"], text.as_bytes());
    let shown = piped(
        &["show", "-", "--channel", "h1:0>s1:1", "--format", "csv", "--fields", "left,right"],
        &done.bytes,
    );
    let rows = "left,right\nGAP,GO\n83 05 1e GAP IDLE IDLE IDLE,(GAP GO)×3 GAP\n";
    assert_eq!(shown.out, rows, "{}", shown.err);
    // What is converted by force is in doubt.
    let forced = piped(&["import", "-", "--force", "-o", &out], b"81 05\n");
    assert!(forced.err.contains("a:0>b:0: no Myrinet found: bytes alone"), "{}", forced.err);
    assert!(run(&["check", &out]).out.contains("! forced-import"));
}

/// Contents that are no recording, and a part of the message.
const NO_RECORDINGS: &str = include_str!("no-recordings.json");

#[test]
fn what_is_no_recording_is_named_with_its_place() {
    let directory = ScratchDirectory::new("import-errors");
    let out = directory.file("out");
    let many = format!("$timescale 1 ns $end\n{}", "$var wire 1 ! d $end\n".repeat(1_000_000));
    let long = format!("$var wire 4096 ! {} $end", "d".repeat(60_000));
    let wide = format!("Time [s],{}", "d".repeat(2_000_000));
    let listed: Vec<(String, String)> = serde_json::from_str(NO_RECORDINGS).unwrap();
    let listed = listed.iter().map(|(content, error)| (&**content, &**error));
    let large = [
        (&*many, "line 262146: more than 262144 signals"),
        (&long, "line 1: names of signals exceed 16777216 bytes"),
        (&wide, "line 1: a row is longer than 1048576 bytes"),
    ];
    for (content, error) in listed.chain(large) {
        let recording = directory.write("recording", content.as_bytes());
        let done = run(&["import", &recording, "-o", &out]);
        assert_eq!(done.status, Some(2), "{content:?}");
        assert!(done.err.contains(error), "{content:?}: {}", done.err);
        assert!(!std::path::Path::new(&out).exists());
    }
    let recording = directory.write("recording", b"GAP 83\n\n83 \xff\n");
    refused(&["import", &recording, "-o", &out], "line 3: not UTF-8");
}

#[test]
fn what_precedes_damage_is_converted() {
    let directory = ScratchDirectory::new("import-damage");
    let out = directory.file("out");
    let vcd = std::fs::read_to_string(fixture("recordings/link-1.vcd")).unwrap();
    let (session, whole) =
        (std::fs::read(fixture("recordings/link-1.sr")).unwrap(), packets(&capture("link-1")));
    let mut flipped = session.clone();
    flipped[session.len() / 2] ^= 1;
    let half = vcd.find("\n#3000\n").unwrap();
    let packed = gzip(vcd.as_bytes());
    let cases: [(Vec<u8>, &str); 7] = [
        (packed[..packed.len() * 3 / 4].to_vec(), ": the decompressed data end here"),
        (vcd.replace("\n#3000\n", "\n#30\n").into(), "time #30 is earlier than the time before it"),
        ([vcd.split_at(half).0, "\n?\n"].concat().into(), "? is no change of a VCD file"),
        ([vcd.split_at(half).0, "\n#99999999999999\n"].concat().into(), "below 5.1 hours"),
        (flipped, "logic-1-1"),
        (session[..session.len() / 2].to_vec(), "logic-1-1"),
        (session[..50].to_vec(), "no sigrok session"),
    ];
    for (content, error) in cases {
        let recording = directory.write("recording", &content);
        std::fs::remove_file(&out).ok();
        let done = run(&[&["import", &recording, "-o", &out], &LINK[..]].concat());
        assert_eq!(done.status, Some(2), "{error}");
        assert!(done.err.contains(error), "{error}: {}", done.err);
        assert!(run(&["import", &recording]).err.contains(error), "{error}");
        if error.starts_with("no sigrok") {
            assert!(!std::path::Path::new(&out).exists());
            continue;
        }
        // The checksum of an archive's file stands behind its samples.
        let before = if error == "logic-1-1" { Vec::new() } else { packets(&out) };
        assert!(before.iter().all(|packet| whole.contains(packet)), "{error}: {before:?}");
    }
    let cut = directory.write("recording", vcd.trim_end().as_bytes());
    assert!(run(&["import", &cut]).err.contains("has no end: it may be cut there"));
}

/// What `show` prints of both channels of a link.
fn shown(capture: &str) -> Vec<String> {
    ["h1:0>s1:1", "s1:1>h1:0"]
        .map(|it| good_or_warned(&["show", capture, "--limit", "10000", "--channel", it]))
        .into()
}

fn good_or_warned(arguments: &[&str]) -> String {
    let done = run(arguments);
    assert_eq!(done.status, Some(0), "{arguments:?} {}", done.err);
    done.out
}

/// Recordings as instruments and simulators write them, and what comes of each: the characters of `base.vcd`, the packets of
/// `link-1`, a number of packets, or words on standard error and output, or in the capture and on its page.
#[test]
fn recordings_are_taken_as_others_write_them() {
    let directory = ScratchDirectory::new("import-field");
    let page = directory.file("page.html");
    let file = |name: &str| fixture(&format!("recordings/field/{name}"));
    let out = directory.file("out");
    good(&[&["import", &file("base.vcd.gz"), "-o", &out], &LINK[..]].concat());
    let expected = shown(&out);
    let cases: Vec<serde_json::Value> =
        serde_json::from_slice(&std::fs::read(file("cases.json")).unwrap()).unwrap();
    assert!(cases.len() >= 40);
    let strings = |value: &serde_json::Value| -> Vec<String> {
        let all = value.as_array().into_iter().flatten();
        all.map(|it| it.as_str().unwrap().to_owned()).collect()
    };
    for case in cases {
        let name = case["file"].as_str().unwrap();
        let given = strings(&case["args"]);
        let given: Vec<&str> = given.iter().map(String::as_str).collect();
        let options = if case["args"].is_null() { &LINK[..] } else { &given };
        std::fs::remove_file(&out).ok();
        let done = run(&[&["import", &file(name), "-o", &out], options].concat());
        let said = [done.out.as_str(), &done.err].concat();
        match case["expect"].as_str().unwrap() {
            "equal" => assert_eq!(shown(&out), expected, "{name}: {said}"),
            "alike" => {
                assert_eq!(packets(&out), packets(&capture("link-1")), "{name}");
                let bytes = directory.read("out");
                assert!(String::from_utf8_lossy(&bytes).contains("skew_fs="), "{name}");
                // Skew of up to 5 ns and jitter of 1 ns, of 6.25 ns.
                assert!(said.contains("a receiver waits (W-3); beyond it: 0"), "{said}");
                for line in said.lines().filter(|line| line.contains("M/s")) {
                    let mut words = line.split(['(', ' ']);
                    let ppm = words.find(|word| word.starts_with(['+', '-'])).unwrap();
                    // The recording is 2.4 µs long: 1 ns of it is 400 ppm.
                    assert!(ppm.parse::<f64>().unwrap().abs() < 400.0, "{line}");
                }
            }
            "noted" => {
                let [words] = &strings(&case["words"])[..] else { panic!("{name}") };
                let is_damaged = words.starts_with("damage");
                assert_eq!(done.status, Some(if is_damaged { 2 } else { 0 }), "{name} {said}");
                for command in
                    [&["check", &out][..], &["info", &out], &["report", &out, "-o", &page]]
                {
                    let done = run(command);
                    assert!(done.err.contains(words), "{command:?} {name}: {}", done.err);
                }
                assert!(std::fs::read_to_string(&page).unwrap().contains(words), "{name}");
            }
            "packets" => {
                let count = good_or_warned(&["packets", &out, "--count"]);
                assert_eq!(count.trim(), case["packets"].to_string(), "{name}: {said}");
            }
            _ => {
                let (words, without) = (strings(&case["words"]), strings(&case["not"]));
                assert!(words.iter().all(|word| said.contains(word)), "{name}: {said}");
                assert!(!without.iter().any(|word| said.contains(word)), "{name}: {said}");
            }
        }
    }
}

#[test]
fn a_recording_is_looked_at_before_it_is_converted() {
    let directory = ScratchDirectory::new("import-look");
    let out = directory.file("out");
    let recording = fixture("recordings/field/icarus.vcd.gz");
    let said = good(&["import", &recording]);
    for line in ["  tb.rx[8:0]  9 signals", "channel b:0>a:0: wire 0 is tb.tx[0], … d is tb.tx[8]"]
    {
        assert!(said.contains(line), "{line}: {said}");
    }
    assert!(!good(&["import", &recording, "--signals", "rx"]).contains("tb.i[31:0]"));
    let table = "Time [ns],A (V),note,tx[8:0]\n0,0.1,start,1ff\n2,0.2,stop,1fe\n";
    let dump = std::fs::read_to_string(fixture("recordings/link-1.vcd")).unwrap();
    for (text, line) in [
        (
            table,
            "columns left out: \"note\" (neither levels nor numbers); \"A (V)\" (of an analog input)",
        ),
        (&dump.replace("$timescale", "$comment"), "no $timescale: times are taken as ns"),
        // Names that are there, where they do not tell.
        (
            "Time [ns],D0-D7,D8-D15\n0,1f,00\n2,1e,01\n",
            "--wires 'D8-D15[0],D0-D7[7],D0-D7[6],D0-D7[5],D0-D7[4],D0-D7[3],D0-D7[2],D0-D7[1],D0-D7[0]'",
        ),
    ] {
        let said = good(&["import", &directory.write("recording", text.as_bytes())]);
        assert!(said.contains(line), "{line}: {said}");
    }
    let done = run(&["import", &recording, "--wires", "tb.ty"]);
    assert!(done.err.contains("no signal tb.ty; the recording has 51"), "{}", done.err);
    // The command that it prints is one that works, with the options that were given.
    let rows = samples(&traffic(), |_, _| {}).join("\n");
    let table = directory.write("-t.csv", rows.as_bytes());
    for (file, options, packets) in [
        (&recording, "", "8"),
        (&recording, "--rate 80 --guess --tap a:0", "8"),
        (&table, "--sample-rate state --force", "40"),
        (&table, "--sample-rate 80", "40"),
    ] {
        let options = options.split_whitespace();
        let said = good(&["import", file].into_iter().chain(options.clone()).collect::<Vec<_>>());
        let command = said.lines().last().unwrap().replace('\'', "");
        let words = command.split_whitespace().skip(1);
        let words = words.map(|word| if word.ends_with(".pcapng") { out.as_str() } else { word });
        let words: Vec<&str> = words.collect();
        assert!(options.clone().all(|option| words.contains(&option)), "{command}");
        good(&words);
        assert_eq!(good(&["packets", &out, "--count"]).trim(), packets);
    }
    for (file, name) in [
        ("sigrok-cli.sr", "a sigrok session"),
        ("icarus.fst", "an FST file"),
        ("sigrok-cli.csv.gz", "a table (CSV)"),
    ] {
        let recording = fixture(&format!("recordings/field/{file}"));
        let words = format!("{name} becomes a capture with `myriscope import`");
        for command in ["info", "slice -o", "slice --finding hole -o", "export wires -o", "diff"] {
            let done = run(&command.split(' ').chain([&*out, &recording]).collect::<Vec<_>>());
            assert!(done.err.contains(&words), "{command} {}", done.err);
        }
    }
}

/// Channels of a dump of our own are known by the names of its scopes, whatever the order of the options; changes that are
/// periods apart are characters, also damaged ones, and holes stay holes.
#[test]
fn exported_channels_keep_their_names_and_packets() {
    let directory = ScratchDirectory::new("import-scopes");
    let (dump, out) = (directory.file("wires.vcd"), directory.file("out"));
    let damaged = fixture("demo-glitch/capture.pcapng");
    let [first, last, holed] = ["first", "last", "holed"].map(|name| directory.file(name));
    good(&["slice", &damaged, "-o", &first, "--to", "4.5us"]);
    good(&["slice", &damaged, "-o", &last, "--from", "6us"]);
    good(&["merge", &first, &last, "-o", &holed]);
    for original in [fixture("demo-cut/capture.pcapng"), damaged, holed] {
        let names = good(&["info", &original, "--fields", "name", "--format", "csv", "--no-head"]);
        good(&["export", "wires", &original, "-o", &dump]);
        let options = names.lines().rev().flat_map(|name| ["--channel", name]);
        let mut options: Vec<&str> = options.collect();
        assert!(options.len() >= 4);
        for given in [options.split_off(0), Vec::new()] {
            run(&[&["import", &dump, "-o", &out], &given[..]].concat());
            assert_eq!(packets(&out), packets(&original), "{given:?}");
        }
    }
}

#[test]
fn names_that_contradict_each_other_are_refused() {
    let directory = ScratchDirectory::new("import-names");
    let (out, recording) = (directory.file("out"), fixture("recordings/field/base.vcd.gz"));
    let lines: Vec<String> = (0..65_537).map(|it| format!("a{it}:0>b{it}:0\nGO")).collect();
    for (text, error) in [
        ("a:0>b:0\nGO\na:0>b:0\nGAP\n", "channel a:0>b:0 is given twice"),
        (&lines.join("\n"), "65537 channels, more than 65536"),
    ] {
        let text = directory.write("text", text.as_bytes());
        refused(&["import", &text, "-o", &out], error);
    }
    // The first without the last.
    good(&["import", &directory.write("text", lines[1..].join("\n").as_bytes()), "-o", &out]);
    // Two channels that are no link have no opposite one.
    let channels = ["--channel", "a:0>b:0", "--channel", "c:0>d:0"];
    good_or_warned(&[&["import", &recording, "-o", &out], &channels[..]].concat());
    let info = good_or_warned(&["info", &out, "--format", "jsonl"]);
    assert!(!info.contains("\"peer\":\""), "{info}");
}

/// The next levels of a bus that is no Myrinet.
fn other_levels(kind: usize, signals: u64, at: u64, level: u64, random: &mut Rng) -> u64 {
    let count = at * (1 + signals % 7);
    match kind {
        // Noise, rare changes of one signal and of all, counters: of two codes, and with signals reversed.
        0 => random.u64(..1 << 62),
        1 => level ^ 1 << random.u64(..signals),
        2 => level ^ if random.u64(..4) == 0 { random.u64(..1 << 62) } else { 0 },
        3 => count,
        4 => count ^ count >> 1,
        5 => count.reverse_bits() >> (64 - signals),
        // A shift register, a bus with a strobe, pairs of opposite signals, a serial line with a clock.
        6 => level << 1 | random.u64(..2),
        7 => {
            (!level & 1 << (signals - 1))
                | if at.is_multiple_of(2) { random.u64(..1 << 62) >> 40 } else { level & 0xff }
        }
        8 => (0..signals / 2).fold(0, |all, pair| all | (1 + random.u64(..2)) << (2 * pair)),
        _ => random.u64(..2) | (at & 1) << 1 | (at >> 3 & 1) << 2,
    }
}

/// A channel that is silent in the changes from which clocks are learned is judged by later ones, and damage is kept.
#[test]
fn channels_that_begin_late_are_judged_too() {
    let directory = ScratchDirectory::new("import-late");
    let sent = traffic();
    let dump = |code: char, first: usize, sent: &[u16]| -> String {
        let mut level = 0;
        let line = |(at, bits): (usize, &u16)| {
            level ^= bits;
            format!("#{}\nb{level:b} {code}\n", at * 125)
        };
        (first..).zip(sent).map(line).collect()
    };
    let busy: Vec<u16> = sent.iter().copied().filter(|it| *it != 0).cycle().take(420_000).collect();
    let (vars, busy) = ("$var wire 9 ! a $end $var wire 9 \" b $end", dump('!', 1, &busy));
    let opposite = sent.iter().map(|bits| bits.reverse_bits() >> 7).collect();
    for (late, words, end) in [
        (opposite, "the wires are in the opposite order", ""),
        (vec![0x10f, 0x0f0, 0x00f], "no Myrinet found: no GAP", ""),
        (vec![0x008], "no Myrinet found: no clock near --rate: few transitions", ""),
        (sent, "line 842329: ж is no change of a VCD file", "ж\n"),
    ] {
        let begin = format!("$timescale 100 ps $end {vars} $enddefinitions $end\n#0 b0 ! b0 \"\n");
        let text = [&begin, &busy, &dump('"', 420_001, &late), end].concat();
        let recording = directory.write("late.vcd", text.as_bytes());
        let out = directory.file(words);
        let import = [&["import", &recording, "-o", &out], &LINK[..]].concat();
        if end.is_empty() {
            refused(&import, &format!("s1:1>h1:0: {words}"));
            assert!(!std::path::Path::new(&out).exists(), "{words}");
        }
        assert!(run(&[&import[..], &["--force"]].concat()).err.contains(words), "{words}");
        assert!(run(&["check", &out]).err.contains(words), "{words}");
    }
}

#[test]
fn other_signals_are_refused() {
    let directory = ScratchDirectory::new("import-others");
    let (mut random, out) = (Rng::with_seed(34), directory.file("out"));
    for draw in 0..30 {
        let (signals, mut level) = (9 * (1 + random.u64(..7)), 0);
        let names: Vec<String> = (0..signals).map(|it| format!("s{it}")).collect();
        let mut rows = vec![format!("Time [ps],{}", names.join(","))];
        let sample_ps = [12_500, 12_500, 6_250, 2_000, 10_000, 25_000][random.usize(..6)];
        for at in 0..400 + random.u64(..3000) {
            level = other_levels(draw % 10, signals, at, level, &mut random);
            let levels = (0..signals).map(|bit| (level >> bit & 1).to_string());
            rows.push(format!("{},{}", at * sample_ps, levels.collect::<Vec<_>>().join(",")));
        }
        let recording = directory.write("others.csv", rows.join("\n").as_bytes());
        let done = run(&["import", &recording, "-o", &out]);
        assert_eq!(done.status, Some(2), "draw {draw}: {} {}", done.out, done.err);
        assert!(!std::path::Path::new(&out).exists(), "draw {draw}");
    }
}

#[test]
fn damaged_recordings_are_survived() {
    let directory = ScratchDirectory::new("import-mutated");
    let (mut random, out) = (Rng::with_seed(35), directory.file("out"));
    let files = ["field/sigrok-cli.sr", "field/ghdl.fst", "field/icarus-fastlz.fst", "vector.vcd"]
        .map(|name| std::fs::read(fixture(&format!("recordings/{name}"))).unwrap());
    let table = "Time [ns];tx[8:0];a\n".to_owned() + &"-2,5;1ff;X\n0;0x0aa;1\n".repeat(20);
    let files: Vec<Vec<u8>> = files.into_iter().chain([table.into_bytes()]).collect();
    for draw in 0..35 {
        let mut bytes = files.get(draw % files.len()).unwrap().clone();
        for _ in 0..=random.u64(..4) {
            let at = random.usize(..bytes.len());
            match random.u64(..3) {
                0 => bytes.truncate(at + 1),
                1 => bytes.insert(at, random.u8(..)),
                _ => *bytes.get_mut(at).unwrap() = random.u8(..),
            }
        }
        let recording = directory.write("mutated", &bytes);
        let done = run(&["import", &recording, "-o", &out]);
        let is_ended = [Some(0), Some(2)].contains(&done.status);
        assert!(is_ended, "draw {draw}: {:?} {}", done.status, done.err);
    }
}
