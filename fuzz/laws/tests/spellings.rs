//! One recording in the spellings that foreign formats allow: each is read as the same changes. IEEE 1364, RFC 4180, sigrok

use std::fmt::Write as _;
use std::io::Cursor;

use codec::recording::sigrok::SigrokReader;
use codec::recording::table::TableReader;
use codec::recording::vcd::VcdReader;
use codec::recording::{RecordingError, SampleDistance, SignalChange, SignalReader};
use codec::wires::WIRES;
use laws::recordings::stored;
use laws::repair::{SeededRng, draws};

/// Times in ns from 0 on, and the levels of nine signals from there on.
type RecordedLevels = Vec<(u64, u16)>;

/// Levels with changes a few ns apart, and silences of up to a second.
fn drawn(dice: &mut SeededRng) -> RecordedLevels {
    let mut time = 0;
    let mut next = |_| {
        let levels = u16::try_from(dice.below(1 << WIRES)).unwrap();
        let at = time;
        let most = if dice.below(20) == 0 { 1_000_000_000 } else { 50 };
        time += 1 + dice.below(most);
        (at, levels)
    };
    (0..40).map(&mut next).collect()
}

/// Changes between levels, with the time of each in fs.
fn differences(levels: &[(u64, u16)], time_fs: impl Fn(u64) -> u64) -> Vec<SignalChange> {
    let pairs = levels.windows(2).map(|pair| SignalChange {
        time_fs: time_fs(pair[1].0),
        signals: u64::from(pair[0].1 ^ pair[1].1),
        unknown: 0,
    });
    pairs.filter(|change| change.signals != 0).collect()
}

/// Changes of the signals `[0]` to `[8]` of a file.
fn read(reader: Result<impl SignalReader, RecordingError>, text: &str) -> Vec<SignalChange> {
    let reader = reader.unwrap_or_else(|error| panic!("{error}\n{text:.900}"));
    let named = |wire: usize| {
        let end = format!("[{wire}]");
        reader.signals().names().iter().position(|name| name.ends_with(&end)).unwrap()
    };
    let (selected, mut all) = ((0..WIRES).map(named).collect::<Vec<_>>(), Vec::new());
    let summary = Box::new(reader)
        .read(&selected, &mut |some| all.extend(some.iter().filter(|it| it.signals != 0)));
    assert!(summary.error.is_none(), "{:?}\n{text:.900}", summary.error);
    all
}

/// Ranges of nine signals, and their numbers in the order of a file.
const ORDERS: [(&str, [usize; WIRES]); 2] =
    [("[8:0]", [8, 7, 6, 5, 4, 3, 2, 1, 0]), ("[0:8]", [0, 1, 2, 3, 4, 5, 6, 7, 8])];

/// A value change dump: scalars, a vector or ports, of either direction, in any unit, from any time on.
fn dump(levels: &RecordedLevels, dice: &mut SeededRng) -> (String, i64) {
    let mut chance = || dice.below(2) == 0;
    let (range, order) = ORDERS[usize::from(chance())];
    let (is_port, is_vector, is_short) = (chance(), chance(), chance());
    let (is_section, is_upper, end) = (chance(), chance(), if chance() { "\r\n" } else { "\n" });
    let units = [("1 ns", 1), ("100ps", 10), ("1\tps", 1000), ("0.5 ns", 2), ("1 fs", 1_000_000)];
    let (unit, factor) = units[usize::try_from(dice.below(5)).unwrap()];
    let begin: u64 = [0, 7, 1_000_000_000_000][usize::try_from(dice.below(3)).unwrap()];
    let kind = if is_port { "port" } else { "wire" };
    let mut text =
        format!("$comment #5 1! $end{end}$timescale {unit} $end{end}$scope module top $end{end}");
    match (is_vector, is_port) {
        (true, true) => write!(text, "$var port {range} <0 tx $end{end}").unwrap(),
        (true, false) => write!(text, "$var wire 9 <0 tx {range} $end{end}").unwrap(),
        (false, _) => order.iter().for_each(|wire| {
            write!(text, "$var {kind} 1 <{wire} tx [{wire}] $end{end}").unwrap();
        }),
    }
    write!(text, "$upscope $end{end}$enddefinitions $end{end}").unwrap();
    for (number, (time, levels)) in levels.iter().enumerate() {
        write!(text, "#{}{end}", (begin + time) * factor).unwrap();
        if number == 0 && is_section {
            write!(text, "$dumpvars{end}").unwrap();
        }
        let letters = if is_port { ["DLdl0", "UHuh1"] } else { ["0", "1"] };
        let digit = |wire: &usize| {
            let of_level = letters[usize::from(levels >> wire & 1)];
            char::from(of_level.as_bytes()[(number + wire) % of_level.len()])
        };
        let digits: String = order.iter().map(digit).collect();
        match (is_vector, is_port) {
            (true, true) => write!(text, "p{digits} 666666666 000000000 <0{end}").unwrap(),
            (true, false) => {
                let short = digits.trim_start_matches('0');
                let digits = if is_short && !short.is_empty() { short } else { &digits };
                write!(text, "{}{digits} <0{end}", if is_upper { 'B' } else { 'b' }).unwrap();
            }
            (false, _) => order.iter().zip(digits.chars()).for_each(|(wire, digit)| {
                let (before, behind) = if is_port { ("p", " 6 0 ") } else { ("", "") };
                write!(text, "{before}{digit}{behind}<{wire}{end}").unwrap();
            }),
        }
        if number == 0 && is_section {
            write!(text, "$end{end}").unwrap();
        }
    }
    (text, begin.cast_signed())
}

/// A table: a column a signal or a bus of some base, any separator and unit, times from before 0 on.
fn table(levels: &RecordedLevels, dice: &mut SeededRng) -> (String, i64) {
    let mut pick = |count| usize::try_from(dice.below(count)).unwrap();
    let ((range, order), base, end) = (ORDERS[pick(2)], pick(7), ["\n", "\r\n", "\r"][pick(3)]);
    let separator = [',', ';', '\t', '|'][pick(4)];
    let point = if separator == ',' { '.' } else { ['.', ','][pick(2)] };
    let (title, decimals) =
        [("Time [s]", 9), ("Zeit(us)", 3), ("nanoseconds", 0), ("[ms]", 6), ("in s", 9)][pick(5)];
    let (comment, last) = (["", "; made by hand", "# made by hand"][pick(3)], ["", "|"][pick(2)]);
    let last = last.replace('|', &separator.to_string());
    let begin = [0, -1250, 1_000_000][pick(3)];
    let titles = match base {
        0 => order.map(|wire| format!("\"tx[{wire}]\"")).join(&separator.to_string()),
        _ => format!("tx{range}"),
    };
    // As many lines of something else before the titles as of signals: these have more fields.
    let most = if base == 0 { levels.len() + usize::from(last.is_empty()) } else { 0 };
    let notes = format!("Firmware{separator}2{end}").repeat([0, most / 9, most][pick(3)]);
    let mut text = format!("{comment}{end}{notes}{title}{separator}{titles}{end}");
    for (time, levels) in levels {
        let time = i64::try_from(*time).unwrap() + begin;
        let (whole, parts) = (time.abs() / 10_i64.pow(decimals), time.abs() % 10_i64.pow(decimals));
        let sign = if time < 0 { "-" } else { "" };
        write!(text, "{sign}{whole}").unwrap();
        if decimals > 0 {
            write!(text, "{point}{parts:00$}", decimals as usize).unwrap();
        }
        let digits = order.map(|wire| (levels >> wire & 1).to_string());
        let number = u16::from_str_radix(&digits.concat(), 2).unwrap();
        let values = match base {
            0 => digits.join(&separator.to_string()),
            1 => format!("0x{number:x}"),
            2 => format!("0b{number:09b}"),
            3 => format!("9'd{number}"),
            4 => format!("0b{number:b}"),
            5 => format!("{}", i32::from(number) - if number < 256 { 0 } else { 512 }),
            _ => format!("{number:03X}h"),
        };
        write!(text, "{separator}{values}{last}{end}").unwrap();
    }
    (text, begin)
}

#[test]
fn a_dump_and_a_table_are_read_whatever_their_spelling() {
    for number in 0..draws(300) {
        let mut dice = SeededRng::numbered(b"spellings", number);
        let levels = drawn(&mut dice);
        // A recording that begins before 0, or a second later, is counted from its first time.
        let expected = |begin: i64| {
            let kept = u64::try_from(begin).ok().filter(|begin| *begin < 1_000_000_000);
            differences(&levels, |time| (time + kept.unwrap_or(0)) * 1_000_000)
        };
        let (text, begin) = dump(&levels, &mut dice);
        let changes = read(VcdReader::new(text.as_bytes()), &text);
        assert_eq!(changes, expected(begin), "{number}\n{text:.900}");
        let (text, begin) = table(&levels, &mut dice);
        let changes = read(TableReader::new(text.as_bytes(), None), &text);
        assert_eq!(changes, expected(begin), "{number}\n{text:.900}");
    }
}

/// A row a sample, and a row a change with the number of its sample.
fn tables(levels: &[(u64, u16)]) -> [String; 2] {
    let mut rows = [String::from("index,tx[8:0]\n"), String::from("Sample,tx[8:0]\n")];
    for pair in levels.windows(2) {
        let (at, level) = pair[0];
        let count = usize::try_from(pair[1].0 - at).unwrap();
        rows[0] += &format!("0,{level:03x}\n").repeat(count);
        writeln!(rows[1], "{at},{level:03x}").unwrap();
    }
    rows
}

/// Rates that divide a second into femtoseconds, and others: their rounding does not add up.
#[test]
fn samples_have_the_times_of_their_rate() {
    for number in 0..draws(12) {
        let mut dice = SeededRng::numbered(b"sessions", number);
        let rates = [
            ("3 MHz", 3_000_000),
            ("500 MHz", 500_000_000),
            ("999999937", 999_999_937),
            ("7 kHz", 7000),
        ];
        let (spelling, rate) = rates[usize::try_from(number % 4).unwrap()];
        let (mut at, mut levels) = (0, vec![(0, 0)]);
        while at < 400_000 {
            let most = if dice.below(20) == 0 { 100_000 } else { 9 };
            at += 1 + dice.below(most);
            levels.push((at, u16::try_from(dice.below(1 << WIRES)).unwrap()));
        }
        // Signals begin at any bit of a sample.
        let (size, shift) = [(2, 5), (3, 8), (8, 55)][usize::try_from(dice.below(3)).unwrap()];
        let mut samples = Vec::new();
        for pair in levels.windows(2) {
            let sample = (u64::from(pair[0].1) << shift).to_le_bytes();
            samples.extend(sample[..size].repeat(usize::try_from(pair[1].0 - pair[0].0).unwrap()));
        }
        levels.pop();
        let mut description =
            format!("capturefile=logic-1\nsamplerate={spelling}\nunitsize={size}\n");
        for wire in 0..WIRES {
            writeln!(description, "probe{}=tx[{wire}]", shift + wire + 1).unwrap();
        }
        // Parts end anywhere between two samples.
        let cut = usize::try_from(dice.below(400_000)).unwrap() * size;
        let first = usize::from(dice.below(2) == 0);
        let session = stored(&[
            ("metadata", description.as_bytes()),
            (["logic-1-0", "logic-1-1"][first], &samples[..cut]),
            (["logic-1-1", "logic-1-2"][first], &samples[cut..]),
        ])
        .unwrap();
        let time_fs = |at: u64| {
            u64::try_from(u128::from(at) * 1_000_000_000_000_000 / u128::from(rate)).unwrap()
        };
        let expected = differences(&levels, time_fs);
        let found = read(SigrokReader::new(Cursor::new(session)), &description);
        assert_eq!(found, expected, "{number}");
        // A table states its rate, or is given one; its beginning is enough.
        let short = levels.partition_point(|(at, _)| *at < 20_000);
        let levels = &levels[..short];
        let [rows, changes] = tables(levels);
        let expected = differences(&levels[..short - 1], time_fs);
        let stated = format!("; Samplerate: {spelling}\n{rows}");
        let distance = SampleDistance::of_rate(1000 * rate);
        for (text, given) in [(&stated, None), (&rows, distance), (&changes, distance)] {
            let changes = read(TableReader::new(text.as_bytes(), given), text);
            assert_eq!(changes, expected, "{number} {given:?}");
        }
    }
}
