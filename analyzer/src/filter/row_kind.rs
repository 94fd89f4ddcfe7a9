//! Kinds of rows, and the fields of each.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use crate::blocking::{BlockedRow, DeadlockRow, StopRow};
use crate::captured::CapturedRow;
use crate::conversation::{ConversationRow, MalformedRow, ObservationRow};
use crate::counters::CountersRow;
use crate::damage_table::WireDamageRow;
use crate::diff::DiffRow;
use crate::event::EventRow;
use crate::finding_row::{CaseRow, FindingRow};
use crate::flow_table::PacketFlowRow;
use crate::ip_conversation::IpConversationRow;
use crate::journey::JourneyRow;
use crate::link::report::{ChannelTotalsRow, IntervalRow};
use crate::link::slack::{FillRow, SlackRow};
use crate::log_row::LogRow;
use crate::mapping::MappingRow;
use crate::packet::PacketRow;
use crate::row::RowField;
use crate::series::SeriesRow;
use crate::show::LinkViewRow;

/// Kind of the rows that a command prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RowKind {
    /// Rows of `info`.
    Channels,
    /// Rows of `packets`.
    Packets,
    /// Rows of `events`.
    Events,
    /// Rows of `show`.
    Characters,
    /// Rows of `blocking`.
    Waits,
    /// Rows of `links`.
    Links,
    /// Rows of `links --intervals`.
    Intervals,
    /// Rows of `links --slack`.
    Buffers,
    /// Rows of `links --fill`.
    Fills,
    /// Rows of `links --damage`.
    Damage,
    /// Rows of `journeys`.
    Journeys,
    /// Rows of `series`.
    Series,
    /// Rows of `flows`.
    Flows,
    /// Rows of `conversations`.
    Conversations,
    /// Rows of `conversations --events`.
    Remarks,
    /// Rows of `conversations --ip`.
    IpConversations,
    /// Rows of `mapping`.
    Mapping,
    /// Rows of `check`.
    Findings,
    /// Rows of `check --each`.
    Cases,
    /// Rows of `log`.
    Log,
    /// Rows of `diff`.
    Differences,
}

type KindDefinition = (&'static str, &'static str, &'static str, &'static [&'static [RowField]]);

impl RowKind {
    /// All kinds.
    pub const ALL: [Self; 21] = [
        Self::Channels,
        Self::Packets,
        Self::Events,
        Self::Characters,
        Self::Waits,
        Self::Links,
        Self::Intervals,
        Self::Buffers,
        Self::Fills,
        Self::Damage,
        Self::Journeys,
        Self::Series,
        Self::Flows,
        Self::Conversations,
        Self::Remarks,
        Self::IpConversations,
        Self::Mapping,
        Self::Findings,
        Self::Cases,
        Self::Log,
        Self::Differences,
    ];

    /// Name of the rows, command that prints them, their member in JSON, and their fields: those of all
    /// rows, and those of each kind of row if there are several.
    const fn definition(self) -> KindDefinition {
        let several: &[&[RowField]] = &[BlockedRow::FIELDS, StopRow::FIELDS, DeadlockRow::FIELDS];
        let remarks: &[&[RowField]] = &[&[], ObservationRow::FIELDS, MalformedRow::FIELDS];
        match self {
            Self::Channels => ("channels", "info", "channels", &[CountersRow::FIELDS]),
            Self::Packets => ("packets", "packets", "packets", &[PacketRow::FIELDS]),
            Self::Events => ("events", "events", "events", &[EventRow::FIELDS]),
            Self::Characters => ("rows of characters", "show", "rows", &[LinkViewRow::FIELDS]),
            Self::Waits => ("waits", "blocking", "blocking", several),
            Self::Links => ("links", "links", "links", &[ChannelTotalsRow::FIELDS]),
            Self::Intervals => {
                ("intervals", "links --intervals", "intervals", &[IntervalRow::FIELDS])
            }
            Self::Buffers => ("buffers", "links --slack", "buffers", &[SlackRow::FIELDS]),
            Self::Fills => ("fills", "links --fill", "fills", &[FillRow::FIELDS]),
            Self::Damage => ("damaged wires", "links --damage", "wires", &[WireDamageRow::FIELDS]),
            Self::Journeys => ("journeys", "journeys", "journeys", &[JourneyRow::FIELDS]),
            Self::Series => ("intervals of channels", "series", "intervals", &[SeriesRow::FIELDS]),
            Self::Flows => ("flows", "flows", "flows", &[PacketFlowRow::FIELDS]),
            Self::Conversations => {
                ("conversations", "conversations", "conversations", &[ConversationRow::FIELDS])
            }
            Self::Remarks => {
                ("events of conversations", "conversations --events", "events", remarks)
            }
            Self::IpConversations => {
                let fields = &[IpConversationRow::FIELDS];
                ("conversations over IP", "conversations --ip", "conversations", fields)
            }
            Self::Mapping => ("events of mapping", "mapping", "mapping", &[MappingRow::FIELDS]),
            Self::Findings => ("findings", "check", "findings", &[FindingRow::FIELDS]),
            Self::Cases => ("cases", "check --each", "cases", &[CaseRow::FIELDS]),
            Self::Log => ("log", "log", "log", &[LogRow::FIELDS]),
            Self::Differences => ("compared channels", "diff", "channels", &[DiffRow::FIELDS]),
        }
    }

    /// Name of the list of rows in JSON.
    pub const fn list(self) -> &'static str {
        self.definition().2
    }

    /// Name of the rows, in the plural.
    pub const fn name(self) -> &'static str {
        self.definition().0
    }

    /// Command that prints the rows.
    pub const fn command(self) -> &'static str {
        self.definition().1
    }

    /// Fields of the rows with those of their members, in the order of the JSON.
    pub fn fields(self) -> &'static [RowField] {
        static FIELDS: LazyLock<BTreeMap<RowKind, Vec<RowField>>> = LazyLock::new(|| {
            let fields = |kind: RowKind| {
                let mut fields = Vec::new();
                let groups = kind.definition().3;
                groups.iter().for_each(|group| add(group, "", &mut fields));
                mark_absent(groups, &mut fields);
                fields.extend(CapturedRow::FIELDS);
                (kind, fields)
            };
            RowKind::ALL.into_iter().map(fields).collect()
        });
        FIELDS.get(&self).map(Vec::as_slice).unwrap_or_default()
    }

    /// Names of the fields of a line of text, separated by commas, for kinds that have no lines of their own;
    /// behind a bar those that are printed with their names where they have a value.
    pub const fn usual(self) -> &'static str {
        match self {
            Self::Channels => "name,characters,data,corrected,invalid,holes,first,last",
            Self::Waits => "kind,channel,start,periods,ended_by,root,node",
            Self::Links => "channel,utilisation,stops.share,packets.count,packets.crc.bad",
            Self::Buffers => "channel,cells,low_water_lo,high_water_hi,stops,late",
            Self::Conversations => {
                "source,destination,logical_channel,messages,acknowledged,retransmissions,broken"
            }
            Self::IpConversations => {
                "source,source_port,destination,protocol,packets,data,lost,retransmissions,\
                 destination_port,bad_checksums"
            }
            Self::Differences => "channel,captures,same,moved,only_a,only_b",
            Self::Findings => "severity,finding,rule,channel,at,count",
            Self::Intervals => "start,channel,periods,state",
            Self::Damage => "after,seen,wire,packets,alone,damaged,cleared,set",
            Self::Fills => "start,channel,periods,lo,hi,lo_end,hi_end",
            Self::Remarks => {
                "time_ps,source,destination,event,seq,timestamp|message,kind,bytes,cause,reason,rtt_ps,\
                 gone,fate,logical_channel,incarnation,fault,channel"
            }
            Self::Mapping => {
                "time_ps,row,channel,address|kind,outcome,version,piece,pieces,answered_by,status,mapper,\
                 interfaces,installed,hosts,switches,links,packets,ended,winner,last_channel,fault"
            }
            Self::Series => {
                "time_ps,channel,utilisation,stopped,packets,latency_p50_ps,bad,latency_p99_ps"
            }
            Self::Flows => {
                "source,destination,packets,bytes,dropped,corrupt,latency_mean_ps,latency_p50_ps,latency_p99_ps"
            }
            Self::Packets | Self::Events | Self::Characters => "",
            Self::Journeys | Self::Cases | Self::Log => "",
        }
    }

    /// True if the text of the command is a table of [`RowKind::usual`].
    pub const fn is_table(self) -> bool {
        matches!(self, Self::Intervals | Self::Fills | Self::Series | Self::Flows)
            || matches!(self, Self::Remarks | Self::IpConversations | Self::Damage)
    }

    /// Field with the given name.
    pub fn field(self, name: &str) -> Option<&'static RowField> {
        having(name).iter().find(|(kind, _)| *kind == self).map(|(_, field)| *field)
    }
}

/// Declares which fields some rows lack: those of one of several kinds of row, and the times of places that
/// may be null.
fn mark_absent(groups: &[&[RowField]], fields: &mut [RowField]) {
    let kinds = groups.get(1..).unwrap_or_default();
    let lack = |field: &RowField| {
        let top = field.name.split('.').next();
        let has = |group: &[RowField]| group.iter().any(|field| Some(field.name) == top);
        !groups.first().is_some_and(|group| has(group)) && !kinds.iter().all(|group| has(group))
    };
    let nullable: Vec<&str> =
        fields.iter().filter(|field| field.is_nullable()).map(|field| field.name).collect();
    for field in fields {
        let place = field.help.strip_prefix("time of ").unwrap_or_default();
        if lack(field) || nullable.contains(&place) {
            *field = field.of_some();
        }
    }
}

/// Adds fields and those of their members, each once, under their whole names.
fn add(group: &'static [RowField], before: &str, fields: &mut Vec<RowField>) {
    for field in group {
        let name: &str = format!("{before}{}", field.name).leak();
        let is_new = fields.iter().all(|known| known.name != name);
        if is_new && !field.help.is_empty() {
            fields.push(RowField { name, ..*field });
        }
        field.members.iter().for_each(|group| add(group, &format!("{name}."), fields));
    }
}

/// Kinds of rows that have a field of the name, each with that field.
pub(super) fn having(name: &str) -> &'static [(RowKind, &'static RowField)] {
    type Named = BTreeMap<&'static str, Vec<(RowKind, &'static RowField)>>;
    static NAMED: LazyLock<Named> = LazyLock::new(|| {
        let mut named = Named::new();
        for kind in RowKind::ALL {
            for field in kind.fields() {
                named.entry(field.name).or_default().push((kind, field));
            }
        }
        named
    });
    NAMED.get(name).map(Vec::as_slice).unwrap_or_default()
}
