//! Reader of the truth, line by line as `docs/truth.md` specifies it; unknown events and fields are
//! skipped.

use std::io::{BufRead, Read};

use codec::time::{CharacterPeriod, Picoseconds};
use serde::Deserialize;

use super::error::ScoreError;

/// Maximum number of bytes of a line. *Chosen*: more than a text of 2²⁰ characters in notation.
const LINE_MAX: u64 = 1 << 24;

/// Events that no capture shows, with the reason.
const UNSEEN: [[&str; 2]; 35] = [
    ["injected", "inside a host; its frame is captured"],
    ["forwarded", "inside a switch; the forwarded frame is captured"],
    ["truncated", "a loss inside a node; the rest of the packet is captured"],
    ["merged", "the CRC of two joined good packets is good (P-4)"],
    ["wire-error", "a receiver sees only what arrives"],
    ["threshold", "inside a buffer; its STOP or GO is captured later (F-4)"],
    ["overflow", "inside a receiver; only an optional ORUN is captured"],
    ["blocked", "its FRES or GAP cannot be distinguished from others"],
    ["fault", "injected from outside; only its effects are captured"],
    ["power-lost", "only the silence is captured, not its cause"],
    ["raw", "the characters are captured, not their origin"],
    ["message-accepted", "between an application and its NIC"],
    ["message-written", "inside a host; its ACK is captured"],
    ["message-refused", "inside a NIC; the NACK is captured"],
    ["message-dropped", "inside a NIC; nothing is sent"],
    ["message-acknowledged", "inside a NIC; the ACK is captured"],
    ["message-given-up", "inside a host; nothing is sent"],
    ["message-lost", "inside a host; nothing is sent"],
    ["message-damaged", "inside a host; nothing is sent"],
    ["transport-retransmitted", "inside a NIC; the packet is captured later"],
    ["transport-refused", "inside a NIC; the NACK is captured"],
    ["transport-stale", "inside a NIC; the packet is captured"],
    ["transport-late", "inside a NIC; the answer is captured"],
    ["transport-unknown", "the tables of a NIC are not captured"],
    ["transport-malformed", "inside a NIC; its packet is captured"],
    ["transport-overrun", "inside a NIC; nothing is sent"],
    ["endpoint-loaded", "inside a NIC; nothing is sent"],
    ["host-memory-mapped", "inside a host; nothing is sent"],
    ["endpoint-leaving", "inside a NIC; nothing is sent"],
    ["endpoint-unloaded", "inside a NIC; nothing is sent"],
    ["endpoint-credits", "inside a host; nothing is sent"],
    ["memory-filled", "inside a NIC; nothing is sent"],
    ["multicast", "inside a NIC; its packets are captured"],
    ["routed", "inside a router; its packets are captured"],
    ["interrupt", "inside a NIC; nothing is sent"],
];

/// A row of the truth.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(super) struct TruthLine {
    /// Periods of the full rate since time zero.
    pub(super) at: u64,
    /// The exact time, where clocks differ.
    #[serde(default)]
    time_ps: Option<u64>,
    /// The port, as `node:port`.
    pub(super) place: String,
    /// Name of the packet, if the row is about one.
    pub(super) packet: Option<String>,
    event: String,
    #[serde(skip)]
    pub(super) what: TruthWhat,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub(super) enum TruthWhat {
    Consumed {
        handling: String,
        crc: Option<String>,
    },
    Dropped {
        rule: String,
    },
    Truncated,
    Merged,
    Received(TruthFrame),
    Sent(TruthFrame),
    OpenLink,
    LinkRestored,
    ForwardReset,
    ResetEnded,
    BackwardReset,
    OverrunAlarm,
    Probe {
        number: u8,
    },
    Reply {
        status: u8,
    },
    InvalidCode {
        code: u8,
    },
    CorrectedCode {
        code: u8,
        symbol: String,
    },
    MappingTransmitted(TruthMapping),
    MapperElected,
    MapperResigned {
        winner: String,
    },
    MapVersion(TruthMap),
    RoutesInstalled {
        mapper: String,
        version: u32,
    },
    Overflow,
    Fill {
        fill: u32,
        slope: i64,
    },
    Commanded {
        command: TruthCommand,
    },
    SymbolSent {
        symbol: String,
        number: Option<u8>,
        status: Option<u8>,
    },
    ResetClosed,
    FellSilent,
    SilenceEnded,
    PowerLost,
    Raw {
        characters: String,
    },
    SenderStopped,
    SenderResumed {
        by: String,
    },
    MessageTransmitted {
        message: String,
        #[serde(flatten)]
        label: TruthLabel,
    },
    AckTransmitted(TruthLabel),
    NackTransmitted {
        reason: String,
        #[serde(flatten)]
        label: TruthLabel,
    },
    MessageReturned {
        message: String,
        why: String,
    },
    TransportDuplicate(TruthLabel),
    MessageWritten {
        message: String,
    },
    MessageAcknowledged {
        message: String,
    },
    IpTransmitted(TruthIp),
    Fault,
    #[default]
    #[serde(other)]
    Other,
}

/// Identity of a transport packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub(super) struct TruthLabel {
    pub(super) source: u16,
    pub(super) destination: u16,
    pub(super) channel: u8,
    pub(super) incarnation: u16,
    pub(super) seq: u8,
    pub(super) timestamp: u32,
}

/// A mapping packet.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(super) struct TruthMapping {
    pub(super) kind: String,
    pub(super) source: String,
    pub(super) ticket: Option<u32>,
    pub(super) version: Option<u32>,
    pub(super) mapper: Option<String>,
    pub(super) status: Option<String>,
    pub(super) piece: Option<u16>,
    pub(super) pieces: Option<u16>,
}

/// An IP packet.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(super) struct TruthIp {
    pub(super) protocol: String,
    pub(super) source: String,
    pub(super) source_port: Option<u16>,
    pub(super) destination: String,
    pub(super) destination_port: Option<u16>,
    pub(super) id: u16,
    pub(super) offset: Option<u32>,
    pub(super) sequence: Option<u32>,
    pub(super) acknowledgment: Option<u32>,
    pub(super) flags: Option<String>,
    pub(super) data: u64,
    pub(super) length: u64,
    pub(super) again: Option<bool>,
    pub(super) checksum: Option<String>,
}

/// A finished map.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub(super) struct TruthMap {
    pub(super) version: u32,
    pub(super) hosts: u64,
    pub(super) switches: u64,
    pub(super) links: u64,
}

/// A flow control command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub(super) enum TruthCommand {
    #[default]
    Go,
    Stop,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(super) struct TruthFrame {
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) length: u64,
    pub(super) route: Vec<u8>,
    pub(super) tag: Option<u8>,
    pub(super) payload: u64,
    pub(super) crc: String,
    pub(super) syndrome: Option<u8>,
    pub(super) ended_by: String,
}

impl TruthLine {
    /// Reads what all rows have, then what those of its event have.
    pub(super) fn parse(line: &[u8]) -> serde_json::Result<Self> {
        let mut row: Self = serde_json::from_slice(line)?;
        row.what = serde_json::from_slice(line)?;
        Ok(row)
    }

    /// The time of the event.
    pub(super) fn time(&self) -> Picoseconds {
        self.time_ps.map_or_else(|| CharacterPeriod::FULL_RATE.time(self.at), Picoseconds::from)
    }

    /// Kind of the event, if no capture shows it, with the reason.
    pub(super) fn unseen(&self) -> Option<[&'static str; 2]> {
        UNSEEN.into_iter().find(|[kind, _]| *kind == self.event)
    }
}

#[derive(Debug)]
pub(super) struct TruthReader<T> {
    stream: T,
    line: Vec<u8>,
    /// Number of lines read.
    number: u64,
    /// Time of the last row.
    pub(super) now: u64,
}

impl<T: BufRead> TruthReader<T> {
    pub(super) const fn new(stream: T) -> Self {
        Self { stream, line: Vec::new(), number: 0, now: 0 }
    }

    /// The next row, if there is one.
    pub(super) fn next(&mut self) -> Result<Option<TruthLine>, ScoreError> {
        loop {
            self.line.clear();
            let number = self.number + 1;
            let mut stream = self.stream.by_ref().take(LINE_MAX);
            let read = stream.read_until(b'\n', &mut self.line);
            let read = read.map_err(|source| ScoreError::Read { line: number, source })?;
            if read == 0 {
                return Ok(None);
            }
            self.number = number;
            let line = self.line.trim_ascii();
            if line.is_empty() {
                continue;
            }
            let wrong = |wrong: String| ScoreError::Truth { line: number, wrong };
            if line.len() as u64 >= LINE_MAX {
                return Err(wrong(format!("is longer than {LINE_MAX} bytes")));
            }
            let row = TruthLine::parse(line).map_err(|e| wrong(plain(&e)))?;
            if row.at < self.now {
                return Err(wrong(format!(
                    "is of period {}, earlier than the line before",
                    row.at
                )));
            }
            self.now = row.at;
            return Ok(Some(row));
        }
    }
}

/// Message and column of an error; the parser's line number is always 1.
fn plain(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let what = text.split(" at line ").next().unwrap_or(&text);
    if error.column() == 0 {
        format!("is no row of a truth: {what}")
    } else {
        format!("is no row of a truth: {what} (column {})", error.column())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<String> {
        let mut lines = TruthReader::new(text.as_bytes());
        let rows = std::iter::from_fn(|| lines.next().transpose());
        let texts = rows.map(|row| match row {
            Ok(row) => {
                let what = format!("{:?}", row.what);
                let what = row.unseen().map_or(what, |[kind, _]| kind.to_owned());
                format!("{} {} {what}", row.at, row.place)
            }
            Err(error) => error.to_string(),
        });
        texts.collect()
    }

    #[test]
    fn the_rows_of_the_document_are_read() {
        let doc = include_str!("../../../docs/truth.md");
        let rows = doc.split("```text\n").last().unwrap().split("```").next().unwrap();
        let seen = read(rows);
        assert_eq!(seen.len(), rows.lines().count(), "{seen:?}");
        assert!(!seen.iter().any(|line| line.contains("Other")), "{seen:?}");
        assert!(seen[8].starts_with("120 s0:3 Sent(TruthFrame { start: 52"), "{}", seen[8]);
    }

    #[test]
    fn unknown_kinds_and_fields_are_passed_over_and_bad_lines_named() {
        let known = r#"{"at":3,"place":"h0:0","event":"commanded","command":"STOP","mood":[1]}"#;
        let other = r#"{"at":3,"place":"h0:0","event":"yawned","at_what":1}"#;
        let of = |more: &str| read(&format!("{known}\n\n{other}\n{more}\n{known}\n"));
        assert_eq!(of("").len(), 3);
        assert_eq!(of("")[1], "3 h0:0 Other");
        let wrong = [
            ("{", "EOF while parsing an object (column 1)"),
            (r#"{"at":4,"place":"h0:0"}"#, "missing field `event`"),
            (r#"{"at":4,"place":"h0:0","event":"probe"}"#, "missing field `number`"),
            (r#"{"place":"h0:0","event":"overflow"}"#, "missing field `at`"),
        ];
        for (line, what) in wrong {
            let seen = of(line);
            let expected = format!("line 4: is no row of a truth: {what}");
            assert!(seen[2].starts_with(&expected), "{seen:?}");
        }
        let early = of(r#"{"at":2,"place":"h0:0","event":"overflow"}"#);
        assert_eq!(early[2], "line 4: is of period 2, earlier than the line before");
    }
}
