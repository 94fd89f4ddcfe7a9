//! `myriscope topology`: nodes, ports and links of the captured network.

use analyzer::finding_row::finding_rows;
use analyzer::link::parameters::LinkAssumptions;
use analyzer::options::AnalysisScope;
use analyzer::render::{self, TimeUnit};

use crate::analyze::{analyze_all, print_unread};
use crate::args::{self, TopologyFormat};
use crate::exit::{CliError, CommandResult, RunReport};
use crate::output::StandardOutput;
use crate::report::{self, SelectedFinding};
use crate::rows::ValueSeparator;

pub(crate) fn run(arguments: &args::TopologyArgs, output: &mut StandardOutput) -> CommandResult {
    let args::TopologyArgs { files, format } = arguments;
    let mut report = RunReport::of(&files.file);
    let scope = match format {
        TopologyFormat::Svg => AnalysisScope::Pictures,
        TopologyFormat::Text
        | TopologyFormat::Json
        | TopologyFormat::Jsonl
        | TopologyFormat::Dot
        | TopologyFormat::Csv => AnalysisScope::Findings,
    };
    let assumptions = LinkAssumptions::default();
    let analysis = analyze_all(files.input(), scope, assumptions, &mut report)?;
    let topology = analysis.topology();
    match format {
        TopologyFormat::Text => {
            print_unread(&analysis, TimeUnit::default(), output);
            render::topology(&topology, &mut |line| output.fitted(line));
        }
        TopologyFormat::Dot => output.text(&topology.dot()),
        TopologyFormat::Svg => {
            let (capture, set) = (files.argument(), analysis.findings());
            let known = |id| analysis.channel(id);
            let findings = finding_rows(set.set(), &known, capture).map(SelectedFinding::from);
            let svg = report::network_file(&analysis, &findings.collect::<Vec<_>>(), capture);
            output.text(&svg.map_err(|error| CliError::reading(&files.file, &error))?);
        }
        TopologyFormat::Jsonl => topology.rows().for_each(|row| output.json(&row, "\n")),
        TopologyFormat::Csv => {
            let comma = ValueSeparator::Comma;
            output.text(&comma.line(["from", "from_port", "to", "to_port"]));
            for link in &topology.links {
                let ends = link.ends.iter().filter_map(|end| {
                    Some([topology.nodes.get(end.node)?.name.clone(), end.port.to_string()])
                });
                output.text(&comma.line(ends.flatten()));
            }
        }
        TopologyFormat::Json => output.json(&topology, "\n"),
    }
    Ok(report)
}
