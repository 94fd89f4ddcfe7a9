//! Samples of the wires: limits of what is doubted, too few of them, and what is not said to be broken.

use super::{LINK, import_samples, samples, traffic};
use crate::support::{ScratchDirectory, refused, run};

/// Characters with so many of something.
type SentOf<'a> = dyn Fn(usize) -> Vec<u16> + 'a;

/// Two recordings below each limit and two from it on, and what is said from there on.
#[test]
fn limits_of_doubts_are_where_they_are_said_to_be() {
    // Packets, of which some have another CRC; packets with a code behind them that is in no table; symbols.
    let hurt = |count: usize, bad: usize| {
        let mut sent = traffic()[..3 + 29 * count].to_vec();
        (0..bad).for_each(|packet| sent[27 + 29 * packet] ^= 1);
        sent
    };
    let coded = |bad: usize| {
        let mut sent = traffic();
        (0..bad).for_each(|packet| sent[29 + 29 * packet] = 0x055);
        sent
    };
    let idle = |codes: usize| [&[0][..], &[0x003, 0, 0].repeat(codes)].concat();
    let cases: [(usize, &str, &SentOf<'_>); 5] = [
        // Three of four packets, with four of them or more.
        (31, "too many packets or codes are bad", &|bad| hurt(40, bad)),
        (4, "no Myrinet found", &|bad| hurt(4, bad)),
        (4, "no Myrinet found", &|bad| hurt(5, bad)),
        // 2 % of 1145 characters.
        (23, "too many packets or codes are bad", &coded),
        (64, "symbols alone: an idle link", &idle),
    ];
    for (limit, words, sent) in cases {
        for at in [limit - 2, limit - 1, limit, limit + usize::from(limit > 4)] {
            let (_, faults) = import_samples(&samples(&sent(at), |_, _| {}), &[]);
            assert_eq!(faults.contains(words), at >= limit, "{words} {at}: {faults}");
        }
    }
    let directory = ScratchDirectory::new("import-limits");
    for (count, last) in [(32, "a30, a31\n"), (33, "a30, a31 and 1 more\n")] {
        let names: String = (0..count).map(|it| format!(",a{it}")).collect();
        let table = format!("Time [s]{names}\n0{}\n", ",0".repeat(count));
        let recording = directory.write("recording", table.as_bytes());
        refused(&["import", &recording, "-o", &directory.file("out")], last);
    }
    // 0.4 of a period.
    for (step_fs, is_coarse) in [(4_999_000, false), (5_000_000, false), (5_001_000, true)] {
        let sampler = WireSampler { skew_fs: 700_000, step_fs, phase_fs: 300_000, ..USUAL };
        let (said, faults) = sampler.import(&traffic(), 1);
        assert_eq!(faults.contains("more than 0.4 of"), is_coarse, "{step_fs} {said} {faults}");
    }
}

#[test]
fn one_edge_of_the_clock_is_too_few_samples() {
    let directory = ScratchDirectory::new("import-edge");
    let (out, sent) = (directory.file("out"), traffic());
    let merged: Vec<u16> = sent.chunks_exact(2).map(|pair| pair[0] ^ pair[1]).collect();
    let mut rows = samples(&merged, |_, _| {});
    for (at, row) in rows.iter_mut().enumerate() {
        *row = if at == 0 {
            format!("Time [s],{row}")
        } else {
            format!("{:.7},{row}", at as f64 * 25e-9)
        };
    }
    let recording = directory.write("recording.csv", rows.join("\n").as_bytes());
    let import = ["import", &recording, "-o", &out];
    refused(&import, "line 5: levels change at the time of the row before: the times are rounded");
    let done = run(&[&import[..], &["--sample-rate", "40"]].concat());
    assert!(done.err.contains("samples are 25 ns apart, not less than half"), "{}", done.err);
}

/// Samples of nine wires that change in characters of a period, some delay later.
#[derive(Clone, Copy)]
struct WireSampler {
    period_fs: u64,
    /// Delay of each wire behind the one before it, or of each four.
    skew_fs: u64,
    bundle: u64,
    step_fs: u64,
    phase_fs: u64,
    /// Unit to which times are rounded.
    unit_fs: u64,
}

/// A sender at the full rate without skew, sampled each nanosecond.
const USUAL: WireSampler = WireSampler {
    period_fs: 12_500_000,
    skew_fs: 0,
    bundle: 1,
    step_fs: 1_000_000,
    phase_fs: 0,
    unit_fs: 1000,
};

/// Femtoseconds of a rate in kHz.
const fn of_rate(kilohertz: u64) -> u64 {
    1_000_000_000_000 / kilohertz
}

impl WireSampler {
    /// Times in ps and levels of samples that differ from the one before.
    fn changes(self, sent: &[u16]) -> Vec<(u64, u16)> {
        let mut levels = vec![0];
        levels.extend(sent.iter().scan(0, |level, bits| {
            *level ^= bits;
            Some(*level)
        }));
        let end = (sent.len() as u64 + 2) * self.period_fs / self.step_fs;
        let (mut all, mut last) = (Vec::new(), None);
        for time in (0..end).map(|at| at * self.step_fs) {
            let level = (0_u16..9).fold(0, |all, wire| {
                let since = (time + self.phase_fs)
                    .saturating_sub(u64::from(wire) / self.bundle * self.skew_fs);
                let place = usize::try_from(since / self.period_fs).unwrap();
                all | levels.get(place).or(levels.last()).unwrap() & 1 << wire
            });
            if last.replace(level) != Some(level) {
                all.push(((time + self.unit_fs / 2) / self.unit_fs * (self.unit_fs / 1000), level));
            }
        }
        all
    }

    /// Output and errors of the import of what it samples, on some channels that are alike.
    fn import(self, sent: &[u16], channels: usize) -> (String, String) {
        let directory = ScratchDirectory::new(&format!("import-{:?}", std::thread::current().id()));
        let titles = ",tx[8:0]".repeat(channels);
        let mut text = format!("Time [ps]{titles}\n");
        for (time, level) in self.changes(sent) {
            text += &format!("{time}{}\n", format!(",{level:03x}h").repeat(channels));
        }
        let recording = directory.write("recording.csv", text.as_bytes());
        let out = directory.file("out");
        let names = LINK.chunks(2).take(channels).flatten().copied();
        let command = ["import", &recording, "-o", &out].into_iter().chain(names);
        let done = run(&command.collect::<Vec<_>>());
        (done.out, done.err)
    }
}

/// Claims about a recording other than its distance of samples.
const CLAIMS: [&str; 9] = [
    "are wires",
    "swapped",
    "opposite order",
    "never change",
    "two characters look",
    "too late",
    "spread over half",
    "of --rate: give",
    "check clips",
];

#[test]
fn too_few_samples_are_the_first_cause() {
    let (sent, mut bad) = (traffic(), 0);
    for kilohertz in [
        79_000, 79_500, 80_000, 80_250, 80_500, 81_000, 40_000, 26_667, 20_000, 16_000, 10_000,
        60_000, 100_000, 110_000,
    ] {
        for (skew_fs, phase_fs, unit_fs) in [
            (0, 5_000_000, 1000),
            (200_000, 1_000_000, 1000),
            (500_000, 12_000_000, 1000),
            (600_000, 2_000_000, 1000),
            (650_000, 5_000_000, 1000),
            (500_000, 12_000_000, 1_000_000),
            (650_000, 5_000_000, 1_000_000),
        ] {
            let step_fs = of_rate(kilohertz);
            let sampler = WireSampler { skew_fs, step_fs, phase_fs, unit_fs, ..USUAL };
            let (said, faults) = sampler.import(&sent, 1);
            let case = format!("{kilohertz} kS/s, skew {skew_fs}, unit {unit_fs}: {said} {faults}");
            if said.contains("40 of 40 packets") && faults.is_empty() {
                continue;
            }
            bad += 1;
            assert!(faults.contains("samples are ") && faults.contains("rate of 200"), "{case}");
            let judged = faults.split("unless this is skew").next().unwrap();
            assert!(!CLAIMS.iter().any(|claim| judged.contains(claim)), "{case}");
        }
    }
    assert!(bad > 30, "{bad}");
    // Nor is an idle link broken, which does not use all wires.
    let sampler = WireSampler { period_fs: 12_600_000, step_fs: of_rate(160_000), ..USUAL };
    let (_, faults) = sampler.import(&[0x003, 0x00c].repeat(200), 1);
    let is_claimed = CLAIMS.iter().any(|claim| faults.contains(claim));
    assert!(faults.contains("samples are 6.25 ns apart") && !is_claimed, "{faults}");
    // Skew of a wire by as much gives the same changes.
    for skew_fs in [6_300_000, USUAL.period_fs] {
        let sampler = WireSampler { skew_fs, bundle: 8, step_fs: 100_000, ..USUAL };
        let (_, faults) = sampler.import(&sent, 1);
        assert!(faults.contains("; unless this is skew: wire d recorded a"), "{faults}");
    }
    // A sendclk has clocked these: both channels are good in one order of the wires.
    let opposite: Vec<u16> = sent.iter().map(|bits| bits.reverse_bits() >> 7).collect();
    let sampler = WireSampler { step_fs: USUAL.period_fs, phase_fs: 5_000_000, ..USUAL };
    let (_, faults) = sampler.import(&opposite, 2);
    assert_eq!(faults.matches("so read, 40 of 40 packets").count(), 2, "{faults}");
}

#[test]
fn wires_without_skew_have_the_rate_of_their_changes() {
    let sent = traffic();
    // Rates whose period is no whole number of samples of 1 ns and 2 ns, and slow ones with skew.
    for (kilohertz, skews_fs) in [
        (80_000, &[0, 500_000][..]),
        (79_990, &[0]),
        (77_670, &[0, 300_000]),
        (72_700, &[500_000, 0]),
        (88_000, &[400_000, 0]),
        (160_000, &[0]),
        (40_000, &[0, 700_000]),
        (20_000, &[0, 700_000]),
        (8000, &[0]),
    ] {
        let samples = [(1_000_000, 300_000), (2_000_000, 700_000), (2_000_000, 1_900_000)];
        let all = skews_fs.iter().flat_map(|skew_fs| samples.map(|it| (*skew_fs, it)));
        for (skew_fs, (step_fs, phase_fs)) in all {
            let period_fs = of_rate(kilohertz);
            let sampler = WireSampler { period_fs, skew_fs, step_fs, phase_fs, ..USUAL };
            let (said, faults) = sampler.import(&sent, 1);
            let case = format!("{kilohertz} kHz, skew {skew_fs}, {step_fs} fs: {said} {faults}");
            assert!(said.contains("40 of 40 packets"), "{case}");
            let is_usual = kilohertz.abs_diff(80_000) < 100;
            let is_told = faults.contains("of --rate: give the rate of the sender");
            assert_eq!(is_told, !is_usual, "{case}");
            assert_eq!(faults.lines().count(), usize::from(!is_usual), "{case}");
            let shown = said.split_once(" M/s (").unwrap().0.rsplit(' ').next().unwrap();
            let shown: f64 = shown.parse().unwrap();
            assert!((shown * 1000.0 / kilohertz as f64 - 1.0).abs() < 0.001, "{case}");
        }
    }
}

#[test]
fn clips_on_one_pair_idle_links_and_short_recordings_are_not_said_to_be_broken() {
    let (skew_fs, phase_fs) = (400_000, 1_500_000);
    let sampler = WireSampler { skew_fs, step_fs: 2_000_000, phase_fs, ..USUAL };
    // Without skew, samples of 2 ns are none of 12.5 ns that were rounded.
    let (said, _) = WireSampler { skew_fs: 0, ..sampler }.import(&traffic(), 2);
    assert!(!said.contains("whole multiples"), "{said}");
    let (_, faults) = sampler.import(&traffic(), 2);
    // Nine wires of which d comes after half a period: at four times the rate there would be more runts with a good CRC.
    for skew_fs in [3_350_000, 3_500_000, 4_000_000] {
        let (said, faults) =
            WireSampler { skew_fs, bundle: 4, step_fs: 1_000_000, ..sampler }.import(&traffic(), 1);
        assert!(said.contains("40 of 40 packets") && faults.is_empty(), "{said} {faults}");
    }
    let one_pair =
        "s1:1>h1:0: changes as h1:0>s1:1 does in every transition: their clips are on one pair";
    assert!(faults.contains(one_pair) && faults.lines().count() == 1, "{faults}");
    // Fills, how many characters of them, and a period; the clock of the shortest one seems 1 % off.
    for (fill, count, period_fs, words) in [
        (&[0x00f, 0x003][..], 600, 12_500_000, "symbols alone: an idle link"),
        (&[0x003, 0, 0], 900, 12_500_000, "symbols alone: an idle link"),
        // A clock and its complement on two wires.
        (&[0x00c, 0, 0], 900, 12_500_000, "symbols alone: an idle link"),
        (&[0x00c, 0, 0], 90, 12_500_000, "no Myrinet found: no complete packet, 29 of 29 control"),
        (&[0x003, 0, 0], 6, 12_500_000, "no Myrinet found: no GAP, no complete packet, 1 of 1 "),
        (&[0x00c, 0x003], 7, 12_300_000, "no Myrinet found: no complete packet, 6 of 6 control"),
        (&[0x00c, 0x003], 7, 12_500_000, "no Myrinet found: no complete packet, 6 of 6 control"),
        (&[0x00c, 0x003], 600, 12_500_000, ""),
    ] {
        let sent: Vec<u16> = fill.iter().copied().cycle().take(count).collect();
        let (_, faults) = WireSampler { period_fs, ..sampler }.import(&sent, 1);
        let case = format!("{fill:?} {count} {period_fs}: {faults}");
        assert!(faults.contains(words) && faults.is_empty() == words.is_empty(), "{case}");
        assert!(!CLAIMS.iter().any(|claim| faults.contains(claim)), "{case}");
    }
}
