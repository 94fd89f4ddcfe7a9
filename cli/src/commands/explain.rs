//! `myriscope explain`: rules, findings and terms.

mod words;

use analyzer::finding::{self, FindingInfo};
use analyzer::render::StyledLine;
use analyzer::render::explain as text;
use analyzer::rules::{self, FindingInfoRow, Rule, RuleRow};
use codec::words::did_you_mean;
use serde::Serialize;

use self::words::GlossaryTerm;
use crate::args::{ExplainArgs, OutputFormat};
use crate::atomic_file;
use crate::exit::{CliError, CommandResult, RunReport};
use crate::output::StandardOutput;

const WIDTH: usize = 96;

/// Rules, findings and terms, as in `docs/output.md`.
#[derive(Serialize)]
struct ExplainOutput {
    rules: Vec<RuleRow>,
    findings: Vec<FindingInfoRow>,
    terms: Vec<GlossaryTerm>,
}

/// Everything that has the given name.
struct ExplainTopic {
    rule: Option<&'static Rule>,
    finding: Option<&'static FindingInfo>,
    terms: Vec<GlossaryTerm>,
}

pub(crate) fn run(arguments: &ExplainArgs, output: &mut StandardOutput) -> CommandResult {
    let ExplainArgs { name, capture, format } = arguments;
    let topic = name.as_deref().map(find_topic).transpose()?;
    if let (Some(path), Some(topic)) = (capture, &topic) {
        let Some(about) = topic.finding else {
            let text = "only findings have a capture: `myriscope explain crc-bad -o my.pcapng`";
            return Err(CliError::Message(text.to_owned()));
        };
        atomic_file::write_files([(path.as_path(), about.sample)])?;
        return Ok(RunReport::default());
    }
    let width = output.width().map_or(WIDTH, |width| width.clamp(40, WIDTH));
    match (format, topic) {
        (OutputFormat::Text, None) => text::list(width, &mut |line| output.line(&line)),
        (OutputFormat::Text, Some(topic)) => print(&topic, width, &mut |line| output.line(&line)),
        (OutputFormat::Json, topic) => output.json(&explained(topic), "\n"),
        (OutputFormat::Jsonl, topic) => {
            let ExplainOutput { rules, findings, terms } = explained(topic);
            rules.iter().for_each(|row| output.json(row, "\n"));
            findings.iter().for_each(|row| output.json(row, "\n"));
            terms.iter().for_each(|row| output.json(row, "\n"));
        }
    }
    Ok(RunReport::default())
}

fn print(topic: &ExplainTopic, width: usize, out: &mut impl FnMut(StyledLine)) {
    for (place, term) in topic.terms.iter().enumerate() {
        if place > 0 {
            out(StyledLine::default());
        }
        let source = if term.is_of_myrinet { "term of Myrinet" } else { "term of this program" };
        text::term([&term.term, source, &term.meaning], width, out);
    }
    if !topic.terms.is_empty() && (topic.finding.is_some() || topic.rule.is_some()) {
        out(StyledLine::default());
    }
    match (topic.finding, topic.rule) {
        (Some(about), _) => text::finding(about, width, out),
        (None, Some(rule)) => text::rule(rule, width, out),
        (None, None) => {}
    }
}

/// Rule, finding and terms with this name, whatever its case and signs.
fn find_topic(name: &str) -> Result<ExplainTopic, CliError> {
    let requested = normalized(name);
    let topic = ExplainTopic {
        rule: rules::all().find(|rule| normalized(rule.id) == requested),
        finding: finding::ALL.iter().find(|about| normalized(about.name) == requested),
        terms: words::all()
            .filter(|term| term.names().iter().any(|name| normalized(name) == requested))
            .collect(),
    };
    if topic.rule.is_none() && topic.finding.is_none() && topic.terms.is_empty() {
        return Err(CliError::Message(unknown_name(name)));
    }
    Ok(topic)
}

fn explained(topic: Option<ExplainTopic>) -> ExplainOutput {
    let Some(ExplainTopic { rule, finding, terms }) = topic else {
        return ExplainOutput {
            rules: rules::all().map(Rule::row).collect(),
            findings: finding::ALL.iter().map(FindingInfo::row).collect(),
            terms: words::all().collect(),
        };
    };
    let findings = rule.into_iter().flat_map(Rule::findings).chain(finding);
    let findings = findings.map(FindingInfo::row).collect();
    let rule = rule.or_else(|| finding.and_then(|about| about.rule).and_then(rules::rule));
    ExplainOutput { rules: rule.into_iter().map(Rule::row).collect(), findings, terms }
}

/// A name in lower case, letters and digits only: F7 stands for F-7, up-down for up*/down*.
fn normalized(name: &str) -> String {
    name.to_lowercase().chars().filter(|char| char.is_alphanumeric()).collect()
}

/// The message for a name that no rule, finding or term has.
fn unknown_name(name: &str) -> String {
    let rules = rules::all().map(|rule| rule.id.to_owned());
    let findings = finding::ALL.iter().map(|about| about.name.to_owned());
    let terms = words::all().flat_map(|term| term.names());
    let known: Vec<String> = rules.chain(findings).chain(terms).collect();
    let hint = did_you_mean(name, known.iter().map(String::as_str));
    let hint = hint.map_or_else(String::new, |hint| format!("; {hint}"));
    format!("no rule, finding or term {name:?}{hint} (`myriscope explain` lists all)")
}
