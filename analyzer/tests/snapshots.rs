//! Every published fixture as a person sees it.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test reads files, and stops if it cannot go on"
)]

use std::fs::File;

use analyzer::text::{View, render};

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
    everywhere("links", &[View::Links]);
}

#[test]
fn slack_buffers() {
    everywhere("slack", &[View::Slack]);
}

#[test]
fn networks_and_waits() {
    everywhere("network", &[View::Topology, View::Blocking]);
}

/// Views of every fixture, those of whole networks too.
fn everywhere(name: &str, views: &[View]) {
    insta::glob!("../../fixtures", "*/capture.pcapng", |path| {
        let text: Vec<String> =
            views.iter().map(|view| render(File::open(path).unwrap(), *view)).collect();
        insta::with_settings!({ omit_expression => true }, {
            insta::assert_snapshot!(name, text.join("\n"));
        });
    });
}
