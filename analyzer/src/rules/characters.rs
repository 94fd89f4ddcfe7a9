//! Characters and wires.

use super::{Needs, Rule, Shows, test};
use crate::finding::Kind;

#[rustfmt::skip]
pub(super) const RULES: [Rule; 12] = [
    Rule {
        id: "C-1",
        clause: "4.1",
        text: "A character is 9 bits, `d 7 6 5 4 3 2 1 0`. `d = 1`: a data byte. `d = 0`: a control code.",
        shows: Shows::All(test(Needs::Channel, |ledger| ledger.seen().characters, "characters")),
        evidence: "A capture holds nine bits a period, so every character of it is one. What the wires carried, the recorder has read.",
        example: Some("fixtures/demo-two-hosts/capture.pcapng"),
    },
    Rule {
        id: "C-2",
        clause: "5.2",
        text: "IDLE 0x00 · GAP 0x0C · GO 0x03 · STOP 0x0F · ORUN 0x30 · FRES 0x33 · BRES 0x3C · PRBn 0xC0+n (n = 0..7) · REPLx 0xF0+x (x = 0..15).",
        shows: Shows::All(test(Needs::Channel, |ledger| ledger.seen().codes, "control codes")),
        evidence: "Each code of a channel by itself. Codes that are in no table count under C-4 and C-5.",
        example: Some("fixtures/demo-two-hosts/capture.pcapng"),
    },
    Rule {
        id: "C-3",
        clause: "4.8.5",
        text: "Mandatory: GAP GO STOP IDLE FRES. Optional: ORUN BRES PRBn REPLx. A receiver without an optional symbol ignores it.",
        shows: Shows::Part(test(Needs::Channel, |ledger| ledger.seen().optional, "ORUN, BRES, PRBn or REPLx"), "Whether a receiver without an optional symbol ignores it shows only in that nothing comes of it; that no answer comes counts under R-5 and R-6."),
        evidence: "The optional symbols that came.",
        example: Some("fixtures/link-1/capture.pcapng"),
    },
    Rule {
        id: "C-4",
        clause: "5.2",
        text: "A single 1→0 error in a control code is corrected: 0x04 0x08 → GAP; 0x01 0x02 → GO; 0x0E 0x0D 0x0B 0x07 → STOP (§5.2 lists these, then \"etc.\"). **Decision:** the \"etc.\" covers every fixed code: 0x13 0x23 0x31 0x32 → FRES; 0x10 0x20 → ORUN; 0x1C 0x2C 0x34 0x38 → BRES. All these sets are disjoint. PRBn and REPLx are not corrected. A corrected symbol acts as the symbol and is counted as corrected.",
        shows: Shows::Part(test(Needs::Channel, |ledger| ledger.total(Kind::CorrectedCode), "weakened codes"), "A capture shows the code that arrived. Which symbol was sent, nobody knows; two 1s lost in one code look like another code or like none."),
        evidence: "Each code of a channel by itself.",
        example: Some("fixtures/demo-open-wire/capture.pcapng"),
    },
    Rule {
        id: "C-5",
        clause: "–",
        text: "**Decision:** every other `d = 0` code is *invalid*: reported, counted, and otherwise ignored like IDLE, except that it is a received non-IDLE character (it resets the open-link timer).",
        shows: Shows::All(test(Needs::Channel, |ledger| ledger.total(Kind::InvalidCode), "invalid codes")),
        evidence: "Each code of a channel by itself.",
        example: Some("fixtures/link-7/capture.pcapng"),
    },
    Rule {
        id: "C-6",
        clause: "5.1",
        text: "IDLE carries no transition on any wire, so a receiver cannot see it: it is the absence of a character in a period.",
        shows: Shows::Nothing("A capture says IDLE where nothing came, as it must: that no wire moved cannot be told from a recorder that missed it."),
        evidence: "",
        example: None,
    },
    Rule {
        id: "C-7",
        clause: "4.8.4",
        text: "Virtual-channel symbols (VCn, GOn, STOPn) are named but get no codes: the character type is open to them (a set of symbols and a code table that a link profile can extend), and no codes are invented.",
        shows: Shows::Nothing("Virtual channels have no codes: a code that one used would be found invalid (C-5)."),
        evidence: "",
        example: None,
    },
    Rule {
        id: "W-1",
        clause: "5.1",
        text: "Nine wires, NRZ: a 1 is a transition of the wire in either direction, a 0 is none.",
        shows: Shows::Nothing("A capture holds characters, not transitions of wires."),
        evidence: "",
        example: None,
    },
    Rule {
        id: "W-2",
        clause: "5.1",
        text: "A character is sent at every transition of `sendclk` (40 MHz clock, both edges).",
        shows: Shows::Nothing("A capture counts periods: how long each one was, only an oscilloscope tells."),
        evidence: "",
        example: None,
    },
    Rule {
        id: "W-3",
        clause: "5.1",
        text: "The receiver is asynchronous: the first transition opens a sampling window of half a character period (6.25 ns); all transitions inside it belong to one character. Skew below the window is harmless; a transition later than the window falls into the next character.",
        shows: Shows::Nothing("A capture holds what a sampling window has made of the transitions. Too much skew shows as weakened or invalid codes (C-4, C-5) and bad CRCs (P-4)."),
        evidence: "",
        example: None,
    },
    Rule {
        id: "W-4",
        clause: "5.1",
        text: "Skew budget: 0.5 ns at the sender, about 1 ns in the drivers, 3–4 ns in the cable, 0.5 ns in the receiver: less than 6 ns.",
        shows: Shows::Nothing("Nanoseconds inside a period are not recorded."),
        evidence: "",
        example: None,
    },
    Rule {
        id: "W-5",
        clause: "5.1",
        text: "An open wire always turns a sent 1 into a received 0.",
        shows: Shows::Nothing("An open wire shows as one bit that is never 1: its codes arrive weakened (C-4) or invalid (C-5), its data with bad CRCs (P-4). Which wire it is, and that it is open, is a conclusion."),
        evidence: "",
        example: Some("fixtures/demo-open-wire/capture.pcapng"),
    },
];
