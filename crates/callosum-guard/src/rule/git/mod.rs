//! git: commands that discard work, here or on a remote.

mod clean;
mod history;
mod reference;
mod setting;

pub(crate) use self::reference::folder as git_folder;
use self::{
    reference::{
        asks_each, brings_back, copies_over, drops_changes, fetches_over, in_temporary,
        leads_elsewhere, recreates, refspecs, takes_back_locks,
    },
    setting::{is_own, own_programs, set, unsafe_key},
};
use super::{Rule, Severity, Subject, Tool};
use crate::{analyze::setting as kept, path_class::PathClass};

/// Whether it is given what takes back the changes that are not committed.
fn reads_undoing(subject: &Subject<'_>) -> bool {
    let mut input = subject.call.input.iter();
    input.any(|input| input.source.undoing)
}

/// Whether what is read is the changes that are not committed.
fn reads_changes(subject: &Subject<'_>) -> bool {
    let mut input = subject.call.input.iter();
    input.any(|input| input.source.changes)
}

pub(super) const TOOLS: &[Tool] = &[PATCH, GIT, clean::CLEAN, history::HISTORY, history::BFG];

const PATCH: Tool = Tool {
    names: &["patch"],
    takes: "-p -d -i -o -r -D -B -z -F --strip --directory --input --output",
    one_dash: false,
    tests: &[
        ("reads-changes", reads_changes),
        ("reads-undoing", reads_undoing),
    ],
    rules: &[Rule {
        id: "patch.take-back",
        when: &[
            "-R|--reverse &reads-changes !--dry-run",
            "!-R|--reverse &reads-undoing !--dry-run",
        ],
        severity: Severity::Ask,
        reason: "it discards uncommitted changes",
        alternatives: &[],
        #[cfg(test)]
        catches: &[
            "git diff | patch -R -p1",
            "git diff -R | patch -p1",
            "git diff HEAD -- src | patch --reverse -p1",
            "patch -p1 -R < <(git diff)",
        ],
        #[cfg(test)]
        spares: &[
            "git diff v1 v2 | patch -R -p1",
            "git diff | patch -p1 -d sub",
            "git diff -R v1 v2 | patch -p1",
            "patch -R -p1 < fix.patch",
            "git diff | patch -R -p1 --dry-run",
        ],
    }],
};

const GIT: Tool = Tool {
    names: &["git"],
    takes: "",
    one_dash: false,
    tests: &[
        ("forced-refspec", |s| {
            refspecs(s).any(|spec| spec.starts_with('+') && spec.len() > 1)
        }),
        ("deleting-refspec", |s| {
            refspecs(s).any(|spec| spec.starts_with(':') && spec.len() > 1)
        }),
        ("drops-changes", drops_changes),
        ("copies-over", copies_over),
        ("reads-changes", reads_changes),
        ("reads-undoing", reads_undoing),
        ("takes-back-locks", takes_back_locks),
        ("loads", |s| {
            let mut settings = s.call.settings.iter();
            settings.any(|(key, value)| is_own(s, key) && kept::loads(key, value))
        }),
        ("own-programs", own_programs),
        ("own-template", |s| {
            s.value("--template")
                .is_some_and(|folder| !folder.is_empty())
        }),
        ("forced-by-setting", |s| {
            let mut settings = s.call.settings.iter();
            settings.any(|(key, value)| key.starts_with("remote.") && kept::unguards(key, value))
        }),
        ("unguards", |s| {
            set(s).is_some_and(|(key, value)| kept::unguards(&key, &value))
        }),
        ("recreates", recreates),
        ("asks-each", asks_each),
        ("leads-elsewhere", leads_elsewhere),
        ("brings-back", brings_back),
        ("in-temporary", in_temporary),
        ("made-here", |s| {
            // Among others' files one that could not be made may have been there.
            let mut trees = s.operands.iter().skip(2);
            trees.len() > 0
                && trees.all(|(word, _)| word.source.made && s.place(&word.text) == PathClass::Free)
        }),
        ("fetches-over", fetches_over),
        ("unsafe-key", unsafe_key),
        ("all-files", |s| {
            s.operands
                .iter()
                .skip(1)
                .any(|(word, _)| matches!(word.text.as_str(), "." | "*" | ":/" | "./" | ":/*"))
        }),
    ],
    rules: &[
        Rule {
            id: "git.reset-hard",
            when: &["reset --hard !&in-temporary"],
            severity: Severity::Block,
            reason: "it discards all uncommitted changes",
            alternatives: &["git stash"],
            #[cfg(test)]
            catches: &[
                "git reset --hard",
                "git -C sub reset --hard HEAD~3",
                "git reset HEAD~1 --har",
                "git -c a.b=c --no-pager reset --hard",
                "cd /tmp/x && GIT_WORK_TREE=/home/u/p git reset --hard",
                "git -C /tmp/x --work-tree /home/u/p reset --hard",
                "git -C /tmp/x -c core.worktree=/home/u/p reset --hard",
            ],
            #[cfg(test)]
            spares: &[
                "git clone -q https://x.io/x /tmp/x && cd /tmp/x && git reset --hard v1",
                "cd \"$(mktemp -d)\" && git init -q && git reset --hard",
                "git reset --soft HEAD~1",
                "git reset HEAD file.rs",
                "git commit -m 'do not git reset --hard'",
                "git reset --mixed",
            ],
        },
        Rule {
            id: "git.push-force",
            when: &[
                "push -f|--force !-n|--dry-run",
                "push &forced-refspec !-n|--dry-run",
                "push --mirror !-n|--dry-run",
                "push &forced-by-setting !-n|--dry-run",
                "send-pack -f|--force|--mirror !-n|--dry-run",
            ],
            severity: Severity::Block,
            reason: "it overwrites what others have pushed",
            alternatives: &[
                "git push --force-with-lease {1..}",
                "git push --force-with-lease",
            ],
            #[cfg(test)]
            catches: &[
                "git push --force",
                "git push -f origin main",
                "git push origin +main",
                "git push -uf origin x",
                "git push --mirror origin",
                "git send-pack --force origin main",
            ],
            #[cfg(test)]
            spares: &[
                "git push --force-with-lease",
                "git push origin main",
                "git push -u origin feature",
                "git push --force-with-lease=main origin main",
                "git push --dry-run --force",
                "git push -nf origin main",
            ],
        },
        Rule {
            id: "git.push-delete",
            when: &[
                "push -d|--delete !-n|--dry-run",
                "push &deleting-refspec !-n|--dry-run",
                "push --prune !-n|--dry-run",
            ],
            severity: Severity::Ask,
            reason: "it deletes branches or tags on the remote",
            alternatives: &["git branch -r"],
            #[cfg(test)]
            catches: &[
                "git push origin --delete main",
                "git push origin :main",
                "git push -d origin v1",
            ],
            #[cfg(test)]
            spares: &[
                "git push origin HEAD:main",
                "git push --tags",
                "git push origin a:b",
            ],
        },
        Rule {
            id: "git.discard",
            when: &[
                "checkout &drops-changes !&brings-back !&in-temporary",
                "restore !--staged|-S !&asks-each !&takes-back-locks !&brings-back !&in-temporary",
                "restore -W|--worktree !&asks-each !&takes-back-locks !&brings-back !&in-temporary",
                "checkout -f|--force !&in-temporary",
                "switch -f|--force|--discard-changes !&in-temporary",
                "checkout-index -f|--force !&leads-elsewhere !&in-temporary",
                "read-tree --reset -u !&in-temporary",
                "reset --merge !&in-temporary",
                "submodule update -f|--force !&in-temporary",
                "apply !-R|--reverse &reads-undoing !--check !--stat !&in-temporary",
                "apply -R|--reverse &reads-changes !--check !--stat !&in-temporary",
            ],
            severity: Severity::Ask,
            reason: "it discards uncommitted changes",
            alternatives: &["git stash"],
            #[cfg(test)]
            catches: &[
                "git checkout -- .",
                "git checkout .",
                "git restore src/main.rs",
                "yes | git restore -p .",
                "git checkout-index -f -a --prefix=./",
                "git restore Cargo.lock src/main.rs",
                "git checkout HEAD -- a.rs",
                "git switch --discard-changes main",
                "git checkout -f",
                "git checkout -m .",
                "git checkout src/",
                "git checkout Makefile",
                "cd src && git checkout ../Makefile",
                "git checkout crates/",
                "git -C . checkout crates",
                "git checkout HEAD~1 src",
                "git checkout main src docs",
                "for d in crates docs; do git checkout $d; done",
                "git checkout $(git diff --name-only)",
                "git checkout $(git tag; git diff --name-only)",
                "git checkout --conflict diff3 main src",
                "git diff | git apply -R",
                "git diff -R | git apply",
                "git diff -R HEAD > /tmp/p && git apply --index /tmp/p",
                "git checkout-index --all --force",
                "git checkout-index --force -- src/app.ts",
                "git apply --reverse <(git diff HEAD -- src)",
                "git submodule update --init --force",
            ],
            #[cfg(test)]
            spares: &[
                "cd /tmp/x && git checkout -- .",
                "git checkout main",
                "git checkout docs",
                "git checkout \"$BRANCH\"",
                "git checkout $QUIETLY main",
                "git checkout -qb topic origin/topic",
                "git checkout $(git tag | tail -1)",
                "for t in $(git tag); do git checkout -q $t; done",
                "git checkout --conflict diff3 main",
                "git checkout -b feature/x",
                "git checkout -b src origin/main",
                "git checkout $(git branch --show-current)",
                "git restore --staged a.rs",
                "git restore Cargo.lock",
                "git diff main topic | git apply -R",
                "git diff v1..v2 | git apply -R",
                "git diff | git apply -R --check",
                "git apply -R fix.patch",
                "git diff -R",
                "git diff -R main topic | git apply",
                "git diff -R | git apply --check",
                "git checkout-index -a -f --prefix=/tmp/tree/",
                "git restore --patch .",
                "git checkout -- package-lock.json web/yarn.lock",
                "git ls-files -d | xargs -r git checkout --",
                "git restore $(git ls-files --deleted)",
                "git checkout --ours package-lock.json",
                "git checkout --theirs .",
                "git switch -c x",
            ],
        },
        Rule {
            id: "git.branch-delete",
            when: &[
                "branch -D",
                "branch -d --force",
                "branch -d -f",
                "branch --delete --force",
                "branch --delete -f",
            ],
            severity: Severity::Ask,
            reason: "it drops a branch whose commits may exist nowhere else",
            alternatives: &["git branch -d {1..}", "git branch -v"],
            #[cfg(test)]
            catches: &[
                "git branch -D main",
                "git branch --delete --force x",
                "git branch -df x",
            ],
            #[cfg(test)]
            spares: &[
                "git branch -d merged",
                "git branch -a",
                "git branch new main",
                "git -C sub branch -d merged",
            ],
        },
        Rule {
            id: "git.branch-overwrite",
            when: &[
                "branch -f|--force !-d|--delete|-D",
                "branch -M",
                "branch &copies-over",
                "switch &recreates",
                "checkout &recreates",
                "fetch|pull &fetches-over",
                "update-ref -d|--stdin",
                "update-ref refs/*",
                "symbolic-ref -d|--delete",
            ],
            severity: Severity::Ask,
            reason: "it drops a branch whose commits may exist nowhere else",
            alternatives: &["git branch -v"],
            #[cfg(test)]
            catches: &[
                "git branch -f main HEAD~9",
                "git update-ref -d refs/heads/main",
                "git switch -C main origin/main",
                "git checkout -B main",
                "git branch -C topic main",
                "git fetch origin +main:main",
                "git fetch --force origin dev:dev",
            ],
            #[cfg(test)]
            spares: &[
                "git branch new main",
                "git -C sub switch main",
                "git checkout -b new",
                "git checkout -B topic origin/topic",
                "git fetch origin +refs/heads/*:refs/remotes/origin/*",
                "git fetch origin main:main",
            ],
        },
        Rule {
            id: "git.annex",
            when: &["annex drop|dropunused|uninit|unannex --force"],
            severity: Severity::Ask,
            reason: "what it drops by force may be stored nowhere else",
            alternatives: &["git annex whereis"],
            #[cfg(test)]
            catches: &[
                "git annex drop --force .",
                "git annex dropunused all --force",
                "git -C sub annex drop a.bin --force",
            ],
            #[cfg(test)]
            spares: &[
                "git annex drop a.bin",
                "git annex whereis",
                "git annex sync",
            ],
        },
        Rule {
            id: "git.stash-drop",
            when: &["stash drop|clear"],
            severity: Severity::Ask,
            reason: "it discards stashed changes",
            alternatives: &["git stash list"],
            #[cfg(test)]
            catches: &[
                "git stash drop",
                "git stash clear",
                "git stash drop stash@{1}",
            ],
            #[cfg(test)]
            spares: &["git stash", "git stash pop", "git stash list"],
        },
        Rule {
            id: "git.worktree-remove",
            when: &[
                "worktree remove -f|--force !&made-here",
                "submodule deinit -f|--force",
                "submodule deinit --all",
            ],
            severity: Severity::Ask,
            reason: "it deletes a working tree and the changes in it",
            alternatives: &["git worktree list"],
            #[cfg(test)]
            catches: &[
                "git worktree remove --force ../x",
                "git worktree remove -f x",
                "git worktree add ../x && git worktree remove -f ../x",
                "git worktree add /tmp/x && git worktree remove -f /tmp/y",
                "git submodule deinit -f lib",
            ],
            #[cfg(test)]
            spares: &[
                "git worktree list",
                "git worktree add ../x",
                "git worktree add -b topic /tmp/x && cargo test; git worktree remove --force /tmp/x",
                "git worktree remove ../x",
            ],
        },
        Rule {
            id: "git.remove-all",
            when: &[
                "rm -r !--cached !-n|--dry-run &all-files",
                "rm -f|--force !--cached !-n|--dry-run",
            ],
            severity: Severity::Ask,
            reason: "it deletes files and the changes in them",
            alternatives: &["git rm --cached {1..}", "git status"],
            #[cfg(test)]
            catches: &["git rm -r .", "git rm -rf src", "git rm -f a.rs"],
            #[cfg(test)]
            spares: &[
                "git rm --cached -r .",
                "git rm a.rs",
                "git rm -r --cached node_modules",
            ],
        },
        Rule {
            id: "git.config-runs",
            when: &[
                "config &unsafe-key",
                "&loads",
                "&own-programs",
                "clone|init &own-template",
            ],
            severity: Severity::Ask,
            reason: "git then runs this, or what it finds there, whenever it is used",
            alternatives: &["git config --list"],
            #[cfg(test)]
            catches: &[
                "git config core.hooksPath /tmp/h",
                "git config --global core.sshCommand 'x'",
                "git config alias.st '!rm -rf /'",
                "git -c core.hooksPath=/tmp/h commit -m x",
                "git config -f .git/config core.hooksPath /tmp/h",
                "git config set core.fsmonitor ./x",
                "git -c include.path=/tmp/x status",
                "git --exec-path=./bin status",
                "git clone --template=./t a b",
            ],
            #[cfg(test)]
            spares: &[
                "git config user.name x",
                "git config alias.st status",
                "git config --get core.hooksPath",
                "git -c core.hooksPath=/dev/null commit -m x",
                "git config core.fsmonitor true",
                "git --exec-path",
                "git clone a b",
            ],
        },
        Rule {
            id: "git.config-unguards",
            when: &["config &unguards"],
            severity: Severity::Ask,
            reason: "from then on, git deletes or overwrites without an explicit option",
            alternatives: &["git config --list"],
            #[cfg(test)]
            catches: &[
                "git config clean.requireForce false",
                "git config --add remote.origin.push +refs/heads/*:refs/heads/*",
                "git config remote.origin.mirror true",
                "git config gc.pruneExpire now",
            ],
            #[cfg(test)]
            spares: &[
                "git config clean.requireForce true",
                "git config remote.origin.push refs/heads/main",
                "git config remote.origin.fetch +refs/heads/*:refs/remotes/origin/*",
                "git config --get clean.requireForce",
            ],
        },
    ],
};
