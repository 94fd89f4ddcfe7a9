//! Rules of characters and wires.

use super::{Rule, RuleEvidence, RuleVisibility, test};
use crate::finding::FindingKind;

#[rustfmt::skip]
pub(super) const RULES: [Rule; 15] = [
    Rule::shown("C-1", "4.1",
        "A character is 9 bits, `d 7 6 5 4 3 2 1 0`. `d = 1`: a data byte. `d = 0`: a control code.",
        RuleVisibility::All(test(RuleEvidence::Channel, |ledger| ledger.seen().characters, "characters")),
        "A capture holds nine bits a period, so every character of it is one. What the wires carried, the recorder has read.")
        .example("fixtures/demo-two-hosts/capture.pcapng"),
    Rule::shown("C-2", "5.2",
        "IDLE 0x00 · GAP 0x0C · GO 0x03 · STOP 0x0F · ORUN 0x30 · FRES 0x33 · BRES 0x3C · PRBn 0xC0+n (n = 0..7) · REPLx 0xF0+x (x = 0..15).",
        RuleVisibility::All(test(RuleEvidence::Channel, |ledger| ledger.seen().codes, "control codes")),
        "Each code of a channel by itself. Codes that are in no table count under C-4 and C-5.")
        .example("fixtures/demo-two-hosts/capture.pcapng"),
    Rule::shown("C-3", "4.8.5",
        "Mandatory: GAP GO STOP IDLE FRES. Optional: ORUN BRES PRBn REPLx. A receiver without an optional symbol ignores it.",
        RuleVisibility::Part(test(RuleEvidence::Channel, |ledger| ledger.seen().optional, "ORUN, BRES, PRBn or REPLx"), "Whether a receiver without an optional symbol ignores it shows only in that nothing comes of it; that no answer comes counts under R-5 and R-6."),
        "The optional symbols that came.")
        .example("fixtures/link-1/capture.pcapng"),
    Rule::shown("C-4", "5.2",
        "A single 1→0 error in a control code is corrected: 0x04 0x08 → GAP; 0x01 0x02 → GO; 0x0E 0x0D 0x0B 0x07 → STOP (§5.2 lists these, then \"etc.\"). **Decision:** the \"etc.\" covers every fixed code: 0x13 0x23 0x31 0x32 → FRES; 0x10 0x20 → ORUN; 0x1C 0x2C 0x34 0x38 → BRES. All these sets are disjoint. PRBn and REPLx are not corrected. A corrected symbol acts as the symbol and is counted as corrected.",
        RuleVisibility::Part(test(RuleEvidence::Channel, |ledger| ledger.total(FindingKind::CorrectedCode), "weakened codes"), "A capture shows the code that arrived. Which symbol was sent, nobody knows; two 1s lost in one code look like another code or like none."),
        "Each code of a channel by itself.")
        .example("fixtures/demo-open-wire/capture.pcapng"),
    Rule::shown("C-5", "–",
        "**Decision:** every other `d = 0` code is *invalid*: reported, counted, and otherwise ignored like IDLE, except that it is a received non-IDLE character (it resets the open-link timer).",
        RuleVisibility::All(test(RuleEvidence::Channel, |ledger| ledger.total(FindingKind::InvalidCode), "invalid codes")),
        "Each code of a channel by itself.")
        .example("fixtures/link-7/capture.pcapng"),
    Rule::hidden("C-6", "5.1",
        "IDLE carries no transition on any wire, so a receiver cannot see it: it is the absence of a character in a period.",
        "A capture says IDLE where nothing came, as it must: that no wire moved cannot be told from a recorder that missed it."),
    Rule::hidden("C-7", "4.8.4",
        "Virtual-channel symbols (VCn, GOn, STOPn) are named but get no codes: the character type is open to them (a set of symbols and a code table that a link profile can extend), and no codes are invented.",
        "Virtual channels have no codes: a code that one used would be found invalid (C-5)."),
    Rule::hidden("W-1", "5.1",
        "Nine wires, NRZ: a 1 is a transition of the wire in either direction, a 0 is none.",
        "A capture holds characters, not transitions of wires."),
    Rule::hidden("W-2", "5.1",
        "A character is sent at every transition of `sendclk` (40 MHz clock, both edges).",
        "A capture counts periods: how long each one was, only an oscilloscope tells."),
    Rule::hidden("W-3", "5.1",
        "The receiver is asynchronous, accepts characters whenever they arrive, and uses a sampling window of half a character period (6.25 ns at 80 M characters/s), which follows the period of its own `sendclk` and can also be set by a digital input. **Decision:** the first transition opens the window; all transitions inside it belong to one character; one that is later falls into the next character.",
        "A capture holds what a sampling window has made of the transitions. Too much skew shows as weakened or invalid codes (C-4, C-5) and bad CRCs (P-4)."),
    Rule::hidden("W-4", "5.1",
        "Skew budget: 0.5 ns at the sender, about 1 ns in the drivers, 4 ns in the wires of the cable, 0.5 ns in the receivers, positive and negative transitions included: typically less than 6 ns. A cable should have less than 3 ns.",
        "Nanoseconds inside a period are not recorded."),
    Rule::hidden("W-5", "5.1",
        "An open wire always turns a sent 1 into a received 0 (the predominant fault of a connection).",
        "An open wire shows as one bit that is never 1: its codes arrive weakened (C-4) or invalid (C-5), its data with bad CRCs (P-4). Which wire it is, and that it is open, is a conclusion.")
        .example("fixtures/demo-open-wire/capture.pcapng"),
    Rule::shown("W-6", "4.2, 4.5.3, 5.1",
        "Every sender has a `sendclk` of its own: the two channels of a link, and all links, run at nearly, not exactly, the same rate; no clock is shared. Timeouts are counted in transitions of the *local* `sendclk`. The transitions of a character come about 5 ns after that of `sendclk`. **Decision:** oscillators differ by up to ±100 ppm, 0 by default.",
        RuleVisibility::Part(test(RuleEvidence::Way, |ledger| ledger.seen().clocks, "packets that pass switches with nothing in their way for as long as drift takes to show"), "Only clocks against each other, and only where packets pass switches with nothing in their way, or data goes on behind STOP. A period that is declared wrong looks the same."),
        "Packets that take ever longer or shorter from one channel to another; data that comes ever later or earlier against the STOP and GO that govern it."),
    Rule::hidden("W-7", "5.5, 5.6, 5.7, Micro",
        "Cables: AT&T 1249020A (20 pairs, about 105 Ω, 0.6 c) up to 25 m; Amphenol 843-132-2601-040 flat up to about 20 m, round and shielded up to about 10 m (larger skew). 37-pin connectors; the ends of a cable are mirror images, so a straight one joins senders to senders. Distortion grows partly with the square of the length; longer links use repeaters; bit errors are well below 10⁻¹⁵ up to 25 m.",
        "The type and the length of a cable are not on the wire."),
    Rule::hidden("W-8", "5.1",
        "Errors on NRZ wires: a level that is wrong for a while makes two false transitions (two characters hurt on one wire, or a character inserted where there was none); a transition that is missed and stays missed makes one. So the commonest physical error is not one flipped bit of one character. (Follows from W-1.)",
        "A capture holds characters, not levels of wires."),
];
