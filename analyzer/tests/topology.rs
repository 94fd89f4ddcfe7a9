//! Networks from names and from the ways of packets; every expected picture is worked out by hand.

use std::fmt::Write as _;

use codec::capture::{Channel, ChannelId};
use codec::time::Tick;
use myriscope_analyzer::journey::ImpliedPassage;
use myriscope_analyzer::topology::{CaptureNetwork, InconsistencyKind, Topology, TopologyEvidence};
use myriscope_analyzer::{ChannelEvent, TimedEvent, render};
use serde_json::json;

/// A packet on a channel begins with this byte; packets went from a channel to one by a byte.
type HeadList<'a> = &'a [(u32, u8)];
type PassedPackets<'a> = &'a [(u32, u32, u8, u64)];

/// The network of channels of these names; those at 2n and 2n + 1 are a link where both are named.
fn network(names: &[&str], heads: HeadList<'_>, passed: PassedPackets<'_>) -> Topology {
    let mut nodes = CaptureNetwork::default();
    for (id, name) in (0..).zip(names).filter(|(_, name)| !name.is_empty()) {
        let mut channel = Channel::named(*name);
        channel.tap = channel.name.split_once('>').map(|(from, _)| from.to_owned());
        nodes.declare(ChannelId(id), &std::sync::Arc::new(channel));
    }
    for (id, pair) in (0..).step_by(2).zip(names.chunks(2)) {
        if pair.iter().all(|name| !name.is_empty()) && pair.len() == 2 {
            nodes.join(ChannelId(id), ChannelId(id + 1));
        }
    }
    for (id, first) in heads {
        let (channel, body) = (ChannelId(*id), ChannelEvent::Head(*first));
        nodes.observe(&TimedEvent { time: 0, channel, at: Tick(0), body });
    }
    let implied = passed.iter().map(|(from, to, byte, packets)| ImpliedPassage {
        from: ChannelId(*from),
        to: ChannelId(*to),
        byte: *byte,
        packets: *packets,
    });
    let mut evidence = TopologyEvidence::default();
    evidence.section(nodes, implied);
    evidence.topology()
}

fn picture(topology: &Topology) -> String {
    let mut text = String::new();
    render::topology(topology, &mut |line| writeln!(text, "{line}").unwrap());
    text
}

#[test]
fn names_alone_make_a_network() {
    let names = ["h0:0>s0:3", "s0:3>h0:0", "s0:0>s1:1", "", "s1:2>h1:0", "h1:0>s1:2"];
    insta::assert_snapshot!(picture(&network(&names, &[(1, 5), (2, 0x81)], &[])), @"
    2 switches, 1 host, 1 of unknown kind, 3 links, 1 of which in one direction only

    link          rate        captured      tap
    h0:0 ── s0:3  640 Mb/s    both ways     h0:0
    s0:0 ─► s1:1  640 Mb/s    one way       s0:0
    s1:2 ── h1:0  640 Mb/s    both ways     s1:2

    s0 (switch)
    ├─  0 ╌╌ 1 s1 (switch)
    │  └─  2 ── 0 h1 (host or switch)
    └─  3 ── 0 h0

    ! of the link of s0:0>s1:1 only this channel was captured
    ");
}

#[test]
fn passages_beyond_the_limit_are_counted_if_they_are_known() {
    // 65 536 of channels that are not declared but one, which comes again; and one more.
    let many = (0..=u8::MAX).flat_map(|byte| (3..259).map(move |from| (from, 3, byte, 1)));
    let passed: Vec<_> = [(0, 2, 5, 3)]
        .into_iter()
        .chain(many.skip(1))
        .chain([(0, 2, 5, 4), (0, 2, 6, 1)])
        .collect();
    let passages = network(&["a", "", "b"], &[], &passed).passages;
    let passages: Vec<_> = passages.iter().map(|it| (it.byte, it.packets)).collect();
    assert_eq!((passed.len(), passages), ((1 << 16) + 2, vec![(5, 7)]));
}

#[test]
fn packets_join_channels_without_names() {
    // a⇄b, c⇄d, e⇄f. What comes by a goes on by c with be, what comes by d (the opposite of c, so the
    // port of c) goes on by e with 81: c is two below a, e one above c.
    let names = ["a", "b", "c", "d", "e", "f"];
    let passed = [(0, 2, 0xbe, 7), (3, 4, 0x81, 5)];
    insta::assert_snapshot!(picture(&network(&names, &[(4, 9), (2, 0x83)], &passed)), @"
    2 switches, 1 host, 1 of unknown kind, 3 links

    link            rate        captured      tap
    ?1:?  ── ?2:+2  640 Mb/s    both ways
    ?2:+0 ── ?3:?   640 Mb/s    both ways
    ?2:+1 ── ?4:?   640 Mb/s    both ways

    ?2 (switch, relative, ports counted from the lowest known)
    ├─ +0 ── ? ?3 (switch)
    ├─ +1 ── ? ?4
    └─ +2 ── ? ?1 (host or switch)

    ! a does not say from where to where
    ! b does not say from where to where
    ! c does not say from where to where
    ! d does not say from where to where
    ! e does not say from where to where
    ! f does not say from where to where
    ");
}

#[test]
fn packets_tell_where_names_cannot_be_right() {
    // By their names, the first ends at s0 and the third begins at s1; the fifth shares its port.
    let names = ["h0:0>s0:3", "s0:3>h0:0", "s1:0>h1:0", "h1:0>s1:0", "s0:3>h2:0", "h2:0>s0:3"];
    let found = network(&names, &[], &[(0, 2, 0x85, 40)]);
    let about: Vec<_> = found.remarks.iter().map(|observed| observed.about).collect();
    assert_eq!(about, [InconsistencyKind::SharedPort, InconsistencyKind::Apart]);
    insta::assert_snapshot!(picture(&found), @"
    1 switch, 0 hosts, 4 of unknown kind, 3 links

    link          rate        captured      tap
    h0:0 ── s0:3  640 Mb/s    both ways     h0:0
    s1:0 ── h1:0  640 Mb/s    both ways     s1:0
    s0:3 ── h2:0  640 Mb/s    both ways     s0:3

    s0 (switch)
    ├─  3 ── 0 h0 (host or switch)
    └─  3 ── 0 h2 (host or switch)
    h1 (host or switch)
    └─  0 ── 0 s1 (host or switch)

    ! s0:3 has two links, h0:0>s0:3 and s0:3>h2:0
    ! 40 packets go from h0:0>s0:3 to s1:0>h1:0, so s0 and s1 are one node, or a name is wrong
    ");
}

#[test]
fn a_byte_that_asks_for_another_port_is_told() {
    let names = ["h0:0>s0:3", "s0:3>h0:0", "s0:5>h1:0", "h1:0>s0:5", "s0:6>h2:0", "h2:0>s0:6"];
    // 3 + 2 = 5 and 5 + 1 = 6, but 3 + 2 is not 6.
    let found = network(&names, &[], &[(0, 2, 0x82, 40), (3, 4, 0x81, 9), (0, 4, 0x82, 1)]);
    let remarks: Vec<_> = found.remarks.iter().map(|observed| observed.text.as_str()).collect();
    let text =
        "1 of 50 packets went from h0:0>s0:3 to s0:6>h2:0 by 0x82, which asks for another port";
    assert_eq!(remarks, [text]);
    let switch = found.node_rows().find(|node| node.name == "s0").unwrap();
    assert_eq!(switch.addressing, Some("relative"));
}

#[test]
fn what_is_odd_about_links_by_themselves_is_told() {
    let names = ["h0:0>s0:3", "h1:0>s0:4", "lo", "", "h2:0>s0:5", ""];
    let found = network(&names, &[], &[]);
    let about: Vec<_> =
        found.remarks.iter().map(|it| (json!(it.about), it.channels[0].as_str())).collect();
    let expected =
        [("unlike", "h0:0>s0:3"), ("no-name", "lo"), ("one-way", "lo"), ("one-way", "h2:0>s0:5")];
    assert_eq!(about, expected.map(|(about, channel)| (json!(about), channel)));
}

/// The tokens of a graph, or none if it is no graph as Graphviz reads it: a string ends at the first
/// quotation mark without a backslash before it, and has no line break.
fn tokens(dot: &str) -> Option<Vec<String>> {
    let (mut tokens, mut chars) = (Vec::new(), dot.chars().peekable());
    while let Some(char) = chars.next() {
        match char {
            '"' => {
                let mut text = String::new();
                loop {
                    match chars.next()? {
                        '"' => break,
                        '\\' => text.extend(['\\', chars.next()?]),
                        char if char.is_control() => return None,
                        char => text.push(char),
                    }
                }
                tokens.push(format!("\"{text}\""));
            }
            '{' | '}' | '[' | ']' | ';' | '=' | ',' | ':' => tokens.push(char.to_string()),
            '-' => tokens.push(format!("-{}", chars.next_if_eq(&'-')?)),
            char if char.is_whitespace() => {}
            char if char.is_ascii_alphanumeric() => {
                let mut word = char.to_string();
                while let Some(char) = chars.next_if(char::is_ascii_alphanumeric) {
                    word.push(char);
                }
                tokens.push(word);
            }
            _ => return None,
        }
    }
    Some(tokens)
}

#[test]
fn hostile_names_stay_names() {
    let names = ["\u{1b}[2J\"]; evil -- x\\:0>{a|<b>}&lt;\n:1", "", "\\:0>\u{202e}:1", ""];
    let found = network(&names, &[(0, 0x80), (2, 0x80)], &[]);
    let dot = found.dot();
    let tokens = tokens(&dot).unwrap();
    let edges = tokens.iter().filter(|token| *token == "--").count();
    assert_eq!(edges, 2, "{dot}");
    assert_eq!(tokens.iter().filter(|token| *token == "}").count(), 1);
    // Braces, bars and angles of a name have a backslash before them.
    assert!(dot.contains(r"\{a\|\<b\>\}&amp;lt;"), "{dot}");
    for text in [dot, picture(&found)] {
        assert!(!text.chars().any(|char| char.is_control() && char != '\n'), "{text}");
        assert!(!text.contains('\u{202e}'));
    }
    let json = serde_json::to_string(&found.rows().collect::<Vec<_>>()).unwrap();
    assert!(!json.chars().any(char::is_control));
}

#[test]
fn graphs_have_ports_rates_and_dashes() {
    let names = ["h0:0>s0:3", "s0:3>h0:0", "s0:0>s1:1", ""];
    insta::assert_snapshot!(network(&names, &[(1, 5), (2, 0x81)], &[]).dot(), @r#"
    graph myrinet {
      layout = neato; overlap = false; splines = true;
      node [fontname = "monospace"]; edge [fontname = "monospace", fontsize = 9];
      "h0" [shape = box, label = "h0", pos = "0.88,0.88!"];
      "s0" [shape = Mrecord, label = "{s0|{<0> 0|<3> 3}}", pos = "0.88,2.55!"];
      "s1" [shape = Mrecord, label = "{s1|{<1> 1}}", pos = "0.88,4.22!"];
      "h0" -- "s0":3 [label = "640 Mb/s"];
      "s0":0 -- "s1":1 [label = "640 Mb/s", style = dashed];
    }
    "#);
}
