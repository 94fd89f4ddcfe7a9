//! Kinds of rows: one table says of each what prints it, what finds it, its text and its fields.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use self::RowText::{Lines, Report, Table};
use crate::blocking::{BlockedRow, DeadlockRow, StopRow};
use crate::captured::CapturedRow;
use crate::comparison::ComparisonRow;
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
use crate::mapping::MappingRow;
use crate::options::AnalysisScope;
use crate::packet::PacketRow;
use crate::render::{self, LogRow, StyledLine, TimeUnit};
use crate::row::RowField;
use crate::series::SeriesRow;
use crate::show::LinkViewRow;

/// Text of the rows of a kind. Fields are names separated by commas; behind a bar those that are printed with
/// their names where they have a value.
#[derive(Clone, Copy, Debug)]
pub enum RowText {
    /// Each row has lines of its own, below a heading if all of them have the same.
    Lines(Option<fn(TimeUnit) -> StyledLine>),
    /// A table of these fields.
    Table(&'static str),
    /// A report about all rows; a table of these fields if rows are selected or arranged.
    Report(&'static str),
}

struct RowKindInfo {
    name: &'static str,
    command: &'static str,
    list: &'static str,
    scope: AnalysisScope,
    text: RowText,
    /// Fields of all rows, and those of each kind of row if there are several.
    fields: &'static [&'static [RowField]],
}

/// Declares the kinds of rows: `Kind: command, name of the rows, their list in JSON, scope of the analysis
/// that finds them, text, fields;`.
macro_rules! row_kinds {
    ($($Kind:ident: $command:literal, $name:literal, $list:literal, $Scope:ident, $text:expr, $fields:expr;)+) => {
        /// Kind of the rows that a command prints.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum RowKind { $(
            #[doc = concat!("Rows of `", $command, "`.")]
            $Kind,
        )+ }

        impl RowKind {
            /// All kinds.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$Kind),+];

            const fn about(self) -> &'static RowKindInfo {
                match self { $(
                    Self::$Kind => &RowKindInfo {
                        name: $name,
                        command: $command,
                        list: $list,
                        scope: AnalysisScope::$Scope,
                        text: $text,
                        fields: &$fields,
                    },
                )+ }
            }
        }
    };
}

row_kinds! {
    Channels: "info", "channels", "channels", Counts,
        Report("name,characters,data,corrected,invalid,holes,first,last"), [CountersRow::FIELDS];
    Packets: "packets", "packets", "packets", Everything, Lines(Some(render::packet_head)), [PacketRow::FIELDS];
    Events: "events", "events", "events", Everything, Lines(Some(render::event_head)), [EventRow::FIELDS];
    Characters: "show", "rows of characters", "rows", Findings, Lines(None), [LinkViewRow::FIELDS];
    Waits: "blocking", "waits", "blocking", Network,
        Report("kind,channel,start,periods,ended_by,root,node"),
        [BlockedRow::FIELDS, StopRow::FIELDS, DeadlockRow::FIELDS];
    Links: "links", "links", "links", Counts,
        Report("channel,utilisation,stops.share,packets.count,packets.crc.bad"),
        [ChannelTotalsRow::FIELDS];
    Intervals: "links --intervals", "intervals", "intervals", Intervals,
        Table("start,channel,periods,state"), [IntervalRow::FIELDS];
    Buffers: "links --slack", "buffers", "buffers", Findings,
        Report("channel,cells,low_water_lo,high_water_hi,stops,late"), [SlackRow::FIELDS];
    Fills: "links --fill", "fills", "fills", Fills,
        Table("start,channel,periods,lo,hi,lo_end,hi_end"), [FillRow::FIELDS];
    Damage: "links --damage", "damaged wires", "wires", Journeys,
        Table("after,seen,wire,packets,alone,damaged,cleared,set"), [WireDamageRow::FIELDS];
    Journeys: "journeys", "journeys", "journeys", Journeys, Lines(Some(render::journey_head)), [JourneyRow::FIELDS];
    Series: "series", "intervals of channels", "intervals", Series,
        Table("time_ps,channel,utilisation,stopped,packets,latency_p50_ps,bad,latency_p99_ps"),
        [SeriesRow::FIELDS];
    Flows: "flows", "flows", "flows", Journeys,
        Table("source,destination,packets,bytes,dropped,corrupt,latency_mean_ps,latency_p50_ps,latency_p99_ps"),
        [PacketFlowRow::FIELDS];
    Conversations: "conversations", "conversations", "conversations", Conversations,
        Report("source,destination,logical_channel,messages,acknowledged,retransmissions,broken"),
        [ConversationRow::FIELDS];
    Remarks: "conversations --events", "events of conversations", "events", Conversations,
        Table("time_ps,source,destination,event,seq,timestamp|message,kind,bytes,cause,reason,rtt_ps,\
               gone,fate,logical_channel,incarnation,fault,channel"),
        [&[], ObservationRow::FIELDS, MalformedRow::FIELDS];
    IpConversations: "conversations --ip", "conversations over IP", "conversations", Journeys,
        Table("source,source_port,destination,protocol,packets,data,lost,unseen,retransmissions,\
               destination_port,bad_checksums"),
        [IpConversationRow::FIELDS];
    Mapping: "mapping", "events of mapping", "mapping", Mapping,
        Report("time_ps,row,channel,address|kind,outcome,version,piece,pieces,answered_by,status,mapper,\
                interfaces,installed,hosts,switches,links,packets,ended,winner,last_channel,fault"),
        [MappingRow::FIELDS];
    Findings: "check", "findings", "findings", Findings,
        Report("severity,finding,rule,channel,at,count"), [FindingRow::FIELDS];
    Cases: "check --each", "cases", "cases", Cases, Lines(Some(render::case_head)), [CaseRow::FIELDS];
    Log: "log", "log", "log", Log, Lines(Some(render::log_head)), [LogRow::FIELDS];
    Comparison: "compare", "figures", "figures", Report,
        Report("subject,name,measure,unit,a,b,change,verdict"), [ComparisonRow::FIELDS];
    Differences: "diff", "compared channels", "channels", Everything, Lines(None), [DiffRow::FIELDS];
}

impl RowKind {
    /// Name of the list of rows in JSON.
    pub const fn list(self) -> &'static str {
        self.about().list
    }

    /// Name of the rows, in the plural.
    pub const fn name(self) -> &'static str {
        self.about().name
    }

    /// Command that prints the rows.
    pub const fn command(self) -> &'static str {
        self.about().command
    }

    /// Scope of an analysis whose events include the rows.
    pub const fn scope(self) -> AnalysisScope {
        self.about().scope
    }

    /// Text of the rows.
    pub const fn text(self) -> RowText {
        self.about().text
    }

    /// Heading above the lines of the rows, if they have one.
    pub fn head(self, unit: TimeUnit) -> Option<StyledLine> {
        match self.about().text {
            Lines(head) => head.map(|head| head(unit)),
            Table(_) | Report(_) => None,
        }
    }

    /// Fields of the rows with those of their members, in the order of the JSON.
    pub fn fields(self) -> &'static [RowField] {
        static FIELDS: LazyLock<BTreeMap<RowKind, Vec<RowField>>> = LazyLock::new(|| {
            let fields = |kind: RowKind| {
                let mut fields = Vec::new();
                let groups = kind.about().fields;
                groups.iter().for_each(|group| add(group, "", &mut fields));
                mark_absent(groups, &mut fields);
                fields.extend(CapturedRow::FIELDS);
                (kind, fields)
            };
            RowKind::ALL.into_iter().map(fields).collect()
        });
        FIELDS.get(&self).map(Vec::as_slice).unwrap_or_default()
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
