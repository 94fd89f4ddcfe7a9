use codec::route::RouteAddressing;
use proptest::prelude::*;

use super::*;

/// Nodes with their ports, and cables with their delays; or the error.
fn read(format: ImportFormat, text: &str) -> String {
    let switch = SwitchParameters::new(8, RouteAddressing::Relative);
    let (nodes, cables) = match import(format, text, switch, LinkParameters::default()) {
        Ok(network) => network,
        Err(ImportError { line, message, expected }) => {
            assert!((1..=text.split('\n').count()).contains(&line));
            return format!("{line}: {message}, {expected}");
        }
    };
    let topology = Topology::new(nodes, cables).unwrap();
    let nodes = topology.nodes().iter().map(|node| format!("{}/{}", node.name, node.kind.ports()));
    let cables = topology.cables().iter().map(|cable| {
        let [a, b] = cable.ends.map(|end| topology.port_name(end));
        format!("{a}-{b}+{}", cable.link.delay.0)
    });
    nodes.chain(cables).collect::<Vec<_>>().join(" ")
}

/// A network, or line and text of an error.
#[test]
fn files_are_networks_or_have_a_faulty_line() {
    let csv = [
        "\u{feff}from,from_port,to,to_port,delay\r\n# a comment\r\nh0,0,s0,3,\r\n\n s0 , 1 ,\"s1\",7,40\nh1,,s1,0\n",
        "",
        "a,0,b,0",
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
        "\u{1b}[2J,0,s0,1",
    ];
    let dot = [
        r#"# made by hand
        strict graph "a net" {
            rankdir = LR; node [shape = box, fontsize=-9.5]
            s0; "h1" [label = "host 1\""]
            h0 -- s0:3 [label = "640 Mb/s", delay = 7] /* to
            the other */ s0:"0":n -- s1:5:sw
            "h1" -- s1:6 // a port by its number
        }
        "#,
        "graph{}",
        "",
        "digraph { a -> b }",
        "graph { a -> b }",
        "graph { a -- b",
        "graph { a [label = <b>] }",
        "graph {\n a -- \"b\\\"",
        "graph { a /*/ b }",
        "graph { subgraph c { a } }",
        "graph { a -- { b c } }",
        "graph { a [label] }",
        "graph {\n a -- b;\n a -- c }",
        "graph { a:1 -- b:x }",
        "graph { a:1 -- b:1 [delay = 0.5] }",
        "graph { \"a b\" }",
        "graph { a } b",
        "graph { a:0 -- s:1 -- b:0 }",
        "graph { ¬ }",
    ];
    let all = [(ImportFormat::Csv, &csv[..]), (ImportFormat::Dot, &dot)];
    let lines = all.iter().flat_map(|(format, texts)| texts.iter().map(|text| read(*format, text)));
    insta::assert_snapshot!(lines.collect::<Vec<_>>().join("\n"), @r#"
    s0/8 s1/8 h0/1 h1/1 h0:0-s0:3+12 s0:1-s1:7+40 h1:0-s1:0+12

    a/1 b/1 a:0-b:0+12
    1: a row of 3 fields, expected `from,from_port,to,to_port` and perhaps `delay`
    2: `x` is no port, expected a number from 0 to 31
    3: invalid name `s 0`, expected 1 to 64 bytes without blanks, `:`, `>` and `#`
    1: `0` is no delay, expected 1 to 1048576 periods
    1: there is no port s0:9 (s0 has 0..8), expected another port, or more `ports` in the scenario
    2: s0:1 has the cable of line 1 already, expected another port
    1: both ends are s0:1, expected another port, or more `ports` in the scenario
    1: the name `all` is reserved, expected another name
    1: `256` is no port, expected a number from 0 to 31
    1: invalid name ``, expected 1 to 64 bytes without blanks, `:`, `>` and `#`
    1: invalid name `\u{1b}[2J`, expected 1 to 64 bytes without blanks, `:`, `>` and `#`
    s0/8 s1/8 h1/1 h0/1 h0:0-s0:3+7 s0:0-s1:5+12 h1:0-s1:6+12

    1: the graph ends too early, expected an undirected `graph`
    1: unexpected `digraph`, expected an undirected `graph`
    1: unexpected `->`, expected a node, an edge or `}`
    1: the graph ends too early, expected a node, an edge or `}`
    1: unexpected `label`, expected `]` or an attribute, like `label = "1"`
    2: a comment or a quoted text without an end, expected `*/` or `"`
    1: a comment or a quoted text without an end, expected `*/` or `"`
    1: unexpected `subgraph`, expected nodes and edges outside subgraphs
    1: unexpected `{`, expected a node, an edge or `}`
    1: unexpected `label`, expected `]` or an attribute, like `label = "1"`
    3: a:0 has the cable of line 2 already, expected another port
    1: `x` is no port, expected a number from 0 to 31
    1: `0.5` is no delay, expected 1 to 1048576 periods
    1: invalid name `a b`, expected 1 to 64 bytes without blanks, `:`, `>` and `#`
    1: unexpected `b`, expected the end of the file
    1: s:1 has the cable of line 1 already, expected another port
    1: unexpected `¬`, expected a node, an edge or `}`
    "#);
}

proptest! {
    #[test]
    fn any_text_is_a_network_or_has_a_fault(
        text in any::<String>(),
        parts in prop::collection::vec(
            prop::sample::select(vec![
                "{", "}", "[", "]", ";", ",", ":", "=", "--", "->", "a", "s0", "1", "-", "\"",
                "\\", "delay", "node", "subgraph", "//", "/*", "\n", "#", "é", "<",
            ]),
            0..40,
        ),
    ) {
        for text in [text, parts.concat(), format!("graph {{ {}", parts.join(" "))] {
            read(ImportFormat::Csv, &text);
            read(ImportFormat::Dot, &text);
        }
    }
}
