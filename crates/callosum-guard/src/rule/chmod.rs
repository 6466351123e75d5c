//! Permissions and owners.

use super::{Rule, Severity, Subject, Tool};
use crate::{analyze::value::SOME, path, path_class::PathClass};

pub(super) const TOOLS: &[Tool] = &[
    Tool {
        names: &["setfacl"],
        takes: "-m -x -M -X --modify --remove --modify-file --remove-file --restore",
        one_dash: false,
        tests: &[],
        rules: &[Rule {
            id: "setfacl.broad",
            when: &[
                "@vital|@system",
                "@outside",
                "-R|--recursive @project|@everything",
            ],
            severity: Severity::Ask,
            reason: "it changes who may read and write far more than one file of the project",
            alternatives: &[],
            #[cfg(test)]
            catches: &[
                "setfacl -m u:nobody:rwx /home/u",
                "setfacl -R -b .",
                "setfacl -R -m o::rwx /etc",
            ],
            #[cfg(test)]
            spares: &[
                "setfacl -m u:www-data:rx public",
                "getfacl -R .",
                "setfacl --help",
            ],
        }],
    },
    Tool {
        names: &["chmod", "gchmod"],
        takes: "--reference",
        one_dash: false,
        tests: &[
            ("open-to-all", |s| {
                !s.call.contained && mode(s).is_some_and(|mode| opens(mode, 7))
            }),
            ("writable-by-all", |s| {
                !s.call.contained && mode(s).is_some_and(|mode| opens(mode, 2))
            }),
            ("closed-to-all", |s| {
                mode(s).is_some_and(|mode| {
                    matches!(mode.trim_start_matches('0'), "")
                        || matches!(mode, "a-rwx" | "-rwx" | "ugo-rwx" | "a=" | "=" | "u-rwx")
                })
            }),
            ("privileged", |s| mode(s).is_some_and(privileged)),
            ("recursive", recursive),
            ("gathered", gathered),
            ("here", |s| !s.call.elsewhere),
        ],
        rules: &[
            Rule {
                id: "chmod.open",
                when: &["&open-to-all"],
                severity: Severity::Block,
                reason: "everyone could then change it",
                alternatives: &["chmod u+rwx {1..}"],
                #[cfg(test)]
                catches: &[
                    "chmod 777 a",
                    "chmod -R 0777 .",
                    "chmod a+rwx x",
                    "chmod ugo=rwx x",
                    "chmod 1777 x",
                    "chmod o=rwx x",
                ],
                #[cfg(test)]
                spares: &[
                    "chmod 755 a",
                    "chmod +x run.sh",
                    "chmod u+rwx x",
                    "chmod -R u+rwX,go-w .",
                ],
            },
            Rule {
                id: "chmod.writable",
                when: &["&writable-by-all"],
                severity: Severity::Ask,
                reason: "everyone could then change it",
                alternatives: &["chmod u+w {1..}"],
                #[cfg(test)]
                catches: &[
                    "chmod 666 a",
                    "chmod o+w a",
                    "chmod a+w -R .",
                    "chmod 0766 x",
                ],
                #[cfg(test)]
                spares: &["chmod 644 a", "chmod g+w a", "chmod o-w a"],
            },
            Rule {
                id: "chmod.vital",
                when: &[
                    "&recursive @vital|@system",
                    "&gathered",
                    "@system",
                    "&closed-to-all @vital|@project|@everything|@git",
                ],
                severity: Severity::Block,
                reason: "a system with wrong permissions no longer starts",
                alternatives: &["ls -ld {1..}"],
                #[cfg(test)]
                catches: &[
                    "chmod -R 755 /",
                    "chmod -R 700 /etc",
                    "chmod 000 /etc/passwd",
                    "chmod -R a-rwx .",
                    "find / -perm -4000 -exec chmod u-s {} \\;",
                    "find ~ -type f -print0 | xargs -0 chmod 600",
                ],
                #[cfg(test)]
                spares: &[
                    "chmod -R u+rwX src",
                    "chmod 600 .env",
                    "chmod -R 755 target",
                ],
            },
            Rule {
                id: "chmod.outside",
                when: &["&recursive &here @outside"],
                severity: Severity::Ask,
                reason: "nothing records the current permissions of these files outside the project",
                alternatives: &["ls -ld {1..}"],
                #[cfg(test)]
                catches: &[
                    "chmod -R 755 /srv/other",
                    "chmod -R go-rwx /home/u/other",
                    "chmod --recursive u+w ../other",
                    "find ../other -type f -exec chmod 644 {} +",
                ],
                #[cfg(test)]
                spares: &[
                    "chmod 600 /home/u/.netrc",
                    "chmod -R 755 target",
                    "chmod -R u+w /tmp/x",
                    "find dist -type f -exec chmod 644 {} +",
                    "find /home/u/bin -name '*.sh' -exec chmod u+x {} +",
                ],
            },
            Rule {
                id: "chmod.setuid",
                when: &["&privileged"],
                severity: Severity::Ask,
                reason: "anyone who runs it then gets its owner's rights",
                alternatives: &["chmod u+x {1..}"],
                #[cfg(test)]
                catches: &["chmod u+s x", "chmod 4755 x", "chmod g+s,o+x x"],
                #[cfg(test)]
                spares: &["chmod u+x x", "chmod 0755 x", "chmod u-s x"],
            },
        ],
    },
    Tool {
        names: &["chown", "chgrp", "chattr", "setfacl"],
        takes: "--reference --from",
        one_dash: false,
        tests: &[
            ("of-system", |s| taken_over(s) || gathered(s)),
            ("recursive", recursive),
            ("here", |s| !s.call.elsewhere),
        ],
        rules: &[
            Rule {
                id: "chown.vital",
                when: &["&of-system", "&recursive * @git"],
                severity: Severity::Block,
                reason: "a system whose files belong to another user no longer starts",
                alternatives: &["ls -ld {1..}"],
                #[cfg(test)]
                catches: &[
                    "chown -R u:u /",
                    "chown -R nobody /etc",
                    "chgrp -R staff /usr",
                    "chown u /etc/sudoers",
                ],
                #[cfg(test)]
                spares: &["chown u file", "chown -R u src", "ls -l /etc"],
            },
            Rule {
                id: "chown.outside",
                when: &["&recursive &here * @outside"],
                severity: Severity::Ask,
                reason: "nothing records the current owners of these files outside the project",
                alternatives: &["ls -ld {1..}"],
                #[cfg(test)]
                catches: &[
                    "chown -R www-data:www-data /home/u/projects",
                    "chgrp -R staff ../other",
                    "find ../other -exec chown u {} +",
                    "chown -R u /srv/other",
                ],
                #[cfg(test)]
                spares: &["chown -R u src", "chown u /srv/other", "chown -R u /tmp/x"],
            },
        ],
    },
    Tool {
        names: &["install", "mkdir"],
        takes: "-m -o -g -t -S --mode --owner --group --target-directory",
        one_dash: false,
        tests: &[("open-mode", |s| {
            s.value("-m")
                .or_else(|| s.value("--mode"))
                .is_some_and(|mode| (opens(mode, 2) || privileged(mode)) && !mode.starts_with('1'))
        })],
        rules: &[Rule {
            id: "mkdir.open",
            when: &["&open-mode"],
            severity: Severity::Ask,
            reason: "everyone could then change it",
            alternatives: &["mkdir -m 755 {0..}"],
            #[cfg(test)]
            catches: &[
                "mkdir -m 777 out",
                "install -m 0777 a b",
                "mkdir --mode=777 x",
            ],
            #[cfg(test)]
            spares: &["mkdir -m 755 out", "install -m 644 a b", "mkdir 777"],
        }],
    },
];

/// The mode that is given: the first operand, or what looked like an option and is none.
fn mode<'a>(subject: &Subject<'a>) -> Option<&'a str> {
    let first = subject.call.words.iter().skip(1).find(|word| {
        let text = word.text.as_str();
        let option = text.starts_with("--")
            || text.len() > 1
                && text.starts_with('-')
                && text[1..].chars().all(|c| "Rcfvh".contains(c));
        !option
    })?;
    Some(first.text.as_str())
}

/// Whether a mode gives all of these rights to everybody.
fn opens(mode: &str, rights: u32) -> bool {
    if !mode.is_empty() && mode.bytes().all(|b| b.is_ascii_digit()) {
        return u32::from_str_radix(mode, 8).is_ok_and(|mode| mode & rights == rights);
    }
    mode.split(',').any(|clause| {
        let Some(at) = clause.find(['+', '=']) else {
            return false;
        };
        let who = &clause[..at];
        let what = &clause[at + 1..];
        let given = what.chars().fold(0, |given, right| {
            given
                | match right {
                    'r' => 4,
                    'w' => 2,
                    'x' | 'X' => 1,
                    _ => 0,
                }
        });
        // Without a name, the mask keeps writing from others.
        who.contains(['o', 'a']) && given & rights == rights
    })
}

fn privileged(mode: &str) -> bool {
    if mode.bytes().all(|b| b.is_ascii_digit()) {
        return u32::from_str_radix(mode, 8).is_ok_and(|mode| mode & 0o6000 != 0);
    }
    mode.split(',').any(|clause| {
        clause
            .find(['+', '='])
            .is_some_and(|at| clause[at..].contains('s'))
    })
}

/// Whether it gives another owner to a part of the system, or to all of a folder's contents.
fn taken_over(subject: &Subject<'_>) -> bool {
    let mut paths = subject.operands.iter().skip(1);
    paths.any(|(word, _)| match subject.place(&word.text) {
        PathClass::System => !is_served(subject, &word.text),
        PathClass::Vital => recursive(subject) && !is_served(subject, &word.text),
        _ => false,
    })
}

/// Whether a path holds the payload of a container, whose owner is set to its image's own user: all
/// but the system that it starts from.
fn is_served(subject: &Subject<'_>, written: &str) -> bool {
    const SYSTEM: [&str; 9] = [
        "", "bin", "boot", "dev", "etc", "lib", "lib64", "sbin", "usr",
    ];
    let at = path::absolute(written, subject.call.cwd.as_deref());
    let mut parts = at.split('/').skip(1);
    let (first, second) = (parts.next().unwrap_or(""), parts.next().unwrap_or(""));
    let is_of_system = SYSTEM.contains(&first) || first == "var" && second.is_empty();
    subject.call.contained && at.starts_with('/') && !is_of_system
}

/// Whether it is about files that were found anywhere in the system.
fn gathered(subject: &Subject<'_>) -> bool {
    let mut words = subject.operands.iter().map(|(word, _)| word.text.as_str());
    words.any(|word| word.contains(SOME) && subject.place(word) == PathClass::Vital)
}

/// Whether it applies to all of a folder's contents.
fn recursive(subject: &Subject<'_>) -> bool {
    let mut words = subject.operands.iter();
    subject.has("-R") || subject.has("--recursive") || words.any(|(word, _)| word.source.within)
}
