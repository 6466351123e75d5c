//! System calls that no executor needs, and by which more could be reached than was given.

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

/// Refused as if the kernel were older, so that callers take the older way: their arguments, or
/// what they do later, cannot be looked at.
const UNKNOWN: &[i64] = &[libc::SYS_clone3, libc::SYS_io_uring_setup];

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

/// Refuses them, from here on and in all that is started. `local_only`: sockets of other families
/// than the local one too.
pub(super) fn restrict(local_only: bool) -> io::Result<()> {
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
    // What is not of these families goes past network namespaces, or is of no use in one.
    let families: &[i32] = if local_only {
        &[libc::AF_UNIX]
    } else {
        &[
            libc::AF_UNIX,
            libc::AF_INET,
            libc::AF_INET6,
            libc::AF_NETLINK,
        ]
    };
    let none_of_them = families
        .iter()
        .map(|family| (0, SeccompCmpOp::Ne, u64::from(family.cast_unsigned())));
    rules.insert(libc::SYS_socket, vec![rule(none_of_them.collect())?]);
    apply(rules, libc::EPERM)?;
    apply(
        UNKNOWN.iter().map(|call| (*call, Vec::new())).collect(),
        libc::ENOSYS,
    )
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
