//! Landlock: what is not named is neither read nor written, whatever the mounts say.

use std::{io, path::Path};

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, LandlockStatus, PathBeneath, PathFd, Ruleset,
    RulesetAttr, RulesetCreatedAttr, Scope,
};
use rustix::io::Errno;

use super::super::order::{Access, Order};

/// The newest version whose rights we ask for; what an older kernel lacks is left out.
const NEWEST: ABI = ABI::V6;

/// Restricts this process and returns the version of Landlock that is in force.
pub(super) fn restrict(order: &Order) -> io::Result<u32> {
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
    let mut allow = |path: &Path, access: BitFlags<AccessFs>| -> io::Result<()> {
        let Ok(place) = PathFd::new(path) else {
            // What is not there needs no right.
            return Ok(());
        };
        let access = if path.is_dir() {
            access
        } else {
            access & AccessFs::from_file(NEWEST)
        };
        let rule = PathBeneath::new(place, access);
        (&mut rules).add_rule(rule).map_err(io::Error::other)?;
        Ok(())
    };
    let read = AccessFs::from_read(NEWEST);
    if order.layers.namespaces {
        allow(Path::new("/"), read)?;
        allow(Path::new("/dev/shm"), everything)?;
        allow(Path::new(super::mounts::TERMINALS), everything)?;
    }
    for place in &order.places {
        let access = match place.access {
            Access::Read => read,
            // On the disk something else stands there.
            Access::Fresh if !order.layers.namespaces => continue,
            // A right to the folder around it cannot be taken back for what is in it.
            Access::Hidden => continue,
            Access::Write | Access::Fresh => everything,
        };
        allow(&place.path, access)?;
    }
    allow(Path::new("/proc"), read)?;
    for device in super::mounts::DEVICES {
        let use_it = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::IoctlDev;
        allow(Path::new(device), use_it)?;
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
