//! [`places`]: paths of the file system that an executor sees, and those that it may write.

use std::path::{Path, PathBuf};

use crate::{Access, MountPoint};
use callosum_host::{Disk, disk::EntryKind};

use super::{
    grants::resolve,
    nested_repositories::{nested, obeyed_by_link},
    protected_paths::Protected,
};

/// Folders of a system; nothing in them belongs to a person.
const SYSTEM: [&str; 14] = [
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/etc",
    "/opt",
    "/nix",
    "/gnu",
    "/run/current-system",
    "/sys/devices/system/cpu",
    "/sys/fs/cgroup",
];

/// Paths that an entry names in addition to the project, the system and an empty home folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestedPaths {
    /// May be read; from the home folder if it begins with `~/`, else seen from the project.
    pub readable: Vec<String>,
    /// May be written, likewise; a folder whose name ends with `/` is created if it is missing.
    pub writable: Vec<String>,
}

/// Environment of an executor that is about to start.
#[derive(Clone, Copy, Debug)]
pub struct Surface<'a> {
    /// The tree that it is asked about.
    pub root: &'a Path,
    /// Its program's file, and those of the programs that this starts.
    pub programs: &'a [PathBuf],
    /// The home folder, if there is one.
    pub home: Option<&'a Path>,
    /// Its own temporary folder.
    pub temporary: &'a Path,
    /// More lock folders in what it sees, of other checkouts, in addition to those that are known.
    pub locks: &'a [PathBuf],
}

/// Paths that all executors with the same `PATH` and home folder see: the system.
#[derive(Clone, Debug)]
pub struct SystemFolders {
    places: Vec<MountPoint>,
    links: Vec<(PathBuf, PathBuf)>,
}

impl SystemFolders {
    /// Resolves links on the disk; missing paths are left out.
    pub fn shown(path: &[PathBuf], home: Option<&Path>, disk: &Disk) -> Self {
        let none = Protected::default();
        let mut shown = Shown {
            disk,
            protected: &none,
            nested: Vec::new(),
            places: Vec::new(),
            links: Vec::new(),
        };
        for path in SYSTEM {
            shown.read(Path::new(path));
        }
        for folder in path {
            if folder.is_absolute() && !is_personal(folder, home) && folder != Path::new("/") {
                shown.read(folder);
            }
        }
        // Names are looked up as that file says, which may be a link to where nothing else is shown.
        shown.read(Path::new("/etc/resolv.conf"));
        Self {
            places: shown.places,
            links: shown.links,
        }
    }
}

/// Whether a home folder is in this one, or is it.
fn is_personal(path: &Path, home: Option<&Path>) -> bool {
    home.is_some_and(|home| home.starts_with(path))
}

/// Returns all paths that an executor sees, and links that make other names lead there.
///
/// Reads the disk to follow links and to list folders that are writable except for some of their
/// entries. Missing paths are left out.
pub fn places(
    wishes: &RequestedPaths,
    surface: Surface<'_>,
    system: SystemFolders,
    protected: &Protected,
    disk: &Disk,
) -> (Vec<MountPoint>, Vec<(PathBuf, PathBuf)>) {
    let mut shown = Shown {
        disk,
        protected,
        nested: Vec::new(),
        places: system.places,
        links: system.links,
    };
    for program in surface.programs {
        let real = disk.canonicalize(program).ok();
        for file in [Some(program.clone()), real].into_iter().flatten() {
            let folder = installation(&file);
            if is_personal(folder, surface.home) {
                shown.read(&file);
            } else {
                shown.read(folder);
            }
        }
    }
    if let Some(home) = surface.home.and_then(|home| shown.follow(home))
        && home != Path::new("/")
    {
        // Programs expect to find and to write it; it holds no one's files.
        shown.put(home, Access::Fresh);
    }
    shown.read(surface.root);
    for wish in &wishes.readable {
        if let Some(path) = shown.granted(wish, surface) {
            shown.put(path, Access::Read);
        }
    }
    for wish in &wishes.writable {
        if let Some(path) = shown.granted(wish, surface) {
            shown.write(path);
        }
    }
    shown.hide(surface);
    // It is among the protected paths, and is its own all the same.
    let own = shown.follow(surface.temporary);
    if let Some(path) = &own {
        shown.put(path.clone(), Access::Bounded);
    }
    // Programs that know no TMPDIR get the same folder by its usual name, unless that would make
    // something that is only to be read seem to be in it.
    let temporary = Path::new("/tmp");
    let is_used = |place: &MountPoint| place.path.starts_with(temporary);
    if !shown.places.iter().any(is_used) {
        shown.places.push(MountPoint {
            source: own.unwrap_or_else(|| surface.temporary.to_owned()),
            path: temporary.to_owned(),
            access: Access::Bounded,
        });
    }
    (without_repeated(shown.places), shown.links)
}

/// Drops paths that their folder shows already, with the same access.
fn without_repeated(places: Vec<MountPoint>) -> Vec<MountPoint> {
    let nearest = |place: &MountPoint| {
        let above = places
            .iter()
            .filter(|other| other.path != place.path && place.path.starts_with(&other.path));
        above.max_by_key(|other| other.path.as_os_str().len())
    };
    let is_repeated = |place: &&MountPoint| {
        place.access == Access::Read
            && place.path == place.source
            && nearest(place)
                .is_some_and(|above| above.access == Access::Read && above.path == above.source)
    };
    let kept = places.iter().filter(|place| !is_repeated(place));
    kept.cloned().collect()
}

/// The folder that a program was installed in: its own, or the packages' that it is one of.
fn installation(program: &Path) -> &Path {
    let packages = program
        .ancestors()
        .filter(|folder| folder.ends_with("node_modules"))
        .last();
    packages
        .or_else(|| program.parent())
        .unwrap_or(Path::new("/"))
}

/// Expands the path of an entry; `None` if it begins in a home folder and there is none.
pub fn wished(wish: &str, root: &Path, home: Option<&Path>) -> Option<PathBuf> {
    match wish.strip_prefix("~/") {
        Some(rest) => Some(home?.join(rest)),
        None => Some(root.join(wish)),
    }
}

struct Shown<'a> {
    disk: &'a Disk,
    protected: &'a Protected,
    /// Files below the writable folders that programs obey.
    nested: Vec<PathBuf>,
    places: Vec<MountPoint>,
    links: Vec<(PathBuf, PathBuf)>,
}

impl Shown<'_> {
    fn read(&mut self, path: &Path) {
        if let Some(path) = self.follow(path) {
            self.put(path, Access::Read);
        }
    }

    /// Resolves the place that an entry names; `None` if it does not exist or the project redirects it.
    fn granted(&mut self, wish: &str, surface: Surface<'_>) -> Option<PathBuf> {
        let real = resolve(wish, surface.root, surface.home, self.disk).ok()??;
        let stat = self.disk.stat(&real).ok()??;
        // It became a link just now.
        if stat.kind == EntryKind::Link {
            return None;
        }
        let named = wished(wish, surface.root, surface.home)?;
        self.call(&named, &real);
        Some(real)
    }

    fn write(&mut self, path: PathBuf) {
        for folder in self.protected.parts_of_trees(&path) {
            self.nested.extend(nested(folder, self.disk).obeyed);
        }
        if self.protected.is_in_a_tree(&path) {
            for root in &self.protected.roots {
                self.nested.extend(obeyed_by_link(root, self.disk));
            }
            self.write_but_protected(path);
        } else {
            self.write_but_protected(path.clone());
            self.cover_obeyed(&path);
        }
    }

    /// Makes files that programs obey in other projects below a grant read-only. The folders on the
    /// way become mounts of their own, which cannot be renamed to make room for others of their
    /// name.
    fn cover_obeyed(&mut self, grant: &Path) {
        for path in nested(grant, self.disk).obeyed {
            let stat = self.disk.stat(&path).ok().flatten();
            let is_link = stat.is_none_or(|stat| stat.kind == EntryKind::Link);
            if is_link || !path.starts_with(grant) || self.protected.is_in_a_tree(&path) {
                continue;
            }
            let above = self.places.iter();
            let above = above.filter(|place| path.starts_with(&place.path));
            let Some(nearest) = above.max_by_key(|place| place.path.as_os_str().len()) else {
                continue;
            };
            if nearest.access != Access::Write {
                continue;
            }
            let (nearest, folder) = (nearest.path.clone(), path.parent());
            let between = folder.into_iter().flat_map(Path::ancestors);
            let between: Vec<PathBuf> = between
                .take_while(|folder| **folder != nearest && folder.starts_with(&nearest))
                .map(Path::to_owned)
                .collect();
            for folder in between {
                self.put(folder, Access::Write);
            }
            match self.places.iter_mut().find(|place| place.path == path) {
                Some(place) => place.access = Access::Read,
                None => self.places.push(MountPoint::here(path, Access::Read)),
            }
        }
    }

    /// Resolves a path; the name by which it was called becomes a link to the result.
    fn follow(&mut self, path: &Path) -> Option<PathBuf> {
        let real = self.disk.canonicalize(path).ok()?;
        self.call(path, &real);
        Some(real)
    }

    /// Makes the name by which a path was called a link to the real path.
    fn call(&mut self, name: &Path, real: &Path) {
        if real != name && !self.links.iter().any(|(known, _)| known == name) {
            self.links.push((name.to_owned(), real.to_owned()));
        }
    }

    /// Covers the hidden folders, except one that contains the tree itself.
    fn hide(&mut self, surface: Surface<'_>) {
        let root = self.disk.canonicalize(surface.root).ok();
        for folder in self.protected.hidden.iter().chain(surface.locks) {
            let Ok(folder) = self.disk.canonicalize(folder) else {
                continue;
            };
            if root.as_ref().is_some_and(|root| root.starts_with(&folder)) {
                continue;
            }
            self.places.retain(|place| !place.path.starts_with(&folder));
            if self
                .places
                .iter()
                .any(|place| folder.starts_with(&place.path))
            {
                self.places.push(MountPoint::here(folder, Access::Hidden));
            }
        }
    }

    fn put(&mut self, path: PathBuf, access: Access) {
        let known = self.places.iter_mut().find(|place| place.path == path);
        match known {
            Some(place)
                if matches!(access, Access::Write | Access::Bounded)
                    || place.access == Access::Fresh =>
            {
                place.access = access;
            }
            Some(_) => {}
            None => self.places.push(MountPoint::here(path, access)),
        }
    }

    /// Makes a folder with protected content readable, and its other entries writable: a right once
    /// given for a folder cannot be revoked for its content.
    fn write_but_protected(&mut self, path: PathBuf) {
        if self.protected.covers(&path) || self.nested.contains(&path) {
            self.put(path, Access::Read);
            return;
        }
        let has_nested = self.nested.iter().any(|known| known.starts_with(&path));
        if !has_nested && !self.protected.is_within(&path) {
            self.put(path, Access::Write);
            return;
        }
        let entries = self.disk.list_dir(&path).unwrap_or_default();
        for entry in entries {
            if matches!(entry.kind, EntryKind::Folder | EntryKind::File) {
                self.write_but_protected(path.join(&entry.name));
            }
        }
        self.put(path, Access::Read);
    }
}

#[cfg(test)]
mod tests {
    use super::{super::personal::personal, *};

    struct Scene {
        _folder: tempfile::TempDir,
        home: PathBuf,
    }

    fn scene() -> Scene {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk::real();
        let home = disk.canonicalize(folder.path()).unwrap().join("home");
        for path in [
            "p/src",
            "p/.cal_audit",
            "p/.git",
            "p/sub/.calx",
            ".ssh",
            "bin",
            "tmp",
            ".agent",
        ] {
            disk.create_dir_all(&home.join(path)).unwrap();
        }
        for path in [
            "p/a.txt",
            "p/registry.json",
            "p/.cal_memory.json",
            "bin/agent",
            "agent",
        ] {
            disk.replace(&home.join(path), b"x", 0o755).unwrap();
        }
        Scene {
            _folder: folder,
            home,
        }
    }

    impl Scene {
        fn places(&self, program: &str, wishes: &RequestedPaths) -> Vec<(String, Access)> {
            let root = self.home.join("p");
            let surface = Surface {
                root: &root,
                programs: &[self.home.join(program)],
                home: Some(&self.home),
                temporary: &self.home.join("tmp"),
                locks: &[root.join("sub/.cal_lock")],
            };
            let path = [self.home.clone(), PathBuf::from("/usr/bin"), "bin".into()];
            let system = SystemFolders::shown(&path, Some(&self.home), &Disk::real());
            let protected = Protected {
                roots: vec![root.clone()],
                paths: [
                    vec![self.home.join("ledger")],
                    personal(&self.home, &Disk::real()),
                ]
                .concat(),
                hidden: vec![root.join(".cal_lock"), self.home.join("state")],
            };
            let (places, _) = places(wishes, surface, system, &protected, &Disk::real());
            let mut own: Vec<_> = places
                .into_iter()
                .filter_map(|place| {
                    let path = place.path.strip_prefix(&self.home).ok()?;
                    Some((path.display().to_string(), place.access))
                })
                .collect();
            own.sort_by(|a, b| a.0.cmp(&b.0));
            own
        }
    }

    const R: Access = Access::Read;
    const W: Access = Access::Write;
    const F: Access = Access::Fresh;
    const H: Access = Access::Hidden;
    const B: Access = Access::Bounded;

    fn named(places: &[(&str, Access)]) -> Vec<(String, Access)> {
        let own = places
            .iter()
            .map(|(path, access)| ((*path).to_owned(), *access));
        own.collect()
    }

    /// LOA-SEC-1: the home folder is not there, but for the program, the project and the wishes.
    #[test]
    fn only_named_paths_of_a_home_are_shown() {
        let scene = scene();
        let none = RequestedPaths::default();
        assert_eq!(
            scene.places("bin/agent", &none),
            named(&[("", F), ("bin", R), ("p", R), ("tmp", B)])
        );
        // A program that lies in the home folder itself does not open all of it.
        assert_eq!(
            scene.places("agent", &none),
            named(&[("", F), ("agent", R), ("p", R), ("tmp", B)])
        );
        let wishes = RequestedPaths {
            readable: vec!["~/bin".into(), "~/nowhere".into()],
            writable: vec!["~/.agent".into(), "src".into()],
        };
        assert_eq!(
            scene.places("agent", &wishes),
            named(&[
                ("", F),
                (".agent", W),
                ("agent", R),
                ("bin", R),
                ("p", R),
                ("p/src", W),
                ("tmp", B)
            ])
        );
    }

    /// REQ-GOV-005: who may write the project may not write what the ledger consists of.
    #[test]
    fn a_writable_project_is_writable_but_for_the_ledger() {
        let scene = scene();
        let wishes = RequestedPaths {
            readable: Vec::new(),
            writable: vec![".".into(), ".git".into(), ".cal_audit".into()],
        };
        assert_eq!(
            scene.places("agent", &wishes),
            named(&[
                ("", F),
                ("agent", R),
                ("p", R),
                ("p/a.txt", W),
                ("p/src", W),
                ("p/sub", W),
                ("tmp", B),
            ])
        );
        let above = RequestedPaths {
            readable: Vec::new(),
            writable: vec!["~/".into()],
        };
        let places = scene.places("agent", &above);
        assert!(!places.iter().any(|(path, _)| path == "p/.git"));
        assert!(places.contains(&("p/src".to_owned(), W)));
        assert!(places.contains(&(String::new(), R)));
    }

    /// LOA-SEC-1: what git and agents obey in a repository within the project is read-only as the project's own.
    #[test]
    fn a_repository_below_a_writable_folder_is_writable_but_for_what_is_obeyed() {
        let scene = scene();
        let disk = Disk::real();
        for path in ["p/sub/.git/hooks", "p/sub/src", "p/sub/deep/x/.claude"] {
            disk.create_dir_all(&scene.home.join(path)).unwrap();
        }
        for path in ["p/sub/a.txt", "p/sub/.mcp.json"] {
            disk.replace(&scene.home.join(path), b"x", 0o644).unwrap();
        }
        let writable = |wish: &str| {
            let wishes = RequestedPaths {
                readable: Vec::new(),
                writable: vec![wish.into()],
            };
            let mut places = scene.places("agent", &wishes);
            places.retain(|(path, access)| path.starts_with("p/") && *access == W);
            places
        };
        let expected = named(&[("p/sub/.calx", W), ("p/sub/a.txt", W), ("p/sub/src", W)]);
        assert_eq!(writable("sub/"), expected);
        assert_eq!(writable("sub/.git/hooks"), []);
        assert!(writable("~/").contains(&("p/sub/src".to_owned(), W)));
        assert!(!writable("~/").contains(&("p/sub".to_owned(), W)));
        assert_eq!(writable("sub/src"), named(&[("p/sub/src", W)]));
    }

    /// CAL-SEC-1: under the widest grants what agents, shells and git obey stays read-only: in the project, in the home
    /// folder and in other projects, also behind a link.
    #[test]
    fn what_is_obeyed_stays_read_only_under_the_widest_grants() {
        let scene = scene();
        let disk = Disk::real();
        for path in [
            "p/docs",
            "p/conf/claude",
            "p/loa-grimoire",
            "work/q/.git",
            "work/q/src",
            ".claude",
            ".config/x",
        ] {
            disk.create_dir_all(&scene.home.join(path)).unwrap();
        }
        for path in [
            "p/docs/agents.md",
            "p/docs/a.md",
            "p/AGENTS.md",
            "p/src/CLAUDE.md",
            "p/src/a.rs",
            "work/CLAUDE.md",
            ".gitconfig",
            ".bashrc",
        ] {
            disk.replace(&scene.home.join(path), b"x", 0o644).unwrap();
        }
        for (path, target) in [
            ("p/CLAUDE.md", "docs/agents.md"),
            ("p/.claude", "conf/claude"),
        ] {
            std::os::unix::fs::symlink(target, scene.home.join(path)).unwrap();
        }
        let places = |wish: &str| {
            let wishes = RequestedPaths {
                readable: Vec::new(),
                writable: vec![wish.into()],
            };
            scene.places("agent", &wishes)
        };
        let access = |places: &[(String, Access)], path: &str| {
            let above = places
                .iter()
                .filter(|(place, _)| Path::new(path).starts_with(place));
            above
                .max_by_key(|(place, _)| place.len())
                .map(|(_, access)| *access)
        };
        let of_project = [
            ("p/docs/a.md", W),
            ("p/docs/agents.md", R),
            ("p/conf/claude/settings.json", R),
            ("p/loa-grimoire/NOTES.md", R),
            ("p/AGENTS.md", R),
            ("p/CLAUDE.md", R),
            ("p/src/CLAUDE.md", R),
            ("p/src/a.rs", W),
        ];
        let of_home = [
            (".gitconfig", R),
            (".bashrc", R),
            (".zshrc", R),
            (".claude/settings.json", R),
            (".config/x/y", W),
            (".config/git/config", R),
            ("work/q/src/new", W),
            ("work/q/.git/hooks/new", R),
            ("work/CLAUDE.md", R),
            ("work/new", W),
        ];
        let narrow = places("./");
        for (path, expected) in of_project {
            assert_eq!(access(&narrow, path), Some(expected), "{path}");
        }
        let wide = places("~/");
        for (path, expected) in of_project.iter().chain(&of_home) {
            assert_eq!(access(&wide, path), Some(*expected), "{path}");
        }
        // Neither folder can be renamed, being a mount of its own.
        for path in ["work", "work/q"] {
            assert!(wide.contains(&(path.to_owned(), W)), "{path}");
        }
        assert_eq!(access(&places("docs/"), "p/docs/agents.md"), Some(R));
    }

    /// CAL-SEC-1: a program that may read a lock's file may hold the lock, so no such file is
    /// visible, even if an entry names it or it is in a writable folder.
    #[test]
    fn locks_of_ours_are_never_shown() {
        let scene = scene();
        for path in ["p/.cal_lock", "p/sub/.cal_lock", "state/deep"] {
            Disk::real().create_dir_all(&scene.home.join(path)).unwrap();
        }
        let named_ones = RequestedPaths {
            readable: vec!["~/state/deep".into(), ".cal_lock".into()],
            writable: vec!["sub/".into(), ".cal_lock/".into()],
        };
        assert_eq!(
            scene.places("agent", &named_ones),
            named(&[
                ("", F),
                ("agent", R),
                ("p", R),
                ("p/.cal_lock", H),
                ("p/sub", W),
                ("p/sub/.cal_lock", H),
                ("state", H),
                ("tmp", B),
            ])
        );
    }

    /// A mount and a rule each are saved, and nothing is shown otherwise than before.
    #[test]
    fn what_is_shown_with_its_folder_is_not_shown_again() {
        let place = |path: &str, access| MountPoint::here(path, access);
        let elsewhere = MountPoint {
            source: "/a/c".into(),
            path: "/b/c".into(),
            access: R,
        };
        let places = vec![
            place("/a/b", R),
            place("/a", R),
            place("/a/b/c", W),
            place("/a/b/c/d", R),
            place("/b", R),
            elsewhere.clone(),
            place("/h", F),
            place("/h/x", R),
        ];
        assert_eq!(
            without_repeated(places),
            [
                place("/a", R),
                place("/a/b/c", W),
                place("/a/b/c/d", R),
                place("/b", R),
                elsewhere,
                place("/h", F),
                place("/h/x", R),
            ]
        );
    }

    #[test]
    fn a_package_is_shown_with_what_it_needs() {
        let packages = Path::new("/h/lib/node_modules");
        assert_eq!(
            installation(&packages.join("a/node_modules/b/cli.js")),
            packages
        );
        assert_eq!(installation(Path::new("/h/bin/a")), Path::new("/h/bin"));
    }
}
