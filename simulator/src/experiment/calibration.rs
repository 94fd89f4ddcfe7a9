//! Costs calibrated to the published figures of messages.

use super::result_table::{CalibratedSetting, MilliValue};
use crate::messaging::{MessageCosts, TransferMode};

/// Costs of a system, named as in descriptions.
pub(super) fn costs(system: &str) -> impl Iterator<Item = CalibratedSetting> {
    let (costs, figures) = match system {
        "GAM" => (MessageCosts::GAM, "20 µs, 38 MB/s"),
        _ => (MessageCosts::AM_II, "42 µs, 31 MB/s"),
    };
    let layers = [
        ("host: o_s", costs.host_send),
        ("host: o_r", costs.host_receive),
        ("host: looking in vain", costs.host_poll),
        ("host: copying 64 bytes", costs.host_copy),
        ("firmware: data out", costs.send),
        ("firmware: headers of a turn", costs.header),
        ("firmware: looking in vain", costs.look),
        ("firmware: data in", costs.receive),
        ("firmware: reliability, data out", costs.reliability_send),
        ("firmware: reliability, data in", costs.reliability_receive),
        ("firmware: protection, data out", costs.protection_send),
        ("firmware: protection, data in", costs.protection_receive),
        ("firmware: ACK out", costs.answer_send),
        ("firmware: ACK in", costs.answer_receive),
        ("bus: before a transfer", costs.bus_setup),
        ("bus: 64 bytes", costs.bus_burst),
    ];
    let way = match costs.transfers {
        TransferMode::StoreAndForward => "store-and-forward",
        TransferMode::Pipelined => "pipelined",
    };
    layers.into_iter().filter(|(_, periods)| *periods > 0).map(move |(name, periods)| {
        let why = format!("{system}, {way}: {figures}");
        let value = MilliValue::microseconds(periods);
        CalibratedSetting { name, value, unit: "µs", why }
    })
}
