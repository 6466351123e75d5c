//! [`Inventory`]: the files that Callosum keeps for one project, in its tree and on this machine, by kind, count and size.
//!
//! Start with [`Inventory::read`]. A file in the tree counts as ours by its place and name; anything else in the same
//! folders is listed as [`Group::foreign`] and never removed. On the machine, each folder below `$CALLOSUM_HOME` names
//! what it keeps for a project by the SHA-256 of the project's root.

use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use callosum_executor::registry::Registry;
use callosum_host::disk::EntryKind;
use callosum_host::{Disk, DiskError};
use callosum_json::Checksum;
use callosum_session::Zones;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::context::Context;
use crate::many;

/// The folders of ledger state in a project's root.
const LEDGER_FOLDERS: [&str; 6] = [
    ".cal_memory_history",
    "cal_audit",
    ".cal_lock",
    ".cal_answers",
    ".cal_quarantine",
    ".cal_backup",
];

/// The registry of executors.
const REGISTRY: &str = "registry.json";

/// Files of one kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Group {
    /// Description of the files.
    pub what: &'static str,
    /// The folder that they are in.
    pub place: PathBuf,
    /// Ours, links not followed.
    pub files: Vec<PathBuf>,
    /// Folders that go if nothing is left in them, the inner ones first.
    pub folders: Vec<PathBuf>,
    /// The sizes of the files, in bytes.
    pub bytes: u64,
    /// Files in these folders that are not ours.
    pub foreign: Vec<PathBuf>,
}

/// A group, as `uninstall --json` prints it.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct GroupOutput {
    /// `ledger`, `session files`, or a folder of the machine's: `snapshots`, `checkpoints`, `search index` and others.
    pub what: String,
    /// The folder that the files are in.
    pub place: String,
    /// Number of files.
    pub files: u64,
    /// Their size.
    pub bytes: u64,
}

/// Everything that is kept for a project.
#[derive(Clone, Debug, Default)]
pub struct Inventory {
    /// The ledger's state and the session files, if they are in the tree.
    pub tree: Vec<Group>,
    /// Files of the project in the machine's folder.
    pub machine: Vec<Group>,
}

impl Inventory {
    /// Lists what is kept for the project of `context`. Changes nothing; costs a listing of each folder.
    pub fn read(context: &Context) -> Result<Self, DiskError> {
        let (disk, project) = (&context.disk, &context.project);
        let mut tree = Vec::new();
        if project.places.state.is_in_tree {
            tree.push(ledger(disk, context.state())?);
        }
        if context.sessions() != project.homes.project(context.state()) {
            tree.push(sessions(disk, context.sessions())?);
        }
        tree.retain(|group| !group.is_empty() || !group.foreign.is_empty());
        let machine = machine(
            disk,
            &project.homes.machine,
            &[context.state(), context.tree()],
        )?;
        Ok(Self { tree, machine })
    }
}

impl GroupOutput {
    /// Returns one line for a person: `  ledger: 9 files, 12 KB in DIR`.
    pub fn line(&self) -> String {
        let (files, size) = (many(self.files, "file"), size(self.bytes));
        format!("  {}: {files}, {size} in {}", self.what, self.place)
    }
}

impl Group {
    fn new(what: &'static str, place: &Path) -> Self {
        Self {
            what,
            place: place.to_owned(),
            ..Self::default()
        }
    }

    /// Whether there is nothing of ours.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty() && self.folders.is_empty()
    }

    /// Its files as the place names them.
    pub fn relative(&self) -> impl Iterator<Item = &Path> {
        let below = |path| Path::strip_prefix(path, &self.place).ok();
        self.files.iter().map(PathBuf::as_path).filter_map(below)
    }

    /// Removes the files, and the folders that are empty then. All of it is on disk when this returns.
    pub fn remove(&self, disk: &Disk) -> Result<(), DiskError> {
        for file in &self.files {
            disk.remove_file(file)?;
        }
        for folder in &self.folders {
            if disk.list_dir(folder)?.is_empty() {
                disk.remove_dir(folder)?;
            }
        }
        let removed = self.files.iter().chain(&self.folders);
        let parents: BTreeSet<&Path> = removed.filter_map(|path| path.parent()).collect();
        for parent in parents {
            if disk.exists(parent)? {
                disk.sync_dir(parent)?;
            }
        }
        Ok(())
    }

    /// Converts the group.
    pub fn output(&self) -> GroupOutput {
        GroupOutput {
            what: self.what.to_owned(),
            place: self.place.display().to_string(),
            files: self.files.len() as u64,
            bytes: self.bytes,
        }
    }

    /// Adds a file or a folder with everything in it that `is_ours`. A folder that has to stay for others is not added.
    fn add(
        &mut self,
        disk: &Disk,
        path: &Path,
        is_ours: &dyn Fn(&Path) -> bool,
    ) -> Result<(), DiskError> {
        let Some(found) = disk.stat(path)? else {
            return Ok(());
        };
        if found.kind == EntryKind::Folder {
            let foreign = self.foreign.len();
            for entry in disk.list_dir(path)? {
                self.add(disk, &path.join(&entry.name), is_ours)?;
            }
            if self.foreign.len() == foreign {
                self.folders.push(path.to_owned());
            }
        } else if is_ours(path) {
            self.bytes += found.len;
            self.files.push(path.to_owned());
        } else {
            self.foreign.push(path.to_owned());
        }
        Ok(())
    }
}

/// The ledger's state below `root`.
pub fn ledger(disk: &Disk, root: &Path) -> Result<Group, DiskError> {
    let mut group = Group::new("ledger", root);
    for folder in LEDGER_FOLDERS {
        group.add(disk, &root.join(folder), &|path| {
            let name = path.file_name().unwrap_or_default();
            is_of_ledger(folder, &name.to_string_lossy())
        })?;
    }
    for name in [".cal_hashlog", ".cal_memory.json", ".calrc"] {
        group.add(disk, &root.join(name), &|_| true)?;
    }
    let registry = root.join(REGISTRY);
    // Other programs have files of this name.
    if matches!(Registry::load(disk, &registry), Ok(Some(_))) {
        group.add(disk, &registry, &|_| true)?;
    }
    Ok(group)
}

/// The session files below `root`.
pub fn sessions(disk: &Disk, root: &Path) -> Result<Group, DiskError> {
    let mut group = Group::new("session files", root);
    let zones = Zones {
        tree: root.to_owned(),
        root: root.to_owned(),
    };
    let (own, notes, trajectories) = (zones.own(), zones.notes(), zones.trajectories());
    let is_ours = |path: &Path| {
        let is_trajectory = path.parent() == Some(&trajectories)
            && path
                .extension()
                .is_some_and(|extension| extension == "jsonl");
        path == notes || path.starts_with(&own) || is_trajectory
    };
    if let Some(state) = notes.parent() {
        group.add(disk, state, &is_ours)?;
    }
    // The program `bd` has files of its own there.
    group.add(disk, &zones.beads(), &|path| {
        let named = zones.named(path);
        Zones::are_named(&named)
    })?;
    group.add(disk, &zones.config(), &|_| true)?;
    Ok(group)
}

/// Lists the files of the projects at `roots` in the machine's folder.
fn machine(disk: &Disk, home: &Path, roots: &[&Path]) -> Result<Vec<Group>, DiskError> {
    let name = |root: &&Path| Checksum::of(root.as_os_str().as_bytes()).to_string();
    let names: Vec<String> = roots.iter().map(name).collect();
    let is_of_project = |entry: &str| {
        names.iter().any(|name| {
            let rest = entry.strip_prefix(name.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        })
    };
    let mut groups: Vec<Group> = Vec::new();
    if !disk.exists(home)? {
        return Ok(groups);
    }
    for folder in disk.list_dir(home)? {
        if folder.kind != EntryKind::Folder {
            continue;
        }
        let place = home.join(&folder.name);
        let (what, is_run) = match folder.name.to_str() {
            Some("projects") => ("state", false),
            Some("ledgers") => ("checkpoints", false),
            Some("snapshots") => ("snapshots", false),
            Some("search") => ("search index", false),
            Some("trust" | "permissions") => ("permissions", false),
            Some("plan-runs") => ("plan runs", true),
            _ => ("caches and locks", false),
        };
        let mut group = Group::new(what, &place);
        for entry in disk.list_dir(&place)? {
            let path = place.join(&entry.name);
            let is_ours = if is_run {
                is_run_of(disk, &path, roots)?
            } else {
                entry.name.to_str().is_some_and(is_of_project)
            };
            if is_ours {
                group.add(disk, &path, &|_| true)?;
            }
        }
        let is_same = |known: &&mut Group| known.what == what;
        match groups.iter_mut().find(is_same) {
            _ if group.is_empty() => {}
            Some(known) => {
                home.clone_into(&mut known.place);
                known.files.append(&mut group.files);
                known.folders.append(&mut group.folders);
                known.bytes += group.bytes;
            }
            None => groups.push(group),
        }
    }
    groups.sort_by_key(|group| group.what);
    Ok(groups)
}

/// As much of a plan's run as says whose it is (`docs/formats/plan-run.md`).
#[derive(Deserialize)]
struct RunNote {
    folder: Option<String>,
}

fn is_run_of(disk: &Disk, path: &Path, roots: &[&Path]) -> Result<bool, DiskError> {
    let bytes = disk.read_if_there(path)?.unwrap_or_default();
    let note: Option<RunNote> = serde_json::from_slice(&bytes).ok();
    let folder = note.and_then(|note| note.folder);
    Ok(folder.is_some_and(|folder| roots.iter().any(|root| *root == Path::new(&folder))))
}

/// Returns whether a file below one of the ledger's folders has a name that Callosum gives there.
fn is_of_ledger(folder: &str, name: &str) -> bool {
    let unfinished = name
        .strip_prefix('.')
        .and_then(|name| name.strip_suffix(".tmp"))
        .and_then(|name| Some(name.rsplit_once('.')?.0));
    let name = unfinished.unwrap_or(name);
    let is_hex = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
    match folder {
        "cal_audit" => name.strip_suffix(".jsonl").is_some_and(|day| {
            let digits = day.bytes().filter(u8::is_ascii_digit).count();
            day.len() == "2026-01-02".len() && digits == 8
        }),
        ".cal_memory_history" | ".cal_backup" => name.starts_with("cal_memory_"),
        ".cal_lock" => true,
        ".cal_answers" => name.len() == 62 && is_hex(name),
        // The name of the file that the bytes were in, and a part of their checksum or a number.
        _ => {
            let ending = name.rsplit_once('.').map(|(_, ending)| ending);
            ending.is_some_and(|ending| !ending.is_empty() && is_hex(ending))
        }
    }
}

/// A size in the largest fitting unit, without a fraction below 1 MB.
fn size(bytes: u64) -> String {
    const KB: u64 = 1024;
    const MB: u64 = 1024 * KB;
    match bytes {
        0..KB => format!("{bytes} B"),
        KB..MB => format!("{} KB", bytes.div_ceil(KB)),
        _ => {
            let tenths = bytes * 10 / MB;
            format!("{}.{} MB", tenths / 10, tenths % 10)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A temporary folder with these files below `root`.
    fn ground(files: &[(&str, &[u8])]) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("root");
        for (name, bytes) in files {
            let path = root.join(name);
            let disk = Disk::real();
            disk.create_dir_all(path.parent().unwrap()).unwrap();
            disk.replace(&path, bytes, 0o644).unwrap();
        }
        (folder, root)
    }

    fn names(group: &Group) -> Vec<String> {
        let relative = group.relative();
        let mut names: Vec<String> = relative.map(|path| path.display().to_string()).collect();
        names.sort();
        names
    }

    /// A file of the user's in a folder of ours is listed as foreign, whichever folder it is in.
    #[test]
    fn a_file_that_is_not_named_as_ours_is_foreign() {
        let registry = Registry::initial().to_bytes();
        let ours = [
            ".cal_answers/ba/7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
            ".cal_backup/cal_memory_20260102_030405.note.json",
            ".cal_lock/cal_mutex",
            ".cal_memory.json",
            ".cal_memory_history/cal_memory_20260102_030405.json.gz",
            ".cal_quarantine/cal_hashlog.0123456789abcdef",
            "cal_audit/2026-01-02.jsonl",
            "registry.json",
        ];
        let theirs = [
            ".cal_answers/notes.txt",
            ".cal_backup/mine.json",
            ".cal_memory_history/README.md",
            "cal_audit/report.md",
            "cal_audit/2026-01-02.jsonl.bak",
        ];
        let all = [&ours[..], &theirs].concat();
        let files: Vec<_> = all
            .iter()
            .map(|name| (*name, registry.as_slice()))
            .collect();
        let (_folder, root) = ground(&files);
        let disk = Disk::real();
        let group = ledger(&disk, &root).unwrap();
        assert_eq!(names(&group), ours);
        assert_eq!(group.foreign.len(), theirs.len());
        group.remove(&disk).unwrap();
        for name in theirs {
            assert!(disk.exists(&root.join(name)).unwrap(), "{name}");
        }
        assert!(!disk.exists(&root.join(".cal_lock")).unwrap());
    }

    /// A `registry.json` of another program, beads of `bd` and documents next to the notes are
    /// foreign.
    #[test]
    fn files_of_other_programs_are_not_listed() {
        let (_folder, root) = ground(&[
            ("registry.json", br#"{"packages": []}"#),
            (".beads/bd-1.yaml", b"id: bd-1\n"),
            (".beads/config.yaml", b"theirs"),
            ("loa-grimoire/NOTES.md", b"# Notes\n"),
            ("loa-grimoire/prd.md", b"theirs"),
        ]);
        let disk = Disk::real();
        assert!(ledger(&disk, &root).unwrap().is_empty());
        let group = sessions(&disk, &root).unwrap();
        assert_eq!(names(&group), [".beads/bd-1.yaml", "loa-grimoire/NOTES.md"]);
        assert_eq!(group.foreign.len(), 2);
    }

    #[test]
    fn sizes_are_short() {
        let shown = [0, 1023, 1025, 1_300_000].map(size);
        assert_eq!(shown, ["0 B", "1023 B", "2 KB", "1.2 MB"]);
    }
}
