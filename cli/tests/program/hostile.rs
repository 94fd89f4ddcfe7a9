//! Hostile captures through every command that draws, exports or follows: bounded output, no panic, and no effect of
//! names.

use codec::capture::{ByteOrder, CaptureWriter, Channel, ChannelId, Chunk, ChunkContent};
use codec::notation::parse;
use codec::time::Tick;

use crate::report::check;
use crate::support::{ScratchDirectory, capture_bytes, repeats, run_in};

/// A damaged packet, an open link, a reset, STOP.
const FAULTS: &str = "GAP 81 05 92 GAP FRES STOP GO 55 IDLE IDLE BRES GAP";

const NAMES: [&str; 8] = [
    "</script><img src=x onerror=alert(1)>",
    "\"><svg onload=alert(1)>",
    "' style='x",
    "</title><base href=//x>:0>s0:1",
    "s0:1></title><base href=//x>:0",
    "\u{1b}[2J\u{202e}\u{2066}h0:0>s0:2",
    "{{7*7}}<!--",
    "$end $scope\tjavascript:alert(1)",
];

/// A capture of channels with these names and repeated faults on each.
pub(crate) fn channels(names: impl Iterator<Item = String>, count: u64) -> Vec<u8> {
    let channel = |name: String| Channel { tap: Some(name.clone()), ..Channel::named(name) };
    let channels: Vec<Channel> = names.map(channel).collect();
    repeats(&channels, channels.iter().map(|_| (FAULTS, count)))
}

/// A link of packets with a bad CRC, no two alike in sequence.
fn findings(count: u32) -> Vec<u8> {
    let channel = Channel::named("h0:0>s0:1".to_owned());
    let mut file = CaptureWriter::new(Vec::new(), ByteOrder::Little, &[channel]).unwrap();
    for number in 0..count / 100 {
        let packet = |n: u32| format!("81 05 {:02x} 00 GAP ", (number * 7 + n * n) % 255);
        let text = parse(&(0..100).map(packet).collect::<String>()).unwrap();
        let content = ChunkContent::Literal(text.chars());
        file.write(ChannelId(0), &Chunk { first: Tick(u64::from(number) * 500), content }).unwrap();
    }
    file.finish().unwrap()
}

/// Files of each kind, and the most bytes of an export of them.
fn files() -> [(&'static str, Vec<u8>, usize); 7] {
    let whole = capture_bytes("demo-lossy");
    let mut flipped = whole.clone();
    flipped.iter_mut().skip(2000).step_by(97).take(200).for_each(|byte| *byte ^= 0x24);
    let long = "<b>".repeat(1 << 14);
    let hostile = NAMES.map(str::to_owned).into_iter();
    let hostile = hostile.chain([format!("{long}:0>s0:3"), long]);
    let link = || ["h0:0>s0:1", "s0:1>h0:0"].map(str::to_owned).into_iter();
    let many = (0..130).flat_map(|link: u32| {
        let [host, switch] = [format!("{}{link}:0", "<".repeat(30)), format!("s0:{link}")];
        [format!("{host}>{switch}"), format!("{switch}>{host}")]
    });
    [
        ("empty", Vec::new(), 1000),
        ("cut", whole.iter().copied().take(whole.len() / 2).collect(), 5_000_000),
        ("flipped", flipped, 10_000_000),
        ("names", channels(hostile, 4), 5_000_000),
        ("channels", channels(many, 4), 10_000_000),
        ("findings", findings(2_000), 5_000_000),
        ("absurd", channels(link(), 1 << 59), 50_000_000),
    ]
}

#[test]
fn every_face_of_a_hostile_capture_is_bounded_and_harmless() {
    let directory = ScratchDirectory::new("hostile");
    let input = "a\"><script>x.pcapng";
    for (kind, bytes, export_max) in files() {
        directory.write(input, &bytes);
        let is_damaged = matches!(kind, "empty" | "cut" | "flipped");
        for (command, max) in [
            ("report", 2_000_000),
            ("report --channel s0 --filter severity!=note", 2_000_000),
            ("export packets", export_max),
            ("export packets --journeys", export_max),
            ("export perfetto", export_max),
            ("export states", export_max),
            ("watch", 200_000),
        ] {
            let mut arguments: Vec<&str> = command.split(' ').collect();
            arguments.push(input);
            if command != "watch" {
                arguments.extend(["-o", "-"]);
            }
            let outcome = run_in(&directory, &arguments);
            let place = format!("{kind} {command}: {}", outcome.err);
            let is_expected = outcome.status == Some(if is_damaged { 2 } else { 0 });
            assert!(is_expected && !outcome.err.contains("internal error"), "{place}");
            assert!(outcome.bytes.len() <= max, "{place}: {} bytes", outcome.bytes.len());
            let is_plain = |char: char| !char.is_control() || char == '\n';
            assert!(outcome.err.chars().all(is_plain), "{place:?}");
            if command.starts_with("report") && kind != "empty" {
                check(&outcome.out);
                let is_told = outcome.out.contains("<p class=\"alert\">✗ not ");
                assert_eq!(is_told, is_damaged, "{place}");
            }
            if matches!(command, "watch" | "export states") {
                assert!(outcome.out.chars().all(is_plain), "{place}");
            }
        }
    }
}
