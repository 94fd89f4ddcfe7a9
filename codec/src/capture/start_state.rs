//! State of a channel at the character where a longer recording was cut, as its description keeps it.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use super::channel::Channel;
use crate::framing::FramerMode;
use crate::time::{OPEN_LINK, Tick};

/// Key in a description. The value is JSON without white space.
const KEY: &str = "cut";

/// State of a channel before its first character in a slice, as far as the recording before it determines it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default)]
pub struct StartState {
    /// The first character of the slice: the state applies before it; if a hole follows, the number of packets.
    pub at: Tick,
    /// Number of packets that ended before.
    pub packets: u64,
    /// Position relative to packets, if it is known. P-7
    pub packet: Option<FramerMode>,
    /// Silent periods directly before, at most 16: then the link is open. F-7
    pub silent: u64,
    /// True if a character other than IDLE was recorded since the last hole, false if only before; none if none was.
    pub alive: Option<bool>,
    /// Flow control of the channel's sender, if known. F-1
    pub sender: Option<StartSender>,
    /// Last STOP or GO on the channel, and the changes before. F-1
    pub command: Option<(FlowCommand, CommandChanges)>,
    /// Place and number of a probe on the channel without a reply. R-6
    pub probe: Option<(Tick, u8)>,
    /// End of the last data on the channel.
    pub data: Tick,
}

/// Last change between STOP and GO, and the one before it. F-4
pub type CommandChanges = [Option<Tick>; 2];

/// Flow control of a sender. F-1
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum StartSender {
    /// It may send.
    Going,
    /// It has been stopped since that character.
    Stopped(Tick),
}

/// Command to the opposite sender, which a slack buffer issues. F-1
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FlowCommand {
    /// Send.
    Go,
    /// Stop sending.
    Stop,
}

impl StartState {
    /// The state in a channel's description, if it has a valid one.
    pub fn of(channel: &Channel) -> Option<Self> {
        let (_, value) = channel.more.iter().find(|(key, _)| key == KEY)?;
        serde_json::from_str(value).ok().filter(Self::is_valid)
    }

    /// The state before the first recorded character; behind a hole the packet in which that begins counts.
    #[must_use]
    pub fn before(self, first: Tick) -> Option<Self> {
        let cut = u64::from(self.packet == Some(FramerMode::Inside));
        let packets = self.packets.saturating_add(cut);
        let behind = Self { at: first, packets, ..self.behind_hole() };
        match self.at.cmp(&first) {
            Ordering::Less => Some(behind),
            Ordering::Equal => Some(self),
            Ordering::Greater => None,
        }
    }

    /// State behind a hole, of which the number of packets is known, and whether the channel was in use.
    pub(super) fn behind_hole(self) -> Self {
        Self { packets: self.packets, alive: self.alive.map(|_| false), ..Self::default() }
    }

    /// True if all places are before the slice, and numbers in their ranges.
    fn is_valid(&self) -> bool {
        let since = match self.sender {
            Some(StartSender::Stopped(since)) => Some(since),
            Some(StartSender::Going) | None => None,
        };
        let changes = self.command.iter().flat_map(|(_, changes)| changes).flatten().copied();
        let probe = self.probe.map(|(place, _)| place);
        let mut places = changes.chain(since).chain(probe).chain([self.data]);
        places.all(|place| place <= self.at)
            && self.silent <= OPEN_LINK.0.min(self.at.0)
            && self.packets <= self.at.0
            && self.probe.is_none_or(|(_, number)| number < 8)
    }

    /// Sets the state in a description, or removes it.
    pub(super) fn describe(state: Option<Self>, channel: &mut Channel) {
        channel.more.retain(|(key, _)| key != KEY);
        let value = state.and_then(|state| serde_json::to_string(&state).ok());
        channel.more.extend(value.map(|value| (KEY.to_owned(), value)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(value: &str) -> Option<StartState> {
        let mut channel = Channel::named("a>b");
        channel.more.push((KEY.to_owned(), value.to_owned()));
        StartState::of(&channel)
    }

    #[test]
    fn a_state_is_read_back() {
        let whole = r#"{"at":1200,"packets":7,"packet":"inside","silent":3,"alive":true,"sender":{"stopped":1180},"command":["stop",[1190,null]],"probe":[1100,3],"data":1197}"#;
        for value in [whole, r#"{"at":1200,"packet":"reset","sender":"going"}"#, r#"{"at":0}"#] {
            let known = state(value);
            let mut channel = Channel::named("a>b");
            StartState::describe(known, &mut channel);
            StartState::describe(known, &mut channel);
            let mut read = Channel::named("a>b");
            read.apply_description(&channel.description(), &mut |field, fault| {
                panic!("{field} {fault}");
            });
            assert_eq!((StartState::of(&read), channel.more.len()), (known, 1), "{value}");
            assert!(known.is_some() && (value != whole || channel.more[0].1 == whole), "{value}");
        }
    }

    #[test]
    fn an_impossible_state_is_none() {
        for value in [
            "",
            r#"{"at":-1}"#,
            r#"{"at":100,"packet":"outside"}"#,
            r#"{"at":100,"silent":17}"#,
            r#"{"at":9,"silent":10}"#,
            r#"{"at":100,"packets":101}"#,
            r#"{"at":100,"sender":{"stopped":101}}"#,
            r#"{"at":100,"command":["go",[null,101]]}"#,
            r#"{"at":100,"probe":[5,8]}"#,
            r#"{"at":100,"probe":[101,1]}"#,
            r#"{"at":100,"data":101}"#,
        ] {
            assert_eq!(state(value), None, "{value}");
        }
    }
}
