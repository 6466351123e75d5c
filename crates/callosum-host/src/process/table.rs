//! [`table`]: the processes that this machine shows, for a caller that looks for a program among them.
//!
//! Reads `/proc`; elsewhere the table is empty. Start with [`ProcessEntry`].

use std::path::{Path, PathBuf};

use crate::Disk;

/// Reads at most this many bytes of a process's command line.
const LONGEST_COMMAND_LINE: u64 = 64 * 1024;

/// A line of the table of processes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessEntry {
    /// Process id.
    pub pid: u32,
    /// Process id of the parent.
    pub parent: u32,
    /// Process group.
    pub group: u32,
    /// Process group in the foreground of its terminal, if it has a terminal.
    pub foreground: Option<u32>,
    /// The terminal, such as `/dev/pts/3`.
    pub tty: Option<String>,
    /// Start time in the system's ticks since boot. A pid and its start time name a process for good.
    pub started: u64,
    /// Name of the program, cut to 15 bytes by the system. A program can change its own.
    pub name: String,
    /// Whether it has ended and only waits for its parent to read its exit code.
    pub has_ended: bool,
}

/// Returns all processes, in no order. Costs about 10 µs for each; empty off Linux.
pub fn table() -> Vec<ProcessEntry> {
    let listed = Disk::real().list_dir(Path::new("/proc"));
    let listed = listed.unwrap_or_default();
    let pids = listed
        .iter()
        .filter_map(|entry| entry.name.to_str()?.parse().ok());
    pids.filter_map(entry).collect()
}

/// Returns the line of one process, unless it has gone.
pub fn entry(pid: u32) -> Option<ProcessEntry> {
    let bytes = Disk::real().read(&file(pid, "stat")).ok()?;
    read(pid, &String::from_utf8_lossy(&bytes))
}

/// Returns the command line of a process: the program and its arguments. Empty if it has gone or is another user's.
pub fn arguments(pid: u32) -> Vec<String> {
    let bytes = Disk::real().read_at_most(&file(pid, "cmdline"), LONGEST_COMMAND_LINE);
    let bytes = bytes.unwrap_or_default();
    let words = bytes.split(|byte| *byte == 0);
    let mut words: Vec<String> = words
        .map(|word| String::from_utf8_lossy(word).into_owned())
        .collect();
    // Each word ends with a zero byte, so the last piece is empty.
    words.pop_if(|last| last.is_empty());
    words
}

/// Returns the names of the variables that a process was started with. Empty if it has gone or is another user's.
pub fn variables(pid: u32) -> Vec<String> {
    let bytes = Disk::real().read_at_most(&file(pid, "environ"), LONGEST_COMMAND_LINE);
    let bytes = bytes.unwrap_or_default();
    let pairs = bytes.split(|byte| *byte == 0);
    let names = pairs.filter_map(|pair| pair.split(|byte| *byte == b'=').next());
    let names = names.filter(|name| !name.is_empty());
    names
        .map(|name| String::from_utf8_lossy(name).into_owned())
        .collect()
}

/// Returns the folder that a process works in, if this user may know.
pub fn folder(pid: u32) -> Option<PathBuf> {
    Disk::real().read_link(&file(pid, "cwd")).ok()
}

/// Whether a process belongs to this user.
pub fn is_own(pid: u32) -> bool {
    let folder = Path::new("/proc").join(pid.to_string());
    rustix::fs::stat(&folder).is_ok_and(|found| found.st_uid == crate::disk::user())
}

fn file(pid: u32, name: &str) -> PathBuf {
    Path::new("/proc").join(pid.to_string()).join(name)
}

/// Reads `stat`: the name is in parentheses and may contain some itself; state, parent, group, session, terminal
/// and its foreground group follow, and the start time is the 22nd value.
fn read(pid: u32, line: &str) -> Option<ProcessEntry> {
    let (before, after) = line.rsplit_once(')')?;
    let (_, name) = before.split_once('(')?;
    let mut values = after.split_ascii_whitespace();
    let state = values.next()?;
    let parent = values.next()?.parse().ok()?;
    let group = values.next()?.parse().ok()?;
    let terminal: u64 = values.nth(1)?.parse().ok()?;
    let foreground: i64 = values.next()?.parse().ok()?;
    let started = values.nth(13)?.parse().ok()?;
    Some(ProcessEntry {
        pid,
        parent,
        group,
        foreground: u32::try_from(foreground).ok().filter(|group| *group > 0),
        tty: tty(terminal),
        started,
        name: name.to_owned(),
        has_ended: matches!(state, "Z" | "X" | "x"),
    })
}

/// Returns the path of a terminal from its device number: major 136 to 143 are pseudo-terminals, 4 are consoles.
fn tty(device: u64) -> Option<String> {
    let major = (device >> 8) & 0xfff;
    let minor = (device & 0xff) | ((device >> 12) & 0xf_ff00);
    match major {
        136..=143 => Some(format!("/dev/pts/{}", (major - 136) * 256 + minor)),
        4 => Some(format!("/dev/tty{minor}")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_with_a_hostile_name() {
        let line =
            "42 (a) b (c)) S 7 40 39 34819 41 4194560 1 2 3 4 5 6 7 8 20 0 1 0 98765 1000 9\n";
        let expected = ProcessEntry {
            pid: 42,
            parent: 7,
            group: 40,
            foreground: Some(41),
            tty: Some("/dev/pts/3".to_owned()),
            started: 98_765,
            name: "a) b (c)".to_owned(),
            has_ended: false,
        };
        assert_eq!(read(42, line), Some(expected));
        let without = line.replace(" 34819 41 ", " 0 -1 ");
        let read_without = read(42, &without).unwrap();
        assert_eq!((read_without.tty, read_without.foreground), (None, None));
        assert!(read(42, &line.replace(" S ", " Z ")).unwrap().has_ended);
        assert_eq!(read(42, "42 (a) S 7"), None);
    }

    #[test]
    fn large_terminal_numbers_are_decoded() {
        assert_eq!(tty(0x8800 | 0x2c), Some("/dev/pts/44".to_owned()));
        assert_eq!(tty((1 << 20) | 0x8801), Some("/dev/pts/257".to_owned()));
        assert_eq!(tty(0x0402), Some("/dev/tty2".to_owned()));
        assert_eq!(tty(0), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_process_is_in_the_table() {
        let own = std::process::id();
        let found = table().into_iter().find(|entry| entry.pid == own).unwrap();
        assert_eq!(Some(found.started), entry(own).map(|entry| entry.started));
        assert!(is_own(own));
        assert!(!arguments(own).is_empty());
        assert!(folder(own).is_some());
        assert_eq!(arguments(u32::MAX), Vec::<String>::new());
    }
}
