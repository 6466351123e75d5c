//! Landlock: paths that are not named can be neither read nor written, regardless of the mounts.

use std::{
    io,
    os::fd::{AsFd, OwnedFd},
    path::Path,
};

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, LandlockStatus, PathBeneath, PathFd, Ruleset,
    RulesetAttr, RulesetCreatedAttr, Scope,
};
use rustix::{
    fs::{FileType, fstat},
    io::Errno,
};

use crate::{
    linked,
    spec::{Access, SandboxSpec},
};

/// The newest version whose rights we ask for; what an older kernel lacks is left out.
const NEWEST: ABI = ABI::V6;

/// Restricts this process and returns the version of Landlock that is in force.
pub(super) fn restrict(order: &SandboxSpec) -> io::Result<u32> {
    let everything = AccessFs::from_all(NEWEST);
    let mut rules = Ruleset::default()
        .handle_access(everything)
        .and_then(|rules| rules.scope(Scope::from_all(NEWEST)))
        .map_err(io::Error::other)?;
    if order.layers.sockets {
        // No port may be bound or connected to, since there is no rule that allows one.
        rules = rules
            .handle_access(AccessNet::from_all(NEWEST))
            .map_err(io::Error::other)?;
    }
    let mut rules = rules.create().map_err(io::Error::other)?;
    let mut allow = |object: &dyn AsFd, access: BitFlags<AccessFs>| -> io::Result<()> {
        let kind = FileType::from_raw_mode(fstat(object)?.st_mode);
        let access = match kind {
            FileType::Directory => access,
            _ => access & AccessFs::from_file(NEWEST),
        };
        let rule = PathBeneath::new(object.as_fd(), access);
        (&mut rules).add_rule(rule).map_err(io::Error::other)?;
        Ok(())
    };
    let read = AccessFs::from_read(NEWEST);
    let use_it = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::IoctlDev;
    let mut fixed = vec![("/proc", read)];
    fixed.extend(super::mounts::DEVICES.map(|device| (device, use_it)));
    if order.layers.namespaces {
        fixed.extend([
            ("/", read),
            ("/dev/shm", everything),
            (super::mounts::TERMINALS, everything),
        ]);
    }
    for (path, access) in fixed {
        // A missing path needs no right.
        if let Ok(object) = PathFd::new(path) {
            allow(&object, access)?;
        }
    }
    for place in &order.places {
        let access = match place.access {
            Access::Read => read,
            // Without namespaces this path leads to other contents on the disk.
            Access::Fresh if !order.layers.namespaces => continue,
            // A right to the folder around it cannot be revoked for its contents.
            Access::Hidden => continue,
            Access::Write | Access::Fresh | Access::Bounded => everything,
        };
        if order.layers.namespaces {
            // Only what the order names is mounted there; nothing else is visible.
            if let Ok(object) = PathFd::new(&place.path) {
                allow(&object, access)?;
            }
        } else if let Some(object) = on_disk(&place.source)? {
            allow(&object, access)?;
        }
    }
    let status = rules.restrict_self().map_err(io::Error::other)?;
    match status.landlock {
        LandlockStatus::Available {
            effective_abi,
            kernel_abi,
        } => {
            let version = kernel_abi.unwrap_or(effective_abi as i32);
            Ok(version.cast_unsigned())
        }
        _ => Err(Errno::OPNOTSUPP.into()),
    }
}

/// Opens a path of an order without mounts; `None` if it is gone.
fn on_disk(path: &Path) -> io::Result<Option<OwnedFd>> {
    match linked::open(path) {
        Ok(object) => Ok(Some(object)),
        // A link took its place since the order was written.
        Err(error) if Errno::from_io_error(&error) == Some(Errno::LOOP) => Err(error),
        Err(_) => Ok(None),
    }
}
