//! Files that agents do not write: the guard's own, the clients' hooks, the repository's, the
//! shell's start-up files, and whatever lies outside the project.
//!
//! [`decide_write`] judges one path, for tools that write files; [`writes`] finds the paths that a
//! command would write, so that both ways are judged alike.

use crate::{
    decide::CONFIRM,
    facts::Facts,
    glob, patch, path,
    place::{self, Place},
    policy::Policy,
    rule::{Severity, Subject},
    unwrap::{Call, Write, value::is_known},
    verdict::{Decision, Verdict},
};

/// What is held against a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Objection {
    pub(crate) id: &'static str,
    pub(crate) severity: Severity,
    pub(crate) reason: &'static str,
}

const fn objection(id: &'static str, severity: Severity, reason: &'static str) -> Objection {
    Objection {
        id,
        severity,
        reason,
    }
}

const STATE: Objection = objection(
    "protect.state",
    Severity::Block,
    "these files are the record of what was done, and are written by callosum alone",
);
const HOOKS: Objection = objection(
    "protect.hooks",
    Severity::Block,
    "the settings of the hooks are what the guard stands on",
);
const GIT: Objection = objection(
    "protect.git",
    Severity::Block,
    "the repository's own files are written by git alone",
);
const STARTUP: Objection = objection(
    "protect.startup",
    Severity::Ask,
    "it runs whenever a shell is started",
);
const DEVICE: Objection = objection("protect.device", Severity::Block, "it overwrites a disk");
const SYSTEM: Objection = objection("protect.system", Severity::Block, "it changes the system");
const OUTSIDE: Objection = objection(
    "protect.outside",
    Severity::Ask,
    "it lies outside the project",
);

/// Files of ours in a project's root.
const OURS: [&str; 3] = [".calrc", "registry.json", "cake_config.yaml"];

/// Start-up files in a home folder, and keys by which others log in.
const STARTUP_FILES: [&str; 22] = [
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".zlogout",
    ".kshrc",
    ".cshrc",
    ".tcshrc",
    ".xprofile",
    ".xinitrc",
    ".xsessionrc",
    ".inputrc",
    ".pam_environment",
    ".config/fish/config.fish",
    ".ssh/authorized_keys",
    ".ssh/config",
    ".gitconfig",
];

/// Decides over a write to a path by a tool that writes files.
///
/// The path may be relative to the facts' working folder. Links are followed as far as the facts
/// know them.
pub fn decide_write(path: &str, facts: &Facts, policy: &Policy) -> Verdict {
    let objection = objection_to(path, facts.cwd.as_deref(), facts, true);
    let held = objection.map(|objection| {
        let decision = objection.severity.decision(policy.strictness);
        (decision, objection.id, objection.reason)
    });
    let (decision, rule, reason) = match held {
        Some(held) if held.0 > Decision::Allow => held,
        _ if policy.confirm => (Decision::Ask, CONFIRM.0, CONFIRM.1),
        _ => return Verdict::default(),
    };
    Verdict {
        decision,
        rule: Some(rule.to_owned()),
        reason: Some(reason.to_owned()),
        subject: Some(path.to_owned()),
        ..Verdict::default()
    }
}

/// Whether a pattern is about our files: it begins like one of them, and takes it in.
///
/// `*.json` takes one in as well, and is about others: most projects have none of ours.
fn is_pattern_of_state(pattern: &str, initialised: bool) -> bool {
    const NAMES: [&str; 4] = ["cal_audit", ".cal_memory.json", ".cal_hashlog", ".cal_lock"];
    let begins = pattern.find(['*', '?', '[']).unwrap_or(0);
    let mut names = NAMES.iter().chain(&OURS);
    let is_about = begins >= 4 || initialised && pattern.chars().any(char::is_alphanumeric);
    is_about && names.any(|name| glob::matches(pattern, name))
}

/// What is held against a write to this path; with `strict` also that it lies outside.
pub(crate) fn objection_to(
    text: &str,
    cwd: Option<&str>,
    facts: &Facts,
    strict: bool,
) -> Option<Objection> {
    if text.is_empty() || text.contains('\0') {
        return None;
    }
    let absolute = place::follow(&path::absolute(text, cwd), facts);
    let name = path::name(&absolute);
    if let Some(objection) = settings(&absolute) {
        return Some(objection);
    }
    if let Some(root) = &facts.root
        && path::is_within(&absolute, root)
    {
        let inner = absolute[root.trim_end_matches('/').len()..].trim_start_matches('/');
        let first = inner.split('/').next().unwrap_or("");
        if OURS.contains(&inner)
            || first == "cal_audit"
            || first.starts_with(".cal_")
            || (first == inner && is_pattern_of_state(first, facts.initialised))
        {
            return Some(STATE);
        }
    } else if !absolute.starts_with('/')
        && (OURS.contains(&name)
            || absolute.starts_with("cal_audit")
            || absolute.starts_with(".cal_"))
    {
        return Some(STATE);
    }
    if is_kept(&absolute, facts) {
        return Some(STATE);
    }
    if let Some(home) = &facts.home
        && path::is_within(&absolute, home)
    {
        let inner = absolute[home.trim_end_matches('/').len()..].trim_start_matches('/');
        if STARTUP_FILES.contains(&inner)
            || inner.starts_with(".config/fish/")
            || inner.starts_with(".config/autostart/")
            || inner.starts_with(".config/systemd/user/")
            || inner.starts_with("Library/LaunchAgents/")
            || inner.starts_with(".oh-my-zsh/")
            || inner.starts_with(".bashrc.d/")
        {
            return Some(STARTUP);
        }
    }
    match place::place(text, cwd, facts) {
        Place::Git => {
            let harmless = matches!(
                name,
                "COMMIT_EDITMSG" | "MERGE_MSG" | "exclude" | "SQUASH_MSG" | "description"
            );
            (!harmless).then_some(GIT)
        }
        Place::Device => Some(DEVICE),
        Place::System => Some(SYSTEM),
        Place::Vital if !is_root(&absolute, facts) => Some(SYSTEM).filter(|_| strict),
        Place::Outside => Some(OUTSIDE).filter(|_| strict),
        _ => None,
    }
}

/// Whether it is among what steers the guard itself.
fn is_kept(path: &str, facts: &Facts) -> bool {
    let is_free = |kept: &str| {
        let mut free = facts.free.iter();
        free.any(|free| path::is_within(free, kept) && path::is_within(path, free))
    };
    let mut kept = facts.kept.iter();
    kept.any(|kept| path::is_within(path, kept) && !is_free(kept))
}

/// A write into the root or one of the folders above it is a write of another file in there.
fn is_root(path: &str, facts: &Facts) -> bool {
    facts
        .root
        .as_deref()
        .is_some_and(|root| path::is_within(root, path))
        || facts
            .home
            .as_deref()
            .is_some_and(|home| path::is_within(home, path))
}

/// The clients' settings in which hooks are registered, wherever they stand.
fn settings(path: &str) -> Option<Objection> {
    let parts: Vec<&str> = path.split('/').collect();
    let hooked = parts.windows(2).any(|pair| match pair {
        [".claude", file] => file.starts_with("settings") || matches!(*file, "hooks" | "plugins"),
        [".codex", file] => matches!(
            *file,
            "config.toml" | "hooks.json" | "hooks" | "rules" | "requirements.toml"
        ),
        [".gemini", file] => {
            file.starts_with("settings") || *file == "hooks" || *file == "policies"
        }
        [".qwen", file] => file.starts_with("settings") || *file == "hooks",
        [".opencode", file] => matches!(*file, "plugin" | "plugins"),
        [".cursor", file] => matches!(*file, "hooks.json" | "hooks"),
        _ => false,
    });
    hooked.then_some(HOOKS)
}

/// Whether a file is one in which keys or passwords are kept.
pub(crate) fn keeps_secrets(file: &str) -> bool {
    let name = path::name(file);
    let within = |folder: &str| file.split('/').any(|part| part == folder);
    match name {
        ".ssh" | ".gnupg" | ".aws" | ".netrc" | ".pypirc" | ".git-credentials" | ".pgpass"
        | ".env" | "shadow" | "master.key" | "credentials.json" => true,
        "credentials" => within(".aws"),
        "config" => within(".kube"),
        "config.json" => within(".docker"),
        "hosts.yml" => within("gh"),
        _ => {
            let sample = ["example", "sample", "template", "test", "dist"];
            let end = name.rsplit('.').next().unwrap_or("");
            name.starts_with(".env.") && !sample.contains(&end)
                || within(".ssh") && name.starts_with("id_") && end != "pub"
                || within(".gnupg")
                || matches!(end, "pem" | "p12" | "pfx" | "keystore" | "kdbx")
        }
    }
}

/// Options of commands that write files which take the next word.
fn takes(name: &str) -> &'static str {
    match name {
        "cp" | "gcp" | "mv" | "gmv" | "ln" => "-t --target-directory -S --suffix",
        "install" => "-t --target-directory -S --suffix -m --mode -o --owner -g --group",
        "truncate" => "-s --size -r --reference -o",
        "fallocate" => "-l --length -o --offset",
        "sed" | "gsed" => "-e -f --expression --file -l --line-length",
        "rsync" | "scp" => "-e -i -F -P -o -l --rsh --exclude --include --filter",
        "tar" | "gtar" | "bsdtar" => "-f -C --file --directory --exclude",
        "unzip" => "-d -x -P",
        "vim" | "vi" | "nvim" | "ex" => "-c -S -s -u -i --cmd",
        _ => "-o --output -O --output-document -m --mode -e --expression -r --reference -t -S",
    }
}

/// The paths that a command would write or delete, and whether that counts outside the project too.
pub(crate) fn writes(call: &Call, facts: &Facts) -> Vec<(String, bool)> {
    let mut all: Vec<(String, bool)> = call
        .writes
        .iter()
        .map(|Write { path, .. }| (path.clone(), true))
        .collect();
    if call.words.is_empty() || call.name.is_empty() {
        return all;
    }
    let subject = Subject::of_user(call, takes(&call.name), facts);
    let operands = || {
        subject
            .operands
            .iter()
            .map(|(word, _)| word.text.as_str())
            .filter(|text| is_known(text) || text.contains('/'))
    };
    let mut add = |path: &str, strict: bool| all.push((path.to_owned(), strict));
    match call.name.as_str() {
        "tee" | "sponge" | "truncate" | "fallocate" | "ed" | "ex" => {
            operands().for_each(|path| add(path, true));
        }
        "cp" | "install" | "ln" | "rsync" | "scp" | "gcp" | "ditto" => {
            let to = subject
                .value("-t")
                .or_else(|| subject.value("--target-directory"))
                .or_else(|| {
                    if subject.operands.len() > 1 {
                        operands().next_back()
                    } else {
                        None
                    }
                });
            let dry = subject.has("-n") && call.name == "rsync" || subject.has("--dry-run");
            if let Some(to) = to
                && !dry
                && !(call.name != "cp" && to.contains(':'))
            {
                // Into a folder means to the file of that name in it.
                let name = subject
                    .operands
                    .first()
                    .map_or("", |(word, _)| path::name(word.text.trim_end_matches('/')));
                add(to, true);
                add(&format!("{}/{name}", to.trim_end_matches('/')), false);
            }
        }
        "mv" | "gmv" => {
            let count = subject.operands.len();
            for (at, path) in operands().enumerate() {
                add(path, at + 1 == count);
                if at + 1 == count && count > 1 {
                    let name = path::name(subject.operand(0).trim_end_matches('/'));
                    add(&format!("{}/{name}", path.trim_end_matches('/')), false);
                }
            }
        }
        "rm" | "unlink" | "shred" | "rmdir" | "chmod" | "chattr" => {
            operands().for_each(|path| add(path, false));
        }
        "sed" | "gsed" | "perl" | "ruby" | "awk" | "gawk" => {
            let in_place = call.words.iter().skip(1).any(|word| {
                let text = word.text.as_str();
                text.starts_with("--in-place")
                    || text == "inplace"
                    || text.starts_with("-i")
                    || text.starts_with('-')
                        && !text.starts_with("--")
                        && text.len() <= 5
                        && text.contains('i')
                        && !call.name.ends_with("awk")
            });
            if in_place {
                // Without `-e` or `-f` the first operand is what is to be done.
                let script = call.name.ends_with("sed")
                    && !["-e", "-f", "--expression", "--file"]
                        .iter()
                        .any(|option| subject.has(option));
                let files = subject.operands.iter().skip(usize::from(script));
                files.for_each(|(word, _)| add(&word.text, true));
            }
        }
        "dd" => {
            for word in &call.words {
                if let Some(to) = word.text.strip_prefix("of=") {
                    add(to, true);
                }
            }
        }
        "curl" | "wget" | "sort" | "gcc" | "cc" | "clang" => {
            for option in ["-o", "--output", "-O", "--output-document"] {
                if option == "-O" && call.name == "curl" {
                    continue;
                }
                if let Some(to) = subject.value(option) {
                    add(to, true);
                }
            }
        }
        "tar" | "gtar" | "bsdtar" | "unzip" => {
            for option in ["-C", "--directory", "-d"] {
                if (option == "-d") == (call.name == "unzip")
                    && let Some(to) = subject.value(option)
                {
                    add(to, false);
                }
            }
        }
        "vim" | "vi" | "nvim" => {
            let told = call.words.iter().skip(1).any(|word| {
                matches!(word.text.as_str(), "-c" | "-es" | "-s" | "-S")
                    || word.text.starts_with("+:")
            });
            if told {
                operands()
                    .filter(|text| !text.starts_with('+'))
                    .for_each(|path| add(path, true));
            }
        }
        "apply_patch" | "applypatch" => {
            for path in patch::paths(&patch_text(call)) {
                add(&path, true);
            }
        }
        "patch" => {
            if let Some(path) = operands().next() {
                add(path, true);
            }
            for path in patch::paths_of_diff(&patch_text(call)) {
                add(&path, true);
            }
        }
        "git" => {
            if matches!(subject.operand(0), "apply" | "am") && !subject.has("--check") {
                for path in patch::paths_of_diff(&patch_text(call)) {
                    add(&path, true);
                }
            }
            if matches!(subject.operand(0), "checkout" | "restore" | "rm" | "mv") {
                operands().skip(1).for_each(|path| add(path, false));
            }
        }
        _ => {}
    }
    all
}

/// The patch that a command is given: what comes in, or a word of several lines.
fn patch_text(call: &Call) -> String {
    let words = call.words.iter().skip(1).map(|word| word.text.as_str());
    let input = call.input.as_ref().map(|input| input.text.as_str());
    let texts: Vec<&str> = words
        .filter(|word| word.contains('\n'))
        .chain(input)
        .collect();
    texts.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CAKE-SHIM-1: where our records are there, a pattern that takes one in is a write of it; that of
    /// everything is asked about as such.
    #[test]
    fn a_pattern_takes_in_what_is_there() {
        let of = |initialised, command: &str| {
            let facts = Facts {
                cwd: Some("/home/a/shop".to_owned()),
                root: Some("/home/a/shop".to_owned()),
                initialised,
                ..Facts::default()
            };
            crate::decide(command, &facts, &Policy::default()).decision
        };
        for command in [
            "rm *.json",
            "sed -i s/a/b/ *.json",
            "rm -f re*.json",
            "find . -name '*.json' -delete",
        ] {
            assert_eq!(of(true, command), Decision::Block, "{command}");
            assert_eq!(of(false, command), Decision::Allow, "{command}");
        }
        for command in ["cat *.json", "rm -f dist/*.json", "rm *.js"] {
            assert_eq!(of(true, command), Decision::Allow, "{command}");
        }
        assert_eq!(of(true, "rm -rf *"), Decision::Ask);
    }

    /// CAKE-SHIM-1: what all worktrees of a repository share is not written from one of them.
    #[test]
    fn a_linked_worktree_does_not_write_the_shared_repository() {
        let facts = Facts {
            cwd: Some("/home/a/topic".to_owned()),
            root: Some("/home/a/topic".to_owned()),
            home: Some("/home/a".to_owned()),
            git_dir: Some("/home/a/shop/.git/worktrees/topic".to_owned()),
            worktree: true,
            ..Facts::default()
        };
        for path in ["../shop/.git/config", "../shop/.git/hooks/pre-commit"] {
            let verdict = decide_write(path, &facts, &Policy::default());
            assert_eq!(verdict.rule.as_deref(), Some("protect.git"), "{path}");
        }
        let verdict = decide_write("../shop/src/a.rs", &facts, &Policy::default());
        assert_eq!(verdict.rule.as_deref(), Some("protect.outside"));
    }

    /// CAKE-SHIM-1: what steers the guard and stands outside of the project is not written, but for
    /// folders in it that are for everybody's use.
    #[test]
    fn what_steers_the_guard_is_not_written() {
        let text = |text: &str| text.to_owned();
        let facts = Facts {
            cwd: Some(text("/home/a/shop")),
            root: Some(text("/home/a/shop")),
            home: Some(text("/home/a")),
            free: vec![text("/tmp"), text("/tmp/state/scratch/1")],
            kept: vec![text("/tmp/state"), text("/home/a/.config/cake_config.yaml")],
            ..Facts::default()
        };
        for (path, rule) in [
            ("/tmp/state/permissions/user.json", Some("protect.state")),
            ("/tmp/state/scratch/1/x", None),
            ("/tmp/states", None),
            ("../.config/cake_config.yaml", Some("protect.state")),
            ("src/lib.rs", None),
        ] {
            let verdict = decide_write(path, &facts, &Policy::default());
            assert_eq!(verdict.rule.as_deref(), rule, "{path}");
            let command = format!("echo x > {path}");
            let verdict = crate::decide(&command, &facts, &Policy::default());
            assert_eq!(verdict.rule.as_deref(), rule, "{command}");
        }
    }
}
