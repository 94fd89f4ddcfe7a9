//! `[costs]`: durations of the stages of a message's path.

use super::keys::{self, FieldKey, Integer, Section, Time, Word};
use super::limits::{DURATION_MAX, PAGE_MAX, SEND_BUFFERS_MAX};
use super::toml_reader::{TomlItem, TomlTable};
use super::toml_writer::TomlKeys;
use crate::messaging::{BusMode, MessageCosts, TransferMode};

const PRESETS: [(&str, MessageCosts); 3] = [
    ("am-ii", MessageCosts::AM_II),
    ("gam", MessageCosts::GAM),
    ("nothing", MessageCosts::NOTHING),
];

const TRANSFERS: [(&str, TransferMode); 2] =
    [("store-and-forward", TransferMode::StoreAndForward), ("pipelined", TransferMode::Pipelined)];

const BUS_MODES: [(&str, BusMode); 2] =
    [("streaming", BusMode::Streaming), ("consistent", BusMode::Consistent)];

const fn key<T, F>(
    name: &'static str,
    format: F,
    field: fn(&mut MessageCosts) -> &mut T,
) -> FieldKey<MessageCosts, T, F> {
    FieldKey(name, format, field)
}

const TIME: Time = Time(0..=DURATION_MAX);

const COSTS: &Section<MessageCosts> = &[
    &key("host_send", TIME, |costs| &mut costs.host_send),
    &key("host_receive", TIME, |costs| &mut costs.host_receive),
    &key("host_poll", TIME, |costs| &mut costs.host_poll),
    &key("host_wake", TIME, |costs| &mut costs.host_wake),
    &key("host_switch", TIME, |costs| &mut costs.host_switch),
    &key("host_quantum", TIME, |costs| &mut costs.host_quantum),
    &key("host_copy", TIME, |costs| &mut costs.host_copy),
    &key("send", TIME, |costs| &mut costs.send),
    &key("header", TIME, |costs| &mut costs.header),
    &key("look", TIME, |costs| &mut costs.look),
    &key("receive", TIME, |costs| &mut costs.receive),
    &key("reliability_send", TIME, |costs| &mut costs.reliability_send),
    &key("reliability_receive", TIME, |costs| &mut costs.reliability_receive),
    &key("protection_send", TIME, |costs| &mut costs.protection_send),
    &key("protection_receive", TIME, |costs| &mut costs.protection_receive),
    &key("answer_send", TIME, |costs| &mut costs.answer_send),
    &key("answer_receive", TIME, |costs| &mut costs.answer_receive),
    &key("scan", TIME, |costs| &mut costs.scan),
    &key("bus_setup", TIME, |costs| &mut costs.bus_setup),
    &key("bus_burst", TIME, |costs| &mut costs.bus_burst),
    &key("transfers", Word(&TRANSFERS), |costs| &mut costs.transfers),
    &key("send_buffers", Integer(1..=SEND_BUFFERS_MAX), |costs| &mut costs.send_buffers),
    &key("page", Integer(0..=PAGE_MAX), |costs| &mut costs.page),
];

/// Reads `[costs]`: differences from a preset or from the defaults.
pub(super) fn read(table: &mut TomlTable<'_>, base: MessageCosts) -> MessageCosts {
    let mut costs = table.word("preset", &PRESETS).unwrap_or(base);
    if let Some(mode) = table.word("bus", &BUS_MODES) {
        [costs.bus_setup, costs.bus_burst] = mode.costs();
    }
    keys::read(COSTS, table, costs)
}

pub(super) fn write(keys: &mut TomlKeys, costs: MessageCosts, base: MessageCosts) {
    let preset = PRESETS.iter().find(|(_, preset)| *preset == costs && *preset != base);
    match preset {
        Some((name, _)) => keys.text("preset", name),
        None => keys::write(COSTS, keys, costs, base),
    }
}

/// Reads `costs` of a host: a preset's name, or a table like `[costs]`.
pub(super) fn of_host(item: &TomlItem<'_>, base: MessageCosts) -> Option<MessageCosts> {
    let Some(mut table) = item.as_table() else { return item.word(&PRESETS) };
    let costs = read(&mut table, base);
    table.finish();
    Some(costs)
}
