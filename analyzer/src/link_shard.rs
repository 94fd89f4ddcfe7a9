//! Shares of the links of a capture, for machines that analyse it together.

use std::str::FromStr;

use codec::capture::Channel;

use crate::channel_name::link_name;

/// One of a number of shares of the links, by their names: the same in every capture of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkShard {
    /// Number of the share, from 0.
    index: u64,
    count: u64,
}

impl LinkShard {
    /// All links.
    pub const ALL: Self = Self { index: 0, count: 1 };

    /// True if the link of a channel is in the share; both channels of a link are in the same one, with all virtual
    /// channels.
    pub fn has(self, channel: &Channel) -> bool {
        if self == Self::ALL {
            return true;
        }
        let name = link_name(&channel.name);
        let (one, other) = link_ends(&name);
        let parts = [one.as_bytes(), b">", other.as_bytes()];
        // FNV-1a: names that differ little are spread evenly.
        let hash = parts.into_iter().flatten().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
        });
        (hash >> 16) % self.count == self.index
    }
}

/// The two ends in the name of a channel, in an order that both channels of its link share.
pub fn link_ends(name: &str) -> (&str, &str) {
    let (from, to) = name.split_once('>').unwrap_or((name, ""));
    if from <= to || to.is_empty() { (from, to) } else { (to, from) }
}

impl FromStr for LinkShard {
    type Err = String;

    /// Parses `K/N`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parsed = text.split_once('/').and_then(|(index, count)| {
            Some(Self { index: index.parse().ok()?, count: count.parse().ok()? })
        });
        parsed
            .filter(|shard| shard.index < shard.count)
            .ok_or_else(|| format!("{text:?} is no share: expected K/N, K from 0 to N - 1"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_link_is_in_one_share_with_both_channels() {
        let mut sizes = [0; 4];
        for host in 0..400 {
            let (there, back) =
                (format!("h{host}:0>s{}:1", host / 5), format!("s{}:1>h{host}:0", host / 5));
            for (index, size) in sizes.iter_mut().enumerate() {
                let shard: LinkShard = format!("{index}/4").parse().unwrap();
                let is_in = shard.has(&Channel::named(&there));
                assert_eq!(is_in, shard.has(&Channel::named(&back)));
                *size += u32::from(is_in);
            }
        }
        assert_eq!(sizes.iter().sum::<u32>(), 400);
        assert!(sizes.iter().all(|size| *size > 70), "{sizes:?}");
        for text in ["", "1", "2/2", "0/0", "-1/2", "1/2/3", "a/b"] {
            assert!(text.parse::<LinkShard>().is_err(), "{text}");
        }
    }
}
