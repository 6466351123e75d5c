//! [`Progress`]: the state of a call so far, for an answer before it is decided.
//!
//! The deciding thread notes its results here. After a timeout or a defect, the answer and the
//! record come from them. Missing results are missing in the record, and nothing is looked up,
//! since that lookup may be the one that hangs.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use callosum_host::Disk;

use super::{
    answer::Reply,
    event::Event,
    gather_facts::CallContext,
    record::{self, About, DecisionRecord},
    verdict::{Failure, Judged},
};
use callosum_config::Environment;

/// The facts about a call so far.
#[derive(Clone, Default)]
pub(super) struct Progress(Arc<Mutex<Known>>);

#[derive(Clone, Default)]
struct Known {
    /// The reply once the time is over.
    too_late: Reply,
    /// Whether anything is decided.
    decides: bool,
    event: Option<Arc<Event>>,
    place: Option<Arc<CallContext>>,
}

impl Progress {
    /// Sets the reply once the time is over, and whether that decides anything.
    pub(super) fn prepare(&self, too_late: Reply, decides: bool) {
        let mut known = self.known();
        (known.too_late, known.decides) = (too_late, decides);
    }

    /// Returns the reply once the time is over.
    pub(super) fn too_late(&self) -> Reply {
        self.known().too_late.clone()
    }

    /// Notes what is to be decided.
    pub(super) fn read(&self, event: &Arc<Event>) {
        self.known().event = Some(Arc::clone(event));
    }

    /// Notes where.
    pub(super) fn gathered(&self, place: &Arc<CallContext>) {
        self.known().place = Some(Arc::clone(place));
    }

    /// Leaves a record of a call that was answered without having been decided.
    pub(super) fn record(&self, client: &str, failure: Failure, took: Duration) {
        let known = self.known().clone();
        if !known.decides {
            return;
        }
        let event = known.event.unwrap_or_default();
        let place = known.place.unwrap_or_else(|| {
            let environment = Environment::from_process();
            Arc::new(CallContext::unseen(&Disk::real(), environment, &event))
        });
        let decision = DecisionRecord {
            event: &event,
            about: &About::of(&event.action),
            judged: &Judged::failed(failure),
            snapshot: None,
            auto_allowed: false,
            rewritten: None,
            took,
        };
        record::keep(client, &decision, &place);
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        // No thread leaves it half written.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::{super::event::Action, *};

    /// CAKE-SHIM-1: an answer that came before the decision is on the trail, with why, and with what
    /// was known by then; a hook that only watches leaves nothing.
    #[test]
    fn what_was_known_by_then_is_in_the_record() {
        let folder = tempfile::tempdir().unwrap();
        let variables = [
            ("HOME", folder.path().join("home")),
            ("CALLOSUM_HOME", folder.path().join("machine")),
        ];
        let environment: Environment = variables
            .into_iter()
            .map(|(name, path)| (OsString::from(name), path.into_os_string()))
            .collect();
        let event = Arc::new(Event {
            action: Action::Shell("ls -la".to_owned()),
            call: Some("call-1".to_owned()),
            folder: Some(folder.path().to_owned()),
            ..Event::default()
        });
        let place = Arc::new(CallContext::unseen(&Disk::real(), environment, &event));
        let progress = Progress::default();
        progress.read(&event);
        progress.gathered(&place);
        let disk = Disk::real();
        let days = folder.path().join("machine/journal/audit");
        let records = || -> Vec<serde_json::Value> {
            let names = disk.list_dir(&days).unwrap_or_default();
            let read = |name| disk.read(&days.join(name)).unwrap();
            let bytes: Vec<u8> = names.into_iter().flat_map(|day| read(day.name)).collect();
            let lines = bytes
                .split(|byte| *byte == b'\n')
                .filter(|line| !line.is_empty());
            lines
                .map(|line| serde_json::from_slice(line).unwrap())
                .collect()
        };
        progress.prepare(Reply::default(), false);
        progress.record("codex", Failure::TooLate, Duration::from_secs(4));
        assert_eq!(records().len(), 0);
        progress.prepare(Reply::default(), true);
        progress.record("codex", Failure::TooLate, Duration::from_secs(4));
        progress.record("codex", Failure::Defect, Duration::from_secs(1));
        let found = records();
        assert_eq!(found.len(), 2, "{found:?}");
        let (late, defect) = (&found[0]["details"], &found[1]["details"]);
        assert_eq!(
            (&late["rule"], &late["command"]),
            (&"hook.too-late".into(), &"ls -la".into())
        );
        assert_eq!(
            (&late["decision"], &late["tool_use_id"]),
            (&"asked".into(), &"call-1".into())
        );
        assert_eq!(late["took_us"], 4_000_000);
        assert_eq!(defect["rule"], "hook.defect");
    }
}
