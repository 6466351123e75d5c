//! [`NewBead`] and [`BeadUpdate`]: requests of a person to create, change or close a bead.

use std::{
    collections::{HashMap, HashSet},
    fmt::Write as _,
};

use serde_json::Value;

use super::{id::BeadId, view::Bead};
use crate::{
    sanitize::{Redaction, one_line},
    timestamp::second,
    transaction::{BeadChange, BeadKey, Intent, LockedSession, NoteChange, SessionError},
};

/// A bead that is about to be made.
#[derive(Clone, Debug, Default)]
pub struct NewBead {
    /// Its id.
    pub id: Option<BeadId>,
    /// Task to do.
    pub title: String,
    /// `feature`, `bug` and so on.
    pub kind: String,
    /// 0 comes first.
    pub priority: i64,
    /// Beads that must be closed first.
    pub needs: Vec<BeadId>,
}

/// A change to a bead.
#[derive(Clone, Debug, Default)]
pub struct BeadUpdate {
    /// Its new title.
    pub title: Option<String>,
    /// Its new status.
    pub status: Option<String>,
    /// Its new priority.
    pub priority: Option<i64>,
    /// Current assignee.
    pub assignee: Option<String>,
    /// Steps that are added to those that come next.
    pub next_steps: Vec<String>,
    /// Whether those that come next are taken out before.
    pub clears_next_steps: bool,
    /// Beads that must be closed first from now on.
    pub needs: Vec<BeadId>,
    /// Beads that no longer need to be closed first.
    pub needs_no_more: Vec<BeadId>,
    /// Whether it becomes the current one in the notes.
    pub is_current: bool,
}

impl NewBead {
    /// The same without secrets.
    #[must_use]
    pub fn redacted(&self, redaction: &mut Redaction) -> Self {
        Self {
            title: redaction.statement(&self.title),
            kind: redaction.statement(&self.kind),
            ..self.clone()
        }
    }
}

impl BeadUpdate {
    /// The same without secrets.
    #[must_use]
    pub fn redacted(&self, redaction: &mut Redaction) -> Self {
        let mut masked =
            |text: &Option<String>| text.as_ref().map(|text| redaction.statement(text));
        Self {
            title: masked(&self.title),
            status: masked(&self.status),
            assignee: masked(&self.assignee),
            next_steps: self
                .next_steps
                .iter()
                .map(|step| redaction.statement(step))
                .collect(),
            ..self.clone()
        }
    }
}

/// Error while creating a bead. Nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum CreateBeadError {
    /// It has no title.
    #[error("a bead must have a title")]
    NoTitle,
    /// One of this id is there.
    #[error("bead `{id}` already exists")]
    Taken {
        /// The id.
        id: BeadId,
    },
    /// A bead that it needs is not there.
    #[error("bead `{id}`, which it would need, does not exist")]
    NoSuchNeed {
        /// The id.
        id: BeadId,
    },
    /// The files do not allow it.
    #[error(transparent)]
    Session(#[from] SessionError),
}

/// Error while changing a bead.
#[derive(Debug, thiserror::Error)]
pub enum UpdateBeadError {
    /// A bead that it should depend on does not exist.
    #[error("bead `{id}`, which it would need, does not exist")]
    NoSuchNeed {
        /// The id.
        id: BeadId,
    },
    /// It would need itself.
    #[error("`{id}` would need itself through `{by}`")]
    Circle {
        /// The bead.
        id: BeadId,
        /// Bead that it should depend on.
        by: BeadId,
    },
    /// It does not need that bead.
    #[error("`{id}` does not need `{other}`")]
    NotNeeded {
        /// The bead.
        id: BeadId,
        /// Bead that it should no longer depend on.
        other: BeadId,
    },
    /// The files do not allow it.
    #[error(transparent)]
    Session(#[from] SessionError),
}

impl LockedSession<'_> {
    /// Creates a bead, with an id from `random` if none is named. It is on disk when this returns.
    pub fn create_bead(
        &self,
        new: &NewBead,
        mut random: impl FnMut() -> String,
    ) -> Result<BeadId, CreateBeadError> {
        let session = &self.session;
        let new = &new.redacted(&mut Redaction::default());
        if new.title.is_empty() {
            return Err(CreateBeadError::NoTitle);
        }
        for id in &new.needs {
            let path = session.beads().path(id).map_err(SessionError::from)?;
            if !session.disk.exists(&path).map_err(SessionError::from)? {
                return Err(CreateBeadError::NoSuchNeed { id: id.clone() });
            }
        }
        loop {
            let id = match &new.id {
                Some(id) => id.clone(),
                None => match BeadId::new(&format!("bd-{}", random())) {
                    Some(id) => id,
                    None => continue,
                },
            };
            let path = session.beads().path(&id).map_err(SessionError::from)?;
            let folder = path.parent().unwrap_or(&path);
            session
                .disk
                .create_dir_all(folder)
                .map_err(SessionError::from)?;
            let text = self.text_of(&id, new);
            if !session.disk.exists(&path).map_err(SessionError::from)? {
                self.keep_version(&path, None)?;
            }
            let is_new = session.disk.create(&path, text.as_bytes(), 0o644);
            match is_new.map_err(SessionError::from)? {
                true => return Ok(id),
                false if new.id.is_some() => return Err(CreateBeadError::Taken { id }),
                false => {}
            }
        }
    }

    fn text_of(&self, id: &BeadId, new: &NewBead) -> String {
        let created = second(self.session.clock.now());
        let kind = if new.kind.is_empty() {
            "task"
        } else {
            new.kind.as_str()
        };
        let title = Value::from(new.title.as_str());
        let kind = Value::from(kind);
        let mut text = format!(
            "id: {id}\ntitle: {title}\ntype: {kind}\nstatus: open\npriority: {}\n\
             created: {created}\nassignee: null\n",
            new.priority
        );
        if !new.needs.is_empty() {
            text.push_str("depends_on:\n");
        }
        for need in &new.needs {
            let _ = writeln!(text, "  - {need}");
        }
        text.push_str(
            "decisions: []\ntest_scenarios: []\nhandoffs: []\nnext_steps: []\nblockers: []\nquestions: []\n",
        );
        text
    }

    /// Changes a bead, and records it in the notes if it should be the current one.
    ///
    /// A change never makes a bead depend on itself.
    pub fn update_bead(&self, id: &BeadId, update: &BeadUpdate) -> Result<Bead, UpdateBeadError> {
        let session = &self.session;
        let before = Bead::of(session.bead(id)?.members());
        self.look_at_needs(id, &before, update)?;
        let update = &update.redacted(&mut Redaction::default());
        let mut changes = Vec::new();
        let mut set = |key, value: Option<Value>| {
            changes.extend(value.map(|value| BeadChange::Set(key, value)));
        };
        let text = |text: &Option<String>| text.as_deref().map(Value::from);
        set(BeadKey::Title, text(&update.title));
        set(BeadKey::Status, text(&update.status));
        set(BeadKey::Assignee, text(&update.assignee));
        set(BeadKey::Priority, update.priority.map(Value::from));
        if update.status.as_deref().is_some_and(super::is_closed) {
            set(BeadKey::Closed, Some(second(session.clock.now()).into()));
        }
        let needs = update.needs.iter();
        changes.extend(needs.map(|need| BeadChange::Need(need.to_string())));
        let needs_no_more = update.needs_no_more.iter();
        changes.extend(needs_no_more.map(|need| BeadChange::NeedNoMore(need.to_string())));
        if update.clears_next_steps {
            changes.push(BeadChange::ClearNextSteps);
        }
        let steps = update.next_steps.iter().cloned();
        changes.extend(steps.map(BeadChange::NextStep));
        let title = before.title;
        let notes = update.is_current.then(|| {
            let title = update.title.as_ref().unwrap_or(&title);
            NoteChange::Bead(format!("{id} ({})", one_line(title)))
        });
        self.commit(&Intent {
            format: 1,
            agent: session.agent.to_string(),
            day: second(session.clock.now())[..10].to_owned(),
            notes: notes.into_iter().collect(),
            bead: Some((id.to_string(), changes)),
            records: Vec::new(),
        })?;
        Ok(Bead::of(session.bead(id)?.members()))
    }

    fn look_at_needs(
        &self,
        id: &BeadId,
        before: &Bead,
        update: &BeadUpdate,
    ) -> Result<(), UpdateBeadError> {
        for other in &update.needs_no_more {
            if !before.needs.iter().any(|need| need == other.as_str()) {
                let (id, other) = (id.clone(), other.clone());
                return Err(UpdateBeadError::NotNeeded { id, other });
            }
        }
        if update.needs.is_empty() {
            return Ok(());
        }
        let session = &self.session;
        let rows = session.beads().list(session.clock.now());
        let rows = rows.map_err(SessionError::from)?.rows;
        let needs: HashMap<&str, &[String]> = rows
            .iter()
            .map(|row| (row.id.as_str(), row.needs.as_slice()))
            .collect();
        for need in &update.needs {
            if !needs.contains_key(need.as_str()) {
                return Err(UpdateBeadError::NoSuchNeed { id: need.clone() });
            }
            let mut seen = HashSet::from([need.as_str()]);
            let mut left = vec![need.as_str()];
            while let Some(next) = left.pop() {
                if next == id.as_str() {
                    return Err(UpdateBeadError::Circle {
                        id: id.clone(),
                        by: need.clone(),
                    });
                }
                let further = needs.get(next).into_iter().copied().flatten();
                left.extend(further.map(String::as_str).filter(|id| seen.insert(id)));
            }
        }
        Ok(())
    }
}
