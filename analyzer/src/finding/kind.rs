//! Everything that can be wrong with a capture: its name, the rule that says so, how bad it is.

use serde::{Serialize, Serializer};

/// Severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// A rule is broken, or data is lost.
    Error,
    /// Something that a network in order does not do.
    Warning,
    /// Good to know; in a network in order it may be.
    Note,
}

/// Kind of a finding, in order of the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FindingKind {
    /// A control code had lost a 1 and acts as the symbol. C-4
    CorrectedCode,
    /// A control code is no symbol. C-5
    InvalidCode,
    /// The clock of a sender drifts against others, or its declared period is wrong. W-6
    ClockDrift,
    /// A packet may be two, for want of a GAP. P-1
    LostGap,
    /// The same, where IDLE may as well be fill. P-1, F-8
    MayBeTwo,
    /// Two packets became one. P-1
    Merged,
    /// A packet has fewer bytes than on the link before. P-1
    TruncatedInTransit,
    /// An intact packet has no tag. P-2
    NoTag,
    /// A CRC byte is wrong. P-4
    CrcBad,
    /// The syndrome of a packet changed from one captured link to the next. P-5
    CorruptedInTransit,
    /// A packet was under way when the recording of its channel began. P-7
    PartialAtStart,
    /// A packet of one byte. P-9
    Runt,
    /// A channel whose opposite was not captured. F-1
    OneWay,
    /// Data that must have been sent after STOP was obeyed. F-1, F-2
    DataWhileStopped,
    /// STOP or GO where what the capture tells of the slack buffer does not allow it. F-3
    UnexpectedStopGo,
    /// The same, of a slack buffer that is assumed. F-3
    UnlikeAssumed,
    /// STOP and GO in turn, faster than the hysteresis allows. F-4
    CommandsTooOften,
    /// More came after STOP than cable and latencies explain. F-4
    StopTooLate,
    /// 16 silent periods. F-7
    OpenLink,
    /// 16 silent periods ended a packet. F-7
    TruncatedByOpenLink,
    /// A channel is silent from the first character on. F-7
    SilentAtFirst,
    /// Fill is not what the channel declares. F-8
    UnexpectedFill,
    /// ORUN. F-9
    OverrunAlarm,
    /// So much came after STOP that a slack buffer may have overflowed. F-9
    OverrunRisk,
    /// A reset does not end as the channel declares. R-1
    ResetNotEnded,
    /// FRES. R-2
    ForwardReset,
    /// Data between FRES and GAP. R-2
    DataInReset,
    /// FRES ended a packet. R-3
    CutByReset,
    /// A sender was stopped, or sent one packet, for longer than it may. R-4
    MissingTimeout,
    /// A sender that was stopped, or sent one packet, for 2²² periods freed itself. R-4
    BlockedTimeout,
    /// BRES. R-5
    BackwardReset,
    /// BRES without FRES. R-5
    ResetNotAnswered,
    /// A probe without reply. R-6
    ProbeNotAnswered,
    /// A reply without probe. R-6
    UnsolicitedReply,
    /// A switch dropped a packet: its first byte selects no port that is in use. S-1
    NoSuchPort,
    /// A switch dropped a packet: its first byte is no route byte. S-2
    NoRoute,
    /// Packets waited for others that were passing. S-3
    Busy,
    /// A switch took longer than it may, and nothing is seen that held it up. S-6
    SlowPath,
    /// A packet that should have been consumed has route bytes left. I-2
    Misrouted,
    /// A host takes nothing for long. I-4
    SlowHost,
    /// Packets wait for each other in a circle. N-2
    Deadlock,
    /// A message follows one that is not acknowledged. T-2
    TwoOutstanding,
    /// A new message has the number of the one before it, which was acknowledged. T-4
    NotFlipped,
    /// Another message has the number of one that is not acknowledged. T-4
    MessageAltered,
    /// An ACK for what was hurt. T-5
    AckOfLost,
    /// A NACK for what was acknowledged. T-5
    NackAfterAck,
    /// A final NACK. T-6
    MessageRefused,
    /// NACKs over and over. T-6
    NackStorm,
    /// A packet of the protocol's type that is none of the protocol. T-7
    MalformedMessage,
    /// An answer to nothing. T-8
    AnswerUnasked,
    /// Retransmissions over and over. T-10
    ResendStorm,
    /// A message was sent again while an answer was on its way. T-10
    TimerTooEarly,
    /// A message was sent again after its ACK. T-10
    ResentAfterAck,
    /// A message got no answer. T-11
    MessageUnanswered,
    /// A new incarnation without SYNC. T-12
    SyncMissing,
    /// SYNC without a new incarnation. T-12
    SyncAgain,
    /// An older incarnation behind a newer one. T-12
    IncarnationBackwards,
    /// A packet of what is over. T-12
    StalePacket,
    /// Characters were not recorded.
    Hole,
    /// Characters repeat so often that not all rounds were looked at.
    Repeats,
}

/// Name, rule, severity and text of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FindingInfo {
    /// The kind.
    pub kind: FindingKind,
    /// Its name in `docs/output.md`.
    pub name: &'static str,
    /// The rule that it is about; none if it is about the recording.
    pub rule: Option<&'static str>,
    /// Severity.
    pub severity: Severity,
    /// Its meaning, in a line.
    pub text: &'static str,
}

use Severity::{Error, Note, Warning};

const fn about(
    kind: FindingKind,
    name: &'static str,
    rule: &'static str,
    severity: Severity,
    text: &'static str,
) -> FindingInfo {
    FindingInfo { kind, name, rule: Some(rule), severity, text }
}

const fn recording(kind: FindingKind, name: &'static str, text: &'static str) -> FindingInfo {
    FindingInfo { kind, name, rule: None, severity: Note, text }
}

/// All kinds, in their order.
#[rustfmt::skip]
pub const ALL: [FindingInfo; 60] = [
    about(FindingKind::CorrectedCode, "corrected-code", "C-4", Warning, "a control code with one bit cleared, corrected to the nearest symbol"),
    about(FindingKind::InvalidCode, "invalid-code", "C-5", Error, "a control code that matches no symbol"),
    about(FindingKind::ClockDrift, "clock-drift", "W-6", Note, "a sender's clock drifts, or its declared period is wrong"),
    about(FindingKind::LostGap, "lost-gap", "P-1", Warning, "good CRC up to an empty period inside the packet: a GAP may be lost"),
    about(FindingKind::MayBeTwo, "may-be-two", "P-1", Note, "good CRC up to an IDLE inside the packet: it may be two packets"),
    about(FindingKind::Merged, "merged", "P-1", Error, "two packets continued as one because the GAP between them was lost"),
    about(FindingKind::TruncatedInTransit, "truncated-in-transit", "P-1", Error, "a packet has fewer bytes than on the previous captured link"),
    about(FindingKind::NoTag, "no-tag", "P-2", Warning, "a packet of route bytes only, without a tag for the interface"),
    about(FindingKind::CrcBad, "crc-bad", "P-4", Error, "the CRC byte does not match the bytes before it"),
    about(FindingKind::CorruptedInTransit, "corrupted-in-transit", "P-5", Error, "a packet's syndrome differs from that on the previous captured link"),
    about(FindingKind::PartialAtStart, "partial-at-start", "P-7", Note, "a packet started before the recording: its CRC cannot be checked"),
    about(FindingKind::Runt, "runt", "P-9", Warning, "a packet of one byte: it has no CRC byte"),
    about(FindingKind::OneWay, "one-way", "F-1", Note, "the opposite channel was not captured: flow control cannot be checked"),
    about(FindingKind::DataWhileStopped, "data-while-stopped", "F-1", Error, "data left the sender after the latest time at which STOP takes effect"),
    about(FindingKind::UnexpectedStopGo, "unexpected-stop-go", "F-3", Warning, "STOP or GO although the slack buffer crossed no threshold"),
    about(FindingKind::UnlikeAssumed, "unlike-assumed", "F-3", Note, "STOP or GO although the slack buffer as assumed crossed no threshold"),
    about(FindingKind::CommandsTooOften, "commands-too-often", "F-4", Warning, "STOP and GO alternate faster than the hysteresis allows"),
    about(FindingKind::StopTooLate, "stop-too-late", "F-4", Warning, "more data followed STOP than cable delay and latencies explain"),
    about(FindingKind::OpenLink, "open-link", "F-7", Error, "no character for 16 periods: no cable, no power, or a failed sender"),
    about(FindingKind::TruncatedByOpenLink, "truncated-by-open-link", "F-7", Error, "a packet was ended by 16 silent periods instead of a GAP"),
    about(FindingKind::SilentAtFirst, "silent-at-first", "F-7", Note, "silent from the first character on: unused, or not started yet"),
    about(FindingKind::UnexpectedFill, "unexpected-fill", "F-8", Note, "two or more periods without a character although fill=chip is declared"),
    about(FindingKind::OverrunAlarm, "overrun-alarm", "F-9", Warning, "ORUN: the far receiver may have lost characters in a full buffer"),
    about(FindingKind::OverrunRisk, "overrun-risk", "F-9", Warning, "so much data followed STOP that the slack buffer may have overflowed"),
    about(FindingKind::ResetNotEnded, "reset-not-ended", "R-1", Warning, "no GAP directly after FRES although reset=own-gap is declared"),
    about(FindingKind::ForwardReset, "forward-reset", "R-2", Warning, "FRES: the receiver clears its buffer and drops data until the next GAP"),
    about(FindingKind::DataInReset, "data-in-reset", "R-2", Note, "data between FRES and GAP, which the receiver drops"),
    about(FindingKind::CutByReset, "cut-by-reset", "R-3", Warning, "a packet was ended by FRES instead of a GAP"),
    about(FindingKind::MissingTimeout, "missing-timeout", "R-4", Error, "blocked for over 2^22 periods, and the required reset or GAP is missing"),
    about(FindingKind::BlockedTimeout, "blocked-timeout", "R-4", Error, "blocked for 2^22 periods: the sender abandoned its packet"),
    about(FindingKind::BackwardReset, "backward-reset", "R-5", Warning, "BRES: a receiver requests a forward reset"),
    about(FindingKind::ResetNotAnswered, "reset-not-answered", "R-5", Note, "no FRES followed BRES: the port does not implement it, or has failed"),
    about(FindingKind::ProbeNotAnswered, "probe-not-answered", "R-6", Note, "no reply followed a probe: the port does not implement it, or has failed"),
    about(FindingKind::UnsolicitedReply, "unsolicited-reply", "R-6", Note, "a reply without a captured probe"),
    about(FindingKind::NoSuchPort, "no-such-port", "S-1", Warning, "a switch dropped a packet: the selected port does not exist or is unused"),
    about(FindingKind::NoRoute, "no-route", "S-2", Warning, "a switch dropped a packet: its first byte is not a route byte"),
    about(FindingKind::Busy, "busy", "S-3", Note, "packets waited for an output that others were using: normal under load"),
    about(FindingKind::SlowPath, "slow-path", "S-6", Note, "a switch took longer than its bound without visible contention"),
    about(FindingKind::Misrouted, "misrouted", "I-2", Warning, "a packet reached a host with route bytes left; the host rejects it"),
    about(FindingKind::SlowHost, "slow-host", "I-4", Note, "a host accepted no data for longer than a few microseconds"),
    about(FindingKind::Deadlock, "deadlock", "N-2", Error, "packets wait for each other in a cycle: the routes are not deadlock-free"),
    about(FindingKind::TwoOutstanding, "two-outstanding", "T-2", Error, "a message was sent before the previous one on its channel had an ACK"),
    about(FindingKind::NotFlipped, "sequence-not-flipped", "T-4", Error, "a new message reuses the sequence number of an acknowledged one"),
    about(FindingKind::MessageAltered, "message-altered", "T-4", Error, "two messages share a sequence number; the first was not acknowledged"),
    about(FindingKind::AckOfLost, "ack-of-lost", "T-5", Error, "an ACK for data that was corrupted in transit and therefore lost"),
    about(FindingKind::NackAfterAck, "nack-after-ack", "T-5", Error, "a NACK for a message that was already acknowledged"),
    about(FindingKind::MessageRefused, "message-refused", "T-6", Warning, "a final NACK: the message is returned to its sender"),
    about(FindingKind::NackStorm, "nack-storm", "T-6", Note, "a message received eight NACKs: its receiver is overloaded"),
    about(FindingKind::MalformedMessage, "malformed-message", "T-7", Note, "a packet of type 01 that does not parse as the reliability protocol"),
    about(FindingKind::AnswerUnasked, "answer-unasked", "T-8", Warning, "an ACK or NACK that echoes no captured transmission"),
    about(FindingKind::ResendStorm, "retransmission-storm", "T-10", Warning, "a message was retransmitted eight times without an answer"),
    about(FindingKind::TimerTooEarly, "timer-too-early", "T-10", Note, "a message was retransmitted while an answer was in transit"),
    about(FindingKind::ResentAfterAck, "resent-after-ack", "T-10", Warning, "a message was retransmitted more than 1 ms after its ACK arrived"),
    about(FindingKind::MessageUnanswered, "message-unanswered", "T-11", Warning, "a message got no answer before its logical channel was reopened"),
    about(FindingKind::SyncMissing, "sync-missing", "T-12", Error, "a new incarnation of a logical channel begins without SYNC"),
    about(FindingKind::SyncAgain, "sync-again", "T-12", Error, "SYNC on a message that does not begin an incarnation"),
    about(FindingKind::IncarnationBackwards, "incarnation-backwards", "T-12", Error, "data of an older incarnation after data of a newer one"),
    about(FindingKind::StalePacket, "stale-packet", "T-12", Note, "a packet of an earlier incarnation or of a completed message"),
    recording(FindingKind::Hole, "hole", "characters were not recorded: all state of the channel is reset"),
    recording(FindingKind::Repeats, "repeats", "a long repetition: not every round was examined"),
];

impl FindingKind {
    /// Its name, rule, severity and text.
    #[must_use]
    pub fn about(self) -> &'static FindingInfo {
        const UNKNOWN: FindingInfo = recording(FindingKind::Repeats, "repeats", "");
        // That every kind is there, in order, is tested.
        ALL.get(usize::from(self as u8)).unwrap_or(&UNKNOWN)
    }

    /// The kind of a name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static FindingInfo> {
        ALL.iter().find(|about| about.name == name)
    }
}

impl Severity {
    /// The name in `docs/output.md`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        }
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
        }
        assert_eq!(usize::from(FindingKind::Repeats as u8) + 1, ALL.len());
    }
}
