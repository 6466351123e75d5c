//! Backups, and stores of data that is versioned: what is gone from where everything else would be brought back from.

use super::{Rule, Severity, Tool};

pub(super) const TOOLS: &[Tool] = &[
    TIME_MACHINE,
    Tool {
        names: &[
            "restic",
            "borg",
            "borgmatic",
            "kopia",
            "duplicity",
            "rdiff-backup",
            "tarsnap",
            "duplicacy",
        ],
        takes: "-r --repo --keep-last --keep-daily --keep-weekly --keep-monthly --keep-yearly --keep-hourly --keep-within -d -w -m -y -H --prefix --tag --host -f --config",
        one_dash: false,
        tests: &[],
        rules: &[Rule {
            id: "backup.delete",
            when: &[
                "forget !-n|--dry-run",
                "delete|rdelete|repo-delete !-n|--dry-run !--list",
                "prune --keep-*|--keep-last|--keep-daily|--keep-weekly|--keep-hourly|--keep-within !-n|--dry-run",
                "snapshot delete|expire --delete",
                "remove-older-than|remove-all-but-n-full|remove-all-inc-of-but-n-full|cleanup --force",
                "-d -f",
                "--nuke",
            ],
            severity: Severity::Ask,
            reason: "deleted backups or snapshots can no longer be restored",
            alternatives: &["restic snapshots"],
            #[cfg(test)]
            catches: &[
                "restic -r x forget --keep-last 1 --prune",
                "restic forget 4bba301e",
                "borg delete /r::a",
                "borg prune --keep-daily 7 /r",
                "kopia snapshot delete k1 --delete",
                "duplicity remove-all-but-n-full 1 x --force",
            ],
            #[cfg(test)]
            spares: &[
                "restic snapshots",
                "restic forget --dry-run --keep-last 1",
                "borg list /r",
                "borg create /r::a .",
                "restic backup src",
            ],
        }],
    },
    Tool {
        names: &["dvc"],
        takes: "-r --remote -j --jobs -p --projects",
        one_dash: false,
        tests: &[],
        rules: &[Rule {
            id: "backup.data-versions",
            when: &["gc !--dry", "destroy"],
            severity: Severity::Ask,
            reason: "it permanently deletes versions of data that may be stored nowhere else",
            alternatives: &["dvc gc --dry -w", "dvc status"],
            #[cfg(test)]
            catches: &[
                "dvc gc -w -f",
                "dvc gc --all-commits --cloud",
                "dvc destroy -f",
            ],
            #[cfg(test)]
            spares: &[
                "dvc gc -w --dry",
                "dvc status",
                "dvc remove model.dvc",
                "dvc pull",
            ],
        }],
    },
    Tool {
        names: &["mlflow"],
        takes: "--backend-store-uri --artifacts-destination --tracking-uri --experiment-ids --run-ids --older-than",
        one_dash: false,
        tests: &[],
        rules: &[Rule {
            id: "backup.runs",
            when: &["gc"],
            severity: Severity::Ask,
            reason: "it permanently removes deleted runs that could still be restored",
            alternatives: &["mlflow experiments search"],
            #[cfg(test)]
            catches: &[
                "mlflow gc",
                "mlflow gc --older-than 30d",
                "mlflow gc --backend-store-uri sqlite:///mlflow.db",
            ],
            #[cfg(test)]
            spares: &["mlflow experiments search", "mlflow ui", "mlflow run ."],
        }],
    },
    Tool {
        names: &["snapper", "timeshift"],
        takes: "-c --config --snapshot --snapshot-device",
        one_dash: false,
        tests: &[],
        rules: &[Rule {
            id: "backup.snapshots",
            when: &[
                "delete|remove|undochange|rollback",
                "--delete-all|--delete|--restore",
            ],
            severity: Severity::Ask,
            reason: "deleted backups or snapshots can no longer be restored",
            alternatives: &["snapper list", "timeshift --list"],
            #[cfg(test)]
            catches: &[
                "snapper delete 1-10",
                "snapper -c home delete 3",
                "timeshift --delete-all",
            ],
            #[cfg(test)]
            spares: &["snapper list", "snapper create -d x", "timeshift --list"],
        }],
    },
];

/// macOS's own.
const TIME_MACHINE: Tool = Tool {
    names: &["tmutil"],
    takes: "-d -t -p",
    one_dash: false,
    tests: &[],
    rules: &[Rule {
        id: "backup.time-machine",
        when: &["delete|deletelocalsnapshots|thinlocalsnapshots|disable|deleteinprogress"],
        severity: Severity::Block,
        reason: "deleted backups or snapshots can no longer be restored",
        alternatives: &["tmutil listbackups"],
        #[cfg(test)]
        catches: &[
            "tmutil delete /Volumes/Backup/x",
            "sudo tmutil deletelocalsnapshots /",
            "tmutil disable",
        ],
        #[cfg(test)]
        spares: &["tmutil listbackups", "tmutil status", "tmutil startbackup"],
    }],
};
