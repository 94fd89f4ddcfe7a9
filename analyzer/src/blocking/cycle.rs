//! Detection of wait-for cycles. R-4

use crate::event::Picoseconds;
use codec::capture::ChannelId;

use super::wait::WaitTarget;
use super::{
    BlockingEvent, BlockingTracker, CHAIN_MAX, Deadlock, DeadlockRelease, OBEYED, PERIOD, SETTLED,
    WaitCycle,
};

impl BlockingTracker {
    /// Records a wait-for cycle if the chain of targets leads back to the channel. Each channel
    /// waits for at most one other, so cycles are disjoint.
    pub(super) fn detect_cycle(&mut self, id: ChannelId) {
        let mut channels = Vec::new();
        let (mut at, mut since) = (id, 0);
        loop {
            let Some(wait) = self.waits.get(at) else { return };
            let Some(WaitTarget::Output(next)) = wait.spell.ask else { return };
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
        let name = |id: &ChannelId| self.nodes.channel(*id).map(|channel| (&channel.name, *id));
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
        now: Picoseconds,
        broken: Option<(ChannelId, DeadlockRelease)>,
        out: &mut impl FnMut(BlockingEvent),
    ) {
        let Some(key) = self.circled.get(&id) else { return };
        let Some(circle) = self.circles.remove(key) else { return };
        for channel in &circle.channels {
            self.circled.remove(channel);
        }
        self.report_deadlock(circle, now, broken, out);
    }

    /// Reports a cycle as a deadlock if it lasted long enough: all characters in transit when the
    /// last sender was stopped have arrived, and brought no GO.
    pub(super) fn report_deadlock(
        &self,
        circle: WaitCycle,
        until: Picoseconds,
        broken: Option<(ChannelId, DeadlockRelease)>,
        out: &mut impl FnMut(BlockingEvent),
    ) {
        let WaitCycle { channels, since } = circle;
        let periods = channels.iter().filter_map(|id| self.nodes.channel(*id));
        let period =
            periods.map(|channel| Picoseconds::from(channel.period.ps())).max().unwrap_or(PERIOD);
        let settled = self.delay.map_or(SETTLED * period, |delay| 4 * delay + OBEYED * period);
        let lasted = until.saturating_sub(since);
        let Some(first) = channels.first() else { return };
        if lasted >= settled {
            let periods = self.periods(*first, lasted);
            out(BlockingEvent::Deadlock(Deadlock { channels, since, until, periods, broken }));
        }
    }
}
