//! Rules of characters and wires.

use super::{Rule, RuleEvidence, RuleVisibility, test};
use crate::finding::FindingKind;

#[rustfmt::skip]
pub(super) const RULES: [Rule; 15] = [
    Rule::shown("C-1",
        RuleVisibility::All(test(RuleEvidence::Channel, |set| set.seen().characters, "characters")),
        "A capture records nine bits per period, so each of its periods is a character.")
        .example("two-hosts"),
    Rule::shown("C-2",
        RuleVisibility::All(test(RuleEvidence::Channel, |set| set.seen().codes, "control codes")),
        "Each control code of a channel. Codes outside the table count under C-4 and C-5.")
        .example("two-hosts"),
    Rule::shown("C-3",
        RuleVisibility::Part(test(RuleEvidence::Channel, |set| set.seen().optional, "ORUN, BRES, PRBn or REPLx"), "That a receiver ignores an optional symbol shows only by the absence of a reaction. Missing answers count under R-5 and R-6."),
        "The captured optional symbols.")
        .example("slack"),
    Rule::shown("C-4",
        RuleVisibility::Part(test(RuleEvidence::Channel, |set| set.total(FindingKind::CorrectedCode), "codes with a cleared bit"), "A capture contains the received code, not the symbol that was sent. A code with two cleared bits may equal another code or match none."),
        "Each control code of a channel.")
        .example("open-wire"),
    Rule::shown("C-5",
        RuleVisibility::All(test(RuleEvidence::Channel, |set| set.total(FindingKind::InvalidCode), "invalid codes")),
        "Each control code of a channel."),
    Rule::hidden("C-6",
        "A capture has IDLE for a period without a character, whether no wire changed or the recorder missed the character."),
    Rule::hidden("C-7",
        "The specification gives their symbols no codes. With a link profile, of the capture or of `--profile`, each virtual channel is judged as a channel of its own; without one, and beyond it, a code used for such a symbol is invalid (C-5)."),
    Rule::hidden("W-1",
        "A capture contains characters, not transitions of wires. `import` reads them by this rule."),
    Rule::hidden("W-2",
        "A capture counts periods. The rate of a sender is judged under W-6."),
    Rule::shown("W-3",
        RuleVisibility::Part(test(RuleEvidence::Channel, |set| set.seen().wires.skews, "channels whose skew was measured well enough"), "The window of the receiver is taken from the description of the channel, or is half its period. Wires between the tap and the receiver may add to the skew or compensate it. Without a measurement, excessive skew shows as corrected or invalid codes (C-4, C-5) and bad CRCs (P-4)."),
        "The longest character of a channel that was recorded from its wires, as its description declares it, less the resolution of the recording."),
    Rule::hidden("W-4",
        "A recording of wires shows the sum of all parts up to its tap, not the parts. The sum is judged under W-3: a tenth of the window must be left."),
    Rule::shown("W-5",
        RuleVisibility::Part(test(RuleEvidence::Channel, |set| set.total(FindingKind::WireOpen), "open wires"), "A wire that legal traffic does not use is not tested. An open wire is an inference from characters that are wrong, and right with a 1 on that wire; two open wires of packets are not told apart."),
        "Wires 0 to 7: 32 control codes that lack a 1 on the wire. Wires 4 to 7: packets with 65 different CRC bytes, 32 of them bad. `d`: 32 different invalid codes. No 1 on the wire in between.")
        .example("open-wire"),
    Rule::shown("W-6",
        RuleVisibility::Part(test(RuleEvidence::Rates, |set| set.seen().clocks.saturating_add(set.seen().wires.rates), "packets that pass switches without contention for long enough to show drift, and no measured periods"), "Clocks are compared with each other where packets pass switches without contention or data follows STOP; a wrongly declared period looks the same. A measured period is compared with that of the opposite channel, and with the nominal one: that comparison includes the error of the recorder's clock."),
        "A steady change of the time that packets take from one channel to another, or of the delay of data relative to the STOP and GO that control it. Periods measured on wires, as the descriptions of channels declare them."),
    Rule::hidden("W-7",
        "The type and the length of a cable are not transmitted."),
    Rule::shown("W-8",
        RuleVisibility::Part(test(RuleEvidence::Way, |set| set.seen().wires.located, "hurt packets whose flipped bits or inserted byte are known"), "Only where a packet was captured before and after, and in its first 64 bytes. Two errors that have nothing to do with each other may be on one wire. An inserted control code is no part of the packet."),
        "The bytes of a packet on two consecutive links."),
];
