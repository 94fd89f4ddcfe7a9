//! `[costs]`: durations of the stages of a message's path.

use super::keys::{self, FieldKey, IntRange, KeyList, TimeRange, WordList};
use super::limits::{DURATION_MAX, PAGE_MAX, SEND_BUFFERS_MAX};
use super::toml_reader::{TomlItem, TomlTable};
use super::toml_writer::TomlKeys;
use crate::messaging::{BusMode, MessageCosts as Costs, TransferMode};

const PRESETS: [(&str, Costs); 3] =
    [("am-ii", Costs::AM_II), ("gam", Costs::GAM), ("nothing", Costs::NOTHING)];

const TRANSFERS: [(&str, TransferMode); 2] =
    [("store-and-forward", TransferMode::StoreAndForward), ("pipelined", TransferMode::Pipelined)];

const BUS_MODES: [(&str, BusMode); 2] =
    [("streaming", BusMode::Streaming), ("consistent", BusMode::Consistent)];

const TIME: TimeRange = TimeRange(0..=DURATION_MAX);

const COSTS: &KeyList<Costs> = &[
    &FieldKey("host_send", TIME, |costs: &mut Costs| &mut costs.host_send),
    &FieldKey("host_receive", TIME, |costs: &mut Costs| &mut costs.host_receive),
    &FieldKey("host_poll", TIME, |costs: &mut Costs| &mut costs.host_poll),
    &FieldKey("host_wake", TIME, |costs: &mut Costs| &mut costs.host_wake),
    &FieldKey("host_switch", TIME, |costs: &mut Costs| &mut costs.host_switch),
    &FieldKey("host_quantum", TIME, |costs: &mut Costs| &mut costs.host_quantum),
    &FieldKey("host_copy", TIME, |costs: &mut Costs| &mut costs.host_copy),
    &FieldKey("send", TIME, |costs: &mut Costs| &mut costs.send),
    &FieldKey("header", TIME, |costs: &mut Costs| &mut costs.header),
    &FieldKey("look", TIME, |costs: &mut Costs| &mut costs.look),
    &FieldKey("receive", TIME, |costs: &mut Costs| &mut costs.receive),
    &FieldKey("reliability_send", TIME, |costs: &mut Costs| &mut costs.reliability_send),
    &FieldKey("reliability_receive", TIME, |costs: &mut Costs| &mut costs.reliability_receive),
    &FieldKey("protection_send", TIME, |costs: &mut Costs| &mut costs.protection_send),
    &FieldKey("protection_receive", TIME, |costs: &mut Costs| &mut costs.protection_receive),
    &FieldKey("answer_send", TIME, |costs: &mut Costs| &mut costs.answer_send),
    &FieldKey("answer_receive", TIME, |costs: &mut Costs| &mut costs.answer_receive),
    &FieldKey("scan", TIME, |costs: &mut Costs| &mut costs.scan),
    &FieldKey("bus_setup", TIME, |costs: &mut Costs| &mut costs.bus_setup),
    &FieldKey("bus_burst", TIME, |costs: &mut Costs| &mut costs.bus_burst),
    &FieldKey("transfers", WordList(&TRANSFERS), |costs: &mut Costs| &mut costs.transfers),
    &FieldKey("send_buffers", IntRange(1..=SEND_BUFFERS_MAX), |costs: &mut Costs| {
        &mut costs.send_buffers
    }),
    &FieldKey("page", IntRange(0..=PAGE_MAX), |costs: &mut Costs| &mut costs.page),
];

/// Reads `[costs]`: differences from a preset or from the defaults.
pub(super) fn read(table: &mut TomlTable<'_>, base: Costs) -> Costs {
    let mut costs = table.word("preset", &PRESETS).unwrap_or(base);
    if let Some(mode) = table.word("bus", &BUS_MODES) {
        [costs.bus_setup, costs.bus_burst] = mode.costs();
    }
    keys::read(COSTS, table, costs)
}

pub(super) fn write(keys: &mut TomlKeys, costs: Costs, base: Costs) {
    let preset = PRESETS.iter().find(|(_, preset)| *preset == costs && *preset != base);
    match preset {
        Some((name, _)) => keys.text("preset", name),
        None => keys::write(COSTS, keys, costs, base),
    }
}

/// Reads `costs` of a host: a preset's name, or a table like `[costs]`.
pub(super) fn of_host(item: &TomlItem<'_>, base: Costs) -> Option<Costs> {
    let Some(mut table) = item.as_table() else { return item.word(&PRESETS) };
    let costs = read(&mut table, base);
    table.finish();
    Some(costs)
}
