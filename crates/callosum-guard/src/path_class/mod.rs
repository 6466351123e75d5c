//! Classes of paths, as far as they matter for what may be done to a path.
//!
//! Decided from the path and the facts alone. A pattern counts as the worst that it may fit.

use crate::{
    analyze::value::{MAYBE, SOME},
    facts::Facts,
    glob,
    link::resolve,
    path,
    well_known_dirs::{DATA, OWN, SYSTEM},
};

#[cfg(test)]
mod tests;

/// A class of place; a path has exactly one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PathClass {
    /// Without it the machine or the person's work is gone: `/`, `/etc`, the home folder, the
    /// folders around the project.
    Vital,
    /// The project itself.
    Project,
    /// Vital if an unknown value turns out empty.
    MaybeVital,
    /// Part of the system.
    System,
    /// A disk or another device that keeps data.
    Device,
    /// A device or a pipe that keeps nothing.
    Sink,
    /// The repository's own folder, or in it.
    Git,
    /// Everything in the project, by a pattern.
    Everything,
    /// In the project.
    Inside,
    /// A temporary folder.
    Free,
    /// Anywhere else.
    Outside,
    /// Nothing is known of it.
    Unknown,
}

/// The folders in which keepers of revisions have all that was ever committed.
const REPOSITORIES: [&str; 4] = [".git", ".jj", ".hg", ".sl"];

/// Returns the class of a path.
pub(crate) fn place(text: &str, cwd: Option<&str>, facts: &Facts) -> PathClass {
    if text.is_empty() {
        return PathClass::Unknown;
    }
    let windows =
        text.len() >= 2 && text.as_bytes()[1] == b':' && text.as_bytes()[0].is_ascii_alphabetic();
    if windows {
        let rest = text[2..]
            .trim()
            .trim_matches(['\\', '/', '*', '.'])
            .to_ascii_lowercase();
        let vital =
            rest.is_empty() || matches!(rest.as_str(), "windows" | "users" | "program files");
        return if vital {
            PathClass::Vital
        } else {
            PathClass::Outside
        };
    }
    if text.contains([MAYBE, SOME]) {
        return unknown(text, cwd, facts);
    }
    known(text, cwd, facts)
}

fn unknown(text: &str, cwd: Option<&str>, facts: &Facts) -> PathClass {
    // A part that is certainly not empty counts as one name.
    let named = text.replace(SOME, "\u{2026}");
    if !named.contains(MAYBE) {
        let first = named.trim_start_matches("./");
        if first.starts_with('\u{2026}') {
            // `"${X:?}"/../..` leads out of wherever it is.
            let led = path::absolute(first, None);
            let is_above = led == "." || led.starts_with("..");
            return if is_above {
                PathClass::MaybeVital
            } else {
                PathClass::Unknown
            };
        }
        return match named.strip_prefix('/') {
            Some(rest) if rest.trim_end_matches('/') == "\u{2026}" => PathClass::Vital,
            _ => known(&named, cwd, facts),
        };
    }
    let emptied: String = named.chars().filter(|c| *c != MAYBE).collect();
    if emptied.is_empty() {
        return PathClass::Unknown;
    }
    // `$X*`: an empty value would leave a pattern for everything.
    if known(&emptied, cwd, facts) == PathClass::Everything {
        return PathClass::Everything;
    }
    // `"$X"/…`: an empty value would leave a path from the root on.
    let rest = known(&emptied, cwd, facts);
    if matches!(rest, PathClass::Vital | PathClass::Project) {
        let whole = emptied.trim_matches(['/', '*', '.']).is_empty();
        if emptied.starts_with('/') && !whole && takes_in_no_folder(&emptied) {
            return PathClass::Unknown;
        }
        // `build$X` in the project's folder is not the project.
        return if whole || emptied.starts_with('/') {
            PathClass::MaybeVital
        } else {
            PathClass::Unknown
        };
    }
    if named.starts_with(MAYBE) {
        return PathClass::Unknown;
    }
    match known(&named.replace(MAYBE, "\u{2026}"), cwd, facts) {
        PathClass::Vital | PathClass::Project => PathClass::MaybeVital,
        other => other,
    }
}

/// Whether a pattern right under the root takes in none of the folders that matter there: `/foo*`.
fn takes_in_no_folder(pattern: &str) -> bool {
    let first = pattern[1..].split('/').next().unwrap_or("");
    let mut names = SYSTEM.iter().chain(&DATA).chain(&["tmp"]);
    first.contains('*') && !names.any(|name| glob::matches(first, name))
}

fn known(text: &str, cwd: Option<&str>, facts: &Facts) -> PathClass {
    let mut cut = text;
    let mut pattern = false;
    // `x/*`, `x/.*`, `x/**`, `x/*/` and `x/{*,.*}` are everything in x.
    if cut.ends_with("*/") {
        cut = cut.trim_end_matches('/');
    }
    loop {
        let last = cut.rsplit('/').next().unwrap_or(cut);
        if !glob::takes_all(last) {
            break;
        }
        pattern = true;
        cut = &cut[..cut.len() - last.len()];
        if cut.is_empty() {
            cut = ".";
            break;
        }
        if cut.len() > 1 && cut.ends_with('/') {
            cut = cut.trim_end_matches('/');
            if cut.is_empty() {
                cut = "/";
            }
        }
        if cut == "/" {
            break;
        }
    }
    let absolute = resolve(cut, cwd, facts);
    let root = facts.root.as_deref();
    if !absolute.starts_with('/') {
        // The working folder is not known.
        return if absolute.starts_with("..") {
            PathClass::Outside
        } else if absolute == "." {
            PathClass::MaybeVital
        } else if git(&absolute, facts) {
            PathClass::Git
        } else {
            PathClass::Inside
        };
    }
    // A lock that git leaves if it is killed. It holds no one's work.
    if is_lock_of_git(&absolute) {
        return PathClass::Inside;
    }
    if git(&absolute, facts) && root.is_none_or(|root| path::is_within(&absolute, root))
        || facts
            .git_dir
            .as_deref()
            .is_some_and(|folder| path::is_within(&absolute, shared(folder)))
    {
        return PathClass::Git;
    }
    if let Some(root) = root.filter(|root| is_ground(root, facts)) {
        if absolute == root {
            return if pattern {
                PathClass::Everything
            } else {
                PathClass::Project
            };
        }
        if path::is_within(&absolute, root) {
            return PathClass::Inside;
        }
    }
    if is_of_service(&absolute) && !pattern {
        return PathClass::Free;
    }
    // Its contents are like the other temporary folders; it is itself a file system.
    if pattern && absolute == "/dev/shm" {
        return PathClass::Free;
    }
    if let Some(place) = device(&absolute).or_else(|| in_given(&absolute, pattern, facts)) {
        return place;
    }
    let mut parts = absolute[1..].split('/');
    let first = parts.next().unwrap_or("");
    let deep = parts.clone().count();
    let temporary = is_temporary(&absolute);
    // What holds the project or the home is vital wherever it lies, also among temporary folders.
    let home = facts.home.as_deref().filter(|home| !home.is_empty());
    let holds = |inner: &str| path::is_within(inner, &absolute);
    if root.is_some_and(holds) || home.is_some_and(holds) || first.is_empty() {
        return PathClass::Vital;
    }
    let in_home = home.and_then(|home| {
        let rest = absolute.strip_prefix(home.trim_end_matches('/'))?;
        rest.strip_prefix('/')
    });
    // Who begins in the home folder works on files in it, but not on what it keeps for all others.
    let is_home = root.is_some() && root == home;
    // A home inside a free folder is not free for that.
    let is_free = |free: &String| {
        let holds_home = home.is_some_and(|home| home != free && path::is_within(home, free));
        path::is_within(&absolute, free) && !(holds_home && in_home.is_some())
    };
    if facts.free.iter().any(is_free) {
        return PathClass::Free;
    }
    if let Some(rest) = in_home {
        if rest == ".cache" || rest.starts_with(".cache/") {
            return PathClass::Free;
        }
        let keeps = |own: &&str| own.starts_with('.') && path::is_within(rest, own);
        return if OWN.contains(&rest) {
            PathClass::Vital
        } else if is_home && !OWN.iter().any(keeps) {
            PathClass::Inside
        } else {
            PathClass::Outside
        };
    }
    if temporary && absolute != "/dev/shm" {
        return PathClass::Free;
    }
    if first.contains(['*', '?']) {
        return PathClass::Vital;
    }
    if SYSTEM.contains(&first) {
        let shallow =
            deep == 0 || deep == 1 && matches!(first, "usr" | "var" | "System" | "Library" | "lib");
        return if shallow {
            PathClass::Vital
        } else {
            PathClass::System
        };
    }
    if deep == 0 && DATA.contains(&first) || deep == 1 && matches!(first, "home" | "Users") {
        return PathClass::Vital;
    }
    PathClass::Outside
}

/// Returns the class of a path in a folder that the client was given: that as a whole, and its
/// repository, are as the project's own. No snapshot holds what is deleted in it.
fn in_given(absolute: &str, pattern: bool, facts: &Facts) -> Option<PathClass> {
    let folder = given(absolute, facts)?;
    Some(match absolute.get(folder.len()..) {
        None | Some("") if pattern => PathClass::Everything,
        None | Some("") => PathClass::Project,
        Some(inner) if git(inner, facts) => PathClass::Git,
        Some(_) => PathClass::Outside,
    })
}

/// Whether a path is in a folder that the client was given.
pub(crate) fn is_given(absolute: &str, facts: &Facts) -> bool {
    given(absolute, facts).is_some()
}

/// Returns the folder that the client was given and that holds a path. One that is temporary is
/// free anyway.
fn given<'f>(absolute: &str, facts: &'f Facts) -> Option<&'f String> {
    let home = facts.home.as_deref().filter(|home| !home.is_empty());
    let is_own = |folder: &&String| {
        !is_temporary(folder) || home.is_some_and(|home| path::is_within(folder, home))
    };
    let mut given = facts.given.iter().filter(is_own);
    given.find(|folder| path::is_within(absolute, folder))
}

/// Whether the root is one of a project, and not just the folder in which someone began: the root
/// of all, a folder that holds the home, or one of the system without a repository.
fn is_ground(root: &str, facts: &Facts) -> bool {
    let home = facts.home.as_deref().filter(|home| !home.is_empty());
    if root == "/" || home.is_some_and(|home| path::is_within(home, root)) {
        return false;
    }
    if home.is_some_and(|home| path::is_within(root, home)) {
        return true;
    }
    let mut parts = root.trim_start_matches('/').split('/');
    let (first, second) = (parts.next().unwrap_or(""), parts.next());
    let is_kept_for_others = match (first, second) {
        ("usr", Some(second)) => second != "src",
        ("var", Some(second)) => !matches!(second, "www" | "app" | "task" | "tmp" | "folders"),
        ("opt" | "root" | "private" | "run", Some(_)) => false,
        (first, _) => SYSTEM.contains(&first),
    };
    let has_records = facts.git_dir.is_some() || facts.initialised;
    !is_kept_for_others || second.is_some() && has_records
}

/// Whether a path is one of the system's temporary folders, or is in one.
pub(crate) fn is_temporary(absolute: &str) -> bool {
    [
        "/tmp",
        "/var/tmp",
        "/private/tmp",
        "/var/folders",
        "/dev/shm",
    ]
    .iter()
    .any(|folder| path::is_within(absolute, folder))
}

/// Returns whether a path is a file under `/run` in which a service has its number or by which it is reached: each start
/// makes it again. Those that the machine itself is reached by are none of these.
fn is_of_service(absolute: &str) -> bool {
    const OF_MACHINE: [&str; 9] = [
        "systemd",
        "dbus",
        "udev",
        "containerd",
        "docker",
        "lock",
        "initctl",
        "crio",
        "podman",
    ];
    let inner = ["/run/", "/var/run/"]
        .iter()
        .find_map(|run| absolute.strip_prefix(run));
    inner.is_some_and(|inner| {
        let first = inner.split(['/', '.']).next().unwrap_or("");
        let end = inner.rsplit('.').next().unwrap_or("");
        let is_known = !inner.contains(['*', '?', '[', '\u{2026}']);
        let is_passing = matches!(end, "pid" | "sock" | "socket" | "lock") && end != inner;
        is_passing && is_known && !OF_MACHINE.contains(&first)
    })
}

/// The folder that all worktrees of a repository share, from that of one of them.
fn shared(git_dir: &str) -> &str {
    match git_dir.rsplit_once("/worktrees/") {
        Some((shared, one)) if !one.contains('/') => shared,
        _ => git_dir,
    }
}

/// Whether it is a lock of git's: `.git/index.lock`.
fn is_lock_of_git(path: &str) -> bool {
    let is_lock = path.rsplit_once('.').is_some_and(|(_, end)| end == "lock");
    is_lock && path.contains("/.git/")
}

fn git(path: &str, _facts: &Facts) -> bool {
    let is_repository = |part: &str| {
        let mut names = REPOSITORIES.iter();
        names.any(|name| part == *name || glob::matches(part, name))
    };
    path.split('/').any(is_repository)
}

fn device(path: &str) -> Option<PathClass> {
    if path::is_within(path, "/proc/self/fd") {
        return Some(PathClass::Sink);
    }
    let name = path.strip_prefix("/dev/")?;
    let sink = matches!(
        name,
        "null"
            | "zero"
            | "full"
            | "tty"
            | "stdout"
            | "stderr"
            | "stdin"
            | "random"
            | "urandom"
            | "ptmx"
    ) || ["fd/", "tcp/", "udp/", "pts/", "tty", "shm/"]
        .iter()
        .any(|start| name.starts_with(start));
    if sink {
        return (!name.starts_with("shm/")).then_some(PathClass::Sink);
    }
    (!name.is_empty()).then_some(PathClass::Device)
}
