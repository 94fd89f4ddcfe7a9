//! Networks whose first packets wait for each other in a circle. R-4, N-2

#![expect(clippy::indexing_slicing, reason = "indices are those of its own lists")]

use std::collections::BTreeSet;
use std::fmt::{self, Write as _};

use analyzer::blocking::BlockingEvent;
use analyzer::channel_name::ChannelEnds;
use analyzer::finding::{Finding, FindingKind};
use analyzer::journey::{Journey, JourneyHop};
use analyzer::packet::StartCoverage;
use codec::capture::{Channel, ChannelId};
use codec::route::{PortId, RouteAddressing};
use simulator::scenario::Scenario;
use simulator::topology::NodePort;

use crate::network::analyzed::AnalyzedCapture;
use crate::network::run::RunOutcome;
use crate::network::undeclared::{StrippedWords, stripped};
use crate::repair::SeededRng;

use super::{stops, truth};

/// Most ports of a switch that is drawn.
const PORTS: u8 = 12;

/// The cables of a network of switches: the numbers of their ends.
type SwitchCables = Vec<[usize; 2]>;

/// A shape of networks with circles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CircleShape {
    Ring,
    Mesh,
    Torus,
    /// A tree with some cables more.
    Tree,
    Hypercube,
}

impl CircleShape {
    pub const ALL: [Self; 5] = [Self::Ring, Self::Mesh, Self::Torus, Self::Tree, Self::Hypercube];

    fn cables(self, dice: &mut SeededRng) -> (usize, SwitchCables) {
        let mut below = |count: usize| usize::try_from(dice.below(count as u64)).unwrap_or(0);
        let mut cables = SwitchCables::new();
        let count = match self {
            Self::Ring => {
                let count = 2 + below(11);
                cables.extend((0..count).map(|from| [from, (from + 1) % count]));
                count
            }
            Self::Mesh | Self::Torus => {
                let (width, height) = [(2, 2), (3, 2), (3, 3), (4, 2), (4, 3), (2, 5)][below(6)];
                let wraps = self == Self::Torus;
                for (x, y) in (0..width).flat_map(|x| (0..height).map(move |y| (x, y))) {
                    let place = |x: usize, y: usize| y % height * width + x % width;
                    cables.extend((x + 1 < width || wraps).then(|| [place(x, y), place(x + 1, y)]));
                    cables
                        .extend((y + 1 < height || wraps).then(|| [place(x, y), place(x, y + 1)]));
                }
                width * height
            }
            Self::Tree => {
                let count = 3 + below(10);
                cables.extend((1..count).map(|child| [below(child), child]));
                for _ in 0..=below(3) {
                    let from = below(count);
                    cables.push([from, (from + 1 + below(count - 1)) % count]);
                }
                count
            }
            Self::Hypercube => {
                let bits = 2 + below(2);
                let pairs = (0..1 << bits).flat_map(|from| (0..bits).map(move |bit| (from, bit)));
                cables.extend(
                    pairs
                        .filter(|(from, bit)| from >> bit & 1 == 0)
                        .map(|(from, bit): (usize, usize)| [from, from | 1 << bit]),
                );
                1 << bits
            }
        };
        (count, cables)
    }
}

/// The packets before those of the circle, and the links that are tapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CircleStart {
    /// No packets, all links.
    Empty,
    /// No packets, all links, which are handshake cables. B-1
    Handshakes,
    /// A short packet on each route, the links between switches: it left by a link that is not tapped.
    Short,
}

impl CircleShape {
    /// The shape with each start.
    pub fn starts(self) -> [(Self, CircleStart); 3] {
        [CircleStart::Empty, CircleStart::Handshakes, CircleStart::Short].map(|start| (self, start))
    }
}

/// A network in which each packet of a circle is sent at the same time.
#[derive(Debug)]
pub struct CircleNetwork {
    pub text: String,
    start: CircleStart,
    /// Channels of the circle.
    pub circle: BTreeSet<String>,
}

/// A way round along cables, each once and each with the switch at which it begins; none if the walk meets no switch again.
fn circle(
    count: usize,
    cables: &SwitchCables,
    dice: &mut SeededRng,
) -> Option<Vec<(usize, usize)>> {
    let mut at = usize::try_from(dice.below(count as u64)).ok()?;
    let mut way: Vec<(usize, usize)> = Vec::new();
    loop {
        if let Some(begin) = way.iter().position(|(from, _)| *from == at) {
            return Some(way.split_off(begin));
        }
        let is_new = |cable: &usize| way.iter().all(|(_, used)| used != cable);
        let touching = (0..cables.len()).filter(|cable| cables[*cable].contains(&at));
        let next: Vec<usize> = touching.filter(is_new).collect();
        let cable = *next.get(usize::try_from(dice.below(next.len().max(1) as u64)).ok()?)?;
        way.push((at, cable));
        at = cables[cable].iter().copied().find(|end| *end != at)?;
    }
}

/// Switches with their cables, hosts and addressing: `a` of a switch sends, `b` receives.
#[derive(Debug)]
struct SwitchPlan {
    cables: SwitchCables,
    /// Ports at the ends of each cable.
    ends: Vec<[u8; 2]>,
    /// Ports of the two hosts of each switch.
    hosts: Vec<[u8; 2]>,
    addressing: Vec<RouteAddressing>,
}

impl SwitchPlan {
    fn draw(count: usize, cables: SwitchCables, dice: &mut SeededRng) -> Option<Self> {
        let mut ports: Vec<Vec<u8>> = Vec::new();
        for _ in 0..count {
            let mut free: Vec<u8> = (0..PORTS).collect();
            for place in (1..free.len()).rev() {
                free.swap(place, usize::try_from(dice.below(place as u64 + 1)).ok()?);
            }
            ports.push(free);
        }
        let ends =
            cables.iter().map(|[one, other]| Some([ports[*one].pop()?, ports[*other].pop()?]));
        let ends = ends.collect::<Option<_>>()?;
        let hosts = ports.iter_mut().map(|free| Some([free.pop()?, free.pop()?]));
        let hosts = hosts.collect::<Option<_>>()?;
        let kind = dice.below(3);
        let addressing = (0..count).map(|_| match (kind, dice.below(2)) {
            (0, _) | (2, 0) => RouteAddressing::Absolute,
            (_, _) => RouteAddressing::Relative,
        });
        let addressing = addressing.collect();
        Some(Self { cables, ends, hosts, addressing })
    }

    /// Port of a cable at a switch, and switch and port at its other end.
    fn end(&self, cable: usize, switch: usize) -> (u8, usize, u8) {
        let [one, other] = self.cables[cable];
        let [here, there] = self.ends[cable];
        if one == switch { (here, other, there) } else { (there, one, here) }
    }

    fn write(&self, text: &mut String) -> fmt::Result {
        for (switch, addressing) in self.addressing.iter().enumerate() {
            let addressing = addressing.name();
            let [one, other] = self.hosts[switch];
            write!(
                text,
                "[[switch]]\nname = 's{switch}'\nports = {PORTS}\naddressing = '{addressing}'\n\
                 [[host]]\nname = 'a{switch}'\nat = 's{switch}:{one}'\n\
                 [[host]]\nname = 'b{switch}'\nat = 's{switch}:{other}'\n"
            )?;
        }
        for ([one, other], [here, there]) in self.cables.iter().zip(&self.ends) {
            writeln!(text, "[[cable]]\nends = ['s{one}:{here}', 's{other}:{there}']")?;
        }
        Ok(())
    }
}

/// True if the journey of the packet that a stopped channel waits for goes where that waits.
fn agrees(blocked: &BlockingEvent, journeys: &[Journey], channels: &[Channel]) -> bool {
    let BlockingEvent::Stop(stop) = blocked else { return true };
    let next = stop.standing.as_ref().and_then(|standing| standing.chain.first());
    let (Some(packet), Some(next)) = (stop.packet, next) else { return true };
    let from = channels.get(next.0 as usize).and_then(ChannelEnds::of).map(|ends| ends.from.port);
    let is_its = |hop: &JourneyHop| (hop.channel, hop.packet) == (stop.channel, packet);
    let hop = journeys.iter().flat_map(|journey| &journey.hops).find(|hop| is_its(hop));
    // Of a packet that may have begun before the recording, journeys tell no port.
    hop.is_some_and(|hop| hop.output == from || hop.opening == StartCoverage::Unsure)
}

impl CircleNetwork {
    /// The network of a shape and a number: the same on every machine.
    pub fn of(shape: CircleShape, start: CircleStart, number: u64) -> Option<Self> {
        let mut dice = SeededRng::new(&[&[b'o', shape as u8][..], &number.to_le_bytes()].concat());
        let (count, cables) = shape.cables(&mut dice);
        let way = circle(count, &cables, &mut dice)?;
        let plan = SwitchPlan::draw(count, cables, &mut dice)?;
        let mut text = format!("seed = {number}\nduration_us = 300\n[routes]\nmethod = 'given'\n");
        if start == CircleStart::Handshakes {
            text += "[link]\nkind = 'handshake'\nlength_m = 1\n";
        }
        plan.write(&mut text).ok()?;
        let mut channels = BTreeSet::new();
        let ahead = 2 + usize::try_from(dice.below(2)).ok()? % (way.len() - 1);
        for (place, (switch, cable)) in way.iter().enumerate() {
            let (port, next, there) = plan.end(*cable, *switch);
            channels.insert(format!("s{switch}:{port}>s{next}:{there}"));
            let (mut input, mut last, mut route) = (plan.hosts[*switch][0], *switch, String::new());
            let hops = way.iter().cycle().skip(place).take(ahead);
            let hops = hops.map(|(switch, cable)| (*switch, plan.end(*cable, *switch)));
            for (switch, (port, next, there)) in hops {
                let byte = plan.addressing[switch].byte(PortId(input), PortId(port))?;
                write!(route, "{byte:02x} ").ok()?;
                (input, last) = (there, next);
            }
            let byte = plan.addressing[last].byte(PortId(input), PortId(plan.hosts[last][1]))?;
            let ends = format!("from = 'a{switch}'\nto = 'b{last}'\n");
            write!(text, "[[route]]\n{ends}bytes = '{route}{byte:02x}'\n").ok()?;
            let packets: &[(usize, usize)] = match start {
                CircleStart::Empty | CircleStart::Handshakes => &[(2000, 0)],
                CircleStart::Short => &[(16, 3 * place), (2000, 3 * (count + 1))],
            };
            for (payload, begin) in packets {
                write!(
                    text,
                    "[[traffic]]\n{ends}payload = {payload}\npackets = 1\nevery_us = 1\nstart_us = {begin}\n"
                )
                .ok()?;
            }
        }
        for ([one, _], [port, _]) in plan.cables.iter().zip(&plan.ends) {
            writeln!(text, "[[tap]]\nport = 's{one}:{port}'").ok()?;
        }
        if start != CircleStart::Short {
            let hosts = plan.hosts.iter().enumerate();
            for (switch, port) in hosts.flat_map(|(switch, ports)| ports.map(|port| (switch, port)))
            {
                writeln!(text, "[[tap]]\nport = 's{switch}:{port}'").ok()?;
            }
        }
        Some(Self { text, start, circle: channels })
    }

    /// Compares what is found with the truth; returns the differences, or none if the truth has no circle.
    pub fn compare(&self) -> Option<Vec<String>> {
        let scenario = Scenario::read("circle", &self.text);
        let scenario = match scenario {
            Ok(scenario) => scenario,
            Err(error) => return Some(vec![error.to_string()]),
        };
        let name = |port: NodePort| {
            let peer = scenario.topology.peer(port)?;
            Some([port, peer].map(|port| scenario.topology.port_name(port)).join(">"))
        };
        let stopped = stops(&scenario, &truth(&scenario))
            .into_iter()
            .filter(|(_, sender)| sender.since.is_some());
        let stopped: BTreeSet<String> = stopped.filter_map(|(port, _)| name(port)).collect();
        let outcome = RunOutcome::untold(&scenario);
        let is_still = match self.start {
            CircleStart::Handshakes => outcome.hosts.values().all(|host| host.received == 0),
            CircleStart::Empty | CircleStart::Short => self.circle.is_subset(&stopped),
        };
        if !is_still {
            return None;
        }
        let [some, all] = [StrippedWords::Parameters, StrippedWords::Everything]
            .map(|words| stripped(&outcome.capture, words));
        let mut differences = Vec::new();
        let captures =
            [("declared", &outcome.capture), ("no parameters", &some), ("names only", &all)];
        // The fill of a buffer, which tells that a packet has left it, is known from parameters.
        let known = if self.start == CircleStart::Short { 1 } else { captures.len() };
        for (what, capture) in captures.into_iter().take(known) {
            let AnalyzedCapture { set, journeys, blocked, .. } = AnalyzedCapture::of(capture);
            let is_odd = |it: &&BlockingEvent| !agrees(it, &journeys, &outcome.channels);
            let odd = blocked.iter().filter(is_odd);
            differences.extend(odd.map(|stop| format!("{what}: no journey waits as {stop:?}")));
            let channel = |id: &ChannelId| outcome.channels.get(id.0 as usize).map(|it| &*it.name);
            let found = set.found().filter(|(kind, ..)| *kind == FindingKind::Deadlock);
            let circle =
                |found: &Finding| found.channels("circle").iter().filter_map(channel).collect();
            let circles: Vec<BTreeSet<&str>> = found.map(|(_, _, found)| circle(found)).collect();
            let expected: BTreeSet<&str> = self.circle.iter().map(String::as_str).collect();
            if circles != [expected] {
                differences.push(format!("{what}: found {circles:?}"));
            }
        }
        Some(differences)
    }
}
