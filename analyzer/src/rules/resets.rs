//! Rules of resets, timeouts and lamps.

use super::{Rule, RuleEvidence, RuleVisibility, test};

#[rustfmt::skip]
pub(super) const RULES: [Rule; 7] = [
    Rule::shown("R-1",
        RuleVisibility::Part(test(RuleEvidence::Channel, |set| set.seen().resets, "FRES"), "The sender chooses which GAP ends a reset. The variant is derived from the capture (`links`) and judged only if the channel declares reset=own-gap."),
        "The characters from FRES to the next GAP.")
        .example("ring"),
    Rule::shown("R-2",
        RuleVisibility::Part(test(RuleEvidence::Channel, |set| set.seen().resets, "FRES"), "The clearing of the buffer does not show, except by a GO that follows."),
        "FRES, and data between it and the next GAP.")
        .example("ring"),
    Rule::shown("R-3",
        RuleVisibility::Part(test(RuleEvidence::Channel, |set| set.seen().resets, "FRES"), "The handling by an interface's control program is not transmitted."),
        "FRES inside a packet. After the switch the packet ends with GAP and a bad CRC.")
        .example("ring"),
    Rule::shown("R-4",
        RuleVisibility::Part(test(RuleEvidence::Link, |set| set.seen().timeouts, "packets or stops of 2^22 periods"), "The waiting time of a stopped sender is measured from STOP at the tap."),
        "Stops and packets of more than 2^22 periods (52.4 ms), and their ends.")
        .example("ring"),
    Rule::shown("R-5",
        RuleVisibility::Part(test(RuleEvidence::Link, |set| set.seen().backward, "BRES with an answer"), "A port without BRES ignores it (C-3)."),
        "BRES on one channel and FRES on the other within 4096 periods. Only BRES with an answer count, as a port may not implement it."),
    Rule::shown("R-6",
        RuleVisibility::Part(test(RuleEvidence::Link, |set| set.seen().probes, "probes with a reply"), "The bits of the status word are not transmitted. A port without probes ignores them (C-3)."),
        "PRBn on one channel and REPLx on the other within 4096 periods. Only probes with a reply count, as a reply is optional."),
    Rule::hidden("L",
        "Lamps are not transmitted. `links` derives their state from the events that control them."),
];
