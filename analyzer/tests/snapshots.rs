//! Every published fixture as a person sees it.

use std::fs::File;

use myriscope_analyzer::snapshot::{SnapshotView, render};

fn check(name: &str, view: SnapshotView) {
    insta::glob!("../../fixtures", "link-*/capture.pcapng", |path| {
        insta::assert_snapshot!(name, render(File::open(path).unwrap(), view));
    });
}

#[test]
fn info() {
    check("info", SnapshotView::Info);
}

#[test]
fn packets() {
    check("packets", SnapshotView::Packets);
}

#[test]
fn events() {
    check("events", SnapshotView::Events);
}

#[test]
fn show() {
    check("show", SnapshotView::Show);
}

#[test]
fn links() {
    everywhere("links", &[SnapshotView::Links]);
}

#[test]
fn slack_buffers() {
    everywhere("slack", &[SnapshotView::Slack]);
}

#[test]
fn networks_and_waits() {
    everywhere("network", &[SnapshotView::Topology, SnapshotView::Blocking]);
}

/// Views of every fixture, those of whole networks too.
fn everywhere(name: &str, views: &[SnapshotView]) {
    insta::glob!("../../fixtures", "*/capture.pcapng", |path| {
        let text: Vec<String> =
            views.iter().map(|view| render(File::open(path).unwrap(), *view)).collect();
        insta::with_settings!({ omit_expression => true }, {
            insta::assert_snapshot!(name, text.join("\n"));
        });
    });
}
