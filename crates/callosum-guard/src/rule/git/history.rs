//! Irreversible losses in git and its companions: commits, every tag, every remote.

use super::{
    super::{Rule, Severity, Tool},
    reference::in_temporary,
};
use crate::analyze::setting as kept;

pub(super) const HISTORY: Tool = Tool {
    names: &["git"],
    takes: "",
    one_dash: false,
    tests: &[
        ("prunes-by-setting", |s| {
            let mut settings = s.call.settings.iter();
            settings.any(|(key, value)| key == "gc.pruneexpire" && kept::unguards(key, value))
        }),
        ("prunes-now", |s| {
            s.options.iter().any(|given| {
                given.name.starts_with("--prune")
                    && given.value.is_some_and(|v| matches!(v, "now" | "all"))
                    || given.name.starts_with("--expire")
                        && given
                            .value
                            .is_some_and(|v| matches!(v, "now" | "all" | "0"))
            })
        }),
        ("in-temporary", in_temporary),
        ("in-clone", |s| {
            let is_made = s.call.words.first().is_some_and(|git| git.source.made);
            is_made && !s.has("-C")
        }),
        ("all-listed", |s| {
            s.operands.iter().any(|(word, _)| word.source.listed)
        }),
    ],
    rules: &[
        Rule {
            id: "git.tags-delete",
            when: &["tag -d|--delete &all-listed"],
            severity: Severity::Ask,
            reason: "it deletes every local tag, and nothing records where they pointed",
            alternatives: &["git tag -l"],
            #[cfg(test)]
            catches: &[
                "git tag -d $(git tag -l)",
                "git tag -d $(git tag)",
                "git tag | xargs git tag -d",
                "git tag --list --sort=-creatordate | xargs -n1 git tag --delete",
                "for t in $(git tag); do git tag -d \"$t\"; done",
            ],
            #[cfg(test)]
            spares: &[
                "git tag -d v1",
                "git tag -d $(git tag -l 'rc-*')",
                "git tag -d $(git tag --merged old)",
                "git tag | grep '^rc-' | xargs git tag -d",
            ],
        },
        Rule {
            id: "git.remotes-delete",
            when: &["remote remove|rm &all-listed"],
            severity: Severity::Ask,
            reason: "it removes every remote that the repository pushes to and fetches from",
            alternatives: &["git remote -v"],
            #[cfg(test)]
            catches: &[
                "git remote | xargs -n1 git remote remove",
                "for r in $(git remote); do git remote rm \"$r\"; done",
                "git remote show | xargs -I{} git remote remove {}",
            ],
            #[cfg(test)]
            spares: &[
                "git remote remove fork",
                "git remote | grep fork- | xargs -n1 git remote remove",
                "git remote | xargs -n1 git fetch",
                "git remote remove upstream fork",
            ],
        },
        Rule {
            id: "git.history-loss",
            when: &[
                "reflog expire|delete !-n|--dry-run !&in-temporary",
                "gc &prunes-now !&in-temporary",
                "gc --prune=now !&in-temporary",
                "gc &prunes-by-setting !&in-temporary",
                "prune !-n|--dry-run !&in-temporary",
                "filter-branch !&in-temporary",
                "filter-repo !--analyze !--dry-run !&in-temporary",
                "replace -f|--force !&in-temporary",
                "lfs migrate import|export !&in-temporary",
            ],
            severity: Severity::Block,
            reason: "it removes the commits that could undo a mistake",
            alternatives: &["git gc"],
            #[cfg(test)]
            catches: &[
                "git reflog expire --expire=now --all",
                "git gc --prune=now --aggressive",
                "git filter-branch --tree-filter 'rm x' HEAD",
                "git reflog delete HEAD@{1}",
                "git lfs migrate import --everything",
                "git filter-repo --invert-paths --path secret",
            ],
            #[cfg(test)]
            spares: &[
                "git gc",
                "git reflog",
                "git reflog expire --dry-run --expire=now --all",
                "git log --reflog",
                "git lfs migrate info",
                "git filter-repo --analyze",
                "git filter-repo --dry-run --invert-paths --path secret",
            ],
        },
        Rule {
            id: "git.history-loss-temporary",
            when: &[
                "reflog expire|delete !-n|--dry-run &in-temporary !&in-clone",
                "gc &prunes-now &in-temporary !&in-clone",
                "gc --prune=now &in-temporary !&in-clone",
                "gc &prunes-by-setting &in-temporary !&in-clone",
                "prune !-n|--dry-run &in-temporary !&in-clone",
                "filter-branch &in-temporary !&in-clone",
                "filter-repo !--analyze !--dry-run &in-temporary !&in-clone",
                "replace -f|--force &in-temporary !&in-clone",
                "lfs migrate import|export &in-temporary !&in-clone",
            ],
            severity: Severity::Ask,
            reason: "it removes the commits that could undo a mistake in that repository",
            alternatives: &["git gc"],
            #[cfg(test)]
            catches: &[
                "cd /tmp/x && git filter-branch --tree-filter 'rm x' HEAD",
                "git -C /tmp/x filter-repo --path src",
                "cd /tmp/x && git reflog expire --expire=now --all",
            ],
            #[cfg(test)]
            spares: &[
                "cd /tmp/x && git gc",
                "git clone -q . /tmp/x && cd /tmp/x && git filter-repo --path src",
                "git -C /tmp/x log",
                "git -C /tmp/x filter-repo --analyze",
            ],
        },
    ],
};

pub(super) const BFG: Tool = Tool {
    names: &["bfg"],
    takes: "-b -bi -D -rt -fi -fe -p --strip-blobs-bigger-than --strip-blobs-with-ids --delete-files --delete-folders --replace-text --filter-content-including --protect-blobs-from",
    one_dash: true,
    tests: &[],
    rules: &[Rule {
        id: "git.history-rewrite",
        when: &[
            "-D|--delete-files|--delete-folders",
            "-b|--strip-blobs-bigger-than|-bi|--strip-blobs-with-ids|-B",
            "-rt|--replace-text|--convert-to-git-lfs",
        ],
        severity: Severity::Block,
        reason: "it rewrites the whole history, and what it removes is stored nowhere else",
        alternatives: &[],
        #[cfg(test)]
        catches: &[
            "bfg --delete-files id_rsa",
            "bfg --strip-blobs-bigger-than 10M repo.git",
            "bfg -rt passwords.txt",
        ],
        #[cfg(test)]
        spares: &["bfg --help", "bfg --version", "echo bfg --delete-files x"],
    }],
};
