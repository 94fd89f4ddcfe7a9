//! `myriscope explain`: a rule or a finding, and what it takes to see it.

use analyzer::finding::{self, FindingInfo, FindingKind};
use analyzer::render::explain as text;
use analyzer::rules::{self, FindingInfoRow, Rule, RuleRow};
use serde::Serialize;

use crate::args::{ExplainArgs, OutputFormat};
use crate::exit::{CliError, RunReport};
use crate::output::StandardOutput;

#[derive(Serialize)]
struct ExplainOutput {
    rules: Vec<RuleRow>,
    findings: Vec<FindingInfoRow>,
}

enum ExplainTopic {
    All,
    Rule(&'static Rule),
    Finding(&'static FindingInfo),
}

pub(crate) fn run(
    arguments: &ExplainArgs,
    output: &mut StandardOutput,
) -> Result<RunReport, CliError> {
    let asked = match &arguments.name {
        None => ExplainTopic::All,
        Some(name) => find_topic(name)?,
    };
    let out = &mut |line| output.line(&line);
    match (&asked, arguments.format) {
        (ExplainTopic::All, OutputFormat::Text) => text::list(out),
        (ExplainTopic::Rule(rule), OutputFormat::Text) => text::rule(rule, out),
        (ExplainTopic::Finding(about), OutputFormat::Text) => text::finding(about, out),
        (_, OutputFormat::Json) => output.json(&explained(&asked), "\n"),
        (_, OutputFormat::Jsonl) => {
            let ExplainOutput { rules, findings } = explained(&asked);
            rules.iter().for_each(|row| output.json(row, "\n"));
            findings.iter().for_each(|row| output.json(row, "\n"));
        }
    }
    Ok(RunReport::default())
}

fn find_topic(name: &str) -> Result<ExplainTopic, CliError> {
    if let Some(rule) = rules::rule(name) {
        return Ok(ExplainTopic::Rule(rule));
    }
    FindingKind::named(name)
        .map(ExplainTopic::Finding)
        .ok_or_else(|| CliError::message(unknown_name(name)))
}

fn explained(asked: &ExplainTopic) -> ExplainOutput {
    let (rules, kinds): (Vec<&Rule>, Vec<&FindingInfo>) = match asked {
        ExplainTopic::All => (rules::all().collect(), finding::ALL.iter().collect()),
        ExplainTopic::Rule(rule) => (vec![*rule], rule.findings().collect()),
        ExplainTopic::Finding(about) => {
            (about.rule.and_then(rules::rule).into_iter().collect(), vec![*about])
        }
    };
    ExplainOutput {
        rules: rules.into_iter().map(Rule::row).collect(),
        findings: kinds.into_iter().map(FindingInfo::row).collect(),
    }
}

/// What is said to a name that nothing has.
fn unknown_name(name: &str) -> String {
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
