//! A capture's rows against the reference's, which takes its characters one at a time.

use analyzer::channel_name::TapEnd;
use analyzer::event::{ChannelEvent, TimedEvent};
use std::collections::BTreeMap;

use analyzer::event_reader::{EventReader, ReadItem};
use analyzer::packet::ByteRetention;
use analyzer::timeline::EventFilter;
use codec::capture::{ChannelId, ReadProgress};
use codec::time::Tick;

use super::counts::{self, ReplayLength};
use super::{CaptureContents, SectionContents};
use crate::reference::{self, ReferenceChannel, ReferenceEvent};

/// Rows are in order, and an error is the reader's; channels are counted; where the capture is short,
/// rows and counts are the reference's.
pub fn law(file: &[u8]) {
    check(file, rows);
}

/// Rows of a capture, and the error that ended them.
pub(super) type AnalyzedRows = (Vec<TimedEvent>, Option<String>);

fn check(file: &[u8], rows: impl Fn(&[u8], EventFilter, ByteRetention) -> AnalyzedRows) {
    let read = CaptureContents::to_end(file);
    if read.sections.iter().any(SectionContents::is_endless) {
        return;
    }
    let length = ReplayLength::of(&read);
    counts::tallies(file, &read, length);
    for want in [EventFilter::Packets, EventFilter::Events] {
        let (got, error) = rows(file, want, length.bytes());
        assert_eq!(error, read.error, "an error is the reader's");
        if !read.sections.iter().all(SectionContents::is_in_order) {
            continue;
        }
        in_sequence(&got);
        if length == ReplayLength::Short {
            let expected = read.sections.iter().flat_map(|section| section.rows(want));
            agree(&got, &expected.collect::<Vec<_>>());
        }
    }
}

impl SectionContents {
    fn rows(&self, want: EventFilter) -> Vec<(ChannelId, u64, ReferenceEvent)> {
        let ids: Vec<ChannelId> = self.channels.keys().copied().collect();
        let place = |id: ChannelId| ids.iter().position(|other| *other == id);
        let peer = |id| {
            let of = |&(one, other)| match id {
                _ if id == one => Some(other),
                _ if id == other => Some(one),
                _ => None,
            };
            self.links.iter().find_map(of).and_then(place)
        };
        let track = |id: &ChannelId| ReferenceChannel {
            period: self.period(*id),
            peer: peer(*id),
            is_at_sender: self.channels.get(id).and_then(TapEnd::of) == Some(TapEnd::Sender),
            characters: self.characters(*id),
        };
        let wanted = |(_, _, told): &reference::ReferenceRow| {
            (want == EventFilter::Packets) == matches!(told, ReferenceEvent::Packet(_))
        };
        let name = |(id, at, told)| ids.get(id).map(|id| (*id, at, told));
        let rows = reference::rows(&ids.iter().map(track).collect::<Vec<_>>());
        rows.into_iter().filter(wanted).filter_map(name).collect()
    }
}

/// All rows in their order. Fails with what differs first, not with all there is.
fn agree(got: &[TimedEvent], expected: &[(ChannelId, u64, ReferenceEvent)]) {
    let mut expected = expected.iter();
    for (n, row) in got.iter().enumerate() {
        let got = (row.channel, row.at.0, row_event(&row.body));
        assert_eq!((n, Some(&got)), (n, expected.next()), "rows are the reference's");
    }
    assert_eq!(expected.next(), None, "no row is left out");
}

pub(super) fn row_event(what: &ChannelEvent) -> ReferenceEvent {
    match what {
        ChannelEvent::Packet(packet) => ReferenceEvent::Packet((&**packet).into()),
        ChannelEvent::Link(event) => ReferenceEvent::Event(*event),
        ChannelEvent::Begins
        | ChannelEvent::Framed
        | ChannelEvent::Head(_)
        | ChannelEvent::Data(_)
        | ChannelEvent::Command(_) => unreachable!("details are not asked for"),
        ChannelEvent::Omitted { rounds, every, .. } => {
            assert_eq!((rounds, every), (&0, &0), "nothing short is left out");
            ReferenceEvent::Command(analyzer::event::FlowCommand::Stop)
        }
    }
}

/// Rows of one channel follow each other.
pub(super) fn in_sequence(rows: &[TimedEvent]) {
    let mut last: BTreeMap<ChannelId, (Tick, u64)> = BTreeMap::new();
    for row in rows {
        let (at, packets) = last.entry(row.channel).or_default();
        assert!(*at <= row.at, "a channel's rows are in sequence");
        *at = row.at;
        if let ChannelEvent::Packet(packet) = &row.body {
            assert_eq!(packet.number, *packets, "a channel's packets are counted");
            *packets += 1;
        }
    }
}

pub(super) fn rows(file: &[u8], want: EventFilter, bytes: ByteRetention) -> AnalyzedRows {
    let mut rows = EventReader::new(file, want, bytes);
    let mut out = Vec::new();
    let mut step = || {
        rows.step(&mut |said| match said {
            ReadItem::Row(_, row) => out.push(row),
            ReadItem::Fault(_) => {}
        })
    };
    let error = loop {
        match step() {
            Ok(ReadProgress::More) => {}
            Ok(ReadProgress::Done) => break None,
            Err(error) => break Some(error.to_string()),
        }
    };
    assert!(matches!(step(), Ok(ReadProgress::Done)), "the end is the end");
    (out, error)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::capture::tests::seed;
    use crate::capture_input::OwnedChunk;
    use analyzer::EventTimeline;

    /// Rows of a timeline that gets only a part of a capture.
    fn played(
        file: &[u8],
        (want, bytes): (EventFilter, ByteRetention),
        known: impl Fn(&(ChannelId, ChannelId)) -> bool,
        rounds: impl Fn(u64) -> u64,
    ) -> AnalyzedRows {
        let mut timeline = EventTimeline::new(want, bytes);
        let mut rows = Vec::new();
        let read = CaptureContents::to_end(file);
        for section in &read.sections {
            section.channels.iter().for_each(|(id, channel)| timeline.declare(*id, channel));
            let links = section.links.iter().filter(|link| known(link));
            links.for_each(|(one, other)| timeline.link(*one, *other));
            for (id, chunk) in &section.chunks {
                let chunk = OwnedChunk { count: chunk.count.map(&rounds), ..chunk.clone() };
                timeline.feed(*id, &chunk.chunk(), &mut |row| rows.push(row));
            }
            timeline.finish(&mut |row| rows.push(row));
        }
        (rows, read.error)
    }

    #[test]
    fn a_timeline_told_everything_keeps_the_law() {
        let rows = |file: &[u8], want, bytes| played(file, (want, bytes), |_| true, |n| n);
        check(&seed("whole-flow-control"), rows);
        check(&seed("whole-repeats"), rows);
    }

    pub(crate) fn a_timeline_without_links_is_caught() {
        let rows = |file: &[u8], want, bytes| played(file, (want, bytes), |_| false, |n| n);
        check(&seed("whole-flow-control"), rows);
    }

    pub(crate) fn a_timeline_that_takes_a_repeat_for_one_round_is_caught() {
        let rows = |file: &[u8], want, bytes| played(file, (want, bytes), |_| true, |_| 1);
        check(&seed("whole-repeats"), rows);
    }

    pub(crate) fn rows_out_of_sequence_are_caught() {
        check(&seed("whole-flow-control"), |file, want, bytes| {
            let (mut all, error) = rows(file, want, bytes);
            if want == EventFilter::Events {
                all.reverse();
            }
            (all, error)
        });
    }

    pub(crate) fn an_error_that_is_swallowed_is_caught() {
        check(&seed("cut-in-a-chunk"), |file, want, bytes| (rows(file, want, bytes).0, None));
    }
}
