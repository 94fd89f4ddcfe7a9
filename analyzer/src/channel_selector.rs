//! Selection of channels by name, port, node or pattern: `--channel`.

use std::str::FromStr;

use codec::capture::Channel;
use codec::words::{LISTED_MAX, did_you_mean, escape_text, listed};
use wildmatch::WildMatch;

use crate::channel_name::{PortName, link_name};

/// One name of `--channel`: `s0:1>h1:0`, `s0:1-h1:0`, `s0:1/h1:0`, a port `h1:0`, a node `h1`, or a
/// pattern of these with `*` and `?`.
#[derive(Clone, Debug, PartialEq)]
pub struct ChannelPattern {
    text: String,
    /// The text, and the text with each `-` or `/` in turn replaced by `>`.
    names: Vec<WildMatch>,
}

impl FromStr for ChannelPattern {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            let expected = "a channel (s0:1-h1:0), a port (h1:0), a node (h1) or a pattern";
            return Err(format!("empty name: expected {expected}"));
        }
        let replaced = text.match_indices(['-', '/']).filter_map(|(at, sign)| {
            Some(WildMatch::new(&format!("{}>{}", text.get(..at)?, text.get(at + sign.len()..)?)))
        });
        let names = std::iter::once(WildMatch::new(text)).chain(replaced).collect();
        Ok(Self { text: text.to_owned(), names })
    }
}

/// A value of `--channel`: names separated by commas; `\,` is a comma of a name.
#[derive(Clone, Debug, PartialEq)]
pub struct ChannelPatterns(Vec<ChannelPattern>);

impl FromStr for ChannelPatterns {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        // No argument of a program has a zero byte.
        let text = text.replace("\\,", "\0");
        let names = text.split(',').map(|name| name.replace('\0', ",").parse());
        names.collect::<Result<_, _>>().map(Self)
    }
}

impl ChannelPattern {
    /// The pattern as it was given.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// True if the pattern is the name of a port.
    pub fn is_port(&self) -> bool {
        self.names.len() == 1 && !self.text.contains('>') && PortName::parse(&self.text).is_some()
    }

    /// True if the pattern matches the name of a channel, of one of its ports, or of one of their nodes. The name
    /// of a link's channel or port is also that of each of its virtual channels. C-7
    pub fn matches(&self, channel: &str) -> bool {
        let names = |name: &str| {
            self.names.iter().any(|pattern| pattern.matches(name))
                || self.names.first().is_some_and(|it| name_parts(name).any(|of| it.matches(of)))
        };
        names(channel) || names(&link_name(channel))
    }
}

/// Ports of a channel's name, and their nodes.
fn name_parts(channel: &str) -> impl Iterator<Item = &str> {
    let ports = channel.split_once('>').map(|(from, to)| [from, to]).into_iter().flatten();
    ports.flat_map(|port| [port, port.rsplit_once(':').map_or(port, |(node, _)| node)])
}

/// Selection of channels by `--channel` and `--capture`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ChannelSelector<'a> {
    /// Patterns, of which one must match; without any, all channels are selected.
    pub patterns: &'a [ChannelPatterns],
    /// Number of the capture in the file; without it, all captures are selected.
    pub capture: Option<u32>,
}

impl ChannelSelector<'_> {
    /// Selection of all channels.
    pub const ALL: Self = Self { patterns: &[], capture: None };

    /// All patterns, in their order.
    pub fn names(&self) -> impl DoubleEndedIterator<Item = &ChannelPattern> {
        self.patterns.iter().flat_map(|it| &it.0)
    }

    /// True if the channel is selected.
    pub fn selects(&self, channel: &Channel) -> bool {
        self.capture.is_none_or(|capture| capture == channel.capture)
            && (self.patterns.is_empty() || self.selects_name(&channel.name))
    }

    /// True if a pattern matches the name of a channel.
    pub fn selects_name(&self, channel: &str) -> bool {
        self.names().any(|pattern| pattern.matches(channel))
    }

    /// Description of the selected channels for a sentence, `s0:1>h1:0, h2`; none if all are selected.
    pub fn text(&self) -> Option<String> {
        let names: Vec<&str> = self.names().map(ChannelPattern::text).collect();
        let names = (!names.is_empty()).then(|| names.join(", "));
        let capture = self.capture.map(|capture| format!("capture {capture}"));
        let parts: Vec<String> = names.into_iter().chain(capture).collect();
        (!parts.is_empty()).then(|| parts.join(" of "))
    }

    /// Checks that the capture and every pattern select at least one of the channels of a file.
    ///
    /// # Errors
    /// Names the part of the selection that selects nothing, and what the file has.
    pub fn check<'c>(
        &self,
        channels: &(impl Iterator<Item = &'c Channel> + Clone),
    ) -> Result<(), String> {
        let count = channels.clone().map(|channel| channel.capture).max().map_or(0, |max| max + 1);
        if let Some(number) = self.capture.filter(|number| *number >= count) {
            return Err(format!("no capture {number}; the file has {count}, counted from 0"));
        }
        let own = |channel: &&Channel| self.capture.is_none_or(|it| it == channel.capture);
        let names = channels.clone().filter(own).map(|channel| channel.name.as_str());
        let missing = self.names().find(|pattern| !names.clone().any(|name| pattern.matches(name)));
        missing.map_or(Ok(()), |pattern| Err(no_channel(pattern, &names)))
    }
}

/// Error for a pattern that matches none of these names.
fn no_channel<'c>(
    pattern: &ChannelPattern,
    names: &(impl Iterator<Item = &'c str> + Clone),
) -> String {
    let text = pattern.text();
    let mut error =
        format!("no channel {text:?}; the capture has {}", listed(names.clone(), LISTED_MAX));
    if let Some(similar) =
        did_you_mean(text, names.clone().chain(names.clone().flat_map(name_parts)))
    {
        error += &format!("\n{similar}");
    }
    let is_cut = pattern.is_port() || text.ends_with('>');
    if let Some(name) = names.clone().find(|name| is_cut && name.contains('>')) {
        error += &format!("\n{}", quoting_help(name));
    }
    error
}

/// Explanation for a channel name of which the shell took the part after `>` as the name of a file.
pub fn quoting_help(channel: &str) -> String {
    let channel = escape_text(channel.to_owned());
    let plain = channel.replacen('>', "-", 1);
    format!("Did the shell take \">\"? Quote it: '{channel}', or write {plain}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 5] = ["h0:0>s0:0", "s0:0>h0:0", "h-1:0>s0:11", "lö", r"a,\:0>c:0"];

    /// C-7
    #[test]
    fn a_link_is_selected_with_all_its_virtual_channels() {
        let names = ["s0:1.vc0>s1:0.vc0", "s0:1.vc1>s1:0.vc1", "s0:11>h0:0"];
        for (text, expected) in [
            ("s0:1-s1:0", &names[..2]),
            ("s0:1.vc1-s1:0.vc1", &names[1..2]),
            ("s0:1", &names[..2]),
            ("s1:0.vc0", &names[..1]),
            ("*.vc1", &names[1..2]),
            ("s0", &names),
        ] {
            let pattern: ChannelPattern = text.parse().unwrap();
            let selected: Vec<_> = names.into_iter().filter(|name| pattern.matches(name)).collect();
            assert_eq!(selected, expected, "{text}");
        }
    }

    fn selected(text: &str) -> Vec<&'static str> {
        let patterns: ChannelPatterns = text.parse().unwrap();
        let selector = ChannelSelector { patterns: &[patterns], capture: None };
        NAMES.into_iter().filter(|name| selector.selects_name(name)).collect()
    }

    #[test]
    fn a_pattern_is_a_channel_a_port_or_a_node_with_or_without_wildcards() {
        for (text, expected) in [
            ("h0:0>s0:0", &["h0:0>s0:0"][..]),
            ("h0:0-s0:0", &["h0:0>s0:0"]),
            ("h0:0/s0:0", &["h0:0>s0:0"]),
            ("s0:0/h0:0", &["s0:0>h0:0"]),
            ("h-1:0-s0:11", &["h-1:0>s0:11"]),
            ("h0:0", &["h0:0>s0:0", "s0:0>h0:0"]),
            ("s0:1", &[]),
            ("s0:11", &["h-1:0>s0:11"]),
            ("h0", &["h0:0>s0:0", "s0:0>h0:0"]),
            ("h-1", &["h-1:0>s0:11"]),
            ("h*-s0:?", &["h0:0>s0:0"]),
            ("h*>*", &["h0:0>s0:0", "h-1:0>s0:11"]),
            ("h?", &["h0:0>s0:0", "s0:0>h0:0"]),
            ("lö", &["lö"]),
            ("l?", &["lö"]),
            ("*", &NAMES),
            ("h", &[]),
            ("h0:0>", &[]),
            ("c,l?", &["lö", r"a,\:0>c:0"]),
            (r"a\,\:0", &[r"a,\:0>c:0"]),
            (r"a,\:0", &[]),
        ] {
            assert_eq!(selected(text), expected, "{text}");
        }
        assert!("".parse::<ChannelPattern>().is_err());
    }

    #[test]
    fn a_selection_of_nothing_names_what_there_is() {
        let channels = NAMES.map(Channel::named);
        let error = |text: &str, capture| {
            let patterns: Vec<ChannelPatterns> = text.parse().into_iter().collect();
            let selector = ChannelSelector { patterns: &patterns, capture };
            selector.check(&channels.iter())
        };
        let known = "the capture has h0:0>s0:0, s0:0>h0:0, h-1:0>s0:11, lö, a,\\:0>c:0";
        let quote = "Did the shell take \">\"? Quote it: 'h0:0>s0:0', or write h0:0-s0:0";
        for (text, capture, expected) in [
            ("h0,s0:11", None, Ok(())),
            ("", Some(0), Ok(())),
            ("h0:0>s0:4", None, Err(format!("{known}\ndid you mean `h0:0>s0:0`?"))),
            ("switch7:3", None, Err(format!("{known}\n{quote}"))),
            ("switch7:3>", None, Err(format!("{known}\n{quote}"))),
            ("nothing like it", None, Err(known.to_owned())),
            ("", Some(1), Err("no capture 1; the file has 1, counted from 0".to_owned())),
        ] {
            let expected = expected.map_err(|said| match said.starts_with("no capture") {
                true => said,
                false => format!("no channel {text:?}; {said}"),
            });
            assert_eq!(error(text, capture), expected, "{text} {capture:?}");
        }
    }
}
