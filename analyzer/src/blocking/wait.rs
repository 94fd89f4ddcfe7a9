//! The target of a stopped channel, now and for the longest part of the wait.

use crate::event::Picoseconds;
use codec::capture::ChannelId;

use super::{BlockingTracker, CHAIN_MAX, OutputHolder, WaitRoot};
use crate::journey::HeadPacket;

/// A share of a wait, as one part in so many, for which the channel ahead must have been stopped to be
/// the reason. *Chosen*: a host that takes three of four characters stops its link so long; less
/// delays little beside packets that go before.
const SHARE: Picoseconds = 4;

/// Inputs that are named as holders of an output. *Chosen*: as many as the largest switch has.
const HOLDERS_MAX: usize = 32;

/// Target of a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WaitTarget {
    /// That a host takes something.
    Host,
    /// For an output of a switch.
    Output(ChannelId),
    /// For what was not captured.
    OutOfSight,
}

/// A channel whose sender is stopped.
#[derive(Clone, Debug)]
pub(super) struct ChannelWait {
    pub(super) number: u64,
    pub(super) since: Picoseconds,
    pub(super) spell: WaitPhase,
    /// The longest of the spells before.
    longest: Option<(Picoseconds, WaitCause)>,
}

/// A part of a wait, all for one thing.
#[derive(Clone, Debug)]
pub(super) struct WaitPhase {
    /// None before it has been asked.
    pub(super) ask: Option<WaitTarget>,
    pub(super) from: Picoseconds,
    packet: Option<u64>,
    /// Duration for which the output was stopped, as far as that has ended.
    held: Picoseconds,
    /// The longest of the output's stops that has ended, and how much of it was in this spell.
    ahead: Option<(Picoseconds, EndedStop)>,
    holders: Vec<OutputHolder>,
    holding: Option<(ChannelId, u64)>,
    /// Another packet than the one at the head has held the output.
    contended: bool,
}

/// A stop that has ended of a channel that others waited for.
#[derive(Clone, Debug)]
pub(super) struct EndedStop {
    pub(super) number: u64,
    pub(super) chain: Vec<ChannelId>,
    pub(super) root: WaitRoot,
}

/// Reason why a channel was stopped.
#[derive(Clone, Debug)]
pub(super) struct WaitCause {
    pub(super) packet: Option<u64>,
    pub(super) chain: Vec<ChannelId>,
    pub(super) behind: Option<u64>,
    pub(super) root: WaitRoot,
    pub(super) holders: Vec<OutputHolder>,
}

/// The next element of a wait chain.
enum ChainStep<'a> {
    /// This was the last.
    Root(WaitRoot),
    /// A channel that is stopped now; its wait.
    Live(&'a ChannelWait),
    /// A channel that was stopped.
    Ended(&'a EndedStop),
}

impl ChannelWait {
    pub(super) const fn new(number: u64, since: Picoseconds) -> Self {
        Self { number, since, spell: WaitPhase::new(None, since), longest: None }
    }

    /// Waits for something else from now on, after it had waited as `longest_cause` says.
    pub(super) fn change_target(&mut self, ask: WaitTarget, now: Picoseconds, why: WaitCause) {
        if self.spell.ask.is_some() {
            let lasted = now.saturating_sub(self.spell.from);
            if self.longest.as_ref().is_none_or(|(longest, _)| lasted > *longest) {
                self.longest = Some((lasted, why));
            }
            self.spell = WaitPhase::new(Some(ask), now);
        } else {
            // Nothing but its beginning was known of it.
            self.spell.ask = Some(ask);
        }
    }

    /// The cause of the longest phase, if that is not the current one.
    fn longest_before(&self, now: Picoseconds) -> Option<&WaitCause> {
        let lasted = now.saturating_sub(self.spell.from);
        self.longest.as_ref().filter(|(longest, _)| *longest >= lasted).map(|(_, why)| why)
    }
}

impl WaitPhase {
    const fn new(ask: Option<WaitTarget>, from: Picoseconds) -> Self {
        Self {
            ask,
            from,
            packet: None,
            held: 0,
            ahead: None,
            holders: Vec::new(),
            holding: None,
            contended: false,
        }
    }

    /// The packet at the head, and which packet of which other input has the output.
    pub(super) fn observe(&mut self, head: Option<HeadPacket>, holder: Option<(ChannelId, u64)>) {
        self.packet = self.packet.or(head.map(|head| head.packet));
        self.contended |= holder.is_some() || head.is_some_and(|head| head.contended);
        if holder == self.holding {
            return;
        }
        self.holding = holder;
        let Some((channel, _)) = holder else { return };
        if let Some(known) = self.holders.iter_mut().find(|known| known.channel == channel) {
            known.packets = known.packets.saturating_add(1);
        } else if self.holders.len() < HOLDERS_MAX {
            self.holders.push(OutputHolder { channel, packets: 1 });
        }
    }

    /// The output was stopped for so long of this spell, and is so no more.
    pub(super) fn add_stopped(&mut self, held: Picoseconds, ahead: impl FnOnce() -> EndedStop) {
        self.held += held;
        if self.ahead.as_ref().is_none_or(|(longest, _)| held > *longest) {
            self.ahead = Some((held, ahead()));
        }
    }
}

impl BlockingTracker {
    /// Reason why a channel that is stopped has been so, for the longest part.
    pub(super) fn longest_cause(&self, id: ChannelId, now: Picoseconds) -> WaitCause {
        match self.waits.get(&id).and_then(|wait| wait.longest_before(now)) {
            Some(why) => why.clone(),
            None => self.current_cause(id, now),
        }
    }

    /// Reason why a channel is stopped now.
    pub(super) fn current_cause(&self, id: ChannelId, now: Picoseconds) -> WaitCause {
        let mut why = WaitCause {
            packet: None,
            chain: Vec::new(),
            behind: None,
            root: WaitRoot::OutOfSight,
            holders: Vec::new(),
        };
        let Some(first) = self.waits.get(&id) else { return why };
        why.packet = first.spell.packet;
        why.holders.clone_from(&first.spell.holders);
        let mut wait = first;
        while why.chain.len() < CHAIN_MAX {
            let output = match wait.spell.ask {
                Some(WaitTarget::Output(output)) => output,
                Some(WaitTarget::Host) => {
                    why.root = WaitRoot::Host;
                    break;
                }
                Some(WaitTarget::OutOfSight) | None => break,
            };
            if !why.extend_chain(id, output) {
                break;
            }
            match self.chain_step(wait, output, now) {
                ChainStep::Root(root) => {
                    why.root = root;
                    break;
                }
                ChainStep::Ended(ahead) => {
                    why.behind.get_or_insert(ahead.number);
                    why.append_chain(id, &ahead.chain, ahead.root);
                    break;
                }
                ChainStep::Live(next) => {
                    why.behind.get_or_insert(next.number);
                    if let Some(before) = next.longest_before(now) {
                        why.append_chain(id, &before.chain, before.root);
                        break;
                    }
                    wait = next;
                }
            }
        }
        why
    }

    /// The element behind an output that a channel waits for.
    fn chain_step<'a>(
        &'a self,
        wait: &'a ChannelWait,
        output: ChannelId,
        now: Picoseconds,
    ) -> ChainStep<'a> {
        let spell = &wait.spell;
        let live = self.waits.get(&output);
        let overlap = live.map_or(0, |live| now.saturating_sub(live.since.max(spell.from)));
        let lasted = now.saturating_sub(spell.from);
        if (spell.held + overlap).saturating_mul(SHARE) >= lasted {
            match (live, &spell.ahead) {
                (Some(_), Some((longest, ahead))) if *longest > overlap => {
                    return ChainStep::Ended(ahead);
                }
                (Some(live), _) => return ChainStep::Live(live),
                (None, Some((_, ahead))) => return ChainStep::Ended(ahead),
                (None, None) => {}
            }
        }
        ChainStep::Root(match (self.open.contains(&output), spell.contended) {
            (true, _) => WaitRoot::OpenLink,
            (false, true) => WaitRoot::Busy,
            (false, false) => WaitRoot::Switch,
        })
    }
}

impl WaitCause {
    /// Adds a channel to the chain of the wait of `first`; says no where the chain meets itself.
    fn extend_chain(&mut self, first: ChannelId, output: ChannelId) -> bool {
        let met = output == first || self.chain.contains(&output);
        self.chain.push(output);
        if met {
            self.root = WaitRoot::Cycle;
        }
        !met
    }

    /// Goes on as another chain did.
    fn append_chain(&mut self, first: ChannelId, chain: &[ChannelId], root: WaitRoot) {
        self.root = root;
        let room = CHAIN_MAX.saturating_sub(self.chain.len());
        for output in chain.iter().take(room) {
            if !self.extend_chain(first, *output) {
                break;
            }
        }
    }
}
