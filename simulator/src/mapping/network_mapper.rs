//! The machine: election, and the stages of a mapper. N-2, N-4, N-7

use std::sync::Arc;

use codec::mapping::{
    AnswerStatus, HomeProbe, InterfaceAddress, MapVersion, MappingAnswer, MappingPacket,
    MappingRequest, NetworkMap, ProbeTicket, RequestHeader, emit_routes,
};
use codec::route::reversed;

use super::distribution::{DeliveryStep, MapContent, MapDelivery, MapDistribution};
use super::exploration::{NetworkSearch, ProbeFinding, SearchProbe, SearchStep};
use super::follower::{MapFollower, MapIdentity};
use super::map_routes::{MapGraph, MappedRoutes};
use super::request_queue::RequestQueue;
use super::watch::NetworkWatch;
use super::{MapperDesign, MapperParameters, MapperStart, MappingEffect, MappingNotice, ProbeKind};

/// Periods without a word of a mapper after which an interface begins to map. *Chosen*
const PATIENCE: u64 = 4;

/// Periods over which interfaces that begin at the same time are spread. *Chosen*
const SPREAD: u64 = 2;

/// Mapping machine of one interface.
#[derive(Clone, Debug)]
pub struct NetworkMapper {
    own: InterfaceAddress,
    parameters: MapperParameters,
    follower: MapFollower,
    requests: RequestQueue<MapperTask>,
    stage: MapperStage,
    /// Version of its latest map, or of one that others have of it.
    version: MapVersion,
    /// Time at which it begins to map, or of the next probes of what it has mapped.
    due: u64,
    /// Beginning of the latest search, and the packets sent before.
    since: (u64, u64),
}

#[derive(Clone, Debug)]
enum MapperStage {
    Listening,
    Searching(Box<NetworkSearch>),
    Distributing(Box<(NetworkSearch, MapDistribution, MappedRoutes)>),
    Watching(Box<NetworkWatch>),
    /// The latest map has not reached all: it is made again in the next period.
    Failed(Box<NetworkSearch>),
}

/// A packet that is answered, or comes home, and the route of it.
#[derive(Clone, Debug)]
struct MapperTask {
    route: Vec<u8>,
    purpose: TaskPurpose,
}

#[derive(Clone, Copy, Debug)]
enum TaskPurpose {
    Search(SearchProbe),
    /// Keeps an interface from beginning to map.
    Remind,
    Deliver(usize),
    WatchHost(InterfaceAddress),
    WatchLink,
    Sweep(SearchProbe),
}

/// Result of a task; `None` is silence.
type TaskResult = Option<TaskAnswer>;

#[derive(Clone, Copy, Debug)]
enum TaskAnswer {
    Home,
    Answer(MappingAnswer),
}

impl NetworkMapper {
    /// The machine of an interface that has just been started. `first` is the first ticket: any
    /// number that differs from the latest ones before the start.
    #[must_use]
    pub fn new(
        own: InterfaceAddress,
        parameters: MapperParameters,
        start: MapperStart,
        first: ProbeTicket,
        now: u64,
    ) -> Self {
        let mut this = Self {
            own,
            parameters,
            follower: MapFollower::default(),
            requests: RequestQueue::new(first.0),
            stage: MapperStage::Listening,
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

    /// Address of the interface.
    #[must_use]
    pub const fn address(&self) -> InterfaceAddress {
        self.own
    }

    /// True while it maps the network or watches a map of it.
    #[must_use]
    pub const fn is_mapper(&self) -> bool {
        !matches!(self.stage, MapperStage::Listening)
    }

    /// Its latest map, while it watches the network.
    #[must_use]
    pub fn map(&self) -> Option<NetworkMap> {
        match &self.stage {
            MapperStage::Watching(watch) => Some(watch.search().map()),
            MapperStage::Listening
            | MapperStage::Searching(_)
            | MapperStage::Distributing(_)
            | MapperStage::Failed(_) => None,
        }
    }

    /// Number of packets sent for which an answer was expected.
    #[must_use]
    pub const fn requests(&self) -> u64 {
        self.requests.sent()
    }

    /// First ticket of the machine after a restart.
    #[must_use]
    pub const fn next_ticket(&self) -> ProbeTicket {
        self.requests.next_ticket()
    }

    /// Time of the next step.
    #[must_use]
    pub fn due(&mut self) -> u64 {
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
                if sent == Some(kind)
                    && let Some(task) = self.requests.finish(ticket)
                {
                    self.result(now, task.purpose, Some(TaskAnswer::Home), effects);
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
                .is_some_and(|task| task.purpose.home().is_none() && task.route == header.route);
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
        effects.push(MappingEffect::Send { route: reversed(header.route), payload });
    }

    fn answer(&self, now: u64, ticket: ProbeTicket, status: AnswerStatus) -> MappingAnswer {
        let mapper = if self.is_mapper() { Some(self.own) } else { self.follower.mapper(now) };
        let version = self.follower.version(mapper);
        MappingAnswer { source: self.own, ticket, mapper, version, status }
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
        // After a restart, others remember later maps of it than it does.
        if answer.mapper == Some(self.own) && answer.version.is_newer_than(self.version) {
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
                for (_, route) in search.hosts() {
                    self.requests.push(MapperTask { route, purpose: TaskPurpose::Remind }, 1);
                }
            }
            // What is still being probed need not be probed again.
            MapperStage::Watching(_) if !self.requests.is_idle() => {}
            MapperStage::Watching(watch) => {
                for (host, route) in watch.hosts() {
                    tasks.push((route.clone(), TaskPurpose::WatchHost(*host)));
                }
                tasks.extend(watch.links().iter().map(|way| (way.clone(), TaskPurpose::WatchLink)));
                for place in watch.sweep() {
                    let purpose = TaskPurpose::Sweep(SearchProbe::Host(place));
                    tasks.push((watch.search().route_to(place), purpose));
                }
            }
        }
        for (route, purpose) in tasks {
            self.requests.push(MapperTask { route, purpose }, tries);
        }
    }

    /// Begins to search the network.
    fn search(&mut self, now: u64, effects: &mut Vec<MappingEffect>) {
        self.requests.retain(|_| false);
        self.since = (now, self.requests.sent());
        let (search, step) = NetworkSearch::begin(self.own);
        self.stage = MapperStage::Searching(Box::new(search));
        self.search_step(now, step, effects);
    }

    fn search_step(&mut self, now: u64, step: SearchStep, effects: &mut Vec<MappingEffect>) {
        let probes = match step {
            SearchStep::More(probes) => probes,
            SearchStep::Instead(probes) => {
                self.requests.retain(|task| !matches!(task.purpose, TaskPurpose::Search(_)));
                probes
            }
            SearchStep::Finished => return self.distribute(now, effects),
        };
        let MapperStage::Searching(search) = &self.stage else { return };
        for probe in probes {
            let (route, purpose) = (search.route(probe), TaskPurpose::Search(probe));
            self.requests.push(MapperTask { route, purpose }, self.parameters.tries);
        }
    }

    fn distribute(&mut self, now: u64, effects: &mut Vec<MappingEffect>) {
        let stage = std::mem::replace(&mut self.stage, MapperStage::Listening);
        let MapperStage::Searching(search) = stage else { return };
        self.requests.retain(|_| false);
        self.version = self.version.next();
        let map = search.map();
        effects.push(MappingEffect::Noted(MappingNotice::Mapped {
            version: self.version,
            hosts: map.hosts.len(),
            switches: map.switches,
            links: map.links.len(),
            probes: self.requests.sent() - self.since.1,
            took: now.saturating_sub(self.since.0),
        }));
        let graph = MapGraph::new(&map);
        let Some(routes) = graph.as_ref().and_then(|graph| graph.routes_from(self.own)) else {
            self.stage = MapperStage::Failed(search);
            return;
        };
        self.follower.stage(self.identity(), routes.clone());
        let (content, mut bytes) = (self.content(), Vec::new());
        map.emit(&mut bytes);
        let bytes: Arc<[u8]> = bytes.into();
        let all = graph.filter(|_| content == MapContent::Routes).and_then(|all| all.all_routes());
        let deliveries = routes.iter().map(|(to, route)| {
            let own = all.as_ref().and_then(|all| all.get(to)).map(routes_in_bytes);
            MapDelivery::new(route.clone(), own.unwrap_or_else(|| bytes.clone()))
        });
        let (distribution, step) = MapDistribution::begin(content, deliveries.collect());
        self.stage = MapperStage::Distributing(Box::new((*search, distribution, routes)));
        self.delivery_step(step, effects);
    }

    const fn content(&self) -> MapContent {
        match self.parameters.design {
            MapperDesign::Map => MapContent::Map,
            MapperDesign::Daemon => MapContent::Routes,
        }
    }

    const fn identity(&self) -> MapIdentity {
        MapIdentity { mapper: self.own, version: self.version }
    }

    fn delivery_step(&mut self, step: DeliveryStep, effects: &mut Vec<MappingEffect>) {
        let places = match step {
            DeliveryStep::More(places) => places,
            DeliveryStep::Install(places) => {
                let (_, routes) = self.follower.install(self.identity());
                install(routes, self.own, self.version, effects);
                if places.is_empty() {
                    return self.watch(0);
                }
                places
            }
            DeliveryStep::Finished(failed) => return self.watch(failed),
        };
        let MapperStage::Distributing(stage) = &self.stage else { return };
        for place in places {
            let Some(delivery) = stage.1.delivery(place) else { continue };
            let task =
                MapperTask { route: delivery.route.clone(), purpose: TaskPurpose::Deliver(place) };
            self.requests.push(task, self.parameters.tries);
        }
    }

    fn watch(&mut self, failed: usize) {
        let stage = std::mem::replace(&mut self.stage, MapperStage::Listening);
        let MapperStage::Distributing(stage) = stage else { return };
        let (search, _, routes) = *stage;
        self.stage = if failed == 0 {
            MapperStage::Watching(Box::new(NetworkWatch::new(search, routes)))
        } else {
            MapperStage::Failed(Box::new(search))
        };
    }

    fn result(
        &mut self,
        now: u64,
        purpose: TaskPurpose,
        result: TaskResult,
        effects: &mut Vec<MappingEffect>,
    ) {
        match purpose {
            TaskPurpose::Search(probe) => self.search_result(now, probe, result, effects),
            TaskPurpose::Remind => {}
            TaskPurpose::Deliver(place) => {
                let MapperStage::Distributing(stage) = &mut self.stage else { return };
                let status = result.and_then(TaskAnswer::answer).map(|answer| answer.status);
                let step = stage.1.note(place, status);
                self.delivery_step(step, effects);
            }
            TaskPurpose::WatchHost(host) => {
                let answer = result.and_then(TaskAnswer::answer);
                let right = answer
                    .is_some_and(|answer| (answer.source, answer.version) == (host, self.version));
                if !right {
                    self.search(now, effects);
                }
            }
            TaskPurpose::WatchLink if result.is_none() => self.search(now, effects),
            TaskPurpose::WatchLink => {}
            TaskPurpose::Sweep(_) if result.is_some() => self.search(now, effects),
            TaskPurpose::Sweep(SearchProbe::Host(place)) => {
                if let MapperStage::Watching(watch) = &self.stage {
                    let purpose = TaskPurpose::Sweep(SearchProbe::Switch(place));
                    let task = MapperTask { route: watch.search().turned(place), purpose };
                    self.requests.push(task, self.parameters.tries);
                }
            }
            TaskPurpose::Sweep(_) => {}
        }
    }

    fn search_result(
        &mut self,
        now: u64,
        probe: SearchProbe,
        result: TaskResult,
        effects: &mut Vec<MappingEffect>,
    ) {
        let finding = result.map(|result| match result {
            TaskAnswer::Home => ProbeFinding::Home,
            TaskAnswer::Answer(answer) => ProbeFinding::Host(answer.source),
        });
        let MapperStage::Searching(search) = &mut self.stage else { return };
        let step = search.note(probe, finding);
        self.search_step(now, step, effects);
        // A switch has 32 ports: what is found excludes others. S-1
        let mut excluded = Vec::new();
        if let (Some(_), MapperStage::Searching(search)) = (finding, &self.stage) {
            excluded = self.requests.take_queued(|task| match task.purpose {
                TaskPurpose::Search(probe) => !search.is_possible(probe),
                TaskPurpose::Remind
                | TaskPurpose::Deliver(_)
                | TaskPurpose::WatchHost(_)
                | TaskPurpose::WatchLink
                | TaskPurpose::Sweep(_) => false,
            });
        }
        for task in excluded {
            self.result(now, task.purpose, None, effects);
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
        for (_, route) in hosts {
            let mut payload = Vec::new();
            MappingPacket::Resign { source: self.own, winner }.emit(&mut payload);
            effects.push(MappingEffect::Send { route, payload });
        }
        self.requests.retain(|_| false);
        self.due = self.patience(now).saturating_add(self.delay());
    }

    /// Sends what the window allows.
    fn send(&mut self, now: u64, effects: &mut Vec<MappingEffect>) {
        let deadline = now.saturating_add(self.parameters.timeout.max(1));
        while let Some((ticket, task)) = self.requests.send(deadline) {
            let MapperTask { route, purpose } = task;
            let mut payload = Vec::new();
            let header =
                RequestHeader { source: self.own, ticket, version: self.version, route: &route };
            let packet = match (purpose.home(), purpose) {
                (Some(home), _) => MappingPacket::Home(home, self.own, ticket),
                (None, TaskPurpose::Deliver(place)) => {
                    let MapperStage::Distributing(stage) = &self.stage else { continue };
                    let Some(request) = stage.1.request(place) else { continue };
                    MappingPacket::Request(header, request)
                }
                (
                    None,
                    TaskPurpose::Search(_)
                    | TaskPurpose::Remind
                    | TaskPurpose::WatchHost(_)
                    | TaskPurpose::WatchLink
                    | TaskPurpose::Sweep(_),
                ) => MappingPacket::Request(header, MappingRequest::Probe),
            };
            packet.emit(&mut payload);
            if let Some(kind) = purpose.probe() {
                let route = route.clone();
                let probed = MappingNotice::Probed { kind, ticket, route };
                effects.push(MappingEffect::Noted(probed));
            }
            effects.push(MappingEffect::Send { route, payload });
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

fn install(
    routes: Option<MappedRoutes>,
    mapper: InterfaceAddress,
    version: MapVersion,
    effects: &mut Vec<MappingEffect>,
) {
    let Some(routes) = routes else { return };
    let installed = MappingNotice::Installed { mapper, version, routes: routes.len() };
    effects.extend([MappingEffect::Install(routes), MappingEffect::Noted(installed)]);
}

fn routes_in_bytes(routes: &MappedRoutes) -> Arc<[u8]> {
    let mut bytes = Vec::new();
    emit_routes(routes.iter().map(|(to, route)| (*to, route.as_slice())), &mut bytes);
    bytes.into()
}

impl TaskAnswer {
    fn answer(self) -> Option<MappingAnswer> {
        match self {
            Self::Home => None,
            Self::Answer(answer) => Some(answer),
        }
    }
}

impl TaskPurpose {
    /// Kind of a probe that comes home.
    const fn home(self) -> Option<HomeProbe> {
        match self.probe() {
            Some(ProbeKind::Switch) => Some(HomeProbe::Switch),
            Some(ProbeKind::Compare) => Some(HomeProbe::Compare),
            Some(ProbeKind::Host) | None => None,
        }
    }

    const fn probe(self) -> Option<ProbeKind> {
        match self {
            Self::Deliver(_) => None,
            Self::Remind
            | Self::WatchHost(_)
            | Self::Search(SearchProbe::Host(_))
            | Self::Sweep(SearchProbe::Host(_)) => Some(ProbeKind::Host),
            Self::Search(SearchProbe::Switch(_)) | Self::Sweep(SearchProbe::Switch(_)) => {
                Some(ProbeKind::Switch)
            }
            Self::WatchLink
            | Self::Search(SearchProbe::Join(..) | SearchProbe::Merge(_))
            | Self::Sweep(SearchProbe::Join(..) | SearchProbe::Merge(_)) => {
                Some(ProbeKind::Compare)
            }
        }
    }
}
