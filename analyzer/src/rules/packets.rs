//! Rules of packets.

use super::{Rule, RuleEvidence, RuleVisibility, test};

#[rustfmt::skip]
pub(super) const RULES: [Rule; 9] = [
    Rule::shown("P-1",
        RuleVisibility::Part(test(RuleEvidence::Channel, |set| set.seen().packets, "packets"), "A lost GAP joins two packets into one, whose CRC is good if both were (the CRC over a good packet is 0)."),
        "The end of each packet of a channel. Packets ended by silence or FRES count under F-7 and R-3.")
        .example("cut"),
    Rule::shown("P-2",
        RuleVisibility::Part(test(RuleEvidence::Channel, |set| set.seen().checked, "packets with a CRC byte"), "Whether the sender meant a byte as route byte or tag is unknown. Only intact packets that consist of route bytes are reported."),
        "The tag after the route of each intact packet."),
    Rule::shown("P-3",
        RuleVisibility::All(test(RuleEvidence::Way, |set| set.seen().travelled, "packets on two links or more")),
        "A packet on the links before and after a switch, equal except for the first byte; packets are matched by this.")
        .example("two-hosts"),
    Rule::shown("P-4",
        RuleVisibility::Part(test(RuleEvidence::Channel, |set| set.seen().checked, "packets with a CRC byte"), "One corrupted packet in 256 has a matching CRC byte, and so does a packet joined with another good one. The first packet of a recording may lack its start: it is not judged unless a GAP precedes it."),
        "All bytes of each packet that ends with GAP.")
        .example("adversary"),
    Rule::shown("P-5",
        RuleVisibility::Part(test(RuleEvidence::Way, |set| set.seen().travelled, "packets on two links or more"), "A packet corrupted before its first captured link counts under P-4. The place of a single flipped bit is known modulo 127 bits only, the order of x. Two corruptions with the same syndrome cancel."),
        "The syndrome of a packet on each captured link of its path. The corruption lies before the first link on which it differs.")
        .example("adversary"),
    Rule::hidden("P-6",
        "What an interface passes to its control program is not transmitted."),
    Rule::shown("P-7",
        RuleVisibility::All(test(RuleEvidence::Channel, |set| set.seen().packets, "packets")),
        "GAPs and packets of a channel. A packet without a GAP before it may have started before the recording.")
        .example("two-hosts"),
    Rule::shown("P-8",
        RuleVisibility::All(test(RuleEvidence::Channel, |set| set.seen().punched, "packets with symbols inside")),
        "Packets that span more periods than they have bytes: their CRCs cover no control symbol.")
        .example("contention"),
    Rule::shown("P-9",
        RuleVisibility::All(test(RuleEvidence::Channel, |set| set.seen().packets, "packets")),
        "The length of each packet.")
        .example("two-hosts"),
];
