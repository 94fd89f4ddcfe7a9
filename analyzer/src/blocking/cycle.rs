//! Detection of wait-for cycles. R-4

use crate::capture_network::CaptureNetwork;
use crate::event::Picoseconds;
use codec::capture::ChannelId;

use super::wait::{WaitCause, WaitTarget};
use super::{
    BlockingEvent, BlockingTracker, CHAIN_MAX, Deadlock, DeadlockRelease, PERIOD, WaitContext,
    WaitCycle, WaitRoot,
};

impl BlockingTracker {
    /// Records a wait-for cycle if the chain of targets leads back to the channel. Each channel
    /// waits for at most one other, so cycles are disjoint.
    pub(super) fn detect_cycle(&mut self, id: ChannelId, network: &CaptureNetwork) {
        let mut channels = Vec::new();
        let (mut at, mut since) = (id, 0);
        loop {
            let Some(wait) = self.waits.get(at) else { return };
            let Some(WaitTarget::Output(next)) = wait.spell.target else { return };
            channels.push(at);
            since = wait.spell.from.max(since);
            if next == id {
                break;
            }
            if channels.len() == CHAIN_MAX {
                return;
            }
            at = next;
        }
        let name = |id: &ChannelId| network.channel(*id).map(|channel| (&channel.name, *id));
        let first = channels.iter().enumerate().min_by_key(|(_, id)| name(id));
        let first = first.map_or(0, |(place, _)| place);
        channels.rotate_left(first);
        for channel in &channels {
            self.circled.insert(*channel, id);
        }
        self.circles.insert(id, WaitCycle { channels, since });
    }

    /// Removes the wait-for cycle of a channel that resumed or changed its target.
    pub(super) fn remove_cycle(
        &mut self,
        id: ChannelId,
        context: WaitContext<'_>,
        broken: Option<(ChannelId, DeadlockRelease)>,
        out: &mut impl FnMut(BlockingEvent),
    ) {
        let Some(key) = self.circled.get(&id) else { return };
        let Some(circle) = self.circles.remove(key) else { return };
        for channel in &circle.channels {
            self.circled.remove(channel);
        }
        self.report_deadlock(circle, context, broken, out);
    }

    /// True if a cause since a time is a cycle of which it is not known what each channel waits for.
    pub(super) fn is_doubted(
        &self,
        why: &WaitCause,
        since: Picoseconds,
        context: WaitContext<'_>,
    ) -> bool {
        let was_doubted = |id| self.doubted.get(id).is_some_and(|until| *until >= since);
        let is_doubted = |id| self.circled.contains_key(id) && !self.is_known(*id, context);
        why.root == WaitRoot::Cycle && why.chain.iter().any(|id| was_doubted(id) || is_doubted(id))
    }

    /// True if it is known what the packet at the head of the input behind a channel waits for.
    fn is_known(&self, id: ChannelId, context: WaitContext<'_>) -> bool {
        let Some(spell) = self.waits.get(id).map(|wait| &wait.spell) else { return false };
        match (spell.target, spell.last) {
            (Some(WaitTarget::Output(output)), Some(head)) => {
                (context.leads)(id, head.first, output)
            }
            (_, _) => false,
        }
    }

    /// Reports a cycle as a deadlock if it lasted long enough: all characters in transit when the
    /// last sender was stopped have arrived, and brought no GO. What each waits for must be known.
    pub(super) fn report_deadlock(
        &mut self,
        circle: WaitCycle,
        context: WaitContext<'_>,
        broken: Option<(ChannelId, DeadlockRelease)>,
        out: &mut impl FnMut(BlockingEvent),
    ) {
        let WaitContext { network, now, .. } = context;
        let WaitCycle { channels, since } = circle;
        // What holds it may have ended where its commands were not recorded.
        let until = channels.iter().map(|id| context.commands_seen(*id, since)).min();
        let until = until.unwrap_or(now).max(since);
        let Some(first) = channels.first() else { return };
        let periods = channels.iter().map(|id| Picoseconds::from(network.period(*id).ps()));
        let certain = since + network.settled(periods.max().unwrap_or(PERIOD));
        if !channels.iter().all(|id| self.is_known(*id, context)) {
            self.doubted.extend(channels.iter().map(|id| (*id, until)));
        } else if until >= certain {
            let place = |time| network.period(*first).periods(time);
            out(BlockingEvent::Deadlock(Deadlock {
                periods: place(until).saturating_sub(place(since)),
                channels,
                since,
                certain,
                until,
                broken,
            }));
        }
    }
}
