//! Conversations of whole networks: the protocol breaks none of its rules, whatever befalls the network, so
//! nothing of that kind is found, however little of it was captured. T-1..T-12

use analyzer::conversation::{ObservationKind, ResendCause, TransportEvent};
use analyzer::options::AnalysisScope;
use analyzer::pipeline::AnalysisEvent;
use laws::network::analyzed::analyzed;
use laws::network::run::RunOutcome;
use simulator::scenario::Scenario;

/// Taps at every link.
pub(crate) const ALL: &str = "[[tap]]\nall = true\n";

/// Three hosts that talk over the protocol, a wrong key among them, and what befalls them; `taps` say what of it is
/// captured.
pub(crate) fn talking(seed: u64, faults: &str, taps: &str) -> Scenario {
    let hosts = (0..3).map(|n| format!("[[host]]\nname = \"h{n}\"\nat = \"s0:{n}\"\n"));
    let hosts: String = hosts.collect();
    let text = format!(
        "seed = {seed}\nduration_us = 6000\n[[switch]]\nname = \"s0\"\nports = 8\n{hosts}\
         [transport]\nscan_us = 100\ntimeout_us = 400\nunreachable_us = 1500\n\
         [[endpoint]]\nname = \"server\"\nhost = \"h0\"\nwake = \"event\"\n\
         [[endpoint]]\nname = \"client\"\nhost = [\"h1\", \"h2\"]\ncount = 4\n\
         [[messages]]\nfrom = \"client\"\nto = \"server\"\nwords = 4\nwindow = 2\n\
         [[messages]]\nfrom = [\"client1\", \"client3\"]\nto = \"server\"\nkind = \"medium\"\n\
         bytes = [64, 1024]\nevery_us = 400\n\
         [[messages]]\nfrom = \"client0\"\nto = \"server\"\nkey = 99\nwords = 2\nevery_us = 900\n{faults}{taps}"
    );
    crate::read(&text)
}

fn observations(seed: u64, faults: &str, taps: &str) -> Vec<ObservationKind> {
    let scenario = talking(seed, faults, taps);
    let outcome = RunOutcome::untold(&scenario);
    let observed = |told| {
        let AnalysisEvent::Conversation(TransportEvent::Observed(it)) = told else { return None };
        Some(it.observed)
    };
    analyzed(&outcome.capture, AnalysisScope::Conversations, observed).0
}

/// Faults that befall these hosts: the name of each kind, and its tables.
pub(crate) fn troubles() -> Vec<(&'static str, String)> {
    let noise = |errors: &str, mean: u64| {
        let ports = ["h1:0", "s0:1"].map(|port| {
            format!(
                "[[fault]]\nat_us = 0\nnoise = \"{port}\"\nmean_characters = {mean}\n\
                 errors = \"{errors}\"\n"
            )
        });
        ports.concat()
    };
    let at = |at: u64, what: &str| format!("[[fault]]\nat_us = {at}\n{what}\n");
    vec![
        ("nothing", String::new()),
        ("cut", at(2000, "cut = \"s0:1\"\nfor_us = 700")),
        ("flips", noise("flip", 3000)),
        ("weakened", noise("weaken", 1500)),
        ("gaps", "[[fault]]\nevery_us = 200\nlose_gap = \"any\"\n".to_owned()),
        ("restart", at(2000, "restart = \"h0\"") + &at(4000, "restart = \"h1\"")),
        ("off", at(2000, "power_off = \"h0\"\nfor_us = 2500")),
    ]
}

/// Captures of all, of one link, and of two links that are recorded now and then.
fn views() -> Vec<String> {
    let one = |port: &str| format!("[[tap]]\nport = \"{port}\"\n");
    let now_and_then = |port: &str, late: u64| -> String {
        (100..5600)
            .step_by(600)
            .map(|at| format!("{}from_us = {}\nto_us = {}\n", one(port), at + late, at + 370))
            .collect()
    };
    vec![
        ALL.to_owned(),
        one("h0:0"),
        one("s0:1"),
        now_and_then("h0:0", 0) + &now_and_then("h2:0", 40),
        now_and_then("s0:1", 0) + &now_and_then("h2:0", 90),
    ]
}

#[test]
fn nothing_that_must_not_be_is_found_where_the_protocol_is_kept() {
    let mut wrong = Vec::new();
    for (name, faults) in troubles() {
        for (view, taps) in views().iter().enumerate() {
            let remarks = observations(11, &faults, taps);
            let broken = remarks.iter().filter(|it| matches!(it, ObservationKind::Broken(_)));
            wrong.extend(broken.map(|it| (name, view, *it)));
            let has_data = remarks.iter().any(|it| matches!(it, ObservationKind::Data(_)));
            assert!(has_data, "{name}, view {view}");
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}

/// A cut that lasts for longer than the timeout loses data and answers, and hurts what was in transit: the scan
/// has no other reason.
#[test]
fn what_a_cut_loses_is_sent_again_for_being_lost() {
    let cut = "[[fault]]\nat_us = 2000\ncut = \"s0:1\"\nfor_us = 700\n";
    let remarks = observations(11, cut, ALL);
    let causes: Vec<ResendCause> = remarks
        .iter()
        .filter_map(|observed| {
            if let ObservationKind::Resent(_, cause) = observed { Some(*cause) } else { None }
        })
        .collect();
    assert!(causes.contains(&LostData), "{causes:?}");
    use ResendCause::{Corrupt, LostAck, LostData, Unanswered};
    let lost = |cause: &ResendCause| [LostData, LostAck, Corrupt, Unanswered].contains(cause);
    assert!(causes.iter().all(lost), "{causes:?}");
}
