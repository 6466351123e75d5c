//! Limits of the system's on one that is confined.
//!
//! Address space has none: runtimes reserve far more of it than they use.

use std::{fs::OpenOptions, io::Write as _, path::Path};

use rustix::process::Resource;

use crate::{
    exec::{at_most, limit},
    report::{Failed, Step},
};
use callosum_host::disk::Disk;

/// Limit of processes and threads of a confined program, if the system counts them by namespace.
const MOST_PROCESSES: u64 = 4096;

/// Longest file that one may write, in bytes.
const LONGEST_FILE: u64 = 2 * 1024 * 1024 * 1024;

/// Least that a process may have for its data, in bytes: runtimes reserve more than they use, and end in
/// odd ways below 2.5 GB (Bun 1.3, as Claude Code and opencode bring it).
const LEAST_MEMORY: u64 = 4 * 1024 * 1024 * 1024;

/// Limits resources so that a runaway process cannot take over the machine: a process gets at most
/// three quarters of the existing memory for its data. Processes are limited where they are counted
/// by namespace, not by user.
pub(super) fn limit_all(namespaces: bool) -> Result<(), Failed> {
    limit()?;
    let more = || {
        if namespaces {
            at_most(Resource::Nproc, MOST_PROCESSES)?;
        }
        at_most(Resource::Fsize, LONGEST_FILE)?;
        match memory() {
            Some(bytes) => at_most(Resource::Data, (bytes / 4 * 3).max(LEAST_MEMORY)),
            None => Ok(()),
        }
    };
    more().map_err(Failed::at(Step::Limits))
}

/// The first version of Linux in which each PID namespace has its own `kernel.pid_max`. Before, the setting was the
/// machine's, and root in a user namespace could write it.
const OWN_PID_MAX: (u32, u32) = (6, 14);

/// Bounds the processes and threads of this PID namespace, root's too, which `RLIMIT_NPROC` does not count.
///
/// Does nothing before Linux 6.14, and if a container shows `/proc/sys` read-only.
pub(super) fn bound_processes() {
    let disk = Disk::real();
    let version = disk.read(Path::new("/proc/sys/kernel/osrelease"));
    let version = version
        .ok()
        .and_then(|text| version_of(&String::from_utf8_lossy(&text)));
    if version.is_some_and(|version| version >= OWN_PID_MAX) {
        let file = OpenOptions::new()
            .write(true)
            .open("/proc/sys/kernel/pid_max");
        // A file of the kernel takes one whole write.
        drop(file.and_then(|mut file| file.write_all(MOST_PROCESSES.to_string().as_bytes())));
    }
}

/// The two first numbers of a version, as in `6.14.0-rc1`.
fn version_of(text: &str) -> Option<(u32, u32)> {
    let mut numbers = text.split(|c: char| !c.is_ascii_digit());
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

/// Returns the memory of this machine in bytes, if the system tells.
pub(super) fn memory() -> Option<u64> {
    let meminfo = Disk::real().read(Path::new("/proc/meminfo")).ok()?;
    total(&String::from_utf8_lossy(&meminfo))
}

fn total(meminfo: &str) -> Option<u64> {
    let line = meminfo
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kibibytes: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    kibibytes.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_its_two_first_numbers() {
        assert_eq!(version_of("6.18.44-fc\n"), Some((6, 18)));
        assert_eq!(version_of("6.14-rc1"), Some((6, 14)));
        assert!(version_of("5.15.0-113-generic") < Some(OWN_PID_MAX));
        assert_eq!(version_of("unknown"), None);
    }

    #[test]
    fn memory_is_read_as_the_system_writes_it() {
        let meminfo = "MemTotal:       24530628 kB\nMemFree:         1 kB\n";
        assert_eq!(total(meminfo), Some(24_530_628 * 1024));
        assert_eq!(total("MemFree: 1 kB\n"), None);
        assert_eq!(total("MemTotal: many\n"), None);
    }
}
