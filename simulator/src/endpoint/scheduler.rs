//! Which endpoint's message the NIC sends next: weighted round robin, with loitering. T-14

/// The turn among the endpoints. They are told by their place in the host's list.
#[derive(Clone, Debug)]
pub(super) struct Scheduler {
    /// 2 to the k.
    burst: u32,
    loiter: u64,
    current: Option<Visit>,
    /// Whose turn is next.
    next: usize,
}

/// The endpoint that the NIC stays with.
#[derive(Clone, Copy, Debug)]
struct Visit {
    endpoint: usize,
    /// Messages sent since its turn began.
    sent: u32,
    /// Since when it has had nothing to send.
    empty: Option<u64>,
}

/// What an endpoint has to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Supply {
    /// It is not in a frame.
    Away,
    /// Nothing.
    Empty,
    /// Something that cannot go now: no logical channel is free.
    Blocked,
    /// A message.
    Ready,
}

/// What to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    /// Send a message of this endpoint.
    Send(usize),
    /// Loiter: others have something to send, but wait until then. T-14
    Wait(u64),
    /// There is nothing to send.
    Nothing,
}

impl Scheduler {
    /// Bursts of 2 to the `burst_log2`, and so long a wait for more.
    pub(super) const fn new(burst_log2: u8, loiter: u64) -> Self {
        let log2 = if burst_log2 > 31 { 31 } else { burst_log2 as u32 };
        Self { burst: 1 << log2, loiter, current: None, next: 0 }
    }

    /// Whose message is next, among so many endpoints.
    pub(super) fn choose(
        &mut self,
        now: u64,
        count: usize,
        supply: impl Fn(usize) -> Supply,
    ) -> Choice {
        if let Some(visit) = &mut self.current {
            match supply(visit.endpoint) {
                Supply::Ready if visit.sent < self.burst => {
                    visit.empty = None;
                    visit.sent += 1;
                    return Choice::Send(visit.endpoint);
                }
                // T-14: it may have more in a moment; its turn is not over.
                Supply::Empty if visit.sent < self.burst => {
                    let since = *visit.empty.get_or_insert(now);
                    let until = since.saturating_add(self.loiter);
                    if now < until {
                        let current = visit.endpoint;
                        let waits = |other| other != current && supply(other) == Supply::Ready;
                        return if (0..count).any(waits) {
                            Choice::Wait(until)
                        } else {
                            Choice::Nothing
                        };
                    }
                }
                Supply::Ready | Supply::Empty | Supply::Away | Supply::Blocked => {}
            }
        }
        // Round robin; who has nothing is skipped.
        let turns = (self.next..count).chain(0..self.next.min(count));
        let Some(endpoint) = turns.into_iter().find(|turn| supply(*turn) == Supply::Ready) else {
            return Choice::Nothing;
        };
        self.current = Some(Visit { endpoint, sent: 1, empty: None });
        self.next = endpoint + 1;
        Choice::Send(endpoint)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Serves endpoints that have so many messages, a message a period, until nothing is left.
    fn order(scheduler: &mut Scheduler, left: &mut [u32]) -> String {
        let mut order = String::new();
        for now in 0..1_000 {
            let supply = |place: usize| if left[place] > 0 { Supply::Ready } else { Supply::Empty };
            match scheduler.choose(now, left.len(), supply) {
                Choice::Send(endpoint) => {
                    left[endpoint] -= 1;
                    order.push_str(&endpoint.to_string());
                }
                Choice::Wait(_) => order.push('.'),
                Choice::Nothing => break,
            }
        }
        order
    }

    #[test]
    fn each_has_its_burst_in_turn_and_who_has_nothing_is_skipped() {
        let mut scheduler = Scheduler::new(2, 0);
        assert_eq!(order(&mut scheduler, &mut [9, 0, 5, 1]), "000022223000020");
    }

    #[test]
    fn bursts_of_one_are_plain_round_robin() {
        assert_eq!(order(&mut Scheduler::new(0, 100), &mut [2, 3, 1]), "012011");
    }

    #[test]
    fn the_turn_of_one_whose_queue_runs_empty_goes_on_for_a_while() {
        // Two messages are less than a burst of four: it is waited with for five periods.
        assert_eq!(order(&mut Scheduler::new(2, 5), &mut [2, 2]), "00.....11");
    }

    #[test]
    fn what_comes_while_it_loiters_belongs_to_the_burst() {
        let mut scheduler = Scheduler::new(2, 5);
        let of = |ready: &'static [usize]| {
            move |place| if ready.contains(&place) { Supply::Ready } else { Supply::Empty }
        };
        assert_eq!(scheduler.choose(0, 2, of(&[0])), Choice::Send(0));
        assert_eq!(scheduler.choose(1, 2, of(&[])), Choice::Nothing);
        assert_eq!(scheduler.choose(3, 2, of(&[1])), Choice::Wait(6));
        assert_eq!(scheduler.choose(4, 2, of(&[0, 1])), Choice::Send(0));
        assert_eq!(scheduler.choose(5, 2, of(&[0, 1])), Choice::Send(0));
        assert_eq!(scheduler.choose(6, 2, of(&[1])), Choice::Wait(11));
        assert_eq!(scheduler.choose(11, 2, of(&[1])), Choice::Send(1));
    }

    #[test]
    fn one_that_is_blocked_or_away_is_not_waited_for() {
        for supply in [Supply::Blocked, Supply::Away] {
            let mut scheduler = Scheduler::new(6, 1_000);
            assert_eq!(scheduler.choose(0, 2, |_| Supply::Ready), Choice::Send(0));
            let of = |place| if place == 0 { supply } else { Supply::Ready };
            assert_eq!(scheduler.choose(1, 2, of), Choice::Send(1));
        }
    }
}
