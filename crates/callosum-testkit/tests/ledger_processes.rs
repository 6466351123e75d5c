//! Real processes at one ledger: killed, at once, and dead with the lock in their hands.
//!
//! They are here and not with the ledger because Cargo builds a package's programs for its own
//! tests.

#![expect(
    clippy::unwrap_used,
    reason = "the helpers of tests fail as the tests themselves do"
)]

use std::{
    collections::HashSet,
    io::{BufRead, BufReader, Read},
    path::Path,
};

use callosum_host::{Clock, Disk, Ids};
use callosum_ledger::{Ledger, LedgerPaths, Query, Reader, Spawn, replay, verify};
use callosum_testkit::{
    KillLoop,
    kill_loop::{start, start_holding},
};

const APPENDER: &str = env!("CARGO_BIN_EXE_ledger-appender");

fn project() -> (tempfile::TempDir, LedgerPaths) {
    let folder = tempfile::tempdir().unwrap();
    let paths = LedgerPaths::in_root(folder.path());
    Ledger::create(&Disk::real(), &paths, &Clock::system()).unwrap();
    (folder, paths)
}

/// REQ-LED-001, CAL-MSP-2: whenever a writer is killed, what it had acknowledged is there.
#[test]
fn no_kill_loses_an_acknowledged_entry() {
    let killed = KillLoop::new(APPENDER, 7).kill(200);
    assert!(killed.kills >= 200);
    assert!(killed.acknowledged > 0);
}

/// CAL-MSP-2, REQ-MSP-001: twelve processes append at once; each entry is there once, under an id
/// of its own, and each process comes to its end.
#[test]
fn twelve_processes_append_at_once_and_nothing_is_lost() {
    const PROCESSES: usize = 12;
    const ENTRIES: usize = 8;
    let (_folder, paths) = project();
    let running: Vec<_> = (0..PROCESSES)
        .map(|number| {
            start(
                Path::new(APPENDER),
                &paths.root,
                &format!("p{number}"),
                ENTRIES,
            )
        })
        .collect();
    let mut acknowledged = HashSet::new();
    for child in running {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success());
        let lines = String::from_utf8(output.stdout).unwrap();
        assert_eq!(lines.lines().count(), ENTRIES);
        acknowledged.extend(lines.lines().map(str::to_owned));
    }
    assert_eq!(acknowledged.len(), PROCESSES * ENTRIES);
    let reader = Reader::open(Disk::real(), paths.clone()).unwrap();
    let entries = reader.query(&Query::default()).unwrap();
    let stored: HashSet<_> = entries
        .iter()
        .map(|entry| entry.task_id.to_string())
        .collect();
    assert_eq!(stored, acknowledged);
    assert_eq!(entries.len(), acknowledged.len());
    assert_eq!(verify(&Disk::real(), &paths).unwrap().problems, []);
    let into = paths.root.join("replayed");
    let replayed = replay(&Disk::real(), &paths, None, &into).unwrap();
    assert_eq!(replayed.difference, None);
}

/// REQ-MSP-001: a process that dies while it holds the ledger's lock frees it.
#[test]
fn a_holder_that_is_killed_frees_its_lock() {
    let (_folder, paths) = project();
    let ledger = Ledger::open(Disk::real(), paths.clone(), Clock::system(), Ids::random()).unwrap();
    let mut holder = start_holding(Path::new(APPENDER), &paths.root);
    let mut held = String::new();
    let mut stdout = BufReader::new(holder.stdout.take().unwrap());
    stdout.read_line(&mut held).unwrap();
    assert_eq!(held, "held\n");
    assert!(ledger.another_process_is_writing());
    holder.kill().unwrap();
    holder.wait().unwrap();
    assert_eq!(stdout.read_to_end(&mut Vec::new()).unwrap(), 0);
    assert!(!ledger.another_process_is_writing());
    let spawn = Spawn {
        executor: "after".to_owned(),
        details: serde_json::Map::new(),
    };
    ledger.reserve(spawn).unwrap();
    ledger.flush().unwrap();
}
