//! Captures of what Myrinet is compared with: nothing is wrong with them. B-1, B-2

use analyzer::finding::Severity;
use laws::network::analyzed::AnalyzedCapture;
use laws::network::run::run;
use simulator::network::VisitOrder;
use simulator::scenario::Scenario;
use simulator::truth::TraceLevel;

/// A chain of three hosts and a switch that stores packets with two more, all of which send to all.
fn scenario(kind: &str) -> Scenario {
    let text = format!(
        "duration_us = 400\n[link]\nkind = '{kind}'\nlength_m = 2\n\
         [switch_defaults]\nforwarding = 'store-and-forward'\n\
         [[chain]]\nhosts = ['h0', 'h1', 'h2']\n[[switch]]\nname = 's0'\n\
         [[host]]\nname = 'h3'\nat = 's0:1'\n[[host]]\nname = 'h4'\nat = 's0:2'\n\
         [[cable]]\nends = ['h2.ports:2', 's0:0']\n\
         [[traffic]]\nto = 'uniform'\npayload = [0, 200]\nevery_us = 20\nlaw = 'poisson'\n\
         [[tap]]\nall = true\n"
    );
    Scenario::read(kind, &text).unwrap()
}

#[test]
fn handshake_cables_are_read_as_what_they_are() {
    for kind in ["handshake", "myrinet"] {
        let outcome = run(&scenario(kind), TraceLevel::Everything, VisitOrder::AsGiven, 1 << 16);
        let set = AnalyzedCapture::of(&outcome.capture).set;
        let wrong = set.found().map(|(kind, ..)| kind.about());
        // Not even a note of the silence between any two characters.
        let notes = kind == "myrinet";
        let wrong: Vec<_> =
            wrong.filter(|about| !notes || about.severity != Severity::Note).collect();
        assert!(wrong.is_empty(), "{kind}: {wrong:#?}");
        let consumed: u64 = outcome.hosts.values().map(|host| host.received).sum();
        assert!(consumed > 60, "{kind}: {consumed}");
    }
}
