//! The log file: its bound, its lines, two processes, and disks that refuse.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests look at files, and start themselves as a second process"
)]

use std::{path::Path, process::Command, time::Duration};

use callosum_host::{Clock, Disk};
use callosum_log::{Level, LogError, LogFile, subscriber};
use callosum_testkit::disk::{Fault, FaultyDisk, Image, MemoryDisk};
use proptest::prelude::*;
use tempfile::TempDir;
use tracing::subscriber::with_default;

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

/// Returns the lines of a log and of the one before it.
fn lines(path: &Path) -> Vec<String> {
    let before = read(&path.with_extension("log.1"));
    let lines = before.lines().map(str::to_owned);
    lines.chain(read(path).lines().map(str::to_owned)).collect()
}

fn clock() -> Clock {
    Clock::fixed("2026-01-02T03:04:05Z".parse().unwrap(), Duration::ZERO)
}

proptest! {
    /// CAKE-LOG-1: each file is within the bound unless one line alone is larger; the lines that are left are the last ones,
    /// whole and in order.
    #[test]
    fn what_is_left_are_the_last_lines(lengths in prop::collection::vec(0usize..60, 1..80), most in 20u64..200) {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("x.log");
        let log = LogFile::new(&Disk::real(), &path, most).unwrap();
        let written: Vec<String> = lengths
            .iter()
            .enumerate()
            .map(|(number, length)| format!("{number}:{}", "x".repeat(*length)))
            .collect();
        for line in &written {
            log.append(line);
        }
        let left = lines(&path);
        prop_assert!(!left.is_empty() && written.ends_with(&left));
        for file in [&path, &path.with_extension("log.1")] {
            let text = read(file);
            prop_assert!(text.len() as u64 <= most || text.lines().count() == 1, "{text}");
        }
        prop_assert_eq!(log.lost(), 0);
    }
}

/// CAKE-LOG-1: lines of two processes are whole, and only those that were rotated out are gone.
#[test]
fn two_processes_write_whole_lines() {
    const NAME: &str = "two_processes_write_whole_lines";
    const LINES: usize = 2_000;
    let write = |path: &Path, who: &str| {
        // Large enough that no line waits in vain.
        let log = LogFile::new(&Disk::real(), path, 16 * 1024).unwrap();
        for number in 0..LINES {
            while {
                log.append(&format!("{who} {number} end"));
                log.lost() > 0
            } {}
        }
    };
    if let Some(path) = std::env::var_os("CALLOSUM_LOG_TEST") {
        write(Path::new(&path), "child");
        return;
    }
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("x.log");
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args([NAME, "--exact", "--nocapture"])
        .env("CALLOSUM_LOG_TEST", &path)
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    write(&path, "parent");
    assert!(child.wait().unwrap().success());
    let left = lines(&path);
    assert!(left.len() > 500, "{}", left.len());
    for who in ["child", "parent"] {
        let own: Vec<usize> = left
            .iter()
            .filter(|line| !line.starts_with("callosum:"))
            .filter_map(|line| {
                let rest = line.strip_prefix(who)?;
                Some(rest.trim().strip_suffix(" end").unwrap().parse().unwrap())
            })
            .collect();
        assert!(own.is_sorted(), "{who}: {own:?}");
    }
}

/// CAKE-LOG-1: an event is one line with time, level, crate, message and fields, without secrets and control characters;
/// events below the level and those of libraries are left out.
#[test]
fn an_event_is_one_line() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("x.log");
    let log = LogFile::new(&Disk::real(), &path, 1 << 20).unwrap();
    let secret = format!("ghp_{}", "a1B2c3D4".repeat(5));
    with_default(subscriber(log, Level::Warning, clock()), || {
        tracing::info!(target: "callosum::daemon", "started");
        tracing::warn!(target: "hyper", "a library's own");
        tracing::warn!(target: "callosum::daemon", token = %secret, "one\ntwo \u{1b}[31mred");
        tracing::error!(target: "callosum::watch", path = ?Path::new("/x"), "failed");
    });
    let text = read(&path);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 2, "{text}");
    assert!(
        lines[0].starts_with("2026-01-02T03:04:05Z  WARN callosum::daemon: one\\ntwo "),
        "{text}"
    );
    assert!(
        !text.contains(&secret) && !text.contains('\u{1b}'),
        "{text}"
    );
    assert_eq!(
        lines[1],
        "2026-01-02T03:04:05Z ERROR callosum::watch: failed path=\"/x\""
    );
}

/// CAKE-LOG-1: a full disk costs lines and nothing else, and the next line that fits says how many.
#[test]
fn a_full_disk_costs_lines_and_says_how_many() {
    let faulty = FaultyDisk::new(
        MemoryDisk::with(&Image::with_folder("/state")),
        Fault::Full,
        usize::MAX,
    );
    let disk = faulty.disk();
    let path = Path::new("/state/x.log");
    let log = LogFile::new(&disk, path, 1 << 20).unwrap();
    log.append("first");
    faulty.fail_now();
    log.append("second");
    log.append("third");
    assert_eq!(log.lost(), 2);
    faulty.mend();
    log.append("fourth");
    assert_eq!(log.lost(), 0);
    let text = String::from_utf8(disk.read(path).unwrap()).unwrap();
    assert_eq!(
        text,
        "first\ncallosum: could not write 2 lines of this log\nfourth\n"
    );
}

/// CAKE-LOG-1: a link, a folder or a pipe is no log, also if it takes the file's place later.
#[test]
fn what_is_no_file_is_refused() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("x.log");
    let elsewhere = folder.path().join("elsewhere");
    let log = LogFile::new(&Disk::real(), &path, 1 << 20).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &path).unwrap();
    log.append("led elsewhere");
    assert_eq!(log.lost(), 1);
    assert!(!elsewhere.exists());
    let refused = LogFile::new(&Disk::real(), &path, 1 << 20).unwrap_err();
    assert!(matches!(refused, LogError::NoFile(_)), "{refused}");
    std::fs::remove_file(&path).unwrap();
    assert!(
        Command::new("mkfifo")
            .arg(&path)
            .status()
            .unwrap()
            .success()
    );
    assert!(LogFile::new(&Disk::real(), &path, 1 << 20).is_err());
}

/// CAKE-CFG-1: the levels are the seed's.
#[test]
fn levels_are_read_by_the_seeds_names() {
    for (text, level) in [
        ("DEBUG", Level::Debug),
        ("info", Level::Info),
        ("WARNING", Level::Warning),
        ("ERROR", Level::Error),
    ] {
        assert_eq!(text.parse::<Level>(), Ok(level));
    }
    let unknown = "loud".parse::<Level>().unwrap_err().to_string();
    assert!(
        unknown.contains("loud") && unknown.contains("WARNING"),
        "{unknown}"
    );
}
