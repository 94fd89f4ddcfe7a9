//! The page of `report`: structure, escaping, size, and its script in a browser if there is one.

use std::collections::BTreeSet;
use std::process::Command;

use codec::capture::{ByteOrder, CaptureWriter, Channel, ChannelId, Chunk, ChunkContent};
use codec::notation::parse;
use codec::time::Tick;
use sha2::{Digest, Sha256};

use crate::support::{ScratchDirectory, capture, capture_bytes, program, run, run_in};

/// Elements and attributes that the template has. Those of a hostile name would be others.
const ELEMENTS: &str = "a article b body br caption circle code dd details div dl dt footer g h1 h2 \
    h3 head header html li main meta nav ol p path rect script section small span style summary svg \
    table tbody td text th thead title tr ul figure figcaption";
const ATTRIBUTES: &str = "aria-hidden aria-label charset class colspan content cx cy d data-from data-length \
    data-v data-x dy height href http-equiv id lang name preserveAspectRatio r role rx scope \
    stroke-width style title viewBox width x y";

/// Most bytes of a page.
const PAGE_MAX: usize = 2_000_000;

/// A page on standard output.
fn page(arguments: &[&str]) -> String {
    let outcome = run(&[&["report", "-o", "-"], arguments].concat());
    assert_eq!((outcome.status, outcome.err.as_str()), (Some(0), ""), "{arguments:?}");
    check(&outcome.out);
    outcome.out
}

/// Checks what holds for every page: closed tags, known elements and attributes, unique ids, references
/// within the page, escaped text, the permitted script, the size.
fn check(page: &str) {
    assert!(page.len() <= PAGE_MAX, "{} bytes", page.len());
    assert!(!page.contains(|char: char| char.is_control() && char != '\n'));
    assert!(!page.contains(['\u{202e}', '\u{2066}', '\u{200b}', '\u{feff}']));
    let (elements, attributes): (BTreeSet<&str>, BTreeSet<&str>) =
        (ELEMENTS.split_whitespace().collect(), ATTRIBUTES.split_whitespace().collect());
    let (mut ids, mut links, mut open) = (BTreeSet::new(), BTreeSet::new(), Vec::new());
    let mut rest = page.strip_prefix("<!DOCTYPE html>\n").unwrap();
    while let Some((_, after)) = rest.split_once('<') {
        let (tag, after) = after.split_once('>').unwrap();
        rest = after;
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "{}", rest.get(..200).unwrap_or(rest));
            continue;
        }
        let (name, mut pairs) = tag.trim_end_matches('/').split_once(' ').unwrap_or((tag, ""));
        let name = name.trim_end_matches('/');
        assert!(elements.contains(name), "<{tag}>");
        while let Some((attribute, value)) = pairs.split_once("=\"") {
            let (value, next) = value.split_once('"').unwrap();
            let attribute = attribute.trim();
            assert!(attributes.contains(attribute), "{attribute:?} in <{tag}>");
            match attribute {
                "id" => assert!(ids.insert(value), "{value} is there twice"),
                "href" => _ = links.insert(value.strip_prefix('#').unwrap()),
                _ => {}
            }
            pairs = next;
        }
        assert_eq!(pairs.trim(), "", "<{tag}>");
        if matches!(name, "style" | "script") {
            let (text, after) = rest.split_once(&format!("</{name}>")).unwrap();
            rest = after;
            if name == "script" {
                let permitted = format!("script-src 'sha256-{}'", base64(&Sha256::digest(text)));
                assert!(page.contains(&permitted), "report.rs: SCRIPT_HASH: {permitted}");
            }
        } else if !matches!(name, "meta" | "br") && !tag.ends_with('/') {
            open.push(name);
        }
    }
    assert!(open.is_empty() && links.is_subset(&ids), "{open:?} {:?}", links.difference(&ids));
}

fn base64(bytes: &[u8]) -> String {
    let signs = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let groups = bytes.chunks(3).map(|three| {
        let all = three.iter().fold(0_usize, |all, byte| all << 8 | usize::from(*byte));
        let all = all << (8 * (3 - three.len()));
        let sign =
            |place: usize| signs.get(all >> (6 * place) & 63).map_or('=', |sign| char::from(*sign));
        let text = [3, 2, 1, 0].map(sign);
        text.iter().take(three.len() + 1).collect::<String>() + &"=".repeat(3 - three.len())
    });
    groups.collect()
}

/// The text of a part of a page, a line for each element with text.
fn text(part: &str) -> String {
    let mut text = String::new();
    for piece in part.split('<').skip(1) {
        let (tag, words) = piece.split_once('>').unwrap();
        let breaks =
            ["p", "br", "li", "h1", "h2", "h3", "dt", "tr", "title", "caption", "nav", "div"];
        if breaks.contains(&tag.split(' ').next().unwrap()) {
            text += "\n";
        }
        if tag == "dd" || tag == "a" || tag.starts_with("a ") {
            text += " ";
        }
        if tag == "td" || tag.starts_with("td ") || tag.starts_with("th ") {
            text += " | ";
        }
        text += words.trim_matches('\n');
    }
    let text = text.replace("&#39;", "'").replace("&#62;", ">").replace("&#38;", "&");
    let lines = text.lines().map(str::trim_end).filter(|line| !line.is_empty());
    lines.map(|line| format!("{line}\n")).collect()
}

#[test]
fn a_page_has_findings_network_and_links_in_words() {
    let page = page(&[&capture("demo-cut")]);
    let (_, body) = page.split_once("<header>").unwrap();
    let (body, verdicts) = body.split_once("<section id=\"verdicts\">").unwrap();
    assert!(
        verdicts.contains("id=\"rule-F-7\"><td data-v=\"F-7\">F-7</td><td class=\"error\">✗ fail")
    );
    let (_, body) = body.split_once("</h1>").unwrap();
    let root = capture("demo-cut");
    insta::assert_snapshot!(text(&body.replace(&root, "cut.pcapng")));
}

#[test]
fn every_fixture_has_a_sound_page() {
    for name in ["ring-deadlock", "demo-lossy", "demo-slack", "demo-now36", "demo-nacks", "link-2"]
    {
        page(&[&capture(name)]);
    }
}

#[test]
fn options_select_and_dates_come_from_the_environment() {
    let file = &capture("demo-cut");
    let whole = page(&[file]);
    assert_eq!(whole, page(&[file]));
    assert!(!whole.contains("Only what is"));
    let one = page(&[file, "--channel", "h1"]);
    assert!(one.contains("Only what is on h1; 1 finding elsewhere"));
    assert!(!one.contains("id=\"f-no-such-port\""));
    let errors = page(&[file, "--filter", "severity == warning"]);
    assert!(errors.contains("id=\"f-no-such-port\"") && !errors.contains("id=\"f-open-link\""));
    let early = page(&[file, "--to", "15us"]);
    assert!(early.contains("<dd>15 µs</dd>") && early.contains("No findings."));
    for (seconds, date) in
        [("0", "1970-01-01"), ("951782400", "2000-02-29"), ("1700000000", "2023-11-14")]
    {
        let mut command = program(&["report", "-o", "-", file]);
        let output = command.env("SOURCE_DATE_EPOCH", seconds).output().unwrap();
        assert!(
            String::from_utf8_lossy(&output.stdout).contains(&format!(" on {date}.")),
            "{date}"
        );
    }
}

/// A capture of links with these names and findings on each: a damaged packet, silence, STOP.
fn links(names: impl Iterator<Item = String>) -> Vec<u8> {
    let channel = |name: String| Channel { tap: Some(name.clone()), ..Channel::named(name) };
    let channels: Vec<Channel> = names.map(channel).collect();
    let mut file = CaptureWriter::new(Vec::new(), ByteOrder::Little, &channels).unwrap();
    let pattern = parse("GAP 81 05 92 GAP FRES STOP GO 55 IDLE IDLE BRES GAP").unwrap();
    for id in 0..channels.len() {
        let content = ChunkContent::Repeat { pattern: pattern.chars(), count: 4 };
        let id = ChannelId(u32::try_from(id).unwrap());
        file.write(id, &Chunk { first: Tick(0), content }).unwrap();
    }
    file.finish().unwrap()
}

#[test]
fn hostile_names_have_no_effect() {
    let directory = ScratchDirectory::new("report-names");
    let names = [
        "</script><img src=x onerror=alert(1)>",
        "\"><svg onload=alert(1)>",
        "' style='x",
        "</title><base href=//x>:0>s0:1",
        "s0:1></title><base href=//x>:0",
        "\u{1b}[2J\u{202e}\u{2066}h0:0>s0:2",
        "{{7*7}}<!--",
        "javascript:alert(1)",
    ];
    let long = "<b>".repeat(1 << 14);
    let names = names.map(str::to_owned).into_iter().chain([format!("{long}:0>s0:3"), long]);
    directory.write("a\"><script>x.pcapng", &links(names));
    let hostile = "\"><img src=x>";
    let select: [&[&str]; 3] = [&[], &["--channel", "s0"], &["--filter", "channel != hostile"]];
    for options in select {
        let file = "a\"><script>x.pcapng";
        let outcome = run_in(&directory, &[&["report", file, "-o", "p.html"], options].concat());
        assert_eq!((outcome.status, outcome.err.as_str()), (Some(0), ""), "{hostile}");
        check(&String::from_utf8(directory.read("p.html")).unwrap());
    }
}

#[test]
fn a_page_of_many_channels_with_findings_is_small() {
    let names = (0..200).flat_map(|link: u32| {
        let [host, switch] = [format!("{}{link}", "<".repeat(30)), format!("s{}", link / 200)];
        let port = link % 200;
        [format!("{host}:0>{switch}:{port}"), format!("{switch}:{port}>{host}:0")]
    });
    let directory = ScratchDirectory::new("report-large");
    let file = directory.write("large.pcapng", &links(names));
    let page = page(&[&file]);
    assert!(page.contains("and 150 more rows"));
}

#[test]
fn a_damaged_capture_has_a_page_that_names_the_damage() {
    let directory = ScratchDirectory::new("report-damaged");
    let whole = capture_bytes("demo-lossy");
    let cut = whole[..whole.len() / 2].to_vec();
    let mut flipped = whole.clone();
    (0..200).for_each(|n| flipped[2000 + n * 97] ^= 0x24);
    for (name, bytes) in [("cut", cut), ("flipped", flipped)] {
        let file = directory.write(name, &bytes);
        let outcome = run(&["report", &file, "-o", "-"]);
        assert_eq!(outcome.status, Some(2), "{name}");
        check(&outcome.out);
        assert!(outcome.out.contains("<p class=\"alert\">✗ not "), "{name}");
    }
    let outcome = run(&["report", &directory.write("empty", b""), "-o", "-"]);
    assert_eq!(outcome.status, Some(2));
    check(&outcome.out);
}

/// Runs the script of a page in Chromium, if it is installed: lanes get their tools, tables their buttons.
#[test]
#[expect(clippy::print_stdout, reason = "a test that checks nothing does not go unnoticed")]
fn the_script_runs_in_a_browser() {
    let directory = ScratchDirectory::new("report-browser");
    let [html, profile] = ["page.html", "profile"].map(|name| directory.file(name));
    directory.write("page.html", page(&[&capture("ring-deadlock")]).as_bytes());
    let mut browser = Command::new("chromium");
    browser.args(["--headless=new", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=2000"]);
    browser.args([&format!("--user-data-dir={profile}"), "--dump-dom", &format!("file://{html}")]);
    let Ok(output) = browser.output() else {
        return println!("skipped: no chromium");
    };
    let dom = String::from_utf8_lossy(&output.stdout);
    for part in
        ["class=\"tools\"", "aria-label=\"Zoom in\"", "<th scope=\"col\"><button", "Filter rows"]
    {
        assert!(dom.contains(part), "{part} in {dom}");
    }
}
