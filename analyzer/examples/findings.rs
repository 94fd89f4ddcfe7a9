//! Writes the captures of `analyzer/tests/findings/table.rs` to `fixtures/findings`.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a tool of the workspace, which writes files and stops if it cannot go on"
)]

#[expect(dead_code, reason = "the tests use all of it")]
#[path = "../tests/findings/table.rs"]
mod table;

use std::fs;
use std::path::Path;

fn main() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/findings");
    fs::create_dir_all(&directory).unwrap();
    for case in table::all() {
        let path = directory.join(format!("{}.pcapng", case.kind.about().name));
        fs::write(path, case.has).unwrap();
    }
}
