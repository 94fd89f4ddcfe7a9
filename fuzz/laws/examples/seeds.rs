//! Writes the seeds to `corpus/`: `cargo run -p laws --example seeds`.

use std::io;
use std::path::Path;

fn main() -> io::Result<()> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus");
    for (target, name, bytes) in laws::seeds::all() {
        let directory = corpus.join(target);
        std::fs::create_dir_all(&directory)?;
        std::fs::write(directory.join(name), bytes)?;
    }
    Ok(())
}
