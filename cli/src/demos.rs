//! The scenarios that are built in. Each has its file, and a capture of it, in `fixtures/demo-NAME`.

use crate::demo::{Demo, Measure, Run};
use crate::statistics::{percent, time};

/// All of them.
pub(crate) static DEMOS: [Demo; 9] = [
    Demo {
        name: "two-hosts",
        title: "two hosts and a switch: packets on their way",
        text: "A packet moves on as soon as its first byte is decoded and its output is free (S-3). The switch\n\
               takes the byte that it has used (P-3) and corrects the CRC byte (P-5).",
        scenario: include_str!("../../fixtures/demo-two-hosts/scenario.toml"),
        events: &["injected", "forwarded", "consumed"],
        measures: |_| Vec::new(),
    },
    Demo {
        name: "contention",
        title: "three hosts send to a fourth through one output",
        text: "",
        scenario: include_str!("../../fixtures/demo-contention/scenario.toml"),
        events: &["injected", "forwarded", "consumed"],
        measures: |_| Vec::new(),
    },
    Demo {
        name: "ring",
        title: "a ring of switches that deadlocks, and is freed by the timeouts",
        text: "",
        scenario: include_str!("../../fixtures/demo-ring/scenario.toml"),
        events: &[
            "injected",
            "forwarded",
            "consumed",
            "blocked",
            "forward-reset",
            "reset-ended",
            "dropped",
            "truncated",
            "sender-stopped",
            "sender-resumed",
        ],
        measures: |_| Vec::new(),
    },
    Demo {
        name: "cut",
        title: "a cable that is cut in mid-packet",
        text: "",
        scenario: include_str!("../../fixtures/demo-cut/scenario.toml"),
        events: &[
            "injected",
            "forwarded",
            "consumed",
            "fault",
            "open-link",
            "link-restored",
            "dropped",
            "truncated",
        ],
        measures: |_| Vec::new(),
    },
    Demo {
        name: "lost-gap",
        title: "a GAP that is lost, so that two packets become one",
        text: "",
        scenario: include_str!("../../fixtures/demo-lost-gap/scenario.toml"),
        events: &["injected", "forwarded", "consumed", "fault", "merged", "dropped", "truncated"],
        measures: |_| Vec::new(),
    },
    Demo {
        name: "open-wire",
        title: "an open wire: every 1 on it arrives as a 0",
        text: "",
        scenario: include_str!("../../fixtures/demo-open-wire/scenario.toml"),
        events: &["fault", "corrected-code", "invalid-code", "consumed"],
        measures: |_| Vec::new(),
    },
    Demo {
        name: "slack",
        title: "a slack buffer that is too short for its cable",
        text: "",
        scenario: include_str!("../../fixtures/demo-slack/scenario.toml"),
        events: &["threshold", "overflow", "consumed", "overrun-alarm", "truncated", "merged"],
        measures: |_| Vec::new(),
    },
    Demo {
        name: "adversary",
        title: "a sink that provokes the most STOP and GO",
        text: "",
        scenario: include_str!("../../fixtures/demo-adversary/scenario.toml"),
        events: &["threshold"],
        measures: |_| Vec::new(),
    },
    Demo {
        name: "now36",
        title: "36 hosts of the Berkeley NOW, uniform random traffic",
        text: "",
        scenario: include_str!("../../fixtures/demo-now36/scenario.toml"),
        events: &["forwarded"],
        measures: |_| Vec::new(),
    },
];
