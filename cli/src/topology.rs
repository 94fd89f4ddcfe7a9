//! `myriscope topology`: the network that a capture shows.

use std::ops::ControlFlow;

use analyzer::analysis::Wanted;
use analyzer::link::slack::Assumptions;
use analyzer::text;
use analyzer::topology::{LinkRow, NodeRow, PassageRow, RemarkRow};
use serde::Serialize;

use crate::analysing::{analyse, tell_unread};
use crate::args::{self, Drawing};
use crate::output::Output;
use crate::report::{Failure, Report};

#[derive(Serialize)]
struct Whole<'a> {
    nodes: Vec<NodeRow<'a>>,
    links: Vec<LinkRow<'a>>,
    passages: Vec<PassageRow<'a>>,
    remarks: Vec<RemarkRow<'a>>,
}

pub(crate) fn run(arguments: &args::Topology, output: &mut Output) -> Result<Report, Failure> {
    let args::Topology { file, format } = arguments;
    let mut report = Report::of(file);
    let told = &mut |_: &_, _| ControlFlow::Continue(());
    let analysis = analyse(file, Wanted::Findings, Assumptions::default(), &mut report, told)?;
    let topology = analysis.topology();
    match format {
        Drawing::Text => {
            tell_unread(&analysis, output);
            text::topology(&topology, &mut |line| output.line(&line));
        }
        Drawing::Dot => output.text(&topology.dot()),
        Drawing::Jsonl => topology.rows().for_each(|row| output.json(&row, "\n")),
        Drawing::Json => {
            let whole = Whole {
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
