//! Search for cycles of channels.

use std::collections::{BTreeMap, BTreeSet};

use crate::topology::NodePort;

/// A cycle of the graph that links each channel of a path to the next one.
pub(super) fn find(ways: impl Iterator<Item = Vec<NodePort>>) -> Option<Vec<NodePort>> {
    let mut next: BTreeMap<NodePort, BTreeSet<NodePort>> = BTreeMap::new();
    for way in ways {
        for (one, other) in way.iter().zip(way.iter().skip(1)) {
            next.entry(*one).or_default().insert(*other);
        }
    }
    // Depth first. What has been left again is on no cycle.
    let mut left = BTreeSet::new();
    for start in next.keys() {
        let mut path = vec![(*start, open(&next, *start))];
        let mut on_path = BTreeSet::from([*start]);
        while let Some((port, rest)) = path.last_mut() {
            match rest.next() {
                Some(port) if on_path.contains(port) => {
                    let path = path.iter().map(|(port, _)| *port);
                    return Some(path.skip_while(|one| one != port).collect());
                }
                Some(port) if left.contains(port) => {}
                Some(port) => {
                    on_path.insert(*port);
                    path.push((*port, open(&next, *port)));
                }
                None => {
                    on_path.remove(port);
                    left.insert(*port);
                    path.pop();
                }
            }
        }
    }
    None
}

fn open(
    next: &BTreeMap<NodePort, BTreeSet<NodePort>>,
    port: NodePort,
) -> impl Iterator<Item = &NodePort> {
    next.get(&port).into_iter().flatten()
}
