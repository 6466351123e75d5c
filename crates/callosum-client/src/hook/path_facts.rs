//! [`Seen`]: the entries at paths of a call: links, repositories, and missing folders.
//!
//! Start with [`seen_in`], which takes every word of a command that could be a path for one,
//! without reading the command as a shell would. Deliberately not here: the effect on a verdict.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsString,
    path::{Component, Path, PathBuf},
};

use callosum_guard::{CommandAnalysis, Facts};
use callosum_host::{Disk, OpenHow, disk::EntryKind};

use super::{
    event::Action,
    worktree::{git_dir, shared},
};

/// So many paths of one call are looked at for links.
const MOST_PATHS: usize = 256;

/// So many folders of a command are looked from: its own, and those that it enters.
const MOST_FOLDERS: usize = 4;

/// Words before the folder that a command enters.
const ENTERING: [&str; 6] = ["cd", "pushd", "chdir", "-C", "--chdir", "--directory"];

/// So many links are followed from one on, as many as the system does.
const MOST_LINKS: usize = 40;

/// Length of a command's part that is searched for links, in bytes.
const LONGEST_COMMAND: usize = 16 * 1024;

/// The entries at paths of a call.
#[derive(Default)]
pub struct Seen {
    /// Targets of the links on the way, by the path of the link.
    pub links: BTreeMap<String, String>,
    /// The folders that have a repository of their own.
    pub repositories: Vec<String>,
    /// Paths that exist and are not the name of a branch, if the command may restore files.
    pub standing: Vec<String>,
}

/// Finds the entries at the paths of a call that writes files or runs a command.
pub(super) fn seen(disk: &Disk, cwd: Option<&Path>, home: Option<&Path>, action: &Action) -> Seen {
    match (action, cwd) {
        (Action::Write(paths) | Action::Read(paths), Some(cwd)) => {
            let mut all = paths.clone();
            // A tool may take `..` away as text.
            let paths = paths.iter().filter(|path| path.contains(".."));
            let paths = paths.filter_map(|path| text(&folded(&cwd.join(path))));
            all.extend(paths);
            seen_at(disk, &[cwd.to_owned()], all, None)
        }
        (Action::Shell(command), cwd) => seen_in(disk, cwd, home, command),
        _ => Seen::default(),
    }
}

/// Finds the entries at the paths of a command.
///
/// Every word that could be a path is looked up, without reading the command, from its folder and
/// from those that it enters: a word that is no path does not exist there. At most `MOST_PATHS`
/// are.
pub fn seen_in(disk: &Disk, cwd: Option<&Path>, home: Option<&Path>, command: &str) -> Seen {
    let Some(cwd) = cwd else {
        return Seen::default();
    };
    let parts_it = |c: char| c.is_whitespace() || "\"'`;|&<>(){}=,:".contains(c);
    let could_be_path = |word: &&str| !word.is_empty() && !word.starts_with(['-', '$']);
    let start = &command[..command.floor_char_boundary(LONGEST_COMMAND)];
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
    let mut branches = Branches::default();
    let branches = command.contains("checkout").then_some(&mut branches);
    seen_at(disk, &folders, words, branches)
}

/// Returns a path as the guard takes it; `None` for one that is not UTF-8.
pub(super) fn text(path: &Path) -> Option<String> {
    path.to_str().map(str::to_owned)
}

/// Interprets a command over these facts, and adds to them the folders of the command that do not exist, and those that do.
pub fn analyze(disk: &Disk, command: &str, facts: &Facts) -> CommandAnalysis {
    let analysis = CommandAnalysis::of(command, facts);
    if facts.cwd.is_none() {
        return analysis;
    }
    let analysis = without_missing(disk, analysis);
    let folders = taking_several(disk, &analysis);
    let facts = Facts {
        folders,
        ..analysis.facts().clone()
    };
    analysis.over(facts)
}

/// Adds the folders that a command goes to by `cd` and its like, that are not there, and that nothing before could have made.
///
/// After one that is not there, the next is looked for from the folder that the command is in then.
fn without_missing(disk: &Disk, mut analysis: CommandAnalysis) -> CommandAnalysis {
    for _ in 0..MOST_FOLDERS {
        let mut missing = analysis.visited_dirs();
        missing.retain(|folder| !disk.exists(Path::new(folder)).unwrap_or(true));
        if missing.is_empty() {
            break;
        }
        let mut facts = analysis.facts().clone();
        facts.missing.append(&mut missing);
        analysis = analysis.over(facts);
    }
    analysis
}

/// Returns the folders that exist among the paths that a command moves or copies several things to.
fn taking_several(disk: &Disk, analysis: &CommandAnalysis) -> Vec<String> {
    let mut paths = analysis.collected();
    paths.truncate(MOST_FOLDERS);
    paths.retain(|path| {
        let end = end_of(disk, Path::new(path));
        let found = end.and_then(|end| disk.stat(&end).ok().flatten());
        found.is_some_and(|found| found.kind == EntryKind::Folder)
    });
    paths
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

/// Returns the path right after the letter of an option: `-Cbuild/x`.
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
    mut branches: Option<&mut Branches>,
) -> Seen {
    let mut seen = Seen::default();
    for path in paths.into_iter().take(MOST_PATHS) {
        let path = path.as_ref();
        let (is_absolute, has_nul) = (path.starts_with('/'), path.contains('\0'));
        let from = if is_absolute { &folders[..1] } else { folders };
        for folder in from.iter().filter(|_| !has_nul) {
            seen.look(disk, folder, path, branches.as_deref_mut());
        }
    }
    seen.repositories.sort();
    seen.repositories.dedup();
    seen
}

impl Seen {
    /// Looks up the entries on the way to a path from a folder that has no links in it; the path
    /// itself only if it could be a branch.
    fn look(&mut self, disk: &Disk, folder: &Path, path: &str, branches: Option<&mut Branches>) {
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
        if let Some(branches) = branches
            && on_the_way != folder
            && disk.exists(&on_the_way).unwrap_or(false)
            && !branches.has(disk, folder, path)
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

/// The names of branches, those that are packed read once for each repository.
#[derive(Default)]
struct Branches {
    packed: BTreeMap<PathBuf, BTreeSet<Vec<u8>>>,
}

impl Branches {
    /// Whether there is a branch of this name, which is what git takes the name for then.
    fn has(&mut self, disk: &Disk, folder: &Path, name: &str) -> bool {
        let Some(git) = git_dir(disk, folder) else {
            return false;
        };
        let git = shared(&git).to_owned();
        // A folder there holds branches that begin with its name.
        let loose = disk.stat(&git.join(format!("refs/heads/{name}")));
        if loose.is_ok_and(|loose| loose.is_some_and(|loose| loose.kind == EntryKind::File)) {
            return true;
        }
        let read = || packed(disk, &git);
        let packed = self.packed.entry(git.clone()).or_insert_with(read);
        packed.contains(name.as_bytes())
    }
}

/// The names of the branches that a repository has packed.
fn packed(disk: &Disk, git: &Path) -> BTreeSet<Vec<u8>> {
    const LONGEST: usize = 1024 * 1024;
    let packed = disk.open(&git.join("packed-refs"), OpenHow::READ).ok();
    let packed = packed.and_then(|packed| packed.read_range(0, LONGEST).ok());
    let packed = packed.unwrap_or_default();
    let lines = packed.split(|byte| *byte == b'\n');
    let names = lines.filter_map(|line| {
        let at = line.iter().position(|byte| *byte == b' ')?;
        line[at + 1..].strip_prefix(b"refs/heads/")
    });
    names.map(<[u8]>::to_vec).collect()
}

/// Whether a repository has packed a reference of this full name. One that is packed and deleted is not there any more.
pub(super) fn has_packed_ref(disk: &Disk, git: &Path, name: &[u8]) -> bool {
    const LONGEST: usize = 1024 * 1024;
    let packed = disk.open(&git.join("packed-refs"), OpenHow::READ).ok();
    let packed = packed.and_then(|packed| packed.read_range(0, LONGEST).ok());
    // One that was not read whole may have the reference.
    let packed = packed.unwrap_or_default();
    packed.len() >= LONGEST
        || packed.split(|byte| *byte == b'\n').any(|line| {
            let at = line.iter().position(|byte| *byte == b' ');
            at.is_some_and(|at| &line[at + 1..] == name)
        })
}

/// Returns the end of a link, through all further links, even if it does not exist yet: a write to
/// it creates it. `None` if the links form a loop or cannot be read: nothing can be written to it.
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

/// Whether a path is another thing for each process: `/dev/stdout`, `/proc/self`.
fn is_of_processes(path: &Path) -> bool {
    path.starts_with("/proc") || path.starts_with("/dev") && !path.starts_with("/dev/shm")
}
