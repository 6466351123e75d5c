//! Dry runs: options under which a tool that could destroy only prints what it would do.
//!
//! A table, since no option means this everywhere: `-n` of `zfs destroy` is a dry run, `-n` of `kubectl delete` names a
//! namespace. Tools that read an unknown option as a file, such as `rm`, are not in it.

use super::Subject;
use crate::{analyze::Call, facts::Facts, program_names::DELETERS};

/// Tools, their options that take a value, and the options that make a dry run.
const TOOLS: &[(&[&str], &str, &[&str])] = &[
    (
        &["rsync"],
        "-e -f -T -B -M --rsh --filter --exclude --include",
        &["-n", "--dry-run", "--list-only"],
    ),
    (
        &[
            "lvremove",
            "vgremove",
            "pvremove",
            "lvreduce",
            "lvresize",
            "vgreduce",
            "lvconvert",
        ],
        "-L -l -S -n --size --extents --select --name --config --devices",
        &["-t", "--test"],
    ),
    (
        &["wipefs"],
        "-o -O -t -l --offset --types --output",
        &["-n", "--no-act"],
    ),
    (
        &["sfdisk"],
        "-N -o -O -w -W -X -Y --partno --label",
        &["-n", "--no-act"],
    ),
    (&["sgdisk"], "", &["-P", "--pretend"]),
    (
        &["mke2fs", "mkfs.ext2", "mkfs.ext3", "mkfs.ext4"],
        "-b -C -d -e -E -g -G -i -I -J -l -L -m -M -N -o -O -r -t -T -U -z",
        &["-n"],
    ),
    (&["mkfs.xfs"], "-b -c -d -i -l -L -m -n -p -r -s", &["-N"]),
    (
        &["fsck", "e2fsck"],
        "-b -B -C -E -j -l -L -r -t -z",
        &["-n", "-N"],
    ),
    (&["zfs"], "-o -O -t", &["-n"]),
    (
        &["apt", "apt-get", "aptitude"],
        "-o -t -c --option --target-release",
        &[
            "-s",
            "--simulate",
            "--just-print",
            "--dry-run",
            "--recon",
            "--no-act",
        ],
    ),
    (
        &["dpkg"],
        "--root --admindir",
        &["--dry-run", "--no-act", "--simulate"],
    ),
    (&["dnf", "yum"], "-x -c --exclude", &["--assumeno"]),
    (&["rpm"], "--root --dbpath", &["--test"]),
    (&["zypper"], "-R --root", &["-D", "--dry-run"]),
    (
        &["pacman"],
        "-b -r --root --dbpath --config",
        &["-p", "--print"],
    ),
    (&["apk"], "-p -X --root", &["-s", "--simulate"]),
    (&["brew"], "", &["-n", "--dry-run"]),
    (
        &["conda", "mamba"],
        "-n -p --name --prefix",
        &["-d", "--dry-run"],
    ),
    (
        &["restic", "borg", "kopia", "rclone", "duplicity"],
        "-r -o -p -l -P -a --repo --tag --host --path",
        &["-n", "--dry-run"],
    ),
    (
        &["pg_resetwal", "pg_rewind", "pg_archivecleanup"],
        "-D -l --pgdata",
        &["-n", "--dry-run"],
    ),
    (&["mongorestore"], "-d -c -h -u -p", &["--dryRun"]),
    (
        &["iptables-restore", "ip6tables-restore"],
        "-T -w -W -M",
        &["-t", "--test"],
    ),
    (&["nft"], "-f -I -D", &["-c", "--check"]),
    (
        &["logrotate"],
        "-s -m -l --state --mail --log",
        &["-d", "--debug"],
    ),
    (
        &["helm", "helmfile"],
        "-n -f --namespace --values",
        &["--dry-run"],
    ),
    (
        &[
            "nix-collect-garbage",
            "nix-store",
            "skaffold",
            "pulumi",
            "ansible",
            "ansible-playbook",
        ],
        "-i -l -m -a -e -t -u",
        &["--dry-run", "--check", "--list-hosts", "--list-tasks"],
    ),
    (
        &["aws", "s5cmd", "mc", "azcopy"],
        "",
        &["--dryrun", "--dry-run"],
    ),
    (&["npm", "pnpm", "cargo"], "", &["--dry-run"]),
    (
        &["docker", "podman", "docker-compose"],
        "-f -p --file --project-name",
        &["--dry-run"],
    ),
];

/// Returns whether a command only prints what it would do, or its help or its version.
pub(crate) fn only_tells(call: &Call, facts: &Facts) -> bool {
    let name = call.name.as_str();
    if prints_version(call) {
        return true;
    }
    let found = TOOLS.iter().find(|(names, ..)| names.contains(&name));
    found.is_some_and(|(_, takes, options)| {
        let subject = Subject::new(call, takes, facts);
        options.iter().any(|option| {
            // Abbreviations are left out: `--test` is not `--te`, which may be another tool's.
            let is_long = option.starts_with("--");
            subject.options.iter().any(|given| {
                let is_it = if is_long {
                    given.name == *option
                } else {
                    !given.name.starts_with("--") && given.name[1..].contains(&option[1..])
                };
                is_it && !matches!(given.value, Some("false" | "none" | "0" | "no"))
            })
        })
    })
}

/// Returns whether a command ends with `--version` and names nothing else than verbs: a tool that
/// takes a version gets one. A program that deletes files would take a verb for a file.
fn prints_version(call: &Call) -> bool {
    let Some((last, rest)) = call.words.get(1..).and_then(<[_]>::split_last) else {
        return false;
    };
    let deletes = DELETERS.contains(&call.name.as_str());
    let is_verb = |text: &str| {
        !deletes
            && text
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte == b'-')
    };
    last.text == "--version"
        && rest
            .iter()
            .all(|word| word.text.starts_with('-') || is_verb(&word.text))
}

#[cfg(test)]
mod tests {
    use crate::{Decision, Facts, Policy, decide};

    /// CAKE-SHIM-1: the guard allows dry runs, and does not allow commands that only look like one.
    #[test]
    fn a_dry_run_passes() {
        let facts = Facts::of_a_project();
        let decided = |command: &str| decide(command, &facts, &Policy::default()).decision;
        for command in [
            "rsync -a --delete --list-only src/ /",
            "rsync -an --delete src/ ~/",
            "lvremove --test vg0/data",
            "vgremove -ft vg0",
            "wipefs -an /dev/sda",
            "sfdisk --no-act /dev/sda",
            "mkfs.ext4 -n /dev/sda1",
            "zfs destroy -nvr tank/data",
            "apt-get -s purge libc6",
            "apt-get remove --dry-run python3",
            "rpm -e --test glibc",
            "restic forget --prune --dry-run latest",
            "iptables-restore --test rules.v4",
            "docker compose --dry-run down -v",
            "aws s3 rm s3://shop --recursive --dryrun",
            "rm --version",
            "terraform destroy --version",
            "mkfs.ext4 --version",
            "lvremove --help",
            "git push --force --dry-run",
            "npm unpublish shop --dry-run",
            "kubectl delete ns shop --dry-run=client",
        ] {
            assert_eq!(decided(command), Decision::Allow, "{command}");
        }
        for command in [
            "lvremove vg0/test",
            "mkfs.ext4 -Lbackend /dev/sda1",
            "zfs destroy -r tank/none",
            "helm uninstall shop --dry-run=none",
            "kubectl delete ns shop --dry-run=none",
            "rm -rf / --version",
            "rm -rf src/../.. --dry-run",
            "docker run -v /:/host alpine rm --dry-run",
            "wipefs -a /dev/sda",
        ] {
            assert!(decided(command) > Decision::Allow, "{command}");
        }
    }
}
