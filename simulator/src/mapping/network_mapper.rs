//! The machine: election, and the stages of a mapper. N-2, N-4, N-7

mod stages;
mod tasks;

use codec::mapping::{
    AnswerStatus, HomeProbe, InterfaceAddress, InterfaceRole, MapVersion, MappingAnswer,
    MappingPacket, MappingRequest, NetworkMap, ProbeTicket, RequestHeader, SwitchIdentity,
};

use self::tasks::{MapperTask, TaskAnswer, TaskPurpose};
use super::distribution::MapDistribution;
use super::exploration::{AnsweredSwitch, NetworkSearch};
use super::follower::MapFollower;
use super::map_routes::{KnownHosts, MappedRoutes, RoundTrip};
use super::request_queue::RequestQueue;
use super::watch::NetworkWatch;
use super::{MapperParameters, MapperStart, MappingEffect, MappingNotice, SendPace};

/// Periods without a word of a mapper after which an interface begins to map. *Chosen*
const PATIENCE: u64 = 4;

/// Periods over which interfaces that begin at the same time are spread. *Chosen*
const SPREAD: u64 = 2;

/// Mapping machine of one interface. Equal machines behave equally.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NetworkMapper {
    own: InterfaceAddress,
    role: InterfaceRole,
    parameters: MapperParameters,
    pace: SendPace,
    follower: MapFollower,
    requests: RequestQueue<MapperTask>,
    stage: MapperStage,
    /// Interfaces of its latest map.
    known: KnownHosts,
    /// Latest map, if all have its routes as far as it knows.
    current: Option<NetworkMap>,
    /// Version of its latest map, or of one that others have of it.
    version: MapVersion,
    /// Time at which it begins to map, or of the next probes of what it has mapped.
    due: u64,
    /// Beginning of the latest search, and the packets sent before.
    since: (u64, u64),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum MapperStage {
    Listening,
    Searching(Box<NetworkSearch>),
    Distributing(Box<(NetworkSearch, MapDistribution, KnownHosts)>),
    Watching(Box<NetworkWatch>),
    /// The latest map has not reached all: it is made again in the next period.
    Failed(Box<NetworkSearch>),
}

impl NetworkMapper {
    /// The machine of an interface that has just been started. `first` is the first ticket: any
    /// number that differs from the latest ones before the start.
    pub fn new(
        own: InterfaceAddress,
        parameters: MapperParameters,
        start: MapperStart,
        first: ProbeTicket,
        now: u64,
    ) -> Self {
        let mut this = Self {
            own,
            role: InterfaceRole::Host,
            parameters,
            pace: SendPace::AllAtOnce,
            follower: MapFollower::default(),
            requests: RequestQueue::new(first.0),
            stage: MapperStage::Listening,
            known: KnownHosts::new(),
            current: None,
            version: MapVersion(0),
            due: now,
            since: (now, 0),
        };
        this.due = match start {
            MapperStart::Soon => now.saturating_add(this.delay()),
            MapperStart::AtOnce => now,
            MapperStart::Patient => this.patience(now).saturating_add(this.delay()),
        };
        this
    }

    /// The machine of an interface with another role.
    pub fn with_role(self, role: InterfaceRole) -> Self {
        Self { role, ..self }
    }

    /// The machine of an interface whose sending has another pace.
    pub fn with_pace(self, pace: SendPace) -> Self {
        Self { pace, ..self }
    }

    /// Address of the interface.
    pub const fn address(&self) -> InterfaceAddress {
        self.own
    }

    /// True while it maps the network or watches a map of it.
    pub const fn is_mapper(&self) -> bool {
        !matches!(self.stage, MapperStage::Listening)
    }

    /// Its latest map, if all have the routes of it as far as it knows.
    pub fn map(&self) -> Option<&NetworkMap> {
        match self.stage {
            MapperStage::Watching(_) | MapperStage::Searching(_) => self.current.as_ref(),
            MapperStage::Listening | MapperStage::Distributing(_) | MapperStage::Failed(_) => None,
        }
    }

    /// Number of packets sent for which an answer was expected.
    pub const fn requests(&self) -> u64 {
        self.requests.sent()
    }

    /// First ticket of the machine after a restart.
    pub const fn next_ticket(&self) -> ProbeTicket {
        self.requests.next_ticket()
    }

    /// Moves all times back, and counts from 0 what is only counted, so that machines that behave
    /// equally from now on become equal. Returns the former tickets of the requests that wait for an
    /// answer: they are counted from 0 too.
    pub fn shift_back(&mut self, by: u64) -> Vec<ProbeTicket> {
        self.due = self.due.saturating_sub(by);
        self.since = (0, 0);
        self.follower.shift_back(by);
        self.requests.shift_back(by)
    }

    /// Time of the next step.
    pub fn due(&mut self) -> u64 {
        if self.pace == SendPace::OneByOne && self.requests.may_send() {
            return 0;
        }
        self.requests.due().map_or(self.due, |due| due.min(self.due))
    }

    /// Does what is due.
    pub fn on_tick(&mut self, now: u64, effects: &mut Vec<MappingEffect>) {
        while let Some(task) = self.requests.silent(now) {
            self.result(now, task.purpose, None, effects);
        }
        if now >= self.due {
            self.due = now.saturating_add(self.parameters.period.max(1));
            self.period(now, effects);
        }
        self.send(now, effects);
    }

    /// Handles the payload of a packet of type [`codec::mapping::TAG`]. What is no packet of mapping
    /// is ignored.
    pub fn on_packet(&mut self, now: u64, payload: &[u8], effects: &mut Vec<MappingEffect>) {
        match MappingPacket::parse(payload) {
            Ok(MappingPacket::Request(header, request)) => {
                self.on_request(now, &header, request, effects);
            }
            Ok(MappingPacket::Answer(answer)) => self.on_answer(now, &answer, effects),
            Ok(MappingPacket::Home(kind, source, ticket)) if source == self.own => {
                let sent = self.requests.task(ticket).and_then(|task| task.purpose.home());
                let found = match kind {
                    HomeProbe::Switch | HomeProbe::Compare => Some(TaskAnswer::Home),
                    HomeProbe::Identity => answered(payload).map(TaskAnswer::Switch),
                };
                if sent == Some(kind)
                    && found.is_some()
                    && let Some(task) = self.requests.finish(ticket)
                {
                    self.result(now, task.purpose, found, effects);
                }
            }
            Ok(MappingPacket::Resign { source, .. }) => {
                if self.follower.mapper(now) == Some(source) {
                    self.follower.forget_mapper();
                }
            }
            Ok(MappingPacket::Home(..)) | Err(_) => {}
        }
        self.send(now, effects);
    }

    fn on_request(
        &mut self,
        now: u64,
        header: &RequestHeader<'_>,
        request: MappingRequest<'_>,
        effects: &mut Vec<MappingEffect>,
    ) {
        if header.source == self.own {
            // N-2: the network leads back to the mapper. Or another has its address.
            let sent = self
                .requests
                .task(header.ticket)
                .is_some_and(|task| task.purpose.home().is_none() && task.trip.out == header.route);
            if sent {
                let answer = self.answer(now, header.ticket, AnswerStatus::Received);
                self.on_answer(now, &answer, effects);
            }
            return;
        }
        if self.is_mapper() && header.source > self.own {
            self.resign(now, header.source, effects);
        }
        let mut status = AnswerStatus::Refused;
        if self.is_mapper() {
            let stranger =
                matches!(&self.stage, MapperStage::Watching(watch) if !watch.knows(header.source));
            if stranger {
                self.search(now, effects);
            }
        } else if self.follower.hear(now, header.source, self.patience(now)) {
            self.due = self.patience(now).saturating_add(self.delay());
            let (done, routes) = self.follower.request(self.own, header, request);
            status = done;
            install(routes, header.source, header.version, effects);
        }
        if request == MappingRequest::Probe {
            status = AnswerStatus::Received;
        }
        let mut payload = Vec::new();
        MappingPacket::Answer(self.answer(now, header.ticket, status)).emit(&mut payload);
        effects.push(MappingEffect::Send { route: header.answer_route(), payload });
    }

    fn answer(&self, now: u64, ticket: ProbeTicket, status: AnswerStatus) -> MappingAnswer {
        let mapper = if self.is_mapper() { Some(self.own) } else { self.follower.mapper(now) };
        let version = self.follower.version(mapper);
        MappingAnswer { source: self.own, ticket, mapper, version, status, role: self.role }
    }

    fn on_answer(&mut self, now: u64, answer: &MappingAnswer, effects: &mut Vec<MappingEffect>) {
        let sent = self.requests.task(answer.ticket);
        if sent.is_none_or(|task| task.purpose.home().is_some()) {
            return;
        }
        if let Some(winner) = answer.mapper.filter(|mapper| *mapper > self.own) {
            self.resign(now, winner, effects);
            return;
        }
        // After a restart, others remember later maps of it than it does; 0 is no map.
        let is_newer =
            answer.version != MapVersion(0) && answer.version.is_newer_than(self.version);
        // What is being distributed keeps its version.
        let is_fixed = matches!(self.stage, MapperStage::Distributing(_));
        if answer.mapper == Some(self.own) && is_newer && !is_fixed {
            self.version = answer.version;
        }
        if let Some(task) = self.requests.finish(answer.ticket) {
            self.result(now, task.purpose, Some(TaskAnswer::Answer(*answer)), effects);
        }
    }

    /// Does what is due in a period.
    fn period(&mut self, now: u64, effects: &mut Vec<MappingEffect>) {
        let (tries, mut tasks) = (self.parameters.tries, Vec::new());
        match &mut self.stage {
            MapperStage::Listening => {
                effects.push(MappingEffect::Noted(MappingNotice::Elected));
                self.search(now, effects);
            }
            MapperStage::Failed(_) => self.search(now, effects),
            MapperStage::Distributing(_) => {}
            MapperStage::Searching(search) => {
                // Those that are not found yet have heard nothing since the search began.
                let mut hosts = self.known.clone();
                hosts.extend(search.hosts());
                for trip in hosts.into_values() {
                    self.requests.push(MapperTask { trip, purpose: TaskPurpose::Remind }, 1);
                }
            }
            // What is still being probed need not be probed again.
            MapperStage::Watching(_) if !self.requests.is_idle() => {}
            MapperStage::Watching(watch) => {
                if !watch.begin_period() {
                    return self.search_again(now, effects);
                }
                for (host, trip) in watch.hosts() {
                    tasks.push((trip.clone(), TaskPurpose::WatchHost(*host)));
                }
                tasks.extend(
                    watch
                        .links()
                        .iter()
                        .map(|way| (RoundTrip::home(way.clone()), TaskPurpose::WatchLink)),
                );
            }
        }
        for (trip, purpose) in tasks {
            self.requests.push(MapperTask { trip, purpose }, tries);
        }
    }

    /// Stops at once: another interface maps the network.
    fn resign(&mut self, now: u64, winner: InterfaceAddress, effects: &mut Vec<MappingEffect>) {
        effects.push(MappingEffect::Noted(MappingNotice::Resigned { winner }));
        let stage = std::mem::replace(&mut self.stage, MapperStage::Listening);
        let hosts = match stage {
            MapperStage::Listening => Vec::new(),
            MapperStage::Searching(search) | MapperStage::Failed(search) => search.hosts(),
            MapperStage::Distributing(stage) => stage.0.hosts(),
            MapperStage::Watching(watch) => watch.search().hosts(),
        };
        for (_, RoundTrip { out: route, .. }) in hosts {
            let mut payload = Vec::new();
            MappingPacket::Resign { source: self.own, winner }.emit(&mut payload);
            effects.push(MappingEffect::Send { route, payload });
        }
        self.requests.retain(|_| false);
        self.current = None;
        self.due = self.patience(now).saturating_add(self.delay());
    }

    /// Sends what the window allows.
    fn send(&mut self, now: u64, effects: &mut Vec<MappingEffect>) {
        let deadline = now.saturating_add(self.parameters.timeout.max(1));
        while let Some((ticket, task)) = self.requests.send(deadline) {
            let MapperTask { trip, purpose } = task;
            let mut payload = Vec::new();
            let header = RequestHeader {
                source: self.own,
                ticket,
                version: self.version,
                route: &trip.out,
                way_back: trip.way_back(),
            };
            let packet = match (purpose.home(), purpose) {
                (Some(home), _) => MappingPacket::Home(home, self.own, ticket),
                (None, TaskPurpose::Deliver(place)) => {
                    MappingPacket::Request(header, self.stage.distribution().request(place))
                }
                (
                    None,
                    TaskPurpose::Search(_)
                    | TaskPurpose::Remind
                    | TaskPurpose::WatchHost(_)
                    | TaskPurpose::WatchLink,
                ) => MappingPacket::Request(header, MappingRequest::Probe),
            };
            packet.emit(&mut payload);
            if let Some(kind) = purpose.probe() {
                effects.push(MappingEffect::Noted(MappingNotice::Probed(kind)));
            }
            effects.push(MappingEffect::Send { route: trip.out, payload });
            if self.pace == SendPace::OneByOne {
                break;
            }
        }
    }

    /// Time until which a mapper heard now counts as alive.
    const fn patience(&self, now: u64) -> u64 {
        now.saturating_add(self.parameters.period.saturating_mul(PATIENCE))
    }

    /// Delay that follows from the address, so that interfaces do not begin all at once.
    const fn delay(&self) -> u64 {
        let mixed = self.own.value().wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 16;
        let spread = self.parameters.period.saturating_mul(SPREAD);
        if spread == 0 { 0 } else { mixed % spread }
    }
}

/// The switch that answered an identity probe.
fn answered(payload: &[u8]) -> Option<AnsweredSwitch> {
    let answer = MappingPacket::switch_answer(payload)?;
    let (ports, entry) = (answer.port_count().cast_signed(), answer.input.0.cast_signed());
    let identity = SwitchIdentity { addressing: answer.addressing, node: answer.node };
    Some(AnsweredSwitch { identity, ports, entry })
}

fn install(
    routes: Option<MappedRoutes>,
    mapper: InterfaceAddress,
    version: MapVersion,
    effects: &mut Vec<MappingEffect>,
) {
    let Some(routes) = routes else { return };
    let installed = MappingNotice::Installed { mapper, version, routes: routes.to.len() };
    effects.extend([MappingEffect::Install(routes), MappingEffect::Noted(installed)]);
}
