//! Sound captures of demos without the words that declare their links: nothing is judged by what is
//! only assumed, and the verdicts say what is missing. F-4

use std::fs;
use std::path::Path;

use analyzer::finding::{FindingKind, Severity};
use analyzer::rules::rule;
use laws::network::analyzed::AnalyzedCapture;
use laws::network::undeclared::{StrippedWords, stripped};

#[expect(clippy::disallowed_methods, reason = "the fixtures are files")]
fn demo(name: &str) -> Vec<u8> {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    fs::read(fixtures.join(format!("demo-{name}/capture.pcapng"))).unwrap()
}

/// All words, no parameters but taps, and every second, third, … word.
const WORDS: [StrippedWords; 6] = [
    StrippedWords::Parameters,
    StrippedWords::Everything,
    StrippedWords::Some(0x5555_5555_5555_5555),
    StrippedWords::Some(0x1249_2492_4924_9249),
    StrippedWords::Some(0x0f0f_0f0f_0f0f_0f0f),
    StrippedWords::Some(0x3131_8c8c_6363_1818),
];

#[test]
fn without_declarations_nothing_is_wrong_with_a_sound_capture() {
    for name in ["two-hosts", "contention", "now36", "adversary"] {
        for words in WORDS {
            let set = AnalyzedCapture::of(&stripped(&demo(name), words)).set;
            // The adversary does hold up its sender.
            let wrong = set.found().filter(|(kind, ..)| *kind != FindingKind::SlowHost);
            let wrong: Vec<_> = wrong.filter(|(.., it)| it.severity != Severity::Note).collect();
            assert!(wrong.is_empty(), "{name} without {words:?}: {wrong:#?}");
        }
    }
}

#[test]
fn verdicts_name_what_would_have_to_be_known() {
    let bare = stripped(&demo("contention"), StrippedWords::Parameters);
    let set = AnalyzedCapture::of(&bare).set;
    let reason = |id| rule(id).unwrap().verdict(&set).outcome.reason().unwrap_or_default();
    insta::assert_snapshot!(["F-1", "F-3", "F-4", "F-9"].map(reason).join("\n"), @"
    int not known (--assume int=…, or this word in the capture)
    kg, h, ks, delay, gen not known (--assume kg=…,h=…,ks=…,delay=…,gen=…, or these words in the capture)
    h, ks, delay, gen, int not known (--assume h=…,ks=…,delay=…,gen=…,int=…, or these words in the capture)
    ks, delay, gen not known (--assume ks=…,delay=…,gen=…, or these words in the capture)
    ");
    let declared = AnalyzedCapture::of(&demo("contention")).set;
    for id in ["F-1", "F-3", "F-4", "F-9"] {
        assert_eq!(rule(id).unwrap().verdict(&declared).outcome.name(), "pass", "{id}");
    }
}
