//! The whole analyzer: for any bytes it ends, with the same output for any number
//! of threads and the way in which characters are cut into chunks; and of a network that was
//! simulated its output agrees with the truth.
//!
//! Threads are a target of their own, as they cost more than all the rest.

use analyzer::link::parameters::LinkAssumptions;
use analyzer::options::AnalysisScope;
use std::sync::LazyLock;

use analyzer::finding::FindingSet;

use analyzer::mapping::{MapComparison, MappingEvent, newest_maps};
use analyzer::pipeline::{AnalysisEvent, CaptureAnalysis};
use codec::capture::ReadProgress;
use rayon::{ThreadPool, ThreadPoolBuilder};
use simulator::truth::TraceLevel;

use crate::capture::{CaptureContents, SectionContents};
use crate::judged_network;
use crate::network::input::NetworkInput;
use crate::network::run::run;
use crate::repair::SeededRng;
use crate::single_thread::use_one_thread;
use crate::states;

/// Most periods of a capture that is taken through all of this. *Chosen*: some milliseconds.
const PERIODS_MAX: u64 = 1 << 14;

/// The most threads of a run. *Chosen*: more than links that have something to do.
const THREADS: [usize; 2] = [2, 7];

/// Checks [`capture`] for bytes that begin like a capture file, and the laws of the network of any others.
pub fn law(bytes: &[u8]) {
    let law = if is_capture(bytes) { capture } else { judged_network::law };
    law(bytes);
}

/// The number of threads changes nothing in the analysis of a capture.
pub fn threads(bytes: &[u8]) {
    if is_capture(bytes) {
        if length(&CaptureContents::to_end(bytes)) == CaptureLength::Short {
            threaded(bytes);
        }
        return;
    }
    let scenario = NetworkInput::from_bytes(bytes).and_then(|plan| plan.scenario());
    if let Some(scenario) = scenario.filter(|scenario| !scenario.taps.is_empty()) {
        threaded(&run(&scenario, TraceLevel::Nothing, 1 << 10).capture);
    }
}

/// Tests whether bytes begin as a capture file does: pcapng, pcap of both orders and resolutions, gzip.
pub(crate) fn is_capture(bytes: &[u8]) -> bool {
    const MAGIC: [[u8; 4]; 6] = [
        [0x0a, 0x0d, 0x0d, 0x0a],
        [0xa1, 0xb2, 0xc3, 0xd4],
        [0xa1, 0xb2, 0x3c, 0x4d],
        [0xd4, 0xc3, 0xb2, 0xa1],
        [0x4d, 0x3c, 0xb2, 0xa1],
        [0x1f, 0x8b, 0x08, 0x00],
    ];
    bytes.first_chunk().is_some_and(|magic| MAGIC.contains(magic))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CaptureLength {
    Short,
    Long,
    Endless,
}

fn length(read: &CaptureContents) -> CaptureLength {
    let periods = read.sections.iter().map(SectionContents::periods).fold(0, u64::saturating_add);
    if read.sections.iter().any(SectionContents::is_endless) {
        CaptureLength::Endless
    } else if periods > PERIODS_MAX || read.has_virtual_channels() {
        CaptureLength::Long
    } else {
        CaptureLength::Short
    }
}

fn threaded(file: &[u8]) {
    let alone = analyzed(file);
    for more in POOLS.iter() {
        check_equal(&alone, &more.install(|| analyzed(file)), "threads change nothing");
    }
}

static POOLS: LazyLock<Vec<ThreadPool>> = LazyLock::new(|| {
    let pool = |threads| ThreadPoolBuilder::new().num_threads(threads).build().ok();
    let pools: Vec<_> = THREADS.into_iter().filter_map(pool).collect();
    assert_eq!(pools.len(), THREADS.len(), "threads can be had");
    pools
});

/// The analysis of any capture ends, and does not depend on chunks.
pub fn capture(file: &[u8]) {
    use_one_thread();
    states::law(file);
    let read = CaptureContents::to_end(file);
    match length(&read) {
        CaptureLength::Short => {}
        // It need not be short for the analyzer to come to its end.
        CaptureLength::Long => return drop(analyzed(file)),
        CaptureLength::Endless => return,
    }
    let said = analyzed(file);
    let [section] = read.sections.as_slice() else { return };
    // How much of a repeat is left out depends on where it begins and ends.
    if !section.is_in_order() || !said.is_whole() {
        return;
    }
    if let Some(other) = section.written_anew(&mut SeededRng::new(file)) {
        // Files count channels from 0, and the other has no faults.
        let once =
            section.written_anew(&mut SeededRng::new(b"another")).map(|file| analyzed(&file));
        let other = analyzed(&other);
        once.into_iter().for_each(|once| check_equal(&once, &other, "chunks change nothing"));
    }
}

/// Output of an analysis, kind by kind, in its order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct AnalysisRecord {
    events: [Vec<AnalysisEvent>; 8],
    set: FindingSet,
    error: Option<String>,
    /// Drawing of the newest maps on the network.
    drawing: String,
}

impl AnalysisRecord {
    fn is_whole(&self) -> bool {
        let is_left_out = |told: &AnalysisEvent| matches!(told, AnalysisEvent::Row(row) if matches!(row.body, analyzer::event::ChannelEvent::Omitted { .. }));
        !self.events.iter().flatten().any(is_left_out)
    }
}

fn analyzed(file: &[u8]) -> AnalysisRecord {
    let mut analysis =
        CaptureAnalysis::new(file, AnalysisScope::Everything, LinkAssumptions::default());
    let mut saying = AnalysisRecord::default();
    let [rows, intervals, slack, journeys, blocked, spoken, mapping, faults] = &mut saying.events;
    let mut out = |told: AnalysisEvent| {
        let list = match told {
            AnalysisEvent::Row(_) => &mut *rows,
            AnalysisEvent::Interval(_) => &mut *intervals,
            AnalysisEvent::Slack(_) => &mut *slack,
            AnalysisEvent::Journey(_) => &mut *journeys,
            AnalysisEvent::Blocked(_) => &mut *blocked,
            AnalysisEvent::Conversation(_) => &mut *spoken,
            AnalysisEvent::Mapping(_) => &mut *mapping,
            AnalysisEvent::Fault(_) | AnalysisEvent::Case(_) => &mut *faults,
        };
        list.push(told);
    };
    // A step takes a batch at least, or hands on what became of one.
    let steps = file.len() + 16;
    let mut ended = false;
    for _ in 0..steps {
        match analysis.step(&mut out) {
            Ok(ReadProgress::More) => {}
            Ok(ReadProgress::Done) => {
                ended = true;
                break;
            }
            Err(error) => {
                saying.error = Some(error.to_string());
                ended = true;
                break;
            }
        }
    }
    assert!(ended, "an analysis comes to its end");
    saying.set = analysis.findings().set().clone();
    let [.., mapping, _] = &saying.events;
    let maps = mapping.iter().filter_map(|event| {
        let AnalysisEvent::Mapping(MappingEvent::Map(map)) = event else { return None };
        Some(&**map)
    });
    let homes = analysis.mapping().homes();
    let homes = homes.filter_map(|(it, id)| Some((it, analysis.channel(id)?.name.clone())));
    let (maps, homes) = (newest_maps(maps), homes.collect());
    saying.drawing = MapComparison::new(analysis.topology(), &maps, &homes).dot();
    saying
}

/// Fails with what differs first, not with all there is.
fn check_equal(one: &AnalysisRecord, other: &AnalysisRecord, law: &str) {
    for (one, other) in one.events.iter().zip(&other.events) {
        let same = one.iter().zip(other).take_while(|(one, other)| one == other).count();
        assert_eq!((same, one.get(same)), (same, other.get(same)), "{law}");
    }
    assert_eq!(one.set, other.set, "{law}");
    assert_eq!(one.error, other.error, "{law}");
    assert_eq!(one.drawing, other.drawing, "{law}");
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::canaries::two_hosts;
    use crate::judged_network::tests::MORE;
    use crate::network::run::RunOutcome;
    use crate::score;
    use simulator::truth::TruthEventKind;

    /// The judgement, after something has been done to what came of a run.
    fn changed(change: impl FnOnce(&mut RunOutcome)) {
        let scenario = two_hosts("duration_periods = 3000", MORE);
        let mut outcome = RunOutcome::of(&scenario);
        change(&mut outcome);
        score::check_all(&score::of(&scenario, &outcome).unwrap(), &[]);
    }

    #[test]
    fn the_canary_lives() {
        changed(|_| {});
    }

    pub(crate) fn a_packet_that_was_not_there_is_caught() {
        changed(|outcome| {
            let sent = |what: &TruthEventKind| matches!(what, TruthEventKind::Sent(_));
            let place = outcome.rows.iter().position(|row| sent(&row.kind) && row.at > 1000);
            // Of h0's packets no row stays that any channel shows.
            let gone = outcome.rows[place.unwrap()].packet;
            outcome.rows.retain(|row| row.packet != gone);
        });
    }

    pub(crate) fn an_order_that_depends_on_threads_is_caught() {
        let scenario = two_hosts("duration_periods = 3000", MORE);
        let outcome = RunOutcome::of(&scenario);
        let one = analyzed(&outcome.capture);
        let mut other = one.clone();
        other.events[0].swap(3, 4);
        check_equal(&one, &other, "threads change nothing");
    }
}
