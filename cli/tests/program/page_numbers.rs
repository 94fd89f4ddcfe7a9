//! Numbers on the page of `report`, held digit by digit against the JSON of the commands: pages of captures of random
//! networks, whole and cut, and of fixtures.

#![expect(clippy::indexing_slicing, reason = "a test that cannot go on stops")]

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fs;

use serde_json::Value;

use crate::recount::{captures, rows};
use crate::report::page;
use crate::support::{ScratchDirectory, capture, capture_bytes, fixture};

/// Tables of the page, the command that prints their rows, and of each cell the members of the row: one, or two with
/// `%` for their share in millionths, the sign of a sum, difference or product, or a word between them.
const TABLES: [(&str, &[&str], &str); 4] = [
    (
        "channel-table",
        &["links"],
        "/channel;/mbit_s;/characters;/data % /characters;/packets/count;/packets/crc/bad + /packets/crc/runt;\
         /stops/count;/stops/periods % /all;/stops/longest * /period_ps;/states/open/periods % /all;/invalid;/holes",
    ),
    (
        "buffer-table",
        &["links", "--slack"],
        "/channel;/cells;/assumed/kg;/assumed/kg + /assumed/h;/low_water_lo to /low_water_hi;\
         /high_water_lo to /high_water_hi;/known % /periods;/stops;/late;/overrun_risks;/contradictions",
    ),
    (
        "conversation-table",
        &["conversations"],
        "/source → /destination;/logical_channel;/messages;/acknowledged;/data;/retransmissions;/nacks;/duplicates;\
         /broken;/rtt/min_ps;/rtt/mean_ps;/rtt/max_ps;/history",
    ),
    ("rules", &["check", "--rules"], "/rule;/times;/findings"),
];

/// Activities by their letters in the data of the script.
const LETTERS: &str = "U unknown O open R reset S stopped D sending V starved I idle";

/// Units of the page, in millionths and in picoseconds.
const UNITS: [(&str, u128); 5] = [
    ("%", 10_000),
    ("ns", 1000),
    ("µs", 1_000_000),
    ("ms", 1_000_000_000),
    ("s", 1_000_000_000_000),
];

fn number(row: &Value, path: &str) -> u64 {
    row.pointer(path).and_then(Value::as_u64).unwrap()
}

fn text(row: &Value, path: &str) -> String {
    row.pointer(path).and_then(Value::as_str).unwrap().to_owned()
}

/// A cell of a table, of its members in a row.
fn cell(row: &Value, members: &str) -> String {
    let words: Vec<&str> = members.split(' ').collect();
    let value = |path: &str| row.pointer(path).filter(|it| !it.is_null());
    let values: Option<Vec<&Value>> = words.iter().step_by(2).map(|path| value(path)).collect();
    let Some(values) = values else { return "–".to_owned() };
    let numbers: Vec<u64> = values.iter().filter_map(|it| it.as_u64()).collect();
    match (words.get(1), &numbers[..]) {
        (Some(&"%"), [part, whole]) => {
            (part * 1_000_000).checked_div(*whole).unwrap_or(0).to_string()
        }
        (Some(&"-"), [one, other]) => (one - other).to_string(),
        (Some(&"+"), [one, other]) => (one + other).to_string(),
        (Some(&"*"), [one, other]) => (one * other).to_string(),
        (Some(&"to"), [one, other]) if one == other => one.to_string(),
        (Some(word), [one, other]) => format!("{one} {word} {other}"),
        _ => values[0].as_str().map_or_else(|| values[0].to_string(), clipped),
    }
}

/// A row of `links` with its rate and all its periods, and without stops that are not known.
fn completed(mut row: Value) -> Value {
    if let Some(states) = row["states"].as_object() {
        row["all"] = states.values().map(|it| number(it, "/periods")).sum::<u64>().into();
        row["mbit_s"] = (8_000_000 / number(&row, "/period_ps")).into();
        if row["stops"]["count"] == 0 {
            row["stops"]["longest"] = Value::Null;
        }
        if row["peer"].is_null() {
            row["stops"] = Value::Null;
        }
    }
    row
}

/// A history of the page, which has at most 80 characters.
fn clipped(text: &str) -> String {
    let cut = text.char_indices().nth(80).map(|(at, _)| format!("{}…", &text[..at]));
    cut.unwrap_or_else(|| text.to_owned())
}

/// The exact number of an element, once its text was found to be the first digits of it; else its text.
fn exact(element: &str) -> String {
    let (tag, text) = element.split_once('>').unwrap();
    let text = plain(text.split_once('<').map_or(text, |(text, _)| text));
    let Some((_, exact)) = tag.split_once("data-v=\"") else { return text };
    let exact = exact.split_once('"').unwrap().0.to_owned();
    let Ok(number) = exact.parse::<u128>() else { return text };
    if text == "<0.1 %" {
        assert!(number < 1000, "{element}");
        return exact;
    }
    let (digits, unit) = text.split_once(' ').unwrap();
    let unit = UNITS.iter().find(|it| it.0 == unit).unwrap().1;
    let decimals = digits.split_once('.').map_or(0, |(_, fraction)| fraction.len());
    let shown: u128 = digits.replace('.', "").parse().unwrap();
    let scale = 10_u128.pow(u32::try_from(decimals).unwrap());
    assert_eq!(number * scale / unit, shown, "{element}");
    exact
}

fn plain(text: &str) -> String {
    let escapes = [("&#62;", ">"), ("&#60;", "<"), ("&lt;", "<"), ("&#39;", "'"), ("&#38;", "&")];
    escapes.iter().fold(text.to_owned(), |text, (escape, sign)| text.replace(escape, sign))
}

/// Text between two others.
fn between<'p>(page: &'p str, from: &str, to: &str) -> Option<&'p str> {
    Some(page.split_once(from)?.1.split_once(to).unwrap().0)
}

/// Cells of a table without its head.
fn table(page: &str, id: &str) -> Vec<Vec<String>> {
    let rows = between(page, &format!("<table id=\"{id}\""), "</table>").unwrap_or_default();
    let rows = rows.split("<tr").skip(2);
    rows.map(|row| row.split("<td").skip(1).map(exact).collect()).collect()
}

fn list(command: &[&str], file: &str) -> Vec<Value> {
    rows(&[command, &[file]].concat()).into_iter().map(|row| labelled(row.into())).collect()
}

/// A row whose channels are called as on the page: with their capture, if that is not the first.
fn labelled(mut row: Value) -> Value {
    let capture = row["capture"].as_u64().unwrap_or_default();
    let hops = row.get("hops").map_or(0, |hops| hops.as_array().unwrap().len());
    let places = (0..hops).map(|hop| format!("/hops/{hop}/channel")).chain(["/channel".to_owned()]);
    for place in places.filter(|_| capture > 0) {
        let channel = row.pointer_mut(&place).filter(|it| it.is_string());
        channel
            .into_iter()
            .for_each(|it| *it = format!("{} (capture {capture})", it.as_str().unwrap()).into());
    }
    row
}

/// Fixtures with deadlocks, conversations, stops, two clocks and channels that end early, and random captures.
fn check_pages(check: impl Fn(&str, &str)) {
    let directory = ScratchDirectory::new(&format!("pages-{:?}", std::thread::current().id()));
    let fixtures =
        ["ring-deadlock", "demo-self-healing", "demo-contention", "demo-clocks", "demo-cut"];
    // One file whose captures have trouble of different kinds.
    let several = ["busy", "overrun-risk", "retransmission-storm", "two-outstanding"];
    let several =
        several.map(|name| fs::read(fixture(&format!("findings/{name}.pcapng"))).unwrap());
    let several =
        directory.write("several", &[several.concat(), capture_bytes("demo-slack")].concat());
    for file in fixtures.map(capture).into_iter().chain(captures(&directory)).chain([several]) {
        check(&file, &page(&[&file]));
    }
}

#[test]
fn tables_have_the_numbers_of_the_commands() {
    check_pages(|file, page| {
        for (id, command, cells) in TABLES {
            let rows = list(command, file).into_iter().map(completed);
            let rows = rows.filter(|row| row["row"] != "finding" && row["periods"] != 0);
            let mut expected: Vec<Vec<String>> = rows
                .map(|row| cells.split(';').map(|members| cell(&row, members)).collect())
                .collect();
            let mut found = table(page, id);
            if id == "rules" {
                assert!(found.is_sorted_by_key(|row| !row[1].starts_with("✗ fail")), "{file}");
                found.iter_mut().for_each(|row| *row = [0, 2, 3].map(|at| row[at].clone()).into());
            }
            // Those with trouble come first: by sums of these columns.
            let ranks: &[&[usize]] = match id {
                "buffer-table" => &[&[8, 9], &[10], &[7]],
                "conversation-table" => &[&[8], &[5], &[6]],
                _ => &[],
            };
            assert!(found.is_sorted_by_key(|row: &Vec<String>| {
                let number = |at: &usize| row[*at].parse::<u64>().unwrap();
                let ranks = ranks.iter().map(|rank| rank.iter().map(number).sum::<u64>());
                Reverse(ranks.collect::<Vec<_>>())
            }));
            found.sort();
            expected.sort();
            assert_eq!(found, expected, "{id} of {file}");
        }
    });
}

#[test]
fn the_head_and_the_findings_have_the_numbers_of_the_commands() {
    check_pages(|file, page| {
        let (info, links) = (list(&["info"], file), list(&["links"], file));
        let sum = |rows: &[Value], path| rows.iter().map(|row| number(row, path)).sum::<u64>();
        let recorded: Vec<&Value> = info.iter().filter(|row| !row["time_ps"].is_null()).collect();
        let from = recorded.iter().map(|row| number(row, "/time_ps")).min().unwrap();
        let to = recorded.iter().map(|row| number(row, "/end_ps") + number(row, "/period_ps"));
        let head = between(page, "<dl>", "</dl>").unwrap();
        let head: Vec<String> =
            head.split("<dd>").skip(1).map(|it| exact(&format!(">{it}"))).collect();
        let counts = [info.len() as u64, sum(&info, "/characters"), sum(&links, "/packets/count")];
        assert_eq!(head[..3], counts.map(|it| it.to_string()), "{file}");
        let length = to.max().unwrap() - from;
        for (time, text) in [from, length].iter().zip(&head[3..]) {
            exact(&format!(" data-v=\"{time}\">{text}"));
        }
        let lanes = format!("data-from=\"{from}\" data-length=\"{length}\"");
        assert!(page.contains(&lanes), "{lanes} of {file}");
        let findings = list(&["check"], file);
        let mut expected: BTreeMap<String, (u64, Vec<[String; 3]>)> = BTreeMap::new();
        for row in findings.iter().filter(|row| row["row"] == "finding") {
            let card = format!("{} {}", text(row, "/severity"), text(row, "/finding"));
            let (count, places) = expected.entry(card).or_default();
            *count += number(row, "/count");
            let numbers = ["/count", "/time_ps"].map(|path| number(row, path).to_string());
            let [count, time] = numbers;
            places.push([text(row, "/channel"), count, time]);
        }
        let cards = page.split("<article class=\"card ").skip(1).map(|card| {
            let (severity, rest) = card.split_once("\" id=\"f-").unwrap();
            let name = format!("{severity} {}", rest.split_once('"').unwrap().0);
            let count = between(card, ", ", " ×").unwrap().parse().unwrap();
            let places =
                between(card, "<ul class=\"places\">", "</ul>").unwrap().split("<li>").skip(1);
            let places = places.map(|place| {
                let count = between(place, "</b> ", " ×").unwrap();
                let time = between(place, "data-v=\"", "\"").unwrap();
                [plain(between(place, "\"name\">", "<").unwrap()), count.into(), time.into()]
            });
            (name, (count, places.collect::<Vec<_>>()))
        });
        expected.values_mut().for_each(|(_, places)| places.truncate(12));
        assert_eq!(cards.collect::<BTreeMap<_, _>>(), expected, "{file}");
    });
}

#[test]
fn latencies_are_those_of_the_journeys() {
    check_pages(|file, page| {
        let journeys = list(&["journeys"], file);
        let mut fates: BTreeMap<String, u64> = BTreeMap::new();
        journeys.iter().for_each(|row| *fates.entry(text(row, "/fate")).or_default() += 1);
        let section = between(page, "<section id=\"latency\">", "</section>").unwrap_or_default();
        let shown = section.split("<b>").skip(1).map(|it| {
            let (count, fate) = it.split_once("</b> ").unwrap();
            (fate.split_once('<').unwrap().0.to_owned(), count.parse().unwrap())
        });
        assert_eq!(shown.collect::<BTreeMap<_, u64>>(), fates, "{file}");
        let hops = |row: &Value| row["hops"].as_array().unwrap().len();
        let mut times: Vec<u64> = Vec::new();
        times.extend(
            journeys.iter().filter(|row| hops(row) > 1).map(|it| number(it, "/latency_ps")),
        );
        times.sort_unstable();
        let Some(summary) = between(section, "last: least ", "</p>") else {
            assert!(times.is_empty(), "{file}: {section}");
            return;
        };
        let rank = |percent: usize| times[(times.len() * percent).div_ceil(100).max(1) - 1];
        let mean = times.iter().sum::<u64>() / times.len() as u64;
        let words = ["median ", "mean ", "90 % ", "99 % ", "most "];
        let shown = words.iter().fold(summary.to_owned(), |it, word| it.replace(word, ""));
        for (time, shown) in
            [rank(0), rank(50), mean, rank(90), rank(99), rank(100)].iter().zip(shown.split(", "))
        {
            exact(&format!(" data-v=\"{time}\">{shown}"));
        }
        let bars = section.split("<title>").skip(1);
        let bars =
            bars.map(|bar| between(bar, ": ", "</title>").unwrap().parse::<usize>().unwrap());
        assert_eq!(bars.sum::<usize>(), times.len(), "{file}");
    });
}

/// Activities and packets that the script draws, as numbers of base 36 from the beginning of the pictures.
#[test]
fn the_network_over_time_is_that_of_the_commands() {
    check_pages(|file, page| {
        let data = between(page, "<div id=\"moment-data\"", "></div>").unwrap();
        let attribute = |name: &str| between(data, &format!("{name}=\""), "\"").unwrap();
        let begin: u64 = attribute("data-from").parse().unwrap();
        let base36 = |text: &str| u64::from_str_radix(text, 36).unwrap();
        let intervals = list(&["links", "--intervals"], file);
        let links = list(&["links"], file);
        let mut tracks = Vec::new();
        for track in page.split(" class=\"track\" data-s=\"").skip(1) {
            let channel = plain(between(track, "<title>", "</title>").unwrap());
            let period = links.iter().find(|row| row["channel"] == *channel).unwrap();
            let period = number(period, "/period_ps");
            let own: Vec<&Value> =
                intervals.iter().filter(|row| row["channel"] == *channel).collect();
            let runs = track.split_once('"').unwrap().0;
            let (first, _) = runs.split_once(char::is_uppercase).unwrap();
            assert_eq!(begin + base36(first), number(own[0], "/time_ps"), "{channel} of {file}");
            for state in LETTERS.split_whitespace().collect::<Vec<_>>().chunks(2) {
                let [letter, state] = [state[0], state[1]];
                let runs = runs.split(letter).skip(1);
                let runs = runs.map(|it| base36(it.split(char::is_uppercase).next().unwrap()));
                let rows = own.iter().filter(|row| row["state"] == state);
                let periods: u64 = rows.map(|row| number(row, "/periods")).sum();
                assert_eq!(runs.sum::<u64>(), periods * period, "{channel} {state} of {file}");
            }
            tracks.push((channel, period));
        }
        // By number and first channel, as each capture counts its own.
        let packets = attribute("data-packets").split(';').filter_map(|it| it.split_once(' '));
        let packets = packets.map(|(number, rest)| {
            let shown: Vec<&str> = rest.split(' ').collect();
            ((number.parse().unwrap(), shown[1].parse().unwrap()), shown)
        });
        let mut packets: BTreeMap<(u64, usize), Vec<&str>> = packets.collect();
        for row in list(&["journeys"], file) {
            let hops = row["hops"].as_array().unwrap();
            let first = text(&hops[0], "/channel");
            let first = tracks.iter().position(|(channel, _)| *channel == first).unwrap();
            let shown = packets.remove(&(number(&row, "/journey"), first)).unwrap();
            assert_eq!((row["fate"].as_str(), shown.len()), (Some(shown[0]), 1 + 3 * hops.len()));
            for (hop, shown) in hops.iter().zip(shown[1..].chunks(3)) {
                let (channel, period) = &tracks[shown[0].parse::<usize>().unwrap()];
                let [from, length] = [1, 2].map(|at| base36(shown[at]));
                let place = (&**channel, begin + from);
                let found = (text(hop, "/channel"), number(hop, "/time_ps"));
                assert_eq!((found.0.as_str(), found.1), place, "{row}");
                // Its end is known at the GAP, and where it was cut with the link.
                assert!(length >= (number(hop, "/end") - number(hop, "/start")) * period, "{row}");
            }
        }
        assert!(packets.is_empty(), "{packets:?}");
    });
}
