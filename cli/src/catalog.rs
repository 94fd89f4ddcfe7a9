//! Names and descriptions of the built-in demos, and the names of the experiments.

use clap::builder::PossibleValuesParser;
use codec::words::did_you_mean;
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

/// The table of the demos: name, title, kinds of events, text.
macro_rules! demos {
    ($($name:literal: $title:literal, [$($event:literal),*], $text:literal;)+) => {
        &[$(BuiltinDemo {
            name: $name,
            title: $title,
            text: $text,
            scenario: include_str!(concat!("../demos/", $name, ".toml")),
            events: &[$($event),*],
        }),+]
    };
}

pub(crate) const DEMOS: &[BuiltinDemo] = demos! {
    "two-hosts": "two hosts and a switch: packets in transit",
    ["injected", "forwarded", "consumed"], "\
A switch forwards a packet as soon as its first byte is decoded and its output is free (S-3).
It removes the route byte that it has used (P-3).";
    "contention": "contention: three hosts send to a fourth through one output",
    ["forwarded"], "\
A packet whose output is busy waits and blocks its input (S-3). A token passes from input to
input, so that none starves (S-5).";
    "ring": "a ring of switches that deadlocks, until timeouts free it",
    ["injected", "blocked", "consumed", "dropped"], "\
Each packet holds an output that the packet behind it waits for. After 2^22 periods the
senders start forward resets (R-4, R-1). The packets are lost and the ring is free: a packet
sent afterwards arrives.";
    "dateline": "the ring with two virtual channels and a dateline: no deadlock",
    ["injected", "forwarded", "consumed"], "\
Each cable has two virtual channels with slack buffers of their own (C-7). A packet that
crosses the dateline, from s3 to s0, goes on on virtual channel 1, so that no packets wait for
each other in a circle.";
    "cut": "a cable that is cut in the middle of a packet, and repaired",
    ["injected", "forwarded", "consumed", "fault", "open-link", "link-restored", "dropped", "truncated"], "\
After 16 silent periods the receiver ends the packet in progress (F-7); its CRC byte is wrong.
While the link is open, the switch drops packets for it (S-1).";
    "lost-gap": "a lost GAP: two packets become one",
    ["injected", "forwarded", "consumed", "fault", "merged", "dropped"], "\
The next packet follows at once, so no other GAP separates the two (P-1), and both go to the
host of the first. The CRC byte is good all the same: after a good packet the CRC is back
at its initial value, 0 (P-4).";
    "open-wire": "an open wire: every 1 on it arrives as a 0",
    ["fault", "corrected-code", "invalid-code", "consumed"], "\
Wire 2 carries a 1 in GAP and STOP. Their weakened codes are corrected (C-4), so packets end
where they should; data cannot be corrected, and the CRC byte reveals it (P-6).";
    "glitch": "glitches: wires with the wrong level for a while",
    ["fault", "wire-error", "corrected-code", "invalid-code", "consumed"], "\
A wrong level makes two false transitions: two characters are hurt on one wire, or one is
inserted where there was none. A transition that is missed makes one error (W-8). The CRC
byte reveals what hits a packet (P-6).";
    "slack": "a slack buffer that is too short for its cable",
    ["threshold", "sender-stopped", "overflow", "overrun-alarm", "consumed"], "\
A receiver that sends STOP needs room for everything in transit on a round trip of the cable
(F-4). Here it has too little: bytes are lost, and ORUN reports it (F-9).";
    "adversary": "an adversarial sink: it provokes the most STOP and GO",
    ["threshold", "sender-stopped", "sender-resumed"], "\
It accepts characters only while it commands STOP, so that its slack buffer oscillates between
the thresholds. They are h = 16 cells apart: two symbols in 2h - 1 = 31 periods at most (F-4).";
    "clocks": "a switch whose clock is 80 ppm slow",
    ["injected", "sent", "threshold", "sender-stopped", "sender-resumed"], "\
Each node has a clock of its own (W-6). s0 sends 12 499 characters while 12 500 come, so its
slack buffer gains one at a time, up to a STOP in mid-packet. s1 finds no character as often,
and leaves a hole in the packet. With exact clocks there are no STOPs and no holes.";
    "now36": "36 hosts of the Berkeley NOW: uniform random traffic",
    [], "\
A subcluster of 13 switches. Each host sends packets of 16 to 1024 bytes to random hosts, at a
fifth of its link's capacity (up*/down* routes, N-2).";
    "lossy": "messages over a lossy cable: lost packets are retransmitted",
    ["transport-retransmitted", "transport-duplicate", "message-returned"], "\
Some 1s on the cable of h0 arrive as 0s and corrupt packets, which are dropped (T-7). A packet
without an ACK is retransmitted after a timeout (T-10). If only its ACK was lost, it arrives
twice and is written once (T-5).";
    "nacks": "a NACK storm: four clients overrun the queue of a slow server",
    ["message-refused", "transport-retransmitted"], "\
A message that finds the receive queue full is refused (T-6). A NACK alone causes no
retransmission; the next scan retransmits, if the packet is old enough (T-10). None is lost.";
    "overcommit": "1 to 32 virtual networks on one server, whose NIC has seven frames",
    ["endpoint-leaving", "endpoint-unloaded", "endpoint-loaded"], "\
Their number doubles every 2 ms. Messages for an endpoint that is not resident are refused,
and cause it to be loaded in place of another (T-6, T-13, T-15).";
    "unreachable": "an unreachable host: its messages are returned to their sender",
    ["fault", "message-returned"], "\
The cable of h1 is cut for good. When h1 has not answered for too long, messages for it are
returned (T-11). Messages for h2 are not affected.";
    "restart": "NICs that restart in the middle of conversations",
    ["fault", "endpoint-loaded", "message-refused", "message-returned", "message-lost", "message-given-up"], "\
A restarted NIC has lost its logical channels and reports it; the sender starts them again
with the same messages (T-12). Messages in its frames are lost or returned.";
    "self-healing": "a network heals: a cable is cut, its mapper goes off, it is split",
    ["fault", "mapper-elected", "mapper-resigned", "map-version", "message-returned"], "\
The interfaces elect a mapper, which goes on probing (N-2, N-4). When something has changed it
maps again, and all install new routes. Without a mapper another begins; each part of a split
network has one, and of two that meet the one with the lower address resigns. Lost messages
are retransmitted (T-10), those for the other part are returned (T-11) and sent again.";
    "mapping": "mapping: 36 interfaces find the 13 switches and 64 links between them",
    ["mapper-elected", "map-version"], "\
An interface knows nothing but its own address. It probes port by port (N-2, N-8); what no
answer comes back from does not exist, and two routes end at one switch if a probe comes home
over both. Mainwaring, Chun, Schleimer and Wilkerson (SPAA 1997) took 248 ms, and 981 ms
for 100 hosts, 40 switches and 193 links: see `myriscope experiment mapping`.";
    "two-mappers": "two mappers: their probes deadlock, and the timeout of switches frees them",
    ["mapper-elected", "mapper-resigned", "map-version", "truncated"], "\
Interfaces that begin to map at the same time send probes along any path (N-7). Two probes wait
for each other until a switch has been blocked for too long and resets both (R-4): they are
truncated, and sent again. Of two mappers that meet, the one with the lower address resigns.";
    "ip": "IP: datagrams in fragments, and a TCP connection that repairs a loss",
    ["fault"], "\
Packets carry IP packets as they are (H-1). A driver and copies take the hosts' time; the bus
computes the checksums of TCP. A character of one packet is changed: its receiver drops it, and
TCP sends it again. `myriscope packets` lists headers.";
    "campus": "campus: the fibre between two buildings is cut, and each maps itself",
    ["fault", "mapper-elected", "mapper-resigned", "map-version"], "\
Two ends with 2 km of fibre between them are one link to everything else (N-5). While it is
cut, packets for the other building are lost, and each has a mapper and a map of its own (N-4).
One mapper is left when the fibre is repaired.";
    "campus-router": "campus router: a fibre between two networks, each with its own map",
    ["fault", "mapper-elected", "map-version", "routed"], "\
The ends of the fibre are interfaces, one in each network (N-5). A packet for the other network
has its receiver's address; the router behind the fibre finds the route, or loses the packet: d
is without power, and in no map. `myriscope packets` shows addresses, `journeys` both halves.";
    "multicast": "multicast: interfaces send a packet on along a tree",
    ["multicast"], "\
An interface sends a packet to two others, which receive it whole, deliver it, and send it to
two more each (N-6). `myriscope journeys` shows of which packet each is a copy, and how long it
was kept; `myriscope experiment multicast` compares with a switch that copies packets.";
};

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
    let hint = did_you_mean(name, TRUTH_KINDS).map_or_else(String::new, |hint| hint + " ");
    Err(format!("no such kind of event; {hint}docs/truth.md lists all"))
}
