//! [`ClaimScope`]: the agents and the time span whose claims belong to a session.
//!
//! An agent's claims count from its own last hand-off. The session as a whole is the default
//! agent's: its hand-off ends the part of every other agent too, since it has checked the claims of
//! all.

use jiff::Timestamp;

use crate::{
    grounding::ClaimRecords,
    trajectory::{Agent, AnyRecord, Read, RecordForm, Trajectory, day_files},
    transaction::{Session, SessionError},
    untracked_decisions::Unrecorded,
};

/// Scope of claims.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClaimScope {
    /// Those of every agent.
    #[default]
    Everyone,
    /// Those of the session's own agent alone.
    Own,
}

impl Session<'_> {
    /// Reads the records since the last hand-off: those of this agent, or of every agent, with this
    /// one last. Includes marks and differing words in the notes, and decisions of any agent that
    /// notes or beads have and no trajectory has.
    ///
    /// For other agents, records older than this agent's last hand-off are left out.
    pub fn since_handoff(&self, whose: ClaimScope) -> Result<ClaimRecords, SessionError> {
        let read = self.recorded_since_handoff(whose)?;
        let cited = read.recorded.records.iter().map(|(_, record)| record);
        let cited = cited.filter(|record| record.phase() == "cite");
        let of_beads = cited.clone();
        let of_beads = of_beads.map(|record| (record.text("decision"), record.text("bead_id")));
        let revised = self.revised(of_beads)?;
        let cited = cited.map(|record| (record.text("decision"), record.text("claim")));
        let unrecorded = self.unrecorded(cited)?;
        Ok(ClaimRecords {
            revised,
            unrecorded: unrecorded.iter().map(Unrecorded::claim).collect(),
            ..read
        })
    }

    /// Reads the records of trajectories since the last hand-off, as the seed's script does, and
    /// the marks of the notes for them.
    pub fn recorded_since_handoff(&self, whose: ClaimScope) -> Result<ClaimRecords, SessionError> {
        let read = self.kept_since_handoff(whose)?;
        Ok(ClaimRecords {
            marked: self.marked()?,
            ..read.map(|AnyRecord(record)| record).into()
        })
    }

    /// The same, with the kept part of each record.
    pub(crate) fn kept_since_handoff<R: RecordForm>(
        &self,
        whose: ClaimScope,
    ) -> Result<Read<R>, SessionError> {
        let own: Read<R> = self.trajectory().kept_since_handoff()?;
        if whose == ClaimScope::Own {
            return Ok(own);
        }
        let files = day_files(self.disk, self.zones)?.into_iter();
        let mut others: Vec<Agent> = files.map(|file| file.agent).collect();
        others.sort();
        others.dedup();
        let ended = own.handoff.as_ref().map(|(_, record)| time(record.ts()));
        // No one has checked what a merge has brought since.
        let is_since = |kept: &R| match (ended, time(kept.ts())) {
            (Some(Some(ended)), Some(ts)) => ts > ended || own.over.lacks(kept),
            _ => true,
        };
        let mut all = Read::default();
        for agent in others.into_iter().filter(|agent| *agent != self.agent) {
            let of = Trajectory {
                agent,
                ..self.trajectory()
            };
            let read = of.kept_since_handoff()?;
            let records = read.records.into_iter();
            let before = all.records.len();
            all.records
                .extend(records.filter(|(_, kept): &(_, R)| is_since(kept)));
            let has_more = all.records.len() > before;
            all.is_there |= has_more;
            // A line that cannot be read has no time: it counts unless the hand-off names it.
            let is_covered = |names: &[u64]| match (ended, own.over.names_covered()) {
                (None, _) => false,
                (Some(_), true) => names.iter().all(|name| !own.over.lacks_line(*name)),
                (Some(_), false) => !has_more,
            };
            let unread = read.unread.into_iter();
            all.unread
                .extend(unread.filter(|lines| !is_covered(&lines.names)));
            // What an agent wrote before its last hand-off is over, unless the time of the hand-off
            // cannot be read.
            if has_more || read.handoff.is_none() {
                all.bad.extend(read.bad);
                all.not_files.extend(read.not_files);
            }
        }
        all.records.extend(own.records);
        all.bad.extend(own.bad);
        all.unread.extend(own.unread);
        all.not_files.extend(own.not_files);
        Ok(Read {
            is_there: all.is_there || own.is_there,
            handoff: own.handoff,
            positions: own.positions,
            over: own.over,
            ..all
        })
    }
}

fn time(ts: &str) -> Option<Timestamp> {
    ts.parse().ok()
}
