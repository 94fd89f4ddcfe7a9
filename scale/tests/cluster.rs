//! Questions on a cluster of a scheduler and two executors on this machine, compared with the tables of one process.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use datafusion::prelude::SessionContext;
use myriscope_scale::{QUESTIONS, answer, query, register, session};

const SHARES: usize = 4;

/// Processes that end with the test.
struct RunningCluster(Vec<Child>);

impl Drop for RunningCluster {
    fn drop(&mut self) {
        for process in &mut self.0 {
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

impl RunningCluster {
    /// Starts a scheduler and two executors; returns the address of the scheduler.
    fn start() -> (Self, String) {
        let run = |arguments: &[&str]| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_myriscope-scale"));
            command.args(arguments).stdout(Stdio::piped()).spawn().unwrap()
        };
        let mut scheduler = run(&["scheduler"]);
        let mut address = String::new();
        BufReader::new(scheduler.stdout.take().unwrap()).read_line(&mut address).unwrap();
        let address = address.trim().to_owned();
        let executors = [(); 2].map(|()| run(&["executor", &address]));
        (Self([scheduler].into_iter().chain(executors).collect()), address)
    }
}

/// Output of the program, which has the feature `parquet`.
fn myriscope(arguments: &[&str]) -> String {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/debug/myriscope");
    let program = std::env::var_os("MYRISCOPE").unwrap_or(own.into());
    let output = Command::new(program).args(arguments).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() || arguments[0] == "check", "{arguments:?}: {said}");
    String::from_utf8(output.stdout).unwrap()
}

/// Sum of a member of all rows of a command.
fn sum(command: &[&str], capture: &str, member: &str) -> u64 {
    let lines = myriscope(&[command, &[capture, "--format", "csv", "--fields", member]].concat());
    lines.lines().skip(1).filter_map(|value| value.parse::<u64>().ok()).sum()
}

/// The last line of an answer.
async fn last(session: &SessionContext, query: &str) -> String {
    answer(session, query).await.unwrap().pop().unwrap()
}

/// The questions, asked of the journeys that one process has found.
fn of_one_process() -> BTreeMap<&'static str, &'static str> {
    BTreeMap::from([
        (
            "hops",
            "SELECT i.capture, i.channel AS input, i.packet AS input_packet, o.channel AS output,
                    o.packet AS output_packet, o.time_ps - i.time_ps AS latency_ps
             FROM hops i JOIN hops o
               ON i.capture = o.capture AND i.journey = o.journey AND i.hop + 1 = o.hop
             ORDER BY i.capture, output, output_packet",
        ),
        (
            "journeys",
            "SELECT j.capture, regexp_replace(split_part(f.channel, '>', 1), ':[0-9]+$', '') AS source,
                    regexp_replace(split_part(l.channel, '>', 2), ':[0-9]+$', '') AS target,
                    count(*) AS packets, sum(j.latency_ps) AS latency_ps,
                    max(j.latency_ps) AS latency_max_ps
             FROM journeys j
             JOIN hops f ON f.capture = j.capture AND f.journey = j.journey AND f.hop = 0
             JOIN hops l ON l.capture = j.capture AND l.journey = j.journey AND l.hop + 1 = j.hops
             GROUP BY j.capture, source, target ORDER BY j.capture, source, target",
        ),
        (
            "waits",
            "SELECT i.capture, o.channel AS output, count(*) AS packets, sum(h.end_ps - i.time_ps) AS taken_ps
             FROM hops i
             JOIN hops o ON i.capture = o.capture AND i.journey = o.journey AND i.hop + 1 = o.hop
             JOIN packets h ON h.capture = o.capture AND h.channel = o.channel
              AND h.packet + 1 = o.packet AND h.end_ps > i.time_ps
             GROUP BY i.capture, o.channel ORDER BY i.capture, o.channel",
        ),
    ])
}

#[tokio::test]
async fn a_cluster_answers_from_shares_what_one_process_finds() {
    let scratch = tempfile::tempdir().unwrap();
    let place = |name: &str| scratch.path().join(name).to_str().unwrap().to_owned();
    let scenario = concat!(env!("CARGO_MANIFEST_DIR"), "/now100.toml");
    let (capture, whole) = (place("now100.pcapng"), place("whole"));
    myriscope(&["simulate", scenario, "-o", &capture]);
    let said = myriscope(&["export", "parquet", &capture, "-o", &whole]);
    let shares: Vec<String> = (0..SHARES).map(|share| place(&share.to_string())).collect();
    for (number, share) in shares.iter().enumerate() {
        let part = format!("{number}/{SHARES}");
        myriscope(&["export", "parquet", &capture, "-o", share, "--shard", &part]);
    }

    // DataFusion reads what the program has written.
    let one = session(None).await.unwrap();
    for line in said.lines() {
        let [table, rows, _] = line.split_whitespace().collect::<Vec<_>>().try_into().unwrap();
        register(&one, table, &[whole.clone()]).await.unwrap();
        assert_eq!(last(&one, &format!("SELECT count(*) FROM {table}")).await, rows, "{table}");
    }
    for (table, command, member) in [
        ("packets", &["packets"][..], "length"),
        ("link_intervals", &["links", "--intervals"], "periods"),
        ("fills", &["links", "--fill"], "hi_end"),
        ("journeys", &["journeys"], "latency_ps"),
        ("waits", &["blocking"], "periods"),
        ("findings", &["check"], "count"),
    ] {
        let total = last(&one, &format!("SELECT sum({member}) FROM {table}")).await;
        assert_eq!(total, sum(command, &capture, member).to_string(), "{table}.{member}");
    }

    let (_cluster, address) = RunningCluster::start();
    let many = session(Some(&format!("df://{address}"))).await.unwrap();
    register(&many, "packets", &shares).await.unwrap();
    for (name, text) in QUESTIONS {
        let expected = answer(&one, of_one_process()[name]).await.unwrap();
        assert!(expected.len() > 100, "{name}");
        let found = answer(&many, &query(text)).await.unwrap();
        assert!(found == expected, "{name}: {} and {} lines", found.len(), expected.len());
    }
    // Every wait for an output that the analysis has found is one of those.
    let missing = "SELECT count(*) FROM hops i
        JOIN hops o ON i.capture = o.capture AND i.journey = o.journey AND i.hop + 1 = o.hop
        JOIN packets h ON h.capture = o.capture AND h.channel = o.channel AND h.packet = i.behind
        WHERE i.waited_for = 'output' AND h.end_ps <= i.time_ps";
    assert_eq!(last(&one, missing).await, "0");
}
