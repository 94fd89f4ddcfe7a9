//! Command lines that show an occurrence of a finding.

use std::ffi::OsStr;
use std::fmt::{self, Write as _};
use std::path::{Path, PathBuf};

use codec::capture::Channel;
use codec::time::Tick;
use codec::words::escape_text;
use serde::{Serialize, Serializer};

use crate::named_enum::named_enum;
use crate::window::WindowEdge;

named_enum! {
    /// View that shows an occurrence of a finding best: a command, and its option.
    pub enum EvidenceView {
        /// The characters around it.
        Characters = "show",
        /// The packet.
        Packets = "packets --hex",
        /// The packet on all links.
        Journeys = "journeys",
        /// The role of the packet in the reliability protocol.
        Messages = "conversations --events",
        /// The wait.
        Waits = "blocking",
        /// The channel as a whole.
        Links = "links",
        /// The network as a whole.
        Topology = "topology",
    }
}

/// Command line, quoted for shells that know `$'…'`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShellCommand(Vec<String>);

/// A capture as an argument of a command.
#[derive(Clone, Copy, Debug)]
pub struct CaptureArgument<'a> {
    /// The file.
    pub file: &'a Path,
    /// Files that are read with it as one capture.
    pub others: &'a [PathBuf],
    /// The file of `--profile`, without which its channels have other names. C-7
    pub profile: Option<&'a Path>,
}

impl EvidenceView {
    /// Command that shows character `at` of a channel.
    pub fn command(
        self,
        capture: CaptureArgument<'_>,
        channel: &Channel,
        at: Tick,
    ) -> ShellCommand {
        let (name, option) = self.name().split_once(' ').unwrap_or((self.name(), ""));
        let mut command = ShellCommand::of(name, capture);
        if self == Self::Topology {
            return command;
        }
        // A comma would separate two names.
        command = command.with_value("--channel", channel.name.replace(',', "\\,"));
        if channel.capture > 0 {
            command = command.with_value("--capture", channel.capture.to_string());
        }
        let end = Tick(at.0.saturating_add(1));
        let places = match self {
            Self::Characters => vec![("--at", WindowEdge::Picoseconds(channel.period.time(at.0)))],
            Self::Links | Self::Topology => vec![],
            Self::Packets | Self::Journeys | Self::Messages | Self::Waits => {
                vec![("--from", WindowEdge::Character(at)), ("--to", WindowEdge::Character(end))]
            }
        };
        command.0.extend((!option.is_empty()).then(|| option.to_owned()));
        command.0.extend(places.iter().map(|(name, place)| format!("{name} {place}")));
        command
    }
}

fn file_argument(file: &Path) -> String {
    let name = file.as_os_str().as_encoded_bytes();
    let is_option = name.first() == Some(&b'-') && name != b"-";
    format!("{}{}", if is_option { "./" } else { "" }, quoted(name))
}

impl ShellCommand {
    /// Command with a capture as its argument.
    pub fn of(command: &str, capture: CaptureArgument<'_>) -> Self {
        let CaptureArgument { file, others, profile } = capture;
        let parts = [format!("myriscope {command}"), file_argument(file)].into_iter();
        let join = others.first().map(|_| "--join".to_owned());
        let others = others.iter().map(|other| file_argument(other)).chain(join);
        let profile = profile.map(|profile| format!("--profile {}", file_argument(profile)));
        Self(parts.chain(others).chain(profile).collect())
    }

    /// The command with an option, quoted as a shell requires.
    pub fn with(mut self, option: &str) -> Self {
        self.0.push(option.to_owned());
        self
    }

    /// The command with an option that has a value of any text.
    pub fn with_value(self, option: &str, value: impl AsRef<OsStr>) -> Self {
        let value = value.as_ref().as_encoded_bytes();
        // What begins as an option does is a value only behind `=`.
        let sign = if value.starts_with(b"-") { '=' } else { ' ' };
        self.with(&format!("{option}{sign}{}", quoted(value)))
    }

    /// Parts between which the line may be broken: the command, the file, each option with its value.
    pub fn parts(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }
}

impl fmt::Display for ShellCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join(" "))
    }
}

impl Serialize for ShellCommand {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// An argument that a shell passes on unchanged, without effect on a terminal.
fn quoted(argument: &[u8]) -> String {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"_./:=@%+,-".contains(byte);
    let printed = std::str::from_utf8(argument).ok();
    let printed = printed.filter(|text| escape_text((*text).to_owned()) == **text);
    match printed {
        Some(text) if !text.is_empty() && argument.iter().all(is_plain) => text.to_owned(),
        Some(text) => format!("'{}'", text.replace('\'', "'\\''")),
        None => {
            let mut text = "$'".to_owned();
            for byte in argument {
                match byte {
                    b' '..=b'~' if !b"'\\".contains(byte) => text.push(char::from(*byte)),
                    _ => _ = write!(text, "\\x{byte:02x}"),
                }
            }
            text + "'"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_reach_the_command_unchanged() {
        for (argument, expected) in [
            (&b"fixtures/demo-cut/capture.pcapng"[..], "fixtures/demo-cut/capture.pcapng"),
            (b"h0:0>s0:3", "'h0:0>s0:3'"),
            (b"my capture.pcapng", "'my capture.pcapng'"),
            (b"it's", r"'it'\''s'"),
            (b"$(reboot)`id`\"", "'$(reboot)`id`\"'"),
            ("µ".as_bytes(), "'µ'"),
            (b"", "''"),
            (b"~", "'~'"),
            (b"a\nb\x1b[31m'\\", r"$'a\x0ab\x1b[31m\x27\x5c'"),
            (b"\xff", r"$'\xff'"),
            ("\u{202e}x".as_bytes(), r"$'\xe2\x80\xaex'"),
        ] {
            assert_eq!(quoted(argument), expected);
        }
        let option = ShellCommand(vec![]).with_value("--channel", "-a:0>b:0");
        assert_eq!(option.to_string(), "--channel='-a:0>b:0'");
    }

    #[test]
    fn commands_name_the_file_the_channel_and_a_window_around_the_place() {
        let channel = Channel::named("s0:1>h1:0");
        for (view, at, file, expected) in [
            (
                EvidenceView::Characters,
                1599,
                "a.pcapng",
                "myriscope show a.pcapng --channel 's0:1>h1:0' --at 19.9875us",
            ),
            (
                EvidenceView::Characters,
                3,
                "-a b",
                "myriscope show ./'-a b' --channel 's0:1>h1:0' --at 0.0375us",
            ),
            (
                EvidenceView::Packets,
                3,
                "-",
                "myriscope packets - --channel 's0:1>h1:0' --hex --from 3ch --to 4ch",
            ),
            (EvidenceView::Topology, 3, "a", "myriscope topology a"),
            (EvidenceView::Links, 3, "a", "myriscope links a --channel 's0:1>h1:0'"),
        ] {
            let command = view.command(
                CaptureArgument { file: Path::new(file), others: &[], profile: None },
                &channel,
                Tick(at),
            );
            assert_eq!(command.to_string(), expected);
        }
    }
}
