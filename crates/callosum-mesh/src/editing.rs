//! What is done about leases when an agent has edited files.

use jiff::SignedDuration;

use crate::{
    board::{LEASE, Lease, Order},
    digest::quoted,
    journal::Durability,
    mesh::{Mesh, MeshError, Voice},
};

/// A lease is taken anew where less than this is left of it, so that not every edit is an event.
const RENEWED_BELOW: SignedDuration = SignedDuration::from_mins(5);

impl Mesh {
    /// Takes leases on files that an agent edits, and gives those that others hold on them.
    ///
    /// What another holds is not taken from it. Nothing is written where the agent's own leases last for
    /// a while yet; what is written is logged and not synced, since it ends by itself.
    pub fn edited(&mut self, paths: &[String], voice: &Voice) -> Result<Vec<Lease>, MeshError> {
        let now = self.journal().now();
        let board = self.board()?;
        let mut held = Vec::new();
        let mut wanted = Vec::new();
        for path in paths {
            let session = voice.session_id.as_deref();
            if let Some(lease) = board.holder(path, &voice.agent, session, now) {
                held.push(lease.clone());
                continue;
            }
            let own = board.leases.iter().find(|lease| lease.path == *path);
            let is_fresh = own.is_some_and(|own| {
                own.by == voice.agent && own.until.duration_since(now) > LEASE - RENEWED_BELOW
            });
            if !is_fresh {
                wanted.push(path.clone());
            }
        }
        if !wanted.is_empty() {
            self.in_turn_of(Durability::Logged, |orders| {
                for path in wanted {
                    let order = Order::Lease {
                        path,
                        why: None,
                        anyway: false,
                    };
                    match orders.give(order, voice, None) {
                        // Somebody was quicker, or it is no path that can be leased: there is none then.
                        Ok(_) | Err(MeshError::Refused(_)) => {}
                        Err(error) => return Err(error),
                    }
                }
                Ok(())
            })?;
        }
        Ok(held)
    }
}

/// What an agent is told of files that another works on; empty where there are none.
pub fn warning(held: &[Lease]) -> String {
    let lines = held.iter().map(|lease| {
        let why = lease.why.as_deref().map(|why| format!(": {}", quoted(why)));
        format!(
            "{} works on {} until {:.0}{}. Agree with it before you change more: `callosum mesh message send {}`\n",
            lease.by,
            quoted(&lease.path),
            lease.until,
            why.unwrap_or_default(),
            lease.by
        )
    });
    lines.collect()
}
