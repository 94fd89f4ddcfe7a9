//! `myriscope explain`: text, evidence and limits of a rule or a finding.

use analyzer::finding::{self, FindingInfo, FindingKind};
use analyzer::render::explain as text;
use analyzer::rules::{self, FindingInfoRow, Rule, RuleRow};
use serde::Serialize;

use crate::args::{ExplainArgs, OutputFormat};
use crate::exit::{CliError, CommandResult, RunReport};
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

pub(crate) fn run(arguments: &ExplainArgs, output: &mut StandardOutput) -> CommandResult {
    let topic = match &arguments.name {
        None => ExplainTopic::All,
        Some(name) => find_topic(name)?,
    };
    let out = &mut |line| output.line(&line);
    match (&topic, arguments.format) {
        (ExplainTopic::All, OutputFormat::Text) => text::list(out),
        (ExplainTopic::Rule(rule), OutputFormat::Text) => text::rule(rule, out),
        (ExplainTopic::Finding(about), OutputFormat::Text) => text::finding(about, out),
        (_, OutputFormat::Json) => output.json(&explained(&topic), "\n"),
        (_, OutputFormat::Jsonl) => {
            let ExplainOutput { rules, findings } = explained(&topic);
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
        .ok_or_else(|| CliError::Message(unknown_name(name)))
}

fn explained(topic: &ExplainTopic) -> ExplainOutput {
    let (rules, kinds): (Vec<&Rule>, Vec<&FindingInfo>) = match topic {
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

/// The message for a name that no rule and no finding has.
fn unknown_name(name: &str) -> String {
    let names = rules::all().map(|rule| rule.id).chain(finding::ALL.iter().map(|about| about.name));
    let near = |known: &&str| {
        // F3 stands for F-3.
        let [known, name] = [known, name].map(|it| it.to_lowercase().replace('-', ""));
        // In thousandths, because integers have a total order.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 1")]
        let similarity = (strsim::jaro_winkler(&known, &name) * 1000.0) as u32;
        similarity
    };
    let hint = names
        .max_by_key(near)
        .filter(|known| near(known) >= SIMILAR)
        .map_or_else(String::new, |known| format!("; did you mean {known:?}?"));
    format!("no rule or finding {name:?}{hint} (`myriscope explain` lists all)")
}

/// Similarity of a suggested name, in thousandths. *Chosen*: one or two typing errors.
const SIMILAR: u32 = 800;
