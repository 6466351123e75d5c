//! Removing our entry from settings files, so that others' content stays as they wrote it.
//!
//! If no one has written since, the earlier content is restored to the byte; else our entry is
//! removed from the current content.

use callosum_host::DiskError;
use callosum_json::Checksum;
use std::path::Path;

use super::{ApplyMode, Change, RegisterError, Registrar, SettingsFile, settings};
use crate::registration::{
    clear_override, clear_plugin, context_files,
    hook_entry::{self, Made},
    revert_merge,
    servers::{self, Server},
    settings_backup::SettingsBackup,
};

impl Registrar {
    /// Takes every entry of ours out of the settings. The files of the gate go with the last of them.
    pub fn unregister(
        &self,
        place: &SettingsFile,
        doing: ApplyMode,
    ) -> Result<Change, RegisterError> {
        let change = self.take_out(place, doing)?;
        if doing == ApplyMode::Write && place.hooks.typed.is_some() {
            clear_override::remove(&self.disk, &self.resolved(&place.path))?;
        }
        if doing == ApplyMode::Write && place.hooks.gate.is_some() {
            let mut left = self.memory.all()?.into_iter();
            if !left.any(|kept| kept.client == place.client.program) {
                clear_plugin::remove_files(&self.disk, &self.gate_folder())?;
            }
        }
        Ok(change)
    }

    /// Takes the folder of the gate out of what a client knows of plugins, in its own folder, once its files are gone.
    pub fn forget_gate(&self, own: &Path) -> Result<(), DiskError> {
        if clear_plugin::program(&self.disk, &self.gate_folder())?.is_some() {
            return Ok(());
        }
        clear_plugin::forget(&self.disk, own, &self.gate_folder())
    }

    fn take_out(&self, place: &SettingsFile, doing: ApplyMode) -> Result<Change, RegisterError> {
        let path = self.checked(place)?;
        if doing == ApplyMode::Write {
            self.sweep(&path)?;
        }
        let Some(text) = self.text(place, &path)? else {
            if doing == ApplyMode::Write {
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
                if doing == ApplyMode::Write {
                    self.put_back(kept, before.as_deref())?;
                }
                return Ok(Change::Restored);
            }
        }
        let made = kept.as_ref().map_or_else(Made::default, |kept| Made {
            events: kept.made(place.hooks.before_tool),
            hooks: kept.made_hooks,
            keys: kept.made_keys.clone(),
        });
        let without = without(place, &path, &text, &made)?;
        let change = if without.is_some() {
            Change::Removed
        } else {
            Change::Absent
        };
        if doing == ApplyMode::Write {
            if let Some(mut without) = without {
                if let Some(kept) = &kept {
                    let exact = self.taken_back(place, kept, &text, &without)?;
                    without = exact.unwrap_or(without);
                }
                self.disk.rewrite(&path, without.as_bytes(), 0o600)?;
            }
            self.memory.forget(&path)?;
        }
        Ok(change)
    }

    /// Returns the earlier content with others' later changes: if that is certain, and means the
    /// same as `without`, which is made by structure.
    fn taken_back(
        &self,
        place: &SettingsFile,
        kept: &SettingsBackup,
        text: &str,
        without: &str,
    ) -> Result<Option<String>, DiskError> {
        let (client, hooks) = (place.client.program, &place.hooks);
        let before = match self.memory.content(&kept.path)? {
            // Lines of others stay as they were.
            Some(before) if kept.existed && !servers::is_toml(&kept.path) => before,
            _ => return Ok(None),
        };
        let merged = || {
            let before = String::from_utf8(before).ok()?;
            // What was wanted then is not remembered, but for the checksum of what came of it.
            let mut texts = vec![before.clone()];
            let commands = hook_entry::commands(text, hooks.before_tool, client).ok()?;
            // Up to the word of the event, as it is registered.
            let command = commands.last().and_then(|command| command.rsplit_once(' '));
            if let Some((command, _)) = command {
                let entered = hook_entry::enter(&before, hooks, client, command).ok()??;
                let gated = clear_plugin::enter(&entered.text, &self.gate_folder()).ok();
                let shadowed = hook_entry::enter_with_typed(&before, hooks, client, command).ok();
                let others = [gated.flatten(), shadowed.flatten()];
                let all = [Some(entered)].into_iter().chain(others).flatten();
                texts.extend(all.map(|entered| entered.text));
            }
            if let Some(program) = servers::program(&kept.path, text).ok()? {
                let server = Server {
                    program,
                    typed: place.client.tool_servers?.typed,
                    passed: Vec::new(),
                };
                let served = |text: &String| servers::enter(&kept.path, text, &server).ok()?;
                let all: Vec<_> = texts.iter().filter_map(served).collect();
                texts.extend(all.into_iter().map(|entered| entered.text));
            }
            if let Some(names) = context_files::named(text).ok()? {
                let own = names.last()?;
                let entered = |text: &String| context_files::enter(text, own).ok()?;
                let all: Vec<_> = texts.iter().filter_map(entered).collect();
                texts.extend(all.into_iter().map(|entered| entered.text));
            }
            let is_known = |ours: &String| kept.after == Checksum::of(ours.as_bytes());
            let ours = texts.into_iter().find(is_known)?;
            let merged = revert_merge::merged(&before, &ours, text)?;
            hook_entry::says_the_same(&merged, without).then_some(merged)
        };
        Ok(merged())
    }

    fn put_back(&self, kept: &SettingsBackup, before: Option<&[u8]>) -> Result<(), DiskError> {
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
}

/// Returns settings without our entries, by their structure; `None` if there are none.
pub(super) fn without(
    place: &SettingsFile,
    path: &Path,
    text: &str,
    made: &Made,
) -> Result<Option<String>, RegisterError> {
    let all = || {
        if servers::is_toml(path) {
            return servers::take_out(path, text, made);
        }
        let hooks = hook_entry::take_out(text, &place.hooks, place.client.program, made)?;
        let gate = clear_plugin::take_out(hooks.as_deref().unwrap_or(text), made)?;
        let without = gate.or(hooks);
        let server = servers::take_out(path, without.as_deref().unwrap_or(text), made)?;
        let without = server.or(without);
        let context = context_files::take_out(without.as_deref().unwrap_or(text), made)?;
        Ok(context.or(without))
    };
    all().map_err(|source| settings(place, source))
}
