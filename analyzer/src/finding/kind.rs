//! Kinds of findings: name, rule, severity and meaning.

use serde::{Serialize, Serializer};

use super::EvidenceView;
use crate::named_enum::named_enum;

named_enum! {
    /// Severity of a finding.
    pub enum Severity {
        /// Violated rule, or lost data.
        Error = "error",
        /// Event that does not occur in a healthy network.
        Warning = "warning",
        /// Information: also occurs in a healthy network.
        Note = "note",
    }
}

/// Name, rule, severity and text of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FindingInfo {
    /// Kind of the finding.
    pub kind: FindingKind,
    /// Name in `docs/output.md`.
    pub name: &'static str,
    /// Rule of the finding; none if it concerns the recording.
    pub rule: Option<&'static str>,
    /// Severity.
    pub severity: Severity,
    /// View that shows an occurrence.
    pub view: EvidenceView,
    /// Meaning, in one line.
    pub text: &'static str,
    /// Likely causes, in the order of their likelihood.
    pub causes: &'static str,
    /// Next step: what to look at, or what to measure.
    pub next: &'static str,
}

/// Declares the kinds of findings, each with its [`FindingInfo`].
macro_rules! finding_kinds {
    ($($Kind:ident: $name:literal, $rule:expr, $Severity:ident, $View:ident, $text:literal, $causes:literal, $next:literal;)+) => {
        /// Kinds of findings, in order of their rules.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum FindingKind {
            $(#[doc = $text] $Kind,)+
        }

        /// All kinds, in the order of [`FindingKind`].
        pub const ALL: [FindingInfo; [$($name),+].len()] = [$(FindingInfo {
            kind: FindingKind::$Kind,
            name: $name,
            rule: $rule,
            severity: Severity::$Severity,
            view: EvidenceView::$View,
            text: $text,
            causes: $causes,
            next: $next,
        }),+];
    };
}

finding_kinds! {
    CorrectedCode: "corrected-code", Some("C-4"), Warning, Characters, "a control code with one bit cleared, corrected to the nearest symbol",
        "a broken wire or a loose contact: every 1 on it arrives as 0; noise, if the damage is rare",
        "list the damaged codes with `events --filter 'event == corrected-code'`: if all lack the same bit, replace the cable; otherwise check its length and its shield";
    InvalidCode: "invalid-code", Some("C-5"), Error, Characters, "a control code that matches no symbol",
        "noise, skew between wires, or a broken wire that changes more than one bit",
        "compare the codes with `events --filter 'event == invalid-code'`; exchange the cable, then the port, and see which of them the codes follow";
    ClockDrift: "clock-drift", Some("W-6"), Note, Links, "a sender's clock drifts, or its declared period is wrong",
        "the oscillators of two components differ; or the capture declares a wrong period",
        "compare the declared period (`period_ps` of `info --format json`) with the sender's; then measure its clock";
    LostGap: "lost-gap", Some("P-1"), Warning, Characters, "good CRC up to an empty period inside the packet: a GAP may be lost",
        "the GAP between two packets was damaged and arrived as silence: a bad wire or noise",
        "look for `corrected-code` and `invalid-code` on the same channel; check the cable and the connector";
    MayBeTwo: "may-be-two", Some("P-1"), Note, Characters, "good CRC up to an IDLE inside the packet: it may be two packets",
        "a lost GAP; or one packet whose sender paused for one period",
        "declare the sender's fill with `--assume fill=chip` if it is known: then the finding is certain or disappears";
    Merged: "merged", Some("P-1"), Error, Journeys, "two packets continued as one because the GAP between them was lost",
        "a bad wire or noise on the link where the GAP disappeared",
        "see the two packets with `journeys`; check the cable of the link that the finding names";
    TruncatedInTransit: "truncated-in-transit", Some("P-1"), Error, Journeys, "a packet has fewer bytes than on the previous captured link",
        "a cable or a port that failed for a moment, a reset, or a blocked-packet timeout between the two taps",
        "look for `open-link`, `forward-reset` and `overrun-alarm` at the same time; check the link that the finding names";
    NoTag: "no-tag", Some("P-2"), Warning, Packets, "a packet of route bytes only, without a tag for the interface",
        "software that built a packet from route bytes only, or a route that is too long for the network",
        "print the bytes with `packets --hex`; compare the route with `topology`";
    CrcBad: "crc-bad", Some("P-4"), Error, Packets, "the CRC byte does not match the bytes before it",
        "a bit changed on a wire before this tap, or the packet was ended before its last byte",
        "find the first link on which the packet was bad with `journeys`; then look at that cable, its connectors and its ports";
    CorruptedInTransit: "corrupted-in-transit", Some("P-5"), Error, Journeys, "a packet's syndrome differs from that on the previous captured link",
        "a bad cable or port on the link that the finding names, or bad memory in the switch before it",
        "exchange the cable, then the port; if the damage stays with the switch, exchange the switch";
    PartialAtStart: "partial-at-start", Some("P-7"), Note, Packets, "a packet started before the recording: its CRC cannot be checked",
        "the recording began inside a packet",
        "no action; start the recording before the traffic to see the whole packet";
    Runt: "runt", Some("P-9"), Warning, Packets, "a packet of one byte: it has no CRC byte",
        "noise that looks like a data byte on an idle link, or a packet that was ended after its first byte",
        "look at the characters around it with `show`; repeated cases point to the cable";
    OneWay: "one-way", Some("F-1"), Note, Topology, "the opposite channel was not captured: flow control cannot be checked",
        "only one direction of the link was recorded",
        "record both directions: flow control is visible only there";
    DataWhileStopped: "data-while-stopped", Some("F-1"), Error, Characters, "data left the sender after the latest time at which STOP takes effect",
        "a sender that reacts to STOP too late or ignores it; or wrong assumptions about the cable",
        "check `--assume delay=…,int=…` against the cable's length; then test the sender";
    UnexpectedStopGo: "unexpected-stop-go", Some("F-3"), Warning, Characters, "STOP or GO although the slack buffer crossed no threshold",
        "a receiver with other thresholds than declared, or a damaged code that arrived as STOP or GO",
        "look for `corrected-code` on the channel; compare the declared thresholds with the hardware's";
    UnlikeAssumed: "unlike-assumed", Some("F-3"), Note, Characters, "STOP or GO although the slack buffer as assumed crossed no threshold",
        "the assumed size or thresholds of the slack buffer are not those of the receiver",
        "see the estimates with `links --slack`, and pass the real values with `--assume`";
    CommandsTooOften: "commands-too-often", Some("F-4"), Warning, Characters, "STOP and GO alternate faster than the hysteresis allows",
        "a receiver with less hysteresis than declared, or damaged codes",
        "compare the thresholds of the receiver with `links --slack`";
    StopTooLate: "stop-too-late", Some("F-4"), Warning, Characters, "more data followed STOP than cable delay and latencies explain",
        "a cable longer than declared, or a sender that interprets STOP slowly",
        "measure the cable: 25 m hold about 23 characters on the round trip; check the size of the buffer with `links --slack`";
    OpenLink: "open-link", Some("F-7"), Error, Characters, "no character for 16 periods: no cable, no power, or a failed sender",
        "a cable that was cut or unplugged, a port without power, or a failed sender",
        "look at the cable and both connectors; the lamp of the port is red; test the sender on another cable";
    TruncatedByOpenLink: "truncated-by-open-link", Some("F-7"), Error, Characters, "a packet was ended by 16 silent periods instead of a GAP",
        "a cable, a port or a sender that failed in the middle of a packet",
        "look at the cable and the sender that `open-link` names at the same time";
    SilentAtFirst: "silent-at-first", Some("F-7"), Note, Characters, "silent from the first character on: unused, or not started yet",
        "a port that is not connected or was powered on later",
        "no action, if the port is unused; otherwise look at its lamp and its cable";
    UnexpectedFill: "unexpected-fill", Some("F-8"), Note, Characters, "two or more periods without a character although fill=chip is declared",
        "a sender that is not Myricom's chip, although the capture declares it; or lost characters",
        "declare `fill=other`; look for `invalid-code` and holes on the channel";
    OverrunAlarm: "overrun-alarm", Some("F-9"), Warning, Characters, "ORUN: the far receiver may have lost characters in a full buffer",
        "a slack buffer too small for its cable, or a sender that ignores STOP",
        "check the length of the cable against `links --slack`; look for `stop-too-late` on the opposite channel";
    OverrunRisk: "overrun-risk", Some("F-9"), Warning, Characters, "so much data followed STOP that the slack buffer may have overflowed",
        "a cable too long for the slack buffer, or a sender that reacts late",
        "compare the fill levels of `links --slack` with the buffer's size; look for `crc-bad` behind it";
    ResetNotEnded: "reset-not-ended", Some("R-1"), Warning, Characters, "no GAP directly after FRES although reset=own-gap is declared",
        "a sender that ends its resets differently than declared, or a damaged GAP",
        "declare `reset=next-gap` if that is how the sender works; otherwise check the cable";
    ForwardReset: "forward-reset", Some("R-2"), Warning, Characters, "FRES: the receiver clears its buffer and drops data until the next GAP",
        "a sender whose packet was blocked for 2^22 periods, a BRES of the far end, or a restart",
        "find the cause with `blocking`; look for `backward-reset` on the opposite channel";
    DataInReset: "data-in-reset", Some("R-2"), Note, Characters, "data between FRES and GAP, which the receiver drops",
        "the rest of a packet that was interrupted by the reset",
        "see `forward-reset`: the reset is the cause";
    CutByReset: "cut-by-reset", Some("R-3"), Warning, Characters, "a packet was ended by FRES instead of a GAP",
        "a timeout, a BRES or a restart while the packet was sent",
        "see `forward-reset`; `journeys` shows the packet and where it waited";
    MissingTimeout: "missing-timeout", Some("R-4"), Error, Characters, "blocked for over 2^22 periods, and the required reset or GAP is missing",
        "a sender without the blocked-packet timeout, or with a longer one",
        "compare the sender's version and its configuration; see the wait with `blocking`";
    BlockedTimeout: "blocked-timeout", Some("R-4"), Error, Characters, "blocked for 2^22 periods: the sender abandoned its packet",
        "a deadlock, a host that does not accept data, or a switch output that never became free",
        "see what the packet waited for with `blocking`; check the routes and the host at the end of the chain";
    BackwardReset: "backward-reset", Some("R-5"), Warning, Characters, "BRES: a receiver requests a forward reset",
        "a receiver in an undefined state, often after a restart or an overflow",
        "look for `overrun-alarm` and `open-link` before it; see which component was restarted";
    ResetNotAnswered: "reset-not-answered", Some("R-5"), Note, Characters, "no FRES followed BRES: the port does not implement it, or has failed",
        "a port without this optional function, or a failed sender",
        "see with `show` whether the channel still carries data; otherwise test the port";
    ProbeNotAnswered: "probe-not-answered", Some("R-6"), Note, Characters, "no reply followed a probe: the port does not implement it, or has failed",
        "a port without this optional function, or a failed receiver",
        "send a PRB0 to another port of the same type and compare";
    UnsolicitedReply: "unsolicited-reply", Some("R-6"), Note, Characters, "a reply without a captured probe",
        "a probe that was not recorded, or a damaged code that arrived as a reply",
        "record both directions; look for `invalid-code` on the channel";
    NoSuchPort: "no-such-port", Some("S-1"), Warning, Journeys, "a switch dropped a packet: the selected port does not exist or is unused",
        "a wrong route, a host that was moved, or an output whose link is open",
        "compare the route in `journeys` with `topology`; look for `open-link` at the switch's output";
    NoRoute: "no-route", Some("S-2"), Warning, Journeys, "a switch dropped a packet: its first byte is not a route byte",
        "a route that is too short, or software that did not prepend one",
        "print the bytes with `packets --hex`; compare the route's length with the number of switches";
    Busy: "busy", Some("S-3"), Note, Waits, "packets waited for an output that others were using: normal under load",
        "several packets for one output at the same time",
        "no action, unless the waits are long: `blocking` shows how long, and behind which packets";
    SlowPath: "slow-path", Some("S-6"), Note, Journeys, "a switch took longer than its bound without visible contention",
        "contention on a channel that was not captured, or a slow switch",
        "record all inputs of the switch; compare the path formation with its data sheet and `--assume path=…`";
    Misrouted: "misrouted", Some("I-2"), Warning, Journeys, "a packet reached a host with route bytes left; the host rejects it",
        "a route that is too long, or a host connected to another port than the route expects",
        "compare the route in `journeys` with `topology`, and the cables with the plan";
    SlowHost: "slow-host", Some("I-4"), Note, Waits, "a host accepted no data for longer than a few microseconds",
        "a host whose memory or software is slow to take packets",
        "see how long it stopped its link with `links`; check the load of the host and its DMA";
    Deadlock: "deadlock", Some("N-2"), Error, Waits, "packets wait for each other in a cycle: the routes are not deadlock-free",
        "routes that form a cycle, for example without the up*/down* rule",
        "see the cycle with `blocking`; compute the routes anew";
    TwoOutstanding: "two-outstanding", Some("T-2"), Error, Messages, "a message was sent before the previous one on its channel had an ACK",
        "a sender that does not wait for ACKs, or two senders with one NIC number",
        "see the messages with `conversations --events`; check for NICs with the same number";
    NotFlipped: "sequence-not-flipped", Some("T-4"), Error, Messages, "a new message reuses the sequence number of an acknowledged one",
        "a fault of the sender's protocol software",
        "see the messages with `conversations --events`; report the two packets";
    MessageAltered: "message-altered", Some("T-4"), Error, Messages, "two messages share a sequence number; the first was not acknowledged",
        "a fault of the sender's software: it changed a message before it was acknowledged",
        "compare the two packets with `packets --hex`";
    AckOfLost: "ack-of-lost", Some("T-5"), Error, Messages, "an ACK for data that was corrupted in transit and therefore lost",
        "a receiver that does not check the CRC, or damage between the tap and the receiver that hid it",
        "check whether the receiver counts the packet; see where it was damaged with `journeys`";
    NackAfterAck: "nack-after-ack", Some("T-5"), Error, Messages, "a NACK for a message that was already acknowledged",
        "a receiver that lost its state, for example by a restart",
        "look for a restart of the receiver; see `conversations --events`";
    MessageRefused: "message-refused", Some("T-6"), Warning, Messages, "a final NACK: the message is returned to its sender",
        "a wrong endpoint key, or an endpoint that does not exist",
        "read the reason in `conversations --events`; check that both programs use the same key";
    NackStorm: "nack-storm", Some("T-6"), Note, Messages, "a message received eight NACKs: its receiver is overloaded",
        "a receiver that does not read its queue, or has too few frames for its endpoints",
        "read the reason of the NACKs in `conversations --events`; check the load of the receiver";
    MalformedMessage: "malformed-message", Some("T-7"), Note, Messages, "a packet of type 01 that does not parse as the reliability protocol",
        "another protocol with the same packet type, or faulty software",
        "print the bytes with `packets --hex`; see which host sends them";
    AnswerUnasked: "answer-unasked", Some("T-8"), Warning, Messages, "an ACK or NACK that echoes no captured transmission",
        "a transmission that was not recorded, or a faulty receiver",
        "record all links of the sender; compare the timestamps in `conversations --events`";
    ResendStorm: "retransmission-storm", Some("T-10"), Warning, Messages, "a message was retransmitted eight times without an answer",
        "a receiver that is down or unreachable, or a path that damages every packet",
        "see whether the packets arrive with `journeys`, and whether the receiver answers at all";
    TimerTooEarly: "timer-too-early", Some("T-10"), Note, Messages, "a message was retransmitted while an answer was in transit",
        "a timeout shorter than the round trip under load",
        "compare the timeout with the round trips of `conversations`; make it longer";
    ResentAfterAck: "resent-after-ack", Some("T-10"), Warning, Messages, "a message was retransmitted more than 1 ms after its ACK arrived",
        "an ACK that was damaged or dropped after the tap, or a sender that did not process it",
        "see whether the ACK reached the sender whole with `journeys`; check the sender's load";
    MessageUnanswered: "message-unanswered", Some("T-11"), Warning, Messages, "a message got no answer before its logical channel was reopened",
        "a receiver that was down or unreachable for longer than all retransmissions",
        "look for `open-link` and `no-such-port` on the way; see the route with `journeys`";
    SyncMissing: "sync-missing", Some("T-12"), Error, Messages, "a new incarnation of a logical channel begins without SYNC",
        "a fault of the sender's protocol software after a restart",
        "see the first packets of the incarnation with `conversations --events`";
    SyncAgain: "sync-again", Some("T-12"), Error, Messages, "SYNC on a message that does not begin an incarnation",
        "a fault of the sender's protocol software",
        "see the packets of the incarnation with `conversations --events`";
    IncarnationBackwards: "incarnation-backwards", Some("T-12"), Error, Messages, "data of an older incarnation after data of a newer one",
        "a NIC whose counter was set back by a restart, or two NICs with one number",
        "check the clock of the restarted host; look for NICs with the same number";
    StalePacket: "stale-packet", Some("T-12"), Note, Messages, "a packet of an earlier incarnation or of a completed message",
        "a packet that was delayed in the network while its channel was reopened",
        "no action, if it is rare; otherwise see the delays with `journeys`";
    Hole: "hole", None, Note, Characters, "characters were not recorded: all state of the channel is reset",
        "a recorder that was too slow or was interrupted",
        "see where with `events --filter 'event == hole'`; record less, or faster";
    Repeats: "repeats", None, Note, Characters, "a long repetition: not every round was examined",
        "a capture with a very long repeated pattern",
        "no action: the omitted repetitions equal the examined ones";
}

impl FindingKind {
    /// Name, rule, severity and text of the kind.
    #[must_use]
    pub fn about(self) -> &'static FindingInfo {
        let [first, ..] = &ALL;
        ALL.get(usize::from(self as u8)).unwrap_or(first)
    }

    /// Kind with the given name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static FindingInfo> {
        ALL.iter().find(|about| about.name == name)
    }
}

impl Serialize for Severity {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_kind_is_in_its_place_and_has_a_name_of_its_own() {
        let names: BTreeSet<_> = ALL.iter().map(|about| about.name).collect();
        assert_eq!(names.len(), ALL.len());
        for (place, about) in ALL.iter().enumerate() {
            assert_eq!(usize::from(about.kind as u8), place, "{}", about.name);
            assert_eq!(about.kind.about(), about);
            assert!(about.text.len() <= 72, "{}", about.name);
            assert!(!about.causes.is_empty() && !about.next.is_empty(), "{}", about.name);
        }
        assert_eq!(usize::from(FindingKind::Repeats as u8) + 1, ALL.len());
    }
}
