//! Description of a channel, which is an interface of a capture file.

use std::borrow::Cow;
use std::fmt::{self, Write as _};

use super::interface_table::INTERFACES_MAX;
use crate::framing::LinkRules;
use crate::time::{CharacterPeriod, LinkTimeout};
use crate::virtual_channels::{LinkProfile, SelectCodes};

/// A channel of a capture: the number of its interface, counted through all sections of the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ChannelId(pub u32);

impl ChannelId {
    /// The id of one of the virtual channels that share this channel: the same for virtual channel 0, one that no
    /// interface has for others. C-7
    pub const fn of_virtual_channel(self, number: u8) -> Self {
        #[expect(clippy::cast_possible_truncation, reason = "2¹⁶")]
        const APART: u32 = INTERFACES_MAX as u32;
        Self(self.0.saturating_add(APART.saturating_mul(number as u32)))
    }
}

/// One direction of a link, as it was captured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Channel {
    /// `FROM>TO`, each `node:port`.
    pub name: String,
    /// The character period: 12.5 ns at the full rate. §4.2
    pub period: CharacterPeriod,
    /// Interface of the opposite channel as declared, counted within its section.
    pub peer: Option<u32>,
    /// The link's end at which both channels were recorded, `node:port`.
    pub tap: Option<String>,
    /// Other `key=value` words of the description, verbatim.
    pub more: Vec<(String, String)>,
    /// Other comments of the interface.
    pub comments: Vec<String>,
    /// Number of the capture in its file, from 0. Counted by readers, ignored by writers.
    pub capture: u32,
}

/// First word of the comment that describes a channel.
const MARKER: &str = "myrinet-channel";
/// First word of a comment that tells what was doubtful when the channel was imported.
const IMPORT_MARKER: &str = "import: ";
/// Versions of the description; the second has periods that are no whole picoseconds.
const VERSIONS: [&str; 2] = ["1", "2"];

impl Channel {
    /// A channel at the full rate with a name and nothing else.
    pub fn named(name: impl Into<String>) -> Self {
        let (name, more, comments) = (name.into(), Vec::new(), Vec::new());
        Self {
            name,
            period: CharacterPeriod::FULL_RATE,
            peer: None,
            tap: None,
            more,
            comments,
            capture: 0,
        }
    }

    /// The name for display: after the first capture of a file, with the number of the capture.
    pub fn label(&self) -> Cow<'_, str> {
        match self.capture {
            0 => Cow::Borrowed(&self.name),
            capture => Cow::Owned(format!("{} (capture {capture})", self.name)),
        }
    }

    /// The open-link timeout: none if the description declares a handshake cable. F-7, B-1
    pub fn link_timeout(&self) -> LinkTimeout {
        let declared = self.word("link") == Some("handshake");
        if declared { LinkTimeout::Never } else { LinkTimeout::Silence }
    }

    /// Properties on which framing depends, as far as they are declared.
    pub fn link_rules(&self) -> LinkRules {
        let profile = self.virtual_channel().and_then(|_| self.profile());
        let selects = profile.map_or(SelectCodes::NONE, |profile| profile.select_codes());
        LinkRules { timeout: self.link_timeout(), selects }
    }

    /// The codes of virtual channels, if the link has any. C-7
    pub fn profile(&self) -> Option<LinkProfile> {
        self.word("profile")?.parse().ok()
    }

    /// The number of the virtual channel, of a channel that was split off those of its link. C-7
    pub fn virtual_channel(&self) -> Option<u8> {
        self.word("vc")?.parse().ok()
    }

    /// Number of other virtual channels of the link, of a channel that was split off it. C-7
    pub fn other_virtual_channels(&self) -> u64 {
        let profile = self.virtual_channel().and_then(|_| self.profile());
        profile.map_or(0, |profile| u64::from(profile.channels()) - 1)
    }

    fn word(&self, key: &str) -> Option<&str> {
        self.more.iter().find(|(known, _)| known == key).map(|(_, word)| word.as_str())
    }

    /// What was doubtful when the channel was imported from a recording of its wires.
    pub fn import_notes(&self) -> impl Iterator<Item = &str> {
        let notes = self.comments.iter().filter_map(|it| it.strip_prefix(IMPORT_MARKER));
        notes.map(str::trim_end)
    }

    /// Adds notes on what was doubtful, as a comment each; or as one comment of a fixed length, so that a later text can replace
    /// it in a file that has been written.
    pub fn set_import_notes(&mut self, notes: &[String], length: Option<usize>) {
        self.comments.retain(|comment| !comment.starts_with(IMPORT_MARKER));
        match length {
            Some(length) => {
                let mut text = notes.join("; ");
                text.truncate(text.floor_char_boundary(length));
                let blanks = " ".repeat(length - text.len());
                self.comments.push(format!("{IMPORT_MARKER}{text}{blanks}"));
            }
            None => self.comments.extend(notes.iter().map(|text| format!("{IMPORT_MARKER}{text}"))),
        }
    }

    /// The name of the opposite channel: `TO>FROM`.
    pub fn opposite_name(&self) -> Option<String> {
        let (from, to) = self.name.split_once('>')?;
        Some(format!("{to}>{from}"))
    }

    /// Bits of data per second, for other tools.
    pub const fn bits_per_second(&self) -> u64 {
        8_000_000_000_000_000 / self.period.fs()
    }

    /// Applies a comment: a channel's description, or another one, which is kept. Invalid words of a description
    /// are reported to `wrong` and left out.
    pub fn apply_description(
        &mut self,
        comment: &str,
        wrong: &mut dyn FnMut(&'static str, String),
    ) {
        let mut words = comment.split_whitespace();
        if words.next() != Some(MARKER) {
            return self.comments.push(comment.to_owned());
        }
        for word in words {
            let (key, value) = word.split_once('=').unwrap_or((word, ""));
            match key {
                "v" if VERSIONS.contains(&value) => {}
                "v" => wrong("v", format!("is {value:?}, not 1 or 2")),
                "period_ps" => match value.parse().ok().and_then(CharacterPeriod::from_ps) {
                    Some(period) => self.period = period,
                    None => wrong("period_ps", format!("is {value:?}, not a number from 1 on")),
                },
                "period_fs" => match value.parse().ok().and_then(CharacterPeriod::from_fs) {
                    Some(period) => self.period = period,
                    None => wrong("period_fs", format!("is {value:?}, not a number from 1 on")),
                },
                "peer" => match value.parse() {
                    Ok(peer) => self.peer = Some(peer),
                    Err(_) => wrong("peer", format!("is {value:?}, not an interface's number")),
                },
                "tap" => self.tap = Some(value.to_owned()),
                "profile" if let Err(fault) = value.parse::<LinkProfile>() => {
                    wrong("profile", fault.to_string());
                }
                _ => self.more.push((key.to_owned(), value.to_owned())),
            }
        }
    }

    /// The comment that [`Channel::apply_description`] parses.
    pub fn description(&self) -> String {
        let [whole, finer] = VERSIONS;
        let mut text = if self.period.fs().is_multiple_of(1000) {
            format!("{MARKER} v={whole} period_ps={}", self.period.ps())
        } else {
            format!("{MARKER} v={finer} period_fs={}", self.period.fs())
        };
        let known = self.peer.map(|peer| ("peer".to_owned(), peer.to_string()));
        let tap = self.tap.iter().map(|tap| ("tap".to_owned(), tap.clone()));
        for (key, value) in known.into_iter().chain(tap).chain(self.more.iter().cloned()) {
            // Writing to a string does not fail.
            let _ = write!(text, " {key}={value}");
        }
        text
    }
}

impl fmt::Display for ChannelId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// The channel at a place in the list of all interfaces of a file.
pub(super) fn channel_id(place: usize) -> ChannelId {
    // There are at most `INTERFACES_MAX`.
    ChannelId(u32::try_from(place).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn described(comment: &str) -> (Channel, Vec<String>) {
        let (mut channel, mut faults) = (Channel::named("h0:0>s0:3"), Vec::new());
        channel.apply_description(comment, &mut |field, fault| {
            faults.push(format!("{field} {fault}"));
        });
        (channel, faults)
    }

    #[test]
    fn a_description_is_read_back_with_its_period() {
        let text = "myrinet-channel v=1 period_ps=25000 peer=1 tap=h0:0 kg=32 lab";
        let (channel, faults) = described(text);
        assert_eq!(faults, Vec::<String>::new());
        assert_eq!((channel.period.ps(), channel.peer), (25_000, Some(1)));
        assert_eq!(channel.tap.as_deref(), Some("h0:0"));
        assert_eq!(channel.bits_per_second(), 320_000_000);
        assert_eq!(channel.description(), format!("{text}="));
        assert_eq!(described(&channel.description()), (channel, vec![]));
        // 100 ppm slow. W-6
        let text = "myrinet-channel v=2 period_fs=12501250";
        let (channel, faults) = described(text);
        assert_eq!((channel.period.fs(), faults), (12_501_250, vec![]));
        assert_eq!(channel.description(), text);
    }

    #[test]
    fn other_comments_are_kept_and_wrong_words_named_and_left_out() {
        let (commented, faults) = described("seen in room 7");
        assert_eq!(commented.comments, ["seen in room 7"]);
        let plain = Channel::named("h0:0>s0:3");
        assert_eq!((&Channel { comments: vec![], ..commented }, faults), (&plain, vec![]));
        assert_eq!(plain.bits_per_second(), 640_000_000);
        assert_eq!(plain.opposite_name().unwrap(), "s0:3>h0:0");
        assert_eq!(Channel::named("lo").opposite_name(), None);
        let (channel, faults) = described("myrinet-channel v=3 period_ps=0 peer=-1 profile=x");
        assert_eq!(channel, Channel::named("h0:0>s0:3"));
        assert_eq!(
            faults,
            [
                "v is \"3\", not 1 or 2",
                "period_ps is \"0\", not a number from 1 on",
                "peer is \"-1\", not an interface's number",
                "profile \"x\" is no symbol with its code, such as VC1=51: VC, GO or STOP, a number from \
                 0 to 3, two hexadecimal digits"
            ]
        );
    }
}
