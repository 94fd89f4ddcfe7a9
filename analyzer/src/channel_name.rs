//! Names of channels: from a port to a port, `h0:0>s0:3`.

use std::borrow::Cow;
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
    /// Number of the virtual channel, on a channel that is one of several of its link. C-7
    pub virtual_channel: Option<u8>,
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
    /// Parses `node:port`, or `node:port.vcN`.
    pub fn parse(text: &str) -> Option<Self> {
        let (node, port) = text.rsplit_once(':')?;
        let (port, virtual_channel) = match port.split_once(".vc") {
            Some((port, number)) => (port, Some(number.parse().ok()?)),
            None => (port, None),
        };
        let port = port.parse().ok().map(PortId)?;
        (!node.is_empty()).then(|| Self { node: node.to_owned(), port, virtual_channel })
    }

    /// The port of the link, on all its virtual channels. C-7
    pub fn of_link(self) -> Self {
        Self { virtual_channel: None, ..self }
    }
}

impl ChannelEnds {
    /// The ends of a channel, if its name has the form `node:port>node:port`.
    pub fn of(channel: &Channel) -> Option<Self> {
        let (from, to) = channel.name.split_once('>')?;
        Some(Self { from: PortName::parse(from)?, to: PortName::parse(to)? })
    }

    /// The ends of the link of a channel. C-7
    pub fn of_link(channel: &Channel) -> Option<Self> {
        let Self { from, to } = Self::of(channel)?;
        Some(Self { from: from.of_link(), to: to.of_link() })
    }
}

/// Name of a link's channel, if the name is that of one of its virtual channels; otherwise the same name. C-7
pub fn link_name(name: &str) -> Cow<'_, str> {
    let port = |end| PortName::parse(end).filter(|port: &PortName| port.virtual_channel.is_some());
    match name.split_once('>').and_then(|(from, to)| Some((port(from)?, port(to)?))) {
        Some((from, to)) => Cow::Owned(format!("{}>{}", from.of_link(), to.of_link())),
        None => Cow::Borrowed(name),
    }
}

/// The node at the other end of the fibre to which a channel leads, if the capture declares one. An end
/// of a fibre has port 0 for a cable, and port 1 at the fibre. N-5
pub(crate) fn fibre_to(channel: &Channel) -> Option<&str> {
    other_end(channel, "fibre", 1)
}

/// The router at the other end of the fibre of the one to which a channel leads, if the capture declares
/// one. Both are interfaces, as those of hosts. N-5
pub(crate) fn router_behind(channel: &Channel) -> Option<&str> {
    other_end(channel, "router", 0)
}

fn other_end<'a>(channel: &'a Channel, declared: &str, port_max: u8) -> Option<&'a str> {
    let ends = ChannelEnds::of(channel).filter(|ends| ends.to.port <= PortId(port_max))?;
    let (_, other) = channel.more.iter().find(|(key, _)| key == declared)?;
    (*other != ends.to.node).then_some(other)
}

codec::named_enum! {
    /// The tapped end of a channel.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum TapEnd {
        /// The sender: characters are recorded when they are sent.
        Sender = "sender",
        /// The receiver: characters are recorded when they arrive.
        Receiver = "receiver",
    }
}

impl TapEnd {
    /// The tapped end of a channel, if its name and its description determine it.
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
        write!(f, "{}:{}", self.node, self.port.0)?;
        self.virtual_channel.map_or(Ok(()), |number| write!(f, ".vc{number}"))
    }
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
        let split = ChannelEnds::of(&Channel::named("s0:1.vc1>rack.vc:0.vc1")).unwrap();
        assert_eq!(split.from, PortName::parse("s0:1.vc1").unwrap());
        assert_eq!((split.from.port, split.from.virtual_channel), (PortId(1), Some(1)));
        assert_eq!(split.to.to_string(), "rack.vc:0.vc1");
        assert_eq!(link_name("s0:1.vc1>rack.vc:0.vc1"), "s0:1>rack.vc:0");
        assert_eq!(link_name("s0:1>rack.vc:0"), "s0:1>rack.vc:0");
        for name in ["", "lo", "h0>s0", "h0:0", "h0:0>s0:300", "h0:0>s0:1.vc", ":0>s0:1"] {
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
}
