//! [`Places`]: the files of a project's state, none of them outside of the folder that [`StatePlace`] names unawares.
//!
//! A cloned repository may hold a `.calrc` with a path of its own, or a link under a name
//! that we write to. The first waits for trust, the second is refused (`docs/design/trust.md`).

use std::path::{Component, Path, PathBuf};

use callosum_host::{Disk, DiskError};
use callosum_ledger::LedgerPaths;

use super::{
    key::Key,
    setting::{Origin, Setting},
    settings::Settings,
    state_place::{CALRC, StatePlace},
    value::Value,
};

/// The registry of executors, in the folder of the state (Seed CAL §14.3).
const REGISTRY: &str = "registry.json";

/// Paths of a project's state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    /// The ledger and what belongs to it.
    pub ledger: LedgerPaths,
    /// The registry of executors.
    pub registry: PathBuf,
    /// The project's settings.
    pub calrc: PathBuf,
    /// The folder that all of them are in, unless a setting names another.
    pub state: StatePlace,
}

/// A value of an untrusted `.calrc` that is not in force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UntrustedValue {
    /// Its key.
    pub key: Key,
    /// Value that would be in force.
    pub setting: Setting<Value>,
}

impl Places {
    /// The project's settings, in the folder of its state.
    pub fn calrc_in(folder: &Path) -> PathBuf {
        folder.join(CALRC)
    }

    /// Finds the places of the project at `root`, which must have no links in it. Nothing is
    /// created.
    ///
    /// Fails where a link leads one of them out of the root, unless the user's own word does: a
    /// path from a flag, the environment or a trusted `.calrc` may lead anywhere.
    pub fn find(
        disk: &Disk,
        root: &Path,
        state: StatePlace,
        settings: &Settings,
    ) -> Result<Self, PlacesError> {
        let folder = state.folder.as_path();
        let mut ledger = LedgerPaths::in_root(folder);
        // A path that a user chose is seen from the project's root, wherever the rest of the state
        // is. Without the `/` at an end, at which the system would follow a link of that name.
        let plain = |key| {
            let from = if is_default(root, settings, key) {
                folder
            } else {
                root
            };
            from.join(settings.path(key)).components().collect()
        };
        ledger.ledger = plain(Key::LedgerPath);
        ledger.audit = plain(Key::AuditPath);
        let places = Self {
            ledger,
            registry: folder.join(REGISTRY),
            calrc: Self::calrc_in(folder),
            state: state.clone(),
        };
        let is_own_word = |key| {
            let is_from_here = matches!(
                settings.get(key).origin,
                Origin::Environment(_) | Origin::Flag
            );
            is_from_here || !is_default(root, settings, key)
        };
        let LedgerPaths {
            ledger,
            audit,
            hashlog,
            history,
            locks,
            answers,
            quarantine,
            backups,
            audit_buffer: _,
            root: _,
        } = &places.ledger;
        let of_the_project = [
            hashlog,
            history,
            locks,
            answers,
            quarantine,
            backups,
            &places.registry,
        ]
        .into_iter()
        .chain((!is_own_word(Key::LedgerPath)).then_some(ledger))
        .chain((!is_own_word(Key::AuditPath)).then_some(audit));
        for path in of_the_project {
            if leads_out(disk, folder, path)? {
                return Err(PlacesError::LeadsOut { path: path.clone() });
            }
        }
        Ok(places)
    }
}

/// Takes out of force the paths of ledger and journal in an untrusted `.calrc`.
///
/// Also inside of the root: a file of the repository that is named as the ledger would be taken for
/// a damaged one, and replaced.
pub(super) fn hold_back(root: &Path, settings: &mut Settings) -> Vec<UntrustedValue> {
    let mut waiting = Vec::new();
    for key in [Key::LedgerPath, Key::AuditPath] {
        let is_calrcs = matches!(settings.get(key).origin, Origin::Calrc(_));
        if is_calrcs && !is_default(root, settings, key) {
            waiting.push(UntrustedValue {
                key,
                setting: settings.reset(key),
            });
        }
    }
    waiting
}

/// Whether a path is the seed's, from any origin: `init` writes the defaults down.
fn is_default(root: &Path, settings: &Settings, key: Key) -> bool {
    match key.default() {
        Value::Path(path) => root.join(path) == root.join(settings.path(key)),
        _ => false,
    }
}

/// Whether writing to `path` would write outside of `root`, or into a `.git`.
///
/// What is there of the path is resolved, but for the root, which has been; what is not there yet must be plain names.
fn leads_out(disk: &Disk, root: &Path, path: &Path) -> Result<bool, DiskError> {
    for there in path.ancestors() {
        let inside = if there == root {
            PathBuf::new()
        } else if !disk.exists(there)? {
            continue;
        } else {
            let real = match disk.canonicalize(there) {
                Ok(real) => real,
                // A link to nothing: a program that writes to it creates its target.
                Err(error) if error.is_absent() => return Ok(true),
                Err(error) => return Err(error),
            };
            let Ok(inside) = real.strip_prefix(root) else {
                return Ok(true);
            };
            inside.to_owned()
        };
        let missing = path.strip_prefix(there).unwrap_or(Path::new(""));
        let is_plain = missing
            .components()
            .all(|part| matches!(part, Component::Normal(_)));
        let is_gits = inside.iter().any(|part| part.eq_ignore_ascii_case(".git"));
        return Ok(!is_plain || is_gits);
    }
    Ok(true)
}

/// Reason that a project has no place for its state.
#[derive(Debug, thiserror::Error)]
pub enum PlacesError {
    /// A link in the project leads out of it.
    #[error("`{}` leads out of the project through a link", path.display())]
    LeadsOut {
        /// The name in the project.
        path: PathBuf,
    },
    /// The disk does not say.
    #[error(transparent)]
    Disk(#[from] DiskError),
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::{calrc::Calrc, environment::Environment, test_dir::TestDir};

    /// Returns a project folder, which is a repository, with an `outside` next to it.
    fn project() -> (TestDir, PathBuf, PathBuf) {
        let ground = TestDir::new();
        ground.folder("root/.git/hooks");
        let (root, outside) = (ground.path("root"), ground.folder("outside"));
        (ground, root, outside)
    }

    fn in_tree(root: &Path) -> StatePlace {
        StatePlace {
            folder: root.to_owned(),
            is_in_tree: true,
        }
    }

    fn settings(calrc: &str, variables: &[(&str, &str)]) -> Settings {
        let calrc = Calrc::read(Path::new(".calrc"), calrc.as_bytes()).unwrap();
        let environment: Environment = variables.iter().copied().collect();
        Settings::resolve(&calrc, &environment, &[]).unwrap()
    }

    #[test]
    fn without_settings_the_places_are_the_seeds() {
        let (ground, root, _) = project();
        let places =
            Places::find(&ground.disk, &root, in_tree(&root), &settings("{}", &[])).unwrap();
        assert_eq!(places.ledger, LedgerPaths::in_root(&root));
        assert_eq!(places.registry, root.join("registry.json"));
    }

    #[test]
    fn an_untrusted_path_that_leads_out_waits_and_the_default_is_in_force() {
        let (_ground, root, outside) = project();
        symlink(&outside, root.join("out")).unwrap();
        symlink(root.join(".git"), root.join("notes")).unwrap();
        symlink(outside.join("new"), root.join("dangling")).unwrap();
        let absolute = outside.to_str().unwrap();
        for path in [
            absolute,
            "../outside",
            "new/../../outside",
            "out/audit",
            "out",
            "notes/hooks",
            "dangling",
        ] {
            let mut settings = settings(&format!(r#"{{"audit_path": "{path}"}}"#), &[]);
            let waiting = hold_back(&root, &mut settings);
            assert_eq!(waiting.len(), 1, "{path}");
            assert_eq!(waiting[0].setting.value, Value::Path(path.into()));
            assert_eq!(settings.get(Key::AuditPath).origin, Origin::Default);
        }
    }

    /// A repository could name one of its own files as the ledger, and have it replaced.
    #[test]
    fn an_untrusted_path_inside_of_the_root_waits_as_well() {
        let (_, root, _) = project();
        for path in ["src/main.rs", "registry.json", ".calrc", "deep/er/audit"] {
            let mut settings = settings(&format!(r#"{{"ledger_path": "{path}"}}"#), &[]);
            assert_eq!(hold_back(&root, &mut settings).len(), 1, "{path}");
            assert_eq!(settings.get(Key::LedgerPath).origin, Origin::Default);
        }
        for path in [".cal_memory.json", "./.cal_memory.json"] {
            let mut settings = settings(&format!(r#"{{"ledger_path": "{path}"}}"#), &[]);
            assert_eq!(hold_back(&root, &mut settings), [], "{path}");
        }
    }

    #[test]
    fn the_users_own_word_may_lead_anywhere() {
        let (ground, root, outside) = project();
        let outside = outside.join("audit");
        let variables = [("CAL_AUDIT_PATH", outside.to_str().unwrap())];
        let mut settings = settings("{}", &variables);
        let waiting = hold_back(&root, &mut settings);
        assert_eq!(waiting, []);
        let places = Places::find(&ground.disk, &root, in_tree(&root), &settings).unwrap();
        assert_eq!(places.ledger.audit, outside);
    }

    /// A cloned repository may hold a link under any name that we write to.
    #[test]
    fn a_link_under_a_name_of_ours_is_refused() {
        for name in [
            ".cal_memory.json",
            ".cal_hashlog",
            ".cal_memory_history",
            "cal_audit",
            ".cal_lock",
            ".cal_answers",
            ".cal_quarantine",
            ".cal_backup",
            "registry.json",
        ] {
            let (ground, root, outside) = project();
            symlink(outside.join("target"), root.join(name)).unwrap();
            // As `init` writes it, and as it may be spelled.
            for calrc in [
                "{}",
                r#"{"ledger_path": ".cal_memory.json", "audit_path": "cal_audit/"}"#,
                r#"{"ledger_path": "./.cal_memory.json", "audit_path": "./cal_audit"}"#,
            ] {
                let refused =
                    Places::find(&ground.disk, &root, in_tree(&root), &settings(calrc, &[]));
                assert!(
                    matches!(refused, Err(PlacesError::LeadsOut { .. })),
                    "{name}, {calrc}: {refused:?}"
                );
            }
        }
    }

    /// State in the machine's folder is all below it, but for a path that the user chose.
    #[test]
    fn state_of_the_machine_is_below_its_folder() {
        let (ground, root, outside) = project();
        let state = StatePlace {
            folder: outside.join("state"),
            is_in_tree: false,
        };
        let find = |variables: &[(&str, &str)]| {
            let settings = settings("{}", variables);
            Places::find(&ground.disk, &root, state.clone(), &settings).unwrap()
        };
        let places = find(&[]);
        assert_eq!(places.ledger, LedgerPaths::in_root(&state.folder));
        assert_eq!(places.calrc, state.folder.join(".calrc"));
        let chosen = find(&[("CAL_AUDIT_PATH", "docs/audit")]);
        assert_eq!(chosen.ledger.audit, root.join("docs/audit"));
    }
}
