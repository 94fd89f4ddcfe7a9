//! Basis of a finding, the channels that it rests on, and the share of it that another capture recorded.

use super::{CaptureFigures, FigureKey, FigureSubject};
use crate::finding::{EvidenceView, FindingKind};

/// Share of the time and of the packets of one capture that another must have recorded of a channel, without a hole, for
/// a finding to be absent there.
/// *Chosen*: recordings of one length by two clocks and two hands.
const AS_LONG: f64 = 0.9;
/// Share of a time by which two recorders count apart. *Chosen*: clocks differ by less.
const CLOCKS: f64 = 0.001;

fn opposite(label: &str) -> Option<String> {
    let (ends, capture) = label.split_at(label.find(" (capture ").unwrap_or(label.len()));
    let (from, to) = ends.split_once('>')?;
    Some(format!("{to}>{from}{capture}"))
}

impl CaptureFigures {
    /// Seconds and packets recorded of a channel.
    fn extent(&self, name: &str) -> Option<[f64; 2]> {
        let seconds = *self.recorded.get(name)?;
        let packets = (FigureSubject::Link, name.to_owned(), "packets".to_owned());
        let rate = self.figures.get(&packets).map_or(0.0, |figure| figure.value);
        Some([seconds, rate * seconds])
    }

    /// True if a finding of another capture would have been found in this one: it recorded as much of the channels that
    /// the finding rests on. One about a single link rests on its two channels, any other on all.
    pub(super) fn would_show(&self, other: &Self, key: &FigureKey) -> bool {
        let (_, channel, kind) = key;
        // What is missing may be at either end.
        let around = other.figures.get(key).map_or(0.0, |figure| figure.around_s);
        let saw = |name: &String| {
            let is_as_long = match (self.extent(name), other.extent(name)) {
                (Some(own), Some(of)) => {
                    let [time, all] = [own[0], of[0]];
                    let is_within = all - time <= around + CLOCKS * all;
                    is_within && own.iter().zip(of).all(|(own, of)| *own >= AS_LONG * of)
                }
                (own, _) => own.is_some(),
            };
            is_as_long && !self.holed.contains(name)
        };
        let hole = FindingKind::Hole.about().name;
        kind != hole && saw(channel) && other.basis(key).all(|(name, _)| saw(name))
    }

    /// True if cases of a finding of both captures count alike: both recorded what it rests on for times in one
    /// proportion, and more than a link without a hole, which hides cases on channels that have none.
    pub(super) fn is_alike(&self, other: &Self, key: &FigureKey) -> bool {
        let of = |(name, own): (&String, f64)| Some(other.recorded.get(name)? / own);
        let (least, most) = self
            .basis(key)
            .filter_map(of)
            .fold((f64::MAX, 0.0), |(least, most): (f64, f64), of| (least.min(of), most.max(of)));
        let is_whole = [self, other].iter().all(|it| it.holed.is_empty());
        (rests_on_a_link(&key.2) || is_whole) && least >= AS_LONG * most
    }

    /// Channels that a finding rests on, and the seconds that were recorded of each: of one about a link its two, of any
    /// other all.
    fn basis(&self, (_, channel, kind): &FigureKey) -> impl Iterator<Item = (&String, f64)> {
        let link = rests_on_a_link(kind).then(|| [Some(channel.clone()), opposite(channel)]);
        let is_part = move |name: &&String| {
            link.as_ref().is_none_or(|link| link.iter().flatten().any(|of| of == *name))
        };
        self.recorded.iter().map(|(name, of)| (name, *of)).filter(move |(name, _)| is_part(name))
    }
}

/// True if a kind of findings rests on the two channels of a link.
pub(super) fn rests_on_a_link(kind: &str) -> bool {
    let of_link = [EvidenceView::Characters, EvidenceView::Packets, EvidenceView::Links];
    FindingKind::named(kind).is_some_and(|about| of_link.contains(&about.view))
}
