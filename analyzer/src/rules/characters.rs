//! Rules of characters and wires.

use super::{Rule, RuleEvidence, RuleVisibility, test};
use crate::finding::FindingKind;

#[rustfmt::skip]
pub(super) const RULES: [Rule; 15] = [
    Rule::shown("C-1", "4.1",
        "A character is 9 bits, `d 7 6 5 4 3 2 1 0`. `d = 1`: a data byte. `d = 0`: a control code.",
        RuleVisibility::All(test(RuleEvidence::Channel, |ledger| ledger.seen().characters, "characters")),
        "A capture records nine bits per period, so each of its periods is a character.")
        .example("two-hosts"),
    Rule::shown("C-2", "5.2",
        "IDLE 0x00 · GAP 0x0C · GO 0x03 · STOP 0x0F · ORUN 0x30 · FRES 0x33 · BRES 0x3C · PRBn 0xC0+n (n = 0..7) · REPLx 0xF0+x (x = 0..15).",
        RuleVisibility::All(test(RuleEvidence::Channel, |ledger| ledger.seen().codes, "control codes")),
        "Each control code of a channel. Codes outside the table count under C-4 and C-5.")
        .example("two-hosts"),
    Rule::shown("C-3", "4.8.5",
        "Mandatory: GAP GO STOP IDLE FRES. Optional: ORUN BRES PRBn REPLx. A receiver without an optional symbol ignores it.",
        RuleVisibility::Part(test(RuleEvidence::Channel, |ledger| ledger.seen().optional, "ORUN, BRES, PRBn or REPLx"), "That a receiver ignores an optional symbol shows only by the absence of a reaction. Missing answers count under R-5 and R-6."),
        "The captured optional symbols.")
        .example("slack"),
    Rule::shown("C-4", "5.2",
        "A single 1→0 error in a control code is corrected: 0x04 0x08 → GAP; 0x01 0x02 → GO; 0x0E 0x0D 0x0B 0x07 → STOP (§5.2 lists these, then \"etc.\"). **Decision:** the \"etc.\" covers every fixed code: 0x13 0x23 0x31 0x32 → FRES; 0x10 0x20 → ORUN; 0x1C 0x2C 0x34 0x38 → BRES. All these sets are disjoint. PRBn and REPLx are not corrected. A corrected symbol acts as the symbol and is counted as corrected.",
        RuleVisibility::Part(test(RuleEvidence::Channel, |ledger| ledger.total(FindingKind::CorrectedCode), "codes with a cleared bit"), "A capture contains the received code, not the symbol that was sent. A code with two cleared bits may equal another code or match none."),
        "Each control code of a channel.")
        .example("open-wire"),
    Rule::shown("C-5", "–",
        "**Decision:** every other `d = 0` code is *invalid*: reported, counted, and otherwise ignored like IDLE, except that it is a received non-IDLE character (it resets the open-link timer).",
        RuleVisibility::All(test(RuleEvidence::Channel, |ledger| ledger.total(FindingKind::InvalidCode), "invalid codes")),
        "Each control code of a channel."),
    Rule::hidden("C-6", "5.1",
        "IDLE carries no transition on any wire, so a receiver cannot see it: it is the absence of a character in a period.",
        "A capture has IDLE for a period without a character, whether no wire changed or the recorder missed the character."),
    Rule::hidden("C-7", "4.8.4",
        "Virtual-channel symbols (VCn, GOn, STOPn) are named but get no codes: the character type is open to them (a set of symbols and a code table that a link profile can extend), and no codes are invented.",
        "The specification gives their symbols no codes. With a link profile, of the capture or of `--profile`, each virtual channel is judged as a channel of its own; without one, and beyond it, a code used for such a symbol is invalid (C-5)."),
    Rule::hidden("W-1", "5.1",
        "Nine wires, NRZ: a 1 is a transition of the wire in either direction, a 0 is none.",
        "A capture contains characters, not transitions of wires. `import` reads them by this rule."),
    Rule::hidden("W-2", "5.1",
        "A character is sent at every transition of `sendclk` (40 MHz clock, both edges).",
        "A capture counts periods. The rate of a sender is judged under W-6."),
    Rule::shown("W-3", "5.1",
        "The receiver is asynchronous, accepts characters whenever they arrive, and uses a sampling window of half a character period (6.25 ns at 80 M characters/s), which follows the period of its own `sendclk` and can also be set by a digital input. **Decision:** the first transition opens the window; all transitions inside it belong to one character; one that is later falls into the next character.",
        RuleVisibility::Part(test(RuleEvidence::Channel, |ledger| ledger.seen().wires.skews, "channels whose skew was measured well enough"), "The window of the receiver is taken from the description of the channel, or is half its period. Wires between the tap and the receiver may add to the skew or compensate it. Without a measurement, excessive skew shows as corrected or invalid codes (C-4, C-5) and bad CRCs (P-4)."),
        "The longest character of a channel that was recorded from its wires, as its description declares it, less the resolution of the recording."),
    Rule::hidden("W-4", "5.1",
        "Skew budget: 0.5 ns at the sender, about 1 ns in the drivers, 4 ns in the wires of the cable, 0.5 ns in the receivers, positive and negative transitions included: typically less than 6 ns. A cable should have less than 3 ns.",
        "A recording of wires shows the sum of all parts up to its tap, not the parts. The sum is judged under W-3: a tenth of the window must be left."),
    Rule::shown("W-5", "5.1",
        "An open wire always turns a sent 1 into a received 0 (the predominant fault of a connection).",
        RuleVisibility::Part(test(RuleEvidence::Channel, |ledger| ledger.total(FindingKind::WireOpen), "open wires"), "A wire that legal traffic does not use is not tested. An open wire is an inference from characters that are wrong, and right with a 1 on that wire; two open wires of packets are not told apart."),
        "Wires 0 to 7: 32 control codes that lack a 1 on the wire. Wires 4 to 7: packets with 65 different CRC bytes, 32 of them bad. `d`: 32 different invalid codes. No 1 on the wire in between.")
        .example("open-wire"),
    Rule::shown("W-6", "4.2, 4.5.3, 5.1",
        "Every sender has a `sendclk` of its own: the two channels of a link, and all links, run at nearly, not exactly, the same rate; no clock is shared. Timeouts are counted in transitions of the *local* `sendclk`. The transitions of a character come about 5 ns after that of `sendclk`. **Decision:** oscillators differ by up to ±100 ppm, 0 by default.",
        RuleVisibility::Part(test(RuleEvidence::Rates, |ledger| ledger.seen().clocks.saturating_add(ledger.seen().wires.rates), "packets that pass switches without contention for long enough to show drift, and no measured periods"), "Clocks are compared with each other where packets pass switches without contention or data follows STOP; a wrongly declared period looks the same. A measured period is compared with that of the opposite channel, and with the nominal one: that comparison includes the error of the recorder's clock."),
        "A steady change of the time that packets take from one channel to another, or of the delay of data relative to the STOP and GO that control it. Periods measured on wires, as the descriptions of channels declare them."),
    Rule::hidden("W-7", "5.5, 5.6, 5.7, Micro",
        "Cables: AT&T 1249020A (20 pairs, about 105 Ω, 0.6 c) up to 25 m; Amphenol 843-132-2601-040 flat up to about 20 m, round and shielded up to about 10 m (larger skew). 37-pin connectors; the ends of a cable are mirror images, so a straight one joins senders to senders. Distortion grows partly with the square of the length; longer links use repeaters; bit errors are well below 10⁻¹⁵ up to 25 m.",
        "The type and the length of a cable are not transmitted."),
    Rule::shown("W-8", "5.1",
        "Errors on NRZ wires: a level that is wrong for a while makes two false transitions (two characters hurt on one wire, or a character inserted where there was none); a transition that is missed and stays missed makes one. So the commonest physical error is not one flipped bit of one character. (Follows from W-1.)",
        RuleVisibility::Part(test(RuleEvidence::Way, |ledger| ledger.seen().wires.located, "hurt packets whose flipped bits or inserted byte are known"), "Only where a packet was captured before and after, and in its first 64 bytes. Two errors that have nothing to do with each other may be on one wire. An inserted control code is no part of the packet."),
        "The bytes of a packet on two consecutive links."),
];
