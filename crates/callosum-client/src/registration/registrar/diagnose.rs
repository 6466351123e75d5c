//! Reasons why a client may not call the hook, gathered from all of its settings.

use std::path::{Path, PathBuf};

use callosum_executor::client::Client;

use super::{RegisterError, Registrar, Scope, SettingsFile, settings};
use crate::registration::{
    codex,
    hook_diagnosis::{self, HookIssue},
    hook_entry,
};

/// Folders of a machine's managed settings, which take precedence over all others.
const MANAGED: [&str; 2] = ["/etc", "/Library"];

impl Registrar {
    /// Returns the reasons why the client may not call the hook although our entry is there, each
    /// with its file; `own` is the client's own folder.
    ///
    /// Settings that are missing or cannot be read are ignored.
    pub fn doubts(
        &self,
        place: &SettingsFile,
        own: &Path,
    ) -> Result<Vec<(PathBuf, HookIssue)>, RegisterError> {
        let path = self.resolved(&place.path);
        let Some(text) = self.text(place, &path)? else {
            return Ok(Vec::new());
        };
        let client = place.client.program;
        let of_entries = hook_diagnosis::of_entries(client, &place.hooks, &text).into_iter();
        let mut doubts: Vec<_> = of_entries
            .map(|doubt| (place.path.clone(), doubt))
            .collect();
        let files = self.settings_of(place.client, own);
        let texts: Vec<String> = files.iter().map(|file| self.content_of(file)).collect();
        for (at, doubt) in hook_diagnosis::of_switches(client, &texts) {
            let file = files[at].clone();
            let is_managed = MANAGED.iter().any(|folder| file.starts_with(folder));
            // Clients read that one there alone.
            if is_managed || !matches!(doubt, HookIssue::ManagedOnly { .. }) {
                doubts.push((file, doubt));
            }
        }
        let of_project = self.root.join(place.client.home.folder);
        let variables = [of_project.join(".env"), self.root.join(".env")];
        let set = files.iter().filter(|file| file.starts_with(&of_project));
        let reads_variables = matches!(client, "gemini" | "qwen");
        let variables = variables.iter().filter(|_| reads_variables);
        for file in set.chain(variables).filter(|file| !file.starts_with(own)) {
            let doubts_of = hook_diagnosis::of_variables(&self.content_of(file)).into_iter();
            doubts.extend(doubts_of.map(|doubt| (file.clone(), doubt)));
        }
        doubts.extend(self.untrusted_folder(place, own));
        if place.client.hooks_to_trust.is_some() {
            let file = own.join(place.client.settings);
            let content = self.content_of(&file);
            if place.scope == Scope::Project {
                let real = self.resolved(&self.root);
                let main = self.main_tree();
                let roots = [Some(self.root.as_path()), Some(&real), main.as_deref()];
                let roots: Vec<&Path> = roots.into_iter().flatten().collect();
                if !codex::trusts_project(&content, &roots) {
                    let project = self.root.display().to_string();
                    doubts.push((file.clone(), HookIssue::ProjectNotTrusted { project }));
                }
            }
            let standing = hook_entry::standing(&text, place.hooks.before_tool, client)
                .map_err(|source| settings(place, source))?;
            let is_off = |at: &(usize, usize)| {
                let mut paths = [&place.path, &path].into_iter();
                paths.any(|path| hook_diagnosis::is_off_in_codex(&content, path, *at))
            };
            if standing.iter().any(is_off) {
                let key = "hooks.state".to_owned();
                doubts.push((file, HookIssue::OffByName { key }));
            }
        }
        Ok(doubts)
    }

    /// The doubt that a person has not trusted the project, where its own settings name the hook, and the file that would say
    /// so.
    fn untrusted_folder(&self, place: &SettingsFile, own: &Path) -> Option<(PathBuf, HookIssue)> {
        if place.scope != Scope::Project {
            return None;
        }
        let real = self.resolved(&self.root);
        let folders = [self.root.as_path(), real.as_path()];
        let (file, is_trusted) = match place.client.program {
            "claude" => {
                // In its own folder if a variable names that, else next to it.
                let within = own.join(".claude.json");
                let beside = own.with_file_name(".claude.json");
                let notes = [&within, &beside].map(|file| self.content_of(file));
                let trusts = |notes: &String| {
                    let mut folders = folders.iter();
                    folders.any(|folder| hook_diagnosis::claude_trusts(notes, folder))
                };
                (beside, notes.iter().any(trusts))
            }
            "gemini" => {
                let settings =
                    hook_entry::value(&self.content_of(&own.join(place.client.settings)));
                let switch = settings.as_ref().and_then(|settings| {
                    settings.pointer("/security/folderTrust/enabled")?.as_bool()
                });
                let file = own.join("trustedFolders.json");
                let list = self.content_of(&file);
                let mut folders = folders.iter();
                let is_listed = folders.any(|folder| hook_diagnosis::gemini_trusts(&list, folder));
                (file, switch == Some(false) || is_listed)
            }
            _ => return None,
        };
        let project = self.root.display().to_string();
        (!is_trusted).then_some((file, HookIssue::FolderNotTrusted { project }))
    }

    /// Returns the main tree of the repository, if the project is a linked worktree: a person has
    /// trusted both there.
    fn main_tree(&self) -> Option<PathBuf> {
        let content = self.content_of(&self.root.join(".git"));
        let folder = Path::new(content.strip_prefix("gitdir: ")?.trim_end());
        let shared = folder
            .parent()
            .filter(|parent| parent.ends_with("worktrees"))?;
        shared.parent()?.parent().map(Path::to_owned)
    }

    fn content_of(&self, file: &Path) -> String {
        let content = self.disk.read_if_there(file).ok().flatten();
        String::from_utf8_lossy(&content.unwrap_or_default()).into_owned()
    }

    /// The settings of a client, from those that count most to those that count least.
    fn settings_of(&self, client: &Client, own: &Path) -> Vec<PathBuf> {
        let [etc, library] = match client.program {
            "claude" => [
                "claude-code/managed-settings.json",
                "Application Support/ClaudeCode/managed-settings.json",
            ],
            "gemini" => [
                "gemini-cli/settings.json",
                "Application Support/GeminiCli/settings.json",
            ],
            "qwen" => [
                "qwen-code/settings.json",
                "Application Support/QwenCode/settings.json",
            ],
            _ => ["codex/requirements.toml", "Codex/requirements.toml"],
        };
        let managed = MANAGED.iter().zip([etc, library]);
        let mut files: Vec<PathBuf> = managed
            .map(|(folder, file)| Path::new(folder).join(file))
            .collect();
        let of_project = self.root.join(client.home.folder);
        if client.program == "claude" {
            files.push(of_project.join("settings.local.json"));
        }
        files.push(of_project.join(client.settings));
        files.push(own.join(client.settings));
        files
    }
}
