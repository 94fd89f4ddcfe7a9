//! The DMA engine: moves data between host memory and interface memory in bursts, alternating
//! between the two directions. I-5 (Micro)

use super::DmaBus;
use super::share::HostShare;
use super::transfers::{GatherTransfer, ScatterTransfer};

/// Character periods per `SBus` clock: 20 MHz, 50 ns. Micro
const CLOCK: u64 = 4;
/// Bytes per `SBus` word, which takes one clock.
const WORD: usize = 4;
/// Maximum words in a burst. Micro (§ Performance)
const BURST_WORDS: usize = 16;
/// Clocks between bursts. *Chosen* so that 16 of 23 clocks carry data: the 444 Mb/s of Micro's
/// Table 1, of 640 Mb/s.
const IDLE_CLOCKS: u64 = 7;

/// The engine and its current transfers.
#[derive(Clone, Debug)]
pub(super) struct DmaEngine {
    bus: DmaBus,
    /// Number of its interface at the host's bus. I-7
    index: u8,
    phase: BusPhase,
    /// The direction that is served first if both have data.
    turn: DmaDirection,
    /// Transfer from the host.
    pub gather: Option<GatherTransfer>,
    /// Transfer to the host.
    pub scatter: Option<ScatterTransfer>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DmaDirection {
    FromHost,
    ToHost,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BusPhase {
    Free,
    Burst { direction: DmaDirection, until: u64, pause: u64 },
    Pause { until: u64 },
}

impl DmaEngine {
    pub(super) const fn new(bus: DmaBus, index: u8) -> Self {
        let (phase, turn) = (BusPhase::Free, DmaDirection::FromHost);
        Self { bus, index, phase, turn, gather: None, scatter: None }
    }

    pub(super) fn reset(&mut self) {
        *self = Self::new(self.bus, self.index);
    }

    /// Moves all data that the bus can have moved by now; returns the bytes moved to the host.
    pub(super) fn step(&mut self, now: u64, share: &mut HostShare) -> usize {
        match self.bus {
            DmaBus::Ideal => self.step_ideal(),
            DmaBus::SBus | DmaBus::Mode(_) => self.step_sbus(now, share),
        }
    }

    fn step_ideal(&mut self) -> usize {
        while self.next(DmaDirection::FromHost, usize::MAX) > 0 {
            self.carry(DmaDirection::FromHost, usize::MAX);
        }
        let mut moved = 0;
        while self.next(DmaDirection::ToHost, usize::MAX) > 0 {
            moved += self.carry(DmaDirection::ToHost, usize::MAX);
        }
        moved
    }

    fn step_sbus(&mut self, now: u64, share: &mut HostShare) -> usize {
        const MOST: usize = BURST_WORDS * WORD;
        let mut moved = 0;
        loop {
            self.phase = match self.phase {
                BusPhase::Burst { direction, until, pause } if until <= now => {
                    moved += self.carry(direction, MOST);
                    BusPhase::Pause { until: until.saturating_add(pause) }
                }
                BusPhase::Pause { until } if until <= now => BusPhase::Free,
                BusPhase::Free => match self.choose() {
                    Some(direction) => {
                        let words = self.next(direction, MOST).div_ceil(WORD) as u64;
                        let (setup, pause) = self.overhead(direction);
                        let until = now.saturating_add(setup + words * CLOCK);
                        let free = until.saturating_add(pause);
                        if !share.take_bus(now, self.index, free) {
                            return moved;
                        }
                        self.turn = direction.other();
                        BusPhase::Burst { direction, until, pause }
                    }
                    None => return moved,
                },
                BusPhase::Burst { .. } | BusPhase::Pause { .. } => return moved,
            };
        }
    }

    /// Time of its next action; `None` without a transfer.
    pub(super) fn due(&self, share: &HostShare) -> Option<u64> {
        match self.phase {
            BusPhase::Burst { until, .. } | BusPhase::Pause { until } => Some(until),
            BusPhase::Free => self.choose().map(|_| share.bus),
        }
    }

    /// Periods before the next burst of a transfer, and after it.
    fn overhead(&self, direction: DmaDirection) -> (u64, u64) {
        let DmaBus::Mode(mode) = self.bus else { return (0, IDLE_CLOCKS * CLOCK) };
        let [setup, burst] = mode.costs();
        let begun = match direction {
            DmaDirection::FromHost => self.gather.as_ref().is_some_and(GatherTransfer::has_begun),
            DmaDirection::ToHost => self.scatter.as_ref().is_some_and(ScatterTransfer::has_begun),
        };
        (if begun { 0 } else { setup }, burst - BURST_WORDS as u64 * CLOCK)
    }

    fn choose(&self) -> Option<DmaDirection> {
        let turns = [self.turn, self.turn.other()];
        turns.into_iter().find(|direction| self.next(*direction, 1) > 0)
    }

    fn next(&self, direction: DmaDirection, most: usize) -> usize {
        match direction {
            DmaDirection::FromHost => self.gather.as_ref().map_or(0, |gather| gather.next(most)),
            DmaDirection::ToHost => self.scatter.as_ref().map_or(0, |scatter| scatter.next(most)),
        }
    }

    /// Moves one block; returns the bytes moved to the host.
    fn carry(&mut self, direction: DmaDirection, most: usize) -> usize {
        match direction {
            DmaDirection::FromHost => {
                if let Some(gather) = &mut self.gather {
                    gather.carry(most);
                }
                0
            }
            DmaDirection::ToHost => self.scatter.as_mut().map_or(0, |scatter| scatter.carry(most)),
        }
    }

    /// The finished transfer from the host.
    pub(super) fn gathered(&mut self) -> Option<GatherTransfer> {
        self.gather.take_if(|gather| gather.next(1) == 0)
    }

    /// The finished transfer to the host.
    pub(super) fn scattered(&mut self) -> Option<ScatterTransfer> {
        self.scatter.take_if(|scatter| scatter.next(1) == 0)
    }
}

impl DmaDirection {
    const fn other(self) -> Self {
        match self {
            Self::FromHost => Self::ToHost,
            Self::ToHost => Self::FromHost,
        }
    }
}

#[cfg(test)]
mod tests {
    use codec::packet::PacketTag;

    use super::*;
    use crate::interface::queues::SendCommand;
    use crate::interface::receive_engine::StoredPacket;
    use crate::packet_types::PacketRoutine;
    use crate::topology::NodeId;

    fn gather(sizes: &[usize]) -> GatherTransfer {
        let command = SendCommand {
            number: 0,
            gather: sizes.iter().map(|size| vec![0; *size]).collect(),
            checksum: None,
            to: NodeId(1),
            tag: PacketTag::new(0).unwrap(),
            ready: 0,
            interrupt: false,
        };
        GatherTransfer::new(command, &[])
    }

    /// An engine on the `SBus` that gathers blocks of these sizes.
    fn gathering(sizes: &[usize]) -> DmaEngine {
        DmaEngine { gather: Some(gather(sizes)), ..DmaEngine::new(DmaBus::SBus, 0) }
    }

    fn scatter(size: usize) -> ScatterTransfer {
        let routine = PacketRoutine::Deliver;
        ScatterTransfer::new(StoredPacket { routine, bytes: vec![0; size + 2] })
    }

    /// Steps through all periods; returns the time at which each direction finished.
    fn run(engine: &mut DmaEngine, periods: u64) -> [Option<u64>; 2] {
        let (mut done, mut share) = ([None; 2], HostShare::default());
        for now in 0..periods {
            engine.step(now, &mut share);
            done[0] = done[0].or(engine.gathered().map(|_| now));
            done[1] = done[1].or(engine.scattered().map(|_| now));
        }
        done
    }

    /// I-5
    #[test]
    fn a_burst_of_64_bytes_takes_64_periods_and_the_next_begins_28_later() {
        assert_eq!(run(&mut gathering(&[64]), 200), [Some(64), None]);
        assert_eq!(run(&mut gathering(&[128]), 200), [Some(64 + 28 + 64), None]);
    }

    #[test]
    fn a_part_of_a_word_takes_a_whole_clock_and_each_block_a_burst() {
        let mut engine = gathering(&[5]);
        assert_eq!(run(&mut engine, 200), [Some(8), None]);
        engine.reset();
        engine.gather = Some(gather(&[5, 1]));
        assert_eq!(run(&mut engine, 200), [Some(8 + 28 + 4), None]);
    }

    #[test]
    fn the_sbus_moves_444_mbps_or_so() {
        const BURSTS: usize = 1000;
        let [done, _] = run(&mut gathering(&[64 * BURSTS]), 100_000);
        assert_eq!(done, Some(92 * 999 + 64));
        // 64 bytes in 92 periods of 12.5 ns: 445.2 Mb/s, less than 1 % from the paper's 444.
        let kbps = 64 * 8 * 80_000 / 92;
        assert_eq!(kbps, 445_217);
        assert!(444_000 * 99 < kbps * 100 && kbps * 100 < 444_000 * 101);
    }

    #[test]
    fn two_directions_take_turns() {
        let mut engine = gathering(&[192]);
        engine.scatter = Some(scatter(128));
        // Out, in, out, in, out: the fourth burst ends at 3 · 92 + 64, the fifth at 4 · 92 + 64.
        assert_eq!(run(&mut engine, 1000), [Some(432), Some(340)]);
    }

    #[test]
    fn an_ideal_bus_takes_no_time() {
        let mut engine = DmaEngine::new(DmaBus::Ideal, 0);
        engine.gather = Some(gather(&[5000, 0, 3]));
        engine.scatter = Some(scatter(700));
        let mut share = HostShare::default();
        assert_eq!(engine.due(&share), Some(0));
        assert_eq!(engine.step(9, &mut share), 700);
        assert!(engine.gathered().is_some() && engine.scattered().is_some());
        assert_eq!(engine.due(&share), None);
    }

    #[test]
    fn stepping_at_due_times_only_finishes_at_the_same_time() {
        let mut engine = gathering(&[100, 100]);
        let (mut now, mut share) = (0, HostShare::default());
        while engine.gathered().is_none() {
            engine.step(now, &mut share);
            now = engine.due(&share).unwrap_or(now);
        }
        let mut stepped = gathering(&[100, 100]);
        // 64, 36, 64, 36 bytes; `due` is then the end of the pause.
        assert_eq!(run(&mut stepped, 1000)[0], Some(64 + 28 + 36 + 28 + 64 + 28 + 36));
        assert_eq!(now, 284 + 28);
    }
}
