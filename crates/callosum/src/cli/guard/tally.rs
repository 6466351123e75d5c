//! [`Tally`]: what the guard has decided on a machine, counted by who goes on counting.
//!
//! Start with [`Tally::text`]. A daemon is asked for it again and again, so of each journal it reads what was written since it
//! was asked last. The form of what it says is `metrics`'.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    path::PathBuf,
};

use callosum_host::Disk;
use callosum_ledger::{AuditPlace, AuditReader, Event, Journal, LedgerPaths, waiting};

use super::{
    log::{self, DecisionOutput},
    metrics::Counts,
};
use crate::{
    cli::{audit, store},
    config::{Environment, Homes, Project, Repositories, Told},
    ui::CommandError,
};

/// What was counted until now, by the folder of each journal.
#[derive(Debug, Default)]
pub(in crate::cli) struct Tally(BTreeMap<PathBuf, Counted>);

/// What was counted of one journal.
#[derive(Debug, Default)]
struct Counted {
    place: AuditPlace,
    counts: Counts,
    /// The ids of events that have waited for the journal and are in it.
    taken_over: BTreeSet<String>,
}

impl Tally {
    /// The metrics of the machine's own journal and of those of the projects that were begun on it.
    pub(in crate::cli) fn text(
        &mut self,
        disk: &Disk,
        homes: &Homes,
        environment: &Environment,
    ) -> Result<String, CommandError> {
        let mut counts = Counts::default();
        self.add(
            disk,
            &Journal::Machine(homes.journal()).paths(),
            &mut counts,
        )?;
        let known = Repositories::new(disk, homes.repositories()).all();
        let known = known.map_err(|error| store::disk_failed(&error))?.known;
        let mut unread = 0u64;
        for root in known.into_iter().map(|repository| repository.root) {
            // One that was removed since has no decisions any more.
            if !disk.exists(&root).unwrap_or(true) {
                continue;
            }
            let project = Project::load(disk, environment, &root, &Told::default()).ok();
            let project = project.filter(|project| project.roots.state == root);
            let is_read = project.is_some_and(|project| {
                let paths = project.places.ledger;
                match disk.exists(&paths.audit) {
                    Ok(true) => self.add(disk, &paths, &mut counts).is_ok(),
                    is_there => is_there.is_ok(),
                }
            });
            unread += u64::from(!is_read);
        }
        let mut text = counts.text();
        let name = "cake_unread_projects";
        let _ = writeln!(
            text,
            "# HELP {name} Projects whose decisions could not be read\n# TYPE {name} gauge\n{name} {unread}"
        );
        Ok(text)
    }

    /// Goes on with one journal, and adds all that was counted of it, and what waits for it.
    fn add(
        &mut self,
        disk: &Disk,
        paths: &LedgerPaths,
        sum: &mut Counts,
    ) -> Result<(), CommandError> {
        // Before the journal is read: what is taken over meanwhile would else be in neither.
        let waiting = waiting(disk, paths).map_err(|error| store::disk_failed(&error))?;
        let counted = self.0.entry(paths.audit.clone()).or_default();
        let gone_on = counted.go_on(disk, paths);
        if let Err(error) = gone_on {
            // Part of it may have been counted.
            self.0.remove(&paths.audit);
            return Err(error);
        }
        sum.join(&counted.counts);
        for (event, at) in &waiting {
            let id = log::id(&event.details);
            let is_in_both = id.is_some_and(|id| counted.taken_over.contains(&id));
            if event.event == Event::Guard && !is_in_both {
                sum.add(&DecisionOutput::of_event(event, *at));
            }
        }
        Ok(())
    }
}

impl Counted {
    fn go_on(&mut self, disk: &Disk, paths: &LedgerPaths) -> Result<(), CommandError> {
        let reader = AuditReader::new(disk.clone(), paths.clone());
        loop {
            let Self {
                place,
                counts,
                taken_over,
            } = self;
            let is_new = *place == AuditPlace::default();
            let gone_on = reader.go_on(place, |record| {
                if record.event == Event::Guard.as_str() {
                    taken_over.extend(log::id(&record.details));
                    counts.add(&DecisionOutput::of(record).1);
                }
            });
            match gone_on {
                // Another journal stands there now, or less of it.
                Ok(false) if !is_new => *self = Self::default(),
                Ok(_) => return Ok(()),
                Err(error) => return Err(audit::unreadable(&error)),
            }
        }
    }
}
