//! [`MachineMetrics`]: guard and operator metrics of this machine, for every project that `callosum init` has set up.
//!
//! Start with [`MachineMetrics::families`]. A daemon calls it again and again, so it reads of each
//! journal only the events written since the last call.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use callosum_app::guard::log;
use callosum_app::{CommandError, Exit, audit, disk_errors};
use callosum_client::intervention;
use callosum_config::{Environment, Homes, Project, ProjectOverrides, Repositories};
use callosum_host::Disk;
use callosum_ledger::{AuditPlace, AuditReader, Event, Journal, LedgerPaths, waiting};
use callosum_metrics::{CakeMetrics, Family, Value};
use jiff::Timestamp;

use super::log::DecisionOutput;

/// The counts so far, by the path of each journal.
#[derive(Debug, Default)]
pub(crate) struct MachineMetrics(BTreeMap<PathBuf, Counted>);

/// The counts of one journal.
#[derive(Debug, Default)]
struct Counted {
    place: AuditPlace,
    metrics: CakeMetrics,
    /// The ids of events that waited for the journal and are in it now.
    taken_over: BTreeSet<String>,
}

impl MachineMetrics {
    /// Returns the metrics of the machine's own journal, of the projects' journals and of the recall database.
    ///
    /// # Errors
    /// If the machine's journal, the list of projects or the recall database cannot be read. A project that cannot be read
    /// is counted as such.
    pub(crate) fn families(
        &mut self,
        disk: &Disk,
        homes: &Homes,
        environment: &Environment,
    ) -> Result<Vec<Family>, CommandError> {
        let mut sum = CakeMetrics::default();
        let clock = environment
            .clock()
            .map_err(|error| CommandError::from_error(Exit::Environment, &error))?;
        let now = clock.now();
        self.add(
            disk,
            &Journal::Machine(homes.journal()).paths(),
            now,
            &mut sum,
        )?;
        let known = Repositories::new(disk, homes.repositories()).all();
        let known = known
            .map_err(|error| disk_errors::disk_failed(&error))?
            .known;
        let mut unread = 0u64;
        for root in known.into_iter().map(|repository| repository.root) {
            // A project that was removed has no decisions any more.
            if !disk.exists(&root).unwrap_or(true) {
                continue;
            }
            let project =
                Project::load(disk, environment, &root, &ProjectOverrides::default()).ok();
            let project = project.filter(|project| project.roots.state == root);
            let is_read = project.is_some_and(|project| {
                let paths = project.places.ledger;
                match disk.exists(&paths.audit) {
                    Ok(true) => self.add(disk, &paths, now, &mut sum).is_ok(),
                    is_there => is_there.is_ok(),
                }
            });
            unread += u64::from(!is_read);
        }
        intervention::each_sent_message(disk, homes, environment, now, |message| {
            sum.message(message);
        })
        .map_err(|error| CommandError::from_error(Exit::Environment, &error))?;
        let mut families = sum.families();
        let unreadable = Family::gauge(
            "cake_unread_projects",
            "Projects whose decisions could not be read",
        );
        families.push(unreadable.of(Value::Integer(unread)));
        Ok(families)
    }

    /// Reads on in one journal, and adds all that was counted of it and of the events that wait for it.
    fn add(
        &mut self,
        disk: &Disk,
        paths: &LedgerPaths,
        now: Timestamp,
        sum: &mut CakeMetrics,
    ) -> Result<(), CommandError> {
        // Read before the journal: an event that moves into it in between would be in neither
        // otherwise.
        let waiting = waiting(disk, paths).map_err(|error| disk_errors::disk_failed(&error))?;
        let counted = self.0.entry(paths.audit.clone()).or_default();
        if let Err(error) = counted.read_on(disk, paths) {
            // Part of it may have been counted.
            self.0.remove(&paths.audit);
            return Err(error);
        }
        counted.metrics.settle(now);
        sum.join(&counted.metrics);
        let mut buffered = CakeMetrics::default();
        for (event, at) in &waiting {
            let id = log::id(&event.details);
            let is_in_both = id.is_some_and(|id| counted.taken_over.contains(&id));
            if event.event == Event::Guard && !is_in_both {
                buffered.decision(&DecisionOutput::of_event(event, *at).counted(*at));
            }
        }
        sum.join(&buffered);
        Ok(())
    }
}

impl Counted {
    fn read_on(&mut self, disk: &Disk, paths: &LedgerPaths) -> Result<(), CommandError> {
        let reader = AuditReader::new(disk.clone(), paths.clone());
        loop {
            let Self {
                place,
                metrics,
                taken_over,
            } = self;
            let is_new = *place == AuditPlace::default();
            let read = reader.go_on(place, |record| {
                if record.event == Event::Guard.as_str() {
                    taken_over.extend(log::id(&record.details));
                    let (at, decision) = DecisionOutput::of(record);
                    metrics.decision(&decision.counted(at));
                }
            });
            match read {
                // The journal was replaced or cut.
                Ok(false) if !is_new => *self = Self::default(),
                Ok(_) => return Ok(()),
                Err(error) => return Err(audit::unreadable(&error)),
            }
        }
    }
}
