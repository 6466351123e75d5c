//! [`Registrar`]: puts our entry into settings files, and takes it out.

use std::path::{Path, PathBuf};

use callosum_agents::client::{Client, Hooks};
use callosum_host::{Disk, DiskError};
use callosum_ledger::Checksum;

use super::{
    entry::{self, Entered, Made, SettingsError},
    kept::{Kept, Memory},
};

/// Whose settings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Scope {
    /// The user's own, which hold in every folder
    #[default]
    User,
    /// Those of the project, in its root
    Project,
}

/// A settings file of a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) client: &'static Client,
    pub(crate) hooks: Hooks,
    pub(crate) scope: Scope,
    pub(crate) path: PathBuf,
}

/// What was done to a settings file, or would be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// Our entry was put in, or brought up to date.
    Registered,
    /// It is there as it should be.
    Unchanged,
    /// It was taken out, and what others changed meanwhile was left.
    Removed,
    /// The file is what it was before, to the byte.
    Restored,
    /// There was none.
    Absent,
}

impl Change {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Registered => "registered",
            Self::Unchanged => "unchanged",
            Self::Removed => "removed",
            Self::Restored => "restored",
            Self::Absent => "absent",
        }
    }
}

/// Whether files are written, or only what would be is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Doing {
    Write,
    Tell,
}

/// Why settings were left as they are.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RegisterError {
    /// What stands there is nothing that an entry can be put into.
    #[error("`{}` is left as it is", path.display())]
    Settings {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: SettingsError,
    },
    /// The settings of a project lead out of it.
    #[error("`{}` leads out of the project, and is left as it is", path.display())]
    LeadsOut {
        /// The file.
        path: PathBuf,
    },
    /// A file could not be read or written.
    #[error(transparent)]
    Disk(#[from] DiskError),
}

/// Writes to the settings of clients.
#[derive(Clone, Debug)]
pub(crate) struct Registrar {
    disk: Disk,
    memory: Memory,
    /// The tree of the project.
    root: PathBuf,
}

impl Registrar {
    /// One that remembers files in this folder of the machine's home.
    pub(crate) fn new(disk: Disk, folder: PathBuf, root: PathBuf) -> Self {
        let memory = Memory {
            disk: disk.clone(),
            folder,
        };
        Self { disk, memory, root }
    }

    /// Where a client's settings stand; `own` is its own folder. `None` where it has no hooks.
    pub(crate) fn place(&self, client: &'static Client, scope: Scope, own: &Path) -> Option<Place> {
        let hooks = client.hooks?;
        let path = match scope {
            Scope::User => own.join(hooks.user),
            Scope::Project => self.root.join(hooks.project),
        };
        Some(Place {
            client,
            hooks,
            scope,
            path,
        })
    }

    /// The places whose files are remembered and are none of these: other projects' settings, and
    /// those of a client's folder that has moved.
    pub(crate) fn remembered(&self, beside: &[Place]) -> Result<Vec<Place>, DiskError> {
        let clients = callosum_agents::dialect::Dialect::ALL
            .into_iter()
            .filter_map(Client::of);
        let known: Vec<_> = clients.collect();
        let mut places = Vec::new();
        for kept in self.memory.all()? {
            let client = known.iter().find(|known| known.program == kept.client);
            let Some((client, hooks)) = client.and_then(|client| Some((*client, client.hooks?)))
            else {
                continue;
            };
            let mut paths = beside.iter().map(|place| self.resolved(&place.path));
            if !paths.any(|path| path == kept.path) {
                places.push(Place {
                    client,
                    hooks,
                    scope: Scope::User,
                    path: kept.path,
                });
            }
        }
        Ok(places)
    }

    /// The commands of ours that a client's settings name.
    pub(crate) fn commands(&self, place: &Place) -> Result<Vec<String>, RegisterError> {
        let Some(text) = self.text(place, &self.resolved(&place.path))? else {
            return Ok(Vec::new());
        };
        entry::commands(&text, &place.hooks, place.client.program)
            .map_err(|source| settings(place, source))
    }

    /// Puts our entry into the settings, with `command` as what is to be run.
    ///
    /// Idempotent. The file is replaced as a whole; what stood in it is kept in the machine's home.
    pub(crate) fn register(
        &self,
        place: &Place,
        command: &str,
        doing: Doing,
    ) -> Result<Change, RegisterError> {
        let path = self.checked(place)?;
        let before = self.text(place, &path)?;
        let text = before.as_deref().unwrap_or_default();
        let entered = entry::enter(text, &place.hooks, place.client.program, command)
            .map_err(|source| settings(place, source))?;
        let Some(Entered { text, made }) = entered else {
            return Ok(Change::Unchanged);
        };
        if doing == Doing::Tell {
            return Ok(Change::Registered);
        }
        let made_folder = match path.parent() {
            Some(folder) => self.disk.create_dir_all(folder)?,
            None => false,
        };
        let known = self.memory.of(&path)?;
        let is_as_we_left_it = |kept: &Kept| {
            let before = before.as_deref().unwrap_or_default();
            kept.after == Checksum::of(before.as_bytes())
        };
        // Where it was us who wrote what stands there, what stood there before is kept already.
        if let Some(kept) = known.filter(is_as_we_left_it) {
            let after = Checksum::of(text.as_bytes());
            self.memory.note(&Kept { after, ..kept })?;
        } else {
            let kept = Kept {
                existed: before.is_some(),
                made_folder,
                made_event: made.event,
                made_hooks: made.hooks,
                ..Kept::new(place.client.program, &path, text.as_bytes())
            };
            self.memory
                .keep(&kept, before.as_deref().map(str::as_bytes))?;
        }
        self.disk.rewrite(&path, text.as_bytes(), 0o600)?;
        Ok(Change::Registered)
    }

    /// Takes every entry of ours out of the settings.
    pub(crate) fn unregister(&self, place: &Place, doing: Doing) -> Result<Change, RegisterError> {
        let path = self.checked(place)?;
        let Some(text) = self.text(place, &path)? else {
            if doing == Doing::Write {
                self.memory.forget(&path)?;
            }
            return Ok(Change::Absent);
        };
        let kept = self.memory.of(&path)?;
        let left = kept
            .as_ref()
            .filter(|kept| kept.after == Checksum::of(text.as_bytes()));
        if let Some(kept) = left {
            let before = self.memory.content(&path)?;
            if !kept.existed || before.is_some() {
                if doing == Doing::Write {
                    self.put_back(kept, before.as_deref())?;
                }
                return Ok(Change::Restored);
            }
        }
        let made = kept.as_ref().map_or_else(Made::default, |kept| Made {
            event: kept.made_event,
            hooks: kept.made_hooks,
        });
        let without = entry::take_out(&text, &place.hooks, place.client.program, made)
            .map_err(|source| settings(place, source))?;
        let change = if without.is_some() {
            Change::Removed
        } else {
            Change::Absent
        };
        if doing == Doing::Write {
            if let Some(without) = without {
                self.disk.rewrite(&path, without.as_bytes(), 0o600)?;
            }
            self.memory.forget(&path)?;
        }
        Ok(change)
    }

    fn put_back(&self, kept: &Kept, before: Option<&[u8]>) -> Result<(), DiskError> {
        let path = &kept.path;
        if let Some(before) = before.filter(|_| kept.existed) {
            self.disk.rewrite(path, before, 0o600)?;
        } else {
            self.disk.remove_file(path)?;
            if let Some(folder) = path.parent().filter(|_| kept.made_folder) {
                // One that others put something into stays.
                drop(self.disk.remove_dir(folder));
            }
        }
        self.memory.forget(path)
    }

    /// The file itself: people keep their settings elsewhere, and a link where the client looks.
    fn resolved(&self, path: &Path) -> PathBuf {
        self.disk
            .canonicalize(path)
            .or_else(|_| match (path.parent(), path.file_name()) {
                (Some(folder), Some(name)) => {
                    self.disk.canonicalize(folder).map(|real| real.join(name))
                }
                _ => Ok(path.to_owned()),
            })
            .unwrap_or_else(|_| path.to_owned())
    }

    /// The file to be written. In a cloned repository a link must not lead out of it.
    fn checked(&self, place: &Place) -> Result<PathBuf, RegisterError> {
        let path = self.resolved(&place.path);
        let is_dangling = path == place.path && self.is_link(&path)?;
        let leads_out = place.scope == Scope::Project && !path.starts_with(&self.root);
        if leads_out || is_dangling {
            return Err(RegisterError::LeadsOut {
                path: place.path.clone(),
            });
        }
        Ok(path)
    }

    fn is_link(&self, path: &Path) -> Result<bool, DiskError> {
        let found = self.disk.stat(path)?;
        Ok(found.is_some_and(|found| found.kind == callosum_host::disk::EntryKind::Link))
    }

    fn text(&self, place: &Place, path: &Path) -> Result<Option<String>, RegisterError> {
        let Some(bytes) = self.disk.read_if_there(path)? else {
            return Ok(None);
        };
        String::from_utf8(bytes).map(Some).map_err(|_| {
            let reason = "it is not UTF-8".to_owned();
            settings(place, SettingsError::NotJson { reason })
        })
    }
}

fn settings(place: &Place, source: SettingsError) -> RegisterError {
    RegisterError::Settings {
        path: place.path.clone(),
        source,
    }
}

#[cfg(test)]
mod tests {
    use callosum_agents::dialect::Dialect;

    use super::*;

    struct Ground {
        folder: tempfile::TempDir,
        registrar: Registrar,
        top: PathBuf,
    }

    impl Ground {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let disk = Disk::real();
            let top = disk.canonicalize(folder.path()).unwrap();
            disk.create_dir_all(&top.join("project")).unwrap();
            let registrar = Registrar::new(disk, top.join("machine/hooks"), top.join("project"));
            Self {
                folder,
                registrar,
                top,
            }
        }

        fn place(&self, scope: Scope) -> Place {
            let client = Client::of(Dialect::Claude).unwrap();
            let own = self.top.join("home/.claude");
            self.registrar.place(client, scope, &own).unwrap()
        }

        fn register(&self, place: &Place) -> Change {
            let command = "/opt/callosum hook claude pre-tool-use";
            let registered = self.registrar.register(place, command, Doing::Write);
            registered.unwrap()
        }

        fn unregister(&self, place: &Place) -> Change {
            self.registrar.unregister(place, Doing::Write).unwrap()
        }

        fn write(place: &Place, text: &str) {
            let disk = Disk::real();
            disk.create_dir_all(place.path.parent().unwrap()).unwrap();
            disk.replace(&place.path, text.as_bytes(), 0o644).unwrap();
        }

        fn text(place: &Place) -> Option<String> {
            let bytes = Disk::real().read_if_there(&place.path).unwrap();
            bytes.map(|bytes| String::from_utf8(bytes).unwrap())
        }
    }

    /// CAKE-ADP-1: settings are byte-identical afterwards, however often they were registered.
    #[test]
    fn settings_are_afterwards_what_they_were() {
        let ground = Ground::new();
        let odd = "{ // mine\n\t\"a\" :1,\n \"hooks\":{ \"PreToolUse\":[ ] } }";
        for (scope, before) in [
            (Scope::User, None),
            (Scope::User, Some(odd)),
            (Scope::Project, None),
            (Scope::Project, Some(odd)),
        ] {
            let place = ground.place(scope);
            if let Some(before) = before {
                Ground::write(&place, before);
            }
            assert_eq!(ground.register(&place), Change::Registered);
            assert_eq!(ground.register(&place), Change::Unchanged);
            // Another place of the program, and back.
            let moved = "/usr/bin/callosum hook claude pre-tool-use";
            ground
                .registrar
                .register(&place, moved, Doing::Write)
                .unwrap();
            assert_eq!(ground.registrar.commands(&place).unwrap(), [moved]);
            assert_eq!(ground.unregister(&place), Change::Restored);
            assert_eq!(Ground::text(&place).as_deref(), before);
            assert_eq!(ground.unregister(&place), Change::Absent);
            if before.is_none() {
                let folder = place.path.parent().unwrap();
                assert!(!Disk::real().exists(folder).unwrap());
            }
        }
        let left = Disk::real().list_dir(&ground.top.join("machine/hooks"));
        assert_eq!(left.unwrap(), []);
    }

    #[test]
    fn what_was_changed_meanwhile_stays() {
        let ground = Ground::new();
        let place = ground.place(Scope::User);
        Ground::write(&place, "{\n  \"a\": 1\n}\n");
        ground.register(&place);
        let text = Ground::text(&place).unwrap();
        Ground::write(&place, &text.replace("\"a\": 1", "\"a\": 2"));
        assert_eq!(ground.unregister(&place), Change::Removed);
        assert_eq!(Ground::text(&place).unwrap(), "{\n  \"a\": 2\n}\n");
    }

    #[test]
    fn telling_what_would_be_done_writes_nothing() {
        let ground = Ground::new();
        let place = ground.place(Scope::User);
        let told = ground.registrar.register(&place, "x", Doing::Tell).unwrap();
        assert_eq!(told, Change::Registered);
        assert_eq!(Disk::real().list_dir(&ground.top).unwrap().len(), 1);
    }

    #[test]
    fn a_users_link_is_written_through_and_a_projects_is_not() {
        let ground = Ground::new();
        let disk = Disk::real();
        let target = ground.top.join("dotfiles.json");
        disk.replace(&target, b"{}", 0o644).unwrap();
        for scope in [Scope::User, Scope::Project] {
            let place = ground.place(scope);
            disk.create_dir_all(place.path.parent().unwrap()).unwrap();
            std::os::unix::fs::symlink(&target, &place.path).unwrap();
            let registered = ground.registrar.register(&place, "x", Doing::Write);
            match scope {
                Scope::User => {
                    assert_eq!(registered.unwrap(), Change::Registered);
                    assert_eq!(ground.unregister(&place), Change::Restored);
                    assert!(ground.registrar.is_link(&place.path).unwrap());
                }
                Scope::Project => {
                    assert!(matches!(registered, Err(RegisterError::LeadsOut { .. })));
                }
            }
            assert_eq!(disk.read(&target).unwrap(), b"{}");
        }
        assert!(ground.folder.path().exists());
    }

    #[test]
    fn another_projects_settings_are_remembered() {
        let ground = Ground::new();
        let place = ground.place(Scope::Project);
        ground.register(&place);
        let all = ground.registrar.remembered(&[]).unwrap();
        assert_eq!(all.len(), 1);
        assert_eq!(all[0].path, place.path);
        assert_eq!(ground.registrar.remembered(&[place]).unwrap(), []);
    }
}
