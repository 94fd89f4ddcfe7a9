//! `myriscope explain`: a rule or a finding, and what it takes to see it.

use analyzer::finding::{self, About, Kind};
use analyzer::rules::{self, KindRow, Rule, RuleRow};
use analyzer::text::explain as text;
use serde::Serialize;

use crate::args::{Explain, Format};
use crate::output::Output;
use crate::report::{Failure, Report};

#[derive(Serialize)]
struct Explained {
    rules: Vec<RuleRow>,
    findings: Vec<KindRow>,
}

enum Asked {
    All,
    Rule(&'static Rule),
    Finding(&'static About),
}

pub(crate) fn run(arguments: &Explain, output: &mut Output) -> Result<Report, Failure> {
    let asked = match &arguments.name {
        None => Asked::All,
        Some(name) => asked(name)?,
    };
    let out = &mut |line| output.line(&line);
    match (&asked, arguments.format) {
        (Asked::All, Format::Text) => text::list(out),
        (Asked::Rule(rule), Format::Text) => text::rule(rule, out),
        (Asked::Finding(about), Format::Text) => text::finding(about, out),
        (_, Format::Json) => output.json(&explained(&asked), "\n"),
        (_, Format::Jsonl) => {
            let Explained { rules, findings } = explained(&asked);
            rules.iter().for_each(|row| output.json(row, "\n"));
            findings.iter().for_each(|row| output.json(row, "\n"));
        }
    }
    Ok(Report::default())
}

fn asked(name: &str) -> Result<Asked, Failure> {
    if let Some(rule) = rules::rule(name) {
        return Ok(Asked::Rule(rule));
    }
    Kind::named(name).map(Asked::Finding).ok_or_else(|| Failure::told(unknown(name)))
}

fn explained(asked: &Asked) -> Explained {
    let (rules, kinds): (Vec<&Rule>, Vec<&About>) = match asked {
        Asked::All => (rules::all().collect(), finding::ALL.iter().collect()),
        Asked::Rule(rule) => (vec![*rule], rule.findings().collect()),
        Asked::Finding(about) => {
            (about.rule.and_then(rules::rule).into_iter().collect(), vec![*about])
        }
    };
    Explained {
        rules: rules.into_iter().map(Rule::row).collect(),
        findings: kinds.into_iter().map(About::row).collect(),
    }
}

/// What is said to a name that nothing has.
fn unknown(name: &str) -> String {
    let names = rules::all().map(|rule| rule.id).chain(finding::ALL.iter().map(|about| about.name));
    let near = |known: &&str| {
        // F3 is meant for F-3.
        let [known, name] = [known, name].map(|it| it.to_lowercase().replace('-', ""));
        // The order of keys is that of likeness, in thousandths, so that it is total.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 1")]
        let likeness = (strsim::jaro_winkler(&known, &name) * 1000.0) as u32;
        likeness
    };
    let hint = names
        .max_by_key(near)
        .filter(|known| near(known) >= LIKE)
        .map_or_else(String::new, |known| format!("; did you mean {known:?}?"));
    format!("{name:?} is no rule and no finding{hint} (explain alone lists them)")
}

/// How like a name must be to one that there is, in thousandths. *Chosen*: a slip or two.
const LIKE: u32 = 800;
