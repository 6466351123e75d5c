//! Objections to a write to a path: the owner of the file, and the severity.

use super::{client_settings::SETTINGS, writer::Reach};
use crate::{
    analyze::value::is_known,
    facts::Facts,
    glob, link, path,
    path_class::{self, PathClass},
    policy::{CONFIRM, Policy},
    rule::Severity,
    verdict::{Decision, Verdict},
};

/// An objection to a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Objection {
    pub(crate) id: &'static str,
    pub(crate) severity: Severity,
    pub(crate) reason: &'static str,
}

/// Every objection that this file raises, for those who list rules.
pub(crate) const ALL: [&Objection; 7] =
    [&STATE, &HOOKS, &GIT, &STARTUP, &DEVICE, &SYSTEM, &OUTSIDE];

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
    "these files record what was done, and only callosum may write them",
);
const HOOKS: Objection = objection(
    "protect.hooks",
    Severity::Block,
    "the guard depends on these hook settings",
);
const GIT: Objection = objection(
    "protect.git",
    Severity::Block,
    "only git may write the repository's own files",
);
const STARTUP: Objection = objection(
    "protect.startup",
    Severity::Ask,
    "it runs whenever a shell starts",
);
const DEVICE: Objection = objection("protect.device", Severity::Block, "it overwrites a disk");
const SYSTEM: Objection = objection("protect.system", Severity::Block, "it changes the system");
const OUTSIDE: Objection = objection(
    "protect.outside",
    Severity::Ask,
    "it is outside the project",
);

/// Files of this program in a project's root.
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

/// Folders in a home folder in which all starts by itself.
const STARTUP_FOLDERS: [&str; 6] = [
    ".config/fish/",
    ".config/autostart/",
    ".config/systemd/user/",
    "Library/LaunchAgents/",
    ".oh-my-zsh/",
    ".bashrc.d/",
];

/// Decides over a write to a path by a tool that writes files.
///
/// The path may be relative to the facts' working folder. Links are followed as far as the facts
/// know them.
pub fn decide_write(path: &str, facts: &Facts, policy: &Policy) -> Verdict {
    // Some tools take `..` away as text before the system sees it, others leave it there: the worse counts.
    let cwd = facts.cwd.as_deref();
    let as_text = path::absolute(path, cwd);
    let held = [path, as_text.as_str()].into_iter().filter_map(|path| {
        let objection = objection_to(path, cwd, facts, Reach::Anywhere)?;
        Some((policy.decision(objection.id, objection.severity), objection))
    });
    let held = held.max_by_key(|(decision, _)| *decision);
    let (decision, rule, reason) = match held {
        Some((decision, held)) if decision > Decision::Allow => (decision, held.id, held.reason),
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

/// Whether a pattern is about this program's files: it begins like one of them, and includes it.
///
/// `*.json` includes one as well, but is about others: most projects have none of these files.
fn is_pattern_of_state(pattern: &str, initialised: bool) -> bool {
    const NAMES: [&str; 4] = ["cal_audit", ".cal_memory.json", ".cal_hashlog", ".cal_lock"];
    let begins = pattern.find(['*', '?', '[']).unwrap_or(0);
    let mut names = NAMES.iter().chain(&OURS);
    let is_about = begins >= 4 || initialised && pattern.chars().any(char::is_alphanumeric);
    is_about && names.any(|name| glob::matches(pattern, name))
}

/// Returns the objection to a write to this path by a command of this reach.
pub(crate) fn objection_to(
    text: &str,
    cwd: Option<&str>,
    facts: &Facts,
    reach: Reach,
) -> Option<Objection> {
    if text.is_empty() || text.contains('\0') {
        return None;
    }
    let absolute = link::resolve(text, cwd, facts);
    let name = path::name(&absolute);
    if reach != Reach::Rights && settings(&absolute, reach) {
        return Some(HOOKS);
    }
    if is_record(&absolute, facts) {
        return Some(STATE);
    }
    let (folder, last) = absolute.rsplit_once('/').unwrap_or(("", &absolute));
    let takes_all = glob::takes_all(last);
    let holds = |inner: &String| {
        reach == Reach::Whole && path::is_within(inner, &absolute)
            || takes_all
                && inner
                    .rsplit_once('/')
                    .is_some_and(|(holder, _)| holder == folder)
    };
    if is_kept(&absolute, facts) || facts.kept.iter().any(holds) {
        return Some(STATE);
    }
    if let Some(home) = &facts.home
        && reach != Reach::Rights
        && path::is_within(&absolute, home)
    {
        let inner = absolute[home.trim_end_matches('/').len()..].trim_start_matches('/');
        let is_all = |folder: &str| reach == Reach::Whole && folder.trim_end_matches('/') == inner;
        let mut folders = STARTUP_FOLDERS.iter();
        if STARTUP_FILES.contains(&inner)
            || folders.any(|folder| inner.starts_with(folder) || is_all(folder))
        {
            return Some(STARTUP);
        }
    }
    match path_class::place(text, cwd, facts) {
        PathClass::Git => {
            let harmless = matches!(
                name,
                "COMMIT_EDITMSG" | "MERGE_MSG" | "exclude" | "SQUASH_MSG" | "description"
            );
            (!harmless).then_some(GIT)
        }
        PathClass::Device => Some(DEVICE),
        PathClass::System => Some(SYSTEM).filter(|_| reach != Reach::Guarded),
        // Files of any name, in the home or above the project.
        PathClass::Vital if takes_all && is_root(folder, facts) => {
            Some(OUTSIDE).filter(|_| reach == Reach::Anywhere)
        }
        PathClass::Vital if !is_root(&absolute, facts) => {
            Some(SYSTEM).filter(|_| reach == Reach::Anywhere)
        }
        PathClass::Outside => Some(OUTSIDE).filter(|_| {
            let is_free = path_class::is_given(&absolute, facts) || is_of_client(&absolute, facts);
            reach == Reach::Anywhere && !is_free
        }),
        _ => None,
    }
}

/// Paths in the home folder at which clients have their model write plans and memories, `*` for one
/// name. Nothing there steers what they may do.
const OF_CLIENTS: [&str; 5] = [
    ".claude/plans/*.md",
    ".claude/projects/*/memory/*.md",
    ".gemini/tmp/*/plans/*.md",
    ".gemini/tmp/*/*/plans/*.md",
    ".qwen/todos/*.json",
];

/// Whether it is such a file. Of what leads there by a link the end counts.
fn is_of_client(absolute: &str, facts: &Facts) -> bool {
    let home = facts.home.as_deref().filter(|home| !home.is_empty());
    let inner = home.and_then(|home| absolute.strip_prefix(home.trim_end_matches('/')));
    let Some(inner) = inner.and_then(|inner| inner.strip_prefix('/')) else {
        return false;
    };
    let fits = |shape: &str| {
        let (wanted, parts) = (shape.split('/'), inner.split('/'));
        wanted.clone().count() == parts.clone().count()
            && wanted
                .zip(parts)
                .all(|(wanted, part)| match wanted.strip_prefix('*') {
                    Some(end) => {
                        part.len() > end.len() && part.ends_with(end) && !part.starts_with('.')
                    }
                    None => wanted == part,
                })
    };
    is_known(inner)
        && !inner.contains(['*', '?', '['])
        && OF_CLIENTS.iter().any(|shape| fits(shape))
}

/// Whether it is one of the project's records, or a pattern that takes one in.
fn is_record(path: &str, facts: &Facts) -> bool {
    let is_ours = |inner: &str| {
        let first = inner.split('/').next().unwrap_or("");
        OURS.contains(&inner)
            || first == "cal_audit"
            || first.starts_with(".cal_")
            || first == inner && is_pattern_of_state(first, facts.initialised)
    };
    if !path.starts_with('/') {
        return OURS.contains(&path::name(path))
            || path.starts_with("cal_audit")
            || path.starts_with(".cal_");
    }
    let mut roots = facts.root.iter().chain(&facts.state).chain(&facts.given);
    roots.any(|root| {
        path::is_within(path, root)
            && is_ours(path[root.trim_end_matches('/').len()..].trim_start_matches('/'))
    })
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

/// Endings of what was put aside, or shows how something is done: no client reads it.
const UNREAD: [&str; 7] = [
    ".bak", ".backup", ".orig", ".old", ".example", ".sample", "~",
];

/// Whether it is one of the clients' settings in which hooks are registered, in any place, or a
/// client's folder that goes as a whole. A pattern is one if it includes them.
fn settings(path: &str, reach: Reach) -> bool {
    let is_folder = |part: &str, folder: &str| {
        part == folder || !glob::takes_all(part) && glob::matches(part, folder)
    };
    let is_file = |part: &str, file: &str| {
        let is_unread = || UNREAD.iter().any(|ending| part.ends_with(ending));
        part == file || glob::matches(file, part) && !is_unread() || glob::matches(part, file)
    };
    let mut parts = path.split('/').peekable();
    while let Some(part) = parts.next() {
        let next = parts.peek();
        let fits = SETTINGS.iter().any(|(folder, files)| {
            is_folder(part, folder)
                && match next {
                    Some(next) => files.iter().any(|file| is_file(next, file)),
                    None => reach == Reach::Whole,
                }
        });
        if fits {
            return true;
        }
    }
    false
}
