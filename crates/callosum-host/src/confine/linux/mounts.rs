//! The file system as the program sees it: a new root with nothing but what the order names.

use std::{
    fs::{DirBuilder, OpenOptions},
    io,
    os::unix::{
        ffi::OsStringExt,
        fs::{DirBuilderExt, OpenOptionsExt},
    },
    path::{Path, PathBuf},
};

use rustix::{
    io::Errno,
    mount::{
        MountFlags, MountPropagationFlags, UnmountFlags, mount, mount_bind_recursive, mount_change,
        mount_remount, unmount,
    },
    process::{chdir, pivot_root},
};

use super::super::order::{Access, Order};
use crate::disk::Disk;

/// Devices that are no way to anything.
pub(super) const DEVICES: [&str; 5] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
];

/// Where pseudo terminals stand, none of which is of the machine outside: tools of agents run commands in one.
pub(super) const TERMINALS: &str = "/dev/pts";

/// Links that programs expect beside the devices.
const DEVICE_LINKS: [(&str, &str); 4] = [
    ("/dev/fd", "/proc/self/fd"),
    ("/dev/stdin", "/proc/self/fd/0"),
    ("/dev/stdout", "/proc/self/fd/1"),
    ("/dev/stderr", "/proc/self/fd/2"),
];

/// Makes the order's room the root of this namespace. Everything else is gone afterwards.
pub(super) fn arrange(order: &Order) -> io::Result<()> {
    let room = &order.room;
    let plain = MountFlags::NOSUID | MountFlags::NODEV;
    mount_change(
        "/",
        MountPropagationFlags::PRIVATE | MountPropagationFlags::REC,
    )?;
    mount("callosum", room, "tmpfs", plain, c"mode=755,size=16m")?;
    let mut places: Vec<_> = order.places.iter().collect();
    // A folder comes before what is in it.
    places.sort_by(|a, b| a.path.cmp(&b.path));
    for place in &places {
        let target = inside(room, &place.path);
        match place.access {
            Access::Fresh => {
                create_folder(&target)?;
                mount("callosum", &target, "tmpfs", plain, c"mode=700,size=256m")?;
            }
            Access::Hidden => {
                // What is not shown needs no cover.
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
    mount("callosum", &shared, "tmpfs", plain, c"mode=1777,size=256m")?;
    mount_processes(&inside(room, Path::new("/proc")))?;

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
        if is_only_read {
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

fn show(source: &Path, target: &Path) -> io::Result<()> {
    let Ok(kind) = source.metadata() else {
        // It went away since the order was written; nothing is what is then to be seen.
        return Ok(());
    };
    if target.symlink_metadata().is_err() {
        if kind.is_dir() {
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
    Ok(mount_bind_recursive(source, target)?)
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

/// The processes of this namespace only; where the system does not allow that, those of the outer
/// one, whose memory and environment cannot be read from here.
fn mount_processes(target: &Path) -> io::Result<()> {
    create_folder(target)?;
    let plain = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    match mount("proc", target, "proc", plain, c"") {
        Err(Errno::PERM) => Ok(mount_bind_recursive("/proc", target)?),
        done => Ok(done?),
    }
}

struct Mounted {
    point: PathBuf,
    flags: MountFlags,
}

/// What is mounted, with the flags that a change must keep.
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
