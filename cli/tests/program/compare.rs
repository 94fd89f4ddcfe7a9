//! `compare`: figures of two captures.

use std::collections::BTreeMap;

use crate::support::{
    COLOURS, ScratchDirectory, capture, fixture, good, gzip, json_lines, piped, refused, run,
};

#[test]
fn a_capture_has_the_figures_of_itself() {
    for name in ["demo-lossy", "demo-now36", "demo-cut", "virtual-channels", "link-14"] {
        let said = good(&["compare", &capture(name), &capture(name), "--threshold", "0"]);
        assert!(said.starts_with("✓ none of ") && said.lines().count() == 1, "{name}: {said}");
    }
}

/// All packets arrive; those that were hurt on the cable are corrupt.
#[test]
fn the_harmed_of_a_host_are_a_share_of_its_packets() {
    let file = &capture("demo-lossy");
    for flow in json_lines(&good(&["flows", file, "--format", "jsonl"])) {
        let filter = format!("measure == harmed && name == {}", flow["source"].as_str().unwrap());
        let told =
            good(&["compare", file, "--fields", "a", "--format", "csv", "--filter", &filter]);
        let told: f64 = told.lines().nth(1).unwrap().parse().unwrap();
        let [corrupt, packets] = ["corrupt", "packets"].map(|name| flow[name].as_f64().unwrap());
        assert!((told - corrupt / packets).abs() < 1e-5, "{flow}: {told}");
    }
}

/// Bytes that journeys carry from and to a host, in the time recorded of it. S-9: of copies, a payload is sent once.
#[test]
fn hosts_send_and_receive_what_the_journeys_carry() {
    let directory = ScratchDirectory::new("compared-hosts");
    let [early, back, part] = ["early", "back", "part"].map(|name| directory.file(name));
    let lossy = capture("demo-lossy");
    good(&["slice", &lossy, "-o", &early, "--channel", "h0:0>s0:0", "--to", "900us"]);
    good(&["slice", &lossy, "-o", &back, "--channel", "s0:0>h0:0", "--to", "2000us"]);
    good(&["merge", &early, &back, "-o", &part]);
    let copies = fixture("multicast/copies.pcapng");
    for (file, times) in [(&part, [0.0009, 0.002]), (&copies, [0.0001; 2])] {
        let rows =
            |words: &[&str]| json_lines(&run(&[words, &[file, "--format", "jsonl"]].concat()).out);
        let mut payloads = BTreeMap::<(String, bool), BTreeMap<u64, f64>>::new();
        for journey in rows(&["journeys"]) {
            let hops = journey["hops"].as_array().unwrap();
            let ends = [
                (&hops[0], 0, &hops[0]["packet"]),
                (&hops[hops.len() - 1], 2, &journey["journey"]),
            ];
            for (hop, end, copy) in ends {
                let host = hop["channel"].as_str().unwrap().split(['>', ':']).nth(end).unwrap();
                let all = payloads.entry((host.to_owned(), end > 0)).or_default();
                all.insert(copy.as_u64().unwrap(), journey["payload"].as_f64().unwrap());
            }
        }
        for figure in rows(&["compare", "--filter", "measure == sent || measure == received"]) {
            let is_received = figure["measure"] == "received";
            let all = payloads.get(&(figure["name"].as_str().unwrap().to_owned(), is_received));
            let all = all.map_or(0.0, |all| all.values().sum::<f64>());
            let [rate, time] = ["a", "recorded_a_s"].map(|name| figure[name].as_f64().unwrap());
            assert!((rate * time - all).abs() <= 1e-5 * all, "{all}: {figure}");
            assert_eq!(time, times[usize::from(is_received)], "{figure}");
        }
    }
}

/// Two runs of one scenario that lose other packets.
fn two_days(directory: &ScratchDirectory) -> [String; 2] {
    let (scenario, today) = (fixture("demo-lossy/scenario.toml"), directory.file("today"));
    good(&["simulate", &scenario, "--seed", "77", "-o", &today]);
    [capture("demo-lossy"), today]
}

#[test]
fn what_differs_between_two_captures_is_listed_and_is_a_problem() {
    let directory = ScratchDirectory::new("compare");
    let [yesterday, today] = &two_days(&directory);
    let differs = run(&["compare", yesterday, today]);
    assert_eq!((differs.status, &*differs.err), (Some(1), ""));
    insta::assert_snapshot!(differs.out);
    // New findings are a problem however large the threshold is.
    let new = run(&["compare", yesterday, today, "--threshold", "9"]);
    assert!(new.out.starts_with("✗ 2 findings new, 0 of 34 figures differ by more than 900 %\n"));
    let back = run(&["compare", today, yesterday, "--filter", "verdict == gone", "--count"]);
    assert_eq!(back.out, "2\n");
    // A table stands for its capture.
    let table = good(&["compare", yesterday, "--format", "jsonl"]);
    assert_eq!(piped(&["compare", "-", today], table.as_bytes()).out, differs.out);
    for bytes in [gzip(table.as_bytes()), table.into_bytes()] {
        let table = directory.write("yesterday.jsonl", &bytes);
        assert_eq!(run(&["compare", &table, today]).out, differs.out);
    }
    let page = directory.file("page.html");
    assert_eq!(run(&["compare", yesterday, today, "-o", &page]).out, differs.out);
    let page = directory.text("page.html");
    let headline = differs.out.lines().next().unwrap();
    assert!(page.contains(&format!(">{headline}</p>")), "{page}");
    assert_eq!(page.matches("<tr><td>").count(), 34, "{page}");
    assert_eq!(page.matches("<td>new</td>").count(), 2);
    assert!(page.contains(COLOURS.trim_end()), "{page}");
}

#[test]
fn what_was_not_recorded_is_not_told() {
    let directory = ScratchDirectory::new("compared-part");
    let (whole, part) = (capture("demo-lossy"), directory.file("part"));
    for cut in [&["--to", "20us"][..], &["--channel", "h0:0>s0:0"]] {
        good(&[&["slice", &whole, "-o", &part], cut].concat());
        for files in [[&whole, &part], [&part, &whole]] {
            let compare = |more: &[&str]| run(&[&["compare", files[0], files[1]], more].concat());
            let findings = compare(&["--filter", "subject == finding", "--format", "jsonl"]);
            let lines: Vec<&str> = findings.out.lines().collect();
            assert!(lines.len() >= 6, "{}", findings.out);
            let is_not_told = |line: &&str| line.contains("\"verdict\":\"not-told\"");
            // A capture of one direction has a note that says so; the other one shows both.
            let [told, not_told]: [Vec<&str>; 2] = [true, false]
                .map(|it| lines.iter().filter(|line| is_not_told(line) != it).copied().collect());
            assert!(told.iter().all(|line| line.contains("one-way")), "{told:?}");
            assert!(not_told.len() >= 6, "{not_told:?}");
        }
    }
    // The two findings of the last microseconds are behind the cut.
    good(&["slice", &whole, "-o", &part, "--to", "2910us"]);
    let shorter = run(&["compare", &whole, &part, "--filter", "verdict == gone", "--count"]);
    assert_eq!(shorter.out, "0\n");
    let elsewhere = run(&["compare", &whole, &capture("link-14")]);
    assert_eq!(elsewhere.status, Some(0), "{}", elsewhere.out);
    assert!(elsewhere.out.starts_with("? nothing can be compared: no figure is told of both\n"));
}

#[test]
fn what_cannot_be_compared_is_named_and_not_offered() {
    let directory = ScratchDirectory::new("not-compared");
    let file = &*capture("demo-cut");
    let table = directory.write("table.jsonl", b"{\"subject\":\"link\"}\n");
    let part = good(&["compare", file, "--filter", "subject == link", "--format", "jsonl"]);
    let part = directory.write("part.jsonl", part.as_bytes());
    let expected = "expected all rows of `compare FILE --format jsonl`";
    refused(&["compare", file, &table], &format!("table.jsonl: line 1: {expected}"));
    refused(&["compare", file, &part], expected);
    for (command, refused) in
        [("compare", "--join --follow --from --to"), ("diff", "--join --follow")]
    {
        let help = good(&[command, "--help"]);
        for option in refused.split(' ') {
            let mut words = help.split([' ', '\n']);
            assert!(words.all(|word| word != option), "{option}: {help}");
        }
    }
}
