//! All links of a capture, worked on side by side.

use std::collections::BTreeMap;

use codec::CharBuf;
use codec::capture::{Channel, ChannelId, Chunk};
use rayon::prelude::*;

use super::AnalysisScope;
use super::batch::{ChunkBatch, SectionProgress};
use crate::link::slack::LinkAssumptions;
use crate::link::{LinkAnalysis, LinkOutput};
use crate::timeline::Time;

/// All links so far, those of earlier sections too.
#[derive(Debug)]
pub(super) struct LinkStage {
    wanted: AnalysisScope,
    assumptions: LinkAssumptions,
    /// A link that was joined to another has no channels.
    links: Vec<LinkAnalysis>,
    channels: BTreeMap<ChannelId, (usize, Channel)>,
    /// The first link of the section.
    first: usize,
    /// The newest chunk's time.
    newest: Time,
    /// The end of the last character so far.
    until: Time,
}

/// What the links made of a batch.
#[derive(Debug)]
pub(super) struct BatchOutput {
    /// Channels that the batch declared.
    pub(super) channels: Vec<(ChannelId, Channel)>,
    /// Which of them are the directions of one link.
    pub(super) joined: Vec<(ChannelId, ChannelId)>,
    /// What each link has seen.
    pub(super) outputs: Vec<LinkOutput>,
    /// How far the section has been recorded.
    pub(super) until: Time,
    pub(super) progress: SectionProgress,
    /// The room that the batch's characters took.
    pub(super) reusable_chars: CharBuf,
}

impl LinkStage {
    pub(super) const fn new(wanted: AnalysisScope, assumptions: LinkAssumptions) -> Self {
        Self {
            wanted,
            assumptions,
            links: Vec::new(),
            channels: BTreeMap::new(),
            first: 0,
            newest: 0,
            until: 0,
        }
    }

    pub(super) fn channels(&self) -> impl Iterator<Item = (ChannelId, &Channel)> {
        self.channels.iter().map(|(id, (_, channel))| (*id, channel))
    }

    pub(super) fn channel(&self, id: ChannelId) -> Option<&Channel> {
        self.channels.get(&id).map(|(_, channel)| channel)
    }

    pub(super) fn links(&self) -> impl Iterator<Item = &LinkAnalysis> {
        self.links.iter().filter(|link| !link.is_empty())
    }

    /// Works on a batch.
    pub(super) fn work(&mut self, batch: ChunkBatch) -> BatchOutput {
        for (id, channel) in &batch.channels {
            let mut link = LinkAnalysis::new(self.wanted);
            link.declare(*id, channel, &self.assumptions);
            self.channels.insert(*id, (self.links.len(), channel.clone()));
            self.links.push(link);
        }
        for (one, other) in &batch.joined {
            self.join(*one, *other);
        }
        let first = self.first;
        let mut work: Vec<Vec<(ChannelId, Chunk<'_>)>> = Vec::new();
        work.resize_with(self.links.len() - first, Vec::new);
        for (id, chunk) in batch.chunks() {
            let Some((link, channel)) = self.channels.get(&id) else { continue };
            let period_ps = Time::from(channel.period_ps.get());
            let time = Time::from(chunk.first.0) * period_ps;
            self.newest = self.newest.max(time);
            self.until = self.until.max(Time::from(chunk.end().0) * period_ps);
            if let Some(work) = link.checked_sub(first).and_then(|link| work.get_mut(link)) {
                work.push((id, chunk));
            }
        }
        let (newest, until, then) = (self.newest, self.until, batch.progress);
        let links = self.links.get_mut(first..).unwrap_or_default();
        let seen = links.par_iter_mut().zip(&work).map(|(link, chunks)| {
            chunks.iter().for_each(|(id, chunk)| link.feed(*id, chunk));
            link.pass(newest);
            if then == SectionProgress::End {
                link.finish();
            }
            link.take_output()
        });
        let seen = seen.collect();
        drop(work);
        if then == SectionProgress::End {
            self.first = self.links.len();
            (self.newest, self.until) = (0, 0);
        }
        BatchOutput {
            channels: batch.channels,
            joined: batch.joined,
            outputs: seen,
            until,
            progress: then,
            reusable_chars: batch.chars,
        }
    }

    /// Makes two channels the directions of one link.
    fn join(&mut self, one: ChannelId, other: ChannelId) {
        let place = |id| self.channels.get(&id).map(|(place, _)| *place);
        let (Some(here), Some(there)) = (place(one), place(other)) else { return };
        if let Some(from) = self.links.get_mut(there.max(here)) {
            let from = std::mem::replace(from, LinkAnalysis::new(self.wanted));
            if let Some(link) = self.links.get_mut(here.min(there)) {
                link.absorb(from);
                link.join(one, other);
            }
        }
        for id in [one, other] {
            if let Some((place, _)) = self.channels.get_mut(&id) {
                *place = here.min(there);
            }
        }
    }
}
