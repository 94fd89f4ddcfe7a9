//! The side-by-side view: it loses nothing, and does not show how a capture was cut.

use std::fs;
use std::path::Path;

use codec::CharBuf;
use codec::capture::{CaptureItem, CaptureReader, Channel, ReadProgress};
use codec::notation::parse;
use codec::time::CharacterPeriod;
use myriscope_analyzer::channel_selector::{ChannelPatterns, ChannelSelector};
use myriscope_analyzer::render::TimeUnit;
use myriscope_analyzer::show::{LinkLayout, LinkView, LinkViewItem, LinkViewRow};
use myriscope_analyzer::window::TimeWindow;

use crate::support::{WrittenChunk, capture};

const CHARACTERS: LinkLayout =
    LinkLayout { column: 32, unit: TimeUnit::Characters, has_notes: false };

fn shown(capture: &[u8], selector: ChannelSelector<'_>) -> Vec<LinkViewItem> {
    let mut reader = CaptureReader::new(capture).with_virtual_channels(None);
    let mut show = LinkView::new(selector, CHARACTERS);
    let mut all = Vec::new();
    let mut keep = |shown: LinkViewItem| all.push(shown);
    while reader.step(&mut |item| show.feed(&item, &TimeWindow::ALL, &mut keep)).unwrap()
        == ReadProgress::More
    {}
    show.finish(&mut keep);
    all
}

const fn of(patterns: &[ChannelPatterns]) -> ChannelSelector<'_> {
    ChannelSelector { patterns, capture: None }
}

fn rows(capture: &[u8]) -> Vec<LinkViewRow> {
    let only_row = |shown: LinkViewItem| {
        if let LinkViewItem::Row(shown) = shown {
            Some(LinkViewRow { end: 0, ..shown.row })
        } else {
            None
        }
    };
    shown(capture, ChannelSelector::ALL).into_iter().filter_map(only_row).collect()
}

fn row(at: u64, left: &str, right: &str) -> LinkViewRow {
    LinkViewRow { at, end: 0, left: left.into(), right: right.into() }
}

fn both() -> [Channel; 2] {
    ["a:0>b:0", "b:0>a:0"].map(Channel::named)
}

fn lines(capture: &[u8], selector: ChannelSelector<'_>) -> String {
    let mut lines = Vec::new();
    for shown in shown(capture, selector) {
        shown.lines(CHARACTERS, &mut |line| lines.push(line.to_string()));
    }
    lines.join("\n")
}

/// The characters of channels 0 and 1, which have no holes.
fn characters(capture: &[u8]) -> [CharBuf; 2] {
    let mut reader = CaptureReader::new(capture);
    let mut found = [CharBuf::new(), CharBuf::new()];
    let mut keep = |item: CaptureItem<'_>| {
        if let CaptureItem::Chunk(id, chunk) = item {
            let (chars, count) = chunk.content.parts();
            let count = count.unwrap_or(1);
            (0..count).for_each(|_| found[id.0 as usize].push_chars(chars));
        }
    };
    while reader.step(&mut keep).unwrap() == ReadProgress::More {}
    found
}

/// Both channels from 0 on, cut every so many characters.
fn cut(sides: &[CharBuf; 2], every: usize) -> Vec<u8> {
    let len = sides[0].len().max(sides[1].len());
    let parts = (0..len).step_by(every).flat_map(|first| {
        [0, 1].map(|id| (id, sides[id as usize].chars().slice(first..first + every), first as u64))
    });
    let parts = parts.filter(|(_, part, _)| !part.is_empty());
    let parts: Vec<WrittenChunk<String>> =
        parts.map(|(id, part, first)| (id, first, part.to_string(), 0)).collect();
    capture(&both(), &parts)
}

fn fixtures() -> impl Iterator<Item = Vec<u8>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures");
    ["link-1", "link-2", "link-7", "link-8", "link-11", "link-14"]
        .into_iter()
        .map(move |name| fs::read(root.join(name).join("capture.pcapng")).unwrap())
}

#[test]
fn what_is_shown_is_what_was_captured() {
    for capture in fixtures() {
        let rows = rows(&capture);
        let [left, right] = characters(&capture);
        let joined = |side: fn(&LinkViewRow) -> &str| {
            let words: Vec<&str> = rows.iter().map(side).collect();
            parse(&words.join(" ")).unwrap()
        };
        assert_eq!(joined(|row| &row.left), left);
        assert_eq!(joined(|row| &row.right), right);
    }
}

#[test]
fn every_row_begins_where_it_says_and_how_a_capture_is_cut_does_not_show() {
    for capture in fixtures() {
        let mut place = 0;
        for row in rows(&capture) {
            assert_eq!(row.at, place);
            let [left, right] = [&row.left, &row.right].map(|side| parse(side).unwrap().len());
            assert_eq!(left, right);
            place += left as u64;
        }
    }
    for capture in fixtures() {
        let sides = characters(&capture);
        let whole = rows(&cut(&sides, 65_536));
        for every in [1, 7, 64, 100] {
            assert_eq!(rows(&cut(&sides, every)), whole, "cut every {every}");
        }
    }
}

#[test]
fn repeats_are_one_row_as_long_as_both_directions_last() {
    for (parts, expected) in [
        (
            [(0, 0, "GAP GO", 1 << 40), (1, 0, "IDLE", 1 << 41)],
            vec![row(0, "(GAP GO)×1099511627776", "IDLE×2199023255552")],
        ),
        (
            [(0, 0, "IDLE", 200), (1, 100, "GAP", 150)],
            vec![row(0, "IDLE×100", ""), row(100, "IDLE×100", "GAP×100"), row(200, "", "GAP×50")],
        ),
    ] {
        assert_eq!(rows(&capture(&both(), &parts)), expected);
    }
}

#[test]
fn ranges_that_were_not_recorded_and_slow_directions() {
    // Characters 3..10 and 12 of neither, 10 and 11 of the left only, 13 of the right only.
    let holes =
        [(0, 0, "GAP GO GAP", 0), (1, 0, "IDLE×3", 0), (0, 10, "83 05", 0), (1, 13, "GO", 0)];
    insta::assert_snapshot!(lines(&capture(&both(), &holes), ChannelSelector::ALL), @"
       character a:0>b:0                          │ b:0>a:0
               0 GAP GO GAP                       │ IDLE IDLE IDLE
               · 7 periods in which neither direction was recorded
              10 83 05                            │
               · 1 period in which neither direction was recorded
              13                                  │ GO
    ");
    let alone = [(0, 0, "GAP GO GAP", 0), (1, 0, "IDLE×5", 0), (0, 4, "STOP", 0)];
    insta::assert_snapshot!(lines(&capture(&both(), &alone), ChannelSelector::ALL), @"
       character a:0>b:0                          │ b:0>a:0
               0 GAP GO GAP                       │ IDLE IDLE IDLE
               3                                  │ IDLE
               4 STOP                             │ IDLE
    ");
    // Two characters of the left to one of the right; a packet heads a row, on either side.
    let mut channels = both();
    channels[1].period = CharacterPeriod::from_ps(25_000).unwrap();
    let slow = [(0, 0, "GAP STOP GO 83 05 GAP", 0), (1, 0, "IDLE 83 GAP", 0)];
    insta::assert_snapshot!(lines(&capture(&channels, &slow), ChannelSelector::ALL), @"
       character a:0>b:0                          │ b:0>a:0
               0 GAP STOP                         │ IDLE
               2 GO                               │ 83
               3 83 05 GAP                        │ GAP
    ");
}

#[test]
fn the_channel_that_is_named_stands_on_the_left() {
    let channels = ["a:0>b:0", "b:0>a:0", "c:0>d:0"].map(Channel::named);
    let parts = [(0, 0, "GO", 0), (1, 0, "STOP", 0), (2, 0, "GAP", 0)];
    let capture = capture(&channels, &parts);
    insta::assert_snapshot!(lines(&capture, of(&["b:0>a:0".parse().unwrap()])), @"
                 (other channels, not shown: 1)
       character b:0>a:0                          │ a:0>b:0
               0 STOP                             │ GO
    ");
    insta::assert_snapshot!(lines(&capture, of(&["c:0>d:0".parse().unwrap()])), @"
                 (other channels, not shown: 2)
       character c:0>d:0                          │
               0 GAP                              │
    ");
}

#[test]
fn repeats_of_ever_other_patterns_are_rows_of_their_own() {
    let patterns = [("IDLE", 1), ("GAP 83 GO", 3), ("GAP", 1), ("IDLE IDLE GO", 3)];
    let (mut place, mut parts) = (0, Vec::new());
    for (at, (text, length)) in patterns.iter().cycle().take(4000).enumerate() {
        let count = 300 + at as u64 % 2;
        parts.extend([(0, place, *text, count), (1, place, *text, count)]);
        place += count * length;
    }
    let file = capture(&both(), &parts);
    let rows = rows(&file);
    // A row is full once three of the four patterns, 32 columns, stand in it; the fourth goes on.
    let words = "IDLE×300 (GAP 83 GO)×301 GAP×300 (IDLE IDLE GO)×301";
    assert_eq!(rows[0], row(0, words, words));
    assert_eq!(rows.len(), 1000);
    // On paper it goes on where a side's 32 columns end.
    let lines: Vec<String> =
        lines(&file, ChannelSelector::ALL).lines().skip(1).take(2).map(str::to_owned).collect();
    insta::assert_snapshot!(lines.join("\n"), @"
               0 IDLE×300 (GAP 83 GO)×301 GAP×300 │ IDLE×300 (GAP 83 GO)×301 GAP×300
                 (IDLE IDLE GO)×301               │ (IDLE IDLE GO)×301
    ");
}
