//! Displacing: files that are moved away from their place, and those that a mirror deletes.

use super::{Rule, Severity, Subject, Tool};
use crate::{path, path_class::PathClass};

/// The reason of the rules `*.many-into-one`.
const MANY_INTO_ONE_REASON: &str =
    "if the target is not a folder, each file replaces the previous one";

/// Commands that the rules `*.many-into-one` suggest.
const MANY_INTO_ONE_ALTERNATIVES: &[&str] = &["mkdir -p {1}", "ls -ld {1}", "ls -la"];

pub(super) const TOOLS: &[Tool] = &[
    Tool {
        names: &["mv"],
        takes: "-t -S --target-directory --suffix",
        one_dash: false,
        tests: &[
            ("moves-vital", |s| {
                sources(s)
                    .any(|p| matches!(p, PathClass::Vital | PathClass::Project | PathClass::System))
            }),
            ("moves-git", |s| sources(s).any(|p| p == PathClass::Git)),
            ("moves-all", |s| {
                sources(s).any(|p| p == PathClass::Everything)
                    && s.operands
                        .last()
                        .is_some_and(|(w, _)| !matches!(s.place(&w.text), PathClass::Inside))
            }),
            ("moves-others", |s| {
                let mut sources = source_words(s);
                sources.any(|word| {
                    s.place(word) == PathClass::Outside && is_project_of_others(s, word)
                })
            }),
            ("many-into-one", takes_many_into_one),
            ("to-null", |s| {
                s.operands
                    .last()
                    .is_some_and(|(w, _)| w.text == "/dev/null")
            }),
        ],
        rules: &[
            Rule {
                id: "mv.vital",
                when: &["&moves-vital", "&moves-git", "&to-null", "&moves-all"],
                severity: Severity::Block,
                reason: "it moves files away from where they are needed",
                alternatives: &["ls -ld {0..}"],
                #[cfg(test)]
                catches: &[
                    "mv /etc /tmp/etc",
                    "mv ~ /tmp/x",
                    "mv .git /tmp/g",
                    "mv src /dev/null",
                ],
                #[cfg(test)]
                spares: &["mv a b", "mv src/x.rs src/y.rs", "mv /tmp/a ."],
            },
            Rule {
                id: "mv.many-into-one",
                when: &["&many-into-one"],
                severity: Severity::Ask,
                reason: MANY_INTO_ONE_REASON,
                alternatives: MANY_INTO_ONE_ALTERNATIVES,
                #[cfg(test)]
                catches: &[
                    "for f in *.csv; do mv \"$f\" archive; done",
                    "for f in a b c; do mv $f out; done",
                    "ls *.csv | while read f; do mv \"$f\" archive; done",
                    "find . -name '*.csv' -exec mv {} archive \\;",
                    "ls *.csv | xargs -I{} mv {} archive",
                    "ls *.csv | xargs -n1 sh -c 'mv \"$0\" archive'",
                    "fd -e csv -x mv {} archive",
                    "parallel mv {} archive ::: *.csv",
                    "i=0; while [ $i -lt 5 ]; do mv \"r$i\" archive; i=$((i+1)); done",
                    "D=archive; for f in *.csv; do mv \"$f\" \"$D\"; done",
                    "for f in *.csv; do mv -f \"$f\" all.csv; done",
                    "for f in *.csv; do mv \"$f\" archive; done; mkdir archive",
                ],
                #[cfg(test)]
                spares: &[
                    "for f in *.csv; do mv \"$f\" archive/; done",
                    "mkdir -p archive && for f in *.csv; do mv \"$f\" archive; done",
                    "[ -d archive ] && for f in *.csv; do mv \"$f\" archive; done",
                    "for f in *.csv; do mv -t archive \"$f\"; done",
                    "for f in *.csv; do mv -n \"$f\" archive; done",
                    "for f in *.csv; do mv \"$f\" \"${f%.csv}.txt\"; done",
                    "for f in *.csv; do mv \"$f\" \"archive-$f\"; done",
                    "n=1; for f in *.png; do mv \"$f\" \"img$n.png\"; n=$((n+1)); done",
                    "n=1; for f in *.png; do mv \"$f\" \"img$n.png\"; ((n++)); done",
                    "n=1; if true; then mv \"r$n\" out; fi",
                    "for f in a; do mv $f b; done",
                    "for f in *.c; do sed s/a/b/ \"$f\" > tmp && mv tmp \"$f\"; done",
                    "find . -name '*.csv' -exec mv {} {}.bak \\;",
                    "find . -name a.csv -exec mv {} archive \\;",
                    "mv *.csv archive",
                    "for d in x y; do D=$(mktemp -d); mv $d $D; done",
                ],
            },
            Rule {
                id: "mv.outside",
                when: &["&moves-others"],
                severity: Severity::Ask,
                reason: "it moves away what does not belong to this project",
                alternatives: &["ls -ld {0..}"],
                #[cfg(test)]
                catches: &[
                    "mv ../other /tmp/x",
                    "mv ~/other ../backup",
                    "mv -t /tmp ../other",
                ],
                #[cfg(test)]
                spares: &[
                    "mv ../other/a.txt .",
                    "mv ~/Downloads/x.csv data",
                    "mv ../a.txt .",
                ],
            },
        ],
    },
    Tool {
        names: &["cp", "gcp", "gmv", "install", "ginstall", "rsync"],
        takes: "-t -S --target-directory --suffix",
        one_dash: false,
        tests: &[("many-into-one", takes_many_into_one)],
        rules: &[Rule {
            id: "copy.many-into-one",
            when: &["&many-into-one"],
            severity: Severity::Ask,
            reason: MANY_INTO_ONE_REASON,
            alternatives: MANY_INTO_ONE_ALTERNATIVES,
            #[cfg(test)]
            catches: &[
                "for f in *.csv; do cp \"$f\" backup; done",
                "find . -name '*.csv' -exec cp {} backup \\;",
                "ls *.csv | xargs -I{} cp -p {} backup",
                "for f in a b; do gmv $f out; done",
            ],
            #[cfg(test)]
            spares: &[
                "for f in *.csv; do cp \"$f\" backup/; done",
                "for f in *.csv; do cp -t backup \"$f\"; done",
                "for c in a b; do cp \"$c.toml\" config.toml; cargo run; done",
                "for c in a b; do cp \"$c\" input; ./run input; done",
                "mkdir backup; for f in *.csv; do cp \"$f\" backup; done",
                "cp a backup",
            ],
        }],
    },
    Tool {
        names: &["rsync"],
        takes: "-e -f --exclude --include --rsh --filter --bwlimit --port --files-from --log-file",
        one_dash: false,
        tests: &[
            ("to-vital", |s| {
                s.operands.last().is_some_and(|(word, _)| {
                    matches!(
                        s.place(&word.text),
                        PathClass::Vital
                            | PathClass::Project
                            | PathClass::System
                            | PathClass::Everything
                    )
                })
            }),
            ("to-outside", |s| {
                s.operands.last().is_some_and(|(word, _)| {
                    matches!(s.place(&word.text), PathClass::Outside) || word.text.contains(':')
                })
            }),
        ],
        rules: &[
            Rule {
                id: "rsync.delete-vital",
                when: &[
                    "--delete*|--del !-n|--dry-run &to-vital",
                    "--delete !-n|--dry-run &to-vital",
                    "--delete-before !-n &to-vital",
                    "--delete-after !-n &to-vital",
                    "--delete-during !-n &to-vital",
                    "--delete-excluded !-n &to-vital",
                ],
                severity: Severity::Block,
                reason: "it deletes everything that the source does not have",
                alternatives: &[],
                #[cfg(test)]
                catches: &[
                    "rsync -a --delete empty/ /",
                    "rsync --delete -r /tmp/e/ ~/",
                    "rsync -a --delete e/ .",
                ],
                #[cfg(test)]
                spares: &[
                    "rsync -a src/ dst/",
                    "rsync -an --delete src/ /",
                    "rsync -a --delete src/ dst/",
                ],
            },
            Rule {
                id: "rsync.delete",
                when: &[
                    "--delete !-n|--dry-run &to-outside",
                    "--del !-n|--dry-run &to-outside",
                    "--delete-excluded !-n|--dry-run &to-outside",
                    "--remove-source-files",
                ],
                severity: Severity::Ask,
                reason: "it deletes everything outside the project that the source does not have",
                alternatives: &[],
                #[cfg(test)]
                catches: &[
                    "rsync -a --delete src/ ../dst/",
                    "rsync -av --delete ./ host:/srv/www/",
                    "rsync -a --remove-source-files a/ b/",
                ],
                #[cfg(test)]
                spares: &[
                    "rsync -a src/ dst/",
                    "rsync -av ./ host:/srv/www/",
                    "rsync -an --delete ./ host:/srv/",
                ],
            },
        ],
    },
];

fn sources(subject: &Subject<'_>) -> impl Iterator<Item = PathClass> {
    source_words(subject).map(|word| subject.place(word))
}

fn source_words<'a>(subject: &'a Subject<'_>) -> impl Iterator<Item = &'a str> {
    let count = subject.operands.len();
    let all = subject.has("-t") || subject.has("--target-directory");
    subject
        .operands
        .iter()
        .take(if all { count } else { count.saturating_sub(1) })
        .map(|(word, _)| word.text.as_str())
}

/// Whether a path looks like another project: a folder next to this one, or in the home folder.
fn is_project_of_others(subject: &Subject<'_>, text: &str) -> bool {
    let absolute = path::absolute(text, subject.call.cwd.as_deref());
    let Some((parent, name)) = absolute.rsplit_once('/') else {
        return false;
    };
    let beside = subject
        .facts
        .root
        .as_deref()
        .and_then(|root| root.rsplit_once('/'));
    let holds = beside.is_some_and(|(beside, _)| beside == parent)
        || subject.facts.home.as_deref() == Some(parent);
    holds && !name.trim_start_matches('.').contains('.')
}

/// Returns whether it moves or copies several things to one name that is no folder.
fn takes_many_into_one(subject: &Subject<'_>) -> bool {
    let to = subject.call.collects.as_ref();
    to.is_some_and(|to| !subject.facts.folders.contains(to))
}
