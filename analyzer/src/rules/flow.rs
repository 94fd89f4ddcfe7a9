//! Rules of flow control.

use super::{Rule, RuleEvidence, RuleVisibility, judged, test};
use crate::finding::{FindingKind, ParameterCheck};

#[rustfmt::skip]
pub(super) const RULES: [Rule; 9] = [
    Rule::shown("F-1",
        RuleVisibility::Part(judged(ParameterCheck::Obedience, |set| set.seen().check_coverage(ParameterCheck::Obedience).times, "stops"), "The times at which STOP reaches the sender and a byte leaves it are known only at the tap: the allowance is the interpretation time, plus twice the cable delay for a tap at the receiver. There, data after a pause of 14 periods is not late: its sender may have detected 16 silent periods and resumed (F-7)."),
        "STOP on one channel and data on the other. The tap of the link (tap=) and the interpretation time (int=) must be known, and the cable delay (delay=) for a tap at the receiver.")
        .example("contention"),
    Rule::shown("F-2",
        RuleVisibility::Part(test(RuleEvidence::Link, |set| set.seen().stops, "stops"), "The initial state of a sender does not show; its release shows only if it has data."),
        "STOP and GO on one channel and data on the other.")
        .example("contention"),
    Rule::shown("F-3",
        RuleVisibility::Part(judged(ParameterCheck::Thresholds, |set| set.seen().check_coverage(ParameterCheck::Thresholds).times, "changes of STOP and GO"), "The fill level is bounded, not known exactly, as the capture does not show when cells are emptied. Parameters that are neither declared nor given are assumed; contradictions to assumed ones are notes."),
        "STOP and GO on one channel, and the data on the other that fills the buffer; tap=, kg=, h=, ks=, delay= and gen= of the other channel.")
        .example("slack"),
    Rule::shown("F-4",
        RuleVisibility::Part(judged(ParameterCheck::Timing, |set| set.seen().check_coverage(ParameterCheck::Timing).times, "changes of STOP and GO"), "k_s, h, the cable delay and the latencies must be declared or given. Commands repeat as fill, so only changes count; two changes may follow each other at any interval."),
        "Changes of STOP and GO: no three within 2h − 1 periods, with h of the port that sends them (h= of the channel to it); data after STOP for no longer than cable and latencies allow (delay=, gen=, int=).")
        .example("adversary"),
    Rule::hidden("F-5",
        "The contents of a slack buffer are not transmitted. The bounds of the fill level count a cell for each framing mark (F-3)."),
    Rule::hidden("F-6",
        "What else a sender had to send in a period is unknown."),
    Rule::shown("F-7",
        RuleVisibility::Part(test(RuleEvidence::Channel, |set| set.total(FindingKind::OpenLink), "silences of 16 periods"), "The return of a sender to GO shows only if it has data; the GAP that ends the packet shows only on the link after the switch."),
        "16 periods of IDLE, and the reported end of the packet.")
        .example("cut"),
    Rule::shown("F-8",
        RuleVisibility::Part(test(RuleEvidence::Channel, |set| set.seen().characters, "characters"), "16 silent periods are reported as an open link (F-7): a tap cannot distinguish a sender without fill from an open cable."),
        "Periods without a character. Two in a row are a note if the channel declares fill=chip.")
        .example("two-hosts"),
    Rule::shown("F-9",
        RuleVisibility::Part(judged(ParameterCheck::Room, |set| set.seen().check_coverage(ParameterCheck::Room).times, "STOPs"), "ORUN means that characters may have been lost. An actual loss shows in the packet after the buffer, which is too short or has a bad CRC (P-1, P-4). A receiver without ORUN does not report a loss."),
        "ORUN on the opposite channel; data after STOP that exceeds the free cells, if ks=, delay=, gen= and tap= are known.")
        .example("slack"),
];
