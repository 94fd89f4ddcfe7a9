//! Networks as undirected graphs of Graphviz: node and edge statements, without subgraphs.
//!
//! Grammar: <https://graphviz.org/doc/info/lang.html>. A record's first field is the name of a switch,
//! and its fields with an identifier are the ports that edges name.

mod record;
mod token;

use std::collections::BTreeMap;

use self::record::RecordLabel;
use self::token::{DotMark, DotText, DotToken, DotTokens};
use super::{
    BytePosition, ImportProblem, NamedEnd, NamedNetwork, NamedNode, StatedKind, check_name,
    delay_number, port_number,
};

/// Reads a graph.
pub(super) fn read(text: &str) -> Result<NamedNetwork, ImportProblem> {
    let mut reader = GraphReader { tokens: DotTokens::new(text)?, ..GraphReader::default() };
    reader.head()?;
    while reader.statement()? {}
    reader.network()
}

#[derive(Debug, Default)]
struct GraphReader<'a> {
    tokens: DotTokens<'a>,
    nodes: Vec<GraphNode>,
    ids: BTreeMap<String, usize>,
    edges: Vec<GraphEdge>,
    /// Shape of the nodes that follow.
    shape: Option<String>,
}

#[derive(Debug, Default)]
struct GraphNode {
    id: String,
    at: BytePosition,
    label: Option<DotText>,
    shape: Option<String>,
}

#[derive(Debug)]
struct GraphEdge {
    ends: [GraphEnd; 2],
    delay: Option<u64>,
}

#[derive(Clone, Debug)]
struct GraphEnd {
    node: usize,
    port: Option<DotText>,
    at: BytePosition,
}

/// Attributes of a statement that have a meaning here.
#[derive(Debug, Default)]
struct DotAttributes {
    shape: Option<String>,
    label: Option<DotText>,
    delay: Option<DotText>,
}

impl GraphReader<'_> {
    /// Reads up to the opening brace.
    fn head(&mut self) -> Result<(), ImportProblem> {
        self.tokens.accept_word("strict")?;
        if !self.tokens.accept_word("graph")? {
            return Err(self.tokens.unexpected("an undirected `graph`"));
        }
        if let DotToken::Text(_) = self.tokens.peek() {
            self.tokens.text("a name")?;
        }
        self.tokens.expect(DotMark::OpenBrace)
    }

    /// Reads a statement; false at the end of the graph.
    fn statement(&mut self) -> Result<bool, ImportProblem> {
        if self.tokens.accept(DotMark::Semicolon)? {
            return Ok(true);
        }
        if self.tokens.accept(DotMark::CloseBrace)? {
            return match self.tokens.peek() {
                DotToken::End => Ok(false),
                DotToken::Text(_) | DotToken::Mark(_) => {
                    Err(self.tokens.unexpected("the end of the file"))
                }
            };
        }
        for keyword in ["graph", "edge"] {
            if self.tokens.accept_word(keyword)? {
                self.attributes()?;
                return Ok(true);
            }
        }
        if self.tokens.accept_word("node")? {
            let attributes = self.attributes()?;
            self.shape = attributes.shape.or(self.shape.take());
            return Ok(true);
        }
        if self.tokens.is_word("subgraph") {
            return Err(self.tokens.unexpected("nodes and edges outside subgraphs"));
        }
        let id = self.tokens.text("a node, an edge or `}`")?;
        if self.tokens.accept(DotMark::Equals)? {
            self.tokens.text("a value")?;
            return Ok(true);
        }
        self.node_or_edges(id)?;
        Ok(true)
    }

    fn node_or_edges(&mut self, id: DotText) -> Result<(), ImportProblem> {
        let mut ends = vec![self.end(id)?];
        while self.tokens.accept(DotMark::Edge)? {
            let id = self.tokens.text("a node")?;
            ends.push(self.end(id)?);
        }
        let DotAttributes { shape, label, delay } = self.attributes()?;
        if let [only] = ends.as_slice()
            && let Some(node) = self.nodes.get_mut(only.node)
        {
            node.shape = shape.or(node.shape.take());
            node.label = label.or(node.label.take());
            return Ok(());
        }
        let delay = delay.map(|delay| delay_number(&delay.text, delay.at)).transpose()?;
        for (one, other) in ends.iter().zip(ends.iter().skip(1)) {
            self.edges.push(GraphEdge { ends: [one.clone(), other.clone()], delay });
        }
        Ok(())
    }

    /// Reads the port of a node, if there is one; a compass point may follow.
    fn end(&mut self, id: DotText) -> Result<GraphEnd, ImportProblem> {
        let node = self.ids.get(&id.text).copied().unwrap_or_else(|| {
            let node = self.nodes.len();
            let shape = self.shape.clone();
            self.nodes.push(GraphNode { id: id.text.clone(), at: id.at, shape, label: None });
            self.ids.insert(id.text, node);
            node
        });
        let mut port = None;
        if self.tokens.accept(DotMark::Colon)? {
            port = Some(self.tokens.text("a port")?);
            if self.tokens.accept(DotMark::Colon)? {
                self.tokens.text("a compass point")?;
            }
        }
        Ok(GraphEnd { node, port, at: id.at })
    }

    /// Reads any number of lists of attributes.
    fn attributes(&mut self) -> Result<DotAttributes, ImportProblem> {
        let mut attributes = DotAttributes::default();
        while self.tokens.accept(DotMark::OpenBracket)? {
            while !self.tokens.accept(DotMark::CloseBracket)? {
                let name = self.tokens.text("an attribute or `]`")?;
                self.tokens.expect(DotMark::Equals)?;
                let value = self.tokens.text("a value")?;
                match name.text.as_str() {
                    "shape" => attributes.shape = Some(value.text),
                    "label" => attributes.label = Some(value),
                    "delay" => attributes.delay = Some(value),
                    _ => {}
                }
                let _ = self.tokens.accept(DotMark::Comma)?
                    || self.tokens.accept(DotMark::Semicolon)?;
            }
        }
        Ok(attributes)
    }

    /// The network of the graph: names and ports are taken from the labels.
    fn network(self) -> Result<NamedNetwork, ImportProblem> {
        let mut network = NamedNetwork::default();
        let mut names = BTreeMap::new();
        let mut ports = Vec::new();
        for GraphNode { id, at, label, shape } in self.nodes {
            let kind = match shape.as_deref() {
                Some("record" | "Mrecord") => StatedKind::Switch,
                Some("box" | "rect" | "rectangle" | "square") => StatedKind::Host,
                Some(_) | None => StatedKind::Unstated,
            };
            let at = label.as_ref().map_or(at, |label| label.at);
            let record = match &label {
                Some(label) if label.text != "\\N" => RecordLabel::parse(&label.text),
                Some(_) | None => RecordLabel::default(),
            };
            let name = if record.name.is_empty() { id } else { record.name };
            check_name(&name, at)?;
            if names.insert(name.clone(), ()).is_some() {
                let message = format!("`{name}` is the name of two nodes");
                return Err(ImportProblem::new(at, message, "expected another name"));
            }
            ports.push(record.ports);
            network.nodes.push(NamedNode { name, kind });
        }
        for GraphEdge { ends, delay } in self.edges {
            let [a, b] = ends.map(|GraphEnd { node, port, at }| {
                let Some(port) = port else { return Ok(NamedEnd { node, port: None, at }) };
                let field = ports.get(node).and_then(|ports| ports.get(&port.text));
                let text = field.unwrap_or(&port.text);
                Ok(NamedEnd { node, port: Some(port_number(text, port.at)?), at: port.at })
            });
            network.cable([a?, b?], delay)?;
        }
        Ok(network)
    }
}
