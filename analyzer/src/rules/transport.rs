//! Rules of the reliability protocol.

use super::{Rule, RuleEvidence, RuleVisibility, test};

#[rustfmt::skip]
pub(super) const RULES: [Rule; 15] = [
    Rule::shown("T-1", "VN",
        "Delivery is reliable and unduplicated: an accepted message is written into the destination's receive queue exactly once, or returned to its sender. Only where the destination is declared unreachable after its acknowledgment was lost for the whole time can a delivered message be returned too; no protocol can do better.",
        RuleVisibility::Part(test(RuleEvidence::Link, |ledger| ledger.seen().said.messages, "messages"), "What a receiver writes is not transmitted, only its acknowledgments. The fate of an unacknowledged message is inferred. A violation shows as a violation of T-2, T-4 or T-5."),
        "Every message of a logical channel and its ACK (`conversations`).")
        .example("lossy"),
    Rule::shown("T-2", "VN",
        "Between a NIC and each other NIC there are C independent logical channels, each stop-and-wait: at most one unacknowledged packet. C = 8 *(chosen)*, at least the user credits (T-9). No order is promised between messages.",
        RuleVisibility::Part(test(RuleEvidence::Link, |ledger| ledger.seen().said.messages, "messages"), "Judged only if answers were captured on the link of the data."),
        "A message on a logical channel whose previous message has no ACK yet.")
        .example("lossy"),
    Rule::hidden("T-3", "VN",
        "The send table has a row for each destination NIC, a column for each logical channel; an entry holds the next sequence number, the packet in flight if any, the time it was last sent, and its number of retries. The receive table holds the expected sequence number. Rows × columns are fixed at start-up, up to thousands of NICs, so that sending, acknowledging and duplicate detection cost O(1) each.",
        "The tables of a NIC are not transmitted."),
    Rule::shown("T-4", "VN",
        "Sequence numbers are one bit: with one packet outstanding on a logical channel and paths that keep the order, the alternating bit tells a duplicate from a new packet.",
        RuleVisibility::Part(test(RuleEvidence::Channel, |ledger| ledger.seen().said.messages, "messages"), "Paths are assumed to keep the order of packets."),
        "The sequence numbers of consecutive messages on a logical channel.")
        .example("lossy"),
    Rule::shown("T-5", "VN",
        "Receiver: a packet with the expected number whose endpoint can take it is written to the endpoint, then ACKed, and the expected number flips. A packet with the other number is a duplicate: ACKed again, not written.",
        RuleVisibility::Part(test(RuleEvidence::Link, |ledger| ledger.seen().said.acks, "ACKs"), "Whether the message was written is not transmitted. A restarted receiver accepts SYNC as new, so a NACK of a message with SYNC is not judged."),
        "The ACK, and the fate of the transmission that it echoes.")
        .example("lossy"),
    Rule::shown("T-6", "VN",
        "A packet that cannot be taken now is NACKed with a reason and not written: endpoint not resident (which starts its loading), receive queue full, no staging area, no DMA resource, or host memory that is not pinned or has no current DMA mapping (which starts the driver's work on it, as a fault). A packet with a wrong endpoint key, or for an endpoint that does not exist, gets a final NACK: its sender returns the message to the application at once.",
        RuleVisibility::Part(test(RuleEvidence::Channel, |ledger| ledger.seen().said.nacks, "NACKs"), "Whether the receiver could have accepted the message, and whether the sender returned it, is not transmitted."),
        "A NACK and its reason.")
        .example("nacks"),
    Rule::shown("T-7", "VN",
        "Corrupt packets (bad CRC, wrong length, unknown NIC) are dropped and counted. The timeout recovers.",
        RuleVisibility::Part(test(RuleEvidence::Channel, |ledger| ledger.seen().said.packets, "packets of the protocol"), "The counters of a receiver are not transmitted. A packet of type 01 may be of another protocol, so a malformed one is only a note."),
        "CRC and layout of packets of type 01; no answers to corrupted ones.")
        .example("lossy"),
    Rule::shown("T-8", "VN",
        "Every packet carries a 32-bit timestamp of its (re)transmission *(text)*; ACK and NACK echo it. ACKs and NACKs are packets of their own, never piggybacked. *Any* NACK for the packet is feedback that its destination is alive (T-11); whether it answers the *latest* transmission matters for unloading only (T-13).",
        RuleVisibility::Part(test(RuleEvidence::Link, |ledger| ledger.seen().said.answers(), "ACKs and NACKs"), "Judged only if the answered data was captured. The handling of a NACK by the sender is not transmitted."),
        "The timestamp that an answer echoes, compared with those of the data.")
        .example("lossy"),
    Rule::hidden("T-9", "VN",
        "Flow control has three levels: user credits (a request takes one, its reply gives it back; K = 4 for each endpoint *(inferred)*), T-2 at the NIC, STOP/GO on the links. The request receive queue holds 4·K = 16 *(inferred)*: four senders at full rate *(text)*. Overrun is legal and handled by T-6.",
        "Credits and the contents of queues are not transmitted. NACKs for a full queue show that it was overrun (T-6)."),
    Rule::shown("T-10", "VN",
        "Retransmission: a periodic scan (every 1 ms *(chosen)*) resends packets unacknowledged for longer than the timeout (4 ms *(chosen)*); a NACK does not resend by itself, it is feedback for the scan. A counter of unacknowledged packets for each destination lets the scan skip idle rows: cost O(NICs), not O(NICs × C). One mechanism for every kind of loss.",
        RuleVisibility::Part(test(RuleEvidence::Link, |ledger| ledger.seen().said.resent, "retransmissions"), "The scan is not transmitted, and its period and timeout are parameters: only the fate of the previous transmission is judged. Whether a timer starts when a packet is queued or when it leaves is unknown, so the time that a packet waits in its NIC is allowed."),
        "Data of the same number and content with a newer timestamp; the answers before it; the delays of the NIC's packets relative to their timestamps.")
        .example("lossy"),
    Rule::shown("T-11", "VN",
        "After N retransmissions (\"several seconds\" *(text)*; N = 1000 *(chosen)*, 4 s at the default scan) without any ACK or NACK of that packet its destination is deemed unreachable; an ACK or NACK of it sets its count of retries to 0. A destination to which there is *no route* is trivially unreachable: its messages go back at once. Then the logical channel's sequence number becomes *uninitialised* and the message goes back to its sender through the endpoint's reply receive queue. The next packet on an uninitialised channel (at start-up too) carries SYNC and a new incarnation (T-12).",
        RuleVisibility::Part(test(RuleEvidence::Channel, |ledger| ledger.seen().said.messages, "messages"), "The return of a message to its sender is inferred: it was not answered, and its logical channel was reopened. A restarted NIC behaves in the same way."),
        "A new incarnation after a message without an answer.")
        .example("unreachable"),
    Rule::shown("T-12", "VN",
        "**Decision:** every packet carries its logical channel's 16-bit *incarnation*, from a counter in each NIC that only grows (set from the host's clock when the control program is loaded, then +1 for each use), compared by serial-number arithmetic. Receiver: SYNC with a newer incarnation, or with none stored: adopt incarnation and number, accept. Same incarnation: T-5. Older: stale, dropped and counted. No SYNC and no state stored (this NIC restarted): NACK with reason 4, upon which the sender makes the channel uninitialised and resends the same message with SYNC.",
        RuleVisibility::Part(test(RuleEvidence::Channel, |ledger| ledger.seen().said.opened, "new incarnations"), "The counters of NICs, and which packets are dropped as stale, are not transmitted."),
        "SYNC and incarnation of data packets, in the order in which they were sent.")
        .example("restart"),
    Rule::hidden("T-13", "VN",
        "Endpoint unload: at once when nothing is outstanding; otherwise when every outstanding packet has been ACKed, or NACKed for its *latest* transmission (T-8). Unacknowledged messages travel with the endpoint and are sent again after it is loaded. Late duplicates of old ACKs or NACKs must not change any state.",
        "Which endpoints are loaded is not transmitted; NACKs show that one was not (T-6)."),
    Rule::hidden("T-14", "VN",
        "Endpoint scheduling: weighted round robin; endpoints with nothing to send are skipped. With an endpoint that has something pending the NIC makes 2^k *attempts* to send (k = 6 *(chosen)*), also when its queue runs empty before: it *loiters* for the rest of the attempts in case the host enqueues more. An attempt on an empty queue costs what a look at it costs (0.5 µs *(chosen)*), so that loitering is bounded by 2^k such looks. While it stays it keeps the state of packet headers, so the packets of a burst after the first cost less *(how much: chosen)*. Larger k is better for bursts and worse for the response time of the others. An endpoint with something to send waits at most (resident endpoints − 1) · 2^k attempts.",
        "Which endpoints have data to send is not transmitted."),
    Rule::hidden("T-15", "VN",
        "Loading replaces a resident endpoint chosen by clock (second chance) *(chosen)*; a load takes a parameterised time and host DMA.",
        "Which endpoint a NIC loads, and which one it replaces, is not transmitted."),
];
