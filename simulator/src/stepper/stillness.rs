//! Periods in which no part has anything to do are left out: links carry fill and nothing else, no
//! packet is anywhere, and no host and no fault is due. What they would have changed is the fill in
//! captures, which is added. That nothing else changes is held by `fuzz/laws/tests/stillness.rs`.

use codec::tick::Tick;

use crate::cell::Cell;
use crate::circuit::{Circuit, Power, Sink, Source};
use crate::network::Network;
use crate::sender::code_of;
use crate::switch::{Input, Switch};
use crate::wire::Wire;

/// Periods between two looks. *Chosen*: a look costs about as much as a period of the links.
const LOOK: u64 = 32;

/// What each circuit sends in even and in odd periods.
type Rhythm = [Cell; 2];

impl Network {
    /// Leaves out what can be left out before a period that comes next. Fill goes round in two
    /// periods, so that an even number of them leaves every wire as it is.
    #[inline]
    pub(crate) fn skip(&mut self, until: u64) {
        if self.now.is_multiple_of(LOOK) {
            let periods = self.due().min(until).saturating_sub(self.now) & !1;
            if periods >= LOOK && self.is_still() {
                let end = self.now + periods;
                self.record_fill(end);
                self.now = end;
                self.left_out += periods;
            }
        }
    }

    /// When a host or a fault next has something to do.
    fn due(&self) -> u64 {
        let hosts = self.hosts.iter().map(|host| host.interface.due());
        let fault = self.orders.front().map(|order| order.at());
        hosts.chain(fault).min().unwrap_or(u64::MAX)
    }

    fn is_still(&self) -> bool {
        let mut ends = self.circuits.iter().zip(&self.wires);
        let rhythm_of = |peer: u32| self.circuits.get(peer as usize).and_then(rhythm);
        ends.all(|(circuit, wire)| {
            rhythm(circuit).is_some()
                && rhythm_of(circuit.peer)
                    .is_some_and(|far| hears_only(circuit, wire, far, self.now))
        }) && self.switches.iter().all(Switch::is_calm)
    }

    /// Records the fill of the periods up to one.
    fn record_fill(&mut self, end: u64) {
        let Self { now, circuits, wires, recorder, .. } = self;
        for (circuit, wire) in circuits.iter().zip(wires) {
            let Some(tapped) = &circuit.tapped else { continue };
            let far = circuits.get(circuit.peer as usize).and_then(rhythm);
            let (Some(out), Some(far)) = (rhythm(circuit), far) else { continue };
            for on in tapped.stretches(*now..end) {
                let pair =
                    |fill, first| [first, first + 1].map(|at| in_period(fill, at).character());
                let (first, end) = (Tick(on.start), Tick(on.end));
                // What arrives was sent a delay before; as odd as a delay after.
                let heard = pair(far, on.start + delay(wire));
                recorder.fill(tapped.incoming as usize, first, heard, end);
                recorder.fill(tapped.outgoing as usize, first, pair(out, on.start), end);
            }
        }
    }
}

/// What a circuit sends while nothing happens to it, if nothing does.
fn rhythm(circuit: &Circuit) -> Option<Rhythm> {
    let still = circuit.source == Source::Nowhere
        && circuit.power == Power::On
        && circuit.clock.divisor() == 1
        && circuit.receiver.is_calm()
        && circuit.receiver.is_quiet()
        && matches!(circuit.sink, Sink::Host(_) | Sink::Switch(_, Input::Empty))
        && circuit.watch.as_ref().is_none_or(|watch| watch.is_level());
    if still { circuit.sender.rhythm() } else { None }
}

/// Whether all that is on a wire is the far end's fill, and that changes nothing.
fn hears_only(circuit: &Circuit, wire: &Wire, far: Rhythm, now: u64) -> bool {
    let known = [Cell::GAP, code_of(circuit.sender.heard())];
    // What arrives next was put in as many periods ago as there are on the wire; as odd as later.
    let fill = (now + delay(wire)..).zip(wire.in_flight());
    wire.is_sound()
        && far.iter().all(|cell| known.contains(cell))
        && fill.into_iter().all(|(at, cell)| cell == in_period(far, at))
}

/// Periods from one end of a wire to the other, at the full rate.
fn delay(wire: &Wire) -> u64 {
    wire.in_flight().count() as u64
}

const fn in_period([even, odd]: Rhythm, period: u64) -> Cell {
    if period & 1 == 0 { even } else { odd }
}
