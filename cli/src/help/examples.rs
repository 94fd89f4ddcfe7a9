//! Examples of every command. A test runs all of them, in a directory with the captures and scenarios of the demos.

/// Help of a command beyond its options.
pub(crate) struct CommandHelp {
    pub(crate) name: &'static str,
    /// Meaning of exit status 1, if the command has it.
    pub(crate) status_one: Option<&'static str>,
    /// Command lines, and the meaning of each.
    pub(crate) examples: &'static [(&'static str, &'static str)],
}

pub(crate) const COMMANDS: &[CommandHelp] = &[
    CommandHelp {
        name: "check",
        status_one: Some("there are errors or warnings."),
        examples: &[
            ("myriscope check cut.pcapng", "Findings, and the verdict on each rule"),
            (
                "myriscope check lossy.pcapng --filter 'severity >= warning && rule == P-4'",
                "Only findings about rule P-4",
            ),
            (
                "myriscope check slack.pcapng --assume kg=32,h=16,delay=12",
                "Judge flow control with known parameters of the slack buffers",
            ),
            ("myriscope check cut.pcapng --format json", "The same for a program"),
            (
                "myriscope check lossy.pcapng --each --filter 'finding == crc-bad'",
                "Every packet with a bad CRC",
            ),
        ],
    },
    CommandHelp {
        name: "log",
        status_one: None,
        examples: &[
            ("myriscope log cut.pcapng --from 15us --to 21us", "All that happened in a stretch"),
            (
                "myriscope log slack.pcapng --filter 'kind in {wait-start, wait-end}'",
                "Starts and ends of waits, with their causes",
            ),
        ],
    },
    CommandHelp {
        name: "explain",
        status_one: None,
        examples: &[
            ("myriscope explain F-7", "A rule: text, evidence, limits"),
            ("myriscope explain crc-bad", "A finding: likely causes, and what to look at next"),
            ("myriscope explain GAP", "A term"),
            (
                "myriscope explain crc-bad -o my.pcapng && myriscope check my.pcapng",
                "A small capture that has the finding",
            ),
            ("myriscope explain", "All rules and findings"),
        ],
    },
    CommandHelp {
        name: "links",
        status_one: None,
        examples: &[
            ("myriscope links slack.pcapng", "States of every link over time, with totals"),
            ("myriscope links slack.pcapng --slack", "Fill levels of the slack buffers"),
            (
                "myriscope links ring.pcapng --sort stops.share --top 3 --format csv",
                "The channels whose senders were stopped longest",
            ),
            (
                "myriscope links lossy.pcapng --intervals --filter 'state == stopped'",
                "Every interval in which a sender was stopped",
            ),
        ],
    },
    CommandHelp {
        name: "journeys",
        status_one: None,
        examples: &[
            ("myriscope journeys cut.pcapng", "Route, latency and outcome of every packet"),
            (
                "myriscope journeys now36.pcapng --filter 'fate == dropped || latency_ps > 10us'",
                "Packets that were dropped or slow",
            ),
        ],
    },
    CommandHelp {
        name: "series",
        status_one: None,
        examples: &[
            ("myriscope series now36.pcapng --every 20us", "Every channel, 20 microseconds a row"),
            (
                "myriscope series now36.pcapng --channel root0 --filter 'stopped > 0.5'",
                "When the senders of a switch were stopped most of the time",
            ),
            (
                "myriscope series now36.pcapng --every 100us --format csv",
                "Utilisation and latencies for a plot",
            ),
        ],
    },
    CommandHelp {
        name: "flows",
        status_one: None,
        examples: &[
            ("myriscope flows now36.pcapng --limit 10", "The ten flows with the most bytes"),
            (
                "myriscope flows now36.pcapng --filter 'destination == h0 && latency_p99_ps > 10us'",
                "Slow flows to a host",
            ),
        ],
    },
    CommandHelp {
        name: "conversations",
        status_one: None,
        examples: &[
            ("myriscope conversations lossy.pcapng", "Messages, retransmissions and round trips"),
            (
                "myriscope conversations lossy.pcapng --events --limit 20",
                "The role of each packet in the protocol",
            ),
        ],
    },
    CommandHelp {
        name: "blocking",
        status_one: None,
        examples: &[
            ("myriscope blocking now36.pcapng", "Which sender waited for which, as trees"),
            ("myriscope blocking ring.pcapng --min 1us", "Only waits of a microsecond and more"),
        ],
    },
    CommandHelp {
        name: "topology",
        status_one: None,
        examples: &[
            ("myriscope topology now36.pcapng", "Nodes, ports and links"),
            ("myriscope topology now36.pcapng --format dot", "The same for Graphviz"),
        ],
    },
    CommandHelp {
        name: "info",
        status_one: None,
        examples: &[
            ("myriscope info cut.pcapng", "Counts of each channel"),
            (
                "myriscope info cut.pcapng --filter 'invalid > 0'",
                "Channels with invalid characters",
            ),
        ],
    },
    CommandHelp {
        name: "packets",
        status_one: None,
        examples: &[
            ("myriscope packets cut.pcapng --hex", "Packets with all their bytes"),
            (
                "myriscope packets lossy.pcapng --filter 'crc.bad && length > 100'",
                "Long packets with a bad CRC",
            ),
            (
                "myriscope packets cut.pcapng --fields channel,start,length,route",
                "Some fields only",
            ),
        ],
    },
    CommandHelp {
        name: "events",
        status_one: None,
        examples: &[
            ("myriscope events cut.pcapng", "Resets, silence, flow control, invalid codes"),
            (
                "myriscope events lossy.pcapng --filter 'event == corrected-code'",
                "All corrected control codes",
            ),
        ],
    },
    CommandHelp {
        name: "show",
        status_one: None,
        examples: &[
            ("myriscope show cut.pcapng --from 15us --to 16us", "The characters of a microsecond"),
            (
                "myriscope show cut.pcapng --channel 's0:1>h1:0' --limit 20",
                "One link; quote the name, or the shell redirects the output",
            ),
        ],
    },
    CommandHelp {
        name: "annotate",
        status_one: None,
        examples: &[(
            "myriscope annotate cut.pcapng -o annotated.pcapng",
            "A copy that shows the findings in Wireshark",
        )],
    },
    CommandHelp {
        name: "slice",
        status_one: None,
        examples: &[
            (
                "myriscope slice cut.pcapng --from 15us --to 40us -o part.pcapng",
                "25 microseconds of all channels, for Wireshark or for a report",
            ),
            (
                "myriscope slice cut.pcapng --finding truncated-by-open-link --around 2us -o part.pcapng",
                "The surroundings of a finding",
            ),
        ],
    },
    CommandHelp {
        name: "merge",
        status_one: None,
        examples: &[(
            "myriscope slice cut.pcapng --to 20us -o a && myriscope merge a cut.pcapng -o b.pcapng",
            "Join two recordings of a network; where they overlap they must agree",
        )],
    },
    CommandHelp {
        name: "diff",
        status_one: Some("the captures differ."),
        examples: &[
            ("myriscope diff cut.pcapng open-wire.pcapng", "The first difference on each channel"),
            (
                "myriscope diff cut.pcapng lost-gap.pcapng --ignore time",
                "Only the order and the bytes of packets count",
            ),
        ],
    },
    CommandHelp {
        name: "score",
        status_one: Some("the analysis missed or invented a visible event."),
        examples: &[(
            "myriscope simulate cut.toml -o my.pcapng --truth my.truth && myriscope score my.pcapng my.truth",
            "Simulate a network, and compare the analysis with what happened",
        )],
    },
    CommandHelp {
        name: "simulate",
        status_one: None,
        examples: &[
            ("myriscope simulate cut.toml -o my.pcapng", "Simulate a scenario and capture it"),
            ("myriscope simulate cut.toml --stats-out my.json", "Statistics only, as JSON"),
            (
                "myriscope simulate cut.toml --set duration_us=30 --set traffic.0.payload=64 --stats",
                "Another duration and payload than the scenario's",
            ),
            (
                "myriscope simulate cut.toml --truth my.truth --truth-kinds '!fill'",
                "All events, but not the fill of slack buffers",
            ),
            (
                "myriscope simulate cut.toml -o my.pcapng --truth my.truth --stats",
                "The same with every event, and statistics",
            ),
        ],
    },
    CommandHelp {
        name: "sweep",
        status_one: None,
        examples: &[
            (
                "myriscope sweep contention.toml --vary traffic.0.payload=64,512 --seeds 3 -o results",
                "Throughput and latency at two sizes of packets, as CSV, JSON and a plot",
            ),
            (
                "myriscope sweep now36.toml --vary traffic.0.load=0.1..0.2:0.1 --set duration_us=500 --seeds 2 --warmup 100us",
                "Latency over load, without the first 100 µs",
            ),
        ],
    },
    CommandHelp {
        name: "demo",
        status_one: None,
        examples: &[
            ("myriscope demo", "The names of the demos"),
            ("myriscope demo cut -o cut.pcapng", "A cut cable, and the capture of it"),
            ("myriscope demo cut --scenario > my.toml", "A scenario to start from"),
        ],
    },
    CommandHelp {
        name: "experiment",
        status_one: None,
        examples: &[
            ("myriscope experiment", "The names of the experiments"),
            ("myriscope experiment interface --quick", "A published measurement, repeated"),
        ],
    },
    CommandHelp {
        name: "reproduce",
        status_one: Some("the law is violated."),
        examples: &[
            (
                "myriscope reproduce link input",
                "The characters of an input that a fuzz target found, and the law's result",
            ),
            ("myriscope reproduce --list", "The targets"),
            ("myriscope reproduce storm storm-4-17.toml", "A network that a storm has found"),
        ],
    },
    CommandHelp {
        name: "storm",
        status_one: Some("a law is violated."),
        examples: &[
            (
                "myriscope storm --seed 4 --minutes 0.01 --switches 2",
                "Random networks with faults, and every law",
            ),
            ("myriscope storm --seed 4 --time 60s", "As many networks as fit into a minute"),
        ],
    },
    CommandHelp {
        name: "schema",
        status_one: None,
        examples: &[
            ("myriscope schema packets", "Types, units and meanings of the members of a packet"),
            ("myriscope schema 'links --intervals'", "The same of an interval"),
        ],
    },
    CommandHelp {
        name: "completions",
        status_one: None,
        examples: &[("myriscope completions bash > myriscope.bash", "Completion for bash")],
    },
    CommandHelp {
        name: "man",
        status_one: None,
        examples: &[("myriscope man man1", "All manual pages, in a directory")],
    },
    CommandHelp {
        name: "help",
        status_one: None,
        examples: &[
            ("myriscope help check", "Options and examples of a command"),
            ("myriscope help filter", "The language of filters"),
        ],
    },
];
