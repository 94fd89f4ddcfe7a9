//! `myriscope-scale`: answers questions about several links, and runs a cluster on one machine.

use std::time::Instant;

use ballista_core::serde::BallistaCodec;
use ballista_core::serde::protobuf::scheduler_grpc_client::SchedulerGrpcClient;
use myriscope_scale::{QUESTIONS, answer, query, register, session};

const USAGE: &str = "\
usage: myriscope-scale [--scheduler df://HOST:PORT] hops|journeys|waits DIRECTORY...
       myriscope-scale scheduler             serves on this machine, and prints its address
       myriscope-scale executor HOST:PORT    executes tasks of that scheduler, on this machine

Each DIRECTORY has the tables of a share of the links: myriscope export parquet --shard K/N.
Clusters of several machines run Ballista's own ballista-scheduler and ballista-executor.";

type AskError = Box<dyn std::error::Error>;

#[tokio::main]
async fn main() -> Result<(), AskError> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["scheduler"] => {
            println!("{}", ballista_scheduler::standalone::new_standalone_scheduler().await?);
            std::future::pending().await
        }
        ["executor", address] => {
            let scheduler = SchedulerGrpcClient::connect(format!("http://{address}")).await?;
            let codec = BallistaCodec::default();
            ballista_executor::new_standalone_executor(scheduler, 2, codec).await?;
            std::future::pending().await
        }
        ["--scheduler", url, question, directories @ ..] => {
            query(Some(url), question, directories).await
        }
        [question, directories @ ..] => query(None, question, directories).await,
        [] => Err(USAGE.into()),
    }
}

async fn query(
    scheduler: Option<&str>,
    question: &str,
    directories: &[&str],
) -> Result<(), AskError> {
    let text = QUESTIONS.iter().find(|(name, _)| *name == question).map(|(_, text)| text);
    let (Some(text), [_, ..]) = (text, directories) else { return Err(USAGE.into()) };
    let directories: Vec<String> = directories.iter().map(ToString::to_string).collect();
    let started = Instant::now();
    let session = session(scheduler).await?;
    register(&session, "packets", &directories).await?;
    let registered = started.elapsed();
    answer(&session, &query(text)).await?.iter().for_each(|line| println!("{line}"));
    eprintln!(
        "files listed in {registered:.1?}, answered in {:.1?}",
        started.elapsed() - registered
    );
    Ok(())
}
