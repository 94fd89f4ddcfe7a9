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
