//! Scheduler of the endpoints: weighted round robin with loitering. T-14

/// Scheduler; endpoints are identified by their index in the host's list.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct EndpointScheduler {
    burst: u32,
    current: Option<SchedulerVisit>,
    /// Endpoint of the next turn.
    next: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct SchedulerVisit {
    endpoint: usize,
    left: u32,
}

/// Messages that an endpoint has to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EndpointSupply {
    Away,
    Empty,
    /// Only messages without a free logical channel.
    Blocked,
    Ready,
}

/// State of an endpoint's packet header template. T-14
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HeaderState {
    /// Built anew: first packet of a turn, or retransmission.
    Built,
    /// Kept from the previous packet of the turn.
    Kept,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SchedulerChoice {
    /// Send a message of this endpoint, which counts as an attempt.
    Send(usize, HeaderState),
    /// Loiter: poll the empty queue at most this many times. Each poll is an attempt, counted with
    /// [`EndpointScheduler::count_looks`].
    Look(u32),
    Nothing,
}

/// Loitering at the empty queue of the current endpoint. T-14
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LoiterState {
    pub(super) left: u32,
    /// Another endpoint has a message to send.
    pub(super) others_wait: bool,
}

impl EndpointScheduler {
    pub(super) const fn new(burst_log2: u8) -> Self {
        let log2 = if burst_log2 > 31 { 31 } else { burst_log2 as u32 };
        Self { burst: 1 << log2, current: None, next: 0 }
    }

    /// Chooses among `count` endpoints. An endpoint with a message waits for at most 2^k attempts
    /// of each other one: a turn ends after them or when it cannot send, and turns rotate.
    pub(super) fn choose(
        &mut self,
        count: usize,
        supply: impl Fn(usize) -> EndpointSupply,
    ) -> SchedulerChoice {
        if let Some(visit) = &mut self.current {
            match supply(visit.endpoint) {
                EndpointSupply::Ready if visit.left > 0 => {
                    visit.left -= 1;
                    return SchedulerChoice::Send(visit.endpoint, HeaderState::Kept);
                }
                // T-14: it may have more in a moment; its turn is not over.
                EndpointSupply::Empty if visit.left > 0 => {
                    return SchedulerChoice::Look(visit.left);
                }
                EndpointSupply::Away => self.current = None,
                EndpointSupply::Ready | EndpointSupply::Empty | EndpointSupply::Blocked => {}
            }
        }
        // Round robin; who has nothing is skipped.
        let turns = (self.next..count).chain(0..self.next.min(count));
        let Some(endpoint) = turns.into_iter().find(|turn| supply(*turn) == EndpointSupply::Ready)
        else {
            return SchedulerChoice::Nothing;
        };
        self.current = Some(SchedulerVisit { endpoint, left: self.burst - 1 });
        self.next = endpoint + 1;
        SchedulerChoice::Send(endpoint, HeaderState::Built)
    }

    /// Counts polls of the current endpoint's empty queue.
    pub(super) fn count_looks(&mut self, looks: u64) {
        if let Some(visit) = &mut self.current {
            visit.left = visit.left.saturating_sub(u32::try_from(looks).unwrap_or(u32::MAX));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::rng::Rng;

    /// Serves endpoints with these numbers of messages until nothing is left, a character per
    /// attempt.
    fn order(scheduler: &mut EndpointScheduler, left: &mut [u32]) -> String {
        let mut order = String::new();
        loop {
            let supply = |place: usize| {
                if left[place] > 0 { EndpointSupply::Ready } else { EndpointSupply::Empty }
            };
            match scheduler.choose(left.len(), supply) {
                SchedulerChoice::Send(endpoint, _) => {
                    left[endpoint] -= 1;
                    order.push_str(&endpoint.to_string());
                }
                SchedulerChoice::Look(_) => {
                    scheduler.count_looks(1);
                    order.push('.');
                }
                SchedulerChoice::Nothing => return order,
            }
        }
    }

    #[test]
    fn each_has_its_attempts_in_turn_and_who_has_nothing_is_skipped() {
        let mut scheduler = EndpointScheduler::new(2);
        assert_eq!(order(&mut scheduler, &mut [9, 0, 5, 1]), "000022223...00002...0...");
    }

    #[test]
    fn bursts_of_one_are_plain_round_robin() {
        assert_eq!(order(&mut EndpointScheduler::new(0), &mut [2, 3, 1]), "012011");
    }

    #[test]
    fn what_comes_while_it_loiters_belongs_to_the_burst_and_has_its_header() {
        let mut scheduler = EndpointScheduler::new(2);
        let of = |ready: &'static [usize]| {
            move |place| {
                if ready.contains(&place) { EndpointSupply::Ready } else { EndpointSupply::Empty }
            }
        };
        assert_eq!(scheduler.choose(2, of(&[0])), SchedulerChoice::Send(0, HeaderState::Built));
        assert_eq!(scheduler.choose(2, of(&[1])), SchedulerChoice::Look(3));
        scheduler.count_looks(1);
        assert_eq!(scheduler.choose(2, of(&[0, 1])), SchedulerChoice::Send(0, HeaderState::Kept));
        assert_eq!(scheduler.choose(2, of(&[1])), SchedulerChoice::Look(1));
        scheduler.count_looks(9);
        assert_eq!(scheduler.choose(2, of(&[0, 1])), SchedulerChoice::Send(1, HeaderState::Built));
    }

    #[test]
    fn one_that_is_blocked_or_away_is_not_waited_for() {
        for (supply, state) in [
            (EndpointSupply::Blocked, HeaderState::Kept),
            (EndpointSupply::Away, HeaderState::Built),
        ] {
            let mut scheduler = EndpointScheduler::new(6);
            assert_eq!(
                scheduler.choose(2, |_| EndpointSupply::Ready),
                SchedulerChoice::Send(0, HeaderState::Built)
            );
            // If nobody else has anything, the NIC is still there when it can go on.
            assert_eq!(scheduler.choose(1, |_| supply), SchedulerChoice::Nothing);
            assert_eq!(
                scheduler.choose(1, |_| EndpointSupply::Ready),
                SchedulerChoice::Send(0, state)
            );
            let of = |place| if place == 0 { supply } else { EndpointSupply::Ready };
            assert_eq!(scheduler.choose(2, of), SchedulerChoice::Send(1, HeaderState::Built));
        }
    }

    /// All states of `count` endpoints of which the first has a message.
    fn supplies(count: usize) -> Vec<Vec<EndpointSupply>> {
        let all = [
            EndpointSupply::Away,
            EndpointSupply::Empty,
            EndpointSupply::Blocked,
            EndpointSupply::Ready,
        ];
        (1..count).fold(vec![vec![EndpointSupply::Ready]], |lists, _| {
            let longer = |list: &Vec<EndpointSupply>| {
                let list = list.clone();
                all.map(|supply| [list.as_slice(), &[supply]].concat())
            };
            lists.iter().flat_map(longer).collect()
        })
    }

    /// The law of T-14 in every reachable state: an endpoint with a message waits at most
    /// (endpoints - 1) · 2^k attempts. The bound is reached.
    #[test]
    fn who_has_a_message_waits_for_the_attempts_of_each_other_one_at_most() {
        for (count, burst_log2) in [(1, 3), (2, 0), (2, 3), (3, 0), (3, 1), (3, 2), (4, 1)] {
            let supplies = supplies(count);
            // Where the first stands, the others come from any state; the waits start in all of them.
            let (mut seen, mut longest) = (BTreeSet::new(), 0);
            let mut open = vec![(EndpointScheduler::new(burst_log2), 0)];
            while let Some((scheduler, waited)) = open.pop() {
                if !seen.insert((scheduler.clone(), waited)) {
                    continue;
                }
                longest = longest.max(waited);
                assert!(waited <= (count - 1) << burst_log2, "{count} {burst_log2} {scheduler:?}");
                for supply in &supplies {
                    let mut next = scheduler.clone();
                    match next.choose(count, |place| supply[place]) {
                        SchedulerChoice::Send(0, _) => open.push((next, 0)),
                        SchedulerChoice::Send(..) => open.push((next, waited + 1)),
                        SchedulerChoice::Look(_) => {
                            next.count_looks(1);
                            open.push((next, waited + 1));
                        }
                        SchedulerChoice::Nothing => panic!("the first has a message"),
                    }
                }
                // What the others do while the first has none.
                for supply in &supplies {
                    let mut next = scheduler.clone();
                    let empty =
                        |place| if place == 0 { EndpointSupply::Empty } else { supply[place] };
                    if let SchedulerChoice::Look(_) = next.choose(count, empty) {
                        next.count_looks(1);
                    }
                    open.push((next, 0));
                }
            }
            assert_eq!(longest, (count - 1) << burst_log2, "{count} {burst_log2}");
        }
    }

    #[test]
    fn the_law_holds_for_many_endpoints_with_random_supplies() {
        let mut rng = Rng::new(14, 0);
        for _ in 0..200 {
            let (count, burst_log2) = (1 + rng.below(12), rng.below(7));
            let mut scheduler = EndpointScheduler::new(u8::try_from(burst_log2).unwrap());
            let mut waited = vec![0; usize::try_from(count).unwrap()];
            for _ in 0..2_000 {
                let supply: Vec<_> = waited
                    .iter()
                    .map(|_| match rng.below(8) {
                        0 => EndpointSupply::Away,
                        1 => EndpointSupply::Blocked,
                        2 | 3 => EndpointSupply::Empty,
                        _ => EndpointSupply::Ready,
                    })
                    .collect();
                let (served, attempts) = match scheduler.choose(supply.len(), |at| supply[at]) {
                    SchedulerChoice::Send(endpoint, _) => (Some(endpoint), 1),
                    SchedulerChoice::Look(left) => {
                        let looks = 1 + rng.below(left.into());
                        scheduler.count_looks(looks);
                        (None, looks)
                    }
                    SchedulerChoice::Nothing => (None, 0),
                };
                for (at, waited) in waited.iter_mut().enumerate() {
                    let waits = supply[at] == EndpointSupply::Ready && served != Some(at);
                    *waited = if waits { *waited + attempts } else { 0 };
                    assert!(*waited <= (count - 1) << burst_log2, "{count} {burst_log2}");
                }
            }
        }
    }
}
