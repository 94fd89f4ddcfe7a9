//! Rules of the reliability protocol.

use super::{Rule, RuleEvidence, RuleVisibility, test};

#[rustfmt::skip]
pub(super) const RULES: [Rule; 15] = [
    Rule::shown("T-1",
        RuleVisibility::Part(test(RuleEvidence::Link, |set| set.seen().transport.messages, "messages"), "What a receiver writes is not transmitted, only its acknowledgments. The fate of an unacknowledged message is inferred. A violation shows as a violation of T-2, T-4 or T-5."),
        "Every message of a logical channel and its ACK (`conversations`).")
        .example("lossy"),
    Rule::shown("T-2",
        RuleVisibility::Part(test(RuleEvidence::Link, |set| set.seen().transport.messages, "messages"), "Judged only if answers were captured on the link of the data."),
        "A message on a logical channel whose previous message has no ACK yet.")
        .example("lossy"),
    Rule::hidden("T-3",
        "The tables of a NIC are not transmitted."),
    Rule::shown("T-4",
        RuleVisibility::Part(test(RuleEvidence::Channel, |set| set.seen().transport.messages, "messages"), "Paths are assumed to keep the order of packets."),
        "The sequence numbers of consecutive messages on a logical channel.")
        .example("lossy"),
    Rule::shown("T-5",
        RuleVisibility::Part(test(RuleEvidence::Link, |set| set.seen().transport.acks, "ACKs"), "Whether the message was written is not transmitted. A restarted receiver accepts SYNC as new, so a NACK of a message with SYNC is not judged."),
        "The ACK, and the fate of the transmission that it echoes.")
        .example("lossy"),
    Rule::shown("T-6",
        RuleVisibility::Part(test(RuleEvidence::Channel, |set| set.seen().transport.nacks, "NACKs"), "Whether the receiver could have accepted the message, and whether the sender returned it, is not transmitted."),
        "A NACK and its reason.")
        .example("nacks"),
    Rule::shown("T-7",
        RuleVisibility::Part(test(RuleEvidence::Channel, |set| set.seen().transport.packets, "packets of the protocol"), "The counters of a receiver are not transmitted. A packet of type 01 may be of another protocol, so a malformed one is only a note."),
        "CRC and layout of packets of type 01; no answers to corrupted ones.")
        .example("lossy"),
    Rule::shown("T-8",
        RuleVisibility::Part(test(RuleEvidence::Link, |set| set.seen().transport.answers(), "ACKs and NACKs"), "Judged only if the answered data was captured. The handling of a NACK by the sender is not transmitted."),
        "The timestamp that an answer echoes, compared with those of the data.")
        .example("lossy"),
    Rule::hidden("T-9",
        "Credits and the contents of queues are not transmitted. NACKs for a full queue show that it was overrun (T-6)."),
    Rule::shown("T-10",
        RuleVisibility::Part(test(RuleEvidence::Link, |set| set.seen().transport.resent, "retransmissions"), "The scan is not transmitted, and its period and timeout are parameters: only the fate of the previous transmission is judged. Whether a timer starts when a packet is queued or when it leaves is unknown, so the time that a packet waits in its NIC is allowed."),
        "Data of the same number and content with a newer timestamp; the answers before it; the delays of the NIC's packets relative to their timestamps.")
        .example("lossy"),
    Rule::shown("T-11",
        RuleVisibility::Part(test(RuleEvidence::Channel, |set| set.seen().transport.messages, "messages"), "The return of a message to its sender is inferred: it was not answered, and its logical channel was reopened. A restarted NIC behaves in the same way."),
        "A new incarnation after a message without an answer.")
        .example("unreachable"),
    Rule::shown("T-12",
        RuleVisibility::Part(test(RuleEvidence::Channel, |set| set.seen().transport.opened, "new incarnations"), "The counters of NICs, and which packets are dropped as stale, are not transmitted."),
        "SYNC and incarnation of data packets, in the order in which they were sent.")
        .example("restart"),
    Rule::hidden("T-13",
        "Which endpoints are loaded is not transmitted; NACKs show that one was not (T-6)."),
    Rule::hidden("T-14",
        "Which endpoints have data to send is not transmitted."),
    Rule::hidden("T-15",
        "Which endpoint a NIC loads, and which one it replaces, is not transmitted."),
];
