//! Names and descriptions of the built-in demos, and the names of the experiments.

use clap::builder::PossibleValuesParser;
use simulator::experiment::Experiment;
use simulator::truth::TRUTH_KINDS;

/// Runs every experiment, one after the other.
pub(crate) const ALL_EXPERIMENTS: &str = "all";

/// A built-in scenario. Its file and the capture that it produces are in `fixtures/demo-NAME`.
pub(crate) struct BuiltinDemo {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    /// A few lines that cite the rules.
    pub(crate) text: &'static str,
    pub(crate) scenario: &'static str,
    /// Kinds of the events in the printed timeline.
    pub(crate) events: &'static [&'static str],
}

pub(crate) static DEMOS: [BuiltinDemo; 24] = [
    BuiltinDemo {
        name: "two-hosts",
        title: "two hosts and a switch: packets in transit",
        text: "\
A switch forwards a packet as soon as its first byte is decoded and its output is free (S-3).
It removes the route byte that it has used (P-3).",
        scenario: include_str!("../demos/two-hosts.toml"),
        events: &["injected", "forwarded", "consumed"],
    },
    BuiltinDemo {
        name: "contention",
        title: "contention: three hosts send to a fourth through one output",
        text: "\
A packet whose output is busy waits and blocks its input (S-3). A token passes from input to
input, so that none starves (S-5).",
        scenario: include_str!("../demos/contention.toml"),
        events: &["forwarded"],
    },
    BuiltinDemo {
        name: "ring",
        title: "a ring of switches that deadlocks, until timeouts free it",
        text: "\
Each packet holds an output that the packet behind it waits for. After 2^22 periods the
senders start forward resets (R-4, R-1). The packets are lost and the ring is free: a packet
sent afterwards arrives.",
        scenario: include_str!("../demos/ring.toml"),
        events: &["injected", "blocked", "consumed", "dropped"],
    },
    BuiltinDemo {
        name: "dateline",
        title: "the ring with two virtual channels and a dateline: no deadlock",
        text: "\
Each cable has two virtual channels with slack buffers of their own (C-7). A packet that
crosses the dateline, from s3 to s0, goes on on virtual channel 1, so that no packets wait for
each other in a circle.",
        scenario: include_str!("../demos/dateline.toml"),
        events: &["injected", "forwarded", "consumed"],
    },
    BuiltinDemo {
        name: "cut",
        title: "a cable that is cut in the middle of a packet, and repaired",
        text: "\
After 16 silent periods the receiver ends the packet in progress (F-7); its CRC byte is wrong.
While the link is open, the switch drops packets for it (S-1).",
        scenario: include_str!("../demos/cut.toml"),
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
    },
    BuiltinDemo {
        name: "lost-gap",
        title: "a lost GAP: two packets become one",
        text: "\
The next packet follows at once, so no other GAP separates the two (P-1), and both go to the
host of the first. The CRC byte is good all the same: after a good packet the CRC is back
at its initial value, 0 (P-4).",
        scenario: include_str!("../demos/lost-gap.toml"),
        events: &["injected", "forwarded", "consumed", "fault", "merged", "dropped"],
    },
    BuiltinDemo {
        name: "open-wire",
        title: "an open wire: every 1 on it arrives as a 0",
        text: "\
Wire 2 carries a 1 in GAP and STOP. Their weakened codes are corrected (C-4), so packets end
where they should; data cannot be corrected, and the CRC byte reveals it (P-6).",
        scenario: include_str!("../demos/open-wire.toml"),
        events: &["fault", "corrected-code", "invalid-code", "consumed"],
    },
    BuiltinDemo {
        name: "glitch",
        title: "glitches: wires with the wrong level for a while",
        text: "\
A wrong level makes two false transitions: two characters are hurt on one wire, or one is
inserted where there was none. A transition that is missed makes one error (W-8). The CRC
byte reveals what hits a packet (P-6).",
        scenario: include_str!("../demos/glitch.toml"),
        events: &["fault", "wire-error", "corrected-code", "invalid-code", "consumed"],
    },
    BuiltinDemo {
        name: "slack",
        title: "a slack buffer that is too short for its cable",
        text: "\
A receiver that sends STOP needs room for everything in transit on a round trip of the cable
(F-4). Here it has too little: bytes are lost, and ORUN reports it (F-9).",
        scenario: include_str!("../demos/slack.toml"),
        events: &["threshold", "sender-stopped", "overflow", "overrun-alarm", "consumed"],
    },
    BuiltinDemo {
        name: "adversary",
        title: "an adversarial sink: it provokes the most STOP and GO",
        text: "\
It accepts characters only while it commands STOP, so that its slack buffer oscillates between
the thresholds. They are h = 16 cells apart: two symbols in 2h - 1 = 31 periods at most (F-4).",
        scenario: include_str!("../demos/adversary.toml"),
        events: &["threshold", "sender-stopped", "sender-resumed"],
    },
    BuiltinDemo {
        name: "clocks",
        title: "a switch whose clock is 80 ppm slow",
        text: "\
Each node has a clock of its own (W-6). s0 sends 12 499 characters while 12 500 come, so its
slack buffer gains one at a time, up to a STOP in mid-packet. s1 finds no character as often,
and leaves a hole in the packet. With exact clocks there are no STOPs and no holes.",
        scenario: include_str!("../demos/clocks.toml"),
        events: &["injected", "sent", "threshold", "sender-stopped", "sender-resumed"],
    },
    BuiltinDemo {
        name: "now36",
        title: "36 hosts of the Berkeley NOW: uniform random traffic",
        text: "\
A subcluster of 13 switches. Each host sends packets of 16 to 1024 bytes to random hosts, at a
fifth of its link's capacity (up*/down* routes, N-2).",
        scenario: include_str!("../demos/now36.toml"),
        events: &[],
    },
    BuiltinDemo {
        name: "lossy",
        title: "messages over a lossy cable: lost packets are retransmitted",
        text: "\
Some 1s on the cable of h0 arrive as 0s and corrupt packets, which are dropped (T-7). A packet
without an ACK is retransmitted after a timeout (T-10). If only its ACK was lost, it arrives
twice and is written once (T-5).",
        scenario: include_str!("../demos/lossy.toml"),
        events: &["transport-retransmitted", "transport-duplicate", "message-returned"],
    },
    BuiltinDemo {
        name: "nacks",
        title: "a NACK storm: four clients overrun the queue of a slow server",
        text: "\
A message that finds the receive queue full is refused (T-6). A NACK alone causes no
retransmission; the next scan retransmits, if the packet is old enough (T-10). None is lost.",
        scenario: include_str!("../demos/nacks.toml"),
        events: &["message-refused", "transport-retransmitted"],
    },
    BuiltinDemo {
        name: "overcommit",
        title: "1 to 32 virtual networks on one server, whose NIC has seven frames",
        text: "\
Their number doubles every 2 ms. Messages for an endpoint that is not resident are refused,
and cause it to be loaded in place of another (T-6, T-13, T-15).",
        scenario: include_str!("../demos/overcommit.toml"),
        events: &["endpoint-leaving", "endpoint-unloaded", "endpoint-loaded"],
    },
    BuiltinDemo {
        name: "unreachable",
        title: "an unreachable host: its messages are returned to their sender",
        text: "\
The cable of h1 is cut for good. When h1 has not answered for too long, messages for it are
returned (T-11). Messages for h2 are not affected.",
        scenario: include_str!("../demos/unreachable.toml"),
        events: &["fault", "message-returned"],
    },
    BuiltinDemo {
        name: "restart",
        title: "NICs that restart in the middle of conversations",
        text: "\
A restarted NIC has lost its logical channels and reports it; the sender starts them again
with the same messages (T-12). Messages in its frames are lost or returned.",
        scenario: include_str!("../demos/restart.toml"),
        events: &[
            "fault",
            "endpoint-loaded",
            "message-refused",
            "message-returned",
            "message-lost",
            "message-given-up",
        ],
    },
    BuiltinDemo {
        name: "self-healing",
        title: "a network heals: a cable is cut, its mapper goes off, it is split",
        text: "\
The interfaces elect a mapper, which goes on probing (N-2, N-4). When something has changed it
maps again, and all install new routes. Without a mapper another begins; each part of a split
network has one, and of two that meet the one with the lower address resigns. Lost messages
are retransmitted (T-10), those for the other part are returned (T-11) and sent again.",
        scenario: include_str!("../demos/self-healing.toml"),
        events: &["fault", "mapper-elected", "mapper-resigned", "map-version", "message-returned"],
    },
    BuiltinDemo {
        name: "mapping",
        title: "mapping: 36 interfaces find the 13 switches and 64 links between them",
        text: "\
An interface knows nothing but its own address. It probes port by port (N-2, N-8); what no
answer comes back from does not exist, and two routes end at one switch if a probe comes home
over both. Mainwaring, Chun, Schleimer and Wilkerson (SPAA 1997) took 248 ms, and 981 ms
for 100 hosts, 40 switches and 193 links: see `myriscope experiment mapping`.",
        scenario: include_str!("../demos/mapping.toml"),
        events: &["mapper-elected", "map-version"],
    },
    BuiltinDemo {
        name: "two-mappers",
        title: "two mappers: their probes deadlock, and the timeout of switches frees them",
        text: "\
Interfaces that begin to map at the same time send probes along any path (N-7). Two probes wait
for each other until a switch has been blocked for too long and resets both (R-4): they are
truncated, and sent again. Of two mappers that meet, the one with the lower address resigns.",
        scenario: include_str!("../demos/two-mappers.toml"),
        events: &["mapper-elected", "mapper-resigned", "map-version", "truncated"],
    },
    BuiltinDemo {
        name: "ip",
        title: "IP: datagrams in fragments, and a TCP connection that repairs a loss",
        text: "\
Packets carry IP packets as they are (H-1). A driver and copies take the hosts' time; the bus
computes the checksums of TCP. A character of one packet is changed: its receiver drops it, and
TCP sends it again. `myriscope packets` lists headers.",
        scenario: include_str!("../demos/ip.toml"),
        events: &["fault"],
    },
    BuiltinDemo {
        name: "campus",
        title: "campus: the fibre between two buildings is cut, and each maps itself",
        text: "\
Two ends with 2 km of fibre between them are one link to everything else (N-5). While it is
cut, packets for the other building are lost, and each has a mapper and a map of its own (N-4).
One mapper is left when the fibre is repaired.",
        scenario: include_str!("../demos/campus.toml"),
        events: &["fault", "mapper-elected", "mapper-resigned", "map-version"],
    },
    BuiltinDemo {
        name: "campus-router",
        title: "campus router: a fibre between two networks, each with its own map",
        text: "\
The ends of the fibre are interfaces, one in each network (N-5). A packet for the other network
has its receiver's address; the router behind the fibre finds the route, or loses the packet: d
is without power, and in no map. `myriscope packets` shows addresses, `journeys` both halves.",
        scenario: include_str!("../demos/campus-router.toml"),
        events: &["fault", "mapper-elected", "map-version", "routed"],
    },
    BuiltinDemo {
        name: "multicast",
        title: "multicast: interfaces send a packet on along a tree",
        text: "\
An interface sends a packet to two others, which receive it whole, deliver it, and send it to
two more each (N-6). `myriscope journeys` shows of which packet each is a copy, and how long it
was kept; `myriscope experiment multicast` compares with a switch that copies packets.",
        scenario: include_str!("../demos/multicast.toml"),
        events: &["multicast"],
    },
];

pub(crate) fn demo_names() -> PossibleValuesParser {
    DEMOS.iter().map(|demo| demo.name).collect::<Vec<_>>().into()
}

pub(crate) fn experiment_names() -> PossibleValuesParser {
    Experiment::names().chain([ALL_EXPERIMENTS]).collect::<Vec<_>>().into()
}

/// Parses a kind of event in the truth; behind `!` it is excluded.
pub(crate) fn truth_kind(text: &str) -> Result<String, String> {
    let name = text.strip_prefix('!').unwrap_or(text);
    if TRUTH_KINDS.contains(&name) {
        return Ok(text.to_owned());
    }
    let nearest = TRUTH_KINDS.iter().min_by_key(|kind| strsim::damerau_levenshtein(name, kind));
    let nearest = nearest.copied().unwrap_or_default();
    Err(format!("no such kind of event; did you mean `{nearest}`? docs/truth.md lists all"))
}
