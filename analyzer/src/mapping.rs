//! Mapping of the network by its interfaces, reconstructed from captured packets. N-2, N-7, N-8
//!
//! Each packet arrives once, as a journey. Packets come in order of the time of their first capture, near
//! their senders. Only packets with a good CRC are read. Memory does not grow with the capture.

mod comparison;
mod distribution;
mod healing;
mod mappers;
mod probes;
mod row;

use std::collections::BTreeMap;
use std::sync::Arc;

use codec::capture::ChannelId;
use codec::error::DecodeError;
use codec::mapping::{
    AnswerStatus, HomeProbe, InterfaceAddress, MapVersion, MappingAnswer, MappingPacket,
};

pub use self::comparison::{LinkSource, MapComparison, newest_maps};
pub use self::distribution::DistributedMap;
use self::distribution::MapDistributions;
use self::healing::HealingTracker;
pub use self::healing::LinkOutage;
use self::mappers::MapperTerms;
pub use self::mappers::{MapperTerm, TermEnd};
use self::probes::ProbePairing;
pub use self::probes::{MappingProbe, ProbeOutcome};
pub use self::row::MappingRow;
use crate::capture_network::{CaptureNetwork, LinkKey};
use crate::conversation::{self, ObservedPlace, TransportFate};
use crate::event::{LinkEvent, Picoseconds, TimedEvent};
use crate::journey::{Journey, JourneyFate, JourneyHop};
use crate::packet::CapturedMapping;

/// Maximum number of interfaces that are remembered. *Chosen*: more than a network has.
const INTERFACES_MAX: usize = 1 << 14;

/// Event of mapping, in order of the time at which it became certain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MappingEvent {
    /// A probe or a request, with its answer; or an answer to no captured request.
    Probe(Box<MappingProbe>),
    /// An interface uses new routes.
    Installation(RouteInstallation),
    /// A map that a mapper has distributed.
    Map(Box<DistributedMap>),
    /// The time in which an interface mapped the network.
    Mapper(MapperTerm),
    /// A link that fell silent, and the packets over new routes.
    Outage(LinkOutage),
    /// A mapping packet that cannot be read.
    Unread(UnreadPacket),
}

/// The first answer of an interface by which it has installed the routes of a map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RouteInstallation {
    /// The answer.
    pub place: ObservedPlace,
    /// The interface.
    pub address: InterfaceAddress,
    /// The mapper.
    pub mapper: Option<InterfaceAddress>,
    /// Version of the map.
    pub version: MapVersion,
}

/// A packet of the type of mapping that cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnreadPacket {
    /// Its first capture.
    pub place: ObservedPlace,
    /// Its fault; none if its CRC is bad wherever it was captured.
    pub fault: Option<DecodeError>,
}

/// A mapping packet, as the taps captured it.
#[derive(Debug)]
pub(crate) struct ObservedMapping {
    pub(crate) place: ObservedPlace,
    /// Time of its first byte at the last tap on its path.
    pub(crate) last: Picoseconds,
    /// Channels of its first and last capture.
    pub(crate) channels: [ChannelId; 2],
    pub(crate) links: [LinkKey; 2],
    pub(crate) fate: JourneyFate,
    pub(crate) arrival: TransportFate,
    contents: Arc<CapturedMapping>,
}

/// Item of the input of a [`MappingTracker`].
#[derive(Debug)]
pub(crate) enum MappingItem {
    Packet(Box<ObservedMapping>),
    /// Links of a packet that is not of mapping, and the time of its last one.
    Route(Box<[LinkKey]>, Picoseconds),
    Silence(LinkKey, ObservedPlace),
    Restored(LinkKey),
}

/// Tracker of all mapping packets of a capture.
#[derive(Debug, Default)]
pub struct MappingTracker {
    /// Channel of the first capture of each interface's packets.
    homes: BTreeMap<InterfaceAddress, ChannelId>,
    /// Mapper and version of the routes of each interface, by its answers.
    routes: BTreeMap<InterfaceAddress, (Option<InterfaceAddress>, MapVersion)>,
    probes: ProbePairing,
    mappers: MapperTerms,
    maps: MapDistributions,
    healing: HealingTracker,
}

impl MappingTracker {
    /// Item of an event of a channel: silence, and its end. Without mapping it is of no interest.
    pub(crate) fn event_item(
        &self,
        event: &TimedEvent,
        network: &CaptureNetwork,
    ) -> Option<MappingItem> {
        let TimedEvent { channel, time, at, .. } = *event;
        let body = event.body.link().filter(|_| !self.homes.is_empty())?;
        if *body == LinkEvent::OpenLink {
            let place = ObservedPlace { time, channel, at, packet: 0 };
            return Some(MappingItem::Silence(network.link(channel), place));
        }
        let is_restored = *body == LinkEvent::LinkRestored;
        is_restored.then(|| MappingItem::Restored(network.link(channel)))
    }

    /// Time and item of the packet of a journey.
    pub(crate) fn journey_item(
        &self,
        journey: &Journey,
        network: &CaptureNetwork,
    ) -> Option<(Picoseconds, MappingItem)> {
        let (first, last) = journey.hops.first().zip(journey.hops.last())?;
        let JourneyHop { time, channel, start: at, packet, .. } = *first;
        let arrival = conversation::fate(journey, last);
        let Some(contents) = &journey.mapping else {
            let is_good = arrival == TransportFate::Arrived;
            if !is_good || self.homes.is_empty() {
                return None;
            }
            let links = journey.hops.iter().map(|hop| network.link(hop.channel));
            return Some((time, MappingItem::Route(links.collect(), last.time)));
        };
        let channels = [first.channel, last.channel];
        let seen = ObservedMapping {
            place: ObservedPlace { time, channel, at, packet },
            last: last.time,
            channels,
            links: channels.map(|id| network.link(id)),
            fate: journey.fate,
            arrival,
            contents: Arc::clone(contents),
        };
        Some((time, MappingItem::Packet(Box::new(seen))))
    }

    /// Processes an item; they come in order of time.
    pub(crate) fn process(
        &mut self,
        time: Picoseconds,
        item: MappingItem,
        out: &mut impl FnMut(MappingEvent),
    ) {
        match item {
            MappingItem::Packet(seen) => self.packet(&seen, out),
            MappingItem::Route(route, last) => self.healing.arrived(route, (time, last), out),
            MappingItem::Silence(link, place) => self.healing.silence(link, place),
            MappingItem::Restored(link) => self.healing.restored(link, out),
        }
    }

    /// Ends everything.
    pub fn finish(&mut self, out: &mut impl FnMut(MappingEvent)) {
        self.healing.finish(out);
        self.probes.finish(out);
        self.maps.finish(out);
        self.mappers.finish(out);
    }

    /// Interfaces with the channels on which their packets were captured first.
    pub fn homes(&self) -> impl Iterator<Item = (InterfaceAddress, ChannelId)> {
        self.homes.iter().map(|(address, channel)| (*address, *channel))
    }

    fn packet(&mut self, seen: &ObservedMapping, out: &mut impl FnMut(MappingEvent)) {
        let place = seen.place;
        let packet = match seen.contents.sound() {
            Ok(packet) => packet,
            Err(fault) => return out(MappingEvent::Unread(UnreadPacket { place, fault })),
        };
        let source = packet.source();
        if self.homes.len() < INTERFACES_MAX {
            self.homes.entry(source).or_insert(place.channel);
        }
        self.probes.expire(place.time, out);
        match packet {
            MappingPacket::Request(header, request) => {
                self.mappers.probes(source, seen, out);
                self.maps.request(seen, &header, request, out);
                self.probes.sent(MappingProbe::new(seen, &packet), out);
            }
            MappingPacket::Home(kind, ..) => {
                self.mappers.probes(source, seen, out);
                let probe = MappingProbe::new(seen, &packet);
                match kind {
                    HomeProbe::Identity if seen.contents.has_switch_answer() => {
                        self.probes.came_home(probe, seen.last, out);
                    }
                    HomeProbe::Identity => self.probes.requested(probe, out),
                    HomeProbe::Switch | HomeProbe::Compare => self.probes.sent(probe, out),
                }
            }
            MappingPacket::Answer(answer) => self.answer(seen, &answer, out),
            MappingPacket::Resign { winner, .. } => {
                self.mappers.ends(source, place.time, (TermEnd::Resigned, Some(winner)), out);
            }
        }
    }

    fn answer(
        &mut self,
        seen: &ObservedMapping,
        answer: &MappingAnswer,
        out: &mut impl FnMut(MappingEvent),
    ) {
        let MappingAnswer { source: address, mapper, version, status, .. } = *answer;
        if mapper != Some(address) {
            self.mappers.ends(address, seen.place.time, (TermEnd::Follows, mapper), out);
        }
        if self.routes.len() < INTERFACES_MAX || self.routes.contains_key(&address) {
            let before = self.routes.insert(address, (mapper, version));
            if status == AnswerStatus::Installed && before != Some((mapper, version)) {
                let place = seen.place;
                let installed = RouteInstallation { place, address, mapper, version };
                out(MappingEvent::Installation(installed));
            }
        }
        let probe = self.probes.answered(seen, answer);
        if probe.outcome == ProbeOutcome::Answered {
            self.maps.answered(&probe, seen.last, status);
        }
        out(MappingEvent::Probe(probe));
    }
}
