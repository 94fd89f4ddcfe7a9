//! The processor of an interface: one job of the control program at a time, for all traffic. I-5
//!
//! The memory has two accesses in a clock: one for the host's bus, the other for processor or packet
//! engines. *Chosen*: a clock of 40 MHz; an engine needs an access for each word of 4 bytes and goes
//! first; the processor needs all accesses that are left. So every word that the engines move delays
//! its job by a clock. Jobs of the endpoints' firmware are not delayed: their durations are set from
//! published figures, which include that.

use super::HostInterface;

/// Periods of the full rate in a clock of the memory: 25 ns. *Chosen*
const CLOCK: u64 = 2;
/// Bytes of a word. I-5
const WORD: u64 = 4;

/// Durations of the control program's jobs, in periods of the full rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProgramCosts {
    /// Reading a command of the host, and starting its transfer. I-6
    pub command: u64,
    /// Interpreting a received packet, and starting its transfer to the host. I-6
    pub packet: u64,
    /// Processing a received packet of mapping. N-2
    pub mapping: u64,
}

/// A job of the control program; the endpoints' firmware has others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProgramJob {
    Command,
    Packet,
    Mapping,
}

/// Use of the processor by the endpoints' firmware.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FirmwareUse {
    /// The host has no endpoints.
    None,
    /// It has no job now.
    Idle,
    /// It has one until this time.
    Busy(u64),
}

/// The processor as far as the control program uses it.
#[derive(Clone, Debug)]
pub(super) struct InterfaceProcessor {
    costs: ProgramCosts,
    /// The current job and its end.
    job: Option<(ProgramJob, u64)>,
    last: ProgramJob,
    /// Jobs with a duration that wait.
    waiting: Vec<ProgramJob>,
    firmware: FirmwareUse,
    now: u64,
    /// No job begins before this time, so that the firmware has its turn.
    rests: u64,
    /// Bytes that the packet engines had moved at the last delay.
    moved: u64,
}

impl InterfaceProcessor {
    pub(super) fn new(costs: ProgramCosts) -> Self {
        let (waiting, firmware) = (Vec::new(), FirmwareUse::None);
        let last = ProgramJob::Mapping;
        Self { costs, job: None, last, waiting, firmware, now: 0, rests: 0, moved: 0 }
    }

    /// True if a job takes time.
    pub(super) fn takes_time(&self) -> bool {
        self.costs != ProgramCosts::default()
    }

    /// Drops the current job. R-3
    pub(super) const fn restart(&mut self) {
        self.job = None;
    }

    /// Delays the current job by the accesses of the packet engines, which have moved this many
    /// bytes in all.
    pub(super) const fn delay(&mut self, moved: u64) {
        let delay = (moved / WORD - self.moved / WORD) * CLOCK;
        self.moved = moved;
        if let Some((_, until)) = &mut self.job {
            *until = until.saturating_add(delay);
        }
    }

    /// Begins a round: the jobs that wait now, and what the firmware does.
    pub(super) fn begin(
        &mut self,
        now: u64,
        waiting: impl Iterator<Item = ProgramJob>,
        firmware: FirmwareUse,
    ) {
        let Self { costs, job, .. } = self;
        self.waiting.clear();
        self.waiting.extend(waiting.filter(|job| costs.of(*job) > 0));
        // What it was for is gone.
        job.take_if(|(job, _)| !self.waiting.contains(job));
        (self.now, self.firmware) = (now, firmware);
    }

    /// True if a waiting job is done. One without a duration always is; others take turns, also
    /// with the firmware.
    pub(super) fn has_done(&mut self, job: ProgramJob) -> bool {
        let (now, time) = (self.now, self.costs.of(job));
        if time == 0 {
            return true;
        }
        match (self.job, self.firmware) {
            (Some((current, until)), _) if current == job && until <= now => {
                self.job = None;
                self.last = job;
                self.rests = now.saturating_add(u64::from(self.firmware != FirmwareUse::None));
                true
            }
            (None, FirmwareUse::None | FirmwareUse::Idle) if now >= self.rests => {
                let next = self.last.others();
                let next = next.into_iter().find(|other| self.waiting.contains(other));
                if next.is_none_or(|next| next == job) {
                    self.job = Some((job, now.saturating_add(time)));
                }
                false
            }
            (Some(_), _) | (None, _) => {
                self.waiting.push(job);
                false
            }
        }
    }

    /// Time of the next change if any of these jobs waits.
    pub(super) fn due(&self, mut waiting: impl Iterator<Item = ProgramJob>) -> Option<u64> {
        let job = waiting.next()?;
        if self.costs.of(job) == 0 || waiting.any(|job| self.costs.of(job) == 0) {
            return Some(0);
        }
        Some(match (self.job, self.firmware) {
            (Some((_, until)), _) | (None, FirmwareUse::Busy(until)) => until,
            (None, FirmwareUse::None | FirmwareUse::Idle) => self.rests,
        })
    }

    /// Time before which the firmware begins no job: the end of the current one, or, if one waits
    /// for the firmware's, the period after that.
    pub(super) fn reserved(&self) -> u64 {
        match (self.job, self.firmware) {
            (Some((_, until)), _) => until,
            (None, FirmwareUse::Busy(until)) if !self.waiting.is_empty() => until.saturating_add(1),
            (None, FirmwareUse::Busy(_) | FirmwareUse::Idle | FirmwareUse::None) => 0,
        }
    }
}

impl HostInterface {
    /// True if the packet engines may delay its processor.
    pub(crate) fn may_be_delayed(&self) -> bool {
        self.control.processor.takes_time()
    }
}

impl ProgramCosts {
    const fn of(&self, job: ProgramJob) -> u64 {
        match job {
            ProgramJob::Command => self.command,
            ProgramJob::Packet => self.packet,
            ProgramJob::Mapping => self.mapping,
        }
    }
}

impl ProgramJob {
    /// The order of turns after this job.
    const fn others(self) -> [Self; 3] {
        match self {
            Self::Command => [Self::Packet, Self::Mapping, Self::Command],
            Self::Packet => [Self::Mapping, Self::Command, Self::Packet],
            Self::Mapping => [Self::Command, Self::Packet, Self::Mapping],
        }
    }
}
