//! Other keepers of revisions than git: what throws work away there.

use super::{Rule, Severity, Tool};

pub(super) const TOOLS: &[Tool] = &[
    Tool {
        names: &["hg", "chg", "sl"],
        takes: "-R -r --rev --repository --cwd --config -m --message -d -b --branch",
        one_dash: false,
        tests: &[],
        rules: &[Rule {
            id: "hg.discard",
            when: &[
                "revert -a|--all !-n|--dry-run",
                "purge|clean !-p|--print",
                "update|up|checkout|co|goto -C|--clean",
                "merge --abort",
                "strip|debugstrip|rollback",
                "push -f|--force",
                "shelve --cleanup|-d|--delete",
            ],
            severity: Severity::Ask,
            reason: "it discards changes or revisions",
            alternatives: &["hg shelve"],
            #[cfg(test)]
            catches: &[
                "hg revert --all",
                "hg purge --all",
                "hg -R sub up -C tip",
                "hg strip -r 3",
                "hg push -f",
                "sl purge --all",
                "sl goto -C main",
            ],
            #[cfg(test)]
            spares: &[
                "hg status",
                "hg update tip",
                "hg revert a.py",
                "hg purge --print",
                "hg push",
                "sl goto main",
            ],
        }],
    },
    Tool {
        names: &["svn"],
        takes: "-r -m --revision --message --depth --username --password -F",
        one_dash: false,
        tests: &[("at-server", |s| {
            let mut operands = s.operands.iter().skip(1);
            operands.any(|(word, _)| word.text.contains("://") || word.text.starts_with("^/"))
        })],
        rules: &[Rule {
            id: "svn.discard",
            when: &[
                "revert -R|--recursive",
                "revert --depth=infinity",
                "cleanup --remove-unversioned|--remove-ignored",
                "delete|del|remove|rm &at-server",
                "delete|del|remove|rm --force",
            ],
            severity: Severity::Ask,
            reason: "it discards changes, or deletes files on the server",
            alternatives: &["svn diff"],
            #[cfg(test)]
            catches: &[
                "svn revert -R .",
                "svn cleanup --remove-unversioned",
                "svn rm https://svn.example.org/trunk -m x",
                "svn delete ^/trunk -m x",
            ],
            #[cfg(test)]
            spares: &["svn revert a.py", "svn update", "svn cleanup", "svn status"],
        }],
    },
    Tool {
        names: &["bzr", "brz", "fossil", "p4"],
        takes: "-r -m",
        one_dash: false,
        tests: &[("whole", |s| {
            s.operands.len() < 2
                || s.operands
                    .iter()
                    .skip(1)
                    .any(|(word, _)| word.text.ends_with("..."))
        })],
        rules: &[Rule {
            id: "revision.discard",
            when: &[
                "revert &whole !-n",
                "clean-tree --force",
                "clean -f|--force",
                "obliterate -y",
            ],
            severity: Severity::Ask,
            reason: "it discards uncommitted changes",
            alternatives: &["bzr shelve"],
            #[cfg(test)]
            catches: &[
                "bzr revert",
                "fossil revert",
                "p4 revert //...",
                "p4 obliterate -y //...",
            ],
            #[cfg(test)]
            spares: &["bzr revert a.py", "fossil status", "p4 revert a.py"],
        }],
    },
    Tool {
        names: &["jj"],
        takes: "-R --repository -r --revision --revisions -m --message -d -s -b -f --from -t --to --at-op --config",
        one_dash: false,
        tests: &[],
        rules: &[Rule {
            id: "jj.discard",
            when: &[
                "abandon",
                "restore",
                "op|operation abandon|restore|revert",
                "bookmark|b delete|d|forget",
                "git push --deleted|--delete",
                "util gc --expire=now",
            ],
            severity: Severity::Ask,
            reason: "it drops changes, or everything done since then",
            alternatives: &["jj op log"],
            #[cfg(test)]
            catches: &[
                "jj abandon",
                "jj op restore 8b2e",
                "jj restore",
                "jj bookmark delete main",
                "jj git push --deleted",
            ],
            #[cfg(test)]
            spares: &[
                "jj st",
                "jj new",
                "jj undo",
                "jj squash",
                "jj git push",
                "jj op log",
                "jj bookmark set main",
            ],
        }],
    },
];
