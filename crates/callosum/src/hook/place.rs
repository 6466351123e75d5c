//! [`Place`]: what is to be known of where a call happens, gathered with few calls of the system.
//!
//! What is missing makes the guard stricter, so nothing here fails.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsString,
    path::{Component, Path, PathBuf},
};

use callosum_agents::client::Client;
use callosum_guard::Facts;
use callosum_host::{Disk, OpenHow, disk::EntryKind};
use callosum_ledger::Journal;

use super::{
    event::{Action, Event},
    given,
    worktree::{git_dir, is_linked, shared, trees},
};
use crate::config::{Environment, Governance, GuardConfig, Homes, Permissions, Project, Told};

/// Folders that everybody may write to.
const TEMPORARY: [&str; 2] = ["/tmp", "/var/tmp"];

/// Variables by which clients name the folder of the project.
const PROJECT: [&str; 3] = [
    "CLAUDE_PROJECT_DIR",
    "GEMINI_PROJECT_DIR",
    "QWEN_PROJECT_DIR",
];

/// So many paths of one call are looked at for links.
const MOST_PATHS: usize = 256;

/// So many folders of a command are looked from: its own, and those that it enters.
const MOST_FOLDERS: usize = 4;

/// What stands before the folder that a command enters.
const ENTERING: [&str; 6] = ["cd", "pushd", "chdir", "-C", "--chdir", "--directory"];

/// So many links are followed from one on, as many as the system does.
const MOST_LINKS: usize = 40;

/// How much of a command is looked through for links, in bytes.
const LONGEST_COMMAND: usize = 16 * 1024;

/// Where a call happens.
pub(super) struct Place {
    pub(super) disk: Disk,
    pub(super) environment: Environment,
    pub(super) facts: Facts,
    /// What is configured.
    pub(super) guard: GuardConfig,
    /// What is permitted; `None` where there is no home.
    pub(super) permissions: Option<Permissions>,
    /// Where the call is told; `None` where there is no home.
    pub(super) journal: Option<Journal>,
}

impl Place {
    /// Looks at the place of a call, and at what its client was given besides the project.
    pub(super) fn gather(
        disk: &Disk,
        environment: &Environment,
        event: &Event,
        client: Option<&Client>,
    ) -> Self {
        let (cwd, here) = folders(disk, environment, event.folder.as_deref());
        let here = session_folder(environment, disk, here);
        let trees = here.as_deref().map(|here| trees(disk, here));
        let trees = trees.unwrap_or_default();
        let here = tree_of(&trees, here, cwd.as_deref());
        let project = here
            .as_deref()
            .and_then(|here| Project::load(disk, environment, here, &Told::default()).ok());
        let root = match (&project, here) {
            (Some(project), _) => Some(project.roots.tree.clone()),
            (None, here) => here.map(|here| real(disk, here)),
        };
        let state = project.as_ref().map(|project| &project.roots.state);
        let facts = facts(disk, environment, cwd.as_deref(), root.as_deref());
        let home = facts.home.as_deref().map(Path::new);
        let seen = seen(disk, cwd.as_deref(), home, &event.action);
        let mut facts = Facts {
            links: seen.links,
            repositories: seen.repositories,
            standing: seen.standing,
            missing: seen.missing,
            state: records(state, root.as_deref()),
            ..facts
        };
        let given = client.map(|client| given::folders(disk, environment, client));
        let given = given.into_iter().flatten().map(|folder| real(disk, folder));
        // The other trees of the same repository are worked in as well.
        let others = trees.into_iter().filter(|tree| Some(tree) != root.as_ref());
        let given = given.chain(others);
        let kept = [facts.home.as_deref(), facts.root.as_deref()].map(|kept| kept.map(Path::new));
        let given: Vec<PathBuf> = given.filter(|folder| !holds(folder, kept)).collect();
        facts.given = given.iter().filter_map(|folder| text(folder)).collect();
        let homes = match &project {
            Some(project) => Some(project.homes.clone()),
            None => Homes::find(environment).ok(),
        };
        let (tree, state) = match &project {
            Some(project) => (Some(&project.roots.tree), Some(&project.roots.state)),
            None => (root.as_ref(), root.as_ref()),
        };
        let roots: Vec<&Path> = [tree, state]
            .into_iter()
            .flatten()
            .map(PathBuf::as_path)
            .collect();
        let user = homes.as_ref().map(Homes::cake_config);
        let guard = GuardConfig::load(disk, user.as_deref(), &roots);
        let permissions = homes
            .as_ref()
            .zip(state)
            .map(|(homes, state)| Permissions::of(disk, homes, state));
        let journal = homes.map(|homes| journal(disk, &homes, project.as_ref()));
        Self {
            disk: disk.clone(),
            environment: environment.clone(),
            facts,
            guard,
            permissions,
            journal,
        }
    }

    /// What is said without a look at anything, where looking may be what takes so long.
    pub(super) fn unseen(disk: &Disk, environment: Environment, event: &Event) -> Self {
        let homes = Homes::find(&environment).ok();
        Self {
            disk: disk.clone(),
            facts: Facts {
                cwd: event.folder.as_deref().and_then(text),
                home: environment.path("HOME").as_deref().and_then(text),
                ..Facts::default()
            },
            guard: GuardConfig::default(),
            permissions: None,
            journal: homes.map(|homes| journal(disk, &homes, None)),
            environment,
        }
    }
}

/// The folder of a call, and the one from which its project is looked for: what the client names, else
/// where the call is.
pub(super) fn folders(
    disk: &Disk,
    environment: &Environment,
    said: Option<&Path>,
) -> (Option<PathBuf>, Option<PathBuf>) {
    let own = std::env::current_dir().ok();
    let said = said.filter(|folder| folder.is_absolute());
    let cwd = said.map(Path::to_owned).or_else(|| own.clone());
    let cwd = cwd.map(|cwd| real(disk, cwd));
    let named = PROJECT.iter().find_map(|name| environment.path(name));
    let here = named
        .filter(|named| named.is_absolute())
        .or_else(|| own.filter(|_| cwd.is_none()))
        .or_else(|| cwd.clone());
    (cwd, here)
}

/// Where the project of a session's event is looked for: where the client names it, or in the other tree of its repository
/// that the event happens in. A client that moves into a linked worktree goes on naming the tree that it was started in.
pub(super) fn session_place(
    disk: &Disk,
    environment: &Environment,
    said: Option<&Path>,
) -> Option<PathBuf> {
    let (cwd, here) = folders(disk, environment, said);
    let trees = here.as_deref().map(|here| trees(disk, here));
    tree_of(&trees.unwrap_or_default(), here, cwd.as_deref())
}

/// Where the project of a call is looked for that may have been given a folder of its own: in the repository
/// that the hook was started in, where the client names none.
///
/// Codex starts a hook where its session is, and says only where the call is.
fn session_folder(
    environment: &Environment,
    disk: &Disk,
    here: Option<PathBuf>,
) -> Option<PathBuf> {
    let is_named = PROJECT.iter().any(|name| environment.path(name).is_some());
    let own = std::env::current_dir().ok();
    let own = own.filter(|own| !is_named && git_dir(disk, own).is_some());
    own.or(here)
}

/// Where the project of a call is looked for that happens in another tree of the session's repository: there.
fn tree_of(trees: &[PathBuf], here: Option<PathBuf>, cwd: Option<&Path>) -> Option<PathBuf> {
    let innermost = |folder: &Path| {
        let around = trees.iter().filter(|tree| folder.starts_with(tree));
        around.max_by_key(|tree| tree.as_os_str().len())
    };
    let (own, other) = (innermost(here.as_deref()?), innermost(cwd?));
    match other {
        Some(other) if own.is_some_and(|own| own != other) => Some(other.clone()),
        _ => here,
    }
}

/// What the guard must know of a folder that commands run in, and of the tree that it is in.
pub(crate) fn facts(
    disk: &Disk,
    environment: &Environment,
    cwd: Option<&Path>,
    root: Option<&Path>,
) -> Facts {
    let home = environment.path("HOME").map(|home| real(disk, home));
    let git = cwd.and_then(|cwd| git_dir(disk, cwd));
    let initialised = root.is_some_and(|root| {
        let mut ours = [".calrc", "registry.json"].iter();
        ours.any(|name| disk.exists(&root.join(name)).unwrap_or(false))
    });
    Facts {
        cwd: cwd.and_then(text),
        free: free(disk, environment, [home.as_deref(), root]),
        home: home.as_deref().and_then(text),
        root: root.and_then(text),
        given: Vec::new(),
        kept: kept(disk, environment),
        machine: machine(disk, environment),
        worktree: git.as_deref().is_some_and(is_linked),
        git_dir: git.as_deref().and_then(text),
        ignored: initialised
            && git
                .as_deref()
                .is_some_and(|git| passes_over_records(disk, git, root)),
        initialised,
        links: BTreeMap::new(),
        repositories: Vec::new(),
        standing: Vec::new(),
        missing: Vec::new(),
        state: None,
    }
}

/// The folder of a project's records, where it is another than the root of the tree.
pub(crate) fn records(state: Option<&PathBuf>, root: Option<&Path>) -> Option<String> {
    let elsewhere = state.filter(|state| Some(state.as_path()) != root);
    elsewhere.and_then(|state| text(state))
}

/// The project's journal, where it has one; else the machine's, so that no repository is littered.
pub(crate) fn journal(disk: &Disk, homes: &Homes, project: Option<&Project>) -> Journal {
    // For its user alone, before anything is put into it. What stands in the way of that stands in
    // the way of the record as well, and the decision is made all the same.
    drop(homes.create_machine(disk));
    if let Some(project) = project {
        let paths = &project.places.ledger;
        if disk.exists(&paths.audit).unwrap_or(false) {
            return Journal::Project(Box::new(paths.clone()));
        }
    }
    Journal::Machine(homes.journal())
}

fn real(disk: &Disk, path: PathBuf) -> PathBuf {
    disk.canonicalize(&path).unwrap_or(path)
}

/// A path as the guard takes it; one that is no text it is better not told of.
fn text(path: &Path) -> Option<String> {
    path.to_str().map(str::to_owned)
}

/// What steers this program and stands outside of projects: by the name that it has there, and, where that
/// is a link, by what it leads to.
fn kept(disk: &Disk, environment: &Environment) -> Vec<String> {
    let Ok(homes) = Homes::find(environment) else {
        return Vec::new();
    };
    let (cake_config, ck) = (homes.cake_config(), homes.ck());
    let constitution = homes.constitution();
    let signature = Governance::signature_file(&constitution);
    let steering = [
        homes.machine,
        homes.user_config,
        cake_config,
        constitution,
        signature,
        ck,
    ];
    let mut kept: Vec<String> = Vec::new();
    for path in steering {
        let named = named(disk, &path);
        let leads = real(disk, named.clone());
        for path in [named, leads] {
            if let Some(path) = text(&path).filter(|path| !kept.contains(path)) {
                kept.push(path);
            }
        }
    }
    kept
}

/// The folder of what is the machine's, by what leads to it in the end.
fn machine(disk: &Disk, environment: &Environment) -> Option<String> {
    let homes = Homes::find(environment).ok()?;
    text(&real(disk, named(disk, &homes.machine)))
}

/// A path with the links followed on the way to it, as far as its folders are there.
fn named(disk: &Disk, path: &Path) -> PathBuf {
    for folder in path.ancestors().skip(1) {
        if let (Ok(real), Ok(rest)) = (disk.canonicalize(folder), path.strip_prefix(folder)) {
            return real.join(rest);
        }
    }
    path.to_owned()
}

/// The file that agents tell one another by, and the folder of additions to it: theirs to write, within what else they
/// may not touch.
fn bridge(disk: &Disk, environment: &Environment) -> Vec<PathBuf> {
    let Ok(homes) = Homes::find(environment) else {
        return Vec::new();
    };
    let folder = real(disk, homes.mesh());
    [callosum_mesh::bridge::FILE, callosum_mesh::bridge::DROP_INS]
        .map(|name| folder.join(name))
        .to_vec()
}

/// Temporary folders, and what agents tell one another by. One that home or root stand in is none.
fn free(disk: &Disk, environment: &Environment, kept: [Option<&Path>; 2]) -> Vec<String> {
    let own = environment.path("TMPDIR").filter(|own| own.is_absolute());
    let all = TEMPORARY.iter().map(PathBuf::from);
    let mut free: Vec<String> = Vec::new();
    let own = own.map(|own| real(disk, own));
    for folder in all.chain(own).chain(bridge(disk, environment)) {
        let holds = holds(&folder, kept);
        let is_shared = TEMPORARY.iter().any(|shared| folder == Path::new(shared));
        if let Some(folder) = text(&folder).filter(|_| is_shared || !holds)
            && !free.contains(&folder)
        {
            free.push(folder);
        }
    }
    free
}

/// Whether one of these stands in a folder, or is it.
fn holds(folder: &Path, kept: [Option<&Path>; 2]) -> bool {
    let mut kept = kept.iter().flatten();
    kept.any(|kept| kept.starts_with(folder))
}

/// Whether git is told to pass our records over, in a file of the repository's own or of the tree.
fn passes_over_records(disk: &Disk, git_dir: &Path, root: Option<&Path>) -> bool {
    const LONGEST: usize = 64 * 1024;
    let shared = shared(git_dir);
    let tree = root.map(|root| root.join(".gitignore"));
    [Some(shared.join("info/exclude")), tree]
        .into_iter()
        .flatten()
        .filter_map(|path| {
            disk.open(&path, OpenHow::READ)
                .ok()?
                .read_range(0, LONGEST)
                .ok()
        })
        .any(|text| {
            let mut lines = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
            lines.any(|line| {
                matches!(
                    line,
                    b"/cal_audit/" | b"cal_audit/" | b"/cal_audit" | b"cal_audit"
                )
            })
        })
}

/// What stands where a call may lead.
#[derive(Default)]
pub(crate) struct Seen {
    /// Where the links lead that stand on the way, by the path of the link.
    pub(crate) links: BTreeMap<String, String>,
    /// The folders that have a repository of their own.
    pub(crate) repositories: Vec<String>,
    /// What stands there and has not the name of a branch, where the command may take files back.
    pub(crate) standing: Vec<String>,
    /// Folders that the command goes to in vain.
    pub(crate) missing: Vec<String>,
    /// Whether what stands there is looked at.
    takes_back: bool,
}

fn seen(disk: &Disk, cwd: Option<&Path>, home: Option<&Path>, action: &Action) -> Seen {
    match (action, cwd) {
        (Action::Write(paths), Some(cwd)) => {
            let mut all = paths.clone();
            // A tool may take `..` away as text.
            let paths = paths.iter().filter(|path| path.contains(".."));
            let paths = paths.filter_map(|path| text(&folded(&cwd.join(path))));
            all.extend(paths);
            seen_at(disk, &[cwd.to_owned()], all, Seen::default())
        }
        (Action::Shell(command), cwd) => seen_in(disk, cwd, home, command),
        _ => Seen::default(),
    }
}

/// What stands where a command may lead.
///
/// Whatever could be a path in it is looked at as one, without reading the command, from its folder on and from those
/// that it enters: what is none is not there. At most [`MOST_PATHS`] are.
pub(crate) fn seen_in(disk: &Disk, cwd: Option<&Path>, home: Option<&Path>, command: &str) -> Seen {
    let Some(cwd) = cwd else {
        return Seen::default();
    };
    let parts_it = |c: char| c.is_whitespace() || "\"'`;|&<>(){}=,:".contains(c);
    let could_be_path = |word: &&str| !word.is_empty() && !word.starts_with(['-', '$']);
    let start = command.get(..LONGEST_COMMAND).unwrap_or(command);
    let start = start.replace("${HOME}", "$HOME").replace("${PWD}", "$PWD");
    let placed = |word: &str| {
        if let Some(inner) = word.strip_prefix("$PWD/") {
            return inner.to_owned();
        }
        let inner = ["~/", "$HOME/"]
            .iter()
            .find_map(|home| word.strip_prefix(home));
        let at_home = inner.and_then(|inner| text(&home?.join(inner)));
        at_home.unwrap_or_else(|| behind_option(word).to_owned())
    };
    let words: Vec<String> = start.split(parts_it).map(placed).collect();
    let words = words.iter().map(String::as_str);
    let folders = entered(disk, cwd, words.clone());
    let words: BTreeSet<&str> = words.filter(could_be_path).collect();
    let seen = Seen {
        missing: missing(disk, &folders, &start),
        takes_back: command.contains("checkout"),
        ..Seen::default()
    };
    seen_at(disk, &folders, words, seen)
}

/// The folders that a command goes to by `cd`, that are not there, and that no word before speaks of, which could have made
/// them. Left out is where the command ends where that fails, or does nothing but what stands behind `&&`.
fn missing(disk: &Disk, folders: &[PathBuf], command: &str) -> Vec<String> {
    let mut missing = Vec::new();
    for (at, _) in command.match_indices("cd ").take(MOST_FOLDERS) {
        let (before, behind) = (&command[..at], command[at + "cd ".len()..].trim_start());
        let begins = before.is_empty()
            || before.ends_with(|c: char| c.is_whitespace() || ";&|({".contains(c));
        let ends = |c: char| c.is_whitespace() || ";&|)<>".contains(c);
        let word = behind.split(ends).next().unwrap_or("");
        let after = behind[word.len()..].trim_start_matches([' ', '\t']);
        let gives_up = after
            .strip_prefix("||")
            .map(str::trim_start)
            .is_some_and(|instead| {
                ["exit", "return", "{", "(", "die", "fail", "mkdir"]
                    .iter()
                    .any(|end| instead.starts_with(end))
            });
        let to = word.trim_matches(['"', '\'']);
        let is_plain = !to.is_empty()
            && !to.starts_with(['-', '~'])
            && !to.contains(['$', '`', '*', '\'', '"', '\\', '\0']);
        let stops = after.starts_with("&&") || gives_up || before.contains("set -e");
        if !begins || !is_plain || stops {
            continue;
        }
        let name = Path::new(to).components().next_back();
        let name = name.map_or("", |name| name.as_os_str().to_str().unwrap_or(""));
        let first = to.split('/').find(|part| !part.is_empty()).unwrap_or(to);
        let is_spoken_of = |name: &str| !name.is_empty() && before.contains(name);
        // What is made may be told by its address or by a program that is started.
        let may_be_made = is_spoken_of(name) || !to.starts_with('/') && is_spoken_of(first);
        let is_there = folders
            .iter()
            .any(|from| disk.exists(&from.join(to)).unwrap_or(true));
        if !may_be_made && !is_there {
            let from = folders.iter().map(|from| from.join(to));
            missing.extend(from.filter_map(|path| text(&folded(&path))));
        }
    }
    missing
}

/// A path without `..`, taken away as text, as a shell's `cd` does.
fn folded(path: &Path) -> PathBuf {
    let mut folded = PathBuf::new();
    for component in path.components() {
        if component == Component::ParentDir {
            folded.pop();
        } else {
            folded.push(component);
        }
    }
    folded
}

/// The path that stands right behind the letter of an option: `-Cbuild/x`.
fn behind_option(word: &str) -> &str {
    let inner = word.strip_prefix('-').and_then(|rest| {
        let inner = rest.strip_prefix(|letter: char| letter.is_ascii_alphabetic())?;
        inner.contains('/').then_some(inner)
    });
    inner.unwrap_or(word)
}

/// The folder of a command, and those that it enters one after the other, as far as its words tell.
fn entered<'w>(disk: &Disk, cwd: &Path, words: impl Iterator<Item = &'w str>) -> Vec<PathBuf> {
    let mut folders = vec![cwd.to_owned()];
    let mut words = words.filter(|word| !word.is_empty());
    while folders.len() < MOST_FOLDERS
        && words.any(|word| ENTERING.contains(&word))
        && let Some(to) = words.find(|word| !word.starts_with('-'))
    {
        let from = folders.last().map_or(cwd, PathBuf::as_path);
        let to = end_of(disk, &from.join(to));
        folders.extend(to.filter(|to| disk.exists(to).unwrap_or(false)));
    }
    folders
}

fn seen_at(
    disk: &Disk,
    folders: &[PathBuf],
    paths: impl IntoIterator<Item = impl AsRef<str>>,
    mut seen: Seen,
) -> Seen {
    for path in paths.into_iter().take(MOST_PATHS) {
        let path = path.as_ref();
        let (is_absolute, has_nul) = (path.starts_with('/'), path.contains('\0'));
        let from = if is_absolute { &folders[..1] } else { folders };
        for folder in from.iter().filter(|_| !has_nul) {
            seen.look(disk, folder, path);
        }
    }
    seen.repositories.sort();
    seen.repositories.dedup();
    seen
}

impl Seen {
    /// Looks at what stands on the way to a path from a folder on that has no links in it.
    fn look(&mut self, disk: &Disk, folder: &Path, path: &str) {
        let mut on_the_way = folder.to_owned();
        for component in Path::new(path).components() {
            match component {
                Component::CurDir => continue,
                Component::ParentDir => {
                    on_the_way.pop();
                    continue;
                }
                component => on_the_way.push(component),
            }
            let found = disk.stat(&on_the_way).ok().flatten();
            // What is not there yet may be made before what is behind it is come to.
            if found.is_some_and(|found| found.kind == EntryKind::Link)
                && !is_of_processes(&on_the_way)
                && let Some(leads) = end_of(disk, &on_the_way)
            {
                if let (Some(link), Some(leads)) = (text(&on_the_way), text(&leads)) {
                    self.links.insert(link, leads);
                }
                on_the_way = leads;
            }
        }
        if self.takes_back
            && on_the_way != folder
            && disk.exists(&on_the_way).unwrap_or(false)
            && !names_branch(disk, folder, path)
        {
            let named = if path.contains("..") {
                on_the_way.clone()
            } else {
                folder.join(path).components().collect()
            };
            self.standing.extend(text(&named));
        }
        // A linked worktree and a submodule have a file there, and their history elsewhere.
        let own = disk.stat(&on_the_way.join(".git")).ok().flatten();
        if own.is_some_and(|own| own.kind == EntryKind::Folder) {
            self.repositories.extend(text(&on_the_way));
        }
    }
}

/// Whether there is a branch of this name, which is what git takes the name for then.
fn names_branch(disk: &Disk, folder: &Path, name: &str) -> bool {
    const LONGEST: usize = 1024 * 1024;
    let Some(git) = git_dir(disk, folder) else {
        return false;
    };
    let (git, branch) = (shared(&git), format!("refs/heads/{name}"));
    if disk.exists(&git.join(&branch)).unwrap_or(false) {
        return true;
    }
    let packed = disk.open(&git.join("packed-refs"), OpenHow::READ).ok();
    let packed = packed.and_then(|packed| packed.read_range(0, LONGEST).ok());
    let packed = packed.unwrap_or_default();
    let mut lines = packed.split(|byte| *byte == b'\n');
    lines.any(|line| line.ends_with(format!(" {branch}").as_bytes()))
}

/// Where a link leads in the end, through the links that it leads to, also where nothing stands there yet: what is
/// written to it is made there. `None` where it goes round, or cannot be read: nothing can be written to it.
fn end_of(disk: &Disk, link: &Path) -> Option<PathBuf> {
    let own = |path: &Path| {
        let components = path.components().rev();
        let own = components.map(|component| component.as_os_str().to_owned());
        own.collect::<Vec<OsString>>()
    };
    let mut rest = own(link);
    let mut at = PathBuf::new();
    let mut followed = 0;
    while let Some(component) = rest.pop() {
        match component.as_encoded_bytes() {
            b"." => continue,
            b".." => {
                at.pop();
                continue;
            }
            _ => at.push(&component),
        }
        let found = disk.stat(&at).ok().flatten();
        if found.is_some_and(|found| found.kind == EntryKind::Link) && !is_of_processes(&at) {
            followed += 1;
            if followed > MOST_LINKS {
                return None;
            }
            let says = disk.read_link(&at).ok()?;
            at.pop();
            rest.extend(own(&says));
        }
    }
    Some(at)
}

/// Whether what stands there is another thing for each process: `/dev/stdout`, `/proc/self`.
fn is_of_processes(path: &Path) -> bool {
    path.starts_with("/proc") || path.starts_with("/dev") && !path.starts_with("/dev/shm")
}
