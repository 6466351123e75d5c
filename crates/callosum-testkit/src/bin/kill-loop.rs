//! `kill-loop KILLS SEED`: kills `ledger-appender` so many times, and looks after each kill.
//!
//! It is `cargo xtask kill-loop` that builds both and starts this. What is looked for is said by
//! [`KillLoop`]; it ends in a panic where that is not found.

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
