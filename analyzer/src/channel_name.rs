//! Names of channels: from a port to a port, `h0:0>s0:3`; and the escaping of names.

use std::fmt;

use codec::capture::Channel;
use codec::route::PortId;

/// A port of a host or switch, as part of a channel's name.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PortName {
    /// Name of the host or switch.
    pub node: String,
    /// Its port.
    pub port: PortId,
}

/// The ports at both ends of a channel.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ChannelEnds {
    /// The port of the sender.
    pub from: PortName,
    /// The port of the receiver.
    pub to: PortName,
}

impl PortName {
    /// Parses `node:port`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (node, port) = text.rsplit_once(':')?;
        let port = port.parse().ok().map(PortId)?;
        (!node.is_empty()).then(|| Self { node: node.to_owned(), port })
    }
}

impl ChannelEnds {
    /// The ends of a channel, if its name has the form `node:port>node:port`.
    #[must_use]
    pub fn of(channel: &Channel) -> Option<Self> {
        let (from, to) = channel.name.split_once('>')?;
        Some(Self { from: PortName::parse(from)?, to: PortName::parse(to)? })
    }
}

/// The tapped end of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TapEnd {
    /// The sender: characters are recorded when they are sent.
    Sender,
    /// The receiver: characters are recorded when they arrive.
    Receiver,
}

impl TapEnd {
    /// The tapped end of a channel, if its name and its description determine it.
    #[must_use]
    pub fn of(channel: &Channel) -> Option<Self> {
        let (ends, tap) = (ChannelEnds::of(channel)?, channel.tap.as_ref()?);
        if ends.from.to_string() == *tap {
            Some(Self::Sender)
        } else {
            (ends.to.to_string() == *tap).then_some(Self::Receiver)
        }
    }
}

impl fmt::Display for PortName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.node, self.port.0)
    }
}

/// Escapes characters that would move a terminal's cursor, change its colours or reverse the direction of
/// text.
#[must_use]
pub fn escape_text(text: String) -> String {
    if !text.contains(is_harmful) {
        return text;
    }
    let escaped = |char: char| match is_harmful(char) {
        true => char.escape_default().collect(),
        false => String::from(char),
    };
    text.chars().map(escaped).collect()
}

fn is_harmful(char: char) -> bool {
    let turns =
        matches!(char, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    char.is_control() || turns || char == '\u{feff}'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_two_ports_have_ends() {
        let ends = ChannelEnds::of(&Channel::named("h0:0>rack:2:3")).unwrap();
        assert_eq!(
            (ends.from.to_string(), ends.to.to_string()),
            ("h0:0".into(), "rack:2:3".into())
        );
        for name in ["", "lo", "h0>s0", "h0:0", "h0:0>s0:300", ":0>s0:1"] {
            assert_eq!(ChannelEnds::of(&Channel::named(name)), None, "{name}");
        }
    }

    #[test]
    fn a_tap_is_at_one_of_the_ends_in_the_name_or_unknown() {
        let of = |tap: Option<&str>| {
            let tap = tap.map(str::to_owned);
            TapEnd::of(&Channel { tap, ..Channel::named("h0:0>s0:3") })
        };
        assert_eq!(of(Some("h0:0")), Some(TapEnd::Sender));
        assert_eq!(of(Some("s0:3")), Some(TapEnd::Receiver));
        assert_eq!([of(Some("s0:2")), of(None)], [None, None]);
    }

    #[test]
    fn hostile_names_do_nothing_to_a_terminal() {
        assert_eq!(escape_text("h0:0>s0:3 µ".into()), "h0:0>s0:3 µ");
        assert_eq!(escape_text("\u{1b}[31m\n\u{202e}".into()), "\\u{1b}[31m\\n\\u{202e}");
    }
}
