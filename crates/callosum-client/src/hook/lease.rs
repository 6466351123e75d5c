//! Effect of another agent's lease on a call that changes a file: none before the call, unless the
//! user's configuration blocks it.
//!
//! A lease is always reported after the call ([`session`](super::session)): no client puts the
//! words of a hook before its model while the tool has not run.
//!
//! Failure mode: a mesh that cannot be read, or not within [`PATIENCE`], blocks nothing, since a
//! lease is an agreement and no guard. A configuration that cannot be read blocks, as the stricter
//! of both. The mesh is locked only to take the agent's own lease, if others' leases block it.

use std::{
    path::Path,
    sync::{Arc, mpsc},
    thread,
    time::Duration,
};

use callosum_executor::client::Client;
use callosum_guard::{Decision, Verdict};
use callosum_mesh::{Author, board::Lease, warning};

use super::{
    changed_files::Changed,
    event::{Action, Event},
    gather_facts::CallContext,
    git_writes::When,
    verdict::Judged,
};
use callosum_config::{Homes, LeaseMode, MeshSettings};
use callosum_mesh::mesh_store;

/// The rule that is named.
const RULE: &str = "mesh.lease";

/// Longest wait of a verdict for the mesh.
const PATIENCE: Duration = Duration::from_millis(300);

/// Longest wait for others who append, so that the verdict has time left.
const LOCKED_FOR: Duration = Duration::from_millis(150);

/// Returns the verdict of a call, stricter if it changes a file that another agent works on and the
/// configuration blocks that.
pub(super) fn block_if_leased(
    judged: Judged,
    client: Option<&Client>,
    event: &Arc<Event>,
    place: &Arc<CallContext>,
) -> Judged {
    if judged.verdict.decision == Decision::Block {
        return judged;
    }
    let voice = client.and_then(|client| {
        Some(Author {
            session_id: event.session.clone(),
            ..Author::of(client.program.parse().ok()?)
        })
    });
    let Some(voice) = voice else {
        return judged;
    };
    let Some((held, remark)) = held(&voice, event, place) else {
        return judged;
    };
    let mut remarks = judged.remarks;
    remarks.extend(remark);
    Judged {
        verdict: Verdict {
            decision: Decision::Block,
            rule: Some(RULE.to_owned()),
            reason: Some(warning(&held, &voice.agent).trim_end().to_owned()),
            ..Verdict::default()
        },
        permitted: Vec::new(),
        remarks,
    }
}

/// The leases of others on what is changed, where those are to block; with what is wrong with the configuration.
fn held(
    voice: &Author,
    event: &Arc<Event>,
    place: &Arc<CallContext>,
) -> Option<(Vec<Lease>, Option<String>)> {
    if matches!(event.action, Action::Other | Action::Read(_)) {
        return None;
    }
    let homes = Homes::find(&place.environment).ok()?;
    let remark = match MeshSettings::load(&place.disk, &homes.user_config) {
        Ok(settings) if settings.leases == LeaseMode::Warn => return None,
        Ok(_) => None,
        Err(error) => Some(error.to_string()),
    };
    let folder = homes.mesh();
    let (event, place, voice) = (Arc::clone(event), Arc::clone(place), voice.clone());
    let patience = place.environment.patience(PATIENCE).unwrap_or(PATIENCE);
    let held = in_time(patience, move || of_others(&event, &place, &folder, &voice))??;
    (!held.is_empty()).then_some((held, remark))
}

/// Returns the leases of others on the files that a call changes; `None` if there is no mesh or it
/// cannot be read. If there are none, the agent takes its own before it edits, so that one of two
/// concurrent editors is blocked.
fn of_others(
    event: &Event,
    place: &CallContext,
    folder: &Path,
    voice: &Author,
) -> Option<Vec<Lease>> {
    let (disk, environment) = (&place.disk, &place.environment);
    let changed = Changed::by(disk, &event.action, &place.facts, place.own_analysis());
    if changed.is_empty() || !mesh_store::is_begun(disk, folder).ok()? {
        return None;
    }
    let (clock, ids) = (environment.clock().ok()?, environment.ids().ok()?);
    let mut mesh = mesh_store::open(disk, &clock, &ids, folder).ok()?;
    let held = mesh.held_against(|file| changed.may_take_in(file), voice);
    let met = changed.met(held.ok()?, When::Before, disk, environment);
    let held = met.all();
    if !held.is_empty() {
        return Some(held);
    }
    let own = disk.canonicalize(folder);
    let own = own.unwrap_or_else(|_| folder.to_owned());
    let files = changed.files_to_be(disk, &own, place.facts.root.as_deref().map(Path::new));
    if files.is_empty() {
        return Some(held);
    }
    let mut mesh = mesh.with_patience(LOCKED_FOR);
    // Who cannot take it in time edits all the same, and has it after the call.
    if mesh.lease_edited(&files, voice).is_err() {
        return Some(held);
    }
    mesh.held_against(|file| changed.takes_in(file), voice).ok()
}

/// Returns the result of this work if it is known in time. Work that takes longer is abandoned.
fn in_time<T: Send + 'static>(
    patience: Duration,
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let (done, finished) = mpsc::sync_channel(1);
    let working = thread::Builder::new().spawn(move || drop(done.send(work())));
    drop(working.ok()?);
    finished.recv_timeout(patience).ok()
}
