//! System calls that no executor needs, and that could reach more than was granted.
//!
//! A filter sees the numbers that a call is given, but not the data behind a pointer: no path, and
//! no address of a socket. So a local socket is refused when it is made, regardless of its later
//! target.

use std::{collections::BTreeMap, io};

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, apply_filter,
};

/// Refused as if the user had not the right.
const REFUSED: &[i64] = &[
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_setns,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    libc::SYS_open_by_handle_at,
    libc::SYS_kexec_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_syslog,
    libc::SYS_reboot,
    libc::SYS_quotactl,
];

/// Refused as if the kernel were older, so that callers take the older way: a filter cannot look at
/// their arguments, or at what they do later.
const UNKNOWN: &[i64] = &[
    libc::SYS_clone3,
    libc::SYS_io_uring_setup,
    // Its mode is behind a pointer.
    libc::SYS_openat2,
];

/// Refused as if the file system had no attributes. As root, `security.capability` gives a file
/// rights that every user who starts it gets, and the filter does not see which name is set.
///
/// `cp -p` falls back to `chmod` on this error only: with `EPERM` it fails.
const UNSUPPORTED: &[i64] = &[
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    SETXATTRAT,
];

/// `setxattrat` of Linux 6.13, which has this number on every machine.
const SETXATTRAT: i64 = 463;

/// `fchmodat2` of Linux 6.6, which has this number on every machine.
const FCHMODAT2: i64 = 452;

/// Calls that give a file its mode, and which argument that is.
const MODES: &[(i64, u8)] = &[
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_chmod, 1),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_creat, 1),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_mknod, 1),
    (libc::SYS_fchmod, 1),
    (libc::SYS_fchmodat, 2),
    (FCHMODAT2, 2),
    (libc::SYS_mknodat, 2),
];

/// Calls that give a file its mode if their flags create one: which arguments these are, flags first.
const OPENS: &[(i64, u8, u8)] = &[
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_open, 1, 2),
    (libc::SYS_openat, 2, 3),
];

/// Bits of a mode by which a program runs as its file's owner or group, regardless of the user who
/// starts it.
const SET_ID: [u32; 2] = [libc::S_ISUID, libc::S_ISGID];

/// Types of sockets that can get a new destination at any time, by a path too; the kernel takes the
/// second for the first.
const DATAGRAMS: [i32; 2] = [libc::SOCK_DGRAM, libc::SOCK_RAW];

/// The part of a socket's type that is no flag.
const SOCKET_TYPE: u64 = 0xf;

/// New namespaces, in which a process would have the rights of root again.
const NAMESPACES: [i32; 7] = [
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNS,
    libc::CLONE_NEWNET,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWCGROUP,
];

/// `ioctl` requests that put words into the mouth of who sits at the terminal.
const TERMINAL: [u64; 2] = [0x5412, 0x541c];

/// Refuses them, from here on and in all that is started. With `pairs_only`, pairs of connected sockets are the only
/// ones that can be made.
pub(super) fn restrict(pairs_only: bool) -> io::Result<()> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> =
        REFUSED.iter().map(|call| (*call, Vec::new())).collect();
    for call in [libc::SYS_clone, libc::SYS_unshare] {
        let flags = NAMESPACES.map(|flag| {
            let flag = u64::from(flag.cast_unsigned());
            rule(vec![(0, SeccompCmpOp::MaskedEq(flag), flag)])
        });
        rules.insert(call, flags.into_iter().collect::<io::Result<_>>()?);
    }
    let requests = TERMINAL.map(|request| rule(vec![(1, SeccompCmpOp::Eq, request)]));
    rules.insert(
        libc::SYS_ioctl,
        requests.into_iter().collect::<io::Result<_>>()?,
    );
    // Other families bypass network namespaces, or are of no use in one. Local sockets have a path,
    // which leads to any listener on this machine: an agent of keys, a container runtime, a
    // session's bus.
    let families = [libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];
    let none_of_them = families
        .iter()
        .map(|family| (0, SeccompCmpOp::Ne, u64::from(family.cast_unsigned())));
    let sockets = if pairs_only {
        Vec::new()
    } else {
        vec![rule(none_of_them.collect())?]
    };
    rules.insert(libc::SYS_socket, sockets);
    let datagrams = DATAGRAMS.map(|kind| {
        let kind = u64::from(kind.cast_unsigned());
        rule(vec![(1, SeccompCmpOp::MaskedEq(SOCKET_TYPE), kind)])
    });
    rules.insert(
        libc::SYS_socketpair,
        datagrams.into_iter().collect::<io::Result<_>>()?,
    );
    rules.extend(modes()?);
    apply(rules, libc::EPERM)?;
    apply(
        UNSUPPORTED.iter().map(|call| (*call, Vec::new())).collect(),
        libc::EOPNOTSUPP,
    )?;
    apply(
        UNKNOWN.iter().map(|call| (*call, Vec::new())).collect(),
        libc::ENOSYS,
    )
}

/// Returns rules that refuse to create a device, and to give a file a bit of [`SET_ID`].
fn modes() -> io::Result<BTreeMap<i64, Vec<SeccompRule>>> {
    let has = |argument: u8, bits: u64| (argument, SeccompCmpOp::MaskedEq(bits), bits);
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = BTreeMap::new();
    for bit in SET_ID.map(u64::from) {
        for (call, mode) in MODES {
            let refused = rule(vec![has(*mode, bit)])?;
            rules.entry(*call).or_default().push(refused);
        }
        for (call, flags, mode) in OPENS {
            for creates in [libc::O_CREAT, libc::O_TMPFILE] {
                let creates = u64::from(creates.cast_unsigned());
                let refused = rule(vec![has(*flags, creates), has(*mode, bit)])?;
                rules.entry(*call).or_default().push(refused);
            }
        }
    }
    for device in [libc::S_IFCHR, libc::S_IFBLK].map(u64::from) {
        let kind = SeccompCmpOp::MaskedEq(u64::from(libc::S_IFMT));
        let mut refuse = |call: i64, mode: u8| -> io::Result<()> {
            let refused = rule(vec![(mode, kind.clone(), device)])?;
            rules.entry(call).or_default().push(refused);
            Ok(())
        };
        #[cfg(target_arch = "x86_64")]
        refuse(libc::SYS_mknod, 1)?;
        refuse(libc::SYS_mknodat, 2)?;
    }
    Ok(rules)
}

fn rule(conditions: Vec<(u8, SeccompCmpOp, u64)>) -> io::Result<SeccompRule> {
    let conditions = conditions
        .into_iter()
        .map(|(argument, how, value)| {
            SeccompCondition::new(argument, SeccompCmpArgLen::Dword, how, value)
        })
        .collect::<Result<_, _>>()
        .map_err(io::Error::other)?;
    SeccompRule::new(conditions).map_err(io::Error::other)
}

fn apply(rules: BTreeMap<i64, Vec<SeccompRule>>, error: i32) -> io::Result<()> {
    let machine = TargetArch::try_from(std::env::consts::ARCH).map_err(io::Error::other)?;
    let filter = SeccompFilter::new(
        rules,
        SeccompAction::Allow,
        SeccompAction::Errno(error.cast_unsigned()),
        machine,
    )
    .map_err(io::Error::other)?;
    let program = BpfProgram::try_from(filter).map_err(io::Error::other)?;
    apply_filter(&program).map_err(io::Error::other)
}
