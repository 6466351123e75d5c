//! A trajectory made good: what the session decided and its records have lost comes back from beads and notes.

use serde_json::Value;

use super::{Healed, Healer};
use crate::{
    fork::Source,
    span::Whose,
    step::{Held, SessionError, second},
    trajectory::day_files,
    unrecorded::Unrecorded,
};

impl Held<'_> {
    /// Brings back the records of decisions that beads or notes have and no trajectory has. They count as before, and
    /// say where they come from.
    pub(super) fn heal_trajectory(&self, healed: &mut Vec<Healed>) -> Result<(), SessionError> {
        let session = &self.session;
        let read = session.recorded_since_handoff(Whose::Everyone)?;
        let cited = read.records.iter().map(|(_, record)| record);
        let cited = cited.filter(|record| record.phase() == "cite");
        let cited = cited.map(|record| (record.text("decision"), record.text("claim")));
        let mut lost = session.unrecorded(cited)?;
        // Of when the others are, nobody knows: they count where they stand.
        lost.retain(|lost| lost.decision.is_dated());
        let Some(first) = lost.first() else {
            return Ok(());
        };
        let ts = second(session.clock.now());
        let day = first.decision.ts.get(..10).unwrap_or_default();
        let files = day_files(session.disk, session.zones)?;
        let is_gone = !files.iter().any(|file| file.day.as_str() >= day);
        let file = session.trajectory().file_of(&ts[..10])?;
        for (source, from) in [
            (Source::Bead, Healer::Beads),
            (Source::Notes, Healer::Notes),
        ] {
            let many = match lost.iter().filter(|lost| lost.from == source).count() {
                0 => continue,
                1 => "1 decision".to_owned(),
                many => format!("{many} decisions"),
            };
            let was = if is_gone {
                format!("missing, and {many} with it")
            } else {
                format!("without {many}")
            };
            healed.push(Healed {
                file: session.zones.named(&file),
                was,
                from,
                aside: None,
            });
        }
        let agent = session.agent.to_string();
        let record = |lost: &Unrecorded| lost.record(&agent);
        let records: Vec<Value> = lost.iter().map(record).collect();
        self.tell(agent.clone(), &ts, records)
    }
}
