//! Messaging of a host: endpoints and virtual networks over the reliability protocol, and the NIC
//! firmware that serves them. T-6, T-9, T-13..T-15
//!
//! [`HostMessaging`] simulates applications, endpoints, frames and firmware of one host, each stage
//! with its duration. Its packets are carried by the caller: in the reference network by the
//! interface, in tests by a simple queue.
//!
//! Four servers work in parallel, each with one job at a time: the host processor (`threads`,
//! `application`), the host driver (`driver`), the bus between host and NIC (`bus`) and the NIC
//! processor (`firmware`, `protocol`). An event is the end of a job.

mod application;
mod bus;
mod costs;
mod counters;
mod driver;
mod endpoint_frames;
mod endpoint_queues;
mod firmware;
mod inbox;
mod message;
mod outgoing;
mod plan;
mod protocol;
mod scheduler;
mod segment;
mod serial_server;
mod stream;
mod threads;

use std::collections::{BTreeMap, BTreeSet};

use codec::transport::{ChannelIncarnation, EndpointId, EndpointKey, Nic};

use self::bus::HostBus;
use self::driver::EndpointDriver;
use self::endpoint_frames::EndpointFrames;
use self::endpoint_queues::{EndpointQueues, EndpointResidency, RequestWait};
use self::firmware::MessagingFirmware;
use self::message::SharedMessage;
use self::scheduler::EndpointScheduler;
use self::stream::StreamSource;
use self::threads::ApplicationHost;
use crate::arena::{EndpointNumber, PartArena};
use crate::rng::Rng;
use crate::transport::{Transport, TransportParameters};
pub use crate::truth::{
    MessageId, MessagingEvent, ReturnCause, TransmissionAttempt, TransmissionKind,
};

pub use self::costs::{BURST, BusMode, MICROSECOND, MessageCosts, ProtocolLayers, TransferMode};
pub use self::counters::{EndpointStatistics, MessagingStatistics};
pub use self::outgoing::MessagingPacket;
pub use self::plan::{
    EndpointParameters, EndpointPlan, MessageKind, MessageStream, MessagingPlan, ReturnHandler,
    SEGMENT_MAX, WakeMode,
};

/// Messaging of a host.
#[derive(Clone, Debug)]
pub struct HostMessaging {
    nic: Nic,
    protocol: TransportParameters,
    parameters: EndpointParameters,
    costs: MessageCosts,
    names: BTreeMap<(Nic, EndpointId), EndpointKey>,
    /// Reachable NICs; all if unknown. T-11
    routes: Option<BTreeSet<Nic>>,
    places: BTreeMap<EndpointId, EndpointNumber>,
    endpoints: PartArena<EndpointNumber, EndpointQueues>,
    host: ApplicationHost,
    driver: EndpointDriver,
    bus: HostBus,
    frames: EndpointFrames,
    firmware: MessagingFirmware,
    transport: Transport<SharedMessage>,
    statistics: MessagingStatistics,
    /// Events of the current step.
    events: Vec<MessagingEvent>,
    /// Start of the control program.
    ready: u64,
    /// The NIC's processor does other work before this time. I-5
    reserved: u64,
    /// Time of the last event.
    clock: u64,
    /// Time of the next event.
    next: Option<u64>,
}

impl HostMessaging {
    /// Creates a host that has just been started; `seed` initialises its random number generator.
    /// The first endpoints of the plan fill the frames from the start. *Chosen*
    pub fn new(plan: MessagingPlan, seed: u64) -> Self {
        let MessagingPlan { nic, transport: protocol, parameters, costs, .. } = plan;
        // Queues without a place would refuse for ever.
        let parameters = EndpointParameters {
            request_queue: parameters.request_queue.max(1),
            staging: parameters.staging.max(1),
            // A message may lie on two pages.
            mappings: parameters.mappings.map(|mappings| mappings.max(2)),
            dma: parameters.dma.map(|dma| dma.max(1)),
            ..parameters
        };
        let mut places = BTreeMap::new();
        let mut endpoints = PartArena::default();
        for plan in plan.endpoints {
            // A number can be given once.
            let place = places.entry(plan.id);
            place.or_insert_with(|| endpoints.push(EndpointQueues::new(plan, parameters)));
        }
        let mut rng = Rng::new(seed, u64::from(nic.0));
        let sources = plan.streams.into_iter().filter_map(|stream| {
            let rng = Rng::new(rng.next_u64(), 0);
            let endpoint = places.get(&stream.from).copied()?;
            StreamSource::new(stream, endpoint, rng)
        });
        let host = ApplicationHost::new(&endpoints, sources.collect());
        let scheduler = EndpointScheduler::new(parameters.burst_log2);
        let mut messaging = Self {
            nic,
            protocol,
            parameters,
            costs,
            names: plan.names.into_iter().collect(),
            routes: None,
            places,
            endpoints,
            host,
            // Streams have those of the numbers of NICs.
            driver: EndpointDriver::new(Rng::new(seed, (1 << 16) + u64::from(nic.0))),
            bus: HostBus::new(costs),
            frames: EndpointFrames::new(parameters.frames),
            firmware: MessagingFirmware::new(scheduler, costs.send_buffers),
            transport: Transport::new(nic, protocol, ChannelIncarnation(0)),
            statistics: MessagingStatistics::default(),
            events: Vec::new(),
            ready: 0,
            reserved: 0,
            clock: 0,
            next: Some(0),
        };
        for place in messaging.endpoints.numbers() {
            let Some(frame) = messaging.frames.keep() else { break };
            messaging.loaded(place, frame);
        }
        messaging.events.clear();
        messaging.statistics.loads = 0;
        messaging
    }

    /// Restricts the reachable NICs to these; messages for others are returned at once. T-11
    pub fn with_routes(self, to: impl IntoIterator<Item = Nic>) -> Self {
        Self { routes: Some(to.into_iter().collect()), ..self }
    }

    /// Loads the control program, which runs from `ready` on. I-3
    pub const fn boot(&mut self, ready: u64) {
        self.ready = ready;
    }

    /// Reserves the NIC's processor for other work: it begins nothing before this time. I-5
    pub const fn reserve(&mut self, until: u64) {
        self.reserved = until;
    }

    /// End of the current job of the NIC's processor, if it has one.
    pub fn processing_until(&self) -> Option<u64> {
        self.firmware.processor.due()
    }

    /// Time of the next internal event, in periods of the full rate.
    pub const fn due(&self) -> Option<u64> {
        self.next
    }

    /// Processes everything due by now and appends the events.
    pub fn step(&mut self, now: u64, events: &mut Vec<MessagingEvent>) {
        while let Some(due) = self.next
            && due <= now
        {
            self.work(due, events);
        }
    }

    /// Tests for room for an incoming packet; without room it is dropped.
    pub fn has_room(&self) -> bool {
        self.firmware.has_room()
    }

    /// Receives a transport packet: the payload of a packet of type 1 with a valid CRC.
    pub fn receive(&mut self, now: u64, payload: &[u8], events: &mut Vec<MessagingEvent>) {
        self.step(now, events);
        if now < self.ready {
            // The control program does not run. I-3
            return;
        }
        match message::parse_packet(payload) {
            Ok(packet) if self.firmware.has_room() => self.firmware.arrived.push_back(packet),
            Ok(_) => {
                self.statistics.overruns += 1;
                events.push(MessagingEvent::Overrun);
            }
            // T-7
            Err(error) => {
                self.statistics.malformed += 1;
                events.push(MessagingEvent::Malformed(error));
            }
        }
        self.work(now, events);
    }

    /// Completes the packet in the send engine. The next [`HostMessaging::step`] continues.
    pub fn sent(&mut self, now: u64) {
        self.firmware.sent();
        self.next = Some(self.next.map_or(now, |next| next.min(now)));
    }

    /// Reloads the control program, which runs from `ready` on. The NIC's contents are lost. The
    /// host returns the messages of resident endpoints to the applications and gives up their
    /// pending requests.
    pub fn restart(&mut self, now: u64, ready: u64, events: &mut Vec<MessagingEvent>) {
        self.step(now, events);
        self.clock = self.clock.max(now);
        self.ready = ready.max(now);
        self.statistics.restarts += 1;
        // T-12: the host remembers the counter.
        let next = self.transport.next_incarnation();
        self.transport = Transport::new(self.nic, self.protocol, next);
        let busy = self.firmware.processor.busy();
        self.statistics.firmware_busy = self.statistics.firmware_busy.saturating_add(busy);
        let scheduler = EndpointScheduler::new(self.parameters.burst_log2);
        self.firmware = MessagingFirmware::new(scheduler, self.costs.send_buffers);
        self.bus.clear();
        self.driver.clear();
        self.frames.clear();
        for place in self.endpoints.numbers() {
            self.lose_frame(place);
        }
        for place in self.endpoints.numbers() {
            if self.endpoints[place].has_ready() || self.host.waits_for(place) {
                self.request_load(place);
            }
        }
        self.work(now, events);
    }

    /// Discards the contents of an endpoint's frame.
    fn lose_frame(&mut self, place: EndpointNumber) {
        let endpoint = &mut self.endpoints[place];
        // What was coming in by DMA does not come, not even for one that has left meanwhile.
        endpoint.kept = [0; 2];
        if endpoint.place == EndpointResidency::Away {
            return;
        }
        let id = endpoint.plan.id;
        let (sent, come) = endpoint.lose();
        self.events.push(MessagingEvent::Unloaded(id));
        self.events.extend(come.iter().map(|letter| MessagingEvent::Lost(letter.id, id)));
        let open = endpoint.open();
        for letter in sent {
            self.bring_back(place, letter, ReturnCause::Restarted);
        }
        for (number, until) in open {
            match until {
                RequestWait::Answered(_) => self.give_up_request(place, number),
                // It has just come back, or will as soon as it is handed over.
                RequestWait::Acknowledged => {}
                // It had come back, and was not read: its credit is.
                RequestWait::Read => {
                    self.restore(place, number);
                    self.notify(place);
                }
            }
        }
    }

    /// Finishes the work that ends now, and begins new work.
    fn work(&mut self, now: u64, events: &mut Vec<MessagingEvent>) {
        let now = now.max(self.clock);
        self.clock = now;
        self.end_bus();
        self.end_firmware();
        self.end_driver();
        self.end_host();
        self.give_up_overdue();
        self.drop_old();
        if now >= self.ready {
            self.begin_driver();
            self.bus.begin(now);
            self.begin_firmware();
        }
        self.begin_host();
        events.append(&mut self.events);
        self.plan(now);
    }

    /// Sets the time of the next event.
    fn plan(&mut self, now: u64) {
        // Time goes on, whatever there is to do.
        self.next = self.upcoming().map(|due| due.max(now.saturating_add(1)));
    }

    fn upcoming(&self) -> Option<u64> {
        let scan = || {
            let due = self.transport.due().filter(|_| !self.firmware.is_busy())?;
            Some(due.0.saturating_mul(MICROSECOND).max(self.ready))
        };
        let patience = self.endpoints.iter().filter_map(EndpointQueues::patience).min();
        let boot = (self.clock < self.ready).then_some(self.ready);
        let reserved = (self.clock < self.reserved).then_some(self.reserved);
        let frame = self.frame_due().into_iter().chain(self.mapping_due()).min();
        let frame = frame.map(|due| due.max(self.ready));
        [self.bus.due(), self.firmware.due(), self.driver.due(), self.host.due(), scan(), patience]
            .into_iter()
            .flatten()
            .chain(boot)
            .chain(reserved)
            .chain(frame)
            .min()
    }

    /// Counters since the start.
    pub const fn statistics(&self) -> MessagingStatistics {
        let mut statistics = self.statistics;
        statistics.host_busy = self.host.processor.busy();
        statistics.bus_busy = self.bus.busy();
        statistics.firmware_busy =
            statistics.firmware_busy.saturating_add(self.firmware.processor.busy());
        statistics
    }

    /// Counters of an endpoint since the start.
    pub fn endpoint_statistics(&self, endpoint: EndpointId) -> Option<&EndpointStatistics> {
        self.endpoint(endpoint).map(|endpoint| &endpoint.statistics)
    }

    /// Bytes of an endpoint's segment, as far as the range is within it.
    pub fn segment(&self, endpoint: EndpointId, offset: u32, length: u32) -> Option<Vec<u8>> {
        Some(self.endpoint(endpoint)?.segment.read(offset, length))
    }

    /// Tests whether an endpoint is in a frame and may send. T-13, T-15
    pub fn is_resident(&self, endpoint: EndpointId) -> bool {
        self.endpoint(endpoint).is_some_and(EndpointQueues::is_resident)
    }

    /// Remaining credits of an endpoint. T-9
    pub fn credits(&self, endpoint: EndpointId) -> Option<u16> {
        self.endpoint(endpoint).map(|endpoint| endpoint.credits)
    }

    /// Tests whether no message is pending and no application has anything to send before a
    /// stream's next time.
    pub fn is_quiet(&self) -> bool {
        self.endpoints.iter().all(EndpointQueues::is_quiet)
            && self.host.is_idle()
            && self.driver.is_idle()
            && self.bus.is_idle()
            && self.firmware.is_idle()
            && self.transport.due().is_none()
    }

    /// Checks the consistency of credits, queues, frames and tables, for tests and storms.
    pub fn is_consistent(&self) -> bool {
        let in_frames = self.endpoints.iter().filter(|endpoint| endpoint.is_resident()).count();
        self.endpoints.iter().all(EndpointQueues::is_consistent)
            && in_frames <= usize::from(self.parameters.frames.max(1))
            && self.transport.is_consistent()
    }

    fn endpoint(&self, endpoint: EndpointId) -> Option<&EndpointQueues> {
        Some(&self.endpoints[*self.places.get(&endpoint)?])
    }

    /// Place of an endpoint that the protocol has a message of or for.
    #[expect(
        clippy::expect_used,
        reason = "the protocol has messages of the host's endpoints alone"
    )]
    fn place_of(&self, endpoint: EndpointId) -> EndpointNumber {
        *self.places.get(&endpoint).expect("the host has the endpoint")
    }
}

#[cfg(test)]
mod tests;
