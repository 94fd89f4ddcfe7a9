//! Host driver: loads endpoints into frames on demand, one at a time. T-13, T-15

use std::collections::VecDeque;

use codec::transport::NackReason;

use super::bus::BusTransfer;
use super::endpoint_queues::EndpointResidency;
use super::inbox::HostPage;
use super::message::SharedMessage;
use super::{HostMessaging, MICROSECOND, MessagingEvent};
use crate::arena::EndpointNumber;
use crate::rng::Rng;
use crate::transport::Micros;

#[derive(Clone, Debug)]
pub(super) struct EndpointDriver {
    pending: VecDeque<EndpointNumber>,
    faults: VecDeque<(EndpointNumber, HostPage)>,
    task: DriverTask,
    rng: Rng,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum DriverTask {
    #[default]
    Nothing,
    /// The victim awaits its answers. T-13
    Leaving(FrameSwap),
    /// The victim is copied to host memory.
    Out(FrameSwap),
    /// The endpoint is copied to its frame.
    In {
        endpoint: EndpointNumber,
        frame: usize,
    },
    /// The endpoint is in its frame; the rest of the driver's work lasts until then.
    Work {
        endpoint: EndpointNumber,
        frame: usize,
        until: u64,
    },
    Map {
        endpoint: EndpointNumber,
        page: HostPage,
        until: u64,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FrameSwap {
    victim: EndpointNumber,
    endpoint: EndpointNumber,
    frame: usize,
}

impl EndpointDriver {
    pub(super) const fn new(rng: Rng) -> Self {
        Self { pending: VecDeque::new(), faults: VecDeque::new(), task: DriverTask::Nothing, rng }
    }

    pub(super) const fn due(&self) -> Option<u64> {
        if let DriverTask::Work { until, .. } | DriverTask::Map { until, .. } = self.task {
            Some(until)
        } else {
            None
        }
    }

    pub(super) fn is_idle(&self) -> bool {
        self.task == DriverTask::Nothing && self.pending.is_empty() && self.faults.is_empty()
    }

    pub(super) fn clear(&mut self) {
        self.task = DriverTask::Nothing;
        self.pending.clear();
        self.faults.clear();
    }

    /// Queues a page without a mapping that a message came for. T-6
    pub(super) fn fault(&mut self, fault: (EndpointNumber, HostPage)) {
        let is_mapping = matches!(self.task, DriverTask::Map { endpoint, page, .. } if (endpoint, page) == fault);
        if !is_mapping && !self.faults.contains(&fault) {
            self.faults.push_back(fault);
        }
    }
}

impl HostMessaging {
    /// Queues an endpoint for loading: it was written to, received a message or has something to
    /// send. T-6, T-15
    pub(super) fn request_load(&mut self, endpoint: EndpointNumber) {
        let is_loading = matches!(self.driver.task,
            DriverTask::In { endpoint: other, .. } | DriverTask::Work { endpoint: other, .. }
                if other == endpoint);
        if !is_loading && !self.driver.pending.contains(&endpoint) {
            self.driver.pending.push_back(endpoint);
        }
    }

    /// Starts to load the next endpoint, or else to map the next page. T-15
    pub(super) fn begin_driver(&mut self) {
        self.begin_load();
        if self.driver.task != DriverTask::Nothing {
            return;
        }
        let is_due = |(place, _): &(EndpointNumber, HostPage)| {
            self.endpoints[*place].mapping_due() <= self.clock
        };
        let Some(place) = self.driver.faults.iter().position(is_due) else { return };
        if let Some((endpoint, page)) = self.driver.faults.remove(place) {
            let until = self.clock.saturating_add(self.parameters.map.max(1));
            self.driver.task = DriverTask::Map { endpoint, page, until };
        }
    }

    /// Earliest time at which a queued page may replace another mapping.
    pub(super) fn mapping_due(&self) -> Option<u64> {
        let faults = self.driver.faults.iter().filter(|_| self.driver.task == DriverTask::Nothing);
        faults.map(|(place, _)| self.endpoints[*place].mapping_due()).min()
    }

    /// Loads into a free frame or that of a victim.
    fn begin_load(&mut self) {
        while self.driver.task == DriverTask::Nothing {
            let Some(endpoint) = self.driver.pending.pop_front() else { return };
            if self.endpoints[endpoint].place != EndpointResidency::Away {
                continue;
            }
            if let Some(frame) = self.frames.keep() {
                self.move_in(endpoint, frame);
            } else if let Some((victim, frame)) = self.frames.victim(self.clock) {
                self.driver.task = DriverTask::Leaving(FrameSwap { victim, endpoint, frame });
                let victim = &mut self.endpoints[victim];
                victim.place = EndpointResidency::Leaving;
                let id = victim.plan.id;
                self.events.push(MessagingEvent::Leaving(id));
                let mut effects = Vec::new();
                self.transport.on_unload(id, &mut effects);
                self.apply(effects);
            } else {
                // Nobody has been there for long enough.
                self.driver.pending.push_front(endpoint);
                return;
            }
        }
    }

    /// Continues after the protocol has released an endpoint. T-13
    pub(super) fn released(&mut self, endpoint: EndpointNumber) {
        if let DriverTask::Leaving(swap) = self.driver.task
            && swap.victim == endpoint
        {
            self.driver.task = DriverTask::Out(swap);
            self.move_page();
        }
    }

    /// Earliest time at which a queued endpoint may replace another.
    pub(super) fn frame_due(&self) -> Option<u64> {
        let waits = self.driver.task == DriverTask::Nothing && !self.driver.pending.is_empty();
        if waits { self.frames.due() } else { None }
    }

    /// Minimum residence of an endpoint in a frame, in periods of the full rate: a timeout and a
    /// scan, so that a message refused by its absence is retransmitted while it is resident.
    /// Reading of T-15: otherwise two endpoints could take turns in a frame for ever, each absent
    /// whenever its messages come. A random extension of up to twice that, or twice the time of a
    /// replacement if longer, keeps two hosts from alternating in step for ever. *Chosen*
    fn residence(&mut self) -> u64 {
        let Micros(timeout) = self.protocol.timeout;
        let Micros(scan) = self.protocol.scan;
        let least = timeout.saturating_add(scan.saturating_mul(2)).saturating_mul(MICROSECOND);
        let page = self.costs.transfer(self.costs.page.into());
        let change = self.parameters.load.saturating_add(page.saturating_mul(2));
        let more = least.max(change).saturating_mul(2);
        least.saturating_add(self.driver.rng.below(more))
    }

    /// Continues after the transfer of an endpoint.
    pub(super) fn page_moved(&mut self) {
        if let DriverTask::Out(FrameSwap { victim, endpoint, frame }) = self.driver.task {
            self.unloaded(victim);
            self.move_in(endpoint, frame);
        } else if let DriverTask::In { endpoint, frame } = self.driver.task {
            let until = self.clock.saturating_add(self.parameters.load.max(1));
            self.driver.task = DriverTask::Work { endpoint, frame, until };
        }
    }

    /// Finishes the driver's work: an endpoint is resident, or a page is mapped.
    pub(super) fn end_driver(&mut self) {
        let now = self.clock;
        if self.driver.due().is_none_or(|until| until > now) {
            return;
        }
        let task = std::mem::take(&mut self.driver.task);
        if let DriverTask::Work { endpoint, frame, .. } = task {
            self.loaded(endpoint, frame);
        } else if let DriverTask::Map { endpoint, page, .. } = task {
            let stays = now.saturating_add(self.residence());
            let endpoint = &mut self.endpoints[endpoint];
            endpoint.map(page, stays);
            self.events.push(MessagingEvent::Mapped(endpoint.plan.id));
            self.statistics.mappings += 1;
        }
    }

    fn move_in(&mut self, endpoint: EndpointNumber, frame: usize) {
        self.driver.task = DriverTask::In { endpoint, frame };
        self.move_page();
    }

    fn move_page(&mut self) {
        self.bus.push(self.costs.page as usize, BusTransfer::Page);
    }

    fn unloaded(&mut self, victim: EndpointNumber) {
        let endpoint = &mut self.endpoints[victim];
        endpoint.place = EndpointResidency::Away;
        self.events.push(MessagingEvent::Unloaded(endpoint.plan.id));
        self.statistics.unloads += 1;
        // What travels along is sent again, by itself. T-13
        if endpoint.has_ready() {
            self.request_load(victim);
        }
    }

    /// Makes an endpoint resident: it may send, and waiting threads continue.
    pub(super) fn loaded(&mut self, place: EndpointNumber, frame: usize) {
        let stays = self.clock.saturating_add(self.residence());
        let endpoint = &mut self.endpoints[place];
        endpoint.place = EndpointResidency::Resident(frame);
        self.frames.fill(frame, place, stays);
        self.transport.on_load(endpoint.plan.id);
        self.events.push(MessagingEvent::Loaded(endpoint.plan.id));
        self.statistics.loads += 1;
        self.resume(place);
    }

    /// Reason to refuse a transfer to the host: no free DMA resource, or an unmapped page, which is
    /// queued for mapping. T-6
    pub(super) fn transfer_refusal(
        &mut self,
        place: EndpointNumber,
        letter: &SharedMessage,
    ) -> Option<NackReason> {
        let is_free = |dma: u8| self.bus.incoming() < usize::from(dma);
        if !self.parameters.dma.is_none_or(is_free) {
            return Some(NackReason::NoResource);
        }
        let page = self.endpoints[place].unmapped(letter)?;
        self.driver.fault((place, page));
        Some(NackReason::NoResource)
    }
}
