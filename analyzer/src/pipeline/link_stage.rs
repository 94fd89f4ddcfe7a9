//! Analysis of all links of a capture, in parallel.

use std::collections::BTreeMap;
use std::sync::Arc;

use codec::CharBuf;
use codec::capture::{Channel, ChannelId, Chunk};
#[cfg(feature = "parallel")]
use rayon::prelude::*;

use super::FoundChannels;
use super::batch::ChunkBatch;
use crate::event::Picoseconds;
use crate::finding::FindingChecks;
use crate::link::parameters::LinkAssumptions;
use crate::link_analysis::{LinkAnalysis, LinkOutput};
use crate::link_shard::LinkShard;
use crate::options::AnalysisScope;
use crate::timeline::TIMESTAMP_PS;

/// All links so far, including those of earlier sections.
#[derive(Debug)]
pub(super) struct LinkStage {
    scope: AnalysisScope,
    assumptions: Arc<LinkAssumptions>,
    /// The links that are analysed.
    shard: LinkShard,
    /// All links; one whose channels have moved to another link is empty.
    links: Vec<LinkAnalysis>,
    channels: BTreeMap<ChannelId, (usize, Arc<Channel>)>,
    /// Findings about the links of the sections that have ended.
    findings: FindingChecks,
    /// The first link of the section.
    first: usize,
    /// Time of the newest chunk.
    newest: Picoseconds,
    /// End of the last character so far.
    until: Picoseconds,
}

#[derive(Debug)]
pub(super) struct BatchOutput {
    pub(super) channels: Vec<(ChannelId, Arc<Channel>)>,
    /// Pairs of channels that form a link.
    pub(super) joined: Vec<(ChannelId, ChannelId)>,
    /// Time of its chunks.
    pub(super) recorded: Vec<(ChannelId, [Picoseconds; 2])>,
    pub(super) outputs: Vec<LinkOutput>,
    /// End of the recorded part of the section.
    pub(super) until: Picoseconds,
    /// Time before which the output is complete.
    pub(super) settled: Picoseconds,
    /// True if the section ends with the batch.
    pub(super) is_last: bool,
    /// The batch's character buffer, for reuse.
    pub(super) reusable_chars: CharBuf,
}

impl LinkStage {
    pub(super) fn new(scope: AnalysisScope, assumptions: LinkAssumptions) -> Self {
        Self {
            scope,
            assumptions: Arc::new(assumptions),
            shard: LinkShard::ALL,
            links: Vec::new(),
            channels: BTreeMap::new(),
            findings: FindingChecks::default(),
            first: 0,
            newest: 0,
            until: 0,
        }
    }

    pub(super) const fn restrict(&mut self, shard: LinkShard) {
        self.shard = shard;
    }

    pub(super) fn channels(&self) -> impl Iterator<Item = (ChannelId, &Channel)> {
        self.channels.iter().map(|(id, (_, channel))| (*id, &**channel))
    }

    pub(super) fn channel(&self, id: ChannelId) -> Option<&Channel> {
        self.channels.get(&id).map(|(_, channel)| &**channel)
    }

    pub(super) fn into_links(self) -> Vec<LinkAnalysis> {
        self.links.into_iter().filter(|link| !link.is_empty()).collect()
    }

    /// Adds the findings about all links, and releases all but the channels.
    pub(super) fn into_findings(self, findings: &mut FindingChecks) -> FoundChannels {
        findings.take_over(self.findings);
        self.links.into_iter().for_each(|link| link.add_findings(findings));
        self.channels.into_iter().map(|(id, (_, channel))| (id, channel)).collect()
    }

    pub(super) fn add_findings(&self, findings: &mut FindingChecks) {
        findings.absorb(&self.findings);
        self.links.iter().for_each(|link| link.add_findings(findings));
    }

    pub(super) fn links(&self) -> impl Iterator<Item = &LinkAnalysis> {
        self.links.iter().filter(|link| !link.is_empty())
    }

    pub(super) fn process(&mut self, batch: ChunkBatch) -> BatchOutput {
        for (id, channel) in &batch.channels {
            let mut link = self.link();
            link.declare(*id, channel);
            self.channels.insert(*id, (self.links.len(), Arc::clone(channel)));
            self.links.push(link);
        }
        for (one, other) in &batch.joined {
            self.join(*one, *other);
        }
        let first = self.first;
        let mut work: Vec<Vec<(ChannelId, Chunk<'_>)>> = Vec::new();
        work.resize_with(self.links.len() - first, Vec::new);
        let mut recorded = Vec::new();
        for (id, chunk) in batch.chunks() {
            let Some((link, channel)) = self.channels.get(&id) else { continue };
            let [time, end] = [chunk.first, chunk.end()].map(|at| channel.period.time(at.0));
            self.newest = self.newest.max(time);
            self.until = self.until.max(end);
            recorded.push((id, [time, end]));
            if !self.shard.has(channel) {
                continue;
            }
            if let Some(work) = link.checked_sub(first).and_then(|link| work.get_mut(link)) {
                work.push((id, chunk));
            }
        }
        let (newest, until, is_last) = (self.newest, self.until, batch.is_last);
        let links = self.links.get_mut(first..).unwrap_or_default();
        #[cfg(feature = "parallel")]
        let links = links.par_iter_mut();
        #[cfg(not(feature = "parallel"))]
        let links = links.iter_mut();
        let outputs = links.zip(&work).filter_map(|(link, chunks)| {
            chunks.iter().for_each(|(id, chunk)| link.feed(*id, chunk));
            link.pass(newest);
            if is_last {
                link.finish();
            }
            Some(link.take_output()).filter(|output| !output.is_empty())
        });
        let outputs = outputs.collect();
        drop(work);
        if is_last {
            let ended = self.links.get_mut(first..).unwrap_or_default().iter_mut();
            ended.for_each(|link| link.end(&mut self.findings));
            self.first = self.links.len();
            (self.newest, self.until) = (0, 0);
        }
        BatchOutput {
            channels: batch.channels,
            joined: batch.joined,
            recorded,
            outputs,
            until,
            settled: newest.saturating_sub(TIMESTAMP_PS),
            is_last,
            reusable_chars: batch.chars,
        }
    }

    fn link(&self) -> LinkAnalysis {
        LinkAnalysis::new(self.scope, Arc::clone(&self.assumptions))
    }

    /// Pairs two channels as the directions of one link.
    fn join(&mut self, one: ChannelId, other: ChannelId) {
        let place = |id| self.channels.get(&id).map(|(place, _)| *place);
        let (Some(here), Some(there)) = (place(one), place(other)) else { return };
        let empty = self.link();
        if let Some(from) = self.links.get_mut(there.max(here)) {
            let from = std::mem::replace(from, empty);
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
