//! Findings in a capture that does not declare the parameters of its links, but their kind: no error and no warning
//! may rest on a value that is only assumed. F-4

use codec::capture::{ByteOrder, Channel};
use simulator::scenario::Scenario;

use super::analyzed::AnalyzedCapture;
use super::findings::wrong;
use super::run::RunOutcome;
use crate::capture_input;

/// The words of a capture's descriptions that are taken away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StrippedWords {
    /// Every parameter: rate, kind of link, opposite channel and tap stay.
    Parameters,
    /// All parameters, the opposite channel and the tap.
    Everything,
    /// Parameters whose bits are 1, counted through all channels.
    Some(u64),
}

impl StrippedWords {
    fn channel(self, mut channel: Channel, number: &mut u32) -> Channel {
        // Nothing else tells a handshake cable from a Myrinet link, or what virtual channels mean. B-1, C-7
        let is_kind =
            |word: &(String, String)| ["link", "profile", "passage"].contains(&word.0.as_str());
        match self {
            Self::Parameters => channel.more.retain(is_kind),
            Self::Everything => {
                let Channel { period, name, mut more, .. } = channel;
                more.retain(is_kind);
                channel = Channel { period, more, ..Channel::named(name) };
            }
            Self::Some(bits) => channel.more.retain(|word| {
                *number = (*number + 1) % 61;
                bits >> *number & 1 == 0 || is_kind(word)
            }),
        }
        channel
    }
}

/// The capture without these words; it has one section.
pub fn stripped(capture: &[u8], words: StrippedWords) -> Vec<u8> {
    let (channels, chunks) = capture_input::parts(capture);
    let mut number = 0;
    let channels: Vec<Channel> =
        channels.into_iter().map(|channel| words.channel(channel, &mut number)).collect();
    let written = capture_input::write(ByteOrder::Little, &channels, &chunks);
    assert!(written.is_ok(), "what was read can be written: {:?}", written.err());
    written.unwrap_or_default()
}

/// Without its words a capture in which nothing is wrong has neither errors nor warnings.
pub fn check(scenario: &Scenario, outcome: &RunOutcome) {
    if outcome.channels.is_empty() {
        return;
    }
    let words = match scenario.seed % 3 {
        0 => StrippedWords::Parameters,
        1 => StrippedWords::Everything,
        _ => StrippedWords::Some(scenario.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15)),
    };
    let set = AnalyzedCapture::of(&stripped(&outcome.capture, words)).set;
    let wrong: Vec<_> = wrong(&set).collect();
    assert!(wrong.is_empty(), "without {words:?} there is nothing wrong, but {wrong:#?}");
}
