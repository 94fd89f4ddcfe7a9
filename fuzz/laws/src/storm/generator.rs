//! A network of a storm, drawn from a seed and its number: what it is, what is sent in it, what breaks, and
//! when it is calm again.

use std::collections::BTreeMap;

use arbitrary::{Arbitrary, Unstructured};
use codec::packet::PacketTag;
use codec::route::RouteAddressing;
use codec::time::Ticks;
use codec::transport::Nic;
use simulator::fault::FaultSpec;
use simulator::generate::{GeneratedShape, LatticeEdge, generate};
use simulator::interface::{ConsumptionMode, InterfaceParameters};
use simulator::link::FillMode;
use simulator::messaging::{MICROSECOND, MessageKind, MessagingPlan};
use simulator::routes::{RouteTable, RoutingMethod};
use simulator::scenario::{PortTap, Scenario};
use simulator::topology::{ExtensionSupport, NodeId, NodePort, SwitchParameters, Topology};
use simulator::traffic::{
    ArrivalProcess, CommandForm, PayloadSize, RawText, StreamDestination, TrafficStream,
};

use super::mapped::mapping;
use super::quiescence::calm_time;
use crate::endpoints::input::MessagingInput as Talk;
use crate::network::facts;
use crate::network::input::HostInput;
use crate::network::link_input::{CableInput, LinkEndsInput};
use crate::network::rules::stop_slack;
use crate::network::traffic_input;
use crate::repair::SeededRng;
use crate::variety::{self, LinkRates};

/// Most switches of a network. *Chosen*: more make a storm slower, not fiercer.
pub const SWITCHES_MAX: u8 = 8;
/// Periods of the full rate in a millisecond. C-1
pub(super) const MILLISECOND: u64 = 1000 * MICROSECOND;
/// From packet to packet of a roll call.
const CALL: u64 = MILLISECOND;
/// Time that the longest burst of traffic goes on beginning new streams. *Chosen*
const BURST: u64 = 2 * MILLISECOND;

/// The network of a number: the same for the same seed, on every machine.
pub fn planned(seed: u64, number: u64, switches: Option<u8>) -> Option<Scenario> {
    let mut dice = SeededRng::new(&[seed.to_le_bytes(), number.to_le_bytes()].concat());
    // What is drawn may be no network, as a random one may have too few ports.
    (0..100).find_map(|_| NetworkSketch::new(&mut dice, switches)?.scenario(&mut dice))
}

/// Network without traffic and faults.
struct NetworkSketch {
    topology: Topology,
    routes: RouteTable,
    interfaces: Vec<(NodeId, InterfaceParameters)>,
    hosts: Vec<NodeId>,
}

#[derive(Default)]
struct StormWorkload {
    streams: Vec<TrafficStream>,
    raw: Vec<RawText>,
    faults: Vec<FaultSpec>,
    messaging: BTreeMap<NodeId, MessagingPlan>,
}

/// A value decoded from random bytes.
fn drawn<T: for<'a> Arbitrary<'a>>(dice: &mut SeededRng, bytes: usize) -> Option<T> {
    T::arbitrary(&mut Unstructured::new(&dice.bytes(bytes))).ok()
}

fn number(dice: &mut SeededRng, least: u32, most: u32) -> u32 {
    least + u32::try_from(dice.below(u64::from(most - least) + 1)).unwrap_or(0)
}

impl NetworkSketch {
    fn new(dice: &mut SeededRng, switches: Option<u8>) -> Option<Self> {
        let most = u32::from(SWITCHES_MAX);
        let switches = match switches {
            Some(switches) => u32::from(switches),
            None => number(dice, 1, most),
        };
        let topology = Self::joined(dice, switches)?;
        let method =
            if dice.below(4) == 0 { RoutingMethod::Shortest } else { RoutingMethod::UpDown };
        let routes = RouteTable::compute(&topology, method).ok()?;
        let hosts: Vec<NodeId> = topology.hosts().collect();
        let kinds: [HostInput; 3] = [drawn(dice, 16)?, drawn(dice, 16)?, drawn(dice, 16)?];
        let kinds = kinds.iter().cycle().map(|kind| {
            let own = kind.parameters();
            InterfaceParameters {
                // Who does not take what comes would keep all from coming to rest; for a time some do not,
                // see `FaultKind::Consume`.
                consumption: match own.consumption {
                    ConsumptionMode::Never | ConsumptionMode::Adversary => ConsumptionMode::Always,
                    other @ (ConsumptionMode::Always | ConsumptionMode::Every(_)) => other,
                },
                send_memory: own.send_memory.max(Some(16_384)),
                receive_memory: own.receive_memory.max(Some(16_384)),
                ..own
            }
        });
        let interfaces = hosts.iter().copied().zip(kinds).collect();
        Some(Self { topology, routes, interfaces, hosts })
    }

    fn joined(dice: &mut SeededRng, switches: u32) -> Option<Topology> {
        let few = 1 + 2 / switches;
        let shape = match (dice.below(6), switches) {
            (0, _) => {
                let hosts = number(dice, few, 2.max(few));
                GeneratedShape::lattice(LatticeEdge::Open, &[switches], hosts)
            }
            (1, 2..) => {
                GeneratedShape::lattice(LatticeEdge::Closed, &[switches], number(dice, 1, 2))
            }
            (2, 4 | 6 | 8) => {
                GeneratedShape::lattice(LatticeEdge::Open, &[switches / 2, 2], number(dice, 1, 2))
            }
            _ => GeneratedShape::Random {
                seed: dice.roll(),
                switches,
                ports: 8,
                hosts: number(dice, 2, 2 + switches),
                links: number(dice, 0, switches),
            },
        };
        let addressing =
            if dice.below(2) == 0 { RouteAddressing::Relative } else { RouteAddressing::Absolute };
        let prototype = SwitchParameters {
            routing: u8::try_from(number(dice, 1, 40)).unwrap_or(28),
            token_step: u8::try_from(number(dice, 1, 3)).unwrap_or(2),
            extensions: if dice.below(4) == 0 {
                ExtensionSupport::On
            } else {
                ExtensionSupport::Off
            },
            ..SwitchParameters::new(8, addressing)
        };
        let kinds: [CableInput; 3] = [drawn(dice, 16)?, drawn(dice, 16)?, drawn(dice, 16)?];
        // From a generator of their own, so that all else is as it was without them.
        let aside = &mut SeededRng::new(&dice.clone().bytes(16));
        let ends: [LinkEndsInput; 3] = [drawn(aside, 16)?, drawn(aside, 16)?, drawn(aside, 16)?];
        let (enough, slow) = (dice.below(8) > 0, dice.below(16) == 0);
        let mut links: Vec<_> = kinds.iter().zip(&ends).map(|(kind, ends)| ends.of(kind)).collect();
        for link in &mut links {
            if !slow {
                // Nor is one still that fills with IDLE.
                for port in &mut link.ports {
                    port.divisor = std::num::NonZeroU32::MIN;
                    port.fill = facts::without_idle(port.fill);
                }
            }
            if enough {
                let least = [stop_slack(link), stop_slack(&link.turned())];
                for (port, least) in link.ports.iter_mut().zip(least) {
                    port.slack.stop_slack = port.slack.stop_slack.max(least);
                }
            }
        }
        let (nodes, mut cables) = generate(&shape, prototype, *links.first()?).ok()?;
        let all = cables.iter_mut().zip(links.iter().cycle());
        all.for_each(|(cable, link)| cable.link = *link);
        let rates = if slow { LinkRates::Any } else { LinkRates::Full };
        variety::varied(&Topology::new(nodes, cables).ok()?, rates, dice)
    }

    fn scenario(mut self, dice: &mut SeededRng) -> Option<Scenario> {
        let mapping = mapping(&self.topology, dice);
        let mut ports = self.topology.cables().iter().flat_map(|cable| cable.link.ports);
        let slow = ports.any(|it| it.divisor.get() > 1 || matches!(it.fill, FillMode::Idle(_)));
        // A link of another rate than the full one is never still.
        let bursts = if slow { 1 } else { u64::from(number(dice, 1, 4)) };
        let apart = if slow { 4 } else { u64::from(number(dice, 20, 600)) } * MILLISECOND;
        let mut weather = StormWorkload::default();
        let mut begins = Vec::new();
        for burst in 0..bursts {
            let begin = burst * apart + dice.below(apart / 2);
            begins.push(begin);
            weather.traffic(&self, begin, dice)?;
            weather.breakage(&self, begin, dice)?;
        }
        weather.talk(&self, &begins, dice)?;
        weather.streams.extend(variety::multicasts(&self.hosts, (&begins, BURST), dice));
        let mended = weather.faults.iter().filter_map(|fault| fault.until).max().unwrap_or(0);
        let last = begins.last().copied().unwrap_or(0);
        let duration = self.roll_call(&mut weather, mended.max(last + 2 * BURST))?;
        weather.streams.extend(variety::ip_streams(&self.hosts, (&begins, BURST), dice));
        variety::fit(&mut self.interfaces, &weather.streams, dice);
        variety::spare_handshakes(&self.topology, &mut weather.faults);
        weather.faults.sort_by_key(|fault| fault.at);
        let taps = self.taps(&begins, &weather, duration, dice);
        Some(Scenario {
            seed: dice.roll() >> 1,
            duration,
            topology: self.topology,
            interfaces: self.interfaces,
            routes: if mapping.is_some() { RouteTable::default() } else { self.routes },
            mapping,
            streams: weather.streams,
            raw: weather.raw,
            replays: Vec::new(),
            messaging: weather.messaging,
            faults: weather.faults,
            taps,
        })
    }

    /// Time when it is calm each host sends a packet, one after the other; and again, which must arrive.
    /// When the run ends.
    fn roll_call(&self, weather: &mut StormWorkload, last: u64) -> Option<u64> {
        let calm = last + calm_time(&self.topology);
        let mut at = calm - 50 * MILLISECOND;
        for round in 0..2 {
            at = at.max(calm + round);
            let next = self.hosts.iter().cycle().skip(1);
            for (from, to) in self.hosts.iter().zip(next) {
                weather.streams.push(TrafficStream {
                    from: *from,
                    to: StreamDestination::One(*to),
                    tag: PacketTag::new(0)?,
                    protocol: None,
                    multicast: None,
                    payload: PayloadSize::Fixed(32),
                    arrivals: ArrivalProcess::Constant(Ticks(CALL)),
                    start: at,
                    packets: Some(1),
                    command: CommandForm::default(),
                });
                at += CALL;
            }
        }
        Some(at + 50 * MILLISECOND)
    }

    /// Every cable at one end, some of them, or all at both, all the time or around some bursts; one network
    /// of six not at all.
    fn taps(
        &self,
        begins: &[u64],
        weather: &StormWorkload,
        duration: u64,
        dice: &mut SeededRng,
    ) -> Vec<PortTap> {
        let ends = dice.below(6);
        let ports = self.topology.cables().iter().flat_map(|cable| match (ends, cable.ends) {
            (0, _) => vec![],
            (1 | 2, [one, _]) | (3, [_, one]) => vec![one],
            (4, both) if weather.messaging.is_empty() => both.to_vec(),
            (_, [one, other]) => match dice.below(4) {
                0 => vec![one],
                1 => vec![other],
                _ => vec![],
            },
        });
        let ports: Vec<NodePort> = ports.collect();
        let mut windows = vec![(0, duration)];
        if dice.below(2) == 0 {
            let starts = begins.iter().map(|begin| begin.saturating_sub(MILLISECOND));
            let ends = starts.clone().skip(1).chain([duration]);
            windows = starts.zip(ends).filter(|_| dice.below(3) > 0).collect();
        }
        let tap = |port: NodePort| {
            windows.iter().map(move |(from, to)| PortTap { port, from: *from, to: *to })
        };
        ports.into_iter().flat_map(tap).collect()
    }
}

impl StormWorkload {
    fn traffic(&mut self, sketch: &NetworkSketch, begin: u64, dice: &mut SeededRng) -> Option<()> {
        for _ in 0..dice.below(6) {
            let stream: traffic_input::StreamInput = drawn(dice, 32)?;
            let Some(mut stream) = stream.stream(&sketch.hosts, BURST) else { continue };
            if stream.to == StreamDestination::One(stream.from) {
                continue;
            }
            if let Some(Ticks(interval)) = stream.arrivals.interval_mut() {
                *interval = (*interval).max(1);
            }
            self.streams.push(TrafficStream {
                start: begin + stream.start,
                packets: Some(2 + dice.below(30)),
                payload: match stream.payload {
                    PayloadSize::Bimodal { small, large, share } => {
                        PayloadSize::Bimodal { small, large, share: share.max(1) }
                    }
                    other @ (PayloadSize::Fixed(_) | PayloadSize::Uniform(..)) => other,
                },
                ..stream
            });
        }
        // Light traffic, into the quiet time.
        if dice.below(2) == 0
            && let [from, to, ..] = *sketch.hosts.as_slice()
        {
            self.streams.push(TrafficStream {
                from,
                to: StreamDestination::One(to),
                tag: PacketTag::new(0)?,
                protocol: None,
                multicast: None,
                payload: PayloadSize::Uniform(0, 200),
                arrivals: ArrivalProcess::Poisson(Ticks(5 * MILLISECOND)),
                start: begin,
                packets: Some(10),
                command: CommandForm::default(),
            });
        }
        for _ in 0..dice.below(12).saturating_sub(8) {
            let text: traffic_input::RawTextInput = drawn(dice, 64)?;
            let raw = text.raw(&sketch.hosts, &sketch.routes, BURST);
            let raw = raw.filter(|raw| !raw.chars.is_empty());
            self.raw.extend(raw.map(|raw| RawText { at: begin + raw.at, ..raw }));
        }
        Some(())
    }

    fn breakage(&mut self, sketch: &NetworkSketch, begin: u64, dice: &mut SeededRng) -> Option<()> {
        // One burst of four passes in good order.
        let most = if dice.below(4) == 0 { 0 } else { 6 };
        for _ in 0..dice.below(most) {
            let fault: traffic_input::FaultInput = drawn(dice, 16)?;
            let Some(fault) = fault.fault(&sketch.topology, BURST) else { continue };
            let lasts = 1 + match dice.below(8) {
                0..=3 => dice.below(1024),
                4..=6 => dice.below(MILLISECOND),
                _ => dice.below(10 * MILLISECOND),
            };
            let at = begin + fault.at;
            let until = fault.kind.lasts().then_some(at + lasts);
            self.faults.push(FaultSpec { at, until, ..fault });
        }
        if most > 0 {
            self.faults.extend(variety::supply_faults(&sketch.topology, (begin, BURST), dice));
        }
        Some(())
    }

    /// Endpoints, and their messages at each burst.
    fn talk(&mut self, sketch: &NetworkSketch, begins: &[u64], dice: &mut SeededRng) -> Option<()> {
        let nics = sketch.hosts.iter().map(|host| u16::try_from(host.0).map(Nic));
        let nics: Vec<Nic> = nics.collect::<Result<_, _>>().ok()?;
        if dice.below(5) == 0 {
            return Some(());
        }
        let first: Talk = drawn(dice, 120)?;
        let mut plans: Vec<MessagingPlan> =
            Talk { streams: Vec::new(), ..first.clone() }.hosts_at(&nics);
        for begin in begins {
            let said: Talk = drawn(dice, 200)?;
            let said = Talk { shape: first.shape, ..said }.hosts_at(&nics);
            for (plan, said) in plans.iter_mut().zip(said) {
                plan.streams.extend(said.streams.into_iter().map(|mut stream| {
                    stream.start += begin;
                    if let (MessageKind::Short, PayloadSize::Fixed(bytes)) =
                        (stream.kind, stream.size)
                    {
                        stream.size = PayloadSize::Fixed(bytes / 4 * 4);
                    }
                    stream
                }));
            }
        }
        variety::wait_for_answers(&sketch.topology, &mut plans);
        self.messaging = sketch.hosts.iter().copied().zip(plans).collect();
        acquainted(&mut self.messaging);
        Some(())
    }
}

/// Names the endpoints that each host receives messages from.
pub(super) fn acquainted(plans: &mut BTreeMap<NodeId, MessagingPlan>) {
    let mut names = BTreeMap::<Nic, Vec<_>>::new();
    for plan in plans.values() {
        for stream in &plan.streams {
            let own = plan.endpoints.iter().find(|endpoint| endpoint.id == stream.from);
            let own = own.map(|endpoint| ((plan.nic, endpoint.id), endpoint.key));
            names.entry(stream.to.0).or_default().extend(own);
        }
    }
    for plan in plans.values_mut() {
        plan.names = names.remove(&plan.nic).unwrap_or_default();
        plan.names.sort_unstable();
        plan.names.dedup();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::facts::switches;

    #[test]
    fn a_network_is_drawn_alike_each_time_and_has_as_many_switches_as_are_asked_for() {
        for number in 0..40 {
            let drawn = || planned(7, number, Some(8)).unwrap();
            assert_eq!(drawn(), drawn());
            assert_eq!(switches(&drawn().topology), 8);
        }
    }

    #[test]
    fn what_breaks_is_mended_long_before_the_end() {
        for number in 0..100 {
            let scenario = planned(8, number, None).unwrap();
            for fault in &scenario.faults {
                assert_eq!(fault.until.is_some(), fault.kind.lasts(), "{fault:?}");
                let end = fault.until.unwrap_or(fault.at);
                assert!(end + calm_time(&scenario.topology) < scenario.duration, "{fault:?}");
            }
        }
    }

    #[test]
    fn every_network_can_be_written_and_is_read_back_as_it_is() {
        for number in 0..100 {
            let scenario = planned(9, number, None).unwrap();
            let text = scenario.write().unwrap_or_else(|error| panic!("{number}: {error}"));
            assert_eq!(Scenario::read("storm.toml", &text).unwrap(), scenario, "{number}");
        }
    }
}
