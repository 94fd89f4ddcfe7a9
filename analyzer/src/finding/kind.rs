//! Kinds of findings: name, rule, severity and meaning.

use serde::{Serialize, Serializer};

/// Severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Violated rule, or lost data.
    Error,
    /// Event that does not occur in a healthy network.
    Warning,
    /// Information: also occurs in a healthy network.
    Note,
}

/// Kinds of findings, in order of their rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FindingKind {
    /// Control code with one 1 lost, processed as the nearest symbol. C-4
    CorrectedCode,
    /// Invalid control code. C-5
    InvalidCode,
    /// Clock of a sender that drifts, or whose declared period is wrong. W-6
    ClockDrift,
    /// Packet that may be two because a GAP was lost. P-1
    LostGap,
    /// Packet that may be two, with an IDLE inside that may also be fill. P-1, F-8
    MayBeTwo,
    /// Two packets continued as one because the GAP between them was lost. P-1
    Merged,
    /// Packet with fewer bytes than on the previous captured link. P-1
    TruncatedInTransit,
    /// Packet with good CRC and no tag. P-2
    NoTag,
    /// CRC byte that does not match the bytes before it. P-4
    CrcBad,
    /// Packet whose syndrome differs from that on the previous captured link. P-5
    CorruptedInTransit,
    /// Packet that started before the recording of its channel. P-7
    PartialAtStart,
    /// Packet of one byte. P-9
    Runt,
    /// Channel whose opposite was not captured. F-1
    OneWay,
    /// Data that left the sender after STOP took effect. F-1, F-2
    DataWhileStopped,
    /// STOP or GO without a threshold crossing of the slack buffer, whose parameters are declared.
    /// F-3
    UnexpectedStopGo,
    /// STOP or GO without a threshold crossing of the slack buffer, whose parameters are assumed.
    /// F-3
    UnlikeAssumed,
    /// STOP and GO that alternate faster than the hysteresis allows. F-4
    CommandsTooOften,
    /// More data after STOP than cable delay and latencies explain. F-4
    StopTooLate,
    /// Silence of 16 periods. F-7
    OpenLink,
    /// Packet ended by 16 silent periods. F-7
    TruncatedByOpenLink,
    /// Channel that is silent from its first character. F-7
    SilentAtFirst,
    /// Fill that contradicts the declared variant. F-8
    UnexpectedFill,
    /// ORUN: the far receiver may have lost characters in a full buffer. F-9
    OverrunAlarm,
    /// Data after STOP that may have overflowed the slack buffer. F-9
    OverrunRisk,
    /// Reset without the GAP that the declared variant requires. R-1
    ResetNotEnded,
    /// Forward reset: the receiver drops data until the next GAP. R-2
    ForwardReset,
    /// Data between FRES and GAP. R-2
    DataInReset,
    /// Packet ended by FRES. R-3
    CutByReset,
    /// Stop or packet longer than 2²² periods without the required reset or GAP. R-4
    MissingTimeout,
    /// Stop or packet of 2²² periods, after which the sender abandoned its packet. R-4
    BlockedTimeout,
    /// Backward reset: a receiver requests a forward reset. R-5
    BackwardReset,
    /// BRES without a following FRES. R-5
    ResetNotAnswered,
    /// Probe without a reply. R-6
    ProbeNotAnswered,
    /// Reply without a probe. R-6
    UnsolicitedReply,
    /// Packet dropped by a switch: its route byte selects no port in use. S-1
    NoSuchPort,
    /// Packet dropped by a switch: its first byte is not a route byte. S-2
    NoRoute,
    /// Packets that waited for an output in use. S-3
    Busy,
    /// Passage through a switch longer than its bound, without visible contention. S-6
    SlowPath,
    /// Packet that reached a host with route bytes left. I-2
    Misrouted,
    /// Host that accepted no data for longer than a few microseconds. I-4
    SlowHost,
    /// Packets that wait for each other in a cycle. N-2
    Deadlock,
    /// Message sent before the previous one was acknowledged. T-2
    TwoOutstanding,
    /// New message with the sequence number of the previous, acknowledged one. T-4
    NotFlipped,
    /// New message with the sequence number of an unacknowledged one. T-4
    MessageAltered,
    /// ACK for corrupted data. T-5
    AckOfLost,
    /// NACK for an acknowledged message. T-5
    NackAfterAck,
    /// NACK after which the message is returned to its sender. T-6
    MessageRefused,
    /// Message with many NACKs. T-6
    NackStorm,
    /// Packet of the reliability protocol's type that does not parse. T-7
    MalformedMessage,
    /// ACK or NACK that echoes no captured transmission. T-8
    AnswerUnasked,
    /// Message retransmitted many times without an answer. T-10
    ResendStorm,
    /// Message retransmitted while an answer was in transit. T-10
    TimerTooEarly,
    /// Message retransmitted after its ACK. T-10
    ResentAfterAck,
    /// Message without an answer. T-11
    MessageUnanswered,
    /// New incarnation without SYNC. T-12
    SyncMissing,
    /// SYNC on a message that begins no incarnation. T-12
    SyncAgain,
    /// Data of an older incarnation after data of a newer one. T-12
    IncarnationBackwards,
    /// Packet of an earlier incarnation or of a completed message. T-12
    StalePacket,
    /// Characters missing inside the recording.
    Hole,
    /// Long repeat, of which not every iteration was examined.
    Repeats,
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
    /// Meaning, in one line.
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

/// All kinds, in the order of [`FindingKind`].
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
    /// Name, rule, severity and text of the kind.
    #[must_use]
    pub fn about(self) -> &'static FindingInfo {
        const UNKNOWN: FindingInfo = recording(FindingKind::Repeats, "repeats", "");
        // A test checks that every kind is in the list, in order.
        ALL.get(usize::from(self as u8)).unwrap_or(&UNKNOWN)
    }

    /// Kind with the given name.
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
