//! Files of the tables. Rows are kept as JSON, by partition, up to a total size; then the largest partitions are
//! written, each to a file that is complete. So memory and open files do not grow with capture or network.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use analyzer::link_shard::link_ends;
use arrow_schema::Schema;
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use serde_json::Value;
use tempfile::TempDir;

use super::columns::{fit, schema};
use crate::args::ExportedTable;
use crate::exit::{CliError, is_standard};

/// Size of the rows that are kept. *Chosen*: files of some megabytes for a small network, and at least of some
/// kilobytes for 65 536 channels.
const KEPT_MAX: usize = 128 << 20;
/// Size of a partition without rows, by an estimate.
const PARTITION: usize = 256;
/// Maximum length of the name of a directory. *Chosen*: file systems allow 255 bytes.
const NAME_MAX: usize = 200;
/// Name of the partition without a link, by the convention of Hive.
const NO_LINK: &str = "link=__HIVE_DEFAULT_PARTITION__";

#[derive(Debug)]
pub(super) struct TableFiles {
    /// The directory that is put in place at the end.
    directory: PathBuf,
    /// Directory of the incomplete tables; removed with its contents.
    scratch: TempDir,
    tables: BTreeMap<ExportedTable, OpenTable>,
    partitions: BTreeMap<(ExportedTable, String), PartitionRows>,
    kept: usize,
}

#[derive(Debug)]
struct OpenTable {
    schema: Arc<Schema>,
    rows: u64,
}

#[derive(Debug, Default)]
struct PartitionRows {
    lines: Vec<u8>,
    rows: usize,
    /// Number of files so far.
    files: u32,
}

impl TableFiles {
    /// Prepares tables in a directory that does not exist or is empty.
    pub(super) fn create(directory: &Path, tables: &[ExportedTable]) -> Result<Self, CliError> {
        let failed = |error: &io::Error| CliError::writing(directory, error);
        if is_standard(directory) {
            return Err(CliError::Message("tables are several files: name a directory".to_owned()));
        }
        match fs::read_dir(directory).map(Iterator::count) {
            Ok(1..) => {
                let error = "the directory is not empty; tables need a new or an empty one";
                return Err(CliError::writing(directory, &error));
            }
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(&error)),
            Ok(0) | Err(_) => {}
        }
        let parent = directory.parent().filter(|parent| !parent.as_os_str().is_empty());
        let parent = parent.unwrap_or_else(|| Path::new("."));
        fs::create_dir_all(parent).map_err(|error| failed(&error))?;
        let scratch = tempfile::Builder::new().prefix(".tables-").tempdir_in(parent);
        let open = |table: &ExportedTable| {
            (*table, OpenTable { schema: Arc::new(schema(*table)), rows: 0 })
        };
        Ok(Self {
            directory: directory.to_owned(),
            scratch: scratch.map_err(|error| failed(&error))?,
            tables: tables.iter().map(open).collect(),
            partitions: BTreeMap::new(),
            kept: 0,
        })
    }

    pub(super) fn has(&self, table: ExportedTable) -> bool {
        self.tables.contains_key(&table)
    }

    pub(super) fn add(
        &mut self,
        table: ExportedTable,
        channel: Option<&str>,
        mut row: Value,
    ) -> Result<(), CliError> {
        let Some(open) = self.tables.get_mut(&table) else { return Ok(()) };
        fit(open.schema.fields(), &mut row);
        open.rows += 1;
        let link = channel.map_or_else(String::new, link_directory);
        let partition = self.partitions.entry((table, link)).or_insert_with(|| {
            self.kept += PARTITION;
            PartitionRows::default()
        });
        let line = row.to_string();
        self.kept += line.len();
        partition.rows += 1;
        partition.lines.extend_from_slice(line.as_bytes());
        if self.kept > KEPT_MAX {
            self.write_down_to(KEPT_MAX / 2)?;
        }
        Ok(())
    }

    /// Writes the largest partitions until those that are left have a total size.
    fn write_down_to(&mut self, size: usize) -> Result<(), CliError> {
        let Self { tables, partitions, scratch, kept, .. } = self;
        let mut order: Vec<_> = partitions.iter_mut().collect();
        order.sort_by_key(|(_, partition)| std::cmp::Reverse(partition.lines.len()));
        for ((table, link), partition) in order {
            if partition.lines.is_empty() || *kept <= size {
                break;
            }
            let Some(open) = tables.get(table) else { continue };
            let path = scratch.path().join("tables").join(table.name()).join(link);
            *kept = kept.saturating_sub(partition.lines.len());
            partition
                .write(&open.schema, &path)
                .map_err(|error| CliError::writing(&self.directory, &error))?;
        }
        Ok(())
    }

    /// Completes the tables and puts them in place; returns the number of rows of each. A table without rows
    /// has a file without rows, so that queries find its columns.
    pub(super) fn finish(mut self) -> Result<Vec<(ExportedTable, u64)>, CliError> {
        self.write_down_to(0)?;
        let Self { directory, scratch, tables, .. } = self;
        let failed = |error: &dyn std::fmt::Display| CliError::writing(&directory, &error);
        let whole = scratch.path().join("tables");
        for (table, open) in tables.iter().filter(|(_, open)| open.rows == 0) {
            let is_by_link = open.schema.column_with_name("channel").is_some();
            let path = whole.join(table.name()).join(if is_by_link { NO_LINK } else { "" });
            PartitionRows::default().write(&open.schema, &path).map_err(|error| failed(&error))?;
        }
        // Only an empty directory is removed.
        let _ = fs::remove_dir(&directory);
        fs::rename(&whole, &directory).map_err(|error| failed(&error))?;
        Ok(tables.into_iter().map(|(table, open)| (table, open.rows)).collect())
    }
}

impl PartitionRows {
    /// Writes the rows to a new file in a directory, and forgets them.
    fn write(&mut self, schema: &Arc<Schema>, directory: &Path) -> Result<(), ParquetError> {
        fs::create_dir_all(directory)?;
        let file = File::create_new(directory.join(format!("part-{}.parquet", self.files)))?;
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
        let mut writer = ArrowWriter::try_new(file, Arc::clone(schema), Some(properties))?;
        let reader = arrow_json::ReaderBuilder::new(Arc::clone(schema));
        let mut decoder = reader.with_batch_size(self.rows.max(1)).build_decoder()?;
        decoder.decode(&self.lines)?;
        if let Some(batch) = decoder.flush()? {
            writer.write(&batch)?;
        }
        writer.close()?;
        *self = Self { files: self.files + 1, ..Self::default() };
        Ok(())
    }
}

/// Directory of a channel's link: `link=` and the names of both ends, percent-encoded as by Hive.
fn link_directory(channel: &str) -> String {
    let (one, other) = link_ends(channel);
    if one.is_empty() && other.is_empty() {
        return NO_LINK.to_owned();
    }
    let mut name = "link=".to_owned();
    let separator = if other.is_empty() { "" } else { "-" };
    for byte in [one, separator, other].concat().bytes() {
        if name.len() > NAME_MAX {
            break;
        }
        if byte.is_ascii_alphanumeric() || b"-_.:".contains(&byte) {
            name.push(byte.into());
        } else {
            // Writing to a string does not fail.
            let _ = write!(name, "%{byte:02X}");
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_of_a_channel_leaves_its_directory() {
        for (channel, directory) in [
            ("h0:0>s0:3", "link=h0:0-s0:3"),
            ("s0:3>h0:0", "link=h0:0-s0:3"),
            ("lo", "link=lo"),
            ("", NO_LINK),
            ("../../etc/passwd", "link=..%2F..%2Fetc%2Fpasswd"),
            ("a\u{1b}[31m=b>%", "link=%25-a%1B%5B31m%3Db"),
            ("é\\*?", "link=%C3%A9%5C%2A%3F"),
        ] {
            assert_eq!(link_directory(channel), directory);
        }
        assert!(link_directory(&"/".repeat(1000)).len() < 255);
    }
}
