//! [`open`] and [`create_folder`]: paths none of whose parts is a symbolic link.
//!
//! The caller of an order resolves links once and decides about the result. Between that decision and
//! the mount, someone may put a link in place of a folder. So what is mounted or allowed is the object
//! that these functions opened, and a link on the way is an error.

use std::{
    io,
    os::fd::OwnedFd,
    path::{Component, Path},
};

use rustix::{
    fs::{CWD, FileType, Mode, OFlags, fstat, mkdirat, openat},
    io::Errno,
};

/// Opens what is only a step on the way; it needs no right to read a folder.
#[cfg(target_os = "linux")]
const STEP: OFlags = OFlags::PATH;

#[cfg(not(target_os = "linux"))]
const STEP: OFlags = OFlags::RDONLY;

/// Opens the object at an absolute path, without a right to read or write it.
///
/// Fails with `ELOOP` if a part of the path is a link.
#[cfg(target_os = "linux")]
pub(super) fn open(path: &Path) -> io::Result<OwnedFd> {
    use rustix::fs::{ResolveFlags, openat2};

    // Without `NOFOLLOW`, by which a link at the end would be opened itself.
    let how = STEP | OFlags::CLOEXEC;
    match openat2(CWD, path, how, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
        // Linux before 5.6, or a container's filter that does not know the call.
        Err(Errno::NOSYS | Errno::PERM) => walk(path, false),
        opened => Ok(opened?),
    }
}

/// Creates a folder at an absolute path, with the parents that it lacks.
///
/// Fails with `ELOOP` or `ENOTDIR` if a part of the path is a link.
pub fn create_folder(path: &Path) -> io::Result<()> {
    walk(path, true).map(drop)
}

/// Opens one part after the other, and creates the folders that are missing if `create` is set.
fn walk(path: &Path, create: bool) -> io::Result<OwnedFd> {
    let how = STEP | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut at = openat(CWD, "/", how, Mode::empty())?;
    for part in path.components() {
        let name = match part {
            Component::RootDir | Component::CurDir => continue,
            Component::Normal(name) => name,
            Component::ParentDir | Component::Prefix(_) => return Err(Errno::INVAL.into()),
        };
        let next = match openat(&at, name, how, Mode::empty()) {
            Err(Errno::NOENT) if create => {
                match mkdirat(&at, name, Mode::from_raw_mode(0o755)) {
                    Ok(()) | Err(Errno::EXIST) => {}
                    Err(error) => return Err(error.into()),
                }
                openat(&at, name, how, Mode::empty())?
            }
            opened => opened?,
        };
        if FileType::from_raw_mode(fstat(&next)?.st_mode) == FileType::Symlink {
            return Err(Errno::LOOP.into());
        }
        at = next;
    }
    Ok(at)
}

#[cfg(test)]
mod tests {
    use std::{os::unix::fs::symlink, path::PathBuf};

    use super::*;

    fn folder() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = callosum_host::Disk::real()
            .canonicalize(folder.path())
            .unwrap();
        (folder, path)
    }

    /// CAL-SEC-1: a link that replaced a folder after the decision opens nothing, first, last or between.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_link_on_the_way_opens_nothing() {
        let (_folder, at) = folder();
        create_folder(&at.join("secret/in")).unwrap();
        symlink(at.join("secret"), at.join("out")).unwrap();
        for open in [open as fn(&Path) -> io::Result<OwnedFd>, |path| {
            walk(path, false)
        }] {
            assert!(open(&at.join("secret/in")).is_ok());
            for path in ["out", "out/in"] {
                let error = open(&at.join(path)).unwrap_err();
                let code = Errno::from_io_error(&error);
                assert_eq!(code, Some(Errno::LOOP), "{path}");
            }
            let missing = open(&at.join("secret/none")).unwrap_err();
            assert_eq!(missing.kind(), io::ErrorKind::NotFound);
        }
    }

    /// CAL-SEC-1: no folder is created behind a link, dangling or not.
    #[test]
    fn no_folder_is_created_behind_a_link() {
        let (_folder, at) = folder();
        create_folder(&at.join("secret")).unwrap();
        symlink(at.join("secret"), at.join("out")).unwrap();
        symlink(at.join("later"), at.join("dangling")).unwrap();
        for path in ["out/new", "dangling", "dangling/new"] {
            create_folder(&at.join(path)).unwrap_err();
        }
        assert!(!at.join("secret/new").exists());
        assert!(!at.join("later").exists());
        create_folder(&at.join("a/b/c")).unwrap();
        create_folder(&at.join("a/b/c")).unwrap();
        assert!(at.join("a/b/c").is_dir());
    }
}
