//! What the machine says of itself: space left, and how busy its disk is.

use std::{io, path::Path, thread, time::Duration};

/// Bytes that this user may still write on the file system of `path`.
pub fn free_bytes(path: &Path) -> io::Result<u64> {
    let found = rustix::fs::statvfs(path)?;
    Ok(found.f_bavail.saturating_mul(found.f_frsize))
}

/// Bytes of memory that this process holds; `None` where the system does not say (off Linux).
pub fn resident_bytes() -> Option<u64> {
    let status = crate::Disk::real()
        .read(Path::new("/proc/self/status"))
        .ok()?;
    resident_in(&String::from_utf8_lossy(&status))
}

/// Reads the line `VmRSS` of a process's status, which counts in units of 1,024 bytes.
fn resident_in(status: &str) -> Option<u64> {
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    let units: u64 = line.trim().strip_suffix("kB")?.trim_end().parse().ok()?;
    units.checked_mul(1024)
}

/// The share of time (0 to 1) in which the disk under `path` was busy, measured over `span`.
///
/// Blocks for `span`. `None` where the system does not say: off Linux, and for file systems
/// without a block device.
pub fn disk_utilisation(path: &Path, span: Duration) -> Option<f64> {
    let before = busy_millis(path)?;
    thread::sleep(span);
    let after = busy_millis(path)?;
    let busy = after.saturating_sub(before) as f64;
    Some((busy / span.as_millis().max(1) as f64).min(1.0))
}

/// Milliseconds that the block device under `path` has spent on I/O since the system started.
#[cfg(target_os = "linux")]
fn busy_millis(path: &Path) -> Option<u64> {
    let device = rustix::fs::stat(path).ok()?.st_dev;
    let (major, minor) = (rustix::fs::major(device), rustix::fs::minor(device));
    let table = crate::Disk::real()
        .read(Path::new("/proc/diskstats"))
        .ok()?;
    busy_millis_in(&String::from_utf8_lossy(&table), major, minor)
}

#[cfg(not(target_os = "linux"))]
fn busy_millis(_path: &Path) -> Option<u64> {
    None
}

/// Reads the tenth statistic of a device's line, as the kernel's `iostats` page numbers them.
#[cfg_attr(
    not(target_os = "linux"),
    expect(dead_code, reason = "only Linux has the table")
)]
fn busy_millis_in(table: &str, major: u32, minor: u32) -> Option<u64> {
    table.lines().find_map(|line| {
        let mut fields = line.split_ascii_whitespace();
        let same = fields.next()?.parse() == Ok(major) && fields.next()?.parse() == Ok(minor);
        // One field for the device's name, nine statistics before the one that counts.
        if same {
            fields.nth(10)?.parse().ok()
        } else {
            None
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn busy_time_is_the_tenth_statistic_of_the_right_device() {
        let table = "   7  0 loop0 1 2 3 4 5 6 7 8 9 10 11\n 254 0 vda 11 12 13 14 15 16 17 18 19 4242 21\n";
        assert_eq!(busy_millis_in(table, 254, 0), Some(4242));
        assert_eq!(busy_millis_in(table, 8, 0), None);
    }

    #[test]
    fn held_memory_is_read_from_its_line() {
        let status = "Name:\tx\nVmHWM:\t  99 kB\nVmRSS:\t    2048 kB\n";
        assert_eq!(resident_in(status), Some(2 << 20));
        assert_eq!(resident_in("Name:\tx\n"), None);
    }

    #[test]
    fn free_space_of_a_real_folder_is_known() {
        let folder = tempfile::tempdir().unwrap();
        assert!(free_bytes(folder.path()).unwrap() > 0);
    }
}
