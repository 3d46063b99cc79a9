//! Reads objects as JSON lines and prints the status and message of each: what a pipe of verdicts
//! costs, to be measured beside other programs (`cargo xtask bench status`).

use std::io::{BufRead, BufWriter, Write};

use kstatus::{Timestamp, compute};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut input = std::io::stdin().lock();
    let mut output = BufWriter::new(std::io::stdout().lock());
    let now = Timestamp::from_seconds(1_800_000_000);
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line)? > 0 {
        let verdict = compute(&line, now)?;
        writeln!(output, "{} {}", verdict.status, verdict.message)?;
        line.clear();
    }
    Ok(output.flush()?)
}
