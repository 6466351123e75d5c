//! Each command in a state in which it loses nothing, and in one in which it does.

use crate::{Decision, Facts, GitState, Policy, decide};

const ROOT: &str = "/home/u/p";

/// A repository in which nothing is lost by going back: clean, pushed, merged, without stashes.
fn safe() -> GitState {
    GitState {
        changed: Some(Vec::new()),
        untracked: Some(Vec::new()),
        ignored: Some(Vec::new()),
        head_is_saved: true,
        branches_are_saved: true,
        has_stashes: Some(false),
    }
}

/// One in which each of these loses something.
fn dirty() -> GitState {
    GitState {
        changed: Some(vec![format!("{ROOT}/src/a.rs")]),
        untracked: Some(vec![format!("{ROOT}/notes.txt")]),
        ignored: Some(vec![format!("{ROOT}/.env")]),
        head_is_saved: false,
        branches_are_saved: false,
        has_stashes: Some(true),
    }
}

fn facts(state: GitState, absent: &[&str]) -> Facts {
    let folders = [ROOT, "/home/u/p/src", "/home/u/wt"];
    Facts {
        git: folders
            .map(|folder| (folder.to_owned(), state.clone()))
            .into(),
        absent: absent.iter().map(|path| (*path).to_owned()).collect(),
        ..Facts::of_a_project()
    }
}

fn decision(command: &str, facts: &Facts) -> Decision {
    decide(command, facts, &Policy::default()).decision
}

/// CAKE-SHIM-1: everyday commands pass in a state in which they lose nothing, and are stopped in one in which they do.
#[test]
fn commands_pass_if_nothing_is_lost_and_are_stopped_otherwise() {
    let commands = [
        "git reset --hard",
        "git reset --hard HEAD",
        "git reset --hard HEAD~1",
        "git reset --hard origin/main",
        "git fetch origin && git reset --hard origin/main",
        "git status --short && git reset --hard",
        "git checkout .",
        "git checkout -- .",
        "git checkout -- src/a.rs",
        "git checkout HEAD -- src",
        "git checkout main -- src",
        "git checkout -f",
        "git checkout -f main",
        "git switch --discard-changes main",
        "git restore .",
        "git restore src/a.rs",
        "git restore --staged --worktree .",
        "git restore --source HEAD~1 src",
        "cd src && git checkout .",
        "git reset --merge",
        "git checkout-index -f -a",
        "git clean -fd",
        "git clean -fdx",
        "git clean -f",
        "git clean -xfd && git status",
        "git clean -fX",
        "git branch -D topic",
        "git branch -D topic fix/old",
        "git checkout main && git branch -D topic",
        "git branch -D a; git branch -D b",
        "git branch -f topic HEAD~1",
        "git checkout -B topic",
        "git switch -C topic",
        "git stash drop",
        "git stash clear",
        "git worktree remove --force ../wt",
        "git rm -rf src",
        "git rm -r .",
        "git rm -f src/a.rs",
        "git status; git checkout -- .",
        "git log --oneline -3; git reset --hard HEAD~2",
    ];
    let (safe, dirty, unknown) = (
        facts(safe(), &[]),
        facts(dirty(), &[]),
        facts(GitState::default(), &[]),
    );
    for command in commands {
        assert_eq!(decision(command, &safe), Decision::Allow, "{command}");
        assert_ne!(decision(command, &dirty), Decision::Allow, "{command}");
        assert_ne!(decision(command, &unknown), Decision::Allow, "{command}");
        let without = Facts::of_a_project();
        assert_ne!(decision(command, &without), Decision::Allow, "{command}");
    }
}

/// CAKE-SHIM-1: a state counts only if nothing before the command changes it, and only for the repository that it is of.
#[test]
fn a_safe_state_counts_only_for_what_it_is_known_of() {
    let facts = facts(safe(), &[]);
    for command in [
        "git stash pop && git reset --hard",
        "git stash apply; git checkout .",
        "mv ../notes.md src/ && git clean -fd",
        "cp -r ../other/. . && git checkout .",
        "./generate.sh && git reset --hard",
        "echo x > src/a.rs && git checkout .",
        "git -C /home/u/q reset --hard",
        "git --git-dir=/home/u/q/.git reset --hard",
        "GIT_DIR=/home/u/q/.git git reset --hard",
        "git -c core.worktree=/home/u/q reset --hard",
        "cd ../q && git reset --hard",
        "git branch -D topic && git reset --hard HEAD~1",
        "git switch other && git reset --hard HEAD~1",
        "git reset --hard HEAD~1 && git branch -D topic",
        "git fetch --prune && git branch -D topic",
        "git branch -D \"$BRANCH\"",
        "git branch -D $(git branch --merged)",
        "git branch -rD origin/topic",
        "git push --force",
        "git reflog expire --expire=now --all",
        "git worktree remove --force ../other",
        "git submodule update --force",
    ] {
        assert_ne!(decision(command, &facts), Decision::Allow, "{command}");
    }
}

/// CAKE-SHIM-1: of files, those count that the command names.
#[test]
fn only_files_that_the_command_names_can_be_lost() {
    let facts = facts(
        GitState {
            changed: Some(vec![format!("{ROOT}/src/a.rs")]),
            untracked: Some(vec![format!("{ROOT}/new/")]),
            ..safe()
        },
        &[],
    );
    for command in [
        "git checkout -- docs",
        "git restore docs/x.md Cargo.toml",
        "git rm -rf docs",
        "git checkout HEAD -- README.md",
        "git checkout main -- docs README.md",
        "git restore --source HEAD README.md",
    ] {
        assert_eq!(decision(command, &facts), Decision::Allow, "{command}");
    }
    for command in [
        "git checkout -- src",
        "git restore docs ./src/a.rs",
        "git restore ':(top)docs'",
        "git restore 'd*'",
        "git rm -rf src docs",
        "git checkout main -- docs src",
        "git checkout main -- new",
        "git checkout main -- new/deep/x.rs",
        "git restore -s main new/x.rs",
        "git checkout src -- docs src",
    ] {
        assert_ne!(decision(command, &facts), Decision::Allow, "{command}");
    }
}

/// CAKE-SHIM-1: work that the same line has put into a stash is not lost.
#[test]
fn what_was_stashed_by_the_same_chain_is_not_lost() {
    let dirty = facts(dirty(), &[]);
    for command in [
        "git stash && git reset --hard",
        "git stash push -u -m wip && git reset --hard HEAD",
        "git add -A && git stash && git checkout .",
        "git stash -u && git restore .",
    ] {
        assert_eq!(decision(command, &dirty), Decision::Allow, "{command}");
        let without = Facts::of_a_project();
        assert_eq!(decision(command, &without), Decision::Allow, "{command}");
    }
    for command in [
        "git stash; git reset --hard",
        "git stash || git reset --hard",
        "git stash && git stash pop && git reset --hard",
        "git stash push src && git reset --hard",
        "git stash -p && git reset --hard",
        "git stash --keep-index && git reset --hard",
        "git stash list && git reset --hard",
        "git stash && git reset --hard HEAD~3",
        "git stash && git clean -fd",
        "(git stash && false); git reset --hard",
        "git -C ../q stash && git reset --hard",
        "if git stash && true; then git reset --hard; fi",
    ] {
        assert_ne!(decision(command, &dirty), Decision::Allow, "{command}");
    }
}

/// CAKE-SHIM-1: what does not exist is not deleted.
#[test]
fn a_path_that_does_not_exist_is_not_lost() {
    let facts = facts(safe(), &["/home/u/old", "/opt/gone"]);
    for command in [
        "rm -rf /home/u/old",
        "rm -rf ../old /opt/gone",
        "rm -rf ../old && ls",
        "cd src && rm -rf ../../old",
    ] {
        assert_eq!(decision(command, &facts), Decision::Allow, "{command}");
    }
    for command in [
        "rm -rf /home/u/old /home/u/notes",
        "rm -rf /home/u/old/*",
        "rm -rf /home/u/old*",
        "mv ../notes ../old && rm -rf ../old",
        "ln -s /home/u/notes ../old && rm -rf ../old/",
    ] {
        assert_ne!(decision(command, &facts), Decision::Allow, "{command}");
    }
}

/// CAKE-SHIM-1: a level that a person sets for a rule decides, and touches no other rule.
#[test]
fn a_persons_level_decides_for_its_rule_alone() {
    let facts = Facts::of_a_project();
    let policy = |decision| Policy {
        levels: [("git.reset-hard".to_owned(), decision)].into(),
        ..Policy::default()
    };
    for level in [Decision::Allow, Decision::Ask, Decision::Block] {
        let verdict = decide("git reset --hard", &facts, &policy(level));
        assert_eq!(verdict.decision, level);
        let other = decide("git reset --hard; rm -rf /", &facts, &policy(level));
        assert_eq!(other.decision, Decision::Block);
    }
    let verdict = decide("git reset --hard", &facts, &policy(Decision::Allow));
    assert!(verdict.destroys, "a snapshot is still taken");
}

/// CAKE-SHIM-1: with `worktrees: relaxed`, an agent discards its own changes in the worktree that its client made for it, and
/// there alone.
#[test]
fn an_agents_own_worktree_may_be_discarded_if_the_user_says_so() {
    let relaxed = Policy {
        relaxed_worktrees: true,
        ..Policy::default()
    };
    let own = "/home/u/p/.claude/worktrees/fix-cart";
    let facts = Facts {
        cwd: Some(own.to_owned()),
        root: Some(own.to_owned()),
        state: Some(ROOT.to_owned()),
        git_dir: Some("/home/u/p/.git/worktrees/fix-cart".to_owned()),
        worktree: true,
        ..Facts::of_a_project()
    };
    for command in [
        "git reset --hard",
        "git checkout .",
        "git clean -fd",
        "cd src && git restore .",
    ] {
        let decided = |policy: &Policy| decide(command, &facts, policy).decision;
        assert_eq!(decided(&relaxed), Decision::Allow, "{command}");
        assert_ne!(decided(&Policy::default()), Decision::Allow, "{command}");
    }
    for command in [
        "git -C /home/u/p reset --hard",
        "cd /home/u/p && git checkout .",
        "git stash drop",
        "git branch -D main",
        "git push --force",
        "rm -rf /home/u/p",
    ] {
        let decision = decide(command, &facts, &relaxed).decision;
        assert_ne!(decision, Decision::Allow, "{command}");
    }
    let main = Facts::of_a_project();
    let elsewhere = Facts {
        cwd: Some("/home/u/wt".to_owned()),
        root: Some("/home/u/wt".to_owned()),
        ..facts.clone()
    };
    for facts in [main, elsewhere] {
        let decision = decide("git reset --hard", &facts, &relaxed).decision;
        assert_ne!(decision, Decision::Allow);
    }
}
