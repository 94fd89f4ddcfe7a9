//! Stages of a mapper: search, distribution, watch. N-2, N-4, N-7

use std::sync::Arc;

use codec::mapping::emit_routes;

use super::tasks::{MapperTask, TaskAnswer, TaskPurpose, TaskResult};
use super::{MapperStage, NetworkMapper, install};
use crate::mapping::distribution::{DeliveryStep, MapContent, MapDelivery, MapDistribution};
use crate::mapping::exploration::{NetworkSearch, ProbeFinding, SearchProbe, SearchStep};
use crate::mapping::follower::MapIdentity;
use crate::mapping::map_routes::{MapGraph, MappedRoutes, RoundTrip};
use crate::mapping::watch::NetworkWatch;
use crate::mapping::{MapperDesign, MappingEffect, MappingNotice};

impl MapperStage {
    pub(super) fn search(&mut self) -> &mut NetworkSearch {
        match self {
            Self::Searching(search) => search,
            Self::Listening | Self::Distributing(_) | Self::Watching(_) | Self::Failed(_) => {
                unreachable!("a probe of a search that has ended: {self:?}")
            }
        }
    }

    pub(super) fn distribution(&mut self) -> &mut MapDistribution {
        match self {
            Self::Distributing(stage) => &mut stage.1,
            Self::Listening | Self::Searching(_) | Self::Watching(_) | Self::Failed(_) => {
                unreachable!("a delivery of a distribution that has ended: {self:?}")
            }
        }
    }
}

impl NetworkMapper {
    /// Begins to search the network, since it has changed.
    pub(super) fn search(&mut self, now: u64, effects: &mut Vec<MappingEffect>) {
        self.current = None;
        self.search_again(now, effects);
    }

    /// Begins to search the network. If it has not changed, all keep their routes.
    pub(super) fn search_again(&mut self, now: u64, effects: &mut Vec<MappingEffect>) {
        self.requests.retain(|_| false);
        self.since = (now, self.requests.sent());
        let (search, step) = NetworkSearch::begin(self.own, self.role, self.parameters.switches);
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
        let search = self.stage.search();
        for probe in probes {
            let trip = match probe {
                SearchProbe::Host(place) => search.round_trip(place),
                SearchProbe::Switch(_)
                | SearchProbe::Identity(..)
                | SearchProbe::Join(..)
                | SearchProbe::Merge(_) => RoundTrip::home(search.route(probe)),
            };
            let purpose = TaskPurpose::Search(probe);
            self.requests.push(MapperTask { trip, purpose }, self.parameters.tries);
        }
    }

    fn distribute(&mut self, now: u64, effects: &mut Vec<MappingEffect>) {
        let stage = std::mem::replace(&mut self.stage, MapperStage::Listening);
        let MapperStage::Searching(search) = stage else {
            unreachable!("no search has ended: {stage:?}")
        };
        self.requests.retain(|_| false);
        let map = search.map();
        if self.current.as_ref() == Some(&map) {
            self.stage =
                MapperStage::Watching(Box::new(NetworkWatch::new(*search, self.known.clone())));
            return;
        }
        self.current = Some(map.clone());
        self.version = self.version.next();
        effects.push(MappingEffect::Noted(MappingNotice::Mapped {
            version: self.version,
            hosts: map.hosts.len(),
            switches: map.switches,
            links: map.links.len(),
            probes: self.requests.sent() - self.since.1,
            took: now.saturating_sub(self.since.0),
        }));
        let graph = MapGraph::new(&map);
        let found = graph.as_ref().and_then(|graph| {
            let routes = graph.routes_from(self.own)?;
            let trips = graph.round_trips(self.own, &routes.to);
            Some((routes, trips))
        });
        let Some((routes, trips)) = found else {
            self.current = None;
            self.stage = MapperStage::Failed(search);
            return;
        };
        self.follower.stage(self.identity(), routes);
        let (content, mut bytes) = (self.content(), Vec::new());
        map.emit(&mut bytes);
        let bytes: Arc<[u8]> = bytes.into();
        let all = graph.filter(|_| content == MapContent::Routes).and_then(|all| all.all_routes());
        let deliveries = trips.iter().map(|(to, trip)| {
            let own = all.as_ref().and_then(|all| all.get(to)).map(routes_in_bytes);
            MapDelivery::new(trip.clone(), own.unwrap_or_else(|| bytes.clone()))
        });
        let (distribution, step) = MapDistribution::begin(content, deliveries.collect());
        self.stage = MapperStage::Distributing(Box::new((*search, distribution, trips)));
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
        for place in places {
            let trip = self.stage.distribution().delivery(place).trip.clone();
            let task = MapperTask { trip, purpose: TaskPurpose::Deliver(place) };
            self.requests.push(task, self.parameters.tries);
        }
    }

    fn watch(&mut self, failed: usize) {
        let stage = std::mem::replace(&mut self.stage, MapperStage::Listening);
        let MapperStage::Distributing(stage) = stage else {
            unreachable!("no distribution has ended: {stage:?}")
        };
        let (search, _, routes) = *stage;
        self.known.clone_from(&routes);
        self.stage = if failed == 0 {
            MapperStage::Watching(Box::new(NetworkWatch::new(search, routes)))
        } else {
            self.current = None;
            MapperStage::Failed(Box::new(search))
        };
    }

    pub(super) fn result(
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
                let status = result.and_then(TaskAnswer::answer).map(|answer| answer.status);
                let step = self.stage.distribution().note(place, status);
                self.delivery_step(step, effects);
            }
            TaskPurpose::WatchHost(host) => {
                let answer = result.and_then(TaskAnswer::answer);
                // Not its latest version, which may be one that it has just learnt from this answer.
                let own = (host, self.follower.version(Some(self.own)));
                let right = answer.is_some_and(|answer| (answer.source, answer.version) == own);
                if !right {
                    self.search(now, effects);
                }
            }
            TaskPurpose::WatchLink if result.is_none() => self.search(now, effects),
            TaskPurpose::WatchLink => {}
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
            TaskAnswer::Switch(switch) => ProbeFinding::Switch(switch),
            TaskAnswer::Answer(answer) => ProbeFinding::Host(answer.source, answer.role),
        });
        let step = self.stage.search().note(probe, finding);
        self.search_step(now, step, effects);
        // A switch has 32 ports: what is found excludes others. S-1
        let mut excluded = Vec::new();
        if let (Some(_), MapperStage::Searching(search)) = (finding, &self.stage) {
            excluded = self.requests.take_queued(|task| match task.purpose {
                TaskPurpose::Search(probe) => !search.is_possible(probe),
                TaskPurpose::Remind
                | TaskPurpose::Deliver(_)
                | TaskPurpose::WatchHost(_)
                | TaskPurpose::WatchLink => false,
            });
        }
        for task in excluded {
            self.result(now, task.purpose, None, effects);
        }
    }
}

fn routes_in_bytes(routes: &MappedRoutes) -> Arc<[u8]> {
    let mut bytes = Vec::new();
    emit_routes(routes.to.iter().map(|(to, route)| (*to, route.as_slice())), &mut bytes);
    bytes.into()
}
