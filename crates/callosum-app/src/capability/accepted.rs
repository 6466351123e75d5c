//! [`AcceptedManifests`]: the file of the manifests that this machine accepted for a project, in the machine's home.
//!
//! No repository brings it along. What can't be read permits nothing, as with revocations. The format:
//! `docs/formats/capability.md`.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use callosum_config::Homes;
use callosum_host::{Disk, FileLock};
use callosum_plan_run::kernel::accepted::AcceptedError;
use callosum_plan_run::kernel::{AcceptedManifest, Catalogue, Manifest, Review};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::context::Context;
use crate::disk_errors::disk_failed;
use crate::{CommandError, Exit};

/// The version of the file.
const VERSION: u32 = 1;

/// Permission bits of the file.
const MODE: u32 = 0o600;

/// Time to wait for another process that changes the same file.
const LOCK_TIMEOUT: Duration = Duration::from_millis(1500);

/// Accepted manifests by the names of their capabilities.
pub type ByName = BTreeMap<String, AcceptedManifest>;

/// The accepted manifests of one project.
pub struct AcceptedManifests {
    disk: Disk,
    homes: Homes,
    file: PathBuf,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Content {
    version: u32,
    capabilities: ByName,
}

impl AcceptedManifests {
    /// Those of the context's project. Reads and creates nothing.
    pub fn of_project(context: &Context) -> Self {
        let homes = context.project.homes.clone();
        Self {
            disk: context.disk.clone(),
            file: homes.accepted_capabilities(context.state()),
            homes,
        }
    }

    /// Reads them; none where nothing was accepted yet.
    pub fn read(&self) -> Result<ByName, CommandError> {
        let bytes = self.disk.read_if_there(&self.file);
        let Some(bytes) = bytes.map_err(|error| disk_failed(&error))? else {
            return Ok(ByName::new());
        };
        let content: Content =
            serde_json::from_slice(&bytes).map_err(|error| self.unreadable(&error.to_string()))?;
        if content.version != VERSION {
            let found = content.version;
            let why = format!("it has format {found}, but this program supports {VERSION}");
            return Err(self.unreadable(&why));
        }
        Ok(content.capabilities)
    }

    /// Holds back what widened since it was accepted.
    pub fn hold_back(
        &self,
        catalogue: &mut Catalogue,
        tracked: &[Manifest],
        at: Timestamp,
    ) -> Result<(), CommandError> {
        if tracked.is_empty() {
            return Ok(());
        }
        let mut accepted = self.read()?;
        self.review(&mut accepted, Some(catalogue), tracked, at)?;
        Ok(())
    }

    /// Accepts what is new or changed in a compatible way, and holds the rest back.
    pub fn note(
        &self,
        catalogue: &mut Catalogue,
        tracked: &[Manifest],
        at: Timestamp,
    ) -> Result<(), CommandError> {
        if tracked.is_empty() {
            return Ok(());
        }
        let mut accepted = self.read()?;
        let has_news = self.review(&mut accepted, Some(catalogue), tracked, at)?;
        if has_news {
            // Read again: another process may have noted the same, or a person accepted something, since.
            self.change(|accepted| {
                let has_news = Self::reviewed(accepted, None, tracked, at)?;
                Ok(((), has_news))
            })?;
        }
        Ok(())
    }

    /// Changes them under the lock; `edit` returns whether it did.
    pub fn change<T>(
        &self,
        edit: impl FnOnce(&mut ByName) -> Result<(T, bool), AcceptedError>,
    ) -> Result<T, CommandError> {
        let failed = |error| disk_failed(&error);
        self.homes.create_machine(&self.disk).map_err(failed)?;
        // Each folder on the way is this user's alone.
        let own = self.file.parent();
        for folder in [own.and_then(|own| own.parent()), own]
            .into_iter()
            .flatten()
        {
            self.disk.create_private_dir(folder).map_err(failed)?;
        }
        let lock = self.file.with_extension("lock");
        let held = FileLock::acquire_private(&self.disk, &lock, LOCK_TIMEOUT);
        let _held = held.map_err(|error| CommandError::from_error(Exit::Environment, &error))?;
        let mut accepted = self.read()?;
        let (result, has_changed) =
            edit(&mut accepted).map_err(|error| self.unreadable(&error.to_string()))?;
        if has_changed {
            let content = Content {
                version: VERSION,
                capabilities: accepted,
            };
            let mut bytes = serde_json::to_vec_pretty(&content).map_err(CommandError::internal)?;
            bytes.push(b'\n');
            self.disk
                .replace(&self.file, &bytes, MODE)
                .map_err(failed)?;
        }
        Ok(result)
    }

    fn review(
        &self,
        accepted: &mut ByName,
        catalogue: Option<&mut Catalogue>,
        tracked: &[Manifest],
        at: Timestamp,
    ) -> Result<bool, CommandError> {
        let reviewed = Self::reviewed(accepted, catalogue, tracked, at);
        reviewed.map_err(|error| self.unreadable(&error.to_string()))
    }

    /// Takes up what is accepted without a question; returns whether that is anything.
    fn reviewed(
        accepted: &mut ByName,
        mut catalogue: Option<&mut Catalogue>,
        tracked: &[Manifest],
        at: Timestamp,
    ) -> Result<bool, AcceptedError> {
        let mut has_news = false;
        for manifest in tracked {
            let id = manifest.id.to_string();
            match AcceptedManifest::review(accepted.get(&id), manifest, at)? {
                Review::Unchanged => {}
                Review::Accepted(newer) => {
                    has_news = true;
                    accepted.insert(id, *newer);
                }
                Review::Pending(change) => {
                    if let Some(catalogue) = catalogue.as_deref_mut() {
                        catalogue.hold_back(manifest.id.clone(), change);
                    }
                }
            }
        }
        Ok(has_news)
    }

    fn unreadable(&self, why: &str) -> CommandError {
        let what = format!("cannot read `{}`: {why}", self.file.display());
        CommandError::new(Exit::Environment, what).hint(format!(
            "remove it, and every capability counts as seen for the first time: rm {}",
            crate::shell_word(&self.file.to_string_lossy())
        ))
    }
}
