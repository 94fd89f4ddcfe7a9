//! The network over time: what each channel did, packets on their way, stops and deadlocks, as data for the script of
//! the page; and the pictures of moments that matter, which the page has without its script.

mod data;
mod scene;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use analyzer::blocking::trees::{BlockingRoot, WaitBranch};
use analyzer::blocking::{BlockingEvent, StopReport};
use analyzer::channel_name::link_name;
use analyzer::event::Picoseconds;
use analyzer::finding::{Severity, ShellCommand};
use analyzer::journey::{Journey, JourneyFate, JourneyHop};
use analyzer::link::interval::ChannelActivity;
use analyzer::link::report::ChannelReport;
use analyzer::packet::FrameEnd;
use analyzer::render::{shown_activity, wait_cause};
use analyzer::topology::layout::PicturePoint;
use codec::capture::{Channel, ChannelId};

pub(super) use self::scene::PLACES;
use self::scene::WayPicture;
use super::decimate::{StretchList, TimeStretch};
use super::lanes::{ActivityTimes, PictureTime};
use super::network::NetworkPicture;
use super::spans::{SpanList, TimeSpan};
use super::text::BoundedList;
use super::{RecordedEvents, ReportInput, SelectedFinding};

/// Intervals of all channels, and the fewest of one. *Chosen*: with some seven bytes each a quarter of the page.
const RUNS_MAX: usize = 64_000;
const RUNS_MIN: usize = 16;
/// Channels. *Chosen*: two of each link that is drawn.
const TRACKS_MAX: usize = 1200;
/// Packets, links of one of them, and stops. *Chosen*: with some 70 bytes each a quarter of the page.
const PACKETS_MAX: usize = 4096;
const HOPS_MAX: usize = 64;
const STOPS_MAX: usize = 1024;
/// Deadlocks. *Chosen*: a capture has one or two.
const CYCLES_MAX: usize = 64;
/// Pictures without the script; of these, deadlocks and kinds of findings. *Chosen*: two screens.
const SCENES_MAX: usize = 6;
const DEADLOCKS_MAX: usize = 2;
const FINDINGS_MAX: usize = 3;
/// Packets whose ways are drawn without the script. *Chosen*: a screen.
const WAYS_MAX: usize = 4;
/// Distance from a node on curves around others, in pixels. *Chosen*: that on links between neighbours.
const NEAR: i64 = 44;
/// Distance of a channel from the middle of its link, in pixels.
const SIDE: i64 = 3;

/// A packet's channels, each with the times at which it began and ended there. A channel is its id in what was
/// recorded, and the number of its track in the pictures.
pub(super) struct PacketWay<C = usize> {
    number: u64,
    fate: JourneyFate,
    hops: Vec<(C, Picoseconds, Picoseconds)>,
    /// Channels behind these.
    more: usize,
}

/// A stop: its channel, the next that it waited for, and the cause.
pub(super) struct StoppedSender<C = usize, R = usize> {
    track: C,
    next: Option<C>,
    culprit: R,
}

/// Packets and stops of a capture.
pub(super) type RecordedPackets = SpanList<PacketWay<ChannelId>>;
pub(super) type RecordedStops = SpanList<StoppedSender<ChannelId, BlockingRoot>>;

pub(super) struct NetworkMoments<'a> {
    time: PictureTime,
    pub(super) tracks: Vec<MomentTrack<'a>>,
    /// Track of each channel.
    numbers: BTreeMap<ChannelId, usize>,
    pub(super) packets: BoundedList<TimeSpan<PacketWay>>,
    pub(super) stops: BoundedList<TimeSpan<StoppedSender>>,
    pub(super) culprits: Vec<WaitCulprit>,
    /// Deadlocks, by their tracks.
    cycles: Vec<(Picoseconds, Picoseconds, Vec<usize>)>,
    /// Moments that matter, each with its reasons.
    pub(super) scenes: BoundedList<(Picoseconds, String)>,
    /// Packets whose ways are drawn.
    pub(super) ways: BoundedList<WayPicture<'a>>,
    /// Longest time within which changes were merged.
    pub(super) merged: Picoseconds,
    /// Channels that no link of the picture has.
    pub(super) undrawn: usize,
}

/// A channel as a curve, with its activity over time.
pub(super) struct MomentTrack<'a> {
    id: ChannelId,
    pub(super) channel: &'a Channel,
    /// Nodes from which and to which it leads.
    pub(super) ends: [usize; 2],
    pub(super) curve: [PicturePoint; 3],
    /// From here to there without a gap.
    runs: Vec<(Picoseconds, Picoseconds, ChannelActivity)>,
}

/// A cause of waits, with its place.
pub(super) struct WaitCulprit {
    root: BlockingRoot,
    pub(super) text: String,
    pub(super) place: Option<PicturePoint>,
}

/// Adds a packet to those of a capture.
pub(super) fn add_packet(list: &mut RecordedPackets, journey: &Journey) {
    let hops = journey.hops.iter().take(HOPS_MAX);
    let from = hops.clone().map(|hop| hop.time).min().unwrap_or(0);
    let to = hops.clone().map(|hop| hop.closed).max().unwrap_or(from);
    // One that the end of the recording cuts is there in its last moment, too.
    let is_cut = |hop: &JourneyHop| hop.ended_by == FrameEnd::CaptureEnd;
    let end = |hop: &JourneyHop| if is_cut(hop) { Picoseconds::MAX } else { hop.closed };
    let hops: Vec<_> = hops.map(|hop| (hop.channel, hop.time, end(hop))).collect();
    let more = journey.hops.len() - hops.len();
    let way = PacketWay { number: journey.number, fate: journey.fate, hops, more };
    list.add((from, to), way, PACKETS_MAX);
}

/// Adds a stop to those of a capture.
pub(super) fn add_stop(list: &mut RecordedStops, event: &BlockingEvent) {
    let BlockingEvent::Stop(stop) = event else { return };
    let StopReport { channel: track, since, until, ref chain, .. } = *stop;
    let next = chain.first().copied();
    list.add((since, until), StoppedSender { track, next, culprit: stop.culprit() }, STOPS_MAX);
}

/// The network over time; none if no channel of it was recorded.
pub(super) fn picture<'a>(
    net: Option<&NetworkPicture<'_>>,
    links: &[Vec<ChannelReport<'a>>],
    input: &ReportInput<'a>,
    time: PictureTime,
) -> Option<NetworkMoments<'a>> {
    let ReportInput { capture, analysis, recorded, .. } = *input;
    let (tracks, merged) = tracks(net?, links, recorded);
    let numbers: BTreeMap<ChannelId, usize> = tracks.iter().map(|it| it.id).zip(0..).collect();
    let track = |id: &ChannelId| numbers.get(id).copied();
    let command = |name| ShellCommand::of(name, capture);
    let packets = recorded.packets.shown(PACKETS_MAX, |packet| {
        let hops = packet.hops.iter();
        let hops: Vec<_> =
            hops.filter_map(|it| Some((track(&it.0)?, it.1, it.2.min(time.to)))).collect();
        let PacketWay { number, fate, more, .. } = *packet;
        (!hops.is_empty()).then_some(PacketWay { number, fate, hops, more })
    });
    let mut culprits: Vec<WaitCulprit> = Vec::new();
    let stops = recorded.stops.shown(STOPS_MAX, |stop| {
        let StoppedSender { culprit: root, next, .. } = *stop;
        let culprit = culprits.iter().position(|it| it.root == root).unwrap_or_else(|| {
            let known = |id| analysis.channel(id);
            let text = wait_cause(root, &WaitBranch::default(), &known).to_string();
            culprits.push(WaitCulprit { root, text, place: root_place(root, &track, &tracks) });
            culprits.len() - 1
        });
        let next = next.and_then(|id| track(&id));
        Some(StoppedSender { track: track(&stop.track)?, next, culprit })
    });
    let cycles =
        recorded.waits.deadlocks().iter().map(|it| {
            (it.since, it.until, it.channels.iter().filter_map(track).collect::<Vec<_>>())
        });
    let cycles: Vec<_> = cycles.take(CYCLES_MAX).filter(|(.., it)| !it.is_empty()).collect();
    let mut moments = NetworkMoments {
        time,
        undrawn: links.iter().map(Vec::len).sum::<usize>() - tracks.len(),
        numbers,
        tracks,
        packets: BoundedList { items: packets.0, more: packets.1, command: command("journeys") },
        stops: BoundedList { items: stops.0, more: stops.1, command: command("blocking") },
        culprits,
        cycles,
        scenes: BoundedList { items: Vec::new(), more: 0, command: command("log") },
        ways: BoundedList { items: Vec::new(), more: 0, command: command("journeys") },
        merged,
    };
    moments.scenes.items = moments.matter(input);
    moments.ways.items = moments.longest_ways();
    (!moments.tracks.is_empty()).then_some(moments)
}

/// The channels of the drawn links, and the longest time within which changes were merged.
fn tracks<'a>(
    net: &NetworkPicture<'_>,
    links: &[Vec<ChannelReport<'a>>],
    recorded: &RecordedEvents,
) -> (Vec<MomentTrack<'a>>, Picoseconds) {
    let mut named: BTreeMap<_, Vec<&ChannelReport<'a>>> = BTreeMap::new();
    for report in links.iter().flatten() {
        named.entry(link_name(&report.channel.name)).or_default().push(report);
    }
    let most = (RUNS_MAX / links.iter().map(Vec::len).sum::<usize>().max(1)).max(RUNS_MIN);
    let (mut tracks, mut merged) = (Vec::new(), 0);
    for link in &net.links.items {
        let [from, bend, to] = link.curve;
        let [one, other] = link.link.ends.map(|end| end.node);
        let ways = [([from, bend, to], [one, other]), ([to, bend, from], [other, one])];
        for (channel, (curve, ends)) in link.link.channels.iter().zip(ways) {
            let own = named.remove(channel.name.as_str()).unwrap_or_default();
            // Virtual channels lie side by side.
            for (report, by) in own.into_iter().zip(1..).take(TRACKS_MAX - tracks.len()) {
                let ChannelReport { id, channel, .. } = *report;
                let mut list = recorded.lanes.get(&id).cloned().unwrap_or_default();
                list.reduce(most);
                merged = merged.max(channel.period.time(list.grain()));
                let (curve, runs) = (beside(curve, by * SIDE), runs(&list, channel));
                tracks.push(MomentTrack { id, channel, ends, curve, runs });
            }
        }
    }
    (tracks, merged)
}

impl<'a> NetworkMoments<'a> {
    /// The moments that matter, in order of time, each with the reasons.
    fn matter(&self, input: &ReportInput<'_>) -> Vec<(Picoseconds, String)> {
        let cycles = self.cycles.iter().take(DEADLOCKS_MAX);
        let cycles = cycles.map(|(since, ..)| (*since, "a cycle of waits closes".to_owned()));
        // All findings of one kind are neighbours, the most severe first.
        let kinds = input.findings.chunk_by(|one, other| one.kind == other.kind);
        let first = |alike: &[SelectedFinding<'_>]| {
            let times = alike.iter().filter(|it| it.row.severity != Severity::Note);
            let first = times.min_by_key(|it| it.row.time_ps)?;
            Some((first.row.time_ps, format!("first {}", first.kind.about().name)))
        };
        let found = kinds.filter_map(first).take(FINDINGS_MAX);
        let last = self
            .tracks
            .iter()
            .filter_map(|it| Some(it.runs.last()?.1.saturating_sub(it.channel.period.ps().into())));
        let last = last.max().map(|at| (at, "the end".to_owned()));
        let stop = self.stops.items.first().map(|it| (it.from, "the first stop".to_owned()));
        let most = self.busiest().map(|at| (at, "many channels in use".to_owned()));
        let mut moments: BTreeMap<Picoseconds, Vec<String>> = BTreeMap::new();
        for (at, reason) in cycles.chain(found).chain(last).chain(stop).chain(most) {
            let is_within = (self.time.from..=self.time.to).contains(&at);
            if is_within && (moments.len() < SCENES_MAX || moments.contains_key(&at)) {
                moments.entry(at).or_default().push(reason);
            }
        }
        moments.into_iter().map(|(at, reasons)| (at, reasons.join(", "))).collect()
    }

    /// The first time at which packets hold most channels, several.
    fn busiest(&self) -> Option<Picoseconds> {
        let hops = self.packets.items.iter().flat_map(|it| &it.value.hops);
        let mut changes: Vec<(Picoseconds, i32)> =
            hops.flat_map(|(_, from, to)| [(*from, 1), (*to, -1)]).collect();
        changes.sort_unstable();
        let (mut now, mut most) = (0, (0, None));
        for (at, change) in changes {
            now += change;
            if now > most.0 {
                most = (now, Some(at));
            }
        }
        most.1.filter(|_| most.0 > 1)
    }

    pub(super) fn track(&self, id: ChannelId) -> Option<usize> {
        self.numbers.get(&id).copied()
    }

    /// The ways of the packets that were longest on theirs, each way once.
    fn longest_ways(&self) -> Vec<WayPicture<'a>> {
        let mut ways: Vec<&TimeSpan<PacketWay>> = self.packets.items.iter().collect();
        ways.retain(|it| it.value.hops.len() > 1);
        ways.sort_by_key(|it| (Reverse(it.to - it.from), it.from));
        // Packets of one way are alike.
        let mut known = BTreeSet::new();
        ways.retain(|it| known.insert(it.value.hops.iter().map(|hop| hop.0).collect::<Vec<_>>()));
        ways.into_iter().take(WAYS_MAX).map(|it| self.way(it)).collect()
    }
}

impl MomentTrack<'_> {
    fn state(&self, at: Picoseconds) -> ChannelActivity {
        let run = self.runs.partition_point(|(from, ..)| *from <= at).checked_sub(1);
        let run = run.and_then(|run| self.runs.get(run)).filter(|(_, to, _)| at < *to);
        run.map_or(ChannelActivity::Unknown, |(.., state)| *state)
    }

    /// A point of the curve, in hundredths of the way; of one that leads around others, near to an end as on those: what
    /// joins it to the next curve stays beside their node.
    pub(super) fn near(&self, at: i64) -> PicturePoint {
        let [from, bend, to] = self.curve;
        let bow = distance(bend, ((from.0 + to.0) / 2, (from.1 + to.1) / 2));
        let length = distance(from, bend) + distance(bend, to);
        if bow * 20 < length {
            return self.point(at);
        }
        let most = 100 * NEAR / length;
        self.point(if at > 50 { 100 - (100 - at).min(most) } else { at.min(most) })
    }

    /// A point of the curve, in hundredths of the way.
    pub(super) fn point(&self, at: i64) -> PicturePoint {
        let [from, bend, to] = self.curve;
        let rest = 100 - at;
        let on = |from: i64, bend: i64, to: i64| {
            (from * rest * rest + 2 * bend * rest * at + to * at * at) / 10_000
        };
        (on(from.0, bend.0, to.0), on(from.1, bend.1, to.1))
    }
}

/// Times of the activities. What was not recorded is not like a pause between packets, however short it was.
fn runs(
    list: &StretchList<ActivityTimes>,
    channel: &Channel,
) -> Vec<(Picoseconds, Picoseconds, ChannelActivity)> {
    let state = |it: &TimeStretch<ActivityTimes>| {
        let sums = it.value.map(u128::from);
        let unknown = it.value.get(ChannelActivity::Unknown.index()).copied().unwrap_or(0);
        let all = it.value.iter().copied().fold(0, u64::saturating_add);
        let is_whole = unknown == 0 && all >= it.end - it.start;
        let state = shown_activity(&sums).map(|(state, _)| state);
        state.filter(|state| is_whole || *state != ChannelActivity::Idle)
    };
    let mut runs: Vec<(Picoseconds, Picoseconds, ChannelActivity)> = Vec::new();
    let mut push = |from, to, state| match runs.last_mut() {
        Some(last) if last.2 == state => last.1 = to,
        Some(_) | None => runs.push((from, to, state)),
    };
    let mut end = None;
    for it in list.iter() {
        let (from, to) = (channel.period.time(it.start), channel.period.time(it.end));
        if let Some(end) = end.filter(|end| *end < from) {
            push(end, from, ChannelActivity::Unknown);
        }
        push(from, to, state(it).unwrap_or(ChannelActivity::Unknown));
        end = Some(to);
    }
    runs
}

const fn distance(one: PicturePoint, other: PicturePoint) -> i64 {
    ((one.0 - other.0).pow(2) + (one.1 - other.1).pow(2)).isqrt()
}

/// A curve at the right side of another.
fn beside([from, bend, to]: [PicturePoint; 3], by: i64) -> [PicturePoint; 3] {
    let (right, down) = (to.0 - from.0, to.1 - from.1);
    let length = (right * right + down * down).isqrt().max(1);
    [from, bend, to].map(|(x, y)| (x - down * by / length, y + right * by / length))
}

/// Place of a cause: the node behind its channel, or the channel itself.
fn root_place(
    root: BlockingRoot,
    track: &dyn Fn(&ChannelId) -> Option<usize>,
    tracks: &[MomentTrack<'_>],
) -> Option<PicturePoint> {
    let (id, at) = match root {
        BlockingRoot::Deadlock => return None,
        BlockingRoot::Host(id) | BlockingRoot::OutOfSight(id) => (id, 100),
        BlockingRoot::OpenLink(id) | BlockingRoot::Busy(id) | BlockingRoot::Switch(id) => (id, 50),
        BlockingRoot::SlowOutput(id) | BlockingRoot::Unknown(id) => (id, 50),
    };
    Some(tracks.get(track(&id)?)?.point(at))
}

pub(super) fn address(time: &Picoseconds) -> String {
    let text = format!("{}.{:06}", time / 1_000_000, time % 1_000_000);
    format!("t={}us", text.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_recorded_is_never_idle() {
        let mut list = StretchList::default();
        // Pauses of packets; some are merged with what is missing, or what is not known.
        for (start, end, idle, unknown) in
            [(10, 20, 10, 0), (30, 40, 8, 0), (40, 50, 9, 1), (50, 60, 10, 0), (60, 70, 10, 0)]
        {
            let mut value = ActivityTimes::default();
            value[ChannelActivity::Idle.index()] = idle;
            value[ChannelActivity::Unknown.index()] = unknown;
            list.add(TimeStretch { start, end, value }, 16);
        }
        let channel = &Channel::named("a:0>b:0");
        let (id, runs) = (ChannelId(0), runs(&list, channel));
        let (idle, unknown) = (ChannelActivity::Idle, ChannelActivity::Unknown);
        let ticks = [(10, 20, idle), (20, 50, unknown), (50, 70, idle)];
        assert_eq!(runs, ticks.map(|(from, to, state)| (from * 12_500, to * 12_500, state)));
        let track = MomentTrack { id, channel, ends: [0, 1], curve: [(0, 0); 3], runs };
        let states = [9, 10, 19, 20, 49, 50, 69, 70].map(|at| track.state(at * 12_500) == idle);
        assert_eq!(states, [false, true, true, false, false, true, true, false]);
    }
}
