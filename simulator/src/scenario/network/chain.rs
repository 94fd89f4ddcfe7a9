//! `[[chain]]`: hosts with two ports, which pass on what is not their own. B-1

use std::ops::Range;

use codec::route::PortId;
use codec::time::Ticks;

use super::{NetworkBuilder, NetworkCompleteness};
use crate::link::LinkParameters;
use crate::scenario::link_keys::LinkKeys;
use crate::scenario::toml_reader::{TomlItem, TomlTable, TomlText};
use crate::topology::{CableSpec, NodeId, NodeKind, NodePort, SwitchParameters};

/// A chain of hosts: the switch of each, and its name. B-1
struct HostChain<'a> {
    span: Range<usize>,
    link: LinkKeys,
    links: Vec<(NodeId, TomlText<'a>)>,
}

impl<'a> NetworkBuilder<'a> {
    /// Reads all chains: first their switches, then their hosts, as in a file without chains.
    pub(super) fn chains(
        &mut self,
        tables: Vec<TomlTable<'a>>,
        switch: SwitchParameters,
        link: LinkParameters,
    ) {
        let chains: Vec<_> =
            tables.into_iter().filter_map(|table| self.chain(table, switch)).collect();
        chains.into_iter().for_each(|chain| self.join(chain, link));
    }

    /// Reads a chain of hosts with two ports each, and makes the switches that pass packets on. B-1
    fn chain(&mut self, mut table: TomlTable<'a>, base: SwitchParameters) -> Option<HostChain<'a>> {
        let hosts = table.needed("hosts");
        let link = LinkKeys::read_both(&mut table);
        let span = table.span();
        table.finish();
        let list = hosts.as_ref().and_then(TomlItem::as_list).unwrap_or_default();
        let names: Vec<_> = list.iter().filter_map(TomlItem::as_text).collect();
        if names.is_empty() || names.len() < list.len() {
            hosts.into_iter().for_each(|hosts| {
                hosts.report("expected names, like `[\"h0\", \"h1\"]`".to_owned());
            });
            self.whole = NetworkCompleteness::Incomplete;
            return None;
        }
        // Its supply is that of the host, which has one. S-10
        let kind = NodeKind::Switch(SwitchParameters { ports: 3, supplies: 1, ..base });
        let links = names.into_iter().map(|name| {
            let switch = self.node(Some((&format!("{}.ports", name.text), &name.span)), kind);
            Some((switch?, name))
        });
        Some(HostChain { span, link, links: links.collect::<Option<_>>()? })
    }

    /// Makes the hosts of a chain, and its cables: switch ports 0 and 2 are those of the chain, 1 is the
    /// host's.
    fn join(&mut self, HostChain { span, link, links }: HostChain<'a>, base: LinkParameters) {
        let port = |node, port| NodePort { node, port: PortId(port) };
        let mut within = Vec::new();
        for (switch, name) in &links {
            let Some(host) = self.node(Some((name.text, &name.span)), NodeKind::Host) else {
                return;
            };
            self.powered.extend([(host, vec![*switch]), (*switch, vec![host])]);
            within.push([port(host, 0), port(*switch, 1)]);
        }
        let switches = links.iter().map(|(switch, _)| *switch);
        let between = switches.clone().zip(switches.skip(1));
        let between = between.map(|(one, next)| [port(one, 2), port(next, 0)]);
        let inner = |link: LinkParameters| link.with_cable(Ticks(1), Some(0));
        for (ends, inside) in
            within.into_iter().map(|ends| (ends, true)).chain(between.map(|ends| (ends, false)))
        {
            self.keys.cables.insert(self.cables.len(), link.clone());
            let link = link.over(self.link_between(ends, base));
            let link = if inside { inner(link) } else { link };
            self.cables.push(CableSpec { ends, link });
            self.places.push((span.clone(), Vec::new()));
        }
    }
}
