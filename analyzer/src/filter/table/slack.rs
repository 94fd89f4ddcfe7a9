//! Fields of slack buffers and of their fill levels, in the order of their JSON.

use super::{CAPTURE, U32, U64};
use crate::filter::field::FieldShape::{List, Number, Place, Real, Text, Words};
use crate::filter::field::RowField;
use crate::link::parameters::ParameterSource;

pub(super) const SOURCE: &[&str] = &[
    ParameterSource::CommandLine.name(),
    ParameterSource::Capture.name(),
    ParameterSource::Probe.name(),
    ParameterSource::Stop.name(),
    ParameterSource::Observed.name(),
    ParameterSource::Default.name(),
];

#[rustfmt::skip]
pub(in crate::filter) const BUFFERS: &[RowField] = &[
    RowField::new("channel", Text, "", "", "name of the channel that fills the buffer"),
    RowField::new("tapped_at", Words(&["sender", "receiver"]), "", "", "at which end of the channel the tap is"),
    RowField::new("assumed", List, "numbers", "F-3", "assumed parameters"),
    RowField::new("assumed.kg", Number(U32), "cells", "F-3", "k_g: GO at so many full cells"),
    RowField::new("assumed.h", Number(U32), "cells", "F-3", "h: so many more for STOP"),
    RowField::new("assumed.ks", Number(U32), "cells", "F-3", "k_s: so many above that"),
    RowField::new("assumed.delay", Number(U32), "periods", "F-4", "delay of the cable, at the full rate"),
    RowField::new("assumed.gen", Number(U32), "periods", "F-4", "from a threshold to the wire"),
    RowField::new("assumed.int", Number(U32), "periods", "F-4", "from the wire to obedience"),
    RowField::new("sources", List, "words", "", "on whose word"),
    RowField::new("sources.kg", Words(SOURCE), "", "", "who says that"),
    RowField::new("sources.h", Words(SOURCE), "", "", "who says that"),
    RowField::new("sources.ks", Words(SOURCE), "", "", "who says that"),
    RowField::new("sources.delay", Words(SOURCE), "", "", "who says that"),
    RowField::new("sources.gen", Words(SOURCE), "", "", "who says that"),
    RowField::new("sources.int", Words(SOURCE), "", "", "who says that"),
    RowField::new("cells", Number(U32), "cells", "F-3", "r: all cells of the buffer"),
    RowField::new("periods", Place, "characters", "", "periods with bounds"),
    RowField::new("known", Place, "characters", "", "those in which the command that stands is known"),
    RowField::new("low_water_lo", Number(U32), "cells", "F-3", "the least fill: at least this"),
    RowField::new("low_water_hi", Number(U32), "cells", "F-3", "and at most this"),
    RowField::new("high_water_lo", Number(U32), "cells", "F-3", "the greatest fill: at least this"),
    RowField::new("high_water_hi", Number(U32), "cells", "F-3", "and at most this"),
    RowField::new("mean_width", Real, "cells", "", "mean distance of the bounds"),
    RowField::new("stops", Number(U64), "", "F-3", "STOPs of the buffer"),
    RowField::new("late", Number(U64), "", "F-4", "STOPs after which data came too late"),
    RowField::new("late_by", Number(U64), "characters", "F-4", "the most that came too late after one"),
    RowField::new("overrun_risks", Number(U64), "", "F-9", "STOPs after which cells may have been lost"),
    RowField::new("contradictions", Number(U64), "", "F-3", "how often what was seen could not be"),
    CAPTURE,
];

#[rustfmt::skip]
pub(in crate::filter) const FILLS: &[RowField] = &[
    RowField::new("channel", Text, "", "", "name of the channel that fills the buffer"),
    RowField::new("start", Place, "characters", "", "first period, as the far receiver counts"),
    RowField::new("end", Place, "characters", "", "last period"),
    RowField::new("periods", Place, "characters", "", "how many there are"),
    RowField::new("lo", Number(U32), "cells", "F-3", "full cells in the first period, at least"),
    RowField::new("hi", Number(U32), "cells", "F-3", "full cells in the first period, at most"),
    RowField::new("lo_end", Number(U32), "cells", "F-3", "full cells in the last period, at least"),
    RowField::new("hi_end", Number(U32), "cells", "F-3", "full cells in the last period, at most"),
    CAPTURE,
];
