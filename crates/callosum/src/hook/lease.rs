//! What another agent's lease means to a write: nothing before it, unless the user's configuration has it blocked.
//!
//! That a file is leased is told in any case, after the write ([`session`](super::session)): no client puts the
//! words of a hook before its model while the tool has not run.
//!
//! Which way it fails: a mesh that cannot be read blocks nothing, since a lease is an agreement and no guard; a configuration
//! that cannot be read blocks, as the stricter of both.

use std::path::Path;

use callosum_agents::client::Client;
use callosum_guard::{Decision, Verdict};
use callosum_host::{Disk, machine};
use callosum_mesh::{Mesh, agent::AgentName, board::Lease, warning};

use super::{
    event::{Action, Event},
    judge::Judged,
};
use crate::config::{Environment, Homes, LeaseMode, MeshSettings};

/// The rule that is named.
const RULE: &str = "mesh.lease";

/// What is decided of a call, where another agent works on a file that it writes and that is to be blocked.
pub(super) fn judged(
    judged: Judged,
    client: Option<&Client>,
    event: &Event,
    disk: &Disk,
    environment: &Environment,
) -> Judged {
    if judged.verdict.decision == Decision::Block {
        return judged;
    }
    let Some((held, remark)) = held(client, event, disk, environment) else {
        return judged;
    };
    let mut remarks = judged.remarks;
    remarks.extend(remark);
    Judged {
        verdict: Verdict {
            decision: Decision::Block,
            rule: Some(RULE.to_owned()),
            reason: Some(warning(&held)),
            ..Verdict::default()
        },
        permitted: Vec::new(),
        remarks,
    }
}

/// The leases of others on what is written, where those are to block; with what is wrong with the configuration.
fn held(
    client: Option<&Client>,
    event: &Event,
    disk: &Disk,
    environment: &Environment,
) -> Option<(Vec<Lease>, Option<String>)> {
    let Action::Write(paths) = &event.action else {
        return None;
    };
    let homes = Homes::find(environment).ok()?;
    let remark = match MeshSettings::load(disk, &homes.user_config) {
        Ok(settings) if settings.leases == LeaseMode::Warn => return None,
        Ok(_) => None,
        Err(error) => Some(error.to_string()),
    };
    let folder = homes.mesh();
    if !disk.exists(&folder.join("origin")).ok()? {
        return None;
    }
    let agent: AgentName = client?.program.parse().ok()?;
    let name = machine::name().unwrap_or_else(|| "unknown".to_owned());
    let (clock, ids) = (environment.clock().ok()?, environment.ids().ok()?);
    let mut mesh = Mesh::open(disk, &clock, &ids, &folder, &name).ok()?;
    // Those of who has gone are given back first.
    drop(mesh.settle());
    let board = mesh.board().ok()?;
    let here = event.folder.as_deref().unwrap_or(Path::new("/"));
    let held = paths.iter().filter_map(|path| {
        let path = here.join(path);
        let real = disk.canonicalize(&path).unwrap_or(path);
        let real = real.to_string_lossy();
        board.holder(&real, &agent, event.session.as_deref(), clock.now())
    });
    let held: Vec<Lease> = held.cloned().collect();
    (!held.is_empty()).then_some((held, remark))
}
