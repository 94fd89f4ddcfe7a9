//! Findings at the limits of their rules, and their facts: the cases of `limits.txt`.
//!
//! A case names a kind, the channels, if they are others than those of the case before, and their characters. Behind `=`
//! are the findings of the kind: number, channel, first and last character, facts.

use myriscope_analyzer::finding::FactValue;

use super::findings;
use super::table::{WireBuilder, capture};

#[test]
fn findings_begin_and_end_at_the_limits_of_their_rules() {
    let (mut wires, mut wrong) = (Vec::<WireBuilder>::new(), Vec::new());
    for case in include_str!("limits.txt").trim_end().split("\n\n") {
        let mut lines = case.lines().skip_while(|line| line.starts_with('#'));
        let kind = lines.next().unwrap();
        let (told, given): (Vec<_>, Vec<_>) = lines.partition(|line| line.starts_with("  = "));
        let (described, characters): (Vec<&str>, Vec<_>) =
            given.into_iter().partition(|line| line.contains('>'));
        if !described.is_empty() {
            wires =
                described.iter().map(|line| line.split_once(' ').unwrap_or((line, ""))).collect();
        }
        let found = findings(capture(&wires, &characters).as_slice());
        let found = found.set().found().filter(|(it, ..)| it.about().name == kind);
        let found = found.map(|(_, channel, it)| {
            let facts = it.facts.iter().map(|fact| {
                let value = match &fact.value {
                    FactValue::Number(number) => number.to_string(),
                    FactValue::Byte(byte) => format!("{byte:02x}"),
                    FactValue::Word(word) => (*word).to_owned(),
                    FactValue::Address(address) => address.to_string(),
                    FactValue::Channel(channel) => channel.0.to_string(),
                    FactValue::Channels(channels) => format!("{channels:?}"),
                };
                format!(" {}={value}", fact.name)
            });
            let [first, last] = [it.first, it.last].map(|it| it.at.0);
            let facts: String = facts.collect();
            format!("  = {}× on {} {first}..{last}{facts}", it.count, channel.0)
        });
        let found: Vec<String> = found.collect();
        wrong.extend((found != told).then_some((case, found)));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
