//! Where the files stand whose locks are waited for: nowhere that an executor is shown.
//!
//! Whoever may open a file to read it may lock it, and keep all others waiting for as long as he lives. So each place
//! is listed, and confinement covers those that stand in a project.

use crate::{
    none_of,
    tree::{Tree, in_crate},
};

/// Where a file of locks stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// In the project: a folder that is covered for executors.
    Covered(&'static str),
    /// In the machine's home, or the user's configuration, which are covered whole.
    Own,
    /// Beside a file that a person names for one command.
    Named,
    /// Where the caller says.
    Handed,
}

/// Every source file that takes locks.
const TAKERS: [(&str, Place); 40] = [
    ("callosum-mesh/src/conflict/store.rs", Place::Own),
    ("callosum-app/src/mesh/panes/resumption.rs", Place::Own),
    ("callosum-panes/src/inject/mailbox/mod.rs", Place::Own),
    ("callosum-panes/src/inject/tmux.rs", Place::Own),
    ("callosum-panes/src/registry.rs", Place::Own),
    ("callosum-arbiter/src/budget/budget_store.rs", Place::Own),
    ("callosum-arbiter/src/circuit/store.rs", Place::Own),
    ("callosum-arbiter/src/delegation/reuse.rs", Place::Own),
    ("callosum-arbiter/src/slots.rs", Place::Own),
    ("callosum-snapshot/src/store.rs", Place::Own),
    ("callosum-host/src/disk/temp_dir.rs", Place::Own),
    ("callosum-host/src/lock.rs", Place::Handed),
    ("callosum-ledger/src/audit_buffer.rs", Place::Own),
    ("callosum-ledger/src/checkpoint/create.rs", Place::Own),
    (
        "callosum-ledger/src/compression.rs",
        Place::Covered(".cal_lock"),
    ),
    ("callosum-ledger/src/locks.rs", Place::Covered(".cal_lock")),
    ("callosum-log/src/file.rs", Place::Handed),
    ("callosum-mesh/src/journal/open.rs", Place::Own),
    (
        "callosum-session/src/transaction/lock.rs",
        Place::Covered("loa-grimoire/.session"),
    ),
    ("callosum-app/src/capability/accepted.rs", Place::Own),
    ("callosum-app/src/capability/outcomes.rs", Place::Own),
    ("callosum-app/src/constitution/amendment.rs", Place::Own),
    ("callosum-app/src/constitution/governance.rs", Place::Own),
    ("callosum-app/src/delegate/run_store.rs", Place::Own),
    ("callosum-app/src/goal/loan.rs", Place::Own),
    ("callosum-app/src/goal/plan_folder.rs", Place::Own),
    ("callosum-app/src/mesh/publish.rs", Place::Own),
    ("callosum-app/src/mesh/subscription.rs", Place::Named),
    ("callosum-app/src/mesh_health.rs", Place::Own),
    ("callosum-app/src/plan/lock.rs", Place::Own),
    (
        "callosum-app/src/open_ledger.rs",
        Place::Covered(".cal_lock"),
    ),
    ("callosum-config/src/auto_allow.rs", Place::Own),
    ("callosum-config/src/calrc/edit.rs", Place::Own),
    ("callosum-config/src/permissions.rs", Place::Own),
    ("callosum-config/src/secret_reads.rs", Place::Own),
    ("callosum-config/src/trust.rs", Place::Own),
    ("callosum-daemon/src/instance.rs", Place::Own),
    ("callosum-client/src/hook/tokens.rs", Place::Own),
    ("callosum-client/src/undo/log.rs", Place::Own),
    // Files that are only just being written, under names of the moment: nobody waits for those.
    ("callosum-host/src/disk/temp_names.rs", Place::Handed),
];

/// Whether a source takes locks, rather than only names their type.
fn takes_locks(text: &str) -> bool {
    // What is for tests alone may also stand above.
    let code = text.split("\n#[cfg(test)]\nmod tests").next();
    let code = code.unwrap_or(text);
    ["FileLock::", "LockFile::", ".try_lock("]
        .iter()
        .any(|call| code.contains(call))
}

#[test]
fn every_lock_stands_where_no_executor_sees_it() {
    let tree = Tree::read();
    let mut findings = Vec::new();
    for path in tree.with_extension("rs") {
        let Some((name, rest)) = in_crate(path) else {
            continue;
        };
        let is_of_tests =
            name == "callosum-testkit" || !rest.starts_with("src/") || rest.ends_with("tests.rs");
        let is_listed = TAKERS
            .iter()
            .any(|(known, _)| path.strip_prefix("crates/") == Some(known));
        let is_file_system = rest == "src/disk/file.rs" || rest == "src/disk/real.rs";
        if !is_of_tests && !is_file_system && takes_locks(&tree.text(path)) != is_listed {
            findings.push(format!(
                "{path}: say in this test where its locks stand, so that no executor is shown them"
            ));
        }
    }
    let covered = tree.text("crates/callosum-sandbox/src/nested_repositories.rs");
    for (path, place) in TAKERS {
        if !tree.has(&format!("crates/{path}")) {
            findings.push(format!("{path}: is not there any more"));
        }
        if let Place::Covered(folder) = place
            && !covered.contains(&format!("\"{folder}\""))
        {
            findings.push(format!("{path}: confinement does not cover {folder}"));
        }
    }
    none_of(&findings);
}
