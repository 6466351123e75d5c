//! The file system as the program sees it: a new root with nothing but what the order names.

use std::{
    ffi::{CStr, CString},
    fs::{DirBuilder, OpenOptions},
    io,
    os::{
        fd::{AsRawFd, OwnedFd},
        unix::{
            ffi::OsStringExt,
            fs::{DirBuilderExt, OpenOptionsExt},
        },
    },
    path::{Path, PathBuf},
};

use rustix::{
    fs::{FileType, fstat},
    io::Errno,
    mount::{
        MountFlags, MountPropagationFlags, UnmountFlags, mount, mount_bind_recursive, mount_change,
        mount_remount, unmount,
    },
    process::{chdir, pivot_root},
};

use crate::{
    linked,
    spec::{Access, SandboxSpec},
};
use callosum_host::disk::Disk;

/// Devices that are no way to anything.
pub(super) const DEVICES: [&str; 5] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
];

/// Folder of pseudo terminals, all separate from those of the machine outside: tools of agents run
/// commands in one.
pub(super) const TERMINALS: &str = "/dev/pts";

/// Parts of `/proc` that control the machine and not a process, as container runtimes have it. The
/// kernel checks the owner of such a file, not the namespace of its writer. So for root in a user
/// namespace the mount has to refuse the write.
const KERNEL_SETTINGS: [&str; 10] = [
    "/proc/acpi",
    "/proc/asound",
    "/proc/bus",
    "/proc/dynamic_debug",
    "/proc/fs",
    "/proc/irq",
    "/proc/mtrr",
    "/proc/scsi",
    "/proc/sys",
    "/proc/sysrq-trigger",
];

/// Links that programs expect next to the devices.
const DEVICE_LINKS: [(&str, &str); 4] = [
    ("/dev/fd", "/proc/self/fd"),
    ("/dev/stdin", "/proc/self/fd/0"),
    ("/dev/stdout", "/proc/self/fd/1"),
    ("/dev/stderr", "/proc/self/fd/2"),
];

/// An empty home folder, in memory. An inode takes a kilobyte of the kernel's memory, which no size counts.
const FRESH: &CStr = c"mode=700,size=256m,nr_inodes=128k";

/// Memory that processes share by name.
const SHARED: &CStr = c"mode=1777,size=256m,nr_inodes=16k";

/// Most bytes of a folder for temporary files, and at most a quarter of the machine's memory.
const MOST_TEMPORARY: u64 = 1024 * 1024 * 1024;

/// Most files and folders in it.
const MOST_TEMPORARY_FILES: u64 = 256 * 1024;

/// Makes the order's empty folder the root of this namespace. Everything else is gone afterwards.
pub(super) fn arrange(order: &SandboxSpec) -> io::Result<()> {
    let room = &order.room;
    let plain = MountFlags::NOSUID | MountFlags::NODEV;
    mount_change(
        "/",
        MountPropagationFlags::PRIVATE | MountPropagationFlags::REC,
    )?;
    mount("callosum", room, "tmpfs", plain, c"mode=755,size=16m")?;
    let mut places: Vec<_> = order.places.iter().collect();
    let mut bounded = Bounded::default();
    // A folder comes before its contents.
    places.sort_by(|a, b| a.path.cmp(&b.path));
    for place in &places {
        let target = inside(room, &place.path);
        match place.access {
            Access::Fresh => {
                create_folder(&target)?;
                mount("callosum", &target, "tmpfs", plain, FRESH)?;
            }
            Access::Bounded => bounded.show(&place.source, target)?,
            Access::Hidden => {
                // A path that is not shown needs no cover.
                let found = target.symlink_metadata();
                if found.is_ok_and(|found| found.is_dir()) {
                    mount("callosum", &target, "tmpfs", plain, c"mode=755,size=64k")?;
                }
            }
            Access::Read | Access::Write => show(&place.source, &target)?,
        }
    }
    for device in DEVICES {
        show(Path::new(device), &inside(room, Path::new(device)))?;
    }
    let terminals = inside(room, Path::new(TERMINALS));
    create_folder(&terminals)?;
    let own = MountFlags::NOSUID | MountFlags::NOEXEC;
    let options = c"newinstance,ptmxmode=0666,mode=0600,max=64";
    if mount("devpts", &terminals, "devpts", own, options).is_ok() {
        // Where the system has none to give, programs find none, as on a machine without.
        link(Path::new("/dev/ptmx"), Path::new("pts/ptmx"), room)?;
    }
    for (path, target) in DEVICE_LINKS {
        link(Path::new(path), Path::new(target), room)?;
    }
    for (path, target) in &order.links {
        link(path, target, room)?;
    }
    let shared = inside(room, Path::new("/dev/shm"));
    create_folder(&shared)?;
    mount("callosum", &shared, "tmpfs", plain, SHARED)?;
    let processes = mount_processes(&inside(room, Path::new("/proc")))?;
    for settings in KERNEL_SETTINGS {
        let settings = inside(room, Path::new(settings));
        if settings.exists() {
            mount_bind_recursive(&settings, &settings)?;
        }
    }

    let all = mounted()?;
    for mounted in &all {
        let Ok(path) = mounted.point.strip_prefix(room) else {
            continue;
        };
        let path = Path::new("/").join(path);
        let nearest = places
            .iter()
            .rev()
            .find(|place| path.starts_with(&place.path));
        let is_only_read =
            nearest.is_some_and(|place| matches!(place.access, Access::Read | Access::Hidden));
        let is_the_kernels = match processes {
            Processes::Own => KERNEL_SETTINGS
                .iter()
                .any(|settings| path.starts_with(settings)),
            Processes::All => path.starts_with("/proc"),
        };
        let is_pinned = bounded.pinned.contains(&mounted.point);
        if is_only_read || is_the_kernels || is_pinned {
            let flags = mounted.flags | MountFlags::BIND | MountFlags::RDONLY;
            match mount_remount(&mounted.point, flags, c"") {
                // Covered by a later mount at the same point, and not to be reached.
                Ok(()) | Err(Errno::INVAL | Errno::NOENT) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
    chdir(room)?;
    pivot_root(".", ".")?;
    unmount(".", UnmountFlags::DETACH)?;
    chdir("/")?;
    mount_remount("/", plain | MountFlags::BIND | MountFlags::RDONLY, c"")?;
    Ok(())
}

fn inside(room: &Path, path: &Path) -> PathBuf {
    room.join(path.strip_prefix("/").unwrap_or(path))
}

/// Folders in memory of bounded size that were mounted so far.
#[derive(Default)]
struct Bounded {
    /// Their sources, and where each was mounted first.
    known: Vec<(PathBuf, PathBuf)>,
    /// Original contents of the sources: they stay on the disk, and are only read.
    pinned: Vec<PathBuf>,
}

impl Bounded {
    fn show(&mut self, source: &Path, target: PathBuf) -> io::Result<()> {
        create_folder(&target)?;
        if let Some((_, first)) = self.known.iter().find(|(known, _)| known == source) {
            mount_bind_recursive(first, &target)?;
            let pinned = self.pinned.iter();
            let again = pinned.filter_map(|path| Some(target.join(path.strip_prefix(first).ok()?)));
            let again: Vec<PathBuf> = again.collect();
            self.pinned.extend(again);
            return Ok(());
        }
        let quarter = super::limits::memory().map_or(MOST_TEMPORARY, |memory| memory / 4);
        let bytes = MOST_TEMPORARY.min(quarter);
        let options = format!("mode=700,size={bytes},nr_inodes={MOST_TEMPORARY_FILES}");
        let plain = MountFlags::NOSUID | MountFlags::NODEV;
        mount(
            "callosum",
            &target,
            "tmpfs",
            plain,
            CString::new(options)?.as_c_str(),
        )?;
        let listed = Disk::real().list_dir(source).map_err(io::Error::other)?;
        for entry in listed {
            let path = target.join(&entry.name);
            show(&source.join(&entry.name), &path)?;
            self.pinned.push(path);
        }
        self.known.push((source.to_owned(), target));
        Ok(())
    }
}

/// Mounts the object that is at `source` now, if no part of that path has become a link.
fn show(source: &Path, target: &Path) -> io::Result<()> {
    let opened = match linked::open(source) {
        Ok(opened) => opened,
        Err(error) if Errno::from_io_error(&error) == Some(Errno::LOOP) => return Err(error),
        // It disappeared after the order was written; then nothing must be visible.
        Err(_) => return Ok(()),
    };
    if target.symlink_metadata().is_err() {
        if FileType::from_raw_mode(fstat(&opened)?.st_mode) == FileType::Directory {
            create_folder(target)?;
        } else {
            create_parent(target)?;
            drop(
                OpenOptions::new()
                    .write(true)
                    .create_new(true)
                    .mode(0o444)
                    .open(target)?,
            );
        }
    }
    Ok(mount_bind_recursive(name_of(&opened), target)?)
}

/// Returns a path that leads to the opened object itself, even if its name leads elsewhere by now.
fn name_of(opened: &OwnedFd) -> PathBuf {
    Path::new("/proc/self/fd").join(opened.as_raw_fd().to_string())
}

fn link(path: &Path, target: &Path, room: &Path) -> io::Result<()> {
    let path = inside(room, path);
    if path.symlink_metadata().is_ok() {
        return Ok(());
    }
    create_parent(&path)?;
    std::os::unix::fs::symlink(target, &path)
}

fn create_parent(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), create_folder)
}

fn create_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o755).create(path)
}

/// The processes that `/proc` shows.
#[derive(Clone, Copy)]
enum Processes {
    /// Those of this namespace.
    Own,
    /// Those of the outer one too.
    All,
}

/// Shows the processes of this namespace only. If the system does not allow that, it shows those of the outer
/// one, whose memory and environment cannot be read from here; all of that is read-only then.
fn mount_processes(target: &Path) -> io::Result<Processes> {
    create_folder(target)?;
    let plain = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    match mount("proc", target, "proc", plain, c"") {
        Err(Errno::PERM) => {
            mount_bind_recursive("/proc", target)?;
            Ok(Processes::All)
        }
        done => {
            done?;
            Ok(Processes::Own)
        }
    }
}

struct Mounted {
    point: PathBuf,
    flags: MountFlags,
}

/// Lists the mounts, with the flags that a change must keep.
fn mounted() -> io::Result<Vec<Mounted>> {
    let text = Disk::real()
        .read(Path::new("/proc/self/mountinfo"))
        .map_err(io::Error::other)?;
    let mounted = text.split(|byte| *byte == b'\n').filter_map(|line| {
        let mut fields = line.split(|byte| *byte == b' ');
        let point = unescape(fields.nth(4)?);
        let flags = fields.next()?.split(|byte| *byte == b',');
        let flags = flags.fold(MountFlags::empty(), |flags, name| {
            flags
                | match name {
                    b"ro" => MountFlags::RDONLY,
                    b"nosuid" => MountFlags::NOSUID,
                    b"nodev" => MountFlags::NODEV,
                    b"noexec" => MountFlags::NOEXEC,
                    b"noatime" => MountFlags::NOATIME,
                    b"nodiratime" => MountFlags::NODIRATIME,
                    b"relatime" => MountFlags::RELATIME,
                    _ => MountFlags::empty(),
                }
        });
        Some(Mounted { point, flags })
    });
    Ok(mounted.collect())
}

/// Blanks and the like stand as a backslash and three octal digits.
fn unescape(field: &[u8]) -> PathBuf {
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((first, after)) = rest.split_first() {
        let digits = after.get(..3).filter(|_| *first == b'\\');
        let code = digits
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 8).ok());
        if let Some(code) = code {
            bytes.push(code);
            rest = &after[3..];
        } else {
            bytes.push(*first);
            rest = after;
        }
    }
    std::ffi::OsString::from_vec(bytes).into()
}

#[cfg(test)]
mod tests {
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt};

    use super::*;

    #[test]
    fn a_mount_point_may_have_any_name() {
        let named = |field: &[u8]| unescape(field).into_os_string();
        assert_eq!(named(br"/a\040b\134"), OsStr::from_bytes(br"/a b\"));
        assert_eq!(named(br"/a\04"), OsStr::from_bytes(br"/a\04"));
    }
}
