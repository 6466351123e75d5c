//! [`LocalRun`]: this machine's own record of a run: that it was begun here, its folder and tree, its plan, the secret that
//! seals its records, and the calls that a person approved here.
//!
//! A journal may come along with a repository, and its chain needs no key: any writer can add that
//! a call was answered, or that a person settled it. So a run is resumed only in the place that it
//! was begun in, as it was begun, by the records that were written here. A copy of a project's
//! folder has its runs' records, but the runs were not begun in it: it can't know what was done in
//! the original. Format: `docs/formats/plan-run.md`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use callosum_arbiter::delegation::StartMark;
use callosum_host::{Disk, DiskError, random};
use callosum_json::Checksum;
use callosum_plan_run::run::{CallKey, RunId, RunSeals, RunSecret, RunTally, Started};
use serde::{Deserialize, Serialize};

use crate::context::Context;
use crate::plan::cleanup;
use crate::{CommandError, Exit, disk_errors, shell_word};

/// The format of the file.
const FORMAT: u32 = 4;

/// The format of versions that did not keep the tree.
const WITHOUT_TREE: u32 = 3;

/// The format of versions that did not keep the folder.
const WITHOUT_FOLDER: u32 = 2;

/// The format of versions that sealed nothing.
const WITHOUT_SEALS: u32 = 1;

/// Extension of the file with the number of records that were on disk.
const TALLY: &str = "tally";

/// Extension of the files that mark calls whose executors were about to be started.
const START: &str = "start";

/// Permission bits of the file.
const MODE: u32 = 0o600;

/// A run as this machine knows it. The holder of the run's lock writes it.
pub struct LocalRun {
    disk: Disk,
    file: PathBuf,
    run: RunId,
    /// The folder that keeps the project's state, every link resolved.
    folder: String,
    /// The tree that is read and changed, every link resolved: in a linked worktree of git another than the folder.
    tree: String,
}

/// The content of the file.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct StoredRun {
    format: u32,
    /// The folder that keeps the state of the project that it was begun in; not in formats below 3.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    folder: Option<String>,
    /// The tree that it was begun in, the same folder or a linked worktree; not in formats below 4.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tree: Option<String>,
    source_sha256: Checksum,
    input_sha256: Checksum,
    approved: BTreeSet<CallKey>,
    /// Not in the format without seals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    secret: Option<RunSecret>,
    /// The journal's number of the last record of a version that sealed none.
    #[serde(default, skip_serializing_if = "is_zero")]
    unsealed_to: u64,
}

/// As much of the content as every format has.
#[derive(Deserialize)]
struct Versioned {
    format: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks by reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl LocalRun {
    /// Reads and creates nothing.
    pub fn of(context: &Context, run: &RunId) -> Self {
        let folder = context.project.homes.machine.join("plan-runs");
        Self {
            disk: context.disk.clone(),
            file: folder.join(format!("{run}.json")),
            run: run.clone(),
            folder: context.state().to_string_lossy().into_owned(),
            tree: context.tree().to_string_lossy().into_owned(),
        }
    }

    /// Whether a run that was begun in this folder is not known to have ended. Reads the small file of each run of the machine.
    ///
    /// # Errors
    /// If the folder of runs cannot be listed.
    pub fn any_is_of_here(context: &Context) -> Result<bool, CommandError> {
        let folder = context.project.homes.machine.join("plan-runs");
        let entries = context.disk.list_dir(&folder);
        let entries = entries.map_err(|error| disk_errors::disk_failed(&error))?;
        let names = entries.iter().filter_map(|entry| entry.name.to_str());
        let runs = names.filter_map(|name| name.strip_suffix(".json")?.parse::<RunId>().ok());
        let mut runs = runs.map(|run| Self::of(context, &run));
        Ok(runs.any(|run| run.is_of_here()))
    }

    /// Keeps that the run is begun here; returns what its records are sealed with.
    pub fn begin(
        &self,
        context: &Context,
        source_sha256: Checksum,
        input_sha256: Checksum,
    ) -> Result<RunSecret, CommandError> {
        let failed = |error| disk_errors::disk_failed(&error);
        let secret = new_secret()?;
        let homes = &context.project.homes;
        homes.create_machine(&self.disk).map_err(failed)?;
        if let Some(folder) = self.file.parent() {
            self.disk.create_private_dir(folder).map_err(failed)?;
            // What is left there does no harm.
            drop(cleanup::sweep(context, folder));
        }
        self.write(&StoredRun {
            format: FORMAT,
            folder: Some(self.folder.clone()),
            tree: Some(self.tree.clone()),
            source_sha256,
            input_sha256,
            approved: BTreeSet::new(),
            secret: Some(secret.clone()),
            unsealed_to: 0,
        })?;
        Ok(secret)
    }

    /// Returns the seals that tell the run's records that were written here from others. `None` if
    /// it was begun elsewhere, or by a version that sealed none and was not resumed since. Also
    /// `None` if the file can't be read; resuming the run reports that.
    pub fn seals(&self) -> Option<RunSeals> {
        let kept = self.read().ok()?;
        // A copy of the project has what there was when it was made.
        let is_here = kept.folder.as_ref() == Some(&self.folder);
        Some(RunSeals {
            secret: kept.secret?,
            after: kept.unsealed_to,
            tally: if is_here { self.tally().read() } else { 0 },
        })
    }

    /// Whether it is kept of a run that was begun in this folder.
    pub fn is_of_here(&self) -> bool {
        let kept = self.read().ok();
        kept.is_some_and(|kept| kept.folder.as_ref() == Some(&self.folder))
    }

    /// Returns the store for the number of its records on disk.
    pub fn tally(&self) -> RunTally {
        RunTally::new(self.disk.clone(), self.file.with_extension(TALLY))
    }

    /// Returns the mark that the executor of a call was about to be started.
    pub fn start_mark(&self, key: &str) -> StartMark {
        let file = self.file.with_extension(format!("{key}.{START}"));
        StartMark::new(self.disk.clone(), file)
    }

    /// Forgets whose executors were about to be started.
    fn remove_start_marks(&self) -> Result<(), DiskError> {
        let Some(folder) = self.file.parent() else {
            return Ok(());
        };
        for entry in self.disk.list_dir(folder)? {
            let name = entry.name.to_string_lossy();
            if name.starts_with(self.run.as_str()) && name.ends_with(START) {
                self.disk.remove_file(&folder.join(&entry.name))?;
            }
        }
        Ok(())
    }

    /// Fails where a newer version keeps it, which alone may end it.
    pub fn refuse_newer(&self) -> Result<(), CommandError> {
        let bytes = self.disk.read_if_there(&self.file);
        let bytes = bytes.map_err(|error| disk_errors::disk_failed(&error))?;
        self.refuse_newer_format(&bytes.unwrap_or_default())
    }

    fn refuse_newer_format(&self, bytes: &[u8]) -> Result<(), CommandError> {
        let versioned = serde_json::from_slice(bytes).ok();
        let Some(Versioned { format }) = versioned.filter(|kept: &Versioned| kept.format > FORMAT)
        else {
            return Ok(());
        };
        let what = format!(
            "`{}` was written by a newer version (format {format}; this version reads {FORMAT})",
            self.file.display()
        );
        Err(CommandError::new(Exit::Environment, what).hint("use the newer callosum that wrote it"))
    }

    /// Returns what the records of a run are sealed with from here on.
    ///
    /// Of one that was begun by a version that sealed none, the records up to the journal's number `last` count as
    /// they stand.
    pub fn secret(&self, last: u64) -> Result<RunSecret, CommandError> {
        let kept = self.read_of_here()?;
        if let Some(secret) = kept.secret {
            return Ok(secret);
        }
        let secret = new_secret()?;
        self.write(&StoredRun {
            format: FORMAT,
            folder: Some(self.folder.clone()),
            tree: Some(self.tree.clone()),
            secret: Some(secret.clone()),
            unsealed_to: last,
            ..kept
        })?;
        Ok(secret)
    }

    /// Returns the calls that were approved here. Fails where the run was not begun here, or as another.
    pub fn approved(&self, started: &Started) -> Result<BTreeSet<CallKey>, CommandError> {
        let kept = self.read_of_here()?;
        if kept.source_sha256 != started.source_sha256 || kept.input_sha256 != started.input_sha256
        {
            let what = format!(
                "the records of the run {} differ from how it was started here",
                self.run
            );
            return Err(CommandError::new(Exit::No, what).hint("callosum audit verify"));
        }
        Ok(kept.approved)
    }

    /// Keeps that these calls were approved.
    pub fn approve(&self, keys: impl IntoIterator<Item = CallKey>) -> Result<(), CommandError> {
        let mut kept = self.read_of_here()?;
        kept.approved.extend(keys);
        self.write(&kept)
    }

    /// Removes the record of a run that is over. The record of another folder's run that this one
    /// is a copy of stays.
    pub fn end(&self) {
        let elsewhere = self.read().ok().and_then(|kept| self.elsewhere(&kept));
        if elsewhere.is_some_and(|folder| self.is_there(&folder)) {
            return;
        }
        // Without it, the rest is about a run that no process can resume.
        drop(self.remove_start_marks());
        drop(self.tally().remove());
        drop(self.disk.remove_file(&self.file));
    }

    /// The other folder that the run was begun in.
    fn elsewhere(&self, kept: &StoredRun) -> Option<String> {
        let folder = kept.folder.clone();
        folder.filter(|folder| *folder != self.folder)
    }

    /// One that can't be looked at may be there.
    fn is_there(&self, folder: &str) -> bool {
        self.disk.exists(Path::new(folder)).unwrap_or(true)
    }

    /// Reads the record of a run that was begun in this folder and this tree.
    fn read_of_here(&self) -> Result<StoredRun, CommandError> {
        let kept = self.read()?;
        if let Some(folder) = self.elsewhere(&kept) {
            let back = format!(
                "move the project back: mv {} {}",
                shell_word(&self.folder),
                shell_word(&folder)
            );
            return Err(self.begun_in("", &folder, "and this is a copy of it", Some(back)));
        }
        let tree = kept.tree.clone().filter(|tree| *tree != self.tree);
        if let Some(tree) = tree {
            let why = "and what it did there was not done in this one";
            // What it had done there is gone with it.
            return Err(self.begun_in("the worktree ", &tree, why, None));
        }
        Ok(kept)
    }

    /// Returns the error for a run that was begun elsewhere: with `why_not` if that place still
    /// exists, else with the way `back`, if there is one.
    fn begun_in(
        &self,
        noun: &str,
        place: &str,
        why_not: &str,
        back: Option<String>,
    ) -> CommandError {
        let run = &self.run;
        let begun = format!("the run {run} was started in {noun}`{place}`");
        if self.is_there(place) {
            let hint = format!(
                "resume it there: callosum -C {} plan resume {run}",
                shell_word(place)
            );
            return CommandError::new(Exit::No, format!("{begun}, {why_not}")).hint(hint);
        }
        let what = format!("{begun}, which no longer exists");
        let back = back.map_or_else(String::new, |back| format!("{back}; or "));
        CommandError::new(Exit::No, what).hint(format!(
            "nothing was done; {back}end the run: callosum plan cancel {run}"
        ))
    }

    fn read(&self) -> Result<StoredRun, CommandError> {
        let failed = |error| disk_errors::disk_failed(&error);
        if !self.disk.exists(&self.file).map_err(failed)? {
            let what = format!(
                "the run {} was not started on this machine, or has ended here",
                self.run
            );
            return Err(CommandError::new(Exit::No, what).hint(format!(
                "see what it did with `callosum plan show {}`, then start a new run of its plan",
                self.run
            )));
        }
        let bytes = self.disk.read(&self.file).map_err(failed)?;
        self.refuse_newer_format(&bytes)?;
        let kept = serde_json::from_slice(&bytes).ok();
        let is_known = |kept: &StoredRun| match kept.format {
            FORMAT => kept.secret.is_some() && kept.folder.is_some() && kept.tree.is_some(),
            WITHOUT_TREE => kept.secret.is_some() && kept.folder.is_some(),
            WITHOUT_FOLDER => kept.secret.is_some(),
            WITHOUT_SEALS => kept.secret.is_none(),
            _ => false,
        };
        kept.filter(is_known).ok_or_else(|| {
            let what = format!("cannot read `{}`", self.file.display());
            CommandError::new(Exit::Environment, what)
                .hint(format!("callosum plan cancel {}", self.run))
        })
    }

    fn write(&self, kept: &StoredRun) -> Result<(), CommandError> {
        let mut bytes = serde_json::to_vec_pretty(kept).map_err(CommandError::internal)?;
        bytes.push(b'\n');
        let written = self.disk.replace(&self.file, &bytes, MODE);
        written.map_err(|error| disk_errors::disk_failed(&error))
    }
}

fn new_secret() -> Result<RunSecret, CommandError> {
    let bytes = random::secret_bytes();
    let bytes = bytes.map_err(|error| {
        CommandError::because(
            Exit::Environment,
            "cannot get random bytes from the system",
            &error,
        )
    })?;
    Ok(RunSecret::new(bytes))
}
