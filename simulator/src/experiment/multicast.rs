//! Multicast by the control programs of interfaces (N-6) beside cut-through multicast in a switch (S-9).

use codec::crc::crc8;

use super::measure::{ExperimentPoint, PointMeasurement};
use super::result_table::{MilliValue, PERIODS_PER_US, ResultTable, TableCell, TableColumn, cells};
use super::{Experiment, ExperimentEffort, ExperimentResult, series};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "multicast",
    title: "multicast by interfaces, and by a switch",
    text: "\
One host of a switch of sixteen ports sends a packet to a group of hosts. Either the switch copies it to all
outputs at once (S-9), or interfaces receive it whole and send it on along a tree, in which each has so many
next ones (N-6). The time is from the first byte to the last byte at the last host.",
    points,
    conclude,
};

/// Numbers of next interfaces in a tree; the first is no tree, but the switch, and the last the whole group.
const FANOUTS: [u32; 5] = [0, 1, 2, 4, 15];
/// Time of the packet, behind that of the table.
const START_US: u64 = 10;

/// Sizes of the group, and bytes of payload.
fn cases(effort: ExperimentEffort) -> Vec<(u32, usize)> {
    let payloads: &[usize] = effort.choose(&[64, 1024, 4096], &[1024]);
    let groups: &[u32] = effort.choose(&[1, 2, 4, 8, 15], &[2, 15]);
    payloads.iter().flat_map(|bytes| groups.iter().map(|group| (*group, *bytes))).collect()
}

/// Characters of a packet with its CRC byte.
fn packet(mut bytes: Vec<u8>) -> String {
    bytes.push(crc8(&bytes));
    let text = bytes.iter().map(|byte| format!("{byte:02x} "));
    format!("GAP {}GAP", text.collect::<String>())
}

/// A load of the table's entry for a group, and a packet to it. S-9
fn cut_through(group: u32, payload: usize) -> String {
    let items = (1..=group).flat_map(|port| [port.to_le_bytes()[0], 0]);
    let load = [0xff, 0x7f, 0x60, group.to_le_bytes()[0]].into_iter().chain(items).collect();
    let data = [0xe0, 0].into_iter().chain(std::iter::repeat_n(0x55, payload)).collect();
    let raw = |at, bytes| {
        format!("[[raw]]\nfrom = \"h0\"\nat_us = {at}\nchars = \"{}\"\n", packet(bytes))
    };
    raw(1, load) + &raw(START_US, data)
}

fn tree(group: u32, payload: usize, fanout: u32) -> String {
    let to: Vec<_> = (1..=group).map(|host| format!("\"h{host}\"")).collect();
    format!(
        "[[traffic]]\nfrom = \"h0\"\nto = [{}]\npayload = {payload}\nsaturate = true\npackets = 1\n\
         start_us = {START_US}\nmulticast = {fanout}\n",
        to.join(", ")
    )
}

fn points(effort: ExperimentEffort) -> Vec<ExperimentPoint> {
    const STAR: &str = "[topology]\nkind = \"switch\"\nports = 16\nhosts = 16\n\
                        [switch_defaults]\naddressing = \"absolute\"\nextensions = true\n";
    let times = [0, 2000 * PERIODS_PER_US];
    series::points(&cases(effort), &FANOUTS, |&(group, payload), &fanout| {
        let (how, traffic) = match fanout {
            0 => ("cut-through".to_owned(), cut_through(group, payload)),
            _ => (format!("tree of {fanout}"), tree(group, payload, fanout)),
        };
        let label = format!("{group} receivers, {payload} bytes, {how}");
        ExperimentPoint::packets(label, format!("{STAR}{traffic}"), times)
    })
}

const COLUMNS: [TableColumn; 7] = [
    TableColumn::count("payload", "payload"),
    TableColumn::count("receivers", "receivers"),
    TableColumn::of("cut_through_us", "cut-through", "µs", 2),
    TableColumn::of("chain_us", "chain", "µs", 2),
    TableColumn::of("tree_2_us", "tree of 2", "µs", 2),
    TableColumn::of("tree_4_us", "tree of 4", "µs", 2),
    TableColumn::of("root_us", "root to all", "µs", 2),
];

/// Time to the last receiver, if all have the packet.
fn time(group: u32, reading: &PointMeasurement) -> Option<MilliValue> {
    // The switch has received the packet with its table before.
    let times = reading.received.values().map(|host| (host.packets, host.last));
    let times = times.filter_map(|(packets, last)| {
        Some((packets, last.checked_sub(START_US * PERIODS_PER_US)?))
    });
    let times: Vec<(u64, u64)> = times.collect();
    let is_whole = times.len() == group as usize && times.iter().all(|(packets, _)| *packets == 1);
    let last = times.iter().map(|(_, last)| *last).max().filter(|_| is_whole)?;
    Some(MilliValue::ratio(last.into(), PERIODS_PER_US.into()))
}

fn conclude(effort: ExperimentEffort, readings: &[PointMeasurement]) -> ExperimentResult {
    let rows = cases(effort).into_iter().zip(readings.chunks(FANOUTS.len()));
    let rows = rows.map(|((group, payload), readings)| {
        let mut row = cells![payload as u64, u64::from(group)];
        row.extend(readings.iter().map(|reading| TableCell::from(time(group, reading))));
        row
    });
    let table = ResultTable::new("times", "time to the last receiver", &COLUMNS, rows.collect());
    ExperimentResult { tables: vec![table], notes: NOTES, ..ExperimentResult::default() }
}

const NOTES: &[&str] = &[
    "Through the switch the time hardly grows with the group: its outputs are connected one after the other, 3 periods \
     each, and then the copies leave together.",
    "A tree costs a packet's own time for each copy that an interface sends and for each level.",
    "Cut-through needs a table in every switch and holds all outputs until the slowest is free; trees need neither.",
];

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use super::*;

    /// A tree of one has as many packets one after the other as receivers; copies of a switch leave together.
    /// N-6, S-9
    #[test]
    fn a_switch_takes_one_packet_whatever_the_group_and_a_chain_one_for_each() {
        let points = points(ExperimentEffort::Quick);
        let readings: Vec<_> =
            points.iter().map(|point| point.run(&|_| ControlFlow::Continue(())).unwrap()).collect();
        let times: Vec<Vec<_>> = cases(ExperimentEffort::Quick)
            .into_iter()
            .zip(readings.chunks(5))
            .map(|((group, _), readings)| {
                readings.iter().map(|reading| time(group, reading).unwrap().0).collect()
            })
            .collect();
        let [[two, chain, ..], [fifteen, long, ..]] = [times[0].as_slice(), &times[1]] else {
            panic!()
        };
        // 1024 bytes are 12.8 µs; the outputs are connected one after the other.
        assert!(
            (12_800..14_500).contains(two) && (12_800..18_000).contains(fifteen),
            "{two} {fifteen}"
        );
        assert!((2 * 12_800..2 * 14_500).contains(chain), "{chain}");
        assert!((15 * 12_800..15 * 14_500).contains(long), "{long}");
    }
}
