//! Disks and file systems.

use super::{Rule, Severity, Subject, Tool};
use crate::path_class::PathClass;

pub(super) const TOOLS: &[Tool] = &[
    Tool {
        names: &["dd", "dcfldd", "gdd"],
        takes: "",
        one_dash: false,
        tests: &[("to-device", |s| {
            output(s).is_some_and(|to| {
                matches!(
                    s.place(to),
                    PathClass::Device | PathClass::Vital | PathClass::System | PathClass::Git
                )
            })
        })],
        rules: &[Rule {
            id: "disk.dd",
            when: &["&to-device"],
            severity: Severity::Block,
            reason: "it overwrites a disk or the system",
            alternatives: &[],
            #[cfg(test)]
            catches: &[
                "dd if=/dev/zero of=/dev/sda",
                "dd of=/dev/nvme0n1 if=x.img bs=4M",
                "dd if=a of=/etc/passwd",
            ],
            #[cfg(test)]
            spares: &[
                "dd if=/dev/zero of=x.img count=1",
                "dd if=/dev/sda of=backup.img",
                "dd if=/dev/zero of=/dev/null count=1",
            ],
        }],
    },
    Tool {
        names: &[
            "mkfs",
            "mke2fs",
            "mkswap",
            "mkfs.ext2",
            "mkfs.ext3",
            "mkfs.ext4",
            "mkfs.xfs",
            "mkfs.btrfs",
            "mkfs.vfat",
            "mkfs.fat",
            "mkfs.ntfs",
            "mkfs.exfat",
            "mkfs.f2fs",
            "mkfs.minix",
            "mkdosfs",
            "newfs",
            "mkntfs",
        ],
        takes: "-t -L -b -m -N",
        one_dash: false,
        tests: &[("file-system", |s| {
            s.operands.iter().any(|(word, _)| {
                matches!(s.place(&word.text), PathClass::Device | PathClass::Unknown)
                    || word.text.starts_with("/dev")
            })
        })],
        rules: &[Rule {
            id: "disk.mkfs",
            when: &["&file-system"],
            severity: Severity::Block,
            reason: "it formats a disk",
            alternatives: &[],
            #[cfg(test)]
            catches: &[
                "mkfs.ext4 /dev/sda1",
                "mkfs -t xfs /dev/sdb",
                "mkswap /dev/sda2",
                "mkfs $DISK",
                "mkfs.ext4 -F /dev/nvme0n1p2",
                "mkfs.vfat -F 32 /dev/sdb1",
            ],
            #[cfg(test)]
            spares: &[
                "mkfs.ext4 disk.img",
                "mkfs.vfat -F 32 disk.img",
                "mkfs --help",
                "mkfs.ext4 -V",
            ],
        }],
    },
    Tool {
        names: &[
            "wipefs",
            "blkdiscard",
            "sgdisk",
            "fdisk",
            "sfdisk",
            "cfdisk",
            "parted",
            "gdisk",
            "hdparm",
            "badblocks",
            "cryptsetup",
            "diskutil",
            "format",
            "diskpart",
            "Format-Volume",
            "Clear-Disk",
            "nvme",
            "pvremove",
            "vgremove",
            "lvremove",
            "lvreduce",
            "zpool",
            "zfs",
            "mdadm",
            "btrfs",
            "tune2fs",
            "debugfs",
            "dmsetup",
            "losetup",
            "swapoff",
            "umount",
            "mount",
        ],
        takes: "-o -t",
        one_dash: false,
        tests: &[("changes-disk", changes_disk)],
        rules: &[Rule {
            id: "disk.partition",
            when: &["&changes-disk"],
            severity: Severity::Block,
            reason: "it destroys the data on a disk",
            alternatives: &[],
            #[cfg(test)]
            catches: &[
                "wipefs -a /dev/sda",
                "sgdisk --zap-all /dev/sda",
                "parted /dev/sda mklabel gpt",
                "cryptsetup luksFormat /dev/sda2",
                "zpool destroy tank",
                "diskutil eraseDisk JHFS+ X disk2",
                "lvremove -f vg/lv",
                "hdparm --security-erase p /dev/sda",
            ],
            #[cfg(test)]
            spares: &[
                "fdisk -l",
                "wipefs /dev/sda",
                "parted -l",
                "zpool status",
                "diskutil list",
                "hdparm -I /dev/sda",
            ],
        }],
    },
];

/// Returns the value of `of=`.
fn output<'a>(subject: &Subject<'a>) -> Option<&'a str> {
    subject
        .operands
        .iter()
        .find_map(|(word, _)| word.text.strip_prefix("of="))
}

fn changes_disk(subject: &Subject<'_>) -> bool {
    let words: Vec<&str> = subject
        .call
        .words
        .iter()
        .skip(1)
        .map(|word| word.text.as_str())
        .collect();
    let has = |wanted: &[&str]| words.iter().any(|word| wanted.contains(word));
    let device = words
        .iter()
        .any(|word| subject.place(word) == PathClass::Device);
    match subject.call.name.as_str() {
        "wipefs" => has(&["-a", "--all", "-af", "-fa"]) || subject.has("-o"),
        "blkdiscard" => device,
        "sgdisk" => {
            has(&["-Z", "--zap-all", "-o", "--clear", "-z", "--zap"])
                || subject.has("-d")
                || subject.has("--delete")
        }
        "fdisk" | "cfdisk" | "gdisk" => device && !has(&["-l", "--list", "-x"]),
        "sfdisk" => device && !has(&["-l", "--list", "-d", "--dump", "-J", "--json"]),
        "parted" => has(&["mklabel", "mktable", "rm", "mkpart", "resizepart"]),
        "hdparm" => words.iter().any(|word| {
            word.starts_with("--security-erase")
                || word.starts_with("--trim-sector")
                || word.starts_with("--make-bad")
                || word.starts_with("--write-sector")
        }),
        "badblocks" => words
            .iter()
            .any(|word| word.starts_with('-') && word.contains('w')),
        "cryptsetup" => has(&[
            "luksFormat",
            "erase",
            "luksErase",
            "reencrypt",
            "luksKillSlot",
            "luksRemoveKey",
        ]),
        "diskutil" => words.iter().any(|word| {
            let lower = word.to_ascii_lowercase();
            lower.starts_with("erase")
                || lower.starts_with("zero")
                || lower.starts_with("partition")
                || lower.starts_with("secureerase")
                || lower == "reformat"
                || lower.starts_with("deletevolume")
                || lower.starts_with("deletecontainer")
        }),
        "format" => words.iter().any(|word| word.ends_with(':')),
        "diskpart" | "Format-Volume" | "Clear-Disk" => true,
        "nvme" => has(&["format", "sanitize", "delete-ns", "write-zeroes"]),
        "pvremove" | "vgremove" | "lvremove" => !words.is_empty() && !has(&["--help", "--version"]),
        "zpool" => has(&["destroy", "labelclear"]),
        "zfs" => has(&["destroy", "rollback"]),
        "mdadm" => has(&["--zero-superblock", "--stop", "--create"]),
        "btrfs" => has(&["delete", "del"]),
        "lvreduce" => !words.is_empty() && !has(&["--test", "-t"]),
        "tune2fs" | "debugfs" => words.contains(&"-w"),
        "dmsetup" => has(&["remove", "remove_all", "wipe_table"]),
        "umount" => has(&["/", "-a", "/home", "/usr"]),
        "mount" => words.iter().any(|word| word.contains("remount")),
        _ => false,
    }
}
