//! [`Plan`]: the changes that the files of another project come to here. Decides, and writes nothing.

use std::collections::{HashMap, HashSet};

use jiff::{ToSpan as _, civil::Date, tz::TimeZone};
use serde_json::Value;

use super::{
    PHASE,
    base::{State, States},
    offer::{LARGEST_PART, LeftOut, Offer, checksum, too_large, without_secrets},
    part::Part,
    pull::{BeadChange, Named, NewDecision, NewRecords, Pulled},
};
use crate::{
    bead::Sheet,
    merge::{Kind, MergeError, Merged, merged, units},
    notes::Notes,
    trajectory::{Agent, content_of, day_files, records},
    transaction::{Session, SessionError},
    zones::ZoneError,
};

/// An offer, and the contents that came with it.
#[derive(Clone, Debug)]
pub struct Received {
    /// The offer.
    pub offer: Offer,
    /// The contents by name; of files that are known already, none.
    pub contents: HashMap<String, String>,
}

/// A file to write.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) part: Part,
    /// The merged content.
    pub(super) bytes: Vec<u8>,
    /// The common ancestor.
    pub(super) base: Option<String>,
    /// Their version.
    pub(super) theirs: String,
}

/// All changes.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) steps: Vec<Step>,
    pub(super) pulled: Pulled,
    /// The state afterwards.
    pub(super) state: State,
    /// Whether the state differs from the one that is stored.
    pub(super) is_news: bool,
    /// The number of this sync.
    clock: u64,
    today: Date,
}

/// A part of ours that cannot be merged, with the reason.
struct Unusable(String);

impl Session<'_> {
    /// Lists names and checksums of contents that need not be fetched from this project: those
    /// that are here, and those that were taken before.
    pub fn known_parts(&self, source: &str) -> Result<Vec<(String, String)>, SessionError> {
        let own = self.offer()?.parts.into_iter();
        let mut known: Vec<(String, String)> = own.map(|part| (part.uri, part.sha256)).collect();
        let state = States::read(self)?.of(source);
        let taken = state.parts.into_iter();
        known.extend(taken.map(|(name, taken)| (name, taken.sha256)));
        Ok(known)
    }

    /// Decides what becomes of another project's files here.
    pub(super) fn plan(&self, source: &str, received: &Received) -> Result<Plan, SessionError> {
        let states = States::read(self)?;
        let mut plan = Plan {
            steps: Vec::new(),
            pulled: Pulled::default(),
            state: states.of(source),
            is_news: false,
            clock: states.clock().max(received.offer.clock).saturating_add(1),
            today: self.clock.now().to_zoned(TimeZone::UTC).date(),
        };
        for left in &received.offer.left {
            plan.pulled.left.push(left.clone());
        }
        let mut parts: Vec<(Part, &str)> = Vec::new();
        for offered in &received.offer.parts {
            // Offers with other names were refused when they were read.
            parts.extend(Part::parse(&offered.uri).map(|part| (part, offered.sha256.as_str())));
        }
        parts.sort();
        for (part, sha256) in &parts {
            self.plan_part(&mut plan, part, sha256, received)?;
        }
        let offered: HashSet<String> = parts.iter().map(|(part, _)| part.to_string()).collect();
        let was = plan.state.parts.len();
        plan.state.parts.retain(|name, taken| {
            // Old days leave the offer for good; beads and notes may come back.
            taken.text.is_some() || offered.contains(name)
        });
        plan.is_news |= plan.state.parts.len() < was;
        Ok(plan)
    }

    fn plan_part(
        &self,
        plan: &mut Plan,
        part: &Part,
        sha256: &str,
        received: &Received,
    ) -> Result<(), SessionError> {
        let name = part.to_string();
        let file = part.file(self.zones);
        let is_unchanged = plan.state.parts.get(&name).map(|taken| &*taken.sha256) == Some(sha256);
        if is_unchanged && part.kind() == Kind::Trajectory {
            return Ok(());
        }
        let ours = match self.our_text(part)? {
            Ok(ours) => ours,
            Err(Unusable(why)) => {
                plan.leave(file, why);
                return Ok(());
            }
        };
        let served = ours
            .as_deref()
            .map(|text| without_secrets(part.kind(), text));
        if let Some(served) = served.as_ref()
            && checksum(served.as_bytes()) == sha256
        {
            plan.take(&received.offer, part, served, false);
            return Ok(());
        }
        let taken = plan.state.parts.get(&name);
        let known = taken.filter(|_| is_unchanged);
        let known = known.and_then(|taken| taken.text.clone());
        let Some(theirs) = received.contents.get(&name).cloned().or(known) else {
            plan.leave(file, "the other side did not deliver it".to_owned());
            return Ok(());
        };
        if theirs.len() as u64 > LARGEST_PART {
            plan.leave(file, too_large());
            return Ok(());
        }
        if let Some(time) = plan.future_time(part, &theirs) {
            let why = format!("it has a time in the future, {time}");
            plan.leave(file, why);
            return Ok(());
        }
        let steps = plan.steps.len();
        match part {
            Part::Trajectory { agent, day } => {
                let archived = self.archived(agent, day)?;
                let known = [ours.as_deref(), served.as_deref(), Some(&archived)];
                plan.trajectory(agent, day, &file, &theirs, known);
            }
            Part::Bead(_) if ours.is_none() && plan.state.parts.contains_key(&name) => {
                // Someone removed it here: it comes back only if a person says so.
                if !is_unchanged {
                    let what = "removed here, changed there".to_owned();
                    plan.pulled.conflicts.push(Named { file, what });
                }
                return Ok(());
            }
            Part::Bead(_) | Part::Notes => {
                let clean = without_secrets(part.kind(), &theirs);
                let served = served.as_deref().unwrap_or_default();
                let base = plan.state.base(&received.offer, part, served);
                let base = base.filter(|_| ours.is_some()).map(str::to_owned);
                if !plan.document(part, &file, base, ours.as_deref(), &clean) {
                    return Ok(());
                }
            }
        }
        let has_changed = plan.steps.len() > steps;
        plan.take(&received.offer, part, &theirs, has_changed);
        Ok(())
    }

    /// Reads our version; `None` if the file does not exist.
    fn our_text(&self, part: &Part) -> Result<Result<Option<String>, Unusable>, SessionError> {
        let bytes = match self.part_bytes(part) {
            Err(SessionError::Zone(error @ ZoneError::Outside { .. })) => {
                return Ok(Err(Unusable(error.to_string())));
            }
            bytes => bytes?,
        };
        let Some(bytes) = bytes else {
            let path = self.zones.root.join(part.file(self.zones));
            let is_there = self.disk.exists(&path)?;
            return Ok(if is_there {
                let why = format!("ours is not a regular file, or {}", too_large());
                Err(Unusable(why))
            } else {
                Ok(None)
            });
        };
        let not_text = |_| Unusable("ours is not UTF-8 text".to_owned());
        Ok(String::from_utf8(bytes).map(Some).map_err(not_text))
    }

    /// Returns the compressed records of a day; empty if there are none.
    fn archived(&self, agent: &Agent, day: &str) -> Result<String, SessionError> {
        let mut days = day_files(self.disk, self.zones)?.into_iter();
        let day = days.find(|file| file.is_archived && file.agent == *agent && file.day == day);
        let bytes = match day {
            Some(day) => content_of(self.disk, &day)?.unwrap_or_default(),
            None => Vec::new(),
        };
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

impl Plan {
    fn leave(&mut self, file: String, why: String) {
        self.pulled.left.push(LeftOut { file, why });
    }

    /// Remembers the version of theirs that our file includes from now on.
    fn take(&mut self, offer: &Offer, part: &Part, theirs: &str, has_changed: bool) {
        let text = without_secrets(part.kind(), theirs);
        let taken = (theirs, text);
        self.is_news |= self.state.take(offer, part, taken, self.clock, has_changed);
    }

    /// Returns a time in the other project's file that is later than tomorrow.
    fn future_time(&self, part: &Part, theirs: &str) -> Option<String> {
        let tomorrow = self.today.checked_add(1.day()).ok()?;
        let is_later = |time: &&str| {
            let day = time.get(..10).and_then(|day| day.parse::<Date>().ok());
            day.is_some_and(|day| day > tomorrow)
        };
        let of = |value: &Value, key: &str| value.get(key)?.as_str().map(str::to_owned);
        let times: Vec<String> = match part {
            Part::Trajectory { day, .. } => {
                let records = records(theirs.as_bytes()).records.into_iter();
                let times = records.map(|record| record.ts().to_owned());
                std::iter::once(day.clone()).chain(times).collect()
            }
            Part::Bead(_) => {
                let sheet = Sheet::read(theirs).ok()?;
                let members = Value::Object(sheet.members().clone());
                let decisions = members.get("decisions").and_then(Value::as_array);
                let decisions = decisions.into_iter().flatten();
                let times = decisions.filter_map(|decision| of(decision, "ts"));
                of(&members, "created").into_iter().chain(times).collect()
            }
            Part::Notes => {
                let decisions = Notes::read(theirs.into()).decisions().into_iter();
                decisions.map(|decision| decision.ts).collect()
            }
        };
        let later = times.iter().map(String::as_str).find(is_later);
        later.map(|time| time.chars().take(40).collect())
    }

    /// Adds the records that are new here. `known` are our file, our file as others get it, and our
    /// compressed file.
    fn trajectory(
        &mut self,
        agent: &Agent,
        day: &str,
        file: &str,
        theirs: &str,
        known: [Option<&str>; 3],
    ) {
        let of = |text: Option<&str>| -> HashSet<Vec<u8>> {
            let units = units(text.unwrap_or_default().as_bytes()).into_iter();
            units.map(<[u8]>::to_vec).collect()
        };
        let ours = known[0].unwrap_or_default().as_bytes();
        let [raw, served, archived] = known.map(of);
        let (mut unread, mut foreign) = (0, 0);
        let mut new = Vec::new();
        let clean = without_secrets(Kind::Trajectory, theirs);
        for unit in units(clean.as_bytes()) {
            let read = records(unit).records;
            let [record] = read.as_slice() else {
                unread += 1;
                continue;
            };
            if record.phase() == PHASE {
                continue;
            }
            let owner = record.members.get("agent").and_then(Value::as_str);
            if owner.is_some_and(|owner| owner != agent.as_str()) {
                foreign += 1;
                continue;
            }
            let is_masked = served.contains(unit) && !raw.contains(unit);
            if !is_masked && !archived.contains(unit) {
                new.push(unit);
            }
        }
        for (count, what) in [
            (unread, "that are not records"),
            (foreign, "of another agent"),
        ] {
            if count > 0 {
                let what = format!("left out lines {what}: {count}");
                let file = file.to_owned();
                self.pulled.notices.push(Named { file, what });
            }
        }
        let count = new.iter().filter(|unit| !raw.contains(**unit)).count();
        if count == 0 {
            return;
        }
        let mut lines = new.join(&b"\n"[..]);
        lines.push(b'\n');
        // Records are never in conflict.
        let Ok(made) = merged(Kind::Trajectory, None, ours, &lines) else {
            return self.leave(file.to_owned(), MergeError::Unfinished.to_string());
        };
        self.pulled.records.push(NewRecords {
            agent: agent.to_string(),
            day: day.to_owned(),
            records: count,
        });
        self.steps.push(Step {
            part: Part::Trajectory {
                agent: agent.clone(),
                day: day.to_owned(),
            },
            bytes: made.bytes,
            base: None,
            theirs: String::from_utf8_lossy(&lines).into_owned(),
        });
    }

    /// Merges a bead or the notes. Returns whether our file then includes theirs.
    fn document(
        &mut self,
        part: &Part,
        file: &str,
        base: Option<String>,
        ours: Option<&str>,
        theirs: &str,
    ) -> bool {
        let made = match ours {
            Some(ours) => {
                let base = base.as_ref().map(String::as_bytes);
                merged(part.kind(), base, ours.as_bytes(), theirs.as_bytes())
            }
            None => validated(part.kind(), theirs),
        };
        let made = match made {
            Ok(made) => made,
            Err(error) => {
                self.leave(file.to_owned(), error.to_string());
                return false;
            }
        };
        let named = |what: &String| Named {
            file: file.to_owned(),
            what: what.clone(),
        };
        self.pulled
            .conflicts
            .extend(made.conflicts.iter().map(named));
        self.pulled.notices.extend(made.told.iter().map(named));
        if made.bytes != ours.unwrap_or_default().as_bytes() {
            match part {
                Part::Bead(id) => self.pulled.beads.push(BeadChange {
                    id: id.to_string(),
                    is_new: ours.is_none(),
                    keys: changed_keys(ours, &made.bytes),
                }),
                _ => self.notes_changed(ours.unwrap_or_default(), &made.bytes),
            }
            self.steps.push(Step {
                part: part.clone(),
                bytes: made.bytes.clone(),
                base,
                theirs: theirs.to_owned(),
            });
        }
        if part.kind() == Kind::Bead
            && made.conflicts.is_empty()
            && let Ok(apart) = merged(Kind::Bead, None, &made.bytes, theirs.as_bytes())
        {
            self.pulled
                .differing
                .extend(apart.conflicts.iter().map(named));
        }
        made.conflicts.is_empty()
    }

    fn notes_changed(&mut self, ours: &str, made: &[u8]) {
        self.pulled.notes_changed = true;
        let of = |bytes: Vec<u8>| -> Vec<NewDecision> {
            let decisions = Notes::read(bytes).decisions().into_iter();
            let decisions = decisions.map(|decision| NewDecision {
                ts: decision.ts,
                title: decision.title,
            });
            decisions.collect()
        };
        let (was, now) = (of(ours.into()), of(made.to_vec()));
        let without = |all: &[NewDecision], others: &[NewDecision]| -> Vec<NewDecision> {
            let others: HashSet<&NewDecision> = others.iter().collect();
            let rest = all.iter().filter(|decision| !others.contains(decision));
            rest.cloned().collect()
        };
        self.pulled.decisions = without(&now, &was);
        self.pulled.removed = without(&was, &now);
    }
}

/// Returns a file of theirs that is new here, if it can be read.
fn validated(kind: Kind, theirs: &str) -> Result<Merged, MergeError> {
    // A merge with itself would not look at it.
    if crate::merge::first_mark(theirs.as_bytes()).is_some() {
        return Err(MergeError::Unfinished);
    }
    if kind == Kind::Bead {
        Sheet::read(theirs)?;
    }
    Ok(Merged {
        bytes: theirs.as_bytes().to_vec(),
        ..Merged::default()
    })
}

/// Returns the keys of a bead whose values changed; of a new bead, none.
fn changed_keys(ours: Option<&str>, made: &[u8]) -> Vec<String> {
    let made = String::from_utf8_lossy(made);
    let (Some(Ok(was)), Ok(now)) = (ours.map(Sheet::read), Sheet::read(&made)) else {
        return Vec::new();
    };
    let (was, now) = (was.members(), now.members());
    let keys = was
        .keys()
        .chain(now.keys().filter(|key| !was.contains_key(*key)));
    let changed = keys.filter(|key| was.get(*key) != now.get(*key));
    changed.cloned().collect()
}
