//! Virtual machines and containers that are kept like machines: what goes with them when they are
//! deleted.
//!
//! Clusters made for trying things out (`kind`, `k3d`) are not among them: to delete one is how they
//! are used.

use super::{Rule, Severity, Tool};

pub(super) const TOOLS: &[Tool] = &[
    Tool {
        names: &[
            "virsh",
            "VBoxManage",
            "vboxmanage",
            "prlctl",
            "vmrun",
            "tart",
            "utmctl",
        ],
        takes: "-c --connect --type -T",
        one_dash: false,
        tests: &[],
        rules: &[Rule {
            id: "guest.machine-delete",
            when: &[
                "undefine|destroy|unregistervm|delete|deleteVM|closemedium",
                "vol-delete|pool-delete|snapshot-delete|snapshot-revert|vol-wipe|net-undefine",
                "snapshot * delete|restore",
            ],
            severity: Severity::Ask,
            reason: "it deletes a machine with its disks, or stops it like a power failure",
            alternatives: &["virsh list --all"],
            #[cfg(test)]
            catches: &[
                "virsh undefine web --remove-all-storage",
                "virsh -c qemu:///system destroy web",
                "VBoxManage unregistervm web --delete",
                "prlctl delete web",
            ],
            #[cfg(test)]
            spares: &[
                "virsh list --all",
                "virsh dumpxml web",
                "VBoxManage list vms",
                "virsh snapshot-create web",
            ],
        }],
    },
    Tool {
        names: &[
            "multipass",
            "limactl",
            "colima",
            "qm",
            "pct",
            "lxc",
            "incus",
            "machinectl",
            "orb",
        ],
        takes: "--profile -p",
        one_dash: false,
        tests: &[],
        rules: &[Rule {
            id: "guest.instance-delete",
            when: &[
                "delete|destroy|purge|remove|rollback|factory-reset",
                "snapshot|storage|image delete",
            ],
            severity: Severity::Ask,
            reason: "everything stored inside is lost",
            alternatives: &["multipass list"],
            #[cfg(test)]
            catches: &[
                "multipass delete --purge web",
                "limactl delete default",
                "qm destroy 100",
                "lxc delete web --force",
            ],
            #[cfg(test)]
            spares: &[
                "multipass list",
                "multipass stop web",
                "qm config 100",
                "lxc list",
                "limactl start default",
            ],
        }],
    },
    Tool {
        names: &["vagrant"],
        takes: "",
        one_dash: false,
        tests: &[],
        rules: &[Rule {
            id: "guest.snapshot-delete",
            when: &["snapshot delete|restore|pop", "box remove --all"],
            severity: Severity::Ask,
            reason: "the earlier or the current state of the machine is lost",
            alternatives: &["vagrant snapshot list"],
            #[cfg(test)]
            catches: &[
                "vagrant snapshot delete a",
                "vagrant snapshot restore a",
                "vagrant box remove x --all",
            ],
            #[cfg(test)]
            spares: &[
                "vagrant snapshot list",
                "vagrant up",
                "vagrant snapshot save a",
            ],
        }],
    },
    Tool {
        names: &["wsl"],
        takes: "-d --distribution -u --user",
        one_dash: false,
        tests: &[],
        rules: &[Rule {
            id: "guest.unregister",
            when: &["--unregister", "--uninstall"],
            severity: Severity::Block,
            reason: "everything stored inside is lost",
            alternatives: &["wsl --list"],
            #[cfg(test)]
            catches: &[
                "wsl --unregister Ubuntu",
                "wsl.exe --unregister Ubuntu",
                "wsl --uninstall",
            ],
            #[cfg(test)]
            spares: &["wsl --list", "wsl --shutdown", "wsl --export Ubuntu u.tar"],
        }],
    },
    Tool {
        names: &["xcrun", "simctl"],
        takes: "--sdk --toolchain --set",
        one_dash: false,
        tests: &[],
        rules: &[Rule {
            id: "guest.simulators",
            when: &["simctl erase|delete all", "erase|delete all"],
            severity: Severity::Ask,
            reason: "everything stored in the simulators is lost",
            alternatives: &["xcrun simctl list"],
            #[cfg(test)]
            catches: &[
                "xcrun simctl erase all",
                "xcrun simctl delete all",
                "xcrun --sdk iphonesimulator simctl erase all",
            ],
            #[cfg(test)]
            spares: &[
                "xcrun simctl list",
                "xcrun simctl delete unavailable",
                "xcrun simctl erase 1B2C",
            ],
        }],
    },
];
