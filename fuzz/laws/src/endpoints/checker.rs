//! Checks the fate of every message and endpoint from the events of hosts alone.

use std::collections::{BTreeMap, BTreeSet};

use codec::transport::{EndpointId, Nic};
use simulator::messaging::{
    EndpointParameters, MessageId, MessagingEvent, MessagingPlan, ReturnCause,
};

#[derive(Clone, Debug)]
struct MessagingRecord {
    to: (Nic, EndpointId),
    /// The lives of its destination in which it was written.
    written: Vec<u32>,
    end: MessagingOutcome,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MessagingOutcome {
    Open,
    Acknowledged,
    Returned(ReturnCause),
}

#[derive(Clone, Debug, Default)]
struct MessagingHost {
    life: u32,
    /// Messages handed over by each endpoint.
    accepted: BTreeMap<EndpointId, u32>,
    resident: BTreeSet<EndpointId>,
    leaving: BTreeSet<EndpointId>,
    credits: BTreeMap<EndpointId, u16>,
}

#[derive(Clone, Debug)]
pub(crate) struct MessagingChecker {
    parameters: EndpointParameters,
    accounts: BTreeMap<MessageId, MessagingRecord>,
    sides: BTreeMap<Nic, MessagingHost>,
    seen: [Option<&'static str>; 20],
}

impl MessagingChecker {
    /// Creates a checker: from the start, as many endpoints as there are frames are resident.
    pub(crate) fn new(plans: &[MessagingPlan]) -> Self {
        let parameters = plans.first().map(|plan| plan.parameters).unwrap_or_default();
        let side = |plan: &MessagingPlan| {
            let ids = plan.endpoints.iter().map(|endpoint| endpoint.id);
            let resident = ids.take(parameters.frames.into()).collect();
            (plan.nic, MessagingHost { resident, ..MessagingHost::default() })
        };
        let sides = plans.iter().map(side).collect();
        Self { parameters, accounts: BTreeMap::new(), sides, seen: [None; 20] }
    }

    pub(super) fn into_seen(self) -> BTreeSet<&'static str> {
        self.seen.into_iter().flatten().collect()
    }

    fn side(&mut self, nic: Nic) -> &mut MessagingHost {
        self.sides.entry(nic).or_default()
    }

    fn account(&mut self, id: MessageId) -> Option<&mut MessagingRecord> {
        let account = self.accounts.get_mut(&id);
        assert!(account.is_some(), "{id:?}: a message that nobody sent");
        account
    }

    /// A host's control program is about to be loaded again: events until then may be that its
    /// frames are lost.
    pub(super) fn restarts(&mut self, nic: Nic) {
        let side = self.side(nic);
        side.leaving = side.resident.clone();
    }

    /// Restarts a NIC: messages in its frames may be lost, and its tables are.
    pub(crate) fn forgets(&mut self, nic: Nic) {
        self.restarts(nic);
        self.side(nic).life += 1;
    }

    pub(crate) fn messages(&self) -> usize {
        self.accounts.len()
    }

    /// Tests whether no endpoint waits for a reply. T-9
    pub(crate) fn credits_are_back(&self) -> bool {
        let all = self.parameters.credits;
        self.sides.values().flat_map(|side| side.credits.values()).all(|credits| *credits == all)
    }

    pub(super) fn restarted(&mut self, nic: Nic) {
        let side = self.side(nic);
        side.life += 1;
        side.leaving.clear();
        assert!(side.resident.is_empty(), "all frames are lost: {nic:?} {:?}", side.resident);
    }

    pub(crate) fn record(&mut self, nic: Nic, told: &MessagingEvent) {
        let (place, name) = name(told);
        self.seen.get_mut(place).into_iter().for_each(|seen| *seen = Some(name));
        match *told {
            MessagingEvent::Accepted(id, to) => self.accepted(nic, id, to),
            MessagingEvent::Written(id, endpoint) => self.written(nic, id, endpoint),
            MessagingEvent::Acknowledged(id) => {
                let written = self.account(id).is_some_and(|it| !it.written.is_empty());
                assert!(written, "{id:?}: what is acknowledged was written. T-5");
                self.ended(nic, id, MessagingOutcome::Acknowledged);
            }
            MessagingEvent::Returned(id, why) => {
                self.ended(nic, id, MessagingOutcome::Returned(why));
            }
            MessagingEvent::Lost(id, endpoint) => {
                let here = self
                    .account(id)
                    .is_some_and(|it| it.to == (nic, endpoint) && !it.written.is_empty());
                assert!(here, "{id:?}: what is lost here was here");
            }
            MessagingEvent::Damaged(id, endpoint) => {
                never(&format!("{id:?} is damaged at {nic:?} {endpoint:?}"));
            }
            MessagingEvent::Loaded(endpoint) => {
                let frames = usize::from(self.parameters.frames);
                let side = self.side(nic);
                assert!(side.resident.insert(endpoint), "{endpoint:?} is loaded once");
                assert!(side.resident.len() <= frames, "{nic:?} has {frames} frames: {side:?}");
            }
            MessagingEvent::Leaving(endpoint) => {
                let side = self.side(nic);
                assert!(side.resident.contains(&endpoint), "{endpoint:?} leaves its frame");
                side.leaving.insert(endpoint);
            }
            MessagingEvent::Unloaded(endpoint) => {
                let side = self.side(nic);
                assert!(side.resident.remove(&endpoint), "{endpoint:?} was in a frame");
                assert!(side.leaving.remove(&endpoint), "{endpoint:?} was to leave. T-13");
            }
            MessagingEvent::Credits(endpoint, credits) => {
                let all = self.parameters.credits;
                assert!(credits <= all, "{endpoint:?} has {credits} of {all} credits. T-9");
                self.side(nic).credits.insert(endpoint, credits);
            }
            MessagingEvent::Overrun => never("a packet comes where there is no room"),
            MessagingEvent::GivenUp(_)
            | MessagingEvent::Refused(..)
            | MessagingEvent::Dropped(..)
            | MessagingEvent::Observed(..)
            | MessagingEvent::Malformed(_)
            | _ => {}
        }
    }

    fn accepted(&mut self, nic: Nic, id: MessageId, to: (Nic, EndpointId)) {
        assert_eq!(id.nic, nic, "a message of its own");
        let count = self.side(nic).accepted.entry(id.endpoint).or_default();
        assert_eq!(id.number, *count, "messages are counted: {id:?}");
        *count += 1;
        let account = MessagingRecord { to, written: Vec::new(), end: MessagingOutcome::Open };
        self.accounts.insert(id, account);
    }

    /// Property 1.
    fn written(&mut self, nic: Nic, id: MessageId, endpoint: EndpointId) {
        let life = self.side(nic).life;
        let Some(account) = self.account(id) else { return };
        assert_eq!(account.to, (nic, endpoint), "{id:?} is written where it belongs");
        assert!(!account.written.contains(&life), "{id:?} is written once. T-1");
        account.written.push(life);
        let side = self.side(nic);
        let resident = side.resident.contains(&endpoint);
        assert!(resident, "{id:?} is written into a frame. T-6");
    }

    fn ended(&mut self, nic: Nic, id: MessageId, end: MessagingOutcome) {
        assert_eq!(id.nic, nic, "its sender knows");
        let Some(account) = self.account(id) else { return };
        let before = std::mem::replace(&mut account.end, end);
        assert_eq!(before, MessagingOutcome::Open, "{id:?} ends once. T-1: {end:?}");
        if let MessagingOutcome::Returned(ReturnCause::Refused(reason)) = end {
            assert!(reason.is_final(), "{id:?}: only what is final brings it back. T-6");
        }
    }

    pub(crate) fn open(&self) -> usize {
        self.accounts.values().filter(|account| account.end == MessagingOutcome::Open).count()
    }

    /// All has come to rest: every message has ended, every credit is back. T-1, T-9
    pub(crate) fn settled(&self) {
        let open: Vec<_> = self
            .accounts
            .iter()
            .filter(|(_, account)| account.end == MessagingOutcome::Open)
            .collect();
        assert!(open.is_empty(), "every message ends. T-1: {open:?}");
        for (nic, side) in &self.sides {
            let all = self.parameters.credits;
            let short = side.credits.iter().find(|(_, credits)| **credits != all);
            assert_eq!(short, None, "every credit is back at {nic:?}. T-9");
        }
    }
}

fn never(what: &str) {
    assert!(what.is_empty(), "{what}");
}

const fn name(told: &MessagingEvent) -> (usize, &'static str) {
    match told {
        MessagingEvent::Accepted(..) => (0, "accepted"),
        MessagingEvent::Written(..) => (1, "written"),
        MessagingEvent::Acknowledged(_) => (2, "acknowledged"),
        MessagingEvent::Returned(_, why) => match why {
            ReturnCause::Refused(_) => (3, "returned as refused"),
            ReturnCause::Unreachable => (4, "returned as unreachable"),
            ReturnCause::Restarted => (5, "returned after a restart"),
        },
        MessagingEvent::GivenUp(_) => (6, "given up"),
        MessagingEvent::Lost(..) => (7, "lost"),
        MessagingEvent::Damaged(..) => (8, "damaged"),
        MessagingEvent::Refused(..) => (9, "refused"),
        MessagingEvent::Dropped(..) => (10, "dropped"),
        MessagingEvent::Observed(..) => (11, "noticed"),
        MessagingEvent::Malformed(_) => (12, "malformed"),
        MessagingEvent::Overrun => (13, "overrun"),
        MessagingEvent::Leaving(_) => (14, "leaving"),
        MessagingEvent::Unloaded(_) => (15, "unloaded"),
        MessagingEvent::Loaded(_) => (16, "loaded"),
        MessagingEvent::Credits(..) => (17, "credits"),
        MessagingEvent::Mapped(_) => (18, "mapped"),
        _ => (19, "something else"),
    }
}
