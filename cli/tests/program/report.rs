//! The page of `report`: structure, escaping, size, and its script in a browser if there is one.

use std::collections::BTreeSet;
use std::process::{Command, Output};

use sha2::{Digest, Sha256};

use crate::support::{COLOURS, ScratchDirectory, capture, good, program, run};

/// Elements and attributes that the template has. Those of a hostile name would be others.
const ELEMENTS: &str = "a article b body br caption circle code dd defs details div dl dt footer g h1 h2 \
    h3 head header html li main marker meta nav ol p path pre rect script section small span style summary svg \
    table tbody td text th thead title tr ul use figure figcaption";
const ATTRIBUTES: &str = "aria-hidden aria-label charset class colspan content cx cy d data-at data-cycles data-from \
    data-length data-n data-packets data-s data-span data-stops data-track data-v data-x dy height href http-equiv id lang marker-mid markerHeight markerWidth name orient \
    preserveAspectRatio r refX refY role rx scope stroke-width style title viewBox width x y";

/// Most bytes of a page.
const PAGE_MAX: usize = 2_000_000;

/// A page on standard output.
pub(crate) fn page(arguments: &[&str]) -> String {
    let outcome = run(&[&["report", "-o", "-"], arguments].concat());
    assert_eq!((outcome.status, outcome.err.as_str()), (Some(0), ""), "{arguments:?}");
    check(&outcome.out);
    outcome.out
}

/// Checks what holds for every page: closed tags, known elements and attributes, unique ids, references
/// within the page, escaped text, the permitted script, the size.
pub(crate) fn check(page: &str) {
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
                assert!(page.contains(&permitted), "report.html: {permitted}");
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

#[test]
fn every_fixture_has_a_sound_page() {
    let names = ["ring-deadlock", "demo-lossy", "demo-slack", "demo-now36", "demo-nacks", "link-2"];
    names.into_iter().for_each(|name| _ = page(&[&capture(name)]));
    // Links with virtual channels are selected too; a fibre has no channels.
    let dateline = page(&[&capture("demo-dateline")]);
    assert!(dateline.contains(": nothing found; data") && !dateline.contains(": not selected"));
    assert!(page(&[&capture("demo-campus")]).contains(": a fibre, not captured; data"));
    let page = page(&[&capture("demo-self-healing")]);
    let (_, mapping) = page.split_once("<section id=\"mapping\">").unwrap();
    assert!(mapping.contains("\n00:60:dd:00:00:10       2     16687.0"), "{mapping:.2000}");
}

#[test]
fn the_network_at_moments_that_matter_stands_in_the_page() {
    let page = page(&[&capture("ring-deadlock")]);
    // The four switches of the ring wait for each other from 1.7875 µs on.
    let (_, still) = page.split_once("id=\"t=1.7875us\"").unwrap();
    let (still, _) = still.split_once("</figure>").unwrap();
    assert!(still.contains("<b>a cycle of waits closes"), "{still}");
    let (_, ring) = still.split_once("<g class=\"ring\">").unwrap();
    assert_eq!(ring.split_once("</g>").unwrap().0.matches("<use ").count(), 4);
    assert_eq!(still.matches("class=\"worm-head stopped\"").count(), 4);
    assert!(!page.contains("are drawn as one"));
    // All links of the cycle are marked, not that of the finding alone.
    let one = self::page(&[&capture("ring-deadlock"), "--filter", "finding == deadlock"]);
    assert_eq!(one.matches("class=\"edge error\" stroke").count(), 4);
}

#[test]
fn a_long_capture_is_thinned_out_and_the_page_says_so() {
    let directory = ScratchDirectory::new("report-long");
    let text = "duration_us = 8000\n[[tap]]\nall = true\n[[traffic]]\nto = 'shift'\npayload = 16\n\
                every_us = 1\n[topology]\nkind = 'mesh'\nwidth = 2\nheight = 1\n";
    let file = directory.simulate(text);
    let intervals = good(&["links", "--intervals", &file, "--format", "jsonl"]);
    assert!(intervals.lines().count() > 64_000, "{}", intervals.lines().count());
    let page = page(&[&file]);
    let packets = page.split_once("data-packets=\"").unwrap().1.split_once('"').unwrap().0;
    assert_eq!(packets.split(';').count(), 4096);
    for words in ["Changes of a channel within ", " more packets, not drawn", "at least "] {
        assert!(page.contains(words), "{words}");
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
        let page = String::from_utf8_lossy(&output.stdout);
        assert!(page.contains(&format!(" on {date}.")), "{date}");
    }
}

/// Output of Chromium for a page, if it is installed.
#[expect(clippy::print_stdout, reason = "a test that checks nothing does not go unnoticed")]
fn chromium(directory: &ScratchDirectory, html: &str, options: &[&str]) -> Option<Output> {
    let mut browser = Command::new("chromium");
    browser.args(["--headless=new", "--no-sandbox", "--disable-gpu"]).args(options);
    browser.arg(format!("--user-data-dir={}", directory.file("profile")));
    let output = browser.arg(format!("file://{html}")).output().ok();
    if output.is_none() {
        println!("skipped: no chromium");
    }
    output
}

/// Sums and quotients of the packets and of the 500 µs that are recorded; 64 of the 72 hosts of a mesh have a row.
#[test]
fn a_brief_page_has_five_figures_of_each_host_and_is_one_sheet() {
    let directory = ScratchDirectory::new("brief");
    let scenario = "duration_us = 100\ntopology = { kind = 'mesh', width = 9, height = 8, hosts_per_switch = 1 }\n\
                    tap = [{ all = true }]\n[[traffic]]\nto = 'uniform'\npayload = 300\nload = 0.3\n";
    let mesh = directory.simulate(scenario);
    let now36 = capture("demo-now36");
    let brief = page(&[&now36, "--brief"]);
    let table = ["--format", "csv", "--no-head", "--fields", "source,destination,bytes"];
    let flows = good(&[&["flows", &now36], &table[..]].concat());
    let bytes = |place: usize| {
        let rows = flows.lines().map(|line| line.split(',').collect::<Vec<_>>());
        let own = rows.filter(|row| row[place] == "h0");
        own.map(|row| row[2].parse::<f64>().unwrap()).sum::<f64>()
    };
    let [sent, received] = [0, 1].map(|place| format!("{:.1}", bytes(place) / 500.0));
    let row = format!("<b>h0</b><span>{sent}</span><span>{received}</span>");
    assert!(brief.contains(&row), "{row}: {brief}");
    let ring = capture("ring-deadlock");
    for (name, file, hosts) in [("mesh", &mesh, 64), ("now36", &now36, 2), ("ring", &ring, 4)] {
        let page = page(&[file, "--brief"]);
        assert!(page.contains(COLOURS.trim_end()), "{page}");
        assert_eq!(page.matches("<div class=\"row\"><b>").count(), hosts, "{page}");
        let html = directory.write(&format!("{name}.html"), page.as_bytes());
        let print = format!("--print-to-pdf={}", directory.file(&format!("{name}.pdf")));
        if chromium(&directory, &html, &["--no-pdf-header-footer", &print]).is_none() {
            return;
        }
        let pdf = directory.read(&format!("{name}.pdf"));
        let pages = String::from_utf8_lossy(&pdf).matches("/Type /Page\n").count();
        assert_eq!(pages, 1, "{name}");
    }
}

/// Uses a page in Chromium, if it is installed, as `report_clicks.js` does: sorting, filtering, zoom, hover, links.
#[test]
fn a_reader_sorts_filters_zooms_and_follows_links() {
    let directory = ScratchDirectory::new("report-browser");
    let script = include_str!("report_clicks.js");
    let permitted = format!("script-src 'sha256-{}' '", base64(&Sha256::digest(script)));
    let page = page(&[&capture("ring-deadlock")]).replace("script-src '", &permitted);
    let page = page.replace("</body>", &format!("<script>{script}</script></body>"));
    let html = directory.write("page.html", page.as_bytes());
    let dump = ["--virtual-time-budget=5000", "--dump-dom"];
    let Some(output) = chromium(&directory, &html, &dump) else { return };
    let dom = String::from_utf8_lossy(&output.stdout);
    let (_, checks) = dom.split_once("id=\"checks\">").expect("the script of the page ended early");
    let (checks, _) = checks.split_once("</pre>").unwrap();
    assert!(checks.lines().all(|line| line.starts_with("ok ")), "{checks}");
    assert!(checks.lines().count() > 20, "{checks}");
}

#[test]
fn what_was_not_recorded_or_is_not_selected_is_said() {
    let directory = ScratchDirectory::new("told");
    let (whole, half) = (capture("demo-contention"), directory.file("half"));
    good(&["slice", &whole, "--channel", "h0:0>s0:0,h1:0>s0:1", "-o", &half]);
    let told = ["stops cannot be told", "stopped 0.0 %"];
    for (file, expected) in [(&whole, [false, true]), (&half, [true, false])] {
        for options in [&[&**file][..], &[file, "--brief"]] {
            let page = page(options);
            assert_eq!(told.map(|text| page.contains(text)), expected, "{options:?}");
        }
    }
    let notes = page(&[&capture("link-1"), "--brief", "--filter", "severity == note"]);
    let result = "Nothing wrong in the selection, 4 notes (2 errors, 3 warnings elsewhere)";
    assert!(notes.contains(result), "{notes}");
}

#[test]
fn pieces_of_a_capture_give_its_page() {
    let directory = ScratchDirectory::new("pieces");
    let (whole, [a, b]) = (capture("demo-cut"), ["a", "b"].map(|name| directory.file(name)));
    good(&["slice", &whole, "--to", "20us", "-o", &a]);
    good(&["slice", &whole, "--from", "20us", "-o", &b]);
    let channels = |page: String| {
        let (_, table) = page.split_once("id=\"channel-table\"").unwrap();
        table.split_once("</table>").unwrap().0.to_owned()
    };
    assert_eq!(channels(page(&[&a, &b, "--join"])), channels(page(&[&whole])));
}
