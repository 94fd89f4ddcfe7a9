//! Rules of flow control.

use super::{Rule, RuleEvidence, RuleVisibility, judged, test};
use crate::finding::{FindingKind, ParameterCheck};

#[rustfmt::skip]
pub(super) const RULES: [Rule; 9] = [
    Rule::shown("F-1", "4.3, 4.5.1",
        "STOP and GO received on one channel govern the sender of the opposite channel. Only packet data is held; control symbols never are (§4.5.1). §4.3 says that *framing* too waits for permission. **Decision:** §4.5.1 by default, so the GAP that ends a packet may follow its last byte while stopped; §4.3 as an option of a sender; a capture may show either, and neither is an error.",
        RuleVisibility::Part(judged(ParameterCheck::Obedience, |ledger| ledger.seen().check_coverage(ParameterCheck::Obedience).times, "stops"), "The times at which STOP reaches the sender and a byte leaves it are known only at the tap: the allowance is the interpretation time, plus twice the cable delay for a tap at the receiver. There, data after a pause of 14 periods is not late: its sender may have detected 16 silent periods and resumed (F-7)."),
        "STOP on one channel and data on the other. The tap of the link (tap=) and the interpretation time (int=) must be known, and the cable delay (delay=) for a tap at the receiver.")
        .example("contention"),
    Rule::shown("F-2", "4.5.3",
        "A sender starts in GO. It is *stopped* by STOP, released by GO, and by F-7 and R-1.",
        RuleVisibility::Part(test(RuleEvidence::Link, |ledger| ledger.seen().stops, "stops"), "The initial state of a sender does not show; its release shows only if it has data."),
        "STOP and GO on one channel and data on the other.")
        .example("contention"),
    Rule::shown("F-3", "4.5.2",
        "The slack buffer is a FIFO of r = k_g + h + k_s cells, f of them full, 0 at first. When f rises to r − k_s it generates STOP; when f falls to k_g it generates GO. **Decision:** only a rise to, or fall to, the threshold generates (edge, not level), and a GO is only generated after a STOP.",
        RuleVisibility::Part(judged(ParameterCheck::Thresholds, |ledger| ledger.seen().check_coverage(ParameterCheck::Thresholds).times, "changes of STOP and GO"), "The fill level is bounded, not known exactly, as the capture does not show when cells are emptied. Parameters that are neither declared nor given are assumed; contradictions to assumed ones are notes."),
        "STOP and GO on one channel, and the data on the other that fills the buffer; tap=, kg=, h=, ks=, delay= and gen= of the other channel.")
        .example("slack"),
    Rule::shown("F-4", "4.2, 4.5.2, 4.8.5",
        "k_s ≥ 2·D·B + latencies; 2·D·B = 23 for 25 m (D = 140 ns). h = 16 keeps flow-control symbols to about 6 % of the opposite channel under any load (two symbols in at least 2h − 1 periods). Usually k_g = k_s. **Decision, defaults:** k_g = k_s = 32, h = 16, r = 80; symbol generation 2 periods, interpretation 2 periods; D = 12 periods (25 m). These are properties of a *port*, and the two ends of a link may differ (§4.8.5). An analyzer that was not told a value estimates it from the capture and says so; no rule is judged by a value that is only assumed.",
        RuleVisibility::Part(judged(ParameterCheck::Timing, |ledger| ledger.seen().check_coverage(ParameterCheck::Timing).times, "changes of STOP and GO"), "k_s, h, the cable delay and the latencies must be declared or given. Commands repeat as fill, so only changes count; two changes may follow each other at any interval."),
        "Changes of STOP and GO: no three within 2h − 1 periods, with h of the port that sends them (h= of the channel to it); data after STOP for no longer than cable and latencies allow (delay=, gen=, int=).")
        .example("adversary"),
    Rule::hidden("F-5", "4.5",
        "The framing mark that ends a packet travels through the FIFO behind its data. **Decision:** it takes one cell; redundant GAPs take none.",
        "The contents of a slack buffer are not transmitted. The bounds of the fill level count a cell for each framing mark (F-3)."),
    Rule::hidden("F-6", "4.5.1",
        "Output priority in every period: (1) STOP/GO from the slack buffer, (2) other commanded control symbols, (3) data and framing when flow control permits, (4) fill.",
        "What else a sender had to send in a period is unknown."),
    Rule::shown("F-7", "4.5.3",
        "Open-link timeout: 16 periods without a received non-IDLE character. It reverts a stopped sender to GO; if a packet is being received it is ended with a GAP; the link shows as open until the next non-IDLE character.",
        RuleVisibility::Part(test(RuleEvidence::Channel, |ledger| ledger.total(FindingKind::OpenLink), "silences of 16 periods"), "The return of a sender to GO shows only if it has data; the GAP that ends the packet shows only on the link after the switch."),
        "16 periods of IDLE, and the reported end of the packet.")
        .example("cut"),
    Rule::shown("F-8", "4.1, 4.5.3",
        "Every sender emits a non-IDLE character at least once in every 16 periods (IDLE may fill any other period, within or between packets, §4.1). **Chip:** inside a packet STOP or GO, whichever the local slack buffer last commanded (GO before any STOP, *chosen*), and single IDLEs for internal timing; between packets GAP and that STOP/GO in turn. Only the first sentence is judged.",
        RuleVisibility::Part(test(RuleEvidence::Channel, |ledger| ledger.seen().characters, "characters"), "16 silent periods are reported as an open link (F-7): a tap cannot distinguish a sender without fill from an open cable."),
        "Periods without a character. Two in a row are a note if the channel declares fill=chip.")
        .example("two-hosts"),
    Rule::shown("F-9", "4.8.1",
        "Overflow: a data byte or framing mark that meets a full FIFO is lost; the simulator's truth always records it. On the wire it is silent unless ORUN is enabled: then the receiver sends ORUN on the opposite channel when an overrun *may* have occurred; with nearly simultaneous arrival and consumption certainty is physically impossible. **Decision:** ORUN when the buffer was full as a character came, whether or not a cell came free in that period. A reader takes it as \"may have lost\", and as a loss only together with a hurt packet.",
        RuleVisibility::Part(judged(ParameterCheck::Room, |ledger| ledger.seen().check_coverage(ParameterCheck::Room).times, "STOPs"), "ORUN means that characters may have been lost. An actual loss shows in the packet after the buffer, which is too short or has a bad CRC (P-1, P-4). A receiver without ORUN does not report a loss."),
        "ORUN on the opposite channel; data after STOP that exceeds the free cells, if ks=, delay=, gen= and tap= are known.")
        .example("slack"),
];
