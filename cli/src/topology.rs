//! `myriscope topology`: the network that a capture shows.

use analyzer::link::parameters::LinkAssumptions;
use analyzer::options::AnalysisScope;
use std::ops::ControlFlow;

use analyzer::render;
use analyzer::topology::{InconsistencyRow, PassageRow, TopologyLinkRow, TopologyNodeRow};
use serde::Serialize;

use crate::analyze::{analyze, print_unread};
use crate::args::{self, TopologyFormat};
use crate::exit::{CliError, RunReport};
use crate::output::StandardOutput;

#[derive(Serialize)]
struct TopologyOutput<'a> {
    nodes: Vec<TopologyNodeRow<'a>>,
    links: Vec<TopologyLinkRow<'a>>,
    passages: Vec<PassageRow<'a>>,
    remarks: Vec<InconsistencyRow<'a>>,
}

pub(crate) fn run(
    arguments: &args::TopologyArgs,
    output: &mut StandardOutput,
) -> Result<RunReport, CliError> {
    let args::TopologyArgs { file, format } = arguments;
    let mut report = RunReport::of(file);
    let told = &mut |_: &_, _| ControlFlow::Continue(());
    let analysis =
        analyze(file, AnalysisScope::Findings, LinkAssumptions::default(), &mut report, told)?;
    let topology = analysis.topology();
    match format {
        TopologyFormat::Text => {
            print_unread(&analysis, output);
            render::topology(&topology, &mut |line| output.line(&line));
        }
        TopologyFormat::Dot => output.text(&topology.dot()),
        TopologyFormat::Jsonl => topology.rows().for_each(|row| output.json(&row, "\n")),
        TopologyFormat::Json => {
            let whole = TopologyOutput {
                nodes: topology.node_rows().collect(),
                links: topology.link_rows().collect(),
                passages: topology.passage_rows().collect(),
                remarks: topology.remark_rows().collect(),
            };
            output.json(&whole, "\n");
        }
    }
    Ok(report)
}
