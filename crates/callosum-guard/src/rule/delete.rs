//! Deleting: `rm` and every other program that deletes files. Moves and mirrors, which delete at
//! their source or target, are in `move_mirror`.

use super::{Rule, Severity, Subject, Tool};
use crate::{
    analyze::value::{MAYBE, SOME},
    glob, link, path,
    path_class::PathClass,
    program_names::DELETERS,
};

/// Folders in a home folder of what builds made or fetched, and will again.
const CACHES: [&str; 16] = [
    "Library/Caches",
    "Library/Developer/Xcode/DerivedData",
    ".gradle/caches",
    ".npm",
    ".yarn/cache",
    ".yarn/berry/cache",
    ".bun/install/cache",
    ".cargo/registry/cache",
    ".cargo/registry/src",
    ".cargo/registry/index",
    ".cargo/git",
    ".ivy2/cache",
    ".m2/repository",
    ".nuget/packages",
    ".pub-cache",
    ".expo",
];

/// Whether a path is one of them, or is in one.
fn is_cache(subject: &Subject<'_>, path: &str) -> bool {
    let absolute = link::resolve(path, subject.call.cwd.as_deref(), subject.facts);
    let home = subject.facts.home.as_deref().unwrap_or("/");
    let inner = absolute.strip_prefix(home.trim_end_matches('/'));
    let inner = inner.map(|inner| inner.trim_start_matches('/'));
    inner.is_some_and(|inner| {
        CACHES
            .iter()
            .any(|cache| crate::path::is_within(inner, cache))
    })
}

pub(super) const TOOLS: &[Tool] = &[
    Tool {
        names: DELETERS,
        takes: "",
        one_dash: false,
        tests: &[
            ("recursive", recursive),
            ("repository", |s| {
                let mut operands = s.operands.iter();
                operands.any(|(word, _)| {
                    let cwd = s.call.cwd.as_deref();
                    let at = link::resolve(&word.text, cwd, s.facts);
                    let mut repositories = s.facts.repositories.iter();
                    repositories.any(|folder| path::is_within(folder, &at))
                        && s.place(&word.text) != PathClass::Free
                })
            }),
            ("takes-repository", takes_repository),
            ("of-clone", |s| {
                let mut operands = s.operands.iter();
                operands.all(|(word, _)| word.source.made || s.place(&word.text) != PathClass::Git)
            }),
            ("root", |s| s.has("--no-preserve-root") && recursive(s)),
            ("only-caches", |s| {
                let mut outside = s.operands.iter().map(|(word, _)| word.text.as_str());
                outside.all(|path| s.place(path) != PathClass::Outside || is_cache(s, path))
            }),
            ("temporary", |s| {
                let mut operands = s.operands.iter();
                recursive(s)
                    && operands.any(|(word, _)| {
                        let at = link::resolve(&word.text, s.call.cwd.as_deref(), s.facts);
                        matches!(at.as_str(), "/tmp" | "/var/tmp" | "/private/tmp")
                    })
            }),
            ("listed", |s| {
                let mut operands = s.operands.iter();
                operands.any(|(word, _)| word.source.listed)
            }),
            ("named", |s| {
                let mut operands = s.operands.iter();
                let unknown = |text: &str| text.chars().all(|c| matches!(c, MAYBE | SOME));
                operands.any(|(word, _)| word.source.named && unknown(&word.text))
            }),
        ],
        rules: &[
            Rule {
                id: "rm.vital",
                when: &["@vital|@project", "&root"],
                severity: Severity::Block,
                reason: "it deletes the home folder, a main folder in it or of the system, or the whole project",
                alternatives: &["ls -ld {0..}"],
                #[cfg(test)]
                catches: &[
                    "rm -rf /",
                    "rm -r -f ~",
                    "rm -fr /*",
                    "rm --recursive --force /usr",
                    "rm -rf ..",
                    "rm -rf \"$HOME\"",
                    "rm -rf .",
                    "rm -rf --no-preserve-root /",
                    "rm / -rf",
                ],
                #[cfg(test)]
                spares: &[
                    "rm -rf target",
                    "rm -rf /tmp/x",
                    "rm -rf ./node_modules",
                    "echo rm -rf /",
                    "rm -rf /home/u/p/target",
                ],
            },
            Rule {
                id: "rm.git",
                when: &["@git !&of-clone", "&recursive &takes-repository"],
                severity: Severity::Block,
                reason: "it deletes the repository and its history",
                alternatives: &[],
                #[cfg(test)]
                catches: &[
                    "rm -rf .git",
                    "rm -r ./.git/objects",
                    "rm .git/HEAD",
                    "git clone https://x.io/t; cd t; rm -rf .git",
                ],
                #[cfg(test)]
                spares: &[
                    "rm .gitignore",
                    "rm -f .gitattributes",
                    "rm -rf git",
                    "rm -f .git/index.lock",
                    "git clone https://x.io/t.git && rm -rf t/.git",
                ],
            },
            Rule {
                id: "rm.repository",
                when: &["&recursive &repository"],
                severity: Severity::Ask,
                reason: "it deletes another repository and its history, which snapshots do not contain",
                alternatives: &["git -C {0} status"],
                #[cfg(test)]
                catches: &[
                    "rm -rf cloned",
                    "rm -r ./cloned/",
                    "rm -rf /home/u/p/cloned",
                ],
                #[cfg(test)]
                spares: &[
                    "rm -rf cloned/target",
                    "rm -rf clone",
                    "rm -rf /tmp/cloned",
                    "ls cloned",
                ],
            },
            Rule {
                id: "rm.system",
                when: &["@system"],
                severity: Severity::Block,
                reason: "it deletes part of the system",
                alternatives: &["ls -ld {0..}"],
                #[cfg(test)]
                catches: &[
                    "rm /etc/passwd",
                    "rm -rf /usr/local/lib",
                    "rm -f /var/lib/dpkg/status",
                ],
                #[cfg(test)]
                spares: &["ls /etc", "rm /tmp/passwd", "rm etc/passwd"],
            },
            Rule {
                id: "rm.possibly-vital",
                when: &["@maybe-vital"],
                severity: Severity::Ask,
                reason: "if the variable is empty, it deletes everything from the root down",
                alternatives: &[],
                #[cfg(test)]
                catches: &[
                    "rm -rf \"$DIR\"/*",
                    "rm -rf $X/",
                    "rm -rf ~/$NAME",
                    "cd \"$D\"; rm -rf *",
                    "rm -rf $TMPDIR/*",
                ],
                #[cfg(test)]
                spares: &[
                    "rm -rf \"${DIR:?}\"/*",
                    "rm -rf \"$TMPDIR/x\"",
                    "D=build; rm -rf $D/*",
                ],
            },
            Rule {
                id: "rm.everything",
                when: &["@everything"],
                severity: Severity::Ask,
                reason: "it deletes everything in the project",
                alternatives: &[],
                #[cfg(test)]
                catches: &[
                    "rm -rf *",
                    "rm -rf ./*",
                    "rm *",
                    "rm -r ./{*,.*}",
                    "rm -rf !(keep)",
                    "rm -r [a-z]*",
                    "rm -rf ${X}*",
                    "rm -rf */",
                ],
                #[cfg(test)]
                spares: &[
                    "rm -f *.log",
                    "rm -rf build/*",
                    "rm *.tmp",
                    "rm -rf dist/!(keep)",
                    "rm -f [0-9]*.tmp",
                    "rm -rf */node_modules",
                ],
            },
            Rule {
                id: "rm.from-list",
                when: &["&listed"],
                severity: Severity::Ask,
                reason: "it deletes every file in a list of the whole tree or of uncommitted files",
                alternatives: &[],
                #[cfg(test)]
                catches: &[
                    "ls -A | grep -v .git | xargs rm -rf",
                    "git status --porcelain | cut -c4- | xargs rm",
                    "rm $(git diff --name-only)",
                    "git ls-files -m src | while read f; do rm \"$f\"; done",
                    "git worktree list | awk '{print $1}' | xargs rm -rf",
                    "git worktree list --porcelain | grep ^worktree | cut -d' ' -f2 | xargs rm -rf",
                ],
                #[cfg(test)]
                spares: &[
                    "git diff --name-only | xargs cat",
                    "git ls-files '*.orig' | xargs rm",
                    "ls -t *.bak | tail -n +5 | xargs rm",
                    "git worktree list | grep wt-fix | awk '{print $1}' | xargs rm -rf",
                    "ls | grep '\\.log$' | xargs rm",
                    "cd /tmp/x && ls | xargs rm",
                ],
            },
            Rule {
                id: "rm.by-name",
                when: &["&recursive &named"],
                severity: Severity::Ask,
                reason: "an unknown program determines which folder it deletes",
                alternatives: &[],
                #[cfg(test)]
                catches: &[
                    "rm -rf $(some-tool where)",
                    "rm -rf \"$(some-tool path)\"",
                    "D=\"$(some-tool where)\"; rm -rf \"$D\"",
                    "rm -rf \"$(some-tool show x | awk '{print $2}')\"",
                    "rm -rf \"$(pip show x | grep Location | cut -d' ' -f2)\"",
                ],
                #[cfg(test)]
                spares: &[
                    "rm -rf \"$(mktemp -d)\"",
                    "rm -rf $(find . -name node_modules)",
                    "rm -rf $(poetry env info -p)",
                    "rm -f \"$(some-tool log)\"",
                    "rm -rf $(cat list)",
                ],
            },
            Rule {
                id: "rm.outside",
                when: &["@outside !&only-caches"],
                severity: Severity::Ask,
                reason: "it deletes files outside the project",
                alternatives: &["ls -ld {0..}"],
                #[cfg(test)]
                catches: &[
                    "rm -rf ../other",
                    "rm -r ~/notes",
                    "rm ~/x.txt",
                    "rm ~/.npmrc",
                ],
                #[cfg(test)]
                spares: &[
                    "rm -rf ./other",
                    "rm -r /tmp/notes",
                    "rm x.txt",
                    "rm -rf ~/Library/Developer/Xcode/DerivedData",
                    "rm -rf ~/.gradle/caches/build-cache-1",
                    "rm -rf ~/.npm",
                    "rm -rf ~/.cargo/registry/cache ~/.cargo/git",
                ],
            },
            Rule {
                id: "rm.temporary",
                when: &["&temporary"],
                severity: Severity::Ask,
                reason: "it deletes the temporary folder itself, which every program needs",
                alternatives: &[],
                #[cfg(test)]
                catches: &[
                    "rm -rf /tmp",
                    "rm -r /tmp/",
                    "rm -rf /var/tmp",
                    "cd /; rm -rf tmp",
                ],
                #[cfg(test)]
                spares: &["rm -rf /tmp/x", "rm -rf /tmp/*", "rm -rf ./tmp", "rm /tmp"],
            },
            Rule {
                id: "rm.unknown",
                when: &["&recursive @unknown"],
                severity: Severity::Note,
                reason: "it is unknown what it deletes",
                alternatives: &[],
                #[cfg(test)]
                catches: &["rm -rf $DIR", "rm -r \"$1\"", "rm -rf $(cat list)"],
                #[cfg(test)]
                spares: &["rm -rf build", "rm \"$file\"", "rm -rf \"$HOME/p/build\""],
            },
        ],
    },
    Tool {
        names: &[
            "trash",
            "trash-put",
            "rmtrash",
            "gomi",
            "rip",
            "gtrash",
            "gio",
            "kioclient",
        ],
        takes: "",
        one_dash: false,
        tests: &[("trashes", |s| {
            !matches!(s.call.name.as_str(), "gio" | "kioclient")
                || matches!(s.operand(0), "trash" | "remove" | "move")
        })],
        rules: &[
            Rule {
                id: "trash.vital",
                when: &["&trashes @vital|@project|@system|@git"],
                severity: Severity::Block,
                reason: "it moves the system, the home folder or the whole project to the trash",
                alternatives: &[],
                #[cfg(test)]
                catches: &[
                    "trash ~",
                    "gio trash .git",
                    "rip /",
                    "gomi .",
                    "rmtrash /home/u",
                ],
                #[cfg(test)]
                spares: &["trash build", "gio trash dist", "gio info ~", "rip target"],
            },
            Rule {
                id: "trash.outside",
                when: &["&trashes @outside|@everything"],
                severity: Severity::Ask,
                reason: "it moves the whole project, or files outside it, to the trash",
                alternatives: &[],
                #[cfg(test)]
                catches: &["trash ../other", "trash *", "gio trash ~/notes"],
                #[cfg(test)]
                spares: &["trash a.txt", "gio open ../other", "rip /tmp/x"],
            },
        ],
    },
    Tool {
        names: &["trash-empty"],
        takes: "--trash-dir",
        one_dash: false,
        tests: &[],
        rules: &[Rule {
            id: "trash.empty",
            when: &["!* !--dry-run !--help !-h"],
            severity: Severity::Ask,
            reason: "it permanently deletes what is in the trash",
            alternatives: &[],
            #[cfg(test)]
            catches: &["trash-empty", "trash-empty -f", "trash-empty --all-users"],
            #[cfg(test)]
            spares: &["trash-empty --dry-run", "trash-list", "trash-empty 30"],
        }],
    },
    Tool {
        names: &["shred", "wipe", "scrub"],
        takes: "-n -s --iterations --size --random-source",
        one_dash: false,
        tests: &[],
        rules: &[
            Rule {
                id: "shred.device",
                when: &["@device"],
                severity: Severity::Block,
                reason: "what it overwrites cannot be recovered",
                alternatives: &["ls -ld {0..}"],
                #[cfg(test)]
                catches: &[
                    "shred /dev/sda",
                    "shred -n 3 /dev/nvme0n1",
                    "wipe /dev/sdb1",
                ],
                #[cfg(test)]
                spares: &["shred --help", "shred --version", "ls /dev/sda"],
            },
            Rule {
                id: "shred.vital",
                when: &["@vital|@project|@system|@git"],
                severity: Severity::Block,
                reason: "it overwrites the system, the home folder, the project or its history",
                alternatives: &["ls -ld {0..}"],
                #[cfg(test)]
                catches: &[
                    "shred -u /etc/passwd",
                    "shred -n3 ~/.ssh/*",
                    "shred -u .git/HEAD",
                ],
                #[cfg(test)]
                spares: &["shred --help", "ls -ld ~/.ssh/*", "ls /etc/passwd"],
            },
            Rule {
                id: "shred.file",
                when: &["*"],
                severity: Severity::Ask,
                reason: "what it overwrites cannot be recovered",
                alternatives: &["rm {0..}", "ls -ld {0..}"],
                #[cfg(test)]
                catches: &["shred -u notes.txt", "shred a", "wipe -f x"],
                #[cfg(test)]
                spares: &["shred --help", "shred --version", "cat shred"],
            },
        ],
    },
    Tool {
        names: &["truncate"],
        takes: "-s -r --size --reference",
        one_dash: false,
        tests: &[("empties", |s| {
            s.value("-s")
                .or_else(|| s.value("--size"))
                .is_some_and(|size| size.trim_start_matches(['=', '<']).starts_with('0'))
        })],
        rules: &[Rule {
            id: "truncate.device",
            when: &["@device|@vital|@system|@git"],
            severity: Severity::Block,
            reason: "what it truncates cannot be recovered",
            alternatives: &["ls -ld {0..}"],
            #[cfg(test)]
            catches: &[
                "truncate -s 0 /etc/passwd",
                "truncate -s0 .git/index",
                "truncate --size=0 /dev/sda",
            ],
            #[cfg(test)]
            spares: &[
                "truncate -s 0 app.log",
                "truncate -s 1M disk.img",
                "truncate -s 0 /tmp/x",
            ],
        }],
    },
];

/// Whether a pattern for what begins with a point takes in the project's repository: `.[!.]*`.
fn takes_repository(subject: &Subject<'_>) -> bool {
    let (root, git) = (&subject.facts.root, &subject.facts.git_dir);
    let (Some(root), Some(git)) = (root, git) else {
        return false;
    };
    let is_top = git.rsplit_once('/') == Some((root.as_str(), ".git"));
    is_top
        && subject.operands.iter().any(|(word, _)| {
            let (folder, last) = word.text.rsplit_once('/').unwrap_or((".", &word.text));
            last.starts_with('.')
                && last.contains(['*', '?', '['])
                && glob::matches(last, ".git")
                && subject.place(folder) == PathClass::Project
        })
}

fn recursive(subject: &Subject<'_>) -> bool {
    let named = matches!(subject.call.name.as_str(), "rimraf" | "del-cli" | "rmrf");
    named
        || ["-r", "-R", "--recursive"]
            .iter()
            .any(|option| subject.has(option))
        || subject.call.words.iter().any(|word| {
            matches!(
                word.text.to_ascii_lowercase().as_str(),
                "-recurse" | "/s" | "-r" | "-rec"
            )
        })
}
