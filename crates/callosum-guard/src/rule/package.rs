//! Packages and archives: what removes software, or lays files over others.

use super::{Rule, Severity, Subject, Tool};
use crate::{
    analyze::Unpacked,
    path,
    path_class::{self, PathClass},
};

pub(super) const TOOLS: &[Tool] = &[
    Tool {
        names: &[
            "apt", "apt-get", "dnf", "yum", "pacman", "zypper", "apk", "dpkg", "rpm", "brew",
            "snap", "flatpak", "port", "emerge", "choco", "winget", "scoop",
        ],
        takes: "-o -c -t",
        one_dash: false,
        tests: &[("removes-core", |s| {
            let removes = matches!(
                s.operand(0),
                "remove"
                    | "purge"
                    | "autoremove"
                    | "erase"
                    | "uninstall"
                    | "del"
                    | "dist-upgrade"
                    | "full-upgrade"
            ) || s.options.iter().any(|given| {
                matches!(
                    given.name,
                    "-r" | "-e"
                        | "--purge"
                        | "--remove"
                        | "--erase"
                        | "-P"
                        | "-R"
                        | "-Rns"
                        | "-Rdd"
                        | "-Rsc"
                        | "-Rs"
                        | "-Rn"
                        | "-rf"
                )
            });
            removes
                && !s.has("--help")
                && !s.has("--dry-run")
                && !s
                    .call
                    .words
                    .iter()
                    .any(|word| matches!(word.text.as_str(), "-s" | "-h"))
        })],
        rules: &[Rule {
            id: "system.packages",
            when: &["&removes-core"],
            severity: Severity::Ask,
            reason: "it removes software that others may need",
            alternatives: &["apt list --installed"],
            #[cfg(test)]
            catches: &[
                "apt-get remove -y libc6",
                "apt purge python3",
                "pacman -Rns base",
                "dpkg -r bash",
                "brew uninstall git",
                "rpm -e glibc",
            ],
            #[cfg(test)]
            spares: &[
                "apt list",
                "apt-get install -y jq",
                "brew list",
                "dpkg -l",
                "pacman -Ss jq",
            ],
        }],
    },
    Tool {
        names: &["pip", "pip3"],
        takes: "-r --requirement -t --target",
        one_dash: false,
        tests: &[("unnamed", |s| {
            s.value("-r")
                .or_else(|| s.value("--requirement"))
                .is_some_and(|file| file.starts_with("/dev/fd/"))
                || s.operands.iter().skip(1).any(|(word, _)| !word.is_known())
        })],
        rules: &[Rule {
            id: "system.pip-all",
            when: &["uninstall -y|--yes &unnamed"],
            severity: Severity::Ask,
            reason: "it removes every package on a list that no one has reviewed",
            alternatives: &["pip list"],
            #[cfg(test)]
            catches: &[
                "pip freeze | xargs pip uninstall -y",
                "pip uninstall -y -r <(pip freeze)",
                "pip3 uninstall --yes $(pip3 freeze)",
            ],
            #[cfg(test)]
            spares: &[
                "pip uninstall -y requests",
                "pip uninstall -y -r requirements.txt",
                "pip freeze",
            ],
        }],
    },
    Tool {
        names: &[
            "tar", "gtar", "unzip", "bsdtar", "7z", "cpio", "bsdcpio", "pax", "tarfile", "zipfile",
        ],
        takes: "-f -C -d --directory --file --exclude",
        one_dash: false,
        tests: &[
            ("in-system", |s| {
                let unpacks = s.call.name == "unzip"
                    || s.has("-x")
                    || s.has("--extract")
                    || s.operand(0).contains('x') && !s.operand(0).contains(['.', '/']);
                let moved = s.has("-C") || s.has("--directory") || s.has("-d");
                unpacks && !moved && is_of_system(s, ".")
            }),
            // `tar xzPf a.tgz`
            ("from-root", |s| {
                let letters = s.call.words.get(1).map_or("", |word| word.text.as_str());
                let are_letters = !letters.starts_with('-') && !letters.contains(['.', '/', '=']);
                s.call.name.contains("tar")
                    && are_letters
                    && letters.contains('x')
                    && letters.contains('P')
            }),
            ("unpacks-into-system", |s| {
                let unpacked =
                    Unpacked::from_call(s.call, s.facts).filter(|unpacked| unpacked.overwrites);
                let to = unpacked.map(|unpacked| unpacked.within);
                to.is_some_and(|to| to.iter().any(|to| is_of_system(s, to)))
            }),
            ("into-system", |s| {
                s.value("-C")
                    .or_else(|| s.value("--directory"))
                    .or_else(|| s.value("-d").filter(|_| s.call.name == "unzip"))
                    .is_some_and(|to| is_of_system(s, to))
                    && !s.call.words.get(1).is_some_and(|word| {
                        !word.text.starts_with("--") && word.text.contains(['c', 't'])
                            || matches!(word.text.as_str(), "--create" | "--list")
                    })
            }),
        ],
        rules: &[Rule {
            id: "system.unpack",
            when: &[
                "&into-system",
                "&in-system",
                "&unpacks-into-system",
                "--absolute-names|-P -x",
                "&from-root",
                "--remove-files",
            ],
            severity: Severity::Ask,
            reason: "it may overwrite or delete files outside the project",
            alternatives: &[],
            #[cfg(test)]
            catches: &[
                "tar -xf a.tar -C /",
                "tar xzf a.tgz -C /usr",
                "unzip a.zip -d /etc",
                "cpio -id -D ~ < a.cpio",
                "python3 -m tarfile -e a.tar /",
                "python3 -c \"import zipfile; zipfile.ZipFile('a.zip').extractall('/etc')\"",
                "cd ~ && cpio -idu < a.cpio",
                "tar -cf a.tar --remove-files src",
            ],
            #[cfg(test)]
            spares: &[
                "tar xzf a.tgz",
                "tar -xf a.tar -C build",
                "python3 -m zipfile -e a.zip build",
                "python3 -c \"import tarfile; tarfile.open('a.tar').extractall('build')\"",
                "cpio -id -D build < a.cpio",
                "cpio -t -D / < a.cpio",
                "tar -czf a.tgz -C / etc/hosts",
            ],
        }],
    },
    Tool {
        names: &["zip", "7z", "7za", "7zz", "rar", "tar", "gtar", "bsdtar"],
        takes: "-x -i -b -P -t -tt -n -f -C --file --directory --exclude",
        one_dash: false,
        tests: &[
            ("takes-all", takes_all),
            ("takes-others", |s| {
                taken(s).any(|place| place == PathClass::Outside)
            }),
        ],
        rules: &[
            Rule {
                id: "archive.take-all",
                when: &["&takes-all"],
                severity: Severity::Block,
                reason: "it adds files to the archive and removes them from where they are needed",
                alternatives: &[],
                #[cfg(test)]
                catches: &[
                    "zip -rm /tmp/x.zip .",
                    "zip -r --move ../x.zip * .git",
                    "7z a -sdel /tmp/x.7z .",
                    "rar m -r /tmp/x.rar .",
                    "tar -czf /tmp/x.tgz --remove-files .git",
                ],
                #[cfg(test)]
                spares: &[
                    "zip -r /tmp/x.zip .",
                    "zip -rm /tmp/x.zip build",
                    "7z a /tmp/x.7z .",
                    "rar a -r /tmp/x.rar .",
                    "tar -czf /tmp/x.tgz .",
                ],
            },
            Rule {
                id: "archive.take-others",
                when: &["&takes-others"],
                severity: Severity::Ask,
                reason: "it removes what does not belong to this project",
                alternatives: &[],
                #[cfg(test)]
                catches: &[
                    "zip -rm /tmp/x.zip ~/src",
                    "7z a -sdel /tmp/x.7z ../other",
                    "rar m -r /tmp/x.rar ~/notes",
                ],
                #[cfg(test)]
                spares: &[
                    "zip -r x.zip ~/src",
                    "7z a x.7z ../other",
                    "zip -rm x.zip /tmp/x",
                ],
            },
        ],
    },
    Tool {
        names: &["ln"],
        takes: "-t -S",
        one_dash: false,
        tests: &[("over-system", |s| {
            s.operands.len() > 1
                && s.operands.last().is_some_and(|(word, _)| {
                    matches!(s.place(&word.text), crate::path_class::PathClass::System)
                })
        })],
        rules: &[Rule {
            id: "system.link",
            when: &["&over-system"],
            severity: Severity::Block,
            reason: "it replaces part of the system",
            alternatives: &[],
            #[cfg(test)]
            catches: &[
                "ln -sf /tmp/x /etc/passwd",
                "ln -s /dev/null /etc/hosts",
                "ln -sf a /usr/bin/python",
            ],
            #[cfg(test)]
            spares: &["ln -s ../a b", "ln -sf /etc/hosts hosts", "ln a b"],
        }],
    },
    Tool {
        names: &["rustup"],
        takes: "",
        one_dash: false,
        tests: &[],
        rules: &[Rule {
            id: "package.self-uninstall",
            when: &["self uninstall"],
            severity: Severity::Ask,
            reason: "it removes every toolchain, and every program that cargo has installed",
            alternatives: &["rustup show"],
            #[cfg(test)]
            catches: &[
                "rustup self uninstall",
                "rustup self uninstall -y",
                "sh -c 'rustup self uninstall -y'",
            ],
            #[cfg(test)]
            spares: &[
                "rustup show",
                "rustup self update",
                "rustup toolchain uninstall nightly",
            ],
        }],
    },
    Tool {
        names: &["nix-collect-garbage"],
        takes: "--delete-older-than --max-freed",
        one_dash: false,
        tests: &[],
        rules: &[Rule {
            id: "package.remove-generations",
            when: &["-d|--delete-old !--dry-run"],
            severity: Severity::Ask,
            reason: "the system can no longer be rolled back to an earlier generation",
            alternatives: &["nix-collect-garbage --dry-run"],
            #[cfg(test)]
            catches: &[
                "nix-collect-garbage -d",
                "nix-collect-garbage --delete-old",
                "env X=1 nix-collect-garbage -d",
            ],
            #[cfg(test)]
            spares: &[
                "nix-collect-garbage",
                "nix-collect-garbage -d --dry-run",
                "nix-collect-garbage --delete-older-than 30d",
            ],
        }],
    },
];

/// Lists the classes of the paths that an archiver deletes after adding them.
fn taken<'s>(subject: &'s Subject<'_>) -> impl Iterator<Item = PathClass> + 's {
    let (goes, own) = match subject.call.name.as_str() {
        "zip" => (subject.has("-m") || subject.has("--move"), 1),
        "tar" | "gtar" | "bsdtar" => (subject.has("--remove-files"), 0),
        "rar" => (
            matches!(subject.operand(0), "m" | "mf") || subject.has("-df"),
            2,
        ),
        _ => (
            subject.call.words.iter().any(|word| word.text == "-sdel"),
            2,
        ),
    };
    let files = subject.operands.iter().skip(own).filter(move |_| goes);
    files.map(|(word, _)| subject.place(&word.text))
}

fn takes_all(subject: &Subject<'_>) -> bool {
    taken(subject).any(|place| {
        matches!(
            place,
            PathClass::Vital
                | PathClass::Project
                | PathClass::System
                | PathClass::Git
                | PathClass::Everything
        )
    })
}

/// Whether an archive is unpacked among the system's files or into the home folder itself. A
/// temporary folder stays one if the project is in it.
fn is_of_system(subject: &Subject<'_>, to: &str) -> bool {
    let at = path::absolute(to, subject.call.cwd.as_deref());
    matches!(subject.place(to), PathClass::Vital | PathClass::System)
        && !path_class::is_temporary(&at)
}

#[cfg(test)]
mod tests {
    use crate::{Decision, Facts, Policy, decide};

    /// CAKE-SHIM-1: a project below a temporary folder makes that folder none of the system's.
    #[test]
    fn a_temporary_folder_may_be_unpacked_into_around_the_project() {
        let facts = Facts {
            cwd: Some("/tmp/t/p".to_owned()),
            root: Some("/tmp/t/p".to_owned()),
            home: Some("/home/u".to_owned()),
            ..Facts::default()
        };
        let of = |command: &str| decide(command, &facts, &Policy::default()).decision;
        for command in [
            "wget -O /tmp/x.tgz http://x.io/x.tgz && tar -C /tmp -xzf /tmp/x.tgz",
            "cd /tmp && tar xzf x.tgz",
            "unzip x.zip -d /tmp/t",
            "curl -L http://x.io/x.tgz | tar -xz -C /tmp/dir",
        ] {
            assert_eq!(of(command), Decision::Allow, "{command}");
        }
        assert_eq!(of("tar -C ~ -xzf x.tgz"), Decision::Ask);
        assert_eq!(of("rm -rf /tmp/t"), Decision::Block);
    }
}
