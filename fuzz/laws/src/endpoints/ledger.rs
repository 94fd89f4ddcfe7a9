//! What became of every message and every endpoint, from what hosts tell alone.

use std::collections::{BTreeMap, BTreeSet};

use codec::transport::{EndpointId, Nic};
use simulator::endpoint::{EndpointParameters, MessageId, MessagingPlan, Told, Why};

/// A message.
#[derive(Clone, Debug)]
struct Account {
    to: (Nic, EndpointId),
    /// The lives of its destination in which it was written.
    written: Vec<u32>,
    end: End,
}

/// What its sender knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Open,
    Acknowledged,
    Returned(Why),
}

/// A host.
#[derive(Clone, Debug, Default)]
struct Side {
    life: u32,
    /// Messages handed over by each endpoint.
    accepted: BTreeMap<EndpointId, u32>,
    resident: BTreeSet<EndpointId>,
    leaving: BTreeSet<EndpointId>,
    credits: BTreeMap<EndpointId, u16>,
}

/// All of it.
#[derive(Clone, Debug)]
pub(crate) struct Ledger {
    parameters: EndpointParameters,
    accounts: BTreeMap<MessageId, Account>,
    sides: BTreeMap<Nic, Side>,
    /// What hosts told of, each in its place.
    seen: [Option<&'static str>; 20],
}

impl Ledger {
    /// As many endpoints as there are frames are resident from the start.
    pub(crate) fn new(plans: &[MessagingPlan]) -> Self {
        let parameters = plans.first().map(|plan| plan.parameters).unwrap_or_default();
        let side = |plan: &MessagingPlan| {
            let ids = plan.endpoints.iter().map(|endpoint| endpoint.id);
            let resident = ids.take(parameters.frames.into()).collect();
            (plan.nic, Side { resident, ..Side::default() })
        };
        let sides = plans.iter().map(side).collect();
        Self { parameters, accounts: BTreeMap::new(), sides, seen: [None; 20] }
    }

    /// What hosts told of.
    pub(super) fn into_seen(self) -> BTreeSet<&'static str> {
        self.seen.into_iter().flatten().collect()
    }

    fn side(&mut self, nic: Nic) -> &mut Side {
        self.sides.entry(nic).or_default()
    }

    fn account(&mut self, id: MessageId) -> Option<&mut Account> {
        let account = self.accounts.get_mut(&id);
        assert!(account.is_some(), "{id:?}: a message that nobody sent");
        account
    }

    /// A host's control program is about to be loaded again: what is told until it is may be that its
    /// frames are lost.
    pub(super) fn restarts(&mut self, nic: Nic) {
        let side = self.side(nic);
        side.leaving = side.resident.clone();
    }

    /// What a NIC had in its frames may be lost, and its tables are.
    pub(crate) fn forgets(&mut self, nic: Nic) {
        self.restarts(nic);
        self.side(nic).life += 1;
    }

    /// Messages that were handed over.
    pub(crate) fn messages(&self) -> usize {
        self.accounts.len()
    }

    /// Whether nobody waits for a reply. T-9
    pub(crate) fn credits_are_back(&self) -> bool {
        let all = self.parameters.credits;
        self.sides.values().flat_map(|side| side.credits.values()).all(|credits| *credits == all)
    }

    /// It is: all its frames are empty.
    pub(super) fn restarted(&mut self, nic: Nic) {
        let side = self.side(nic);
        side.life += 1;
        side.leaving.clear();
        assert!(side.resident.is_empty(), "all frames are lost: {nic:?} {:?}", side.resident);
    }

    /// A host tells what happened.
    pub(crate) fn tell(&mut self, nic: Nic, told: &Told) {
        let (place, name) = name(told);
        self.seen.get_mut(place).into_iter().for_each(|seen| *seen = Some(name));
        match *told {
            Told::Accepted(id, to) => self.accepted(nic, id, to),
            Told::Written(id, endpoint) => self.written(nic, id, endpoint),
            Told::Acknowledged(id) => {
                let written = self.account(id).is_some_and(|it| !it.written.is_empty());
                assert!(written, "{id:?}: what is acknowledged was written. T-5");
                self.ended(nic, id, End::Acknowledged);
            }
            Told::Returned(id, why) => self.ended(nic, id, End::Returned(why)),
            Told::Lost(id, endpoint) => {
                let here = self
                    .account(id)
                    .is_some_and(|it| it.to == (nic, endpoint) && !it.written.is_empty());
                assert!(here, "{id:?}: what is lost here was here");
            }
            Told::Damaged(id, endpoint) => {
                never(&format!("{id:?} is damaged at {nic:?} {endpoint:?}"));
            }
            Told::Loaded(endpoint) => {
                let frames = usize::from(self.parameters.frames);
                let side = self.side(nic);
                assert!(side.resident.insert(endpoint), "{endpoint:?} is loaded once");
                assert!(side.resident.len() <= frames, "{nic:?} has {frames} frames: {side:?}");
            }
            Told::Leaving(endpoint) => {
                let side = self.side(nic);
                assert!(side.resident.contains(&endpoint), "{endpoint:?} leaves its frame");
                side.leaving.insert(endpoint);
            }
            Told::Unloaded(endpoint) => {
                let side = self.side(nic);
                assert!(side.resident.remove(&endpoint), "{endpoint:?} was in a frame");
                assert!(side.leaving.remove(&endpoint), "{endpoint:?} was to leave. T-13");
            }
            Told::Credits(endpoint, credits) => {
                let all = self.parameters.credits;
                assert!(credits <= all, "{endpoint:?} has {credits} of {all} credits. T-9");
                self.side(nic).credits.insert(endpoint, credits);
            }
            Told::Overrun => never("a packet comes where there is no room"),
            Told::GivenUp(_)
            | Told::Refused(..)
            | Told::Dropped(..)
            | Told::Noticed(..)
            | Told::Malformed(_)
            | _ => {}
        }
    }

    fn accepted(&mut self, nic: Nic, id: MessageId, to: (Nic, EndpointId)) {
        assert_eq!(id.nic, nic, "a message of its own");
        let count = self.side(nic).accepted.entry(id.endpoint).or_default();
        assert_eq!(id.number, *count, "messages are counted: {id:?}");
        *count += 1;
        let account = Account { to, written: Vec::new(), end: End::Open };
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

    fn ended(&mut self, nic: Nic, id: MessageId, end: End) {
        assert_eq!(id.nic, nic, "its sender knows");
        let Some(account) = self.account(id) else { return };
        let before = std::mem::replace(&mut account.end, end);
        assert_eq!(before, End::Open, "{id:?} ends once. T-1: {end:?}");
        if let End::Returned(Why::Refused(reason)) = end {
            assert!(reason.is_final(), "{id:?}: only what is final brings it back. T-6");
        }
    }

    /// Messages that have not ended.
    pub(crate) fn open(&self) -> usize {
        self.accounts.values().filter(|account| account.end == End::Open).count()
    }

    /// All has come to rest: every message has ended, every credit is back. T-1, T-9
    pub(crate) fn settled(&self) {
        let open: Vec<_> =
            self.accounts.iter().filter(|(_, account)| account.end == End::Open).collect();
        assert!(open.is_empty(), "every message ends. T-1: {open:?}");
        for (nic, side) in &self.sides {
            let all = self.parameters.credits;
            let short = side.credits.iter().find(|(_, credits)| **credits != all);
            assert_eq!(short, None, "every credit is back at {nic:?}. T-9");
        }
    }
}

/// Fails.
fn never(what: &str) {
    assert!(what.is_empty(), "{what}");
}

/// What it is: a place of its own, and a name.
const fn name(told: &Told) -> (usize, &'static str) {
    match told {
        Told::Accepted(..) => (0, "accepted"),
        Told::Written(..) => (1, "written"),
        Told::Acknowledged(_) => (2, "acknowledged"),
        Told::Returned(_, why) => match why {
            Why::Refused(_) => (3, "returned as refused"),
            Why::Unreachable => (4, "returned as unreachable"),
            Why::Restarted => (5, "returned after a restart"),
        },
        Told::GivenUp(_) => (6, "given up"),
        Told::Lost(..) => (7, "lost"),
        Told::Damaged(..) => (8, "damaged"),
        Told::Refused(..) => (9, "refused"),
        Told::Dropped(..) => (10, "dropped"),
        Told::Noticed(..) => (11, "noticed"),
        Told::Malformed(_) => (12, "malformed"),
        Told::Overrun => (13, "overrun"),
        Told::Leaving(_) => (14, "leaving"),
        Told::Unloaded(_) => (15, "unloaded"),
        Told::Loaded(_) => (16, "loaded"),
        Told::Credits(..) => (17, "credits"),
        Told::Mapped(_) => (18, "mapped"),
        _ => (19, "something else"),
    }
}
