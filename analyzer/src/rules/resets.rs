//! Rules of resets, timeouts and lamps.

use super::{Rule, RuleEvidence, RuleVisibility, test};

#[rustfmt::skip]
pub(super) const RULES: [Rule; 7] = [
    Rule {
        id: "R-1",
        clause: "4.6.1",
        text: "Sending FRES: the sender sends FRES and enters GO. The reset at the receiver ends with the next GAP, which may be (a) the GAP of the packet under way, whose rest the receiver discards, (b) a GAP of the fill between packets, or (c) one that the sender generates for the purpose, in which case it consumes and discards the rest of its packet. **Chip:** (c), right after FRES, or one period later if a STOP/GO is due. All three are legal; a sender option chooses; the analyzer learns which and judges none of them.",
        shows: RuleVisibility::Part(test(RuleEvidence::Channel, |ledger| ledger.seen().resets, "FRES"), "Which GAP ends a reset is the sender's choice, so it is learned (`links`) and judged only where the channel declares reset=own-gap."),
        evidence: "The characters behind FRES up to GAP.",
        example: Some("fixtures/link-1/capture.pcapng"),
    },
    Rule {
        id: "R-2",
        clause: "4.6.1",
        text: "Receiving FRES: the FIFO is cleared and held clear, data bytes are dropped, STOP/GO and other control symbols work normally, until a GAP comes. The reset is reported to the control interface.",
        shows: RuleVisibility::Part(test(RuleEvidence::Channel, |ledger| ledger.seen().resets, "FRES"), "That the buffer behind is cleared does not show, but for a GO that follows."),
        evidence: "FRES, and data between it and the next GAP.",
        example: Some("fixtures/link-1/capture.pcapng"),
    },
    Rule {
        id: "R-3",
        clause: "4.6.1",
        text: "A switch that receives FRES resets that input's routing and ends with a GAP whatever part of a packet it had already forwarded. An interface that receives FRES sets an interrupt bit to its host and restarts its control program at its initialisation code (**Chip**: LANai; its memory keeps its content, and the program need not be loaded again).",
        shows: RuleVisibility::Part(test(RuleEvidence::Channel, |ledger| ledger.seen().resets, "FRES"), "What an interface does with its program is not on the wire."),
        evidence: "FRES inside a packet. Behind the switch the packet ends with GAP, and its CRC is bad.",
        example: Some("fixtures/link-1/capture.pcapng"),
    },
    Rule {
        id: "R-4",
        clause: "4.6.2",
        text: "Blocked-packet timeout: a sender that has been held in STOP, or has been sending one packet, for more than 2²² periods: if stopped, it starts a forward reset (R-1); if in GO, it ends the packet with GAP and consumes the rest of it from its source.",
        shows: RuleVisibility::Part(test(RuleEvidence::Link, |ledger| ledger.seen().timeouts, "packets or stops of 2^22 periods"), "How long a stopped sender has waited is dated by STOP at the tap."),
        evidence: "Stops and packets of more than 2^22 periods (52.4 ms), and what ends them.",
        example: Some("fixtures/demo-ring/capture.pcapng"),
    },
    Rule {
        id: "R-5",
        clause: "4.8.2",
        text: "BRES received: reported, and the receiver of it starts a forward reset.",
        shows: RuleVisibility::Part(test(RuleEvidence::Link, |ledger| ledger.seen().backward, "BRES with an answer"), "A port without BRES ignores it (C-3)."),
        evidence: "BRES on one channel, and FRES on the other within 4096 periods. Only BRES with an answer count: a port may be without it.",
        example: None,
    },
    Rule {
        id: "R-6",
        clause: "4.8.3",
        text: "A probe commanded: bit 4 of the status word is set. A receiver *may* reply, and PRB1–7 may ask for status or command actions of the host system; PRB0 is a ping whose reply times the round trip. REPLx received: bits 3–0 become x, bit 4 is cleared. No reply is no error where the far end implements the mandatory symbols only.",
        shows: RuleVisibility::Part(test(RuleEvidence::Link, |ledger| ledger.seen().probes, "probes with a reply"), "The bits of the status word are not on the wire. A port without probes ignores them (C-3)."),
        evidence: "PRBn on one channel, and REPLx on the other within 4096 periods. Only probes with a reply count: there need be none.",
        example: Some("fixtures/link-7/capture.pcapng"),
    },
    Rule {
        id: "L",
        clause: "4.7",
        text: "off/off: no power. red: open (F-7). green: connected and idle. both (yellow): sending or receiving packet data.",
        shows: RuleVisibility::Nothing("Lamps are not on the wire. `links` tells which were lit, from what lights them."),
        evidence: "",
        example: None,
    },
];
