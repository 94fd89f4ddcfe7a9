//! `[costs]`: durations of the stages of a message's path.

use super::keys::{self, FieldKey, IntRange, KeyList, TimeRange, WordList, key};
use super::limits::{DURATION_MAX, PAGE_MAX, SEND_BUFFERS_MAX};
use super::toml_reader::{TomlItem, TomlTable};
use crate::messaging::{BusMode, MessageCosts as Costs, TransferMode};

const PRESETS: [(&str, Costs); 3] =
    [("am-ii", Costs::AM_II), ("gam", Costs::GAM), ("nothing", Costs::NOTHING)];

const TRANSFERS: [(&str, TransferMode); 2] =
    [("store-and-forward", TransferMode::StoreAndForward), ("pipelined", TransferMode::Pipelined)];

const BUS_MODES: [(&str, BusMode); 2] =
    [("streaming", BusMode::Streaming), ("consistent", BusMode::Consistent)];

const TIME: TimeRange = TimeRange(0..=DURATION_MAX);

pub(super) const COSTS: &KeyList<Costs> = &[
    key!(Costs, "host_send", TIME, host_send),
    key!(Costs, "host_receive", TIME, host_receive),
    key!(Costs, "host_poll", TIME, host_poll),
    key!(Costs, "host_wake", TIME, host_wake),
    key!(Costs, "host_switch", TIME, host_switch),
    key!(Costs, "host_quantum", TIME, host_quantum),
    key!(Costs, "host_copy", TIME, host_copy),
    key!(Costs, "send", TIME, send),
    key!(Costs, "header", TIME, header),
    key!(Costs, "look", TIME, look),
    key!(Costs, "receive", TIME, receive),
    key!(Costs, "reliability_send", TIME, reliability_send),
    key!(Costs, "reliability_receive", TIME, reliability_receive),
    key!(Costs, "protection_send", TIME, protection_send),
    key!(Costs, "protection_receive", TIME, protection_receive),
    key!(Costs, "answer_send", TIME, answer_send),
    key!(Costs, "answer_receive", TIME, answer_receive),
    key!(Costs, "scan", TIME, scan),
    key!(Costs, "bus_setup", TIME, bus_setup),
    key!(Costs, "bus_burst", TIME, bus_burst),
    key!(Costs, "transfers", WordList(&TRANSFERS), transfers),
    key!(Costs, "send_buffers", IntRange(1..=SEND_BUFFERS_MAX), send_buffers),
    key!(Costs, "page", IntRange(0..=PAGE_MAX), page),
];

/// Reads `[costs]`: differences from a preset or from the defaults.
pub(super) fn read(table: &mut TomlTable<'_>, base: Costs) -> Costs {
    let mut costs = table.word("preset", &PRESETS).unwrap_or(base);
    if let Some(mode) = table.word("bus", &BUS_MODES) {
        [costs.bus_setup, costs.bus_burst] = mode.costs();
    }
    keys::read(COSTS, table, costs)
}

/// Reads `costs` of a host: a preset's name, or a table like `[costs]`.
pub(super) fn of_host(item: &TomlItem<'_>, base: Costs) -> Option<Costs> {
    let Some(mut table) = item.as_table() else { return item.word(&PRESETS) };
    let costs = read(&mut table, base);
    table.finish();
    Some(costs)
}
