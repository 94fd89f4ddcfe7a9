//! Reasons to wait of `journeys`: what was last in the way of a packet at a switch. S-6

use std::collections::BTreeMap;

use analyzer::ChannelEvent;
use analyzer::channel_name::TapEnd;
use analyzer::event::{LinkEvent, Picoseconds};
use analyzer::journey::{JourneyHop, WaitReason};
use analyzer::link::parameters::ParameterKey;
use codec::capture::ChannelId;
use codec::time::CharacterPeriod;

use super::capture_rows::CaptureRows;

/// Compares reasons to wait; returns for how many of them two were in the way up to the same moment.
pub(crate) fn check(rows: &CaptureRows<'_>) -> usize {
    let ended = rows
        .events
        .iter()
        .filter_map(|event| Some(((event.channel, event.body.packet()?.number), event.time)));
    let ended: BTreeMap<(ChannelId, u64), Picoseconds> = ended.collect();
    let left = rows.journeys.iter().flat_map(|journey| journey.hops.windows(2));
    let left: BTreeMap<(ChannelId, u64), &JourneyHop> =
        left.map(|pair| ((pair[0].channel, pair[0].packet), &pair[1])).collect();
    let all = rows.journeys.iter().flat_map(|journey| &journey.hops);
    let mut ties = 0;
    for hop in all.filter(|hop| hop.waited > Some(0)) {
        let next = left[&(hop.channel, hop.packet)];
        let known = |id| delays(rows, id).unwrap();
        let since = hop.time + known(hop.channel)[1];
        let gone = |id, packet| ended[&(id, packet)] - known(id)[0];
        let last = |id, packet| ended.range((id, 0)..(id, packet)).next_back().map(|it| it.0.1);
        let before = last(next.channel, next.packet);
        let ahead = left.range((hop.channel, 0)..(hop.channel, hop.packet)).next_back();
        let resumed = rows.own(next.channel).take_while(|event| event.at <= next.start);
        let resumed = resumed
            .filter(|event| matches!(event.body, ChannelEvent::Link(LinkEvent::SenderResumed(_))));
        // GO reaches the sender as long after it was seen as its bytes were sent before they are seen.
        let delay = known(next.channel)[0];
        let departed = next.time - delay;
        let released = resumed.last().map(|it| it.time + delay);
        let channel = rows.channel(next.channel);
        let interpretation = ParameterKey::Interpretation.declared(channel).unwrap();
        let obeys = channel.period.time(u64::from(interpretation) + 1);
        // Of those that ended at the same moment, the last one counts.
        let in_the_way = [
            before.map(|it| (gone(next.channel, it), WaitReason::Output(it))),
            released
                .filter(|at| *at <= departed)
                .map(|at| (departed.min(at + obeys), WaitReason::Stop)),
            ahead.map(|((_, it), then)| (gone(then.channel, then.packet), WaitReason::Input(*it))),
        ];
        let in_the_way = in_the_way.into_iter().flatten().filter(|(until, _)| *until > since);
        let in_the_way: Vec<_> = in_the_way.collect();
        let expected = in_the_way.iter().max_by_key(|(until, _)| until);
        // One before the last GO may have come in time, if nothing else was in the way.
        let late = released.filter(|at| *at > departed && departed > since);
        let reason = expected.map(|it| it.1).or(late.map(|_| WaitReason::Stop));
        assert_eq!(hop.waited_for, reason, "{hop:?} {next:?}");
        let last = expected.map(|(until, _)| until);
        ties += usize::from(in_the_way.iter().filter(|it| Some(&it.0) == last).count() > 1);
    }
    ties
}

/// Time from the sender to the tap of a channel, and from there to the receiver.
fn delays(rows: &CaptureRows<'_>, id: ChannelId) -> Option<[Picoseconds; 2]> {
    let channel = rows.channel(id);
    let delay = CharacterPeriod::FULL_RATE.time(ParameterKey::Delay.declared(channel)?.into());
    Some(match TapEnd::of(channel)? {
        TapEnd::Sender => [0, delay],
        TapEnd::Receiver => [delay, 0],
    })
}
