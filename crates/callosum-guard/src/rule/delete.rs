//! Deleting: `rm` and whatever else makes files go away.

use super::{Rule, Severity, Subject, Tool};
use crate::{
    path,
    place::Place,
    unwrap::value::{MAYBE, SOME},
};

/// Programs that delete what they are given.
pub(crate) const DELETERS: &[&str] = &[
    "rm",
    "grm",
    "rimraf",
    "del-cli",
    "trash-empty",
    "srm",
    "del",
    "rd",
    "erase",
    "ri",
    "Remove-Item",
    "remove-item",
    "rmrf",
    "unlink",
    "rmdir",
];

/// Folders in a home folder of what builds made or fetched, and will again.
const CACHES: [&str; 8] = [
    "Library/Caches",
    "Library/Developer/Xcode/DerivedData",
    ".gradle/caches",
    ".npm/_cacache",
    ".m2/repository",
    ".nuget/packages",
    ".pub-cache",
    ".expo",
];

/// Whether a path is one of them, or stands in one.
fn is_cache(subject: &Subject<'_>, path: &str) -> bool {
    let absolute = crate::path::absolute(path, subject.call.cwd.as_deref());
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
            ("root", |s| s.has("--no-preserve-root") && recursive(s)),
            ("only-caches", |s| {
                let mut outside = s.operands.iter().map(|(word, _)| word.text.as_str());
                outside.all(|path| s.place(path) != Place::Outside || is_cache(s, path))
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
                reason: "it deletes the system, the home folder or the whole project",
                alternative: Some("rm -r ./build"),
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
                when: &["@git"],
                severity: Severity::Block,
                reason: "it deletes the repository with its history",
                alternative: Some("git status"),
                catches: &["rm -rf .git", "rm -r ./.git/objects", "rm .git/HEAD"],
                spares: &[
                    "rm .gitignore",
                    "rm -f .gitattributes",
                    "rm -rf git",
                    "rm -f .git/index.lock",
                ],
            },
            Rule {
                id: "rm.system",
                when: &["@system"],
                severity: Severity::Block,
                reason: "it deletes part of the system",
                alternative: Some("ls -l /etc/hosts"),
                catches: &[
                    "rm /etc/passwd",
                    "rm -rf /usr/local/lib",
                    "rm -f /var/lib/dpkg/status",
                ],
                spares: &["ls /etc", "rm /tmp/passwd", "rm etc/passwd"],
            },
            Rule {
                id: "rm.maybe-vital",
                when: &["@maybe-vital"],
                severity: Severity::Ask,
                reason: "where the variable is empty it deletes from the root on",
                alternative: Some("rm -r ./build"),
                catches: &[
                    "rm -rf \"$DIR\"/*",
                    "rm -rf $X/",
                    "rm -rf ~/$NAME",
                    "cd \"$D\"; rm -rf *",
                ],
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
                alternative: Some("git clean -n"),
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
                id: "rm.listed",
                when: &["&listed"],
                severity: Severity::Ask,
                reason: "it deletes all that a list of the tree or of what is not committed names",
                alternative: Some("git clean -n"),
                catches: &[
                    "ls -A | grep -v .git | xargs rm -rf",
                    "git status --porcelain | cut -c4- | xargs rm",
                    "rm $(git diff --name-only)",
                    "git ls-files -m src | while read f; do rm \"$f\"; done",
                ],
                spares: &[
                    "git diff --name-only | xargs cat",
                    "git ls-files '*.orig' | xargs rm",
                    "ls -t *.bak | tail -n +5 | xargs rm",
                    "ls | grep '\\.log$' | xargs rm",
                    "cd /tmp/x && ls | xargs rm",
                ],
            },
            Rule {
                id: "rm.named",
                when: &["&recursive &named"],
                severity: Severity::Ask,
                reason: "which folder it deletes a program says that nothing is known of",
                alternative: Some("ls -d \"$(some-tool path)\""),
                catches: &[
                    "rm -rf $(some-tool where)",
                    "rm -rf \"$(some-tool path)\"",
                    "D=\"$(some-tool where)\"; rm -rf \"$D\"",
                    "rm -rf \"$(some-tool show x | awk '{print $2}')\"",
                    "rm -rf \"$(pip show x | grep Location | cut -d' ' -f2)\"",
                ],
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
                reason: "it deletes outside the project",
                alternative: Some("rm -r ./build"),
                catches: &["rm -rf ../other", "rm -r ~/notes", "rm ~/x.txt"],
                spares: &[
                    "rm -rf ./other",
                    "rm -r /tmp/notes",
                    "rm x.txt",
                    "rm -rf ~/Library/Developer/Xcode/DerivedData",
                    "rm -rf ~/.gradle/caches/build-cache-1",
                ],
            },
            Rule {
                id: "rm.unknown",
                when: &["&recursive @unknown"],
                severity: Severity::Note,
                reason: "what it deletes is not known",
                alternative: Some("rm -r ./build"),
                catches: &["rm -rf $DIR", "rm -r \"$1\"", "rm -rf $(cat list)"],
                spares: &["rm -rf build", "rm \"$file\"", "rm -rf \"$HOME/p/build\""],
            },
        ],
    },
    Tool {
        names: &["mv"],
        takes: "-t -S --target-directory --suffix",
        one_dash: false,
        tests: &[
            ("moves-vital", |s| {
                sources(s).any(|p| matches!(p, Place::Vital | Place::Project | Place::System))
            }),
            ("moves-git", |s| sources(s).any(|p| p == Place::Git)),
            ("moves-all", |s| {
                sources(s).any(|p| p == Place::Everything)
                    && s.operands
                        .last()
                        .is_some_and(|(w, _)| !matches!(s.place(&w.text), Place::Inside))
            }),
            ("moves-others", |s| {
                let mut sources = source_words(s);
                sources.any(|word| s.place(word) == Place::Outside && is_project_of_others(s, word))
            }),
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
                reason: "what is moved is gone from where it is needed",
                alternative: Some("cp -r src src.bak"),
                catches: &[
                    "mv /etc /tmp/etc",
                    "mv ~ /tmp/x",
                    "mv .git /tmp/g",
                    "mv src /dev/null",
                ],
                spares: &["mv a b", "mv src/x.rs src/y.rs", "mv /tmp/a ."],
            },
            Rule {
                id: "mv.outside",
                when: &["&moves-others"],
                severity: Severity::Ask,
                reason: "it takes away what does not belong to this project",
                alternative: Some("cp -r src src.bak"),
                catches: &[
                    "mv ../other /tmp/x",
                    "mv ~/other ../backup",
                    "mv -t /tmp ../other",
                ],
                spares: &[
                    "mv ../other/a.txt .",
                    "mv ~/Downloads/x.csv data",
                    "mv ../a.txt .",
                ],
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
                reason: "it takes away the system, the home folder or the whole project",
                alternative: Some("trash build"),
                catches: &[
                    "trash ~",
                    "gio trash .git",
                    "rip /",
                    "gomi .",
                    "rmtrash /home/u",
                ],
                spares: &["trash build", "gio trash dist", "gio info ~", "rip target"],
            },
            Rule {
                id: "trash.outside",
                when: &["&trashes @outside|@everything"],
                severity: Severity::Ask,
                reason: "it takes away all of the project, or what lies outside",
                alternative: Some("trash build"),
                catches: &["trash ../other", "trash *", "gio trash ~/notes"],
                spares: &["trash a.txt", "gio open ../other", "rip /tmp/x"],
            },
        ],
    },
    Tool {
        names: &["shred", "wipe", "scrub"],
        takes: "-n -s --iterations --size --random-source",
        one_dash: false,
        tests: &[],
        rules: &[
            Rule {
                id: "shred.device",
                when: &["@device", "@vital|@project|@system|@git"],
                severity: Severity::Block,
                reason: "what it overwrites cannot be brought back",
                alternative: Some("ls -l"),
                catches: &[
                    "shred /dev/sda",
                    "shred -n 3 /dev/nvme0n1",
                    "shred -u /etc/passwd",
                ],
                spares: &["shred --help", "shred --version", "ls /dev/sda"],
            },
            Rule {
                id: "shred.file",
                when: &["*"],
                severity: Severity::Ask,
                reason: "what it overwrites cannot be brought back",
                alternative: Some("rm notes.txt"),
                catches: &["shred -u notes.txt", "shred a", "wipe -f x"],
                spares: &["shred --help", "shred --version", "cat shred"],
            },
        ],
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
                        Place::Vital | Place::Project | Place::System | Place::Everything
                    )
                })
            }),
            ("to-outside", |s| {
                s.operands.last().is_some_and(|(word, _)| {
                    matches!(s.place(&word.text), Place::Outside) || word.text.contains(':')
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
                reason: "it deletes whatever the source does not have",
                alternative: Some("rsync -an --delete src/ dst/"),
                catches: &[
                    "rsync -a --delete empty/ /",
                    "rsync --delete -r /tmp/e/ ~/",
                    "rsync -a --delete e/ .",
                ],
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
                reason: "it deletes whatever the source does not have, outside the project",
                alternative: Some("rsync -an --delete src/ dst/"),
                catches: &[
                    "rsync -a --delete src/ ../dst/",
                    "rsync -av --delete ./ host:/srv/www/",
                    "rsync -a --remove-source-files a/ b/",
                ],
                spares: &[
                    "rsync -a src/ dst/",
                    "rsync -av ./ host:/srv/www/",
                    "rsync -an --delete ./ host:/srv/",
                ],
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
            reason: "what is cut off cannot be brought back",
            alternative: Some("truncate -s 0 /tmp/x.log"),
            catches: &[
                "truncate -s 0 /etc/passwd",
                "truncate -s0 .git/index",
                "truncate --size=0 /dev/sda",
            ],
            spares: &[
                "truncate -s 0 app.log",
                "truncate -s 1M disk.img",
                "truncate -s 0 /tmp/x",
            ],
        }],
    },
];

fn sources(subject: &Subject<'_>) -> impl Iterator<Item = Place> {
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

/// Whether a path looks like another project: a folder beside this one, or in the home folder.
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
