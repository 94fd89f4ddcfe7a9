//! Passage of packets between virtual channels at a node. C-7 (§4.8.4)

use codec::capture::Channel;
use codec::virtual_channels::VIRTUAL_CHANNELS_MAX;

/// Place of a channel among the virtual channels of its link; virtual channel 0 of one, on a link without any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct VirtualPassage {
    pub(super) number: u8,
    /// Highest number on the link.
    last: u8,
    /// Difference of the numbers on which a packet leaves and on which it came.
    step: u8,
}

impl VirtualPassage {
    pub(super) fn of(channel: &Channel) -> Self {
        let Some(number) = channel.virtual_channel() else {
            return Self { number: 0, last: 0, step: 0 };
        };
        let count = channel.profile().map_or(VIRTUAL_CHANNELS_MAX, |profile| profile.channels());
        let is_next = channel.more.iter().any(|(key, word)| key == "passage" && word == "next");
        Self { number, last: count - 1, step: is_next.into() }
    }

    /// True if a packet that came on a virtual channel leaves on this one. *Chosen*: on the same, where a capture
    /// does not declare the next; on the last, if there are no more.
    pub(super) fn is_for(self, came: u8) -> bool {
        came.saturating_add(self.step).min(self.last) == self.number
    }

    /// The virtual channels from which packets leave on this one.
    pub(super) fn sources(self) -> impl Iterator<Item = u8> {
        (0..VIRTUAL_CHANNELS_MAX).filter(move |came| self.is_for(*came))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sources(words: &str) -> Vec<u8> {
        let mut channel = Channel::named("s0:1>s1:0");
        channel.apply_description(&format!("myrinet-channel {words}"), &mut |_, fault| {
            panic!("{fault}");
        });
        VirtualPassage::of(&channel).sources().collect()
    }

    /// C-7
    #[test]
    fn a_packet_leaves_on_its_virtual_channel_or_on_the_next() {
        let profile = "profile=VC0=50,VC1=51,VC2=52,GO1=60,STOP1=6f,GO2=64,STOP2=68";
        for (words, expected) in [
            ("vc=0", &[0][..]),
            ("vc=1", &[1]),
            // The last takes those of links with more.
            ("vc=2", &[2, 3]),
            ("vc=0 passage=same", &[0]),
            ("vc=0 passage=next", &[]),
            ("vc=1 passage=next", &[0]),
            ("vc=2 passage=next", &[1, 2, 3]),
        ] {
            assert_eq!(sources(&format!("{profile} {words}")), expected, "{words}");
        }
        assert_eq!(sources("passage=next"), [0, 1, 2, 3]);
    }
}
