//! State of a channel at the character where a longer recording was cut, as its description keeps it.

use super::channel::Channel;
use crate::time::{OPEN_LINK, Tick};

/// Prefix of the keys of a description.
const PREFIX: &str = "cut-";

/// State of a channel before its first character in a slice, as far as the recording before it determines it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StartState {
    /// The first character of the slice: the state applies before it, and to no other recording.
    pub at: Tick,
    /// Position relative to packets, if packet boundaries are known. P-7
    pub packet: Option<StartPacket>,
    /// Silent periods directly before, at most 16: then the link is open. F-7
    pub silent: u64,
    /// True if a character other than IDLE was recorded before.
    pub is_alive: bool,
    /// Flow control of the channel's sender, if known. F-1
    pub sender: Option<StartSender>,
    /// Last STOP or GO on the channel. F-1
    pub command: Option<StartCommand>,
    /// Place and number of a probe on the channel without a reply. R-6
    pub probe: Option<(Tick, u8)>,
    /// End of the last data on the channel.
    pub data: Tick,
}

/// Position of a character relative to packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartPacket {
    /// Between packets.
    Between,
    /// Behind this number of bytes of a packet.
    Inside(u64),
    /// In a forward reset. R-2
    Reset(StartReset),
}

/// Progress of a forward reset: the characters since FRES.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartReset {
    /// None.
    Nothing,
    /// STOP or GO.
    Command,
    /// Others, without data.
    Late,
    /// Data.
    Data,
}

/// Flow control of a sender. F-1
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartSender {
    /// It may send.
    Going,
    /// It has been stopped since that character.
    Stopped(Tick),
}

/// A STOP or GO.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StartCommand {
    /// The command.
    pub order: StartOrder,
    /// Last change between STOP and GO, and the one before it. F-4
    pub changes: [Option<Tick>; 2],
}

/// Kind of a [`StartCommand`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartOrder {
    /// GO.
    Go,
    /// STOP.
    Stop,
}

const RESETS: [(&str, StartReset); 4] = [
    ("reset", StartReset::Nothing),
    ("reset-command", StartReset::Command),
    ("reset-late", StartReset::Late),
    ("reset-data", StartReset::Data),
];

impl StartState {
    /// The state in a channel's description. Without a valid `cut-at` there is none; another invalid word
    /// counts as missing.
    pub fn of(channel: &Channel) -> Option<Self> {
        let word = |name: &str| {
            let is_named = |key: &str| key.strip_prefix(PREFIX) == Some(name);
            channel.more.iter().find(|(key, _)| is_named(key)).map(|(_, value)| value.as_str())
        };
        let at: Tick = tick(word("at")?)?;
        let before = |place: &Tick| *place <= at;
        let silent = word("silent").and_then(|text| text.parse().ok());
        Some(Self {
            at,
            packet: word("packet").and_then(StartPacket::parse),
            silent: silent.filter(|silent| *silent <= OPEN_LINK.0.min(at.0)).unwrap_or_default(),
            is_alive: word("alive") != Some("no"),
            sender: word("sender").and_then(|text| StartSender::parse(text, at)),
            command: word("command").and_then(|text| StartCommand::parse(text, at)),
            probe: word("probe").and_then(|text| {
                let (place, number) = text.split_once(':')?;
                Some((tick(place).filter(before)?, number.parse().ok().filter(|it| *it < 8)?))
            }),
            data: word("data").and_then(tick).filter(before).unwrap_or_default(),
        })
    }

    /// Removes the state of a description.
    pub fn remove(channel: &mut Channel) {
        channel.more.retain(|(key, _)| !key.starts_with(PREFIX));
    }

    /// Writes what [`StartState::of`] reads, in place of the state that the description has.
    pub fn describe(&self, channel: &mut Channel) {
        Self::remove(channel);
        let mut add =
            |name: &str, value: String| channel.more.push((format!("{PREFIX}{name}"), value));
        add("at", self.at.to_string());
        self.packet.iter().for_each(|packet| add("packet", packet.text()));
        if self.silent > 0 {
            add("silent", self.silent.to_string());
        }
        if !self.is_alive {
            add("alive", "no".to_owned());
        }
        match self.sender {
            Some(StartSender::Going) => add("sender", "going".to_owned()),
            Some(StartSender::Stopped(since)) => add("sender", format!("stopped:{since}")),
            None => {}
        }
        if let Some(command) = self.command {
            let kind = match command.order {
                StartOrder::Go => "go",
                StartOrder::Stop => "stop",
            };
            let changes = command.changes.iter().flatten().map(|place| format!(":{place}"));
            add("command", kind.to_owned() + &changes.collect::<String>());
        }
        if let Some((place, number)) = self.probe {
            add("probe", format!("{place}:{number}"));
        }
        if self.data > Tick(0) {
            add("data", self.data.to_string());
        }
    }
}

impl StartPacket {
    fn parse(text: &str) -> Option<Self> {
        let reset = RESETS.iter().find(|(name, _)| *name == text);
        match (text, text.strip_prefix("inside:"), reset) {
            ("between", ..) => Some(Self::Between),
            (_, Some(bytes), _) => bytes.parse().ok().map(Self::Inside),
            (_, None, Some((_, reset))) => Some(Self::Reset(*reset)),
            (_, None, None) => None,
        }
    }

    fn text(&self) -> String {
        match self {
            Self::Between => "between".to_owned(),
            Self::Inside(bytes) => format!("inside:{bytes}"),
            Self::Reset(reset) => {
                let found = RESETS.iter().find(|(_, it)| it == reset);
                found.map_or("", |(name, _)| name).to_owned()
            }
        }
    }
}

impl StartSender {
    fn parse(text: &str, at: Tick) -> Option<Self> {
        match text.split_once(':') {
            None if text == "going" => Some(Self::Going),
            Some(("stopped", since)) => tick(since).filter(|since| *since <= at).map(Self::Stopped),
            Some(_) | None => None,
        }
    }
}

impl StartCommand {
    fn parse(text: &str, at: Tick) -> Option<Self> {
        let mut words = text.split(':');
        let order = match words.next() {
            Some("stop") => StartOrder::Stop,
            Some("go") => StartOrder::Go,
            Some(_) | None => return None,
        };
        let mut place = || words.next().and_then(tick).filter(|place| *place <= at);
        let last = place();
        let before = place().filter(|before| last.is_some_and(|last| *before <= last));
        Some(Self { order, changes: [last, before] })
    }
}

fn tick(text: &str) -> Option<Tick> {
    text.parse().ok().map(Tick)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(words: &str) -> Option<StartState> {
        let mut channel = Channel::named("a>b");
        channel.apply_description(&format!("myrinet-channel {words}"), &mut |field, fault| {
            panic!("{field} {fault}");
        });
        StartState::of(&channel)
    }

    #[test]
    fn a_state_is_read_back() {
        let commands = [
            "cut-at=1200 cut-packet=inside:17 cut-silent=3 cut-sender=stopped:1180 \
             cut-command=stop:1190:1170 cut-probe=1100:3 cut-data=1197",
            "cut-at=1200 cut-packet=between cut-silent=16 cut-alive=no cut-sender=going",
            "cut-at=1200 cut-packet=reset-late cut-command=go:8",
            "cut-at=0",
        ];
        for words in commands {
            let known = state(words).unwrap();
            let mut channel = Channel::named("a>b");
            known.describe(&mut channel);
            let text = channel.description();
            assert_eq!(text.strip_prefix("myrinet-channel v=1 period_ps=12500 ").unwrap(), words);
            known.describe(&mut channel);
            assert_eq!(channel.description(), text, "described twice");
        }
    }

    #[test]
    fn a_word_that_cannot_be_counts_as_missing() {
        for none in ["kg=32", "cut-packet=between", "cut-at=x", "cut-at=-1"] {
            assert_eq!(state(none), None, "{none}");
        }
        let bare = state("cut-at=100");
        for words in [
            "cut-packet=outside",
            "cut-packet=inside:x",
            "cut-silent=17",
            "cut-silent=x",
            "cut-sender=stopped",
            "cut-sender=stopped:101",
            "cut-sender=maybe:5",
            "cut-command=perhaps",
            "cut-probe=5",
            "cut-probe=5:8",
            "cut-probe=101:1",
            "cut-data=101",
            "cut-more=1",
        ] {
            assert_eq!(state(&format!("cut-at=100 {words}")), bare, "{words}");
        }
    }
}
