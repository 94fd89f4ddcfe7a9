//! A capture through all storeys: the one place that fans links out to threads.
//!
//! Three things go on side by side: a batch of the file is read; the links work on the batch before
//! it, each by itself; and the network's storey takes what they made of the one before that. What
//! is handed out, and in which order, depends on none of it.

mod batch;
mod links;
mod merge;
mod network;

use std::collections::VecDeque;
use std::io::Read;

use codec::capture::{CaptureError, Channel, ChannelId, Fault, Progress, ReadExtent, Reader};

use self::batch::Batch;
use self::links::{Links, Worked};
use self::network::Network;
use crate::blocking::Blocked;
use crate::conversation::Spoken;
use crate::finding::Findings;
use crate::link::Link;
use crate::link::slack::{Assumptions, SlackSaid};
use crate::link::state::Interval;
use crate::path::{Journey, Paths};
use crate::timeline::Row;
use crate::topology::Topology;

/// What an analysis hands out: each kind in order of the time at which it became known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Told {
    /// A packet, the first byte of one, or an event.
    Row(Row),
    /// A stretch of a channel in one state.
    Interval(Interval),
    /// Something about a slack buffer.
    Slack(SlackSaid),
    /// A packet's way, once it has ended.
    Journey(Journey),
    /// A wait, once it has ended.
    Blocked(Blocked),
    /// Of the reliability protocol: in order of the time at which packets were first seen, those of a
    /// message together.
    Spoken(Spoken),
    /// Something wrong with the file, that reading went past.
    Fault(Fault),
}

/// Which of that is wanted. What is odd is found all the same, and slack buffers are summed up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
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

impl Wanted {
    /// Whether rows are.
    pub(crate) const fn rows(self) -> bool {
        matches!(self, Self::Everything)
    }

    /// Whether what channels did is to be added up.
    pub(crate) const fn states(self) -> bool {
        matches!(self, Self::Counts | Self::Intervals | Self::Everything)
    }

    /// Whether states of channels are.
    pub(crate) const fn intervals(self) -> bool {
        matches!(self, Self::Intervals | Self::Everything)
    }

    /// Whether bounds of slack buffers are.
    pub(crate) const fn fills(self) -> bool {
        matches!(self, Self::Fills | Self::Everything)
    }

    /// What a slack buffer says, unless it is bounds that are not.
    pub(crate) fn keeps(self, said: SlackSaid) -> Option<SlackSaid> {
        match said {
            SlackSaid::Fill(_) => self.fills().then_some(said),
            SlackSaid::Late { .. }
            | SlackSaid::OverrunRisk { .. }
            | SlackSaid::Contradiction { .. } => Some(said),
        }
    }

    /// Whether journeys and waits are.
    pub(crate) const fn network(self) -> bool {
        matches!(self, Self::Network | Self::Everything)
    }

    /// Whether what is said in the reliability protocol is.
    pub(crate) const fn conversations(self) -> bool {
        matches!(self, Self::Conversations | Self::Everything)
    }
}

/// A capture on its way through all storeys.
#[derive(Debug)]
pub struct Analysis<R> {
    reader: Reader<R>,
    /// What ended the reading, if it has.
    ended: Option<Result<(), CaptureError>>,
    links: Links,
    network: Network,
    /// Read, and not yet worked on.
    read: VecDeque<Batch>,
    /// Worked on, and not yet taken to the network.
    worked: Option<Worked>,
}

impl<R: Read + Send> Analysis<R> {
    /// A capture before its first block.
    pub fn new(capture: R, wanted: Wanted, assumptions: Assumptions) -> Self {
        Self {
            reader: Reader::new(capture),
            ended: None,
            links: Links::new(wanted, assumptions),
            network: Network::new(wanted, assumptions),
            read: VecDeque::new(),
            worked: None,
        }
    }

    /// Goes on by a batch, and hands out what has become certain.
    ///
    /// # Errors
    /// Those of [`Reader::step`], once, after everything before them has been handed out.
    pub fn step(&mut self, out: &mut impl FnMut(Told)) -> Result<Progress, CaptureError> {
        let Self { reader, ended, links, network, read, worked } = self;
        let (batch, mut before) = (read.pop_front(), worked.take());
        if let (None, None, Some(ended)) = (&batch, &before, &mut *ended) {
            return std::mem::replace(ended, Ok(())).map(|()| Progress::Done);
        }
        let room = before.as_mut().map(|worked| std::mem::take(&mut worked.room));
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
            more.faults.into_iter().for_each(|fault| out(Told::Fault(fault)));
            read.extend(more.batches);
            *ended = more.ended;
        }
        told.into_iter().flatten().for_each(out);
        *worked = now;
        Ok(Progress::More)
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
    pub fn links(&self) -> impl Iterator<Item = &Link> {
        self.links.links()
    }

    /// The part of the file that has been read: all of it, once no step is left.
    pub const fn extent(&self) -> ReadExtent {
        self.reader.extent()
    }

    /// What is odd about the capture so far.
    #[must_use]
    pub fn findings(&self) -> Findings {
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
    pub const fn paths(&self) -> &Paths {
        self.network.paths()
    }
}
