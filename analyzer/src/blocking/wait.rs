//! Waits of stopped channels: current target, and cause of the longest phase.

use crate::event::Picoseconds;
use codec::capture::ChannelId;
use codec::time::CharacterPeriod;

use super::{BlockingTracker, CHAIN_MAX, OutputHolder, PERIOD, WaitContext, WaitRoot};
use crate::capture_network::{CaptureNetwork, SETTLED};
use crate::journey::{HeadPacket, HeadProgress};

/// Minimum share of a wait, as its reciprocal, for which the channel ahead must be stopped to count
/// as the cause. *Chosen*: a host that accepts three of four characters stops its link for this
/// share; less delays little compared with the packets ahead.
const SHARE: Picoseconds = 4;

/// Maximum time between the ends of the recordings of channels that end together. *Chosen*: two chunks of characters.
const APART: Picoseconds = SETTLED * PERIOD;

/// Maximum of reported holders of an output. *Chosen*: the ports of the largest switch.
const HOLDERS_MAX: usize = 32;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WaitTarget {
    /// The host behind the channel.
    Host,
    /// An output of a switch.
    Output(ChannelId),
    /// An uncaptured output.
    OutOfSight,
}

#[derive(Clone, Debug)]
pub(super) struct ChannelWait {
    pub(super) number: u64,
    pub(super) since: Picoseconds,
    pub(super) spell: WaitPhase,
    /// The longest phase that has ended, with its cause.
    longest: Option<(Picoseconds, WaitCause)>,
}

/// Part of a wait with a single target.
#[derive(Clone, Debug, Default)]
pub(super) struct WaitPhase {
    /// `None` before the first update.
    pub(super) target: Option<WaitTarget>,
    pub(super) from: Picoseconds,
    packet: Option<u64>,
    /// The last packet at the head.
    pub(super) last: Option<HeadPacket>,
    /// Total duration of the output's ended stops within this phase.
    held: Picoseconds,
    /// The longest of the output's ended stops, with its duration within this phase.
    ahead: Option<(Picoseconds, EndedStop)>,
    /// End of the output's last stop within this phase.
    freed: Picoseconds,
    holders: Vec<OutputHolder>,
    holding: Option<(ChannelId, u64)>,
    /// True if a packet other than the one at the head has held the output.
    contended: bool,
}

/// Part of a wait that a cause is to explain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CauseScope {
    /// The longest part of it.
    Longest,
    /// All of its current phase.
    Phase,
    /// Its last moment: stops that have ended explain nothing.
    Moment,
}

/// An ended stop of a channel for which others waited.
#[derive(Clone, Debug)]
pub(super) struct EndedStop {
    pub(super) number: u64,
    pub(super) chain: Vec<ChannelId>,
    pub(super) root: WaitRoot,
}

#[derive(Clone, Debug, Default)]
pub(super) struct WaitCause {
    pub(super) packet: Option<u64>,
    pub(super) chain: Vec<ChannelId>,
    pub(super) behind: Option<u64>,
    pub(super) root: WaitRoot,
    /// Time from which on all channels of the chain waited for this.
    pub(super) since: Picoseconds,
    pub(super) holders: Vec<OutputHolder>,
}

/// The next element of a wait chain.
enum ChainStep<'a> {
    /// End of the chain.
    Root(WaitRoot),
    /// A channel that is stopped; its wait.
    Live(&'a ChannelWait),
    /// A channel whose stop has ended.
    Ended(&'a EndedStop),
}

impl ChannelWait {
    pub(super) fn new(number: u64, since: Picoseconds) -> Self {
        let spell = WaitPhase { from: since, ..WaitPhase::default() };
        Self { number, since, spell, longest: None }
    }

    /// True if a target became known for which the packet at the head has waited since the phase began: how the
    /// switch reads route bytes was not known before. S-1
    pub(super) fn is_learned(&self, head: Option<HeadPacket>) -> bool {
        self.spell.target == Some(WaitTarget::OutOfSight)
            && self.spell.packet.is_some()
            && self.spell.packet == head.map(|head| head.packet)
    }

    /// Starts a phase with another target; `why` is the cause of the phase before.
    pub(super) fn change_target(&mut self, target: WaitTarget, now: Picoseconds, why: WaitCause) {
        if self.spell.target.is_some() {
            let lasted = now.saturating_sub(self.spell.from);
            if self.longest.as_ref().is_none_or(|(longest, _)| lasted > *longest) {
                self.longest = Some((lasted, why));
            }
            self.spell = WaitPhase { target: Some(target), from: now, ..WaitPhase::default() };
        } else {
            // The first target applies from the beginning of the wait.
            self.spell.target = Some(target);
        }
    }

    /// The cause of the longest phase, if that is not the current one.
    fn longest_before(&self, now: Picoseconds) -> Option<&WaitCause> {
        let lasted = now.saturating_sub(self.spell.from);
        self.longest.as_ref().filter(|(longest, _)| *longest >= lasted).map(|(_, why)| why)
    }
}

impl WaitPhase {
    pub(super) fn observe(&mut self, head: Option<HeadPacket>, holder: Option<(ChannelId, u64)>) {
        self.packet = self.packet.or(head.map(|head| head.packet));
        self.last = head.or(self.last);
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

    /// Maximum duration with nothing in the way: a path formation for each packet at the head; `None` if not known.
    fn unhindered(&self, period: CharacterPeriod) -> Option<Picoseconds> {
        let (first, last) = self.packet.zip(self.last)?;
        let packets = Picoseconds::from(last.packet.saturating_sub(first)) + 1;
        last.delays.map(|it| packets.saturating_mul(it.path) + period.time(it.drain))
    }

    /// Adds a stop of the output that ends now, with its duration within this phase.
    pub(super) fn add_stopped(
        &mut self,
        (held, now): (Picoseconds, Picoseconds),
        ahead: impl FnOnce() -> EndedStop,
    ) {
        self.held += held;
        self.freed = now;
        if self.ahead.as_ref().is_none_or(|(longest, _)| held > *longest) {
            self.ahead = Some((held, ahead()));
        }
    }
}

impl BlockingTracker {
    /// Cause of the stop of a channel.
    pub(super) fn cause(
        &self,
        id: ChannelId,
        context: WaitContext<'_>,
        scope: CauseScope,
    ) -> WaitCause {
        let mut why = WaitCause::default();
        let Some(first) = self.waits.get(id) else { return why };
        if scope == CauseScope::Longest
            && let Some(why) = first.longest_before(context.now)
        {
            return why.clone();
        }
        why.packet = first.spell.packet;
        why.holders.clone_from(&first.spell.holders);
        let (mut wait, mut input) = (first, id);
        while why.chain.len() < CHAIN_MAX {
            why.since = why.since.max(wait.spell.from).max(wait.spell.freed);
            let output = match wait.spell.target {
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
            match self.chain_step((input, wait), output, (context, scope)) {
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
                    if scope != CauseScope::Moment
                        && let Some(before) = next.longest_before(context.now)
                    {
                        why.append_chain(id, &before.chain, before.root);
                        break;
                    }
                    (wait, input) = (next, output);
                }
            }
        }
        why
    }

    /// Next element of the chain behind an output.
    fn chain_step<'a>(
        &'a self,
        (input, wait): (ChannelId, &'a ChannelWait),
        output: ChannelId,
        (context, scope): (WaitContext<'_>, CauseScope),
    ) -> ChainStep<'a> {
        let spell = &wait.spell;
        let live = self.waits.get(output);
        let seen = live.map_or(context.now, |live| context.commands_seen(output, live.since));
        let overlap = live.map_or(0, |live| seen.saturating_sub(live.since.max(spell.from)));
        let lasted = context.now.saturating_sub(spell.from);
        if let (CauseScope::Moment, Some(live)) = (scope, live) {
            let is_seen = context.now - seen <= APART;
            return if is_seen {
                ChainStep::Live(live)
            } else {
                ChainStep::Root(WaitRoot::OutOfSight)
            };
        } else if scope != CauseScope::Moment
            && (spell.held + overlap).saturating_mul(SHARE) >= lasted
        {
            match (live, &spell.ahead) {
                (Some(_), Some((longest, ahead))) if *longest > overlap => {
                    return ChainStep::Ended(ahead);
                }
                (Some(live), _) => return ChainStep::Live(live),
                (None, Some((_, ahead))) => return ChainStep::Ended(ahead),
                (None, None) => {}
            }
        }
        ChainStep::Root(self.root_at((input, spell), output, (context, lasted)))
    }

    /// Cause of a wait for an output that is not stopped.
    fn root_at(
        &self,
        (input, spell): (ChannelId, &WaitPhase),
        output: ChannelId,
        (context, lasted): (WaitContext<'_>, Picoseconds),
    ) -> WaitRoot {
        let network = context.network;
        if self.open.contains(&output) {
            return WaitRoot::OpenLink;
        }
        // Without its commands, nothing but packets of other inputs that take turns shows that an output is not stopped.
        let turns: u64 = spell.holders.iter().map(|holder| holder.packets).sum();
        let is_moving = context.is_known(output, spell.from) || turns > 1;
        match (is_moving, spell.contended) {
            (false, _) => WaitRoot::OutOfSight,
            (true, true) => WaitRoot::Busy,
            (true, false) if is_slower(output, input, network) => WaitRoot::SlowOutput,
            (true, false) if spell.unhindered(network.period(input)) >= Some(lasted) => {
                WaitRoot::Switch
            }
            (true, false) if shares_wire(output, network) => WaitRoot::SlowOutput,
            (true, false) => WaitRoot::Unknown,
        }
    }
}

impl WaitContext<'_> {
    /// Time up to which STOP and GO to the sender of a channel were recorded from another one on, at most now.
    pub(super) fn commands_seen(&self, id: ChannelId, from: Picoseconds) -> Picoseconds {
        // On a handshake cable its own characters tell. B-1
        let has_no_stop = self.network.has_no_stop(id);
        let told_by = if has_no_stop { Some(id) } else { self.network.opposite(id) };
        let end = told_by.and_then(|told_by| self.recorded.covered_to(told_by, from));
        end.unwrap_or(from).min(self.now)
    }

    /// Input and number of the packet that holds an output for which another packet waits.
    pub(super) fn holder(&self, output: ChannelId) -> Option<(ChannelId, u64)> {
        self.network.inputs(output).find_map(|input| {
            let head = (self.heads)(input)?;
            let has = head.wants == Some(output) && head.passing == HeadProgress::Begun;
            has.then_some((input, head.packet))
        })
    }

    /// True if it is known of most of the time from a moment up to now, the last included, that a sender is not stopped.
    fn is_known(&self, id: ChannelId, from: Picoseconds) -> bool {
        let Some(known) = self.network.commands_known(id) else { return false };
        let from = from.min(self.now);
        let known = known.clamp(from, self.now);
        let unseen = self.now - self.commands_seen(id, known);
        unseen <= APART && (known - from + unseen).saturating_mul(SHARE) <= self.now - from
    }
}

/// True if a channel takes characters more slowly than another brings them. B-1
fn is_slower(output: ChannelId, input: ChannelId, network: &CaptureNetwork) -> bool {
    network.has_no_stop(output) || network.period(output).time(1) > network.period(input).time(1)
}

/// True for a virtual channel: packets of others may be on its wire.
fn shares_wire(id: ChannelId, network: &CaptureNetwork) -> bool {
    network.channel(id).is_some_and(|channel| channel.virtual_channel().is_some())
}

impl WaitCause {
    /// Adds a channel to the chain that starts at `first`. Returns false if the chain becomes
    /// cyclic.
    fn extend_chain(&mut self, first: ChannelId, output: ChannelId) -> bool {
        let met = output == first || self.chain.contains(&output);
        self.chain.push(output);
        if met {
            self.root = WaitRoot::Cycle;
        }
        !met
    }

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
