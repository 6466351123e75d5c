//! [`resolve`]: resolves a path that an entry names, and checks that the project does not redirect it.
//!
//! A registered entry names its paths for good, while any pull may make the repository replace a
//! folder by a link. So a path of the project is resolved beneath its root. Only an entry that
//! begins a path with `~/` or `/` names something outside, and no link of the project extends that
//! either.

use std::{
    collections::{BTreeMap, VecDeque},
    ffi::OsString,
    path::{Component, Path, PathBuf},
};

use callosum_host::Disk;

use super::mounts::{RequestedPaths, wished};

/// Most links that one path may follow, as the kernel has it.
const MOST_LINKS: usize = 40;

/// A place of an entry that leads outside the project without naming a place there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{wish}` leads outside the project, to {}",
    target.display()
)]
pub struct LeadsOutside {
    /// The place, as the entry names it.
    pub wish: String,
    /// The path that it resolves to.
    pub target: PathBuf,
}

/// The path that another one resolves to, and the links on the way.
struct Walked {
    path: PathBuf,
    /// Whether a link was followed that is in the project.
    by_the_project: bool,
}

/// Returns the target of a path, with links followed; a missing end of the path stays as it is.
///
/// `None` if it begins in the home folder and there is none, or if its links lead in a circle.
pub fn resolve(
    wish: &str,
    root: &Path,
    home: Option<&Path>,
    disk: &Disk,
) -> Result<Option<PathBuf>, LeadsOutside> {
    let root = disk.canonicalize(root).unwrap_or_else(|_| root.to_owned());
    let walked = wished(wish, &root, home).and_then(|path| walk(&path, &root, disk));
    let Some(Walked {
        path,
        by_the_project,
    }) = walked
    else {
        return Ok(None);
    };
    let may_be_outside = names_a_place(wish) && !by_the_project;
    if path.starts_with(&root) || may_be_outside {
        return Ok(Some(path));
    }
    Err(LeadsOutside {
        wish: wish.to_owned(),
        target: path,
    })
}

/// Returns the first place that leads outside the project though its entry names none there.
pub fn leads_outside(
    wishes: &RequestedPaths,
    root: &Path,
    home: Option<&Path>,
    disk: &Disk,
) -> Option<LeadsOutside> {
    let all = wishes.readable.iter().chain(&wishes.writable);
    all.map(|wish| resolve(wish, root, home, disk))
        .find_map(Result::err)
}

/// Returns the target of each path that links of the project redirect, relative to the root if it
/// is there.
///
/// A path that does not exist yet, or is not redirected, is not in the list.
pub fn led_elsewhere(
    wishes: &RequestedPaths,
    root: &Path,
    home: Option<&Path>,
    disk: &Disk,
) -> BTreeMap<String, String> {
    let root = disk.canonicalize(root).unwrap_or_else(|_| root.to_owned());
    let all = wishes.readable.iter().chain(&wishes.writable);
    let led = all.filter_map(|wish| {
        let walked = walk(&wished(wish, &root, home)?, &root, disk)?;
        let seen = walked.path.strip_prefix(&root).unwrap_or(&walked.path);
        let seen = seen.to_string_lossy().into_owned();
        walked.by_the_project.then(|| (wish.clone(), seen))
    });
    led.collect()
}

/// Returns whether an entry names a place without regard to the project.
fn names_a_place(wish: &str) -> bool {
    wish.starts_with("~/") || wish.starts_with('/')
}

/// Follows every link of an absolute path; `None` if there are too many.
fn walk(path: &Path, root: &Path, disk: &Disk) -> Option<Walked> {
    let parts = |path: &Path| -> Vec<Part> { path.components().map(Part::from).collect() };
    let mut waiting: VecDeque<Part> = parts(path).into();
    let mut at = PathBuf::from("/");
    let mut links = 0;
    let mut by_the_project = false;
    while let Some(part) = waiting.pop_front() {
        match part {
            Part::Root => at = PathBuf::from("/"),
            Part::Here => {}
            Part::Up => {
                at.pop();
            }
            Part::Name(name) => {
                let next = at.join(name);
                // What is no link, or is not there, is the next step as it is.
                let Ok(target) = disk.read_link(&next) else {
                    at = next;
                    continue;
                };
                links += 1;
                if links > MOST_LINKS {
                    return None;
                }
                by_the_project |= next != *root && next.starts_with(root);
                for part in parts(&target).into_iter().rev() {
                    waiting.push_front(part);
                }
            }
        }
    }
    Some(Walked {
        path: at,
        by_the_project,
    })
}

/// A part of a path that is still to be followed.
enum Part {
    Root,
    Here,
    Up,
    Name(OsString),
}

impl From<Component<'_>> for Part {
    fn from(part: Component<'_>) -> Self {
        match part {
            Component::RootDir | Component::Prefix(_) => Self::Root,
            Component::CurDir => Self::Here,
            Component::ParentDir => Self::Up,
            Component::Normal(name) => Self::Name(name.to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    struct Scene {
        _folder: tempfile::TempDir,
        home: PathBuf,
        root: PathBuf,
    }

    /// A home folder with `.ssh`, and a project in it with links that lead in and out.
    fn scene() -> Scene {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk::real();
        let home = disk.canonicalize(folder.path()).unwrap().join("home");
        let root = home.join("p");
        for path in ["p/src", "p/sub", ".ssh", "data"] {
            disk.create_dir_all(&home.join(path)).unwrap();
        }
        for (path, target) in [
            ("p/out", "../.ssh"),
            ("p/whole", home.join(".ssh").to_str().unwrap()),
            ("p/sub/deep", "../../data"),
            ("p/inner", "src"),
            ("p/chain", "inner/../out"),
            ("p/circle", "circle"),
            ("p/later", "../not-there/yet"),
            ("mine", "data"),
            ("into", "p/out"),
        ] {
            symlink(target, home.join(path)).unwrap();
        }
        Scene {
            _folder: folder,
            home,
            root,
        }
    }

    impl Scene {
        fn resolved(&self, wish: &str) -> Result<Option<PathBuf>, PathBuf> {
            resolve(wish, &self.root, Some(&self.home), &Disk::real())
                .map_err(|outside| outside.target)
        }
    }

    /// CAL-SEC-1: no link that a repository brings extends what an entry was granted.
    #[test]
    fn a_link_of_the_project_leads_no_grant_outside() {
        let scene = scene();
        let ssh = scene.home.join(".ssh");
        for (wish, target) in [
            ("out", ssh.clone()),
            ("out/", ssh.clone()),
            ("./out/keys/", ssh.join("keys")),
            ("whole/", ssh.clone()),
            ("chain/", ssh.clone()),
            ("sub/deep/", scene.home.join("data")),
            ("later/", scene.home.join("not-there/yet")),
            // An absolute path into the project still belongs to the project, and so does a link into it.
            ("~/p/out/", ssh.clone()),
            ("~/into/", ssh.clone()),
            (scene.root.join("out").to_str().unwrap(), ssh.clone()),
            ("..", scene.home.clone()),
            ("src/../../.ssh/", ssh),
        ] {
            assert_eq!(scene.resolved(wish), Err(target), "{wish}");
        }
    }

    #[test]
    fn a_place_is_where_its_links_lead() {
        let scene = scene();
        for (wish, place) in [
            ("src/", scene.root.join("src")),
            ("inner/", scene.root.join("src")),
            ("new/folder/", scene.root.join("new/folder")),
            ("./", scene.root.clone()),
            ("~/.ssh/", scene.home.join(".ssh")),
            ("~/mine/", scene.home.join("data")),
            ("~/p/inner", scene.root.join("src")),
            ("/", PathBuf::from("/")),
        ] {
            assert_eq!(scene.resolved(wish), Ok(Some(place)), "{wish}");
        }
        assert_eq!(scene.resolved("circle/"), Ok(None));
        let homeless = resolve("~/x", &scene.root, None, &Disk::real());
        assert_eq!(homeless, Ok(None));
    }

    /// CAL-SEC-1: a link that is turned within the project is another grant.
    #[test]
    fn where_links_of_the_project_lead_is_named() {
        let scene = scene();
        let all = ["src/", "inner/", "out/", "new/", "~/mine/", "~/p/inner"];
        let wishes = RequestedPaths {
            readable: vec!["~/p/inner".to_owned()],
            writable: all.map(str::to_owned).to_vec(),
        };
        let led = led_elsewhere(&wishes, &scene.root, Some(&scene.home), &Disk::real());
        let ssh = scene.home.join(".ssh").display().to_string();
        let expected = [
            ("inner/", "src"),
            ("out/", ssh.as_str()),
            ("~/p/inner", "src"),
        ];
        let expected = expected.map(|(wish, at)| (wish.to_owned(), at.to_owned()));
        assert_eq!(led, BTreeMap::from(expected));
    }
}
