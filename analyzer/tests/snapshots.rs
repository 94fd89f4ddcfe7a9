//! Every published fixture as a person sees it.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test reads files, and stops if it cannot go on"
)]

use std::fs::File;

use analyzer::analysis::{Analysis, Told, Wanted};
use analyzer::blocking::trees::Trees;
use analyzer::link::Link;
use analyzer::link::slack::Assumptions;
use analyzer::text::{self, View, render};
use codec::capture::Progress;

fn check(name: &str, view: View) {
    insta::glob!("../../fixtures", "link-*/capture.pcapng", |path| {
        insta::assert_snapshot!(name, render(File::open(path).unwrap(), view));
    });
}

#[test]
fn info() {
    check("info", View::Info);
}

#[test]
fn packets() {
    check("packets", View::Packets);
}

#[test]
fn events() {
    check("events", View::Events);
}

#[test]
fn show() {
    check("show", View::Show);
}

#[test]
fn links() {
    insta::glob!("../../fixtures", "*/capture.pcapng", |path| {
        let file = File::open(path).unwrap();
        let mut analysis = Analysis::new(file, Wanted::Counts, Assumptions::default());
        while analysis.step(&mut |_| {}).unwrap() == Progress::More {}
        let links: Vec<Vec<_>> =
            analysis.links().map(|link| Link::reports(link).collect()).collect();
        let mut lines = Vec::new();
        text::links(&links, &mut |line| lines.push(line.to_string()));
        insta::assert_snapshot!("links", lines.join("\n"));
    });
}

#[test]
fn networks_and_waits() {
    insta::glob!("../../fixtures", "*/capture.pcapng", |path| {
        let file = File::open(path).unwrap();
        let mut analysis = Analysis::new(file, Wanted::Network, Assumptions::default());
        let mut trees = Trees::default();
        let mut out = |told| {
            if let Told::Blocked(blocked) = told {
                trees.add(blocked);
            }
        };
        while analysis.step(&mut out).unwrap() == Progress::More {}
        let mut lines = Vec::new();
        text::topology(&analysis.topology(), &mut |line| lines.push(line.to_string()));
        lines.push(String::new());
        let known = |id| analysis.channel(id);
        text::blocking(&trees, usize::MAX, &known, &mut |line| lines.push(line.to_string()));
        insta::assert_snapshot!("network", lines.join("\n"));
    });
}
