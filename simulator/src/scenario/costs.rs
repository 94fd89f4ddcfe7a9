//! `[costs]`: durations of the stages of a message's path.

use super::limits::{DURATION_MAX, PAGE_MAX, SEND_BUFFERS_MAX};
use super::toml_reader::{TimeKeys, TomlItem, TomlTable};
use super::write::TomlKeys;
use crate::messaging::{BusMode, MessageCosts, TransferMode};

const PRESETS: [(&str, MessageCosts); 3] = [
    ("am-ii", MessageCosts::AM_II),
    ("gam", MessageCosts::GAM),
    ("nothing", MessageCosts::NOTHING),
];

type CostStage = (TimeKeys, fn(&mut MessageCosts) -> &mut u64);

const STAGES: [CostStage; 20] = [
    (["host_send_us", "host_send_periods"], |costs| &mut costs.host_send),
    (["host_receive_us", "host_receive_periods"], |costs| &mut costs.host_receive),
    (["host_poll_us", "host_poll_periods"], |costs| &mut costs.host_poll),
    (["host_wake_us", "host_wake_periods"], |costs| &mut costs.host_wake),
    (["host_switch_us", "host_switch_periods"], |costs| &mut costs.host_switch),
    (["host_quantum_us", "host_quantum_periods"], |costs| &mut costs.host_quantum),
    (["host_copy_us", "host_copy_periods"], |costs| &mut costs.host_copy),
    (["send_us", "send_periods"], |costs| &mut costs.send),
    (["header_us", "header_periods"], |costs| &mut costs.header),
    (["look_us", "look_periods"], |costs| &mut costs.look),
    (["receive_us", "receive_periods"], |costs| &mut costs.receive),
    (["reliability_send_us", "reliability_send_periods"], |costs| &mut costs.reliability_send),
    (["reliability_receive_us", "reliability_receive_periods"], |costs| {
        &mut costs.reliability_receive
    }),
    (["protection_send_us", "protection_send_periods"], |costs| &mut costs.protection_send),
    (["protection_receive_us", "protection_receive_periods"], |costs| {
        &mut costs.protection_receive
    }),
    (["answer_send_us", "answer_send_periods"], |costs| &mut costs.answer_send),
    (["answer_receive_us", "answer_receive_periods"], |costs| &mut costs.answer_receive),
    (["scan_us", "scan_periods"], |costs| &mut costs.scan),
    (["bus_setup_us", "bus_setup_periods"], |costs| &mut costs.bus_setup),
    (["bus_burst_us", "bus_burst_periods"], |costs| &mut costs.bus_burst),
];

const TRANSFERS: [(&str, TransferMode); 2] =
    [("store-and-forward", TransferMode::StoreAndForward), ("pipelined", TransferMode::Pipelined)];

const BUS_MODES: [(&str, BusMode); 2] =
    [("streaming", BusMode::Streaming), ("consistent", BusMode::Consistent)];

/// Reads `[costs]`: differences from a preset or from the defaults.
pub(super) fn read(table: &mut TomlTable<'_>, base: MessageCosts) -> MessageCosts {
    let mut costs = table.word("preset", &PRESETS).unwrap_or(base);
    if let Some(mode) = table.word("bus", &BUS_MODES) {
        [costs.bus_setup, costs.bus_burst] = mode.costs();
    }
    for (keys, stage) in STAGES {
        if let Some(time) = table.time(keys, 0..=DURATION_MAX) {
            *stage(&mut costs) = time.periods;
        }
    }
    MessageCosts {
        transfers: table.word("transfers", &TRANSFERS).unwrap_or(costs.transfers),
        send_buffers: table
            .integer("send_buffers", 1..=SEND_BUFFERS_MAX)
            .unwrap_or(costs.send_buffers),
        page: table.integer("page", 0..=PAGE_MAX).unwrap_or(costs.page),
        ..costs
    }
}

pub(super) fn write(keys: &mut TomlKeys, costs: MessageCosts, base: MessageCosts) {
    let preset = PRESETS.iter().find(|(_, preset)| *preset == costs && *preset != base);
    if let Some((name, _)) = preset {
        return keys.text("preset", name);
    }
    let (mut costs, mut base) = (costs, base);
    for ([_, periods], stage) in STAGES {
        keys.differing(periods, *stage(&mut costs), *stage(&mut base));
    }
    keys.word("transfers", &TRANSFERS, costs.transfers, base.transfers);
    keys.differing("send_buffers", costs.send_buffers, base.send_buffers);
    keys.differing("page", costs.page, base.page);
}

/// Reads `costs` of a host: a preset's name, or a table like `[costs]`.
pub(super) fn of_host(item: &TomlItem<'_>, base: MessageCosts) -> Option<MessageCosts> {
    let Some(mut table) = item.as_table() else { return item.word(&PRESETS) };
    let costs = read(&mut table, base);
    table.finish();
    Some(costs)
}
