use codec::route::RouteAddressing;
use proptest::prelude::*;

use super::*;

const SWITCH: SwitchParameters = SwitchParameters::new(8, RouteAddressing::Relative);

fn read(format: ImportFormat, text: &str) -> Result<Topology, ImportError> {
    let (nodes, cables) = import(format, text, SWITCH, LinkParameters::default())?;
    Ok(Topology::new(nodes, cables).unwrap())
}

/// Nodes with their ports, and cables with their delays.
fn shown(format: ImportFormat, text: &str) -> String {
    let topology = read(format, text).unwrap_or_else(|error| panic!("{error}"));
    let nodes = topology.nodes().iter().map(|node| format!("{}/{}", node.name, node.kind.ports()));
    let cables = topology.cables().iter().map(|cable| {
        let [a, b] = cable.ends.map(|end| topology.port_name(end));
        format!("{a}-{b}+{}", cable.link.delay.0)
    });
    nodes.chain(cables).collect::<Vec<_>>().join(" ")
}

#[test]
fn csv_rows_are_cables() {
    let text = "\u{feff}from,from_port,to,to_port,delay\r\n# a comment\r\nh0,0,s0,3,\r\n\n s0 , 1 ,\"s1\",7,40\nh1,0,s1,0\n";
    assert_eq!(
        shown(ImportFormat::Csv, text),
        "s0/8 s1/8 h0/1 h1/1 h0:0-s0:3+12 s0:1-s1:7+40 h1:0-s1:0+12"
    );
    assert_eq!(shown(ImportFormat::Csv, ""), "");
    assert_eq!(shown(ImportFormat::Csv, "a,0,b,0"), "a/1 b/1 a:0-b:0+12");
}

#[test]
fn dot_edges_are_cables() {
    let text = r#"# made by hand
        strict Graph "a net" {
            rankdir = LR; node [shape = box, fontsize=9]
            h0; "h 1" [label = h1]
            node [shape = ellipse]
            n2 [shape = Mrecord, label = "{s0|{<p0> 0|<p1> 3}}"];
            n3 [shape = record; label = "<x> 5 | a\&amp;b"]
            h0 -- n2:p1 [label = "640 Mb/s", delay = 7] /* to
            the other */ n2:p0:n -- n3:x:sw
            "h 1" -- n3:6 // a port by its number
        }
    "#;
    assert_eq!(
        shown(ImportFormat::Dot, text),
        "s0/8 a&b/8 h0/1 h1/1 h0:0-s0:3+7 s0:0-a&b:5+12 h1:0-a&b:6+12"
    );
}

/// Errors with line and column.
#[test]
fn faults_have_a_line_and_a_column() {
    let csv = [
        "h0,0,s0",
        "h0,0,s0,1\nh0,x,s0,2",
        "h0,0,s0,1\n\n  h1,0, s 0,2",
        "h0,0,s0,1,0",
        "h0,0,s0,9\n",
        "h0,0,s0,1\nh1,0,s0,1",
        "s0,1,s0,1",
        "all,0,s0,1",
        "h0,0,s0,256",
        ",,,",
    ];
    let dot = [
        "",
        "digraph { a -> b }",
        "graph { a -> b }",
        "graph { a -- b",
        "graph { a [label = <b>] }",
        "graph {\n a -- \"b",
        "graph { a /* b }",
        "graph { subgraph c { a } }",
        "graph { a -- { b c } }",
        "graph { a [label] }",
        "graph { a:1 -- b:1; a -- c }",
        "graph { a:1 -- b:x }",
        "graph { a:1 -- b:1 [delay = 0.5] }",
        "graph { a [shape = box]; a:1 -- b }",
        "graph { a [label = x]; b [label = x] }",
        "graph { \"a b\" }",
        "graph { a } b",
        "graph { a:0 -- s:1 -- b:0 }",
        "graph { ¬ }",
    ];
    let faults = |format, texts: &[&str]| -> String {
        texts.iter().map(|text| read(format, text).unwrap_err().to_string() + "\n").collect()
    };
    insta::assert_snapshot!(faults(ImportFormat::Csv, &csv), @"
    1:1: a row of 3 fields, expected `from,from_port,to,to_port` and perhaps `delay`
    2:4: `x` is no port, expected a number from 0
    3:9: invalid name `s 0`, expected 1 to 64 bytes without blanks, `:`, `>` and `#`
    1:11: `0` is no delay, expected 1 to 1048576 periods
    1:9: switch s0 has no port 9, expected at most 7, or more `ports` in the scenario
    2:9: port s0:1 is used twice, expected another port
    1:9: port s0:1 is used twice, expected another port
    1:1: invalid name `all`, expected a name that is not reserved
    1:9: `256` is no port, expected a number from 0
    1:1: invalid name ``, expected 1 to 64 bytes without blanks, `:`, `>` and `#`
    ");
    insta::assert_snapshot!(faults(ImportFormat::Dot, &dot), @r#"
    1:1: the graph ends too early, expected an undirected `graph`
    1:1: unexpected `digraph`, expected an undirected `graph`
    1:11: unexpected `->`, expected `--`: links have no direction
    1:15: the graph ends too early, expected a node, an edge or `}`
    1:20: unexpected `<`, expected a text in quotation marks: HTML is not supported
    2:7: a quotation mark without its pair, expected `"`
    1:11: a comment without an end, expected `*/`
    1:9: unexpected `subgraph`, expected nodes and edges outside subgraphs
    1:14: unexpected `{`, expected a node
    1:17: unexpected `]`, expected `=`
    1:21: no port of switch a is given, expected a:PORT
    1:18: `x` is no port, expected a number from 0
    1:29: `0.5` is no delay, expected 1 to 1048576 periods
    1:28: host a has no port 1, expected port 0
    1:35: `x` is the name of two nodes, expected another name
    1:9: invalid name `a b`, expected 1 to 64 bytes without blanks, `:`, `>` and `#`
    1:13: unexpected `b`, expected the end of the file
    1:18: port s:1 is used twice, expected another port
    1:9: unexpected `¬`, expected a name, a number or a text in quotation marks
    "#);
}

proptest! {
    #[test]
    fn any_text_is_a_network_or_has_a_fault(text in any::<String>()) {
        for format in [ImportFormat::Csv, ImportFormat::Dot] {
            let _ = read(format, &text);
        }
    }

    #[test]
    fn graphs_of_any_tokens_are_read_or_have_a_fault(
        parts in prop::collection::vec(
            prop::sample::select(vec![
                "graph", "{", "}", "[", "]", ";", ",", ":", "=", "--", "->", "a", "s0", "1", "-", "\"",
                "\\", "label", "shape", "record", "\"{a|<p> 1}\"", "node", "subgraph", "//", "/*", "\n", "#", "é", "<",
            ]),
            0..40,
        ),
    ) {
        let text = format!("graph {{ {}", parts.join(" "));
        if let Err(error) = read(ImportFormat::Dot, &text) {
            let line = text.split('\n').nth(error.line - 1);
            prop_assert!(line.is_some_and(|line| error.column <= line.chars().count() + 1));
        }
        let _ = read(ImportFormat::Csv, &parts.join(","));
    }
}
