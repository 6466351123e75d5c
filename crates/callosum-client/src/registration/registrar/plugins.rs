//! The guard of a client whose hooks are plugins: opencode runs each file of its folder of plugins.
//!
//! The file is ours alone. It is known by its first line, so that one of the same name that someone else wrote is left.

use std::path::{Path, PathBuf};

use super::{ApplyMode, Change, RegisterError, Registrar, Scope};
use crate::registration::{hook_entry::is_ours, settings_backup::SettingsBackup};

/// The client.
const CLIENT: &str = "opencode";

/// Our word for the moment before a tool runs.
const EVENT: &str = "pre-tool-use";

/// The file in the folder of the client's settings.
const FILE: &str = "plugin/callosum-guard.js";

/// The folder of the client's settings in a project.
const OF_PROJECT: &str = ".opencode";

/// The plugin, with [`PLACE`] for its command.
const TEXT: &str = include_str!("../opencode/callosum-guard.js");

/// Placeholder for the command in [`TEXT`].
const PLACE: &str = r#"["@COMMAND@"]"#;

/// The beginning of the line with the command.
const COMMAND: &str = "const COMMAND = ";

impl Registrar {
    /// Returns the file of the plugin; `own` is the folder of the user's settings of opencode.
    pub fn plugin(&self, scope: Scope, own: &Path) -> PathBuf {
        match scope {
            Scope::User => own.join(FILE),
            Scope::Project => self.root.join(OF_PROJECT).join(FILE),
        }
    }

    /// Writes the plugin, with `command` and the event's word as what it runs. Idempotent.
    pub fn register_plugin(
        &self,
        path: &Path,
        scope: Scope,
        command: &str,
        doing: ApplyMode,
    ) -> Result<Change, RegisterError> {
        let path = &self.checked_plugin(path, scope)?;
        let before = self.disk.read_if_there(path)?;
        if before.as_deref().is_some_and(|bytes| !is_plugin(bytes)) {
            return Err(RegisterError::NotOurs { path: path.clone() });
        }
        let words = shlex::split(command).unwrap_or_default();
        let words: Vec<_> = words.into_iter().chain([EVENT.to_owned()]).collect();
        let words = serde_json::Value::from(words).to_string();
        let text = TEXT.replace(PLACE, &words);
        if before.as_deref() == Some(text.as_bytes()) {
            return Ok(Change::Unchanged);
        }
        if doing == ApplyMode::Write {
            let known = self.memory.of(path)?;
            let made_folder = match path.parent() {
                Some(folder) => self.disk.create_dir_all(folder)?,
                None => false,
            };
            let kept = SettingsBackup {
                existed: false,
                made_folder: made_folder || known.is_some_and(|known| known.made_folder),
                ..SettingsBackup::new(CLIENT, path, text.as_bytes())
            };
            self.memory.keep(&kept, None)?;
            self.disk.replace(path, text.as_bytes(), 0o644)?;
        }
        Ok(Change::Registered)
    }

    /// Removes the plugin, and its folder if it was made for it and is empty.
    pub fn unregister_plugin(
        &self,
        path: &Path,
        scope: Scope,
        doing: ApplyMode,
    ) -> Result<Change, RegisterError> {
        let path = &self.checked_plugin(path, scope)?;
        let bytes = self.disk.read_if_there(path)?;
        if !bytes.as_deref().is_some_and(is_plugin) {
            return Ok(Change::Absent);
        }
        if doing == ApplyMode::Write {
            let kept = self.memory.of(path)?;
            self.disk.remove_file(path)?;
            let made_folder = kept.is_some_and(|kept| kept.made_folder);
            if let Some(folder) = path.parent().filter(|_| made_folder) {
                // One that others put something into stays.
                drop(self.disk.remove_dir(folder));
                if scope == Scope::Project
                    && let Some(outer) = folder.parent()
                {
                    drop(self.disk.remove_dir(outer));
                }
            }
            self.memory.forget(path)?;
        }
        Ok(Change::Restored)
    }

    /// Returns the command that the plugin runs, if there is one of ours.
    pub fn plugin_command(&self, path: &Path) -> Result<Option<String>, RegisterError> {
        let bytes = self.disk.read_if_there(path)?.unwrap_or_default();
        if !is_plugin(&bytes) {
            return Ok(None);
        }
        let text = String::from_utf8_lossy(&bytes);
        let mut lines = text.lines().filter_map(|line| line.strip_prefix(COMMAND));
        let words: Option<Vec<String>> = lines
            .next()
            .and_then(|words| serde_json::from_str(words).ok());
        let words = words.unwrap_or_default();
        let command = shlex::try_join(words.iter().map(String::as_str)).unwrap_or_default();
        // What someone has changed it to is shown, and does not count.
        Ok(is_ours(&command, CLIENT).then_some(command))
    }

    /// Returns the plugins that are remembered and are none of these: those of other projects.
    pub fn remembered_plugins(&self, beside: &[PathBuf]) -> Result<Vec<PathBuf>, RegisterError> {
        let all = self.memory.all()?.into_iter();
        let of_client = all.filter(|kept| kept.client == CLIENT);
        let known: Vec<PathBuf> = beside.iter().map(|path| self.resolved(path)).collect();
        let others = of_client.filter(|kept| !known.contains(&kept.path));
        Ok(others.map(|kept| kept.path).collect())
    }

    /// Returns the file itself. In a cloned repository a link must not lead out of it.
    fn checked_plugin(&self, path: &Path, scope: Scope) -> Result<PathBuf, RegisterError> {
        // The nearest folder that exists decides.
        let mut real = path.to_owned();
        for there in path.ancestors() {
            if let Ok(found) = self.disk.canonicalize(there) {
                let below = path.strip_prefix(there).unwrap_or(Path::new(""));
                real = if below.as_os_str().is_empty() {
                    found
                } else {
                    found.join(below)
                };
                break;
            }
        }
        if scope == Scope::Project && !real.starts_with(self.resolved(&self.root)) {
            let path = path.to_owned();
            return Err(RegisterError::LeadsOut { path });
        }
        Ok(real)
    }
}

/// Returns whether a file is our plugin, of any version.
fn is_plugin(bytes: &[u8]) -> bool {
    let first = TEXT.lines().next().unwrap_or_default();
    bytes.starts_with(first.as_bytes())
}

#[cfg(test)]
mod tests {
    use callosum_host::Disk;

    use super::*;

    fn ground() -> (tempfile::TempDir, Registrar, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let top = Disk::real().canonicalize(folder.path()).unwrap();
        let registrar = Registrar::new(Disk::real(), top.join("memory"), top.join("project"));
        Disk::real().create_dir_all(&top.join("project")).unwrap();
        let own = top.join("config/opencode");
        (folder, registrar, own)
    }

    #[test]
    fn the_plugin_is_written_once_found_and_removed() {
        let (_folder, registrar, own) = ground();
        let disk = Disk::real();
        for scope in [Scope::User, Scope::Project] {
            let path = registrar.plugin(scope, &own);
            let register = |command| {
                let change = registrar.register_plugin(&path, scope, command, ApplyMode::Write);
                change.unwrap()
            };
            let command = "'/opt/my tools/callosum' hook opencode";
            assert_eq!(register(command), Change::Registered);
            assert_eq!(register(command), Change::Unchanged);
            let found = registrar.plugin_command(&path).unwrap().unwrap();
            assert_eq!(found, format!("{command} {EVENT}"));
            assert_eq!(register("callosum hook opencode"), Change::Registered);
            let removed = registrar.unregister_plugin(&path, scope, ApplyMode::Write);
            assert_eq!(removed.unwrap(), Change::Restored);
            assert!(!disk.exists(path.parent().unwrap()).unwrap());
            assert_eq!(registrar.plugin_command(&path).unwrap(), None);
        }
        let left = disk.list_dir(&registrar.memory.folder).unwrap();
        assert_eq!(left.len(), 0, "{left:?}");
    }

    #[test]
    fn a_plugin_of_someone_else_is_left() {
        let (_folder, registrar, own) = ground();
        let disk = Disk::real();
        let path = registrar.plugin(Scope::User, &own);
        disk.create_dir_all(path.parent().unwrap()).unwrap();
        disk.replace(&path, b"export const Mine = 1\n", 0o644)
            .unwrap();
        let refused = registrar.register_plugin(
            &path,
            Scope::User,
            "callosum hook opencode",
            ApplyMode::Write,
        );
        assert!(matches!(refused, Err(RegisterError::NotOurs { .. })));
        let absent = registrar.unregister_plugin(&path, Scope::User, ApplyMode::Write);
        assert_eq!(absent.unwrap(), Change::Absent);
        assert_eq!(disk.read(&path).unwrap(), b"export const Mine = 1\n");
    }

    /// A cloned repository may hold a link at the plugin's path.
    #[test]
    fn a_plugin_of_a_project_is_not_written_out_of_it() {
        let (folder, registrar, own) = ground();
        let outside = folder.path().join("outside");
        std::fs::create_dir(&outside).unwrap();
        let link = registrar.root.join(OF_PROJECT);
        std::os::unix::fs::symlink(&outside, link).unwrap();
        let path = registrar.plugin(Scope::Project, &own);
        let refused = registrar.register_plugin(
            &path,
            Scope::Project,
            "callosum hook opencode",
            ApplyMode::Write,
        );
        assert!(matches!(refused, Err(RegisterError::LeadsOut { .. })));
        assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 0);
    }
}
