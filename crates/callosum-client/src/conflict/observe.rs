//! [`Observer`]: the hook's reaction to conflicts after an agent edited files.
//!
//! A conflict opens when an agent edits a file on which another session holds a lease, here or in
//! another work tree of the repository. Both agents get the other's change: the editor at once, the
//! other at its next event. Later edits of either update the versions and are passed on, up to a
//! limit. The agent without the proposal gets a task.

use std::{path::Path, time::Duration};

use callosum_host::{Disk, DiskError, Ids};
use callosum_mesh::{
    Author, Mesh, MeshError,
    agent::{AgentName, US},
    board::{Lease, NewTask},
    conflict::{
        Conflict, ConflictSide, ConflictStore, MOST_NOTICES, Side, StoreError, id_of, propose,
    },
};
use jiff::{SignedDuration, Timestamp};

use super::{
    Known, StoredVersions, Versions, is_lost,
    records::{Records, context_of, read},
    text::{for_editor, for_other, task},
    unified, versions,
};
use crate::hook::worktree::trees;
use callosum_config::{Environment, Homes};

/// Longest wait for another process that changes conflicts.
const PATIENCE: Duration = Duration::from_millis(200);

/// Most conflicts that one edit opens or updates.
const MOST: usize = 5;

/// Most lines of a change in a text.
const MOST_LINES: usize = 40;

/// Most bytes of a notice that waits for its reader.
const LONGEST_NOTICE: usize = 8 * 1024;

/// Longest time between an agent's first edit and its lease: a prompt to a person may have delayed
/// the lease.
const BEFORE_LEASE: SignedDuration = SignedDuration::from_mins(10);

/// The reason why a conflict was not noticed or recorded.
#[derive(Debug, thiserror::Error)]
pub enum ObserverError {
    /// The store cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The disk failed.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// The task cannot be added.
    #[error(transparent)]
    Mesh(#[from] MeshError),
}

/// Notices conflicts on a machine.
#[derive(Clone, Debug)]
pub struct Observer<'a> {
    disk: &'a Disk,
    homes: &'a Homes,
    environment: &'a Environment,
    ids: &'a Ids,
    now: Timestamp,
    store: ConflictStore,
}

impl<'a> Observer<'a> {
    /// Returns an observer at the time `now`. Creates nothing.
    pub fn new(
        disk: &'a Disk,
        (environment, homes): (&'a Environment, &'a Homes),
        ids: &'a Ids,
        now: Timestamp,
    ) -> Self {
        Self {
            disk,
            homes,
            environment,
            ids,
            now,
            store: ConflictStore::new(disk, &homes.conflicts()),
        }
    }

    /// Takes note of an agent's edit, and returns what the agent is to read about conflicts: of the files that it edited, and
    /// what other agents did since its last event.
    ///
    /// `held` are leases of others on files that the call changed for certain, `edited` the files that it names. Only the
    /// agent itself gets what others did before, not its helpers, whose context is their own.
    ///
    /// Without open conflicts and foreign leases it costs a look at a folder, and in a repository with linked work trees a
    /// list of them.
    ///
    /// # Errors
    /// If the store or the mesh cannot be used. Nothing of the edit is undone then.
    pub fn after_edit(
        &self,
        mesh: &mut Mesh,
        voice: &Author,
        held: &[Lease],
        edited: &[String],
        is_helper: bool,
    ) -> Result<String, ObserverError> {
        let mut found: Vec<(String, Lease)> = held
            .iter()
            .map(|lease| (lease.path.clone(), lease.clone()))
            .collect();
        found.extend(self.in_other_trees(mesh, voice, edited)?);
        found.truncate(MOST);
        let session = voice.session_id.as_deref();
        let open = self.store.open()?;
        let is_mine = |conflict: &&Conflict| conflict.place_of(&voice.agent, session).is_some();
        let has_work = open.iter().filter(is_mine).any(|conflict| {
            let place = conflict.place_of(&voice.agent, session);
            let has_notice = place.is_some_and(|place| conflict.side(place).notice.is_some());
            has_notice && !is_helper || edited.contains(&conflict.path)
        });
        if found.is_empty() && !has_work {
            return Ok(String::new());
        }
        let _lock = self.store.lock(PATIENCE)?;
        // What others did before comes first.
        let mut text = String::new();
        if !is_helper {
            for conflict in self.store.open()? {
                text.push_str(&self.taken_notice(conflict, voice)?);
            }
        }
        let mut updated = Vec::new();
        for (path, lease) in &found {
            let known = self.store.open_on(path)?.into_iter().find(|conflict| {
                let is_other = |place: ConflictSide| {
                    let other = conflict.side(place.other());
                    other.is(&lease.by, lease.session_id.as_deref())
                };
                conflict
                    .place_of(&voice.agent, session)
                    .is_some_and(is_other)
            });
            if let Some(conflict) = known {
                updated.push(conflict.id.clone());
                self.update(conflict, voice)?;
            } else {
                let (id, own) = self.begin(mesh, voice, path, lease)?;
                updated.push(id);
                text.push_str(&own);
            }
        }
        for conflict in self.store.open()?.into_iter().filter(|conflict| {
            edited.contains(&conflict.path) && conflict.place_of(&voice.agent, session).is_some()
        }) {
            if !updated.contains(&conflict.id) {
                self.update(conflict, voice)?;
            }
        }
        Ok(text)
    }

    /// Leases of others on the same files in other work trees of the repository, each with the path of the own file.
    fn in_other_trees(
        &self,
        mesh: &mut Mesh,
        voice: &Author,
        edited: &[String],
    ) -> Result<Vec<(String, Lease)>, ObserverError> {
        let mut twins: Vec<(String, String)> = Vec::new();
        for path in edited.iter().take(MOST) {
            let Some(folder) = Path::new(path).parent() else {
                continue;
            };
            let trees = trees(self.disk, folder);
            let own = trees
                .iter()
                .filter(|tree| folder.starts_with(tree))
                .max_by_key(|tree| tree.as_os_str().len());
            let inner = own.and_then(|own| Path::new(path).strip_prefix(own).ok());
            let Some(inner) = inner else {
                continue;
            };
            let others = trees.iter().filter(|tree| Some(*tree) != own);
            twins.extend(others.map(|tree| {
                let twin = tree.join(inner).to_string_lossy().into_owned();
                (path.clone(), twin)
            }));
        }
        if twins.is_empty() {
            return Ok(Vec::new());
        }
        let is_twin = |path: &str| twins.iter().any(|(_, twin)| twin == path);
        let held = mesh.held_against(is_twin, voice)?;
        let own = |lease: &Lease| {
            let twin = twins.iter().find(|(_, twin)| *twin == lease.path);
            twin.map(|(path, _)| path.clone())
        };
        let found = held
            .into_iter()
            .filter_map(|lease| Some((own(&lease)?, lease)));
        Ok(found.collect())
    }

    /// Takes the text that waits for this session off a conflict.
    fn taken_notice(
        &self,
        mut conflict: Conflict,
        voice: &Author,
    ) -> Result<String, ObserverError> {
        let place = conflict.place_of(&voice.agent, voice.session_id.as_deref());
        let notice = place.and_then(|place| conflict.side_mut(place).notice.take());
        let Some(notice) = notice else {
            return Ok(String::new());
        };
        self.store.write(&conflict)?;
        Ok(notice)
    }

    /// Opens a conflict on a file that was just edited, and returns its id and the editor's text.
    fn begin(
        &self,
        mesh: &mut Mesh,
        voice: &Author,
        path: &str,
        lease: &Lease,
    ) -> Result<(String, String), ObserverError> {
        let is_elsewhere = lease.path != path;
        let me = (&voice.agent, voice.session_id.as_deref());
        let other = (&lease.by, lease.session_id.as_deref());
        let since = before(lease.since);
        let records = Records::find(self.disk, self.homes, path)?;
        let found = versions_in(records.as_ref(), path, me, other, since);
        let current = read(self.disk, path)?;
        let (found, theirs, base) = if is_elsewhere {
            let there = Records::find(self.disk, self.homes, &lease.path)?;
            let of_other = versions_in(there.as_ref(), &lease.path, me, other, since);
            let base = there
                .as_ref()
                .and_then(|there| there.bytes(of_other.base.as_ref()));
            let theirs = read(self.disk, &lease.path)?;
            let found = Versions {
                is_sequential: true,
                ..found
            };
            (found, theirs, base)
        } else {
            let bytes = |kept: &Option<StoredVersions>| records.as_ref()?.bytes(kept.as_ref());
            let (theirs, base) = (bytes(&found.theirs), bytes(&found.base));
            (found, theirs, base)
        };
        let context =
            |path: &str, (agent, session): (&AgentName, Option<&str>), mesh: &mut Mesh| {
                let records = Records::find(self.disk, self.homes, path)?;
                context_of(
                    (self.disk, self.environment),
                    mesh,
                    records.as_ref(),
                    path,
                    (agent, session),
                )
            };
        let first = context(&lease.path, other, mesh)?;
        let second = context(path, me, mesh)?;
        let side = |(agent, session): (&AgentName, Option<&str>), context, has_version| Side {
            agent: agent.clone(),
            session_id: session.map(str::to_owned),
            edits: 1,
            edited_at: self.now,
            context,
            has_version,
            notice: None,
            notices: 0,
        };
        let tree = records.as_ref().map(|records| records.tree.clone());
        let own_id: String = self.ids.uuid_v4().chars().take(4).collect();
        let mut conflict = Conflict {
            id: format!("{}-{own_id}", id_of(path)),
            path: path.to_owned(),
            tree: tree.map(|tree| tree.to_string_lossy().into_owned()),
            first_path: is_elsewhere.then(|| lease.path.clone()),
            opened_at: self.now,
            first: Side {
                edited_at: lease.since,
                ..side(other, first, theirs.is_some())
            },
            second: side(me, second, current.is_some()),
            has_base: base.is_some(),
            last: ConflictSide::Second,
            dropped: (!found.is_sequential).then_some(ConflictSide::First),
            proposal: propose(&first, &second),
            task: None,
            resolution: None,
        };
        self.store.remove_old(self.now)?;
        if let Some(base) = &base {
            self.store.keep_base(&conflict, base)?;
        }
        for (place, version) in [
            (ConflictSide::First, &theirs),
            (ConflictSide::Second, &current),
        ] {
            if let Some(version) = version {
                self.store.keep_version(&conflict, place, version)?;
            }
        }
        let known = Known {
            base: base.as_deref(),
            first: theirs.as_deref(),
            second: current.as_deref(),
            dropped: conflict.dropped,
            disk: current.as_deref(),
        };
        let is_lost = is_lost(&known);
        let mine = records
            .as_ref()
            .and_then(|records| records.bytes(found.before_mine.as_ref()));
        let notice = for_other(
            &conflict,
            ConflictSide::Second,
            &hunks(mine.as_deref(), current.as_deref()),
            is_lost,
        );
        add_notice(&mut conflict.first, &notice);
        self.store.write(&conflict)?;
        if !is_elsewhere {
            conflict.task = Some(add_task(mesh, &conflict)?);
            self.store.write(&conflict)?;
        }
        let shown = hunks(base.as_deref(), theirs.as_deref());
        let text = for_editor(&conflict, ConflictSide::Second, &shown, is_lost);
        Ok((conflict.id, text))
    }

    /// Takes note of another edit of a contested file by one of its two agents.
    fn update(&self, mut conflict: Conflict, voice: &Author) -> Result<(), ObserverError> {
        let Some(place) = conflict.place_of(&voice.agent, voice.session_id.as_deref()) else {
            return Ok(());
        };
        let path = conflict.path.clone();
        let records = Records::find(self.disk, self.homes, &path)?;
        let other = conflict.side(place.other()).clone();
        let found = versions_in(
            records.as_ref(),
            &path,
            (&voice.agent, voice.session_id.as_deref()),
            (&other.agent, other.session_id.as_deref()),
            before(conflict.first.edited_at),
        );
        let bytes = |kept: &Option<StoredVersions>| records.as_ref()?.bytes(kept.as_ref());
        let current = read(self.disk, &path)?;
        let is_elsewhere = conflict.first_path.is_some();
        // Once an edit dropped a change, the versions stay as they were then: the next ones no longer have it.
        if conflict.dropped.is_none() {
            if !is_elsewhere && !found.is_sequential && found.theirs.is_some() {
                conflict.dropped = Some(place.other());
                if let Some(base) = bytes(&found.base) {
                    self.store.keep_base(&conflict, &base)?;
                    conflict.has_base = true;
                }
                if let Some(theirs) = bytes(&found.theirs) {
                    self.store.keep_version(&conflict, place.other(), &theirs)?;
                    conflict.side_mut(place.other()).has_version = true;
                }
            }
            if let Some(current) = &current {
                self.store.keep_version(&conflict, place, current)?;
                conflict.side_mut(place).has_version = true;
            }
        }
        conflict.last = place;
        let side = conflict.side_mut(place);
        side.edits += 1;
        side.edited_at = self.now;
        let mine = bytes(&found.before_mine);
        let shown = hunks(mine.as_deref(), current.as_deref());
        let is_lost = self.is_lost(&conflict, current.as_deref())?;
        let notice = for_other(&conflict, place, &shown, is_lost);
        add_notice(conflict.side_mut(place.other()), &notice);
        self.store.write(&conflict)?;
        Ok(())
    }

    fn is_lost(&self, conflict: &Conflict, disk: Option<&[u8]>) -> Result<Option<bool>, DiskError> {
        let base = self.store.base(conflict)?;
        let first = self.store.version(conflict, ConflictSide::First)?;
        let second = self.store.version(conflict, ConflictSide::Second)?;
        Ok(is_lost(&Known {
            base: base.as_deref(),
            first: first.as_deref(),
            second: second.as_deref(),
            dropped: conflict.dropped,
            disk,
        }))
    }
}

/// Adds the task of the side that is not the proposed owner, and returns its id.
fn add_task(mesh: &mut Mesh, conflict: &Conflict) -> Result<String, ObserverError> {
    let other = conflict.side(conflict.proposal.owner.other());
    let new = NewTask {
        id: format!("conflict-{}", conflict.id),
        assigned_to: Some(other.agent.clone()),
        prompt: task(conflict),
        ..NewTask::default()
    };
    let id = new.id.clone();
    let voice = Author {
        cwd: conflict.tree.clone(),
        ..Author::of(US.parse().expect("it is a name"))
    };
    Ok(mesh.leave(new, |task| task.id == id, &voice)?)
}

/// The versions of a file, as far as they are recorded.
fn versions_in(
    records: Option<&Records>,
    path: &str,
    me: (&AgentName, Option<&str>),
    other: (&AgentName, Option<&str>),
    since: Timestamp,
) -> Versions {
    let found = records.and_then(|records| {
        let inner = records.inner(path)?;
        Some(versions(&records.history, &inner, me, other, since))
    });
    found.unwrap_or_default()
}

/// The time from which an agent's edits belong to its lease.
fn before(since: Timestamp) -> Timestamp {
    since.checked_sub(BEFORE_LEASE).unwrap_or(Timestamp::MIN)
}

fn hunks(before: Option<&[u8]>, after: Option<&[u8]>) -> String {
    let text = |bytes: Option<&[u8]>| std::str::from_utf8(bytes?).ok().map(str::to_owned);
    match (text(before), text(after)) {
        (Some(before), Some(after)) => unified(&before, &after, MOST_LINES),
        _ => String::new(),
    }
}

fn add_notice(side: &mut Side, text: &str) {
    if side.notices >= MOST_NOTICES {
        return;
    }
    side.notices += 1;
    let notice = side.notice.get_or_insert_default();
    if notice.len() + text.len() <= LONGEST_NOTICE {
        notice.push_str(text);
    }
}
