//! Questions about several links, as joins over the tables of packets that shares of the links have
//! (`myriscope export parquet --shard`), on DataFusion in one process or on a cluster of Ballista.

use std::sync::Arc;

use ballista::prelude::{SessionConfigExt, SessionContextExt};
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::DataType;
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};
use datafusion::datasource::file_format::parquet::ParquetFormat;
use datafusion::datasource::listing::{
    ListingOptions, ListingTable, ListingTableConfig, ListingTableUrl,
};
use datafusion::error::Result;
use datafusion::execution::SessionStateBuilder;
use datafusion::prelude::{SessionConfig, SessionContext};

/// Tasks into which a question is divided. *Chosen*: two for each of a few executors.
const TASKS: usize = 4;

/// Names of the questions, and their text behind `passages.sql`.
pub const QUESTIONS: [(&str, &str); 3] = [
    ("hops", include_str!("questions/hops.sql")),
    ("journeys", include_str!("questions/journeys.sql")),
    ("waits", include_str!("questions/waits.sql")),
];

/// A place where questions are answered: this process, or the cluster of a scheduler `df://host:port`.
///
/// # Errors
/// Those of the connection.
pub async fn session(scheduler: Option<&str>) -> Result<SessionContext> {
    let Some(url) = scheduler else {
        let config = SessionConfig::new().with_target_partitions(TASKS);
        return Ok(SessionContext::new_with_config(config));
    };
    let config = SessionConfig::new_with_ballista().with_target_partitions(TASKS);
    let state = SessionStateBuilder::new().with_default_features().with_config(config).build();
    SessionContext::remote_with_state(url, state).await
}

/// Registers a table that several directories of tables share; the columns of its partitions are left out.
///
/// # Errors
/// Those of reading the files.
pub async fn register(session: &SessionContext, table: &str, directories: &[String]) -> Result<()> {
    let path = |directory: &String| {
        ListingTableUrl::parse(format!("{}/{table}/", directory.trim_end_matches('/')))
    };
    let paths = directories.iter().map(path).collect::<Result<Vec<_>>>()?;
    let is_by_link = table != "journeys";
    let partition = is_by_link.then(|| ("link".to_owned(), DataType::Utf8));
    let options = ListingOptions::new(Arc::new(ParquetFormat::default()))
        .with_file_extension(".parquet")
        .with_table_partition_cols(partition.into_iter().collect());
    let config = ListingTableConfig::new_with_multi_paths(paths).with_listing_options(options);
    let config = config.infer_schema(&session.state()).await?;
    session.register_table(table, Arc::new(ListingTable::try_new(config)?))?;
    Ok(())
}

/// The whole query of a question.
pub fn query(question: &str) -> String {
    format!("{}{question}", include_str!("questions/passages.sql"))
}

/// Answer to a query: its columns, then its rows, separated by commas.
///
/// # Errors
/// Those of the query.
pub async fn answer(session: &SessionContext, query: &str) -> Result<Vec<String>> {
    let answer = session.sql(query).await?;
    let names: Vec<String> =
        answer.schema().fields().iter().map(|field| field.name().clone()).collect();
    let mut lines = vec![names.join(",")];
    for batch in answer.collect().await? {
        lines.extend(rows(&batch)?);
    }
    Ok(lines)
}

fn rows(batch: &RecordBatch) -> Result<Vec<String>> {
    let options = FormatOptions::default();
    let columns = batch.columns().iter();
    let columns = columns.map(|column| ArrayFormatter::try_new(column, &options));
    let columns = columns.collect::<std::result::Result<Vec<_>, _>>()?;
    let row = |at| columns.iter().map(|column| column.value(at).to_string()).collect::<Vec<_>>();
    Ok((0..batch.num_rows()).map(|at| row(at).join(",")).collect())
}
