//! The viewer, driven by keys, on a screen in memory.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::Duration;

use analyzer::link_analysis::LinkAnalysis;
use analyzer::render::TimeUnit;
use analyzer::row::ListRow as _;
use analyzer::{AnalysisOptions, analyze};
use codec::CharBuf;
use codec::capture::{ByteOrder, CaptureWriter, Channel, ChannelId, Chunk, ChunkContent};
use codec::packet::{CrcCheck, Packet, PacketTag};
use codec::time::Tick;
use ratatui_core::backend::TestBackend;
use ratatui_core::layout::Position;
use ratatui_core::style::Modifier;
use ratatui_core::terminal::Terminal;
use ratatui_crossterm::crossterm::event::{
    Event, KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind,
};
use tempfile::NamedTempFile;

use super::*;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures").join(name).join("capture.pcapng")
}

fn open(path: &Path, size: (usize, usize)) -> Result<CaptureViewer, CaptureError> {
    open_to(path, size, None)
}

fn open_to(
    path: &Path,
    size: (usize, usize),
    to: Option<WindowEdge>,
) -> Result<CaptureViewer, CaptureError> {
    let look = TerminalLook { style: |_| anstyle::Style::new(), is_ascii: false };
    let name = "capture.pcapng".to_owned();
    let (unit, channels, profile) = (TimeUnit::default(), Vec::new(), None);
    let options = ViewerOptions { unit, channels, to, profile, look, name };
    let mut viewer = CaptureViewer::open(path, options)?;
    viewer.resize(size);
    finish(&mut viewer);
    Ok(viewer)
}

fn finish(viewer: &mut CaptureViewer) {
    while viewer.work(Duration::MAX) == WorkProgress::More {}
}

/// Presses keys: names, or letters of which a word is typed.
fn press(viewer: &mut CaptureViewer, keys: &str) {
    for word in keys.split(' ') {
        let codes = match word {
            "Enter" => vec![KeyCode::Enter],
            "Tab" => vec![KeyCode::Tab],
            "Back" => vec![KeyCode::Backspace],
            "Down" => vec![KeyCode::Down],
            "Up" => vec![KeyCode::Up],
            "Right" => vec![KeyCode::Right],
            "PageUp" => vec![KeyCode::PageUp],
            "PageDown" => vec![KeyCode::PageDown],
            "Home" => vec![KeyCode::Home],
            "End" => vec![KeyCode::End],
            "Space" => vec![KeyCode::Char(' ')],
            word => word.chars().map(KeyCode::Char).collect(),
        };
        for code in codes {
            let _ = viewer.event(&Event::Key(KeyEvent::new(code, KeyModifiers::NONE)));
            finish(viewer);
        }
    }
}

/// The screen, with a mark before lines that are selected.
fn screen(viewer: &mut CaptureViewer) -> String {
    let size = (u16::try_from(viewer.size.0).unwrap(), u16::try_from(viewer.size.1).unwrap());
    let mut terminal = Terminal::new(TestBackend::new(size.0, size.1)).unwrap();
    terminal.draw(|frame| viewer.draw(frame.buffer_mut())).unwrap();
    let buffer = terminal.backend().buffer();
    let is_reversed =
        |x, y| buffer.cell(Position { x, y }).unwrap().modifier.contains(Modifier::REVERSED);
    let (_, tab) = CaptureViewer::tabs().find(|(kind, _)| *kind == viewer.kind).unwrap();
    for x in 0..if size.1 > 1 { size.0 } else { 0 } {
        assert_eq!(is_reversed(x, 1), tab.contains(&x.into()), "column {x} of the tabs");
    }
    let line = |y: u16| {
        let text: String =
            (0..size.0).map(|x| buffer.cell(Position { x, y }).unwrap().symbol()).collect();
        let is_selected = is_reversed(0, y) && y > 1;
        format!("{}{}\n", if is_selected { '>' } else { ' ' }, text.trim_end())
    };
    (0..size.1).map(line).collect()
}

#[test]
fn keys_lead_from_list_to_list() {
    for line in include_str!("keys.txt").lines() {
        let [name, capture, keys] =
            <[&str; 3]>::try_from(line.splitn(3, ": ").collect::<Vec<_>>()).unwrap();
        let mut viewer = open(&fixture(capture), (80, 24)).unwrap();
        press(&mut viewer, keys);
        insta::assert_snapshot!(name, screen(&mut viewer));
    }
    let mut viewer = open(&fixture("demo-contention"), (160, 12)).unwrap();
    press(&mut viewer, "6 Home");
    insta::assert_snapshot!("wide", screen(&mut viewer));
    // Journey 0 begins at 0 and ends at 1.9625 µs on its second link, where it was 1.275 µs on the first.
    press(&mut viewer, "g 1.5us Enter");
    assert_eq!(viewer.here().unwrap().at, (0, 0));
}

#[test]
fn a_lane_has_the_numbers_of_its_row() {
    let one_way = fixture("findings").with_file_name("one-way.pcapng");
    for path in &[fixture("link-1"), fixture("demo-cut"), fixture("demo-glitch"), one_way] {
        let mut viewer = open(path, (80, 24)).unwrap();
        press(&mut viewer, "2");
        let links = analyze(File::open(path).unwrap(), &AnalysisOptions::default()).links;
        let reports = links.iter().flat_map(LinkAnalysis::reports);
        let expected = reports.map(|it| it.row().json()).map(|row| {
            let [crc, stops] = [&row["packets"]["crc"], &row["stops"]];
            let wrong = crc["bad"].as_u64().unwrap() + crc["runt"].as_u64().unwrap();
            let [count, periods, longest] = ["count", "periods", "longest"].map(|at| &stops[at]);
            let stops = if count.is_null() {
                "its stops not recorded".to_owned()
            } else {
                format!("{count} stops, {periods} periods in all, {longest} the longest")
            };
            format!(
                "{}: {} Mb/s, {} characters, {} of data; {} packets, {wrong} not good; {stops}",
                row["channel"].as_str().unwrap(),
                8_000_000 / row["period_ps"].as_u64().unwrap(),
                row["characters"],
                row["data"],
                row["packets"]["count"],
            )
        });
        let lines = &viewer.list(viewer.kind).lines;
        let found: Vec<String> = lines.iter().map(|line| line.row.detail.clone()).collect();
        assert_eq!(found, expected.collect::<Vec<_>>(), "{path:?}");
    }
}

#[test]
fn the_mouse_selects_tabs_and_rows() {
    let mut viewer = open(&fixture("demo-two-hosts"), (80, 24)).unwrap();
    let (click, other) = (MouseButton::Left, MouseButton::Right);
    // "1 findings  2 links  3 packets", and the rows below the head.
    for (kind, column, row, list, selected) in [
        (MouseEventKind::Down(click), 24, 1, ViewKind::Packets, 0),
        (MouseEventKind::Down(click), 12, 5, ViewKind::Packets, 2),
        (MouseEventKind::Down(click), 12, 0, ViewKind::Packets, 2),
        (MouseEventKind::Down(other), 12, 1, ViewKind::Packets, 2),
        (MouseEventKind::ScrollDown, 12, 1, ViewKind::Packets, 5),
        (MouseEventKind::ScrollUp, 12, 1, ViewKind::Packets, 2),
        (MouseEventKind::Down(click), 12, 1, ViewKind::Links, 0),
    ] {
        let mouse = MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE };
        let _ = viewer.event(&Event::Mouse(mouse));
        finish(&mut viewer);
        let shown = (viewer.kind, viewer.list(viewer.kind).selected);
        assert_eq!(shown, (list, selected), "{mouse:?}");
    }
}

#[test]
fn every_list_is_drawn_on_the_smallest_screen() {
    let mut viewer = open(&fixture("demo-cut"), (80, 24)).unwrap();
    for keys in "1 2 3 4 5 6 7 8 9 / ?".split(' ') {
        press(&mut viewer, keys);
        for height in 1..9 {
            viewer.resize((9, height));
            screen(&mut viewer);
        }
    }
}

/// A capture of two channels with packets of 44 bytes, in chunks of a packet.
fn long_capture(packets: u64) -> NamedTempFile {
    let channels = ["h0:0>s0:0", "s0:0>h0:0"].map(Channel::named);
    let mut file = NamedTempFile::new().unwrap();
    let mut writer = CaptureWriter::new(Vec::new(), ByteOrder::Little, &channels).unwrap();
    let (payload, check) = ([7; 41], CrcCheck::Good);
    let packet = Packet { route: &[0x81], tag: PacketTag::new(5), payload: &payload, check };
    let mut chars = CharBuf::new();
    packet.emit(&mut chars);
    for round in 0..packets {
        let content = ChunkContent::Literal(chars.chars());
        let chunk = Chunk { first: Tick(round * chars.len() as u64), content };
        for id in [0, 1] {
            writer.write(ChannelId(id), &chunk).unwrap();
        }
    }
    file.write_all(&writer.finish().unwrap()).unwrap();
    file
}

/// Numbers of the packets of the list, all channels.
fn numbers(viewer: &CaptureViewer) -> Vec<u64> {
    let lines = viewer.list(ViewKind::Packets).lines.iter().map(|line| line.line.to_string());
    lines.map(|line| line.split_whitespace().nth(2).unwrap().parse().unwrap()).collect()
}

#[test]
fn a_long_list_has_every_row_once_whichever_way_it_is_read() {
    let mut file = long_capture(16_000);
    let mut viewer = open(file.path(), (80, 24)).unwrap();
    press(&mut viewer, "3");
    let mut top = viewer.here().unwrap();
    for step in 0..80 {
        viewer.list_mut(ViewKind::Packets).move_down(400);
        finish(&mut viewer);
        let numbers = numbers(&viewer);
        assert!(numbers.len() <= 20_000, "{step}");
        assert!(numbers.chunks(2).all(|pair| pair[0] == pair[1]), "{step}");
        assert!(numbers.windows(3).all(|three| three[0] + 1 == three[2]), "{step}");
        let here = viewer.here().unwrap();
        assert!(here.at > top.at || step == 79);
        top = here;
    }
    assert_eq!(numbers(&viewer).last(), Some(&15_999));
    // From the time of a packet in the middle, upwards beyond what was read.
    press(&mut viewer, "g 5000us Enter");
    let middle = viewer.here().unwrap().at.1;
    assert!(middle <= 5_000_000_000 && 5_000_000_000 < middle + 46 * 12_500, "{middle}");
    for _ in 0..4 {
        let before = numbers(&viewer)[viewer.list(ViewKind::Packets).selected];
        viewer.list_mut(ViewKind::Packets).move_up(1000);
        finish(&mut viewer);
        let after = numbers(&viewer)[viewer.list(ViewKind::Packets).selected];
        assert_eq!(after, before - 500);
    }
    press(&mut viewer, "Home");
    assert_eq!(numbers(&viewer)[..4], [0, 0, 1, 1]);
    // The characters of a packet far behind are those of the packet.
    press(&mut viewer, "g 9000us Enter Enter");
    assert!(screen(&mut viewer).contains("81 05 07×"), "{}", screen(&mut viewer));
    // Those of the second capture in a file begin with its first one.
    let again = std::fs::read(file.path()).unwrap();
    file.as_file_mut().write_all(&again).unwrap();
    let mut viewer = open(file.path(), (80, 24)).unwrap();
    press(&mut viewer, "5");
    viewer.go(ViewKind::Characters, RowGoal::at((1, 0)));
    finish(&mut viewer);
    viewer.list_mut(ViewKind::Characters).move_up(1000);
    finish(&mut viewer);
    assert_eq!(viewer.here().map(|goal| goal.at), Some((1, 0)));
}

#[test]
fn a_text_is_found_far_behind_and_a_filter_that_nothing_passes_ends() {
    let file = long_capture(16_000);
    let mut viewer = open(file.path(), (80, 24)).unwrap();
    // Also behind a key that moves nothing.
    for keys in ["3 / 15998 Enter", "Home Up / 15998 Enter"] {
        press(&mut viewer, keys);
        let list = viewer.list(ViewKind::Packets);
        assert_eq!(numbers(&viewer)[list.selected], 15_998, "{keys}");
    }
    press(
        &mut viewer,
        "f length Space == Space 45 Enter Home PageUp f length Space > Space 45 Enter",
    );
    assert!(screen(&mut viewer).contains("no row passes the filter"), "{}", screen(&mut viewer));
}

#[test]
fn hostile_captures_are_shown_as_far_as_they_can_be_read() {
    let keys = "2 Right Enter 3 End Home PageUp o Enter ] 4 5 PageDown PageUp 6 7 g 1s Enter 8 End 9 Right Left g 1s Enter 1 Enter";
    let mut file = NamedTempFile::new().unwrap();
    let mut show = |bytes: &[u8]| {
        file = NamedTempFile::new().unwrap();
        file.write_all(bytes).unwrap();
        let mut viewer = open(file.path(), (40, 10))?;
        press(&mut viewer, keys);
        Ok::<String, CaptureError>(screen(&mut viewer))
    };
    assert!(matches!(show(b""), Err(CaptureError::Empty)));
    assert!(matches!(show(b"a text, not a capture"), Err(CaptureError::NotACapture { .. })));
    for name in ["demo-cut", "demo-lost-gap", "demo-two-hosts"] {
        let whole = std::fs::read(fixture(name)).unwrap();
        for part in 1..24 {
            let place = whole.len() * part / 24;
            let _ = show(&whole[..place]);
            let mut flipped = whole.clone();
            flipped[place] ^= 1 << (part % 8);
            let _ = show(&flipped);
        }
    }
}

#[test]
fn names_are_escaped_and_many_channels_are_bounded() {
    let names = ["\u{1b}[31mred", "宽宽宽宽宽宽宽宽宽宽宽宽", "e\u{301}\u{202e}"];
    let many = (0..11_997).map(|number| format!("c{number}"));
    let channels: Vec<Channel> =
        names.into_iter().map(str::to_owned).chain(many).map(Channel::named).collect();
    let mut writer = CaptureWriter::new(Vec::new(), ByteOrder::Little, &channels).unwrap();
    let mut chars = CharBuf::new();
    Packet { route: &[0x81], tag: PacketTag::new(5), payload: &[1], check: CrcCheck::Good }
        .emit(&mut chars);
    for id in (0..3).chain(11_980..12_000) {
        let content = ChunkContent::Literal(chars.chars());
        writer.write(ChannelId(id), &Chunk { first: Tick(0), content }).unwrap();
    }
    let mut file = NamedTempFile::new().unwrap();
    file.write_all(&writer.finish().unwrap()).unwrap();
    let mut viewer = open(file.path(), (80, 24)).unwrap();
    press(&mut viewer, "2 Down Down 3");
    insta::assert_snapshot!("hostile-names", screen(&mut viewer));
    press(&mut viewer, "2");
    assert!(screen(&mut viewer).contains("only the first 10000 rows are shown"));
}

/// A packet has 45 characters with its GAP; of four findings one is at 15.85 µs and one at 19.9875 µs.
#[test]
fn lists_end_where_the_options_say() {
    let file = long_capture(100);
    for (path, end, keys, rows) in [
        (file.path(), "135ch", "3", 6),
        (file.path(), "135ch", "6", 6),
        (&fixture("demo-cut"), "20us", "1", 2),
        // One of them ends after others that begin behind the end.
        (&fixture("demo-contention"), "266ch", "3", 4),
        (&fixture("link-7"), "1121ch", "3", 8),
    ] {
        let to = end.parse().unwrap();
        let mut viewer = open_to(path, (80, 24), Some(to)).unwrap();
        press(&mut viewer, keys);
        press(&mut viewer, "End");
        let list = viewer.list(viewer.kind);
        assert_eq!(list.lines.len(), rows, "{keys}\n{}", screen(&mut viewer));
    }
}

/// The name of a link is that of its first virtual channel. C-7
#[test]
fn characters_are_those_of_the_selected_virtual_channel() {
    for (channel, text) in [("a:0", "05 VC1 VC1 VC0 aa"), ("a:0.vc1", "05 VC0 VC0 VC1 bb")] {
        let mut viewer = open(&fixture("virtual-channels"), (80, 24)).unwrap();
        viewer.options.channels = ["z:9", channel].map(|name| name.parse().unwrap()).to_vec();
        press(&mut viewer, "5");
        assert!(screen(&mut viewer).contains(text), "{channel}\n{}", screen(&mut viewer));
    }
}
