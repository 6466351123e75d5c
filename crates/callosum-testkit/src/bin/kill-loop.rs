//! `kill-loop KILLS SEED`: kills `ledger-appender` so many times, and checks the ledger after each
//! kill.
//!
//! `cargo xtask kill-loop` builds both and starts this. [`KillLoop`] defines the checks; a failed
//! one ends in a panic.

use std::{
    io::{self, Write},
    process::ExitCode,
};

use callosum_testkit::{KillLoop, fakes};

fn main() -> io::Result<ExitCode> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let numbers: Vec<u64> = arguments.iter().flat_map(|text| text.parse()).collect();
    let [kills, seed] = numbers[..] else {
        writeln!(io::stderr(), "usage: kill-loop KILLS SEED")?;
        return Ok(ExitCode::from(2));
    };
    let killed = KillLoop::new(fakes::program("ledger-appender"), seed).kill(kills as usize);
    writeln!(io::stdout(), "{killed}")?;
    Ok(ExitCode::SUCCESS)
}
