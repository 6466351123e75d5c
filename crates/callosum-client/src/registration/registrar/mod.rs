//! [`Registrar`]: puts our entry into settings files, and takes it out.

mod diagnose;
mod plugins;
mod removal;
mod settings_file;

use std::path::{Path, PathBuf};

use callosum_executor::client::Client;
use callosum_host::{Disk, DiskError};
use callosum_json::Checksum;

use super::{
    clear_override, clear_plugin, codex, context_files,
    hook_entry::{self, Entered, Made, SettingsError},
    servers::{self, Server},
    settings_backup::{Memory, SettingsBackup},
};

use self::removal::without;

pub use self::settings_file::{Scope, SettingsFile};

/// A change to a settings file, made or planned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Our entry was put in, or brought up to date.
    Registered,
    /// It is there as it should be.
    Unchanged,
    /// It was removed, and others' later changes were left.
    Removed,
    /// The file is what it was before, to the byte.
    Restored,
    /// There was none.
    Absent,
}

impl Change {
    /// Returns the name that messages use.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Registered => "registered",
            Self::Unchanged => "unchanged",
            Self::Removed => "removed",
            Self::Restored => "restored",
            Self::Absent => "absent",
        }
    }
}

/// Whether files are written, or only the changes are reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApplyMode {
    /// Writes the settings file.
    Write,
    /// Reports what would be written.
    Tell,
}

/// The gate that decides before a context is cleared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClearGate {
    /// A plugin, which asks this program.
    Plugin(String),
    /// A hook, of a command that takes the place of the client's own.
    Shadow,
}

/// The reason why settings were left as they are.
#[derive(Debug, thiserror::Error)]
pub enum RegisterError {
    /// The content cannot take an entry.
    #[error("`{}` was not changed", path.display())]
    Settings {
        /// The file.
        path: PathBuf,
        /// The error in the settings.
        source: SettingsError,
    },
    /// The settings of a project lead out of it.
    #[error("`{}` leads out of the project and was not changed", path.display())]
    LeadsOut {
        /// The file.
        path: PathBuf,
    },
    /// The user's settings are a link to what is not there.
    #[error("`{}` is a broken link and was not changed", path.display())]
    LeadsNowhere {
        /// The file.
        path: PathBuf,
    },
    /// Another command is in the place of ours.
    #[error("a command `/clear` already exists beside `{}` and was not changed", path.display())]
    Shadowed {
        /// The settings.
        path: PathBuf,
    },
    /// Someone else's file has the name of our plugin.
    #[error("`{}` is not Callosum's and was not changed", path.display())]
    NotOurs {
        /// The file.
        path: PathBuf,
    },
    /// A file could not be read or written.
    #[error(transparent)]
    Disk(#[from] DiskError),
}

impl RegisterError {
    /// Returns the remedy for a person.
    pub const fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Settings { .. } => Some("repair it, then run this again"),
            Self::LeadsOut { .. } => Some(
                "replace it with a regular file, or register for your user only: callosum init --scope user",
            ),
            Self::LeadsNowhere { .. } => {
                Some("create the file that it points to, then run this again")
            }
            Self::Shadowed { .. } => Some("move that command away, then run this again"),
            Self::NotOurs { .. } => Some("move that file away, then run this again"),
            Self::Disk(_) => None,
        }
    }
}

/// Writes to the settings of clients.
#[derive(Clone, Debug)]
pub struct Registrar {
    disk: Disk,
    memory: Memory,
    /// The tree of the project.
    root: PathBuf,
    /// The gate before a clear, if wanted.
    gate: Option<ClearGate>,
}

impl Registrar {
    /// One that remembers files in this folder of the machine's home.
    pub fn new(disk: Disk, folder: PathBuf, root: PathBuf) -> Self {
        let memory = Memory {
            disk: disk.clone(),
            folder,
        };
        Self {
            disk,
            memory,
            root,
            gate: None,
        }
    }

    /// Returns a registrar that also sets up a gate before a clear, for clients that support one.
    #[must_use]
    pub fn with_gate(self, asked: ClearGate) -> Self {
        Self {
            gate: Some(asked),
            ..self
        }
    }

    /// Writes the files of the gate before a clear.
    fn write_gate(&self, place: &SettingsFile, path: &Path) -> Result<(), RegisterError> {
        match &self.gate {
            Some(ClearGate::Plugin(program)) if place.hooks.gate.is_some() => {
                self.disk.create_private_dir(&self.memory.folder)?;
                clear_plugin::write(&self.disk, &self.gate_folder(), program)?;
            }
            Some(ClearGate::Shadow)
                if place.hooks.typed.is_some() && !clear_override::write(&self.disk, path)? =>
            {
                return Err(RegisterError::Shadowed {
                    path: place.path.clone(),
                });
            }
            _ => {}
        }
        Ok(())
    }

    /// Returns the folder of the gate's files.
    fn gate_folder(&self) -> PathBuf {
        self.memory.folder.join("gate")
    }

    /// Whether a client's settings name the gate, and no one has switched it off.
    pub fn has_gate(&self, place: &SettingsFile) -> Result<bool, RegisterError> {
        let Some(text) = self.text(place, &self.resolved(&place.path))? else {
            return Ok(false);
        };
        clear_plugin::is_wanted(&text).map_err(|source| settings(place, source))
    }

    /// The program that the gate asks, where its files name one.
    pub fn gate_program(&self) -> Result<Option<PathBuf>, RegisterError> {
        Ok(clear_plugin::program(&self.disk, &self.gate_folder())?)
    }

    /// Returns the settings with all that belongs into them; `None` if it is there already.
    fn entered(
        &self,
        place: &SettingsFile,
        text: &str,
        command: &str,
    ) -> Result<Option<Entered>, SettingsError> {
        let (hooks, program) = (&place.hooks, place.client.program);
        let hooks = match &self.gate {
            Some(ClearGate::Plugin(_)) if hooks.gate.is_some() => {
                hook_entry::enter(text, hooks, program, command)?
            }
            Some(ClearGate::Shadow) => {
                return hook_entry::enter_with_typed(text, hooks, program, command);
            }
            _ => return hook_entry::enter(text, hooks, program, command),
        };
        let text = hooks.as_ref().map_or(text, |entered| &entered.text);
        let Some(mut gated) = clear_plugin::enter(text, &self.gate_folder())? else {
            return Ok(hooks);
        };
        if let Some(Entered { made, .. }) = hooks {
            gated.made.hooks = made.hooks;
            gated.made.events = made.events;
        }
        Ok(Some(gated))
    }

    /// Returns the place of a client's settings; `own` is its own folder. `None` if it has no
    /// hooks.
    pub fn place(&self, client: &'static Client, scope: Scope, own: &Path) -> Option<SettingsFile> {
        let hooks = client.hooks?;
        let path = match scope {
            Scope::User => own.join(hooks.user),
            Scope::Project => self.root.join(hooks.project),
        };
        Some(SettingsFile {
            client,
            hooks,
            scope,
            path,
        })
    }

    /// Returns the place of a client's tool servers; `own` is its own folder, and `moved` is set if
    /// a variable names it. It may be the same file as that of its hooks.
    pub fn server_place(
        &self,
        client: &'static Client,
        scope: Scope,
        (own, moved): (&Path, bool),
    ) -> Option<SettingsFile> {
        let servers = client.tool_servers?;
        Some(SettingsFile {
            path: match scope {
                Scope::User => servers.everywhere(own, moved),
                Scope::Project => self.root.join(servers.project),
            },
            ..self.place(client, scope, own)?
        })
    }

    /// The program of our server of tools that a client's settings name.
    pub fn server(&self, place: &SettingsFile) -> Result<Option<String>, RegisterError> {
        let path = self.resolved(&place.path);
        let Some(text) = self.text(place, &path)? else {
            return Ok(None);
        };
        servers::program(&path, &text).map_err(|source| settings(place, source))
    }

    /// Puts our server of tools into the settings, as [`register`](Self::register) does our hooks.
    pub fn register_server(
        &self,
        place: &SettingsFile,
        server: &Server,
        doing: ApplyMode,
    ) -> Result<Change, RegisterError> {
        let path = self.checked(place)?;
        let before = self.text(place, &path)?;
        let entered = servers::enter(&path, before.as_deref().unwrap_or_default(), server);
        match entered.map_err(|source| settings(place, source))? {
            None => Ok(Change::Unchanged),
            Some(entered) => self.put_in(place, (&path, before), entered, doing),
        }
    }

    /// Returns the files with instructions that a client's settings name; `None` if they name none.
    pub fn context_files(
        &self,
        place: &SettingsFile,
    ) -> Result<Option<Vec<String>>, RegisterError> {
        let Some(text) = self.text(place, &self.resolved(&place.path))? else {
            return Ok(None);
        };
        context_files::named(&text).map_err(|source| settings(place, source))
    }

    /// Adds `AGENTS.md` to the settings next to the client's `own` file with instructions, as
    /// [`register`](Self::register) enters our hooks.
    pub fn register_context_files(
        &self,
        place: &SettingsFile,
        own: &str,
        doing: ApplyMode,
    ) -> Result<Change, RegisterError> {
        let path = self.checked(place)?;
        let before = self.text(place, &path)?;
        let entered = context_files::enter(before.as_deref().unwrap_or_default(), own);
        match entered.map_err(|source| settings(place, source))? {
            None => Ok(Change::Unchanged),
            Some(entered) => self.put_in(place, (&path, before), entered, doing),
        }
    }

    /// The places whose files are remembered and are none of these: other projects' settings, and
    /// those of a client's folder that has moved.
    pub fn remembered(&self, beside: &[SettingsFile]) -> Result<Vec<SettingsFile>, DiskError> {
        let clients = callosum_executor::output_format::Dialect::ALL
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
                places.push(SettingsFile {
                    client,
                    hooks,
                    scope: Scope::User,
                    path: kept.path,
                });
            }
        }
        Ok(places)
    }

    /// The commands of ours that a client's settings name for what happens before a tool.
    pub fn commands(&self, place: &SettingsFile) -> Result<Vec<String>, RegisterError> {
        self.commands_for(place, place.hooks.before_tool)
    }

    /// The commands of ours that a client's settings name for an event.
    pub fn commands_for(
        &self,
        place: &SettingsFile,
        event: &str,
    ) -> Result<Vec<String>, RegisterError> {
        let Some(text) = self.text(place, &self.resolved(&place.path))? else {
            return Ok(Vec::new());
        };
        hook_entry::commands(&text, event, place.client.program)
            .map_err(|source| settings(place, source))
    }

    /// Returns whether a person has trusted our commands there for these events, by the client's
    /// settings in `own`, its folder: of several the worst. `None` if it asks for no trust, or
    /// names none of ours.
    pub fn trust(
        &self,
        place: &SettingsFile,
        own: &Path,
        events: &[&str],
    ) -> Result<Option<codex::Trust>, RegisterError> {
        let path = self.resolved(&place.path);
        let Some(text) = self.text(place, &path)? else {
            return Ok(None);
        };
        if place.client.hooks_to_trust.is_none() {
            return Ok(None);
        }
        let own_settings = self.disk.read_if_there(&own.join(place.client.settings))?;
        let own_settings = String::from_utf8_lossy(&own_settings.unwrap_or_default()).into_owned();
        let hooks = hook_entry::value(&text).unwrap_or_default();
        let mut worst = None;
        for event in events {
            let ours = hook_entry::standing(&text, event, place.client.program)
                .map_err(|source| settings(place, source))?;
            for (group, handler) in ours {
                let at = (*event, group, handler);
                let hash = codex::hash(&hooks, at);
                let trust = |path| codex::trust(&own_settings, path, at, hash.as_deref());
                let trust = match trust(&place.path) {
                    codex::Trust::Missing => trust(&path),
                    found => found,
                };
                worst = Some(match (worst, trust) {
                    (Some(codex::Trust::Missing), _) | (_, codex::Trust::Missing) => {
                        codex::Trust::Missing
                    }
                    (Some(codex::Trust::Stale), _) | (_, codex::Trust::Stale) => {
                        codex::Trust::Stale
                    }
                    _ => codex::Trust::Trusted,
                });
            }
        }
        Ok(worst)
    }

    /// Whether the client's own settings name hooks in addition to those of the place.
    pub fn has_others(&self, place: &SettingsFile, own: &Path) -> Result<bool, DiskError> {
        if place.client.hooks_to_trust.is_none() {
            return Ok(false);
        }
        let own_settings = self.disk.read_if_there(&own.join(place.client.settings))?;
        Ok(codex::names_hooks(&String::from_utf8_lossy(
            &own_settings.unwrap_or_default(),
        )))
    }

    /// Puts our entries into the settings, each with `command` and an event's word to run.
    ///
    /// Idempotent. The file is replaced as a whole; its earlier content is kept in the machine's
    /// home.
    pub fn register(
        &self,
        place: &SettingsFile,
        command: &str,
        doing: ApplyMode,
    ) -> Result<Change, RegisterError> {
        let path = self.checked(place)?;
        let before = self.text(place, &path)?;
        let text = before.as_deref().unwrap_or_default();
        let entered = self.entered(place, text, command);
        let entered = entered.map_err(|source| settings(place, source))?;
        if doing == ApplyMode::Write {
            self.sweep(&path)?;
            self.write_gate(place, &path)?;
        }
        match entered {
            None => Ok(Change::Unchanged),
            Some(entered) => self.put_in(place, (&path, before), entered, doing),
        }
    }

    /// Writes settings with an entry of ours, and remembers the earlier content.
    fn put_in(
        &self,
        place: &SettingsFile,
        (path, before): (&Path, Option<String>),
        Entered { text, made }: Entered,
        doing: ApplyMode,
    ) -> Result<Change, RegisterError> {
        if doing == ApplyMode::Tell {
            return Ok(Change::Registered);
        }
        let made_folder = match path.parent() {
            Some(folder) => self.disk.create_dir_all(folder)?,
            None => false,
        };
        let there = before.as_deref().unwrap_or_default();
        // If we wrote the current content, the content before it is kept already. If others wrote
        // to it since, and our entry is still in it, the current content must not be restored
        // later: then our entry is removed by its structure alone.
        let mut known = self.memory.of(path)?;
        let is_left = known
            .as_ref()
            .is_some_and(|kept| kept.after == Checksum::of(there.as_bytes()));
        let keys = known.as_ref().map(|kept| kept.made_keys.clone());
        let earlier = Made {
            keys: keys.unwrap_or_default(),
            ..Made::default()
        };
        if !is_left && without(place, path, there, &earlier)?.is_none() {
            known = None;
        }
        if let Some(mut kept) = known {
            if is_left {
                kept.after = Checksum::of(text.as_bytes());
            }
            kept.made_events.extend(made.events);
            kept.made_keys.extend(made.keys);
            kept.made_hooks |= made.hooks;
            self.memory.note(&kept)?;
        } else {
            let kept = SettingsBackup {
                existed: before.is_some(),
                made_folder,
                made_events: made.events,
                made_hooks: made.hooks,
                made_keys: made.keys,
                ..SettingsBackup::new(place.client.program, path, text.as_bytes())
            };
            self.memory
                .keep(&kept, before.as_deref().map(str::as_bytes))?;
        }
        self.disk.rewrite(path, text.as_bytes(), 0o600)?;
        Ok(Change::Registered)
    }

    /// Returns the file itself: people keep their settings elsewhere, and have a link at the
    /// client's path.
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
    fn checked(&self, place: &SettingsFile) -> Result<PathBuf, RegisterError> {
        let path = self.resolved(&place.path);
        let is_dangling = path == place.path && self.is_link(&path)?;
        let leads_out = place.scope == Scope::Project && !path.starts_with(&self.root);
        if leads_out || is_dangling {
            let path = place.path.clone();
            return Err(match place.scope {
                Scope::Project => RegisterError::LeadsOut { path },
                Scope::User => RegisterError::LeadsNowhere { path },
            });
        }
        Ok(path)
    }

    /// Removes partial files that a killed process of ours left next to these settings, or in the
    /// memory.
    fn sweep(&self, path: &Path) -> Result<(), DiskError> {
        if let (Some(folder), Some(name)) = (path.parent(), path.file_name()) {
            self.disk.sweep_new_files(folder, |meant| name == meant)?;
        }
        self.disk.sweep_new_files(&self.memory.folder, |_| true)?;
        Ok(())
    }

    fn is_link(&self, path: &Path) -> Result<bool, DiskError> {
        let found = self.disk.stat(path)?;
        Ok(found.is_some_and(|found| found.kind == callosum_host::disk::EntryKind::Link))
    }

    fn text(&self, place: &SettingsFile, path: &Path) -> Result<Option<String>, RegisterError> {
        let Some(bytes) = self.disk.read_if_there(path)? else {
            return Ok(None);
        };
        String::from_utf8(bytes).map(Some).map_err(|_| {
            let reason = "it is not UTF-8".to_owned();
            settings(place, SettingsError::NotJson { reason })
        })
    }
}

fn settings(place: &SettingsFile, source: SettingsError) -> RegisterError {
    RegisterError::Settings {
        path: place.path.clone(),
        source,
    }
}

#[cfg(test)]
mod tests;
