//! The analysis of a capture, and the only use of threads.
//!
//! Three stages run in parallel: the reader reads a batch of the file; the links, independent of
//! each other, process the batch before it; the network stage processes their output for the batch
//! before that. The output and its order are independent of the number of threads.

mod batch;
mod events;
mod link_stage;
mod merge;
mod network_stage;

use std::collections::{BTreeMap, VecDeque};
use std::io::Read;
use std::sync::Arc;

use codec::capture::{
    CaptureError, CaptureFault, CaptureReader, Channel, ChannelId, ReadExtent, ReadProgress,
};

use self::batch::ChunkBatch;
pub use self::events::AnalysisEvents;
use self::link_stage::{BatchOutput, LinkStage};
use self::network_stage::NetworkStage;
use crate::blocking::BlockingEvent;
use crate::conversation::TransportEvent;
use crate::event::TimedEvent;
use crate::finding::{FindingCase, FindingChecks};
use crate::journey::{Journey, JourneyTracker};
use crate::link::interval::ActivityInterval;
use crate::link::parameters::LinkAssumptions;
use crate::link::slack::SlackEvent;
use crate::link_analysis::LinkAnalysis;
use crate::link_shard::LinkShard;
use crate::mapping::{MappingEvent, MappingTracker};
use crate::options::AnalysisScope;
use crate::topology::Topology;

/// Output of an analysis, each kind in order of the time at which it became known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AnalysisEvent {
    /// Event of a channel, except data and commands.
    Row(TimedEvent),
    /// Ended interval of a channel's activity.
    Interval(ActivityInterval),
    /// Event of a slack buffer.
    Slack(SlackEvent),
    /// Ended journey of a packet.
    Journey(Journey),
    /// Ended wait.
    Blocked(BlockingEvent),
    /// Event of the reliability protocol, in order of the first observation of its packet; events
    /// of one message stay together.
    Conversation(TransportEvent),
    /// Event of mapping.
    Mapping(MappingEvent),
    /// Case of a finding, after the events that prove it.
    Case(FindingCase),
    /// Fault of the file, which was skipped.
    Fault(CaptureFault),
}

/// The channels of an analysed capture.
pub type FoundChannels = BTreeMap<ChannelId, Arc<Channel>>;

/// The analysis of a capture, one batch at a time.
#[derive(Debug)]
pub struct CaptureAnalysis<R: ?Sized> {
    ended: Option<Result<(), CaptureError>>,
    links: LinkStage,
    network: NetworkStage,
    /// Batches for the links.
    read: VecDeque<ChunkBatch>,
    /// Output of the links for the network stage.
    linked: Option<BatchOutput>,
    /// True while the input has nothing to read.
    is_waiting: fn() -> bool,
    /// Last, so that one of any stream is one of `dyn Read`.
    reader: CaptureReader<R>,
}

impl<R: Read + Send> CaptureAnalysis<R> {
    /// An analysis before the first block of a capture.
    pub fn new(capture: R, scope: AnalysisScope, assumptions: LinkAssumptions) -> Self {
        let reader = CaptureReader::new(capture).with_virtual_channels(None);
        Self::of_reader(reader, scope, assumptions)
    }

    /// An analysis before the first block that a reader reads.
    pub fn of_reader(
        reader: CaptureReader<R>,
        scope: AnalysisScope,
        assumptions: LinkAssumptions,
    ) -> Self {
        Self {
            reader,
            ended: None,
            links: LinkStage::new(scope, assumptions),
            network: NetworkStage::new(scope, assumptions),
            read: VecDeque::new(),
            linked: None,
            is_waiting: || false,
        }
    }

    /// Emits all events of what was read before it reads again while this function returns true. For live
    /// input: reads are larger than blocks otherwise.
    pub const fn emit_when(&mut self, is_waiting: fn() -> bool) {
        self.is_waiting = is_waiting;
    }

    /// Advances by a batch, and emits the events that are complete.
    ///
    /// # Errors
    /// Those of [`CaptureReader::step`], once, after everything before them has been emitted.
    pub fn step(
        &mut self,
        out: &mut impl FnMut(AnalysisEvent),
    ) -> Result<ReadProgress, CaptureError> {
        let analysis: &mut CaptureAnalysis<dyn Read + Send + '_> = self;
        analysis.advance(out)
    }

    /// Restricts the analysis to a share of the links, before the first step. The events of a link do not depend
    /// on the others.
    pub const fn restrict(&mut self, shard: LinkShard) {
        self.links.restrict(shard);
    }

    /// The events as an iterator.
    pub const fn events(self) -> AnalysisEvents<R> {
        AnalysisEvents::new(self)
    }

    /// The links, those of all sections, in order of their first channels.
    pub fn into_links(self) -> Vec<LinkAnalysis> {
        self.links.into_links()
    }

    /// The channels so far, in all sections.
    pub fn channels(&self) -> impl Iterator<Item = (ChannelId, &Channel)> {
        self.links.channels()
    }

    /// A channel.
    pub fn channel(&self, id: ChannelId) -> Option<&Channel> {
        self.links.channel(id)
    }

    /// The links so far, in all sections, in order of their first channels.
    pub fn links(&self) -> impl Iterator<Item = &LinkAnalysis> {
        self.links.links()
    }

    /// Bytes (decompressed) read so far.
    pub const fn offset(&self) -> u64 {
        self.reader.offset()
    }

    /// The part of the file read so far.
    pub const fn extent(&self) -> ReadExtent {
        self.reader.extent()
    }

    /// Findings about the capture so far.
    pub fn findings(&self) -> FindingChecks {
        let mut findings = self.network.findings().clone();
        self.links.add_findings(&mut findings);
        findings.forgive_drift();
        findings
    }

    /// [`CaptureAnalysis::findings`] and the channels; all else is released.
    pub fn into_findings(self) -> (FindingChecks, FoundChannels) {
        let mut findings = self.network.into_findings();
        let channels = self.links.into_findings(&mut findings);
        findings.forgive_drift();
        (findings, channels)
    }

    /// The network of the sections read so far.
    pub fn topology(&self) -> Topology {
        self.network.topology()
    }

    /// Mapping in the last section.
    pub const fn mapping(&self) -> &MappingTracker {
        &self.network.mapping
    }

    /// Journeys of the last section.
    pub const fn paths(&self) -> &JourneyTracker {
        &self.network.journeys
    }
}

impl CaptureAnalysis<dyn Read + Send + '_> {
    /// The step, compiled once for streams of every type.
    fn advance(
        &mut self,
        out: &mut dyn FnMut(AnalysisEvent),
    ) -> Result<ReadProgress, CaptureError> {
        let Self { reader, ended, links, network, read, linked, is_waiting } = self;
        let (batch, mut before) = (read.pop_front(), linked.take());
        if let (None, None, Some(ended)) = (&batch, &before, &mut *ended) {
            return std::mem::replace(ended, Ok(())).map(|()| ReadProgress::Done);
        }
        let chars = before.as_mut().map(|output| std::mem::take(&mut output.reusable_chars));
        let is_idle = batch.is_none() && before.is_none();
        let reads_on = ended.is_none() && read.is_empty() && (is_idle || !is_waiting());
        let (result, (events, now)) = join(
            || reads_on.then(|| batch::read(reader, chars.unwrap_or_default(), *is_waiting)),
            || {
                join(
                    || before.map(|output| network.process_batch(output)),
                    || batch.map(|batch| links.process(batch)),
                )
            },
        );
        if let Some(result) = result {
            result.faults.into_iter().for_each(|fault| out(AnalysisEvent::Fault(fault)));
            read.extend(result.batches);
            *ended = result.ended;
        }
        events.into_iter().flatten().for_each(out);
        *linked = now;
        Ok(ReadProgress::More)
    }
}

/// Runs two steps in parallel, or one after the other without the feature `parallel`.
fn join<A: Send, B: Send>(
    one: impl FnOnce() -> A + Send,
    other: impl FnOnce() -> B + Send,
) -> (A, B) {
    #[cfg(feature = "parallel")]
    return rayon::join(one, other);
    #[cfg(not(feature = "parallel"))]
    (one(), other())
}
