//! `export parquet`, read back by DuckDB. The variable `MYRISCOPE_DUCKDB` names a Python that has it; without it
//! contents are not compared.

#![expect(clippy::indexing_slicing, reason = "a test that cannot go on stops")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::hostile::channels;
use crate::support::{
    RunOutcome, ScratchDirectory, capture, capture_bytes, good, json_lines, refused, run, run_in,
};

/// Tables and the commands that print their rows.
const TABLES: [(&str, &[&str]); 9] = [
    ("packets", &["packets"]),
    ("events", &["events"]),
    ("link_intervals", &["links", "--intervals"]),
    ("fills", &["links", "--fill"]),
    ("journeys", &["journeys"]),
    ("hops", &["journeys"]),
    ("waits", &["blocking"]),
    ("messages", &["conversations", "--events"]),
    ("findings", &["check"]),
];

/// Columns that rows do not have.
const ADDED: [&str; 2] = ["link", "body"];

/// Rows of a table, as a command prints them.
fn rows(table: &str, arguments: &[&str]) -> Vec<Value> {
    let rows = json_lines(&run(&[arguments, &["--format", "jsonl"]].concat()).out);
    let rows = rows.into_iter().filter(|row: &Value| row.get("row") != Some(&json!("verdict")));
    let hops = |row: &Value| {
        let hops = row["hops"].as_array().unwrap().iter().enumerate();
        let own = |(number, hop): (usize, &Value)| {
            let mut hop = hop.clone();
            hop["journey"] = row["journey"].clone();
            hop["capture"] = row["capture"].clone();
            hop["hop"] = json!(number);
            hop
        };
        hops.map(own).collect::<Vec<_>>()
    };
    match table {
        "hops" => rows.flat_map(|row| hops(&row)).collect(),
        "journeys" => {
            let counted = rows.map(|mut row| {
                let count = row["hops"].as_array().unwrap().len();
                row["hops"] = json!(count);
                row
            });
            counted.collect()
        }
        _ => rows.collect(),
    }
}

/// Number of values and sum of numbers of each member.
fn totals(rows: &[Value]) -> BTreeMap<String, (u64, Option<u128>)> {
    let mut totals = BTreeMap::from([("*".to_owned(), (0, None))]);
    for row in rows {
        totals.get_mut("*").unwrap().0 += 1;
        for (name, value) in row.as_object().unwrap().iter().filter(|(_, value)| !value.is_null()) {
            let (count, sum) = totals.entry(name.clone()).or_insert((0, None));
            *count += 1;
            if let Some(number) = value.as_u64() {
                *sum = Some(sum.unwrap_or(0) + u128::from(number));
            }
        }
    }
    totals
}

/// Output of the script, in a directory.
#[expect(clippy::print_stderr, reason = "a test that is skipped is reported")]
fn duckdb(directory: &ScratchDirectory, arguments: &[&str]) -> Option<String> {
    let Some(python) = std::env::var_os("MYRISCOPE_DUCKDB") else {
        eprintln!("skipped: MYRISCOPE_DUCKDB names no Python with DuckDB");
        return None;
    };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/program/tables.py");
    let mut command = Command::new(python);
    command.current_dir(directory.path()).arg(script).args(arguments);
    let RunOutcome { status, out, err, .. } = command.output().unwrap().into();
    assert_eq!(status, Some(0), "{err}");
    Some(out)
}

/// Columns and links of tables, as DuckDB reads them.
fn columns(directory: &ScratchDirectory, place: &str, tables: &[&str]) -> Option<Value> {
    let found = duckdb(directory, &[&[place], tables].concat())?;
    Some(serde_json::from_str(&found).unwrap())
}

/// Compares exported tables with the rows that commands print, column by column.
fn compare(
    directory: &ScratchDirectory,
    (capture, place): (&str, &str),
    tables: &[(&str, &[&str])],
    options: &[&str],
) {
    let names: Vec<&str> = tables.iter().map(|(name, _)| *name).collect();
    run_in(directory, &[&["export", "parquet", capture, "-o", place], options].concat());
    let Some(found) = columns(directory, place, &names) else { return };
    let options: Vec<&str> = match options {
        ["--table", _, rest @ ..] => rest.to_vec(),
        _ => options.to_vec(),
    };
    for (name, command) in tables {
        let expected = totals(&rows(name, &[command, &[capture][..], &options].concat()));
        let columns = found[name]["columns"].as_object().unwrap();
        for (column, total) in columns.iter().filter(|(name, _)| !ADDED.contains(&name.as_str())) {
            let sum = total[1].as_str().map(|sum| sum.parse().unwrap());
            let total = (total[0].as_u64().unwrap(), sum);
            let expected = expected.get(column).copied().unwrap_or_default();
            assert_eq!(total, expected, "{capture} {name}.{column}");
        }
        let columns: BTreeSet<&String> = columns.keys().collect();
        let missing: Vec<_> = expected.keys().filter(|name| !columns.contains(name)).collect();
        assert!(missing.is_empty(), "{name}: {missing:?}");
    }
}

#[test]
fn tables_have_the_rows_of_the_commands() {
    let directory = ScratchDirectory::new("tables");
    for name in ["demo-lossy", "demo-ring", "demo-cut", "demo-clocks", "demo-self-healing"] {
        compare(&directory, (&capture(name), name), &TABLES, &[]);
    }
    for (number, options) in [
        &["--channel", "s0:1"][..],
        &["--from", "20us", "--to", "400us"],
        &["--table", "packets", "--filter", "length > 20 && crc.good"],
    ]
    .into_iter()
    .enumerate()
    {
        let one = options.contains(&"--filter");
        let tables = if one { &TABLES[..1] } else { &TABLES };
        compare(&directory, (&capture("demo-lossy"), &number.to_string()), tables, options);
    }
    // The file ends inside a block: what was read is written.
    let bytes = capture_bytes("demo-cut");
    let cut = directory.write("cut.pcapng", &bytes[..bytes.len() / 2]);
    compare(&directory, (&cut, "half"), &TABLES[..6], &[]);
}

/// From each finding on, and up to it.
#[test]
fn a_window_selects_as_many_rows_as_of_the_commands() {
    let (directory, capture) = (ScratchDirectory::new("tables-window"), capture("link-1"));
    let findings = rows("findings", &["check", &capture]);
    let edges = findings.iter().flat_map(|row| [&row["at"], &row["last_at"]]);
    let edges: BTreeSet<u64> = edges.map(|at| at.as_u64().unwrap()).filter(|at| *at > 0).collect();
    for (edge, option) in edges.iter().flat_map(|edge| ["--from", "--to"].map(|it| (edge, it))) {
        let (place, edge) = (directory.file(&format!("{option}-{edge}")), format!("{edge}ch"));
        let window = [&*capture, option, &edge];
        let said = run(&[&["export", "parquet", "-o", &place], &window[..]].concat()).out;
        let expected = TABLES.map(|(name, command)| {
            let count = rows(name, &[command, &window].concat()).len();
            format!("{name:<14} {count:>12} rows\n")
        });
        assert_eq!(said, expected.concat(), "{window:?}");
    }
}

#[test]
fn the_documentation_has_queries_with_their_output() {
    let directory = ScratchDirectory::new("tables-queries");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let (scenario, page) = (root.join("scale/now100.toml"), root.join("docs/tables.md"));
    let (now, page) = (directory.file("now100.pcapng"), page.to_str().unwrap());
    good(&["simulate", scenario.to_str().unwrap(), "-o", &now]);
    let text = fs::read_to_string(page).unwrap();
    let said = good(&["export", "parquet", &now, "-o", &directory.file("now100")]);
    assert!(text.contains(&said), "{said}");
    good(&["export", "parquet", &capture("demo-lossy"), "-o", &directory.file("lossy")]);
    if let Some(expected) = duckdb(&directory, &[page]) {
        assert!(text == expected, "docs/tables.md should be\n{expected}");
    }
}

#[test]
fn shares_of_the_links_are_the_tables_of_all_links() {
    let directory = ScratchDirectory::new("tables-shares");
    let (file, of_links) = (capture("demo-now36"), "packets,events,link_intervals,fills");
    let whole = directory.file("whole");
    good(&["export", "parquet", &file, "-o", &whole, "--table", of_links]);
    let mut shared = BTreeMap::new();
    for share in ["0/3", "1/3", "2/3"] {
        let part = directory.file(&share.replace('/', "-"));
        good(&["export", "parquet", &file, "-o", &part, "--shard", share]);
        for (name, bytes) in files(Path::new(&part)) {
            assert_eq!(shared.insert(name.clone(), bytes), None, "{name}");
        }
    }
    assert!(files(Path::new(&whole)) == shared);
}

/// Contents of the files of tables that have rows.
fn files(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    for table in fs::read_dir(directory).unwrap() {
        for link in fs::read_dir(table.unwrap().path()).unwrap() {
            for file in fs::read_dir(link.unwrap().path()).unwrap() {
                let path = file.unwrap().path();
                let name = path.strip_prefix(directory).unwrap().display().to_string();
                if !name.contains("HIVE_DEFAULT") {
                    files.insert(name, fs::read(path).unwrap());
                }
            }
        }
    }
    files
}

#[test]
fn hostile_names_stay_inside_the_directory() {
    let directory = ScratchDirectory::new("tables-names");
    let names = ["../../x", "/etc/x", "\u{1b}[2J\n\0>..", "", "a/b>c%2F", "link=x>=y"];
    let names = names.map(str::to_owned).into_iter().chain(["/".repeat(1 << 14)]);
    let file = directory.write("names.pcapng", &channels(names, 4));
    let outcome = run_in(&directory, &["export", "parquet", &file, "-o", "t"]);
    assert_eq!((outcome.status, outcome.err.as_str()), (Some(0), ""));
    assert_eq!(directory.names(), ["names.pcapng", "t"]);
    let Some(found) = columns(&directory, "t", &["packets"]) else { return };
    let links: Vec<Option<String>> =
        serde_json::from_value(found["packets"]["links"].clone()).unwrap();
    let links = links.into_iter().flatten();
    let expected = ["\u{1b}[2J\n\0-..", "../../x", "/etc/x", "=y-link=x", "a/b-c%2F"];
    assert_eq!(links.filter(|link| link.len() < 50).collect::<Vec<_>>(), expected);
}

#[test]
fn directories_and_options_are_checked() {
    let directory = ScratchDirectory::new("tables-errors");
    let (file, taken) = (capture("link-1"), directory.file("taken"));
    fs::create_dir(&taken).unwrap();
    good(&["export", "parquet", &file, "-o", &taken]);
    good(&["export", "parquet", &file, "-o", &directory.file("no/where")]);
    let export = ["export", "parquet", &file, "-o"];
    let new = directory.file("new");
    for (options, error) in [
        (&[taken.as_str()][..], "the directory is not empty"),
        (&[file.as_str()], "link-1/capture.pcapng: Not a directory"),
        (&["-"], "tables are several files: name a directory"),
        (&[&new, "--filter", "length > 1"], "--filter needs --table"),
        (&[&new, "--filter", "fate", "--table", "packets"], "packets have no field `fate`"),
        (&[&new, "--shard", "3/3"], "is no share: expected K/N"),
        (&[&new, "--shard", "1/3", "--table", "hops"], "the table hops needs all links"),
        (&[&new, "--channel", "h9"], "no channel \"h9\""),
    ] {
        refused(&[&export[..], options].concat(), error);
    }
    refused(
        &["export", "parquet", "missing.pcapng", "-o", &directory.file("none")],
        "missing.pcapng",
    );
}
