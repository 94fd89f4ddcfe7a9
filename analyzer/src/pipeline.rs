//! A capture through all storeys: the one place that fans links out to threads.
//!
//! Three things go on side by side: a batch of the file is read; the links work on the batch before
//! it, each by itself; and the network's storey takes what they made of the one before that. What
//! is handed out, and in which order, depends on none of it.

mod batch;
mod link_stage;
mod merge;
mod network_stage;

use std::collections::VecDeque;
use std::io::Read;

use codec::capture::{
    CaptureError, CaptureFault, CaptureReader, Channel, ChannelId, ReadExtent, ReadProgress,
};

use self::batch::ChunkBatch;
use self::link_stage::{BatchOutput, LinkStage};
use self::network_stage::NetworkStage;
use crate::blocking::BlockingEvent;
use crate::conversation::TransportEvent;
use crate::finding::FindingChecks;
use crate::journey::{Journey, JourneyTracker};
use crate::link::LinkAnalysis;
use crate::link::slack::{LinkAssumptions, SlackEvent};
use crate::link::state::ActivityInterval;
use crate::timeline::TimedEvent;
use crate::topology::Topology;

/// What an analysis hands out: each kind in order of the time at which it became known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AnalysisEvent {
    /// A packet, the first byte of one, or an event.
    Row(TimedEvent),
    /// A stretch of a channel in one state.
    Interval(ActivityInterval),
    /// Something about a slack buffer.
    Slack(SlackEvent),
    /// A packet's way, once it has ended.
    Journey(Journey),
    /// A wait, once it has ended.
    Blocked(BlockingEvent),
    /// Of the reliability protocol: in order of the time at which packets were first seen, those of a
    /// message together.
    Spoken(TransportEvent),
    /// Something wrong with the file, that reading went past.
    Fault(CaptureFault),
}

/// Which of that is wanted. What is odd is found all the same, and slack buffers are summed up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnalysisScope {
    /// Nothing more.
    Findings,
    /// What channels did, added up.
    Counts,
    /// States of channels.
    Intervals,
    /// Bounds of slack buffers.
    Fills,
    /// What happens in the network: journeys and waits.
    Network,
    /// What is said in the reliability protocol.
    Conversations,
    /// Everything.
    Everything,
}

impl AnalysisScope {
    /// Whether rows are.
    pub(crate) const fn includes_events(self) -> bool {
        matches!(self, Self::Everything)
    }

    /// Whether what channels did is to be added up.
    pub(crate) const fn includes_states(self) -> bool {
        matches!(self, Self::Counts | Self::Intervals | Self::Everything)
    }

    /// Whether states of channels are.
    pub(crate) const fn includes_intervals(self) -> bool {
        matches!(self, Self::Intervals | Self::Everything)
    }

    /// Whether bounds of slack buffers are.
    pub(crate) const fn includes_fills(self) -> bool {
        matches!(self, Self::Fills | Self::Everything)
    }

    /// What a slack buffer says, unless it is bounds that are not.
    pub(crate) fn select_slack(self, said: SlackEvent) -> Option<SlackEvent> {
        match said {
            SlackEvent::Fill(_) => self.includes_fills().then_some(said),
            SlackEvent::Late { .. }
            | SlackEvent::OverrunRisk { .. }
            | SlackEvent::Contradiction { .. } => Some(said),
        }
    }

    /// Whether journeys and waits are.
    pub(crate) const fn includes_network(self) -> bool {
        matches!(self, Self::Network | Self::Everything)
    }

    /// Whether what is said in the reliability protocol is.
    pub(crate) const fn includes_conversations(self) -> bool {
        matches!(self, Self::Conversations | Self::Everything)
    }
}

/// A capture on its way through all storeys.
#[derive(Debug)]
pub struct CaptureAnalysis<R> {
    reader: CaptureReader<R>,
    /// What ended the reading, if it has.
    ended: Option<Result<(), CaptureError>>,
    links: LinkStage,
    network: NetworkStage,
    /// Read, and not yet worked on.
    read: VecDeque<ChunkBatch>,
    /// Worked on, and not yet taken to the network.
    worked: Option<BatchOutput>,
}

impl<R: Read + Send> CaptureAnalysis<R> {
    /// A capture before its first block.
    pub fn new(capture: R, wanted: AnalysisScope, assumptions: LinkAssumptions) -> Self {
        Self {
            reader: CaptureReader::new(capture),
            ended: None,
            links: LinkStage::new(wanted, assumptions),
            network: NetworkStage::new(wanted, assumptions),
            read: VecDeque::new(),
            worked: None,
        }
    }

    /// Goes on by a batch, and hands out what has become certain.
    ///
    /// # Errors
    /// Those of [`CaptureReader::step`], once, after everything before them has been handed out.
    pub fn step(
        &mut self,
        out: &mut impl FnMut(AnalysisEvent),
    ) -> Result<ReadProgress, CaptureError> {
        let Self { reader, ended, links, network, read, worked } = self;
        let (batch, mut before) = (read.pop_front(), worked.take());
        if let (None, None, Some(ended)) = (&batch, &before, &mut *ended) {
            return std::mem::replace(ended, Ok(())).map(|()| ReadProgress::Done);
        }
        let room = before.as_mut().map(|worked| std::mem::take(&mut worked.reusable_chars));
        let goes_on = ended.is_none() && read.is_empty();
        let (more, (told, now)) = rayon::join(
            || goes_on.then(|| batch::read(reader, room.unwrap_or_default())),
            || {
                rayon::join(
                    || before.map(|worked| network.take(worked)),
                    || batch.map(|batch| links.work(batch)),
                )
            },
        );
        if let Some(more) = more {
            more.faults.into_iter().for_each(|fault| out(AnalysisEvent::Fault(fault)));
            read.extend(more.batches);
            *ended = more.ended;
        }
        told.into_iter().flatten().for_each(out);
        *worked = now;
        Ok(ReadProgress::More)
    }

    /// The channels so far, those of all sections.
    pub fn channels(&self) -> impl Iterator<Item = (ChannelId, &Channel)> {
        self.links.channels()
    }

    /// A channel.
    #[must_use]
    pub fn channel(&self, id: ChannelId) -> Option<&Channel> {
        self.links.channel(id)
    }

    /// The links so far, those of all sections, in order of their first channels.
    pub fn links(&self) -> impl Iterator<Item = &LinkAnalysis> {
        self.links.links()
    }

    /// The part of the file that has been read: all of it, once no step is left.
    pub const fn extent(&self) -> ReadExtent {
        self.reader.extent()
    }

    /// What is odd about the capture so far.
    #[must_use]
    pub fn findings(&self) -> FindingChecks {
        let mut findings = self.network.findings().clone();
        self.links().for_each(|link| findings.absorb(link.findings()));
        findings.forgive_drift();
        findings
    }

    /// The network that the sections read so far show.
    #[must_use]
    pub fn topology(&self) -> Topology {
        self.network.topology()
    }

    /// What is known of ways between channels, those of the last section.
    #[must_use]
    pub const fn paths(&self) -> &JourneyTracker {
        self.network.paths()
    }
}
