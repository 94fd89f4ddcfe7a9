//! Seeds of scenario files: the tables of `docs/scenario.md`, and what is only just wrong.

use super::CorpusSeed;

const STAR: &str = "duration_us=9\ntopology={kind=\"switch\",ports=3}\n";

/// Files: name, whether they stand behind [`STAR`], text.
const FILES: [(&str, &str, &str); 21] = [
    ("star", STAR, "tap=[{all=true}]"),
    (
        "two-hosts",
        "",
        "duration_us=5\nswitch=[{name=\"s\"}]\nhost=[{name=\"a\",at=\"s:0\"},{name=\"b\",at=\"s:3\"}]\ntap=[{at=\"s:0\"}]",
    ),
    ("traffic", STAR, "[[traffic]]\nto=\"shift\"\npayload=9\nload=0.5\n[[tap]]\nall=true"),
    (
        "saturated",
        STAR,
        "[[traffic]]\nfrom=\"h0\"\nto=\"h1\"\npayload=[1,20]\nsaturate=true\n[[tap]]\nat=\"h1:0\"",
    ),
    (
        "raw-characters",
        STAR,
        "[[raw]]\nfrom=\"h1\"\nat_us=0.1\nchars=\"GAP 81 !a6 00×2\"\n[[tap]]\nall=true",
    ),
    (
        "cut-and-flip",
        STAR,
        "[[fault]]\nat_us=1\ncut=\"h0:0\"\nfor_us=2\n[[fault]]\nat_us=4\nflip=\"h1:0\"",
    ),
    (
        "random-faults",
        STAR,
        "[[fault]]\nevery_us=1\nfrom_us=2\nto_us=8\ncut=\"any\"\nfor_periods=5",
    ),
    ("routes", STAR, "[[route]]\nfrom=\"h0\"\nto=\"h2\"\nbytes=\"81 bf\""),
    ("mesh", "", "duration_us=2\ntopology={kind=\"mesh\",width=2,height=2,hosts_per_switch=1}"),
    (
        "links",
        STAR,
        "[link]\nrate_divisor=2\nlength_m=3\ngo_slack=5\nhysteresis=1\nsymbols=\"all\"",
    ),
    (
        "messages",
        STAR,
        "[[endpoint]]\nhost=\"h0\"\n[[endpoint]]\nhost=\"h1\"\n[[messages]]\nfrom=\"h0:0\"\nto=\"h1:0\"\ncount=2",
    ),
    ("seeded", STAR, "seed=18446744073709551615"),
    ("no-duration", "", "seed=1"),
    ("unknown-key", STAR, "[[traffic]]\nform=\"h0\""),
    ("unknown-host", STAR, "[[traffic]]\nfrom=\"h9\"\nto=\"h1\"\npayload=1\nsaturate=true"),
    ("no-toml", STAR, "[["),
    ("text-for-a-number", "", "duration_us=\"9\""),
    ("key-twice", STAR, "seed=1\nseed=2"),
    (
        "too-large",
        "",
        "duration_us=9\ntopology={kind=\"mesh\",width=99,height=99,hosts_per_switch=9}",
    ),
    (
        "regression-faults-with-nowhere-to-happen",
        "",
        "[[fault]]\nevery_us=1\ncut=\"any\"\nfor_periods=5",
    ),
    ("regression-an-escape-sequence", STAR, "seed=\"\u{9b}31m\""),
];

pub(super) fn all() -> impl Iterator<Item = CorpusSeed> {
    FILES
        .into_iter()
        .map(|(name, head, text)| ("scenario", name, [head, text, "\n"].concat().into_bytes()))
}
