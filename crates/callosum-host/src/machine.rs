//! State of the machine: free space, and load of its disk.

use std::{io, path::Path, thread, time::Duration};

/// Returns the machine's name in its network, up to the first dot; `None` if it has none.
pub fn name() -> Option<String> {
    let name = nix::unistd::gethostname().ok()?;
    let name = name.to_str()?;
    let name = name.split('.').next().unwrap_or_default();
    (!name.is_empty()).then(|| name.to_owned())
}

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

/// Returns the version of the glibc that this process uses, such as `2.36`; `None` if it uses another C library.
///
/// Reads the library's file, 2 MB: its banner has the version, and the function that returns it needs unsafe code.
pub fn glibc_version() -> Option<String> {
    let read = |path: &str| crate::Disk::real().read(Path::new(path)).ok();
    let maps = read("/proc/self/maps")?;
    let maps = String::from_utf8_lossy(&maps);
    let library = maps.lines().find_map(|line| {
        let path = line.get(line.find('/')?..)?;
        let name = path.rsplit('/').next()?;
        let is_glibc = name == "libc.so.6" || name.starts_with("libc-2.");
        is_glibc.then_some(path)
    })?;
    version_in_banner(&read(library)?)
}

/// Reads `GNU C Library (Debian GLIBC 2.36-9) stable release version 2.36.`.
fn version_in_banner(library: &[u8]) -> Option<String> {
    let banner = b"GNU C Library ";
    let at = library
        .windows(banner.len())
        .position(|window| window == banner)?;
    let line = library[at..].split(|&byte| byte == b'\n').next()?;
    let line = String::from_utf8_lossy(line);
    let (_, version) = line.rsplit_once(" version ")?;
    let version = version.split_whitespace().next()?.trim_end_matches('.');
    version
        .starts_with(|first: char| first.is_ascii_digit())
        .then(|| version.to_owned())
}

/// The process that listens at a TCP port, and its name, as far as this user may know (on Linux).
///
/// Reads the tables of sockets, and then the files of every process: some milliseconds.
pub fn listener(port: u16) -> Option<(u32, String)> {
    let read = |path: &str| crate::Disk::real().read(Path::new(path)).ok();
    let tables = ["/proc/net/tcp", "/proc/net/tcp6"];
    let socket = tables.iter().find_map(|path| {
        let table = read(path)?;
        listening_in(&String::from_utf8_lossy(&table), port)
    })?;
    let pid = holder(socket)?;
    let name = crate::Disk::real().read(&Path::new("/proc").join(pid.to_string()).join("comm"));
    Some((
        pid,
        String::from_utf8_lossy(&name.ok()?).trim_end().to_owned(),
    ))
}

/// Returns a process that holds a socket of this number, as far as this user may know.
///
/// Reads the open files of every process: some milliseconds.
pub(crate) fn holder(socket: u64) -> Option<u32> {
    let wanted = format!("socket:[{socket}]");
    let disk = crate::Disk::real();
    let processes = disk.list_dir(Path::new("/proc")).ok()?;
    processes.into_iter().find_map(|entry| {
        let pid: u32 = entry.name.to_str()?.parse().ok()?;
        let folder = Path::new("/proc").join(pid.to_string()).join("fd");
        let files = disk.list_dir(&folder).ok()?;
        let is_holder = files.iter().any(|file| {
            rustix::fs::readlink(folder.join(&file.name), Vec::new())
                .is_ok_and(|target| target.as_bytes() == wanted.as_bytes())
        });
        is_holder.then_some(pid)
    })
}

/// The socket that listens at a port, by a table of the system: the second column ends with the port, the
/// fourth is the state (0A: it listens), and the tenth is the socket's number.
fn listening_in(table: &str, port: u16) -> Option<u64> {
    let port = format!(":{port:04X}");
    table.lines().skip(1).find_map(|line| {
        let mut columns = line.split_ascii_whitespace().skip(1);
        let is_port = columns.next()?.ends_with(&port);
        let listens = columns.nth(1)? == "0A";
        let socket = columns.nth(5)?;
        if is_port && listens {
            socket.parse().ok()
        } else {
            None
        }
    })
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
    fn the_version_of_glibc_is_read_from_its_banner() {
        let banner = b"\0GNU C Library (Debian GLIBC 2.36-9+deb12u14) stable release version 2.36.\nCopyright";
        assert_eq!(version_in_banner(banner).as_deref(), Some("2.36"));
        let banner = b"GNU C Library (Ubuntu GLIBC 2.31-0ubuntu9) release release version 2.31.\n";
        assert_eq!(version_in_banner(banner).as_deref(), Some("2.31"));
        assert_eq!(
            version_in_banner(b"musl libc (x86_64)\nVersion 1.2.5\n"),
            None
        );
    }

    /// The machine's own tool prints the same version.
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    #[test]
    fn the_glibc_of_this_process_is_the_one_that_getconf_names() {
        #[expect(
            clippy::disallowed_methods,
            reason = "a test compares with another program"
        )]
        let getconf = std::process::Command::new("getconf")
            .arg("GNU_LIBC_VERSION")
            .output()
            .unwrap();
        let printed = String::from_utf8(getconf.stdout).unwrap();
        let expected = printed.trim().strip_prefix("glibc ").unwrap();
        assert_eq!(glibc_version().as_deref(), Some(expected));
    }

    #[test]
    fn who_listens_is_read_from_the_tables() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n\
                     0: 0100007F:2198 00000000:0000 01 00000000:00000000 00:00000000 00000000     0        0 11 1\n\
                     1: 0100007F:2198 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4711 1\n";
        assert_eq!(listening_in(table, 8600), Some(4711));
        assert_eq!(listening_in(table, 8601), None);
        let own = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let found = listener(own.local_addr().unwrap().port());
        if cfg!(target_os = "linux") {
            assert_eq!(found.map(|(pid, _)| pid), Some(std::process::id()));
        }
    }

    #[test]
    fn free_space_of_a_real_folder_is_known() {
        let folder = tempfile::tempdir().unwrap();
        assert!(free_bytes(folder.path()).unwrap() > 0);
    }
}
