//! In which ways a scenario is made smaller. A pass has candidates, by number, each smaller than what it is
//! made from; at the end of them there is none.

use std::collections::BTreeSet;

use simulator::interface::{ConsumptionMode, InterfaceParameters};
use simulator::link::LinkParameters;
use simulator::messaging::{MICROSECOND, MessageKind};
use simulator::scenario::Scenario;
use simulator::topology::{NodeId, Topology};
use simulator::traffic::PayloadSize;

use super::nodes::{fewer_cables, fewer_nodes};
use crate::storm::generator::acquainted;

/// The candidate of a number: no more of them, or nothing for this number.
pub(super) type MinimizePass = fn(&Scenario, usize) -> Option<Option<Scenario>>;

/// First what makes all that follow quicker.
pub(super) const PASSES: &[MinimizePass] = &[
    shorter,
    |it, number| fewer(it, number, |it| &mut it.faults),
    |it, number| fewer(it, number, |it| &mut it.streams),
    |it, number| fewer(it, number, |it| &mut it.raw),
    fewer_talks,
    fewer_messages,
    |it, number| fewer(it, number, |it| &mut it.taps),
    fewer_nodes,
    fewer_cables,
    sooner,
    smaller_streams,
    smaller_raw,
    smaller_messages,
    plainer,
];

/// Some of a list left out: halves, quarters and so on down to one, each place in turn.
fn without<T: Clone>(list: &[T], number: usize) -> Option<Vec<T>> {
    let mut number = number;
    let mut stretch = list.len();
    while stretch > 0 {
        let places = list.len().div_ceil(stretch);
        if number < places {
            let (before, rest) = list.split_at(number * stretch);
            return Some([before, rest.get(stretch..).unwrap_or_default()].concat());
        }
        number -= places;
        stretch = if stretch == 1 { 0 } else { stretch.div_ceil(2) };
    }
    None
}

fn with(scenario: &Scenario, change: impl FnOnce(&mut Scenario)) -> Option<Scenario> {
    let mut other = scenario.clone();
    change(&mut other);
    Some(other)
}

/// It ends earlier, without what would come after that.
fn shorter(scenario: &Scenario, number: usize) -> Option<Option<Scenario>> {
    // A half, three quarters, seven eighths and so on, of what there is.
    let cut = scenario.duration >> (number + 1);
    (number < 10 && cut > 0).then(|| {
        with(scenario, |it| {
            it.duration -= cut;
            let end = it.duration;
            it.streams.retain(|stream| stream.start < end);
            it.raw.retain(|raw| raw.at < end);
            it.faults.retain(|fault| fault.at < end);
            it.taps.retain(|tap| tap.from < end);
            it.taps.iter_mut().for_each(|tap| tap.to = tap.to.min(end));
            for plan in it.messaging.values_mut() {
                plan.streams.retain(|stream| stream.start < end);
            }
        })
    })
}

/// Some of a list of the scenario left out.
fn fewer<T: Clone>(
    scenario: &Scenario,
    number: usize,
    list: fn(&mut Scenario) -> &mut Vec<T>,
) -> Option<Option<Scenario>> {
    let mut other = scenario.clone();
    let left = without(list(&mut other), number)?;
    *list(&mut other) = left;
    Some(Some(other))
}

/// All messages of the network, or of a host.
fn fewer_talks(scenario: &Scenario, number: usize) -> Option<Option<Scenario>> {
    if number == 0 {
        let all = with(scenario, |it| it.messaging.clear());
        return Some(all.filter(|_| !scenario.messaging.is_empty()));
    }
    let host = *scenario.messaging.keys().nth(number - 1)?;
    let nic = scenario.messaging.get(&host).map(|plan| plan.nic)?;
    Some(with(scenario, |it| {
        it.messaging.remove(&host);
        it.messaging.values_mut().for_each(|plan| plan.streams.retain(|stream| stream.to.0 != nic));
        acquainted(&mut it.messaging);
    }))
}

/// Streams of messages of all hosts, each by its host and its place there.
fn message_streams(scenario: &Scenario) -> impl Iterator<Item = (NodeId, usize)> {
    let plans = scenario.messaging.iter();
    plans.flat_map(|(host, plan)| (0..plan.streams.len()).map(move |at| (*host, at)))
}

fn fewer_messages(scenario: &Scenario, number: usize) -> Option<Option<Scenario>> {
    let places: Vec<_> = message_streams(scenario).collect();
    without(&places, number).map(|kept| {
        let kept: BTreeSet<_> = kept.into_iter().collect();
        with(scenario, |it| {
            for (host, plan) in &mut it.messaging {
                let mut at = 0..;
                plan.streams.retain(|_| at.next().is_some_and(|at| kept.contains(&(*host, at))));
            }
            acquainted(&mut it.messaging);
        })
    })
}

/// All that begins after a quiet time of half a millisecond begins so much sooner.
fn sooner(scenario: &Scenario, number: usize) -> Option<Option<Scenario>> {
    const QUIET: u64 = 500 * MICROSECOND;
    let said = scenario.messaging.values().flat_map(|plan| &plan.streams);
    let times = scenario.streams.iter().map(|stream| stream.start);
    let times = times.chain(scenario.raw.iter().map(|raw| raw.at));
    let times = times.chain(said.map(|stream| stream.start));
    let times = times.chain(scenario.faults.iter().map(|fault| fault.at));
    let times: BTreeSet<u64> = times.chain([0]).collect();
    let times: Vec<u64> = times.into_iter().collect();
    let mut gaps = times.windows(2).filter_map(|pair| match pair {
        [one, next] if next - one > QUIET => Some((*next, next - one - QUIET / 2)),
        _ => None,
    });
    let (first, by) = gaps.nth(number)?;
    // By an even number of periods, so that fill stays as it is.
    let by = by & !1;
    let earlier = |at: u64| if at >= first { at - by } else { at };
    Some(with(scenario, |it| {
        it.streams.iter_mut().for_each(|stream| stream.start = earlier(stream.start));
        it.raw.iter_mut().for_each(|raw| raw.at = earlier(raw.at));
        for stream in it.messaging.values_mut().flat_map(|plan| &mut plan.streams) {
            stream.start = earlier(stream.start);
        }
        for fault in &mut it.faults {
            let lasts = fault.until.map(|until| until - fault.at);
            fault.at = earlier(fault.at);
            fault.until = lasts.map(|lasts| fault.at + lasts);
        }
        for tap in &mut it.taps {
            (tap.from, tap.to) = (earlier(tap.from), earlier(tap.to));
        }
        it.taps.retain(|tap| tap.from < tap.to);
        it.duration -= by;
    }))
}

/// Fewer packets of a stream, then smaller ones.
fn smaller_streams(scenario: &Scenario, number: usize) -> Option<Option<Scenario>> {
    let at = number / 3;
    let stream = scenario.streams.get(at)?;
    let mut new = stream.clone();
    match number % 3 {
        0 => new.packets = Some(1),
        1 => new.packets = stream.packets.map(|packets| packets / 2).filter(|it| *it > 0),
        _ => new.payload = halved(stream.payload),
    }
    let put = with(scenario, |it| {
        it.streams.iter_mut().skip(at).take(1).for_each(|it| *it = new.clone());
    });
    Some(put.filter(|_| new != *stream && new.packets.is_some()))
}

const fn halved(size: PayloadSize) -> PayloadSize {
    match size {
        PayloadSize::Fixed(size) => PayloadSize::Fixed(size / 2),
        PayloadSize::Uniform(least, most) => PayloadSize::Fixed((least + most) / 4),
        PayloadSize::Bimodal { small, .. } => PayloadSize::Fixed(small),
    }
}

/// A half of what is sent as it stands, or a quarter less of it, and so on.
fn smaller_raw(scenario: &Scenario, number: usize) -> Option<Option<Scenario>> {
    let mut number = number;
    for (at, raw) in scenario.raw.iter().enumerate() {
        let all: Vec<_> = raw.chars.chars().iter().collect();
        let places = (0..).take_while(|place| without(&all, *place).is_some()).count();
        if number < places {
            let chars = without(&all, number)?;
            let less = with(scenario, |it| {
                let raw = it.raw.iter_mut().skip(at).take(1);
                raw.for_each(|raw| raw.chars = chars.iter().copied().collect());
            });
            return Some(less.filter(|_| !chars.is_empty()));
        }
        number -= places;
    }
    None
}

/// Fewer and smaller messages of a stream.
fn smaller_messages(scenario: &Scenario, number: usize) -> Option<Option<Scenario>> {
    let (host, at) = message_streams(scenario).nth(number / 2)?;
    Some(
        with(scenario, |it| {
            let plan = it.messaging.get_mut(&host);
            let stream = plan.into_iter().flat_map(|plan| plan.streams.iter_mut().skip(at).take(1));
            for stream in stream {
                if number.is_multiple_of(2) {
                    stream.count = Some(1);
                } else {
                    (stream.kind, stream.size) = (MessageKind::Short, PayloadSize::Fixed(4));
                }
            }
        })
        .filter(|new| new.messaging != scenario.messaging),
    )
}

fn plainer(scenario: &Scenario, number: usize) -> Option<Option<Scenario>> {
    let hosts = scenario.interfaces.len();
    let new = match number {
        0 => with(scenario, |it| {
            it.interfaces.iter_mut().for_each(|(_, own)| *own = InterfaceParameters::default());
        }),
        1 => with(scenario, |it| it.seed = 0),
        number if number < 2 + hosts => with(scenario, |it| {
            it.interfaces.iter_mut().skip(number - 2).take(1).for_each(|(_, own)| {
                own.consumption = ConsumptionMode::Always;
            });
        }),
        number => {
            let cables = scenario.topology.cables();
            let at = number - 2 - hosts;
            cables.get(at)?;
            let mut cables = cables.to_vec();
            cables.iter_mut().skip(at).take(1).for_each(|it| it.link = LinkParameters::default());
            let nodes = scenario.topology.nodes().to_vec();
            let topology = Topology::new(nodes, cables).ok();
            topology.and_then(|topology| with(scenario, |it| it.topology = topology))
        }
    };
    let is_new = |new: &Scenario| {
        new.seed != scenario.seed
            || new.interfaces != scenario.interfaces
            || new.topology != scenario.topology
    };
    Some(new.filter(is_new))
}
