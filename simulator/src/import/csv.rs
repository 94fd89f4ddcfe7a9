//! Networks as comma-separated values: a cable a row.

use std::collections::BTreeMap;

use super::{
    BytePosition, ImportProblem, NamedEnd, NamedNetwork, NamedNode, StatedKind, check_name,
    delay_number, port_number,
};

/// Names of the columns, which may stand in the first row.
const COLUMNS: [&str; 5] = ["from", "from_port", "to", "to_port", "delay"];

/// Field with its position.
type CsvField<'a> = (&'a str, BytePosition);

pub(super) fn read(text: &str) -> Result<NamedNetwork, ImportProblem> {
    let mut network = NamedNetwork::default();
    let mut names = BTreeMap::new();
    let mut is_first = true;
    // Spreadsheets put a byte order mark in front.
    let rows = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut at = text.len() - rows.len();
    for line in rows.split_inclusive('\n') {
        let fields = fields(line, at);
        let start = at;
        at += line.len();
        let content = line.trim();
        if content.is_empty() || content.starts_with('#') {
            continue;
        }
        let is_heading =
            is_first && fields.iter().zip(COLUMNS).all(|(field, name)| field.0 == name);
        is_first = false;
        if is_heading {
            continue;
        }
        let (ends, delay) = match fields.as_slice() {
            [a, a_port, b, b_port] => ([[a, a_port], [b, b_port]], None),
            [a, a_port, b, b_port, delay] => ([[a, a_port], [b, b_port]], Some(*delay)),
            _ => {
                let message = format!("a row of {} fields", fields.len());
                let expected = "expected `from,from_port,to,to_port` and perhaps `delay`";
                return Err(ImportProblem::new(start, message, expected));
            }
        };
        let [a, b] = ends.map(|[name, port]| end(&mut network, &mut names, *name, *port));
        let delay = delay.filter(|(text, _)| !text.is_empty());
        let delay = delay.map(|(text, at)| delay_number(text, at)).transpose()?;
        network.cable([a?, b?], delay)?;
    }
    Ok(network)
}

/// Fields of a line without blanks around them or the quotation marks that spreadsheets add; no name
/// contains a comma or a quotation mark.
fn fields(line: &str, start: BytePosition) -> Vec<CsvField<'_>> {
    let places = line.split(',').scan(start, |at, text| {
        let place = *at;
        *at += text.len() + 1;
        Some((text, place))
    });
    places
        .map(|(text, place)| {
            let blanks = text.len() - text.trim_start().len();
            let text = text.trim();
            let quoted = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
            (quoted.unwrap_or(text), place + blanks)
        })
        .collect()
}

fn end(
    network: &mut NamedNetwork,
    names: &mut BTreeMap<String, usize>,
    (name, at): CsvField<'_>,
    (port, port_at): CsvField<'_>,
) -> Result<NamedEnd, ImportProblem> {
    let node = if let Some(node) = names.get(name) {
        *node
    } else {
        check_name(name, at)?;
        let node = network.nodes.len();
        network.nodes.push(NamedNode { name: name.to_owned(), kind: StatedKind::Unstated });
        names.insert(name.to_owned(), node);
        node
    };
    Ok(NamedEnd { node, port: Some(port_number(port, port_at)?), at: port_at })
}
