//! Probes and requests, paired with their answers. N-2, N-8

use std::collections::{BTreeMap, BTreeSet};

use codec::capture::ChannelId;
use codec::mapping::{
    InterfaceAddress, MapPiece, MapVersion, MappingAnswer, MappingPacket, MappingRequest,
    ProbeTicket,
};

use super::{MappingEvent, ObservedMapping};
use crate::capture_network::LinkKey;
use crate::conversation::{ObservedPlace, TransportFate};
use crate::event::Picoseconds;
use crate::journey::JourneyFate;
use crate::named_enum::named_enum;

/// Maximum number of requests without an answer. *Chosen*: a thousand mappers at once.
const PENDING_MAX: usize = 1 << 14;

/// Time after which no answer is expected. *Chosen*: longer than packets can wait in switches.
const PATIENCE: Picoseconds = 200_000_000_000;

named_enum! {
    /// Outcome of a probe or a request.
    pub enum ProbeOutcome {
        /// The answer came back.
        Answered = "answered",
        /// It came home to the interface that sent it.
        Home = "home",
        /// It was lost on its way, as it is where nothing is there.
        Lost = "lost",
        /// It left the captured part of the network, and no answer was captured.
        Unseen = "unseen",
        /// It reached an interface, from which no answer was captured.
        Unanswered = "unanswered",
        /// The answer was lost on its way.
        AnswerLost = "answer-lost",
        /// A probe that comes home reached another interface.
        Elsewhere = "elsewhere",
        /// It, or the answer, was in transit at the end of the recording.
        UnderWay = "under-way",
        /// Of an answer: no such request was captured.
        Unasked = "unasked",
    }
}

/// A probe or a request, and its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MappingProbe {
    /// Its first capture.
    pub place: ObservedPlace,
    /// Kind of the packet: [`MappingPacket::name`].
    pub kind: &'static str,
    /// The interface that sent it.
    pub source: InterfaceAddress,
    /// Its number, which the answer repeats.
    pub ticket: ProbeTicket,
    /// Version of the map that it is about; probes that come home have none.
    pub version: Option<MapVersion>,
    /// Number of a piece and of all pieces.
    pub piece: Option<(u16, u16)>,
    /// Route bytes at its first capture.
    pub route: Box<[u8]>,
    /// Channel on which it was captured last.
    pub last: ChannelId,
    /// Fate of the packet.
    pub fate: JourneyFate,
    /// Its outcome.
    pub outcome: ProbeOutcome,
    /// The answer.
    pub answer: Option<MappingAnswer>,
    /// Time from its first capture to the last one of the answer, or of itself if it came home.
    pub round_trip: Option<Picoseconds>,
    /// Links of its first and last capture.
    pub(super) links: [LinkKey; 2],
    /// All route bytes of a request, as it says itself: it may be captured behind switches only.
    pub(super) whole_route: Box<[u8]>,
}

impl MappingProbe {
    pub(super) fn new(seen: &ObservedMapping, packet: &MappingPacket<'_>) -> Self {
        let (ticket, version, request) = match packet {
            MappingPacket::Request(header, request) => {
                (header.ticket, Some(header.version), Some((header.route, request)))
            }
            MappingPacket::Home(_, _, ticket) => (*ticket, None, None),
            MappingPacket::Answer(answer) => (answer.ticket, Some(answer.version), None),
            MappingPacket::Resign { .. } => (ProbeTicket::default(), None, None),
        };
        let (whole_route, request) = request.unzip();
        let piece = match request {
            Some(MappingRequest::Map(piece) | MappingRequest::Routes(piece)) => Some(piece),
            Some(MappingRequest::Probe | MappingRequest::Install) | None => None,
        };
        let [first, last] = seen.channels;
        let is_home = first != last && seen.links[0] == seen.links[1];
        // An interface got it, though with a route byte in front. I-2
        let has_come = seen.arrival == TransportFate::Lost && seen.fate == JourneyFate::Misrouted;
        let arrival = if has_come { TransportFate::Arrived } else { seen.arrival };
        let outcome = match (arrival, request) {
            (TransportFate::Arrived, _) if is_home => ProbeOutcome::Home,
            (TransportFate::Arrived, Some(_)) => ProbeOutcome::Unanswered,
            (TransportFate::Arrived, None) => ProbeOutcome::Elsewhere,
            (TransportFate::Hurt | TransportFate::Lost, _) => ProbeOutcome::Lost,
            (TransportFate::OutOfSight, _) => ProbeOutcome::Unseen,
            (TransportFate::UnderWay, _) => ProbeOutcome::UnderWay,
        };
        let trip = (outcome == ProbeOutcome::Home).then(|| seen.last - seen.place.time);
        Self {
            place: seen.place,
            kind: packet.name(),
            source: packet.source(),
            ticket,
            version,
            piece: piece.map(|MapPiece { number, count, .. }| (*number, *count)),
            route: seen.contents.route.clone(),
            last,
            fate: seen.fate,
            outcome,
            answer: None,
            round_trip: trip,
            links: seen.links,
            whole_route: whole_route.unwrap_or_default().into(),
        }
    }
}

/// Requests that wait for their answers.
#[derive(Debug, Default)]
pub(super) struct ProbePairing {
    /// In order of first capture.
    pending: BTreeMap<u64, MappingProbe>,
    /// Those of a number whose answer will begin on a link.
    expected: BTreeSet<(ProbeTicket, LinkKey, u64)>,
    /// Those to switches.
    questions: BTreeMap<(InterfaceAddress, ProbeTicket), u64>,
    sent: u64,
}

impl ProbePairing {
    pub(super) fn sent(&mut self, probe: MappingProbe, out: &mut impl FnMut(MappingEvent)) {
        let is_request = probe.version.is_some();
        let is_open = matches!(probe.outcome, ProbeOutcome::Unanswered | ProbeOutcome::Unseen);
        if !is_request || !is_open {
            return out(MappingEvent::Probe(Box::new(probe)));
        }
        self.wait(probe, out);
    }

    fn wait(&mut self, probe: MappingProbe, out: &mut impl FnMut(MappingEvent)) {
        self.sent += 1;
        self.expected.insert((probe.ticket, probe.links[1], self.sent));
        self.pending.insert(self.sent, probe);
        if self.pending.len() > PENDING_MAX {
            self.drop_first(out);
        }
    }

    /// Adds a question to a switch: it is followed up to the switch, and the answer from there on. S-8
    pub(super) fn requested(&mut self, probe: MappingProbe, out: &mut impl FnMut(MappingEvent)) {
        let key = (probe.source, probe.ticket);
        self.wait(probe, out);
        self.questions.insert(key, self.sent);
    }

    /// Gives the question that a switch has answered the outcome of the answer.
    pub(super) fn came_home(
        &mut self,
        answer: MappingProbe,
        last: Picoseconds,
        out: &mut impl FnMut(MappingEvent),
    ) {
        let number = self.questions.get(&(answer.source, answer.ticket)).copied();
        let Some(mut probe) = number.and_then(|number| self.remove(number)) else {
            return out(MappingEvent::Probe(Box::new(answer)));
        };
        let came = matches!(answer.fate, JourneyFate::Arrived | JourneyFate::Misrouted);
        let is_home = came && answer.links[1] == probe.links[0];
        probe.outcome = match (is_home, came) {
            (true, _) => ProbeOutcome::Home,
            (false, true) => ProbeOutcome::Elsewhere,
            (false, false) => answer.outcome,
        };
        probe.round_trip = is_home.then(|| last.saturating_sub(probe.place.time));
        out(MappingEvent::Probe(Box::new(probe)));
    }

    /// Removes the request of an answer, which begins on the link on which the request ended, on the other channel, and
    /// ends where the request began. Without one, the answer itself is returned.
    pub(super) fn answered(
        &mut self,
        seen: &ObservedMapping,
        answer: &MappingAnswer,
    ) -> Box<MappingProbe> {
        let [link, home] = seen.links;
        let ticket = answer.ticket;
        let all = (ticket, link, 0)..=(ticket, link, u64::MAX);
        let of = |number: u64| self.pending.get(&number);
        let fitting = self.expected.range(all).map(|(.., number)| *number);
        // It does not go on the way of its request, and an interface does not answer what it sent itself.
        let turns = |it: &MappingProbe| it.last != seen.place.channel;
        let mut fitting = fitting.filter(|number| of(*number).is_some_and(turns));
        let first = fitting.clone().next();
        let number = fitting.find(|number| of(*number).is_some_and(|it| it.links[0] == home));
        let arrived = seen.arrival == TransportFate::Arrived;
        let number = if arrived { number } else { number.or(first) };
        let Some(mut probe) = number.and_then(|number| self.remove(number)) else {
            let packet = MappingPacket::Answer(*answer);
            let mut probe = MappingProbe::new(seen, &packet);
            (probe.outcome, probe.answer) = (ProbeOutcome::Unasked, Some(*answer));
            return Box::new(probe);
        };
        probe.answer = Some(*answer);
        probe.outcome = match seen.arrival {
            TransportFate::Arrived => ProbeOutcome::Answered,
            // It left the captured part on the link by which the request entered it.
            TransportFate::OutOfSight if probe.links[0] == home => ProbeOutcome::Answered,
            TransportFate::OutOfSight => ProbeOutcome::Unseen,
            TransportFate::Hurt | TransportFate::Lost => ProbeOutcome::AnswerLost,
            TransportFate::UnderWay => ProbeOutcome::UnderWay,
        };
        let came = probe.outcome == ProbeOutcome::Answered;
        probe.round_trip = came.then(|| seen.last.saturating_sub(probe.place.time));
        Box::new(probe)
    }

    /// Ends the requests that wait for too long.
    pub(super) fn expire(&mut self, now: Picoseconds, out: &mut impl FnMut(MappingEvent)) {
        let is_over = |probe: &MappingProbe| probe.place.time.saturating_add(PATIENCE) < now;
        while self.pending.first_key_value().is_some_and(|(_, probe)| is_over(probe)) {
            self.drop_first(out);
        }
    }

    /// Ends all requests.
    pub(super) fn finish(&mut self, out: &mut impl FnMut(MappingEvent)) {
        while !self.pending.is_empty() {
            self.drop_first(out);
        }
    }

    fn drop_first(&mut self, out: &mut impl FnMut(MappingEvent)) {
        let first = self.pending.first_key_value().map(|(number, _)| *number);
        let probe = first.and_then(|number| self.remove(number));
        probe.into_iter().for_each(|probe| out(MappingEvent::Probe(Box::new(probe))));
    }

    fn remove(&mut self, number: u64) -> Option<MappingProbe> {
        let probe = self.pending.remove(&number)?;
        self.expected.remove(&(probe.ticket, probe.links[1], number));
        let question = (probe.source, probe.ticket);
        if self.questions.get(&question) == Some(&number) {
            self.questions.remove(&question);
        }
        Some(probe)
    }
}
