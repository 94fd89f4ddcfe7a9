//! Rules of flow control.

use super::{Rule, RuleEvidence, RuleVisibility, judged, test};
use crate::finding::{FindingKind, ParameterCheck};

#[rustfmt::skip]
pub(super) const RULES: [Rule; 9] = [
    Rule::shown("F-1", "4.3, 4.5.1",
        "STOP and GO received on one channel govern the sender of the opposite channel. Only packet data is held; control symbols never are (§4.5.1). §4.3 says that *framing* too waits for permission. **Decision:** §4.5.1 by default, so the GAP that ends a packet may follow its last byte while stopped; §4.3 as an option of a sender; a capture may show either, and neither is an error.",
        RuleVisibility::Part(judged(ParameterCheck::Obedience, |ledger| ledger.seen().check_coverage(ParameterCheck::Obedience).times, "stops"), "When STOP reaches the sender, and when a byte left it, is seen only from the end where the tap is: the allowance is the interpretation time, and at the far end the cable twice. There only data without a pause of 14 periods is late: behind one its sender may have seen 16 silent ones and gone on (F-7)."),
        "STOP on one channel, data on the other. The tap of the link (tap=) and the interpretation time (int=) must be known, and where the tap is at the receiver, the cable too (delay=).")
        .example("fixtures/demo-contention/capture.pcapng"),
    Rule::shown("F-2", "4.5.3",
        "A sender starts in GO. It is *stopped* by STOP, released by GO, and by F-7 and R-1.",
        RuleVisibility::Part(test(RuleEvidence::Link, |ledger| ledger.seen().stops, "stops"), "How a sender starts is not seen; what it would do when released, only if it has data."),
        "STOP and GO on one channel, data on the other.")
        .example("fixtures/demo-contention/capture.pcapng"),
    Rule::shown("F-3", "4.5.2",
        "The slack buffer is a FIFO of r = k_g + h + k_s cells, f of them full, 0 at first. When f rises to r − k_s it generates STOP; when f falls to k_g it generates GO. **Decision:** only a rise to, or fall to, the threshold generates (edge, not level), and a GO is only generated after a STOP.",
        RuleVisibility::Part(judged(ParameterCheck::Thresholds, |ledger| ledger.seen().check_coverage(ParameterCheck::Thresholds).times, "changes of STOP and GO"), "The fill is bounded, never known: cells are emptied out of sight. Where parts of the buffer are neither declared nor given they are assumed, which judges nothing: what does not fit them is noted."),
        "STOP and GO on one channel, and the data on the other that fills the buffer; tap=, kg=, h=, ks=, delay= and gen= of that other.")
        .example("fixtures/demo-slack/capture.pcapng"),
    Rule::shown("F-4", "4.2, 4.5.2, 4.8.5",
        "k_s ≥ 2·D·B + latencies; 2·D·B = 23 for 25 m (D = 140 ns). h = 16 keeps flow-control symbols to about 6 % of the opposite channel under any load (two symbols in at least 2h − 1 periods). Usually k_g = k_s. **Decision, defaults:** k_g = k_s = 32, h = 16, r = 80; symbol generation 2 periods, interpretation 2 periods; D = 12 periods (25 m). These are properties of a *port*, and the two ends of a link may differ (§4.8.5). An analyzer that was not told a value estimates it from the capture and says so; no rule is judged by a value that is only assumed.",
        RuleVisibility::Part(judged(ParameterCheck::Timing, |ledger| ledger.seen().check_coverage(ParameterCheck::Timing).times, "changes of STOP and GO"), "k_s, h, the cable and the latencies must be declared or given. Commands repeat as fill, so only changes count; two changes without a third between are as fast as may be."),
        "Changes of STOP and GO: no three in 2h − 1 periods, h being that of the port that sends them (h= of the channel that leads to it); data behind STOP for no longer than cable and latencies take (delay=, gen=, int=).")
        .example("fixtures/demo-adversary/capture.pcapng"),
    Rule::hidden("F-5", "4.5",
        "The framing mark that ends a packet travels through the FIFO behind its data. **Decision:** it takes one cell; redundant GAPs take none.",
        "Which cells of a slack buffer hold what is not on the wire. That a mark takes a cell is counted in the bounds of the fill (F-3)."),
    Rule::hidden("F-6", "4.5.1",
        "Output priority in every period: (1) STOP/GO from the slack buffer, (2) other commanded control symbols, (3) data and framing when flow control permits, (4) fill.",
        "What else a sender had to send in a period does not show."),
    Rule::shown("F-7", "4.5.3",
        "Open-link timeout: 16 periods without a received non-IDLE character. It reverts a stopped sender to GO; if a packet is being received it is ended with a GAP; the link shows as open until the next non-IDLE character.",
        RuleVisibility::Part(test(RuleEvidence::Channel, |ledger| ledger.total(FindingKind::OpenLink), "silences of 16 periods"), "That a sender went back to GO shows only when it has data; that a packet was ended with GAP, on the link behind the switch."),
        "16 periods of IDLE. What ends the packet is told as its end.")
        .example("fixtures/demo-cut/capture.pcapng"),
    Rule::shown("F-8", "4.1, 4.5.3",
        "Every sender emits a non-IDLE character at least once in every 16 periods (IDLE may fill any other period, within or between packets, §4.1). **Chip:** inside a packet STOP or GO, whichever the local slack buffer last commanded (GO before any STOP, *chosen*), and single IDLEs for internal timing; between packets GAP and that STOP/GO in turn. Only the first sentence is judged.",
        RuleVisibility::Part(test(RuleEvidence::Channel, |ledger| ledger.seen().characters, "characters"), "16 silent periods are told as an open link (F-7): no tap can tell a sender that does not fill from a cable that is open."),
        "Periods without a character. Two in a row are noted where the channel declares fill=chip.")
        .example("fixtures/demo-two-hosts/capture.pcapng"),
    Rule::shown("F-9", "4.8.1",
        "Overflow: a data byte or framing mark that meets a full FIFO is lost; the simulator's truth always records it. On the wire it is silent unless ORUN is enabled: then the receiver sends ORUN on the opposite channel when an overrun *may* have occurred; with nearly simultaneous arrival and consumption certainty is physically impossible. **Decision:** ORUN when the buffer was full as a character came, whether or not a cell came free in that period. A reader takes it as \"may have lost\", and as a loss only together with a hurt packet.",
        RuleVisibility::Part(judged(ParameterCheck::Room, |ledger| ledger.seen().check_coverage(ParameterCheck::Room).times, "STOPs"), "ORUN means that characters may have been lost. Whether any were shows in the packet: too short behind the buffer, its CRC bad (P-1, P-4). A receiver without ORUN loses them in silence."),
        "ORUN on the opposite channel; data behind STOP that cannot have found room, where ks=, delay=, gen= and tap= are known.")
        .example("fixtures/demo-slack/capture.pcapng"),
];
