//! Rules of resets, timeouts and lamps.

use super::{Rule, RuleEvidence, RuleVisibility, test};

#[rustfmt::skip]
pub(super) const RULES: [Rule; 7] = [
    Rule::shown("R-1", "4.6.1",
        "Sending FRES: the sender sends FRES and enters GO. The reset at the receiver ends with the next GAP, which may be (a) the GAP of the packet under way, whose rest the receiver discards, (b) a GAP of the fill between packets, or (c) one that the sender generates for the purpose, in which case it consumes and discards the rest of its packet. **Chip:** (c), right after FRES, or one period later if a STOP/GO is due. All three are legal; a sender option chooses; the analyzer learns which and judges none of them.",
        RuleVisibility::Part(test(RuleEvidence::Channel, |ledger| ledger.seen().resets, "FRES"), "The sender chooses which GAP ends a reset. The variant is derived from the capture (`links`) and judged only if the channel declares reset=own-gap."),
        "The characters from FRES to the next GAP.")
        .example("ring"),
    Rule::shown("R-2", "4.6.1",
        "Receiving FRES: the FIFO is cleared and held clear, data bytes are dropped, STOP/GO and other control symbols work normally, until a GAP comes. The reset is reported to the control interface.",
        RuleVisibility::Part(test(RuleEvidence::Channel, |ledger| ledger.seen().resets, "FRES"), "The clearing of the buffer does not show, except by a GO that follows."),
        "FRES, and data between it and the next GAP.")
        .example("ring"),
    Rule::shown("R-3", "4.6.1",
        "A switch that receives FRES resets that input's routing and ends with a GAP whatever part of a packet it had already forwarded. An interface that receives FRES sets an interrupt bit to its host and restarts its control program at its initialisation code (**Chip**: LANai; its memory keeps its content, and the program need not be loaded again).",
        RuleVisibility::Part(test(RuleEvidence::Channel, |ledger| ledger.seen().resets, "FRES"), "The handling by an interface's control program is not transmitted."),
        "FRES inside a packet. After the switch the packet ends with GAP and a bad CRC.")
        .example("ring"),
    Rule::shown("R-4", "4.6.2",
        "Blocked-packet timeout: a sender that has been held in STOP, or has been sending one packet, for more than 2²² periods: if stopped, it starts a forward reset (R-1); if in GO, it ends the packet with GAP and consumes the rest of it from its source.",
        RuleVisibility::Part(test(RuleEvidence::Link, |ledger| ledger.seen().timeouts, "packets or stops of 2^22 periods"), "The waiting time of a stopped sender is measured from STOP at the tap."),
        "Stops and packets of more than 2^22 periods (52.4 ms), and their ends.")
        .example("ring"),
    Rule::shown("R-5", "4.8.2",
        "BRES received: reported, and the receiver of it starts a forward reset.",
        RuleVisibility::Part(test(RuleEvidence::Link, |ledger| ledger.seen().backward, "BRES with an answer"), "A port without BRES ignores it (C-3)."),
        "BRES on one channel and FRES on the other within 4096 periods. Only BRES with an answer count, as a port may not implement it."),
    Rule::shown("R-6", "4.8.3",
        "A probe commanded: bit 4 of the status word is set. A receiver *may* reply, and PRB1–7 may ask for status or command actions of the host system; PRB0 is a ping whose reply times the round trip. REPLx received: bits 3–0 become x, bit 4 is cleared. No reply is no error where the far end implements the mandatory symbols only.",
        RuleVisibility::Part(test(RuleEvidence::Link, |ledger| ledger.seen().probes, "probes with a reply"), "The bits of the status word are not transmitted. A port without probes ignores them (C-3)."),
        "PRBn on one channel and REPLx on the other within 4096 periods. Only probes with a reply count, as a reply is optional."),
    Rule::hidden("L", "4.7",
        "off/off: no power. red: open (F-7). green: connected and idle. both (yellow): sending or receiving packet data.",
        "Lamps are not transmitted. `links` derives their state from the events that control them."),
];
