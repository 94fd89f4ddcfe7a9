//! The network over time as data for the script: numbers and names of states only, no text of the capture.

use analyzer::event::Picoseconds;
use analyzer::link::interval::ChannelActivity;

use super::{MomentTrack, NetworkMoments, PacketWay, StoppedSender};

/// Letters of the activities in the data.
const LETTERS: [char; ChannelActivity::ALL.len()] = ['U', 'O', 'R', 'S', 'D', 'V', 'I'];

impl NetworkMoments<'_> {
    /// Digits of a time since the beginning of the pictures.
    fn since(&self, time: Picoseconds) -> String {
        base36(time.saturating_sub(self.time.from))
    }

    /// Activities of a track: the beginning, then a letter and a length each.
    pub(in crate::report) fn track_data(&self, track: &MomentTrack<'_>) -> String {
        let first = track.runs.first().map_or(self.time.from, |run| run.0);
        let runs = track.runs.iter().filter_map(|(from, to, state)| {
            Some(format!("{}{}", LETTERS.get(state.index())?, base36(to - from)))
        });
        [self.since(first)].into_iter().chain(runs).collect()
    }

    /// Packets: number, fate with the number of links behind the last one, and of each hop track, beginning and length.
    pub(in crate::report) fn packet_data(&self) -> String {
        let packets = self.packets.items.iter().map(|packet| {
            let PacketWay { number, fate, hops, more } = &packet.value;
            let hop = |(track, from, to): &_| format!(" {track} {}", self.span(*from, *to));
            let hops: String = hops.iter().map(hop).collect();
            let more = if *more > 0 { format!("+{more}") } else { String::new() };
            format!("{number} {}{more}{hops}", fate.name())
        });
        packets.collect::<Vec<_>>().join(";")
    }

    /// Stops: track, beginning, length, cause, and the next track if it is drawn.
    pub(in crate::report) fn stop_data(&self) -> String {
        let stops = self.stops.items.iter().map(|stop| {
            let StoppedSender { track, next, culprit } = stop.value;
            let next = next.map(|next| format!(" {next}")).unwrap_or_default();
            format!("{track} {} {culprit}{next}", self.span(stop.from, stop.to))
        });
        stops.collect::<Vec<_>>().join(";")
    }

    /// Deadlocks: beginning, length, and the tracks.
    pub(in crate::report) fn cycle_data(&self) -> String {
        let cycles = self.cycles.iter().map(|(from, to, tracks)| {
            let tracks: String = tracks.iter().map(|track| format!(" {track}")).collect();
            self.span(*from, *to) + &tracks
        });
        cycles.collect::<Vec<_>>().join(";")
    }

    /// Beginning and length.
    fn span(&self, from: Picoseconds, to: Picoseconds) -> String {
        let from = from.max(self.time.from);
        format!("{} {}", self.since(from), base36(to.saturating_sub(from)))
    }
}

fn base36(number: u128) -> String {
    let mut digits = Vec::new();
    let mut rest = number;
    loop {
        let digit = u32::try_from(rest % 36).unwrap_or(0);
        digits.push(char::from_digit(digit, 36).unwrap_or('0'));
        rest /= 36;
        if rest == 0 {
            return digits.into_iter().rev().collect();
        }
    }
}
