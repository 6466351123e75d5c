//! [`OwnRun`]: what this machine itself knows of a run: that it was begun here, of which plan, and what a
//! person approved here.
//!
//! A journal may come along with a repository, and its chain needs no key: whoever can write to it can add that
//! a person approved something. So a run is gone on with where it was begun, as it was begun, and an approval
//! counts that was given here. Format: `docs/formats/plan-run.md`.

use std::{collections::BTreeSet, path::PathBuf};

use callosum_arbiter::plan_run::{CallKey, RunId, Started};
use callosum_host::Disk;
use callosum_ledger::Checksum;
use serde::{Deserialize, Serialize};

use crate::{
    cli::{context::Context, store},
    ui::{CommandError, Exit},
};

/// The format of the file.
const FORMAT: u32 = 1;

/// Permission bits of the file.
const MODE: u32 = 0o600;

/// A run as this machine knows it. Written by whoever holds the run's lock.
pub(super) struct OwnRun {
    disk: Disk,
    file: PathBuf,
    run: RunId,
}

/// The content of the file.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Kept {
    format: u32,
    source_sha256: Checksum,
    input_sha256: Checksum,
    approved: BTreeSet<CallKey>,
}

impl OwnRun {
    /// Reads and creates nothing.
    pub(super) fn of(context: &Context, run: &RunId) -> Self {
        let folder = context.project.homes.machine.join("plan-runs");
        Self {
            disk: context.disk.clone(),
            file: folder.join(format!("{run}.json")),
            run: run.clone(),
        }
    }

    /// Keeps that the run is begun here.
    pub(super) fn begin(
        &self,
        context: &Context,
        source_sha256: Checksum,
        input_sha256: Checksum,
    ) -> Result<(), CommandError> {
        let failed = |error| store::disk_failed(&error);
        let homes = &context.project.homes;
        homes.create_machine(&self.disk).map_err(failed)?;
        if let Some(folder) = self.file.parent() {
            self.disk.create_private_dir(folder).map_err(failed)?;
        }
        self.write(&Kept {
            format: FORMAT,
            source_sha256,
            input_sha256,
            approved: BTreeSet::new(),
        })
    }

    /// Returns the calls that were approved here. Fails where the run was not begun here, or as another.
    pub(super) fn approved(&self, started: &Started) -> Result<BTreeSet<CallKey>, CommandError> {
        let kept = self.read()?;
        if kept.source_sha256 != started.source_sha256 || kept.input_sha256 != started.input_sha256
        {
            let what = format!("the run {} is not on record as it was begun here", self.run);
            return Err(CommandError::new(Exit::No, what).hint("callosum audit verify"));
        }
        Ok(kept.approved)
    }

    /// Keeps that these calls were approved.
    pub(super) fn approve(
        &self,
        keys: impl IntoIterator<Item = CallKey>,
    ) -> Result<(), CommandError> {
        let mut kept = self.read()?;
        kept.approved.extend(keys);
        self.write(&kept)
    }

    /// Forgets it: it is over.
    pub(super) fn end(&self) {
        // Left behind it is about a run that nobody can go on with.
        drop(self.disk.remove_file(&self.file));
    }

    fn read(&self) -> Result<Kept, CommandError> {
        let failed = |error| store::disk_failed(&error);
        if !self.disk.exists(&self.file).map_err(failed)? {
            let what = format!("the run {} was not begun on this machine", self.run);
            return Err(CommandError::new(Exit::No, what).hint(format!(
                "see what it did with `callosum plan show {}`, and run its plan anew",
                self.run
            )));
        }
        let bytes = self.disk.read(&self.file).map_err(failed)?;
        let kept = serde_json::from_slice(&bytes).ok();
        kept.filter(|kept: &Kept| kept.format == FORMAT)
            .ok_or_else(|| {
                let what = format!("`{}` is not readable", self.file.display());
                CommandError::new(Exit::Environment, what)
                    .hint(format!("callosum plan cancel {}", self.run))
            })
    }

    fn write(&self, kept: &Kept) -> Result<(), CommandError> {
        let mut bytes = serde_json::to_vec_pretty(kept).map_err(CommandError::internal)?;
        bytes.push(b'\n');
        let written = self.disk.replace(&self.file, &bytes, MODE);
        written.map_err(|error| store::disk_failed(&error))
    }
}
