//! The fields of slack buffers and of their fills, in the order of their JSON.

use super::{CAPTURE, U32, U64};
use crate::filter::field::Field;
use crate::filter::field::Shape::{List, Number, Place, Real, Text, Words};
use crate::link::slack::Source;

pub(super) const SOURCE: &[&str] = &[
    Source::CommandLine.name(),
    Source::Capture.name(),
    Source::Probe.name(),
    Source::Stop.name(),
    Source::Seen.name(),
    Source::Default.name(),
];

#[rustfmt::skip]
pub(in crate::filter) const BUFFERS: &[Field] = &[
    Field::new("channel", Text, "", "", "name of the channel that fills the buffer"),
    Field::new("tapped_at", Words(&["sender", "receiver"]), "", "", "at which end of the channel the tap is"),
    Field::new("assumed", List, "numbers", "F-3", "what is taken for granted"),
    Field::new("assumed.kg", Number(U32), "cells", "F-3", "k_g: GO at so many full cells"),
    Field::new("assumed.h", Number(U32), "cells", "F-3", "h: so many more for STOP"),
    Field::new("assumed.ks", Number(U32), "cells", "F-3", "k_s: so many above that"),
    Field::new("assumed.delay", Number(U32), "periods", "F-4", "delay of the cable, at the full rate"),
    Field::new("assumed.gen", Number(U32), "periods", "F-4", "from a threshold to the wire"),
    Field::new("assumed.int", Number(U32), "periods", "F-4", "from the wire to obedience"),
    Field::new("sources", List, "words", "", "on whose word"),
    Field::new("sources.kg", Words(SOURCE), "", "", "who says that"),
    Field::new("sources.h", Words(SOURCE), "", "", "who says that"),
    Field::new("sources.ks", Words(SOURCE), "", "", "who says that"),
    Field::new("sources.delay", Words(SOURCE), "", "", "who says that"),
    Field::new("sources.gen", Words(SOURCE), "", "", "who says that"),
    Field::new("sources.int", Words(SOURCE), "", "", "who says that"),
    Field::new("cells", Number(U32), "cells", "F-3", "r: all cells of the buffer"),
    Field::new("periods", Place, "characters", "", "periods with bounds"),
    Field::new("known", Place, "characters", "", "those in which the command that stands is known"),
    Field::new("low_water_lo", Number(U32), "cells", "F-3", "the least fill: at least this"),
    Field::new("low_water_hi", Number(U32), "cells", "F-3", "and at most this"),
    Field::new("high_water_lo", Number(U32), "cells", "F-3", "the greatest fill: at least this"),
    Field::new("high_water_hi", Number(U32), "cells", "F-3", "and at most this"),
    Field::new("mean_width", Real, "cells", "", "mean distance of the bounds"),
    Field::new("stops", Number(U64), "", "F-3", "STOPs of the buffer"),
    Field::new("late", Number(U64), "", "F-4", "STOPs after which data came too late"),
    Field::new("late_by", Number(U64), "characters", "F-4", "the most that came too late after one"),
    Field::new("overrun_risks", Number(U64), "", "F-9", "STOPs after which cells may have been lost"),
    Field::new("contradictions", Number(U64), "", "F-3", "how often what was seen could not be"),
    CAPTURE,
];

#[rustfmt::skip]
pub(in crate::filter) const FILLS: &[Field] = &[
    Field::new("channel", Text, "", "", "name of the channel that fills the buffer"),
    Field::new("start", Place, "characters", "", "first period, as the far receiver counts"),
    Field::new("end", Place, "characters", "", "last period"),
    Field::new("periods", Place, "characters", "", "how many there are"),
    Field::new("lo", Number(U32), "cells", "F-3", "full cells in the first period, at least"),
    Field::new("hi", Number(U32), "cells", "F-3", "full cells in the first period, at most"),
    Field::new("lo_end", Number(U32), "cells", "F-3", "full cells in the last period, at least"),
    Field::new("hi_end", Number(U32), "cells", "F-3", "full cells in the last period, at most"),
    CAPTURE,
];
