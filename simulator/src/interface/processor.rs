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
    /// Processing a received packet of mapping, and sending one. N-2
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

#[cfg(test)]
mod tests {
    use super::*;
    use FirmwareUse::{Busy, Idle, None as NoFirmware};
    use ProgramJob::{Command, Mapping, Packet};

    const ALL: [ProgramJob; 3] = [Command, Packet, Mapping];

    fn processor() -> InterfaceProcessor {
        InterfaceProcessor::new(ProgramCosts { command: 10, packet: 4, mapping: 3 })
    }

    /// Jobs done in some periods in which all these wait.
    fn done(
        processor: &mut InterfaceProcessor,
        waiting: &[ProgramJob],
        firmware: FirmwareUse,
        times: std::ops::Range<u64>,
    ) -> Vec<(u64, ProgramJob)> {
        let mut all = Vec::new();
        for now in times {
            processor.begin(now, waiting.iter().copied(), firmware);
            let done = waiting.iter().filter(|job| processor.has_done(**job));
            all.extend(done.map(|job| (now, *job)));
        }
        all
    }

    /// I-5. Jobs are asked in this order: those behind the one that ends may begin in its last period, the others in
    /// the next.
    #[test]
    fn jobs_take_turns_each_for_its_time() {
        let ends = [(10, Command), (14, Packet), (17, Mapping), (28, Command)];
        assert_eq!(done(&mut processor(), &ALL, NoFirmware, 0..30), ends);
        let ends = [(7, Packet), (12, Packet)];
        assert_eq!(done(&mut processor(), &[Packet], NoFirmware, 3..13), ends);
        // A period for the firmware behind each.
        let ends = [(10, Command), (15, Packet), (19, Mapping), (30, Command)];
        assert_eq!(done(&mut processor(), &ALL, Idle, 0..31), ends);
    }

    #[test]
    fn no_job_begins_while_the_firmware_has_one() {
        let mut processor = processor();
        assert_eq!(done(&mut processor, &ALL, Busy(20), 0..20), []);
        assert_eq!((processor.due(ALL.into_iter()), processor.reserved()), (Some(20), 21));
        assert_eq!(done(&mut processor, &[], Busy(20), 19..20), []);
        assert_eq!((processor.due([].into_iter()), processor.reserved()), (None, 0));
        assert_eq!(done(&mut processor, &ALL, Idle, 20..31), [(30, Command)]);
        assert_eq!((processor.due(ALL.into_iter()), processor.reserved()), (Some(31), 0));
        // The next one has begun, and the firmware waits for its end.
        assert_eq!(done(&mut processor, &ALL, Idle, 31..32), []);
        assert_eq!((processor.due(ALL.into_iter()), processor.reserved()), (Some(35), 35));
        processor.restart();
        assert_eq!((processor.due(ALL.into_iter()), processor.reserved()), (Some(31), 0));
    }

    #[test]
    fn a_job_ends_with_what_it_is_for() {
        let mut processor = processor();
        assert_eq!(done(&mut processor, &[Command], NoFirmware, 0..5), []);
        assert_eq!(done(&mut processor, &[Mapping], NoFirmware, 5..9), [(8, Mapping)]);
    }

    /// I-5: a clock of two periods for each whole word of 4 bytes.
    #[test]
    fn words_that_the_engines_move_delay_the_job() {
        let mut processor = processor();
        assert!(processor.takes_time());
        assert_eq!(done(&mut processor, &[Packet], NoFirmware, 0..1), []);
        let due = [7, 9, 16].map(|moved| {
            processor.delay(moved);
            processor.due([Packet].into_iter())
        });
        assert_eq!(due, [Some(4 + 2), Some(4 + 4), Some(4 + 8)]);
        assert_eq!(done(&mut processor, &[Packet], NoFirmware, 1..13), [(12, Packet)]);
    }

    #[test]
    fn a_job_without_a_duration_is_done_at_once() {
        let mut processor =
            InterfaceProcessor::new(ProgramCosts { command: 10, ..ProgramCosts::default() });
        let ends = done(&mut processor, &[Command, Packet], NoFirmware, 0..2);
        assert_eq!(ends, [(0, Packet), (1, Packet)]);
        // It has no turn that others wait for.
        processor.costs.mapping = 3;
        processor.restart();
        let mut ends = done(&mut processor, &ALL, NoFirmware, 2..27);
        ends.retain(|(_, job)| *job != Packet);
        assert_eq!(ends, [(12, Command), (15, Mapping), (26, Command)]);
        processor.costs.mapping = 0;
        assert_eq!(processor.due([Packet].into_iter()), Some(0));
        assert_eq!(processor.due([Command, Mapping].into_iter()), Some(0));
        assert!(!InterfaceProcessor::new(ProgramCosts::default()).takes_time());
    }
}
