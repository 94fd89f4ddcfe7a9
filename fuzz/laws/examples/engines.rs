//! Runs random networks by both engines, and counts the periods that were compared:
//! `cargo run --release -p laws --example engines -- 1000`. A second number is that of the first network.

use std::io::{self, Write};

use laws::engines;
use laws::repair::SeededRng;

fn main() -> io::Result<()> {
    let mut numbers = std::env::args().skip(1).filter_map(|it| it.parse::<u64>().ok());
    let networks = numbers.next().unwrap_or(1000);
    let first = numbers.next().unwrap_or(0);
    let (mut compared, mut periods) = (0_u64, 0_u64);
    for number in first..first.saturating_add(networks) {
        let mut dice = SeededRng::numbered(b"engines", number);
        let bytes = dice.bytes_within(60, 600);
        let Ok(ticks) = std::panic::catch_unwind(|| engines::planned(&bytes)) else {
            writeln!(io::stderr(), "network {number}: the engines differ")?;
            continue;
        };
        compared += u64::from(ticks > 0);
        periods += ticks;
    }
    writeln!(io::stdout(), "{compared} networks, {periods} periods compared")
}
