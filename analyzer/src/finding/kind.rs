//! Kinds of findings: name, rule, severity and meaning.

use serde::{Serialize, Serializer};

use super::EvidenceView;
use crate::named_enum::named_enum;

named_enum! {
    /// Severity of a finding.
    #[derive(Default)]
    pub enum Severity {
        /// Violated rule, or lost data.
        Error = "error",
        /// Event that does not occur in a healthy network.
        Warning = "warning",
        /// Information: also occurs in a healthy network.
        #[default]
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
    /// Rule of the finding; none if it concerns the recording, or if no rule is known to be broken.
    pub rule: Option<&'static str>,
    /// Severity.
    pub severity: Severity,
    /// View that shows an occurrence.
    pub view: EvidenceView,
    /// Meaning, in one line.
    pub text: &'static str,
    /// A small capture that has the finding.
    pub sample: &'static [u8],
}

/// Declares the kinds of findings, each with its [`FindingInfo`].
macro_rules! finding_kinds {
    ($($Kind:ident: $name:literal, $rule:expr, $Severity:ident, $View:ident, $text:literal;)+) => {
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
            sample: include_bytes!(concat!("../../findings/", $name, ".pcapng")),
        }),+];
    };
}

finding_kinds! {
    CorrectedCode: "corrected-code", Some("C-4"), Warning, Characters, "a control code with one bit cleared, corrected to the nearest symbol";
    InvalidCode: "invalid-code", Some("C-5"), Error, Characters, "a control code that matches no symbol";
    SkewMargin: "skew-margin", Some("W-3"), Warning, Characters, "the skew of the wires leaves less than a tenth of the sampling window";
    WireOpen: "wire-open", Some("W-5"), Error, Characters, "a wire on which every 1 arrives as 0";
    StillWire: "still-wire", Some("W-5"), Warning, Characters, "a wire never changed in the recording, and packets are bad";
    ClockDrift: "clock-drift", Some("W-6"), Note, Links, "a sender's clock drifts, or its declared period is wrong";
    ClockOutOfTolerance: "clock-out-of-tolerance", Some("W-6"), Warning, Links, "the measured rate of a sender is beyond the tolerance of oscillators";
    ClocksApart: "clocks-apart", None, Warning, Journeys, "packets left a switch before they came, or too late: clocks are apart";
    WireGlitches: "wire-glitches", Some("W-8"), Warning, Characters, "wires changed twice within a character: glitches";
    DoubleError: "double-error", Some("W-8"), Warning, Journeys, "two bytes of a packet with one flipped bit each, on the same wire";
    InsertedCharacter: "inserted-character", Some("W-8"), Error, Journeys, "a packet has one byte more than on the previous captured link";
    LostGap: "lost-gap", Some("P-1"), Warning, Characters, "good CRC up to an empty period inside the packet: a GAP may be lost";
    MayBeTwo: "may-be-two", Some("P-1"), Note, Characters, "good CRC up to an IDLE inside the packet: it may be two packets";
    Merged: "merged", Some("P-1"), Error, Journeys, "two packets continued as one because the GAP between them was lost";
    TruncatedInTransit: "truncated-in-transit", Some("P-1"), Error, Journeys, "a packet has fewer bytes than on the previous captured link";
    NoTag: "no-tag", Some("P-2"), Warning, Packets, "a packet of route bytes only, without a tag for the interface";
    CrcBad: "crc-bad", Some("P-4"), Error, Packets, "the CRC byte does not match the bytes before it";
    CorruptedInTransit: "corrupted-in-transit", Some("P-5"), Error, Journeys, "bits of a packet differ from those on the previous captured link";
    PartialAtStart: "partial-at-start", Some("P-7"), Note, Packets, "a packet started before the recording: its CRC cannot be checked";
    Runt: "runt", Some("P-9"), Warning, Packets, "a packet of one byte: it has no CRC byte";
    Standstill: "standstill", None, Error, Characters, "a sender was stopped, or its packet stood, to the end or very long";
    HeldUp: "held-up", None, Note, Waits, "a sender was stopped for a tenth of the time by what was not seen";
    OneWay: "one-way", Some("F-1"), Note, Topology, "the opposite channel was not captured: flow control cannot be checked";
    DataWhileStopped: "data-while-stopped", Some("F-1"), Error, Characters, "data left the sender after the latest time at which STOP takes effect";
    UnexpectedStopGo: "unexpected-stop-go", Some("F-3"), Warning, Characters, "STOP or GO although the slack buffer crossed no threshold";
    UnlikeAssumed: "unlike-assumed", Some("F-3"), Note, Characters, "STOP or GO although the slack buffer as assumed crossed no threshold";
    CommandsTooOften: "commands-too-often", Some("F-4"), Warning, Characters, "STOP and GO alternate faster than the hysteresis allows";
    StopTooLate: "stop-too-late", Some("F-4"), Warning, Characters, "more data followed STOP than cable delay and latencies explain";
    OpenLink: "open-link", Some("F-7"), Error, Characters, "no character for 16 periods: no cable, no power, or a failed sender";
    TruncatedByOpenLink: "truncated-by-open-link", Some("F-7"), Error, Characters, "a packet was ended by 16 silent periods instead of a GAP";
    SilentAtFirst: "silent-at-first", Some("F-7"), Note, Characters, "silent from the first character on: unused, or not started yet";
    UnexpectedFill: "unexpected-fill", Some("F-8"), Note, Characters, "two or more periods without a character although fill=chip is declared";
    OverrunAlarm: "overrun-alarm", Some("F-9"), Warning, Characters, "ORUN: the far receiver may have lost characters in a full buffer";
    OverrunRisk: "overrun-risk", Some("F-9"), Warning, Characters, "so much data followed STOP that the slack buffer may have overflowed";
    ResetNotEnded: "reset-not-ended", Some("R-1"), Warning, Characters, "no GAP directly after FRES although reset=own-gap is declared";
    ForwardReset: "forward-reset", Some("R-2"), Warning, Characters, "FRES: the receiver clears its buffer and drops data until the next GAP";
    DataInReset: "data-in-reset", Some("R-2"), Note, Characters, "data between FRES and GAP, which the receiver drops";
    CutByReset: "cut-by-reset", Some("R-3"), Warning, Characters, "a packet was ended by FRES instead of a GAP";
    MissingTimeout: "missing-timeout", Some("R-4"), Error, Characters, "blocked for over 2^22 periods, and the required reset or GAP is missing";
    BlockedTimeout: "blocked-timeout", Some("R-4"), Error, Characters, "blocked for 2^22 periods: the sender abandoned its packet";
    BackwardReset: "backward-reset", Some("R-5"), Warning, Characters, "BRES: a receiver requests a forward reset";
    ResetNotAnswered: "reset-not-answered", Some("R-5"), Note, Characters, "no FRES followed BRES: the port does not implement it, or has failed";
    ProbeNotAnswered: "probe-not-answered", Some("R-6"), Note, Characters, "no reply followed a probe: the port does not implement it, or has failed";
    UnsolicitedReply: "unsolicited-reply", Some("R-6"), Note, Characters, "a reply without a captured probe";
    NoSuchPort: "no-such-port", Some("S-1"), Warning, Journeys, "a switch dropped a packet: the selected port does not exist or is unused";
    LostInSwitch: "lost-in-switch", None, Warning, Journeys, "a packet did not come out of a switch; the wires do not tell why";
    NoRoute: "no-route", Some("S-2"), Warning, Journeys, "a switch dropped a packet: its first byte is not a route byte";
    Busy: "busy", Some("S-3"), Note, Waits, "packets waited for an output that others were using: normal under load";
    SlowPath: "slow-path", Some("S-6"), Note, Journeys, "a switch took longer than its bound without visible contention";
    Misrouted: "misrouted", Some("I-2"), Warning, Journeys, "a packet reached a host with route bytes left; the host rejects it";
    SlowHost: "slow-host", Some("I-4"), Note, Waits, "a host accepted no data for longer than a few microseconds";
    Deadlock: "deadlock", Some("N-2"), Error, Waits, "packets wait for each other in a cycle: the routes are not deadlock-free";
    RouteCycle: "route-cycle", Some("N-2"), Warning, Journeys, "the routes of packets form a cycle: a deadlock is possible";
    MapsDiffer: "maps-differ", Some("N-2"), Warning, Packets, "a mapper sent two different maps under one version";
    ImpossibleMap: "impossible-map", Some("N-2"), Warning, Packets, "a mapper sent a map that no network has";
    RouteNotOnMap: "route-not-on-map", Some("N-2"), Warning, Journeys, "a route leads to no interface of the map that its sender has installed";
    EqualAddresses: "equal-addresses", Some("N-3"), Error, Journeys, "two interfaces have the same address";
    TwoMappers: "two-mappers", Some("N-7"), Note, Journeys, "two mappers sent maps to one interface in turn";
    RouteNotDistributed: "route-not-distributed", Some("N-7"), Warning, Journeys, "a route is none of those that the mapper gave to the interface";
    WrongWayBack: "wrong-way-back", Some("N-8"), Warning, Journeys, "an answer, or a packet with byte 80, does not go back as it came";
    IpChecksum: "ip-checksum", Some("H-1"), Warning, Packets, "an Internet checksum is wrong in a packet of IP whose CRC is good";
    TwoOutstanding: "two-outstanding", Some("T-2"), Error, Messages, "a message was sent before the previous one on its channel had an ACK";
    NotFlipped: "sequence-not-flipped", Some("T-4"), Error, Messages, "a new message reuses the sequence number of an acknowledged one";
    MessageAltered: "message-altered", Some("T-4"), Error, Messages, "two messages share a sequence number; the first was not acknowledged";
    AckOfLost: "ack-of-lost", Some("T-5"), Error, Messages, "an ACK for data that was corrupted in transit and therefore lost";
    NackAfterAck: "nack-after-ack", Some("T-5"), Error, Messages, "a NACK for a message that was already acknowledged";
    MessageRefused: "message-refused", Some("T-6"), Warning, Messages, "a final NACK: the message is returned to its sender";
    NackStorm: "nack-storm", Some("T-6"), Note, Messages, "a message received eight NACKs: its receiver is overloaded";
    MalformedMessage: "malformed-message", Some("T-7"), Note, Messages, "a packet of type 01 that does not parse as the reliability protocol";
    AnswerUnasked: "answer-unasked", Some("T-8"), Warning, Messages, "an ACK or NACK that echoes no captured transmission";
    ResendStorm: "retransmission-storm", Some("T-10"), Warning, Messages, "a message was retransmitted eight times without an answer";
    TimerTooEarly: "timer-too-early", Some("T-10"), Note, Messages, "a message was retransmitted while an answer was in transit";
    ResentAfterAck: "resent-after-ack", Some("T-10"), Warning, Messages, "a message was retransmitted more than 1 ms after its ACK arrived";
    MessageUnanswered: "message-unanswered", Some("T-11"), Warning, Messages, "a message got no answer before its logical channel was reopened";
    SyncMissing: "sync-missing", Some("T-12"), Error, Messages, "a new incarnation of a logical channel begins without SYNC";
    SyncAgain: "sync-again", Some("T-12"), Error, Messages, "SYNC on a message that does not begin an incarnation";
    IncarnationBackwards: "incarnation-backwards", Some("T-12"), Error, Messages, "data of an older incarnation after data of a newer one";
    StalePacket: "stale-packet", Some("T-12"), Note, Messages, "a packet of an earlier incarnation or of a completed message";
    ForcedImport: "forced-import", None, Warning, Characters, "imported by force: the recording speaks against these characters";
    Hole: "hole", None, Note, Characters, "characters were not recorded: all state of the channel is reset";
    Repeats: "repeats", None, Note, Characters, "a long repetition: not every round was examined";
}

impl FindingInfo {
    /// Likely causes, and what to look at or to measure next: the row of `docs/findings.md`.
    pub fn advice(&self) -> (&'static str, &'static str) {
        let page = include_str!("../../topics/findings.md");
        let row = |line: &'static str| {
            let row = line.strip_prefix("- ")?.strip_prefix(self.name)?;
            row.strip_prefix(": ")?.split_once(". Next: ")
        };
        page.lines().find_map(row).unwrap_or_default()
    }
}

impl FindingKind {
    /// Name, rule, severity and text of the kind.
    pub fn about(self) -> &'static FindingInfo {
        let [first, ..] = &ALL;
        ALL.get(usize::from(self as u8)).unwrap_or(first)
    }

    /// Kind with the given name.
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
            let (causes, next) = about.advice();
            assert!(!causes.is_empty() && !next.is_empty(), "{}", about.name);
        }
        assert_eq!(usize::from(FindingKind::Repeats as u8) + 1, ALL.len());
    }
}
