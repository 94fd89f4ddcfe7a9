//! The network at a moment, and the way of a packet.

use analyzer::event::Picoseconds;
use analyzer::link::interval::ChannelActivity;
use analyzer::render::count;
use analyzer::topology::layout::PicturePoint;
use codec::capture::Channel;

use super::{MomentTrack, NetworkMoments, PacketWay, WaitCulprit};
use crate::report::spans::TimeSpan;
use crate::report::text::duration;

/// Places of a packet's head on a channel and in the buffer behind it, and of the end of a wait's arrow, in hundredths
/// of the way.
pub(in crate::report) const PLACES: [i64; 3] = [66, 92, 34];
const COLOURS: u64 = 4;
/// Left side and width of the bars of a way, in pixels.
const BARS: (u128, u128) = (190, 560);

/// Drawing of a moment, the same as that of the script of the page.
pub(in crate::report) struct PictureScene<'m> {
    /// Classes, each with its tracks: packets, deadlocks, activities.
    pub(in crate::report) layers: Vec<(String, Vec<usize>)>,
    /// Waits: from the head of one channel to the beginning of the next.
    pub(in crate::report) waits: Vec<[PicturePoint; 2]>,
    pub(in crate::report) heads: Vec<PacketHead>,
    pub(in crate::report) culprits: Vec<&'m WaitCulprit>,
    pub(in crate::report) text: String,
}

pub(in crate::report) struct PacketHead {
    pub(in crate::report) number: u64,
    pub(in crate::report) place: PicturePoint,
    /// Half of its width: there is room for the number.
    pub(in crate::report) radius: i64,
    /// True if a channel that the packet holds is stopped.
    pub(in crate::report) is_stopped: bool,
}

/// The way of a packet, a row for each channel: the later the packet was there, the farther right.
pub(in crate::report) struct WayPicture<'a> {
    pub(in crate::report) title: String,
    /// Channels, each with left side and width of its bars: the packet, then its stops there.
    pub(in crate::report) rows: Vec<(&'a Channel, Vec<(u128, u128)>)>,
}

impl<'a> NetworkMoments<'a> {
    pub(in crate::report) fn scene(&self, at: &Picoseconds) -> PictureScene<'_> {
        let at = *at;
        let during = |from: Picoseconds, to: Picoseconds| from <= at && at < to;
        let (mut layers, mut heads) = (Vec::new(), Vec::new());
        for packet in &self.packets.items {
            if let Some((tracks, head)) = self.worm(&packet.value, at) {
                layers.push((format!("worm w{}", head.number % COLOURS), tracks));
                heads.push(head);
            }
        }
        let cycles = self.cycles.iter().filter(|(from, to, _)| during(*from, *to));
        layers.extend(cycles.map(|(.., tracks)| ("ring".to_owned(), tracks.clone())));
        let states: Vec<ChannelActivity> = self.tracks.iter().map(|it| it.state(at)).collect();
        for state in ChannelActivity::ALL {
            let alike = states.iter().enumerate().filter(|(_, own)| **own == state);
            layers.push((format!("b-{}", state.name()), alike.map(|(track, _)| track).collect()));
        }
        layers.retain(|(_, tracks)| !tracks.is_empty());
        let (mut waits, mut culprits) = (Vec::new(), Vec::new());
        let [head, _, tail] = PLACES;
        for stop in self.stops.items.iter().filter(|it| during(it.from, it.to)) {
            let Some(track) = self.tracks.get(stop.value.track) else { continue };
            culprits.push(stop.value.culprit);
            if let Some(next) = stop.value.next.and_then(|next| self.tracks.get(next)) {
                waits.push([track.near(head), next.near(tail)]);
            }
        }
        culprits.sort_unstable();
        culprits.dedup();
        let culprits = culprits.into_iter().filter_map(|it| self.culprits.get(it)).collect();
        let of_state = |state| states.iter().filter(|own| **own == state).count();
        let least = if self.packets.more > 0 { "at least " } else { "" };
        let text = format!(
            "{least}{} on the way, {} of them stopped; {} of {} channels stopped, {} unknown",
            count(heads.len(), "packet"),
            heads.iter().filter(|it| it.is_stopped).count(),
            of_state(ChannelActivity::Stopped),
            states.len(),
            of_state(ChannelActivity::Unknown),
        );
        PictureScene { layers, waits, heads, culprits, text }
    }

    /// The tracks that a packet holds, and its head. None before and behind its way, and where it is not known to be in
    /// the buffer between two channels.
    fn worm(&self, packet: &PacketWay, at: Picoseconds) -> Option<(Vec<usize>, PacketHead)> {
        let known = |number: &usize| self.tracks.get(*number);
        let last = packet.hops.iter().rposition(|(_, from, _)| *from <= at)?;
        let (head, _, end) = packet.hops.get(last)?;
        let (head, is_there) = (known(head)?, at < *end);
        let held = packet.hops.iter().filter(|(_, from, to)| *from <= at && at < *to);
        let held: Vec<usize> = held.map(|(number, ..)| *number).collect();
        let follows = |next: &MomentTrack<'_>| next.ends.first() == head.ends.last();
        let next = packet.hops.get(last + 1).and_then(|(next, ..)| known(next));
        if !is_there && !next.is_some_and(follows) {
            return None;
        }
        let [on_it, behind_it, _] = PLACES;
        let mut states = held.iter().filter_map(known).map(|it| it.state(at));
        let head = PacketHead {
            number: packet.number,
            radius: 8 + 2 * i64::from(packet.number.max(10).ilog10() - 1),
            place: head.near(if is_there { on_it } else { behind_it }),
            is_stopped: states.any(|state| state == ChannelActivity::Stopped),
        };
        Some((held, head))
    }

    /// The way of a packet as stairs.
    pub(in crate::report) fn way(&self, packet: &TimeSpan<PacketWay>) -> WayPicture<'a> {
        let (left, width) = BARS;
        let lasts = (packet.to - packet.from).max(1);
        let bar = |from: Picoseconds, to: Picoseconds| {
            let x = |at: Picoseconds| left + (at - packet.from) * width / lasts;
            (x(from), (x(to) - x(from)).max(2))
        };
        let rows = packet.value.hops.iter().filter_map(|(number, from, to)| {
            let track = self.tracks.get(*number)?;
            let runs = track.runs.iter().filter(|run| run.2 == ChannelActivity::Stopped);
            let stopped = runs.filter(|run| run.0 < *to && *from < run.1);
            let stopped = stopped.map(|run| bar(run.0.max(*from), run.1.min(*to)));
            Some((track.channel, [bar(*from, *to)].into_iter().chain(stopped).collect()))
        });
        let PacketWay { number, fate, more, .. } = packet.value;
        let [from, to] = [packet.from, packet.to].map(duration);
        let mut title = format!("Packet {number}, {}, {from} to {to}", fate.name());
        if more > 0 {
            title += &format!(", without its last {}", count(more, "link"));
        }
        WayPicture { title, rows: rows.collect() }
    }
}
