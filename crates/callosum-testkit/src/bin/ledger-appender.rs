//! `ledger-appender FOLDER NAME COUNT`: stores entries, and reports each when it is stored.
//!
//! Each line of its standard output is the id of an entry that `commit` returned. It is written to
//! be killed at any moment. `COUNT` 0 continues without end. If others hold the lock for too long,
//! it retries, 40 times. Time and ids are the system's own, as in the real program.
//!
//! `ledger-appender FOLDER --hold` takes the ledger's lock, prints `held`, and waits for its
//! standard input to end.

use std::{
    io::{self, Read, Write},
    process::ExitCode,
};

use callosum_host::{Clock, Disk, Ids};
use callosum_ledger::{
    AuditEvent, ErrorCode, Event, Ledger, LedgerOptions, LedgerPaths, NewEntry, Spawn, TaskId,
    WriteError, locks::ExclusiveLedger,
};
use serde_json::Map;

/// Archives often enough to be killed at that too.
const ROTATE_AT: u64 = 150_000;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match arguments.as_slice() {
        [folder, "--hold"] => hold(&LedgerPaths::in_root(*folder)),
        [folder, name, count] => append(&LedgerPaths::in_root(*folder), name, count),
        _ => Err("usage: ledger-appender FOLDER NAME COUNT | FOLDER --hold".into()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // If even this fails, no reader is left for the reason.
            drop(writeln!(io::stderr(), "{error}"));
            ExitCode::FAILURE
        }
    }
}

fn append(paths: &LedgerPaths, name: &str, count: &str) -> Result<(), Box<dyn std::error::Error>> {
    let count: u64 = count.parse()?;
    let clock = Clock::system();
    let disk = Disk::real();
    Ledger::create(&disk, paths, &clock)?;
    let options = LedgerOptions {
        rotate_at: ROTATE_AT,
        ..LedgerOptions::default()
    };
    let ledger = Ledger::open_with(disk, paths.clone(), clock.clone(), Ids::random(), options)?;
    let mut stdout = io::stdout().lock();
    let mut number = 0;
    while count == 0 || number < count {
        number += 1;
        let spawn = Spawn {
            executor: name.to_owned(),
            details: Map::new(),
        };
        let id = patiently(|| ledger.reserve(spawn.clone()))?;
        ledger.record(AuditEvent::new(Event::Decision).with("number", number))?;
        // One in five is long enough to be killed in the middle of its writing.
        let length = if number % 5 == 4 {
            60_000
        } else {
            number * 97 % 1500
        };
        let summary = "x".repeat(length as usize);
        let entry = entry(id, name, &format!("{number} {summary}"), &clock);
        let stored = patiently(|| ledger.commit(entry.clone()))?;
        writeln!(stdout, "{}", stored.task_id)?;
        stdout.flush()?;
    }
    Ok(())
}

/// Retries if another process held the lock for too long.
fn patiently<T>(mut write: impl FnMut() -> Result<T, WriteError>) -> Result<T, WriteError> {
    let mut tries = 0;
    loop {
        match write() {
            Err(error) if error.code() == Some(ErrorCode::LockTimeout) && tries < 40 => tries += 1,
            written => return written,
        }
    }
}

fn entry(task_id: TaskId, name: &str, summary: &str, clock: &Clock) -> NewEntry {
    NewEntry {
        task_id,
        executor: name.to_owned(),
        summary: summary.to_owned(),
        tokens_used: 1,
        linked_tasks: Vec::new(),
        timestamp: clock.now(),
        metadata: Map::new(),
    }
}

fn hold(paths: &LedgerPaths) -> Result<(), Box<dyn std::error::Error>> {
    let disk = Disk::real();
    let _held = ExclusiveLedger::acquire(&disk, paths)?;
    writeln!(io::stdout(), "held")?;
    io::stdout().flush()?;
    io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}
