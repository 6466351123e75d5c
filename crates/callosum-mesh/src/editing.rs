//! What is done about leases when an agent has edited files.

use jiff::SignedDuration;

use crate::{
    board::{LEASE, Lease, Order, Session},
    digest::quoted,
    journal::Durability,
    mesh::{Mesh, MeshError, Voice},
    sessions::ended,
};

/// A lease is taken anew where less than this is left of it, so that not every edit is an event.
const RENEWED_BELOW: SignedDuration = SignedDuration::from_mins(5);

impl Mesh {
    /// The leases by which others keep this agent from files that are meant, but for those of sessions whose processes
    /// are gone. Waits for nobody and writes nothing but what is derived.
    pub fn held_against(
        &mut self,
        is_meant: impl Fn(&str) -> bool,
        voice: &Voice,
    ) -> Result<Vec<Lease>, MeshError> {
        let now = self.journal().now();
        let machine = self.machine().to_owned();
        let board = self.board()?;
        let session = voice.session_id.as_deref();
        let held = board
            .leases
            .iter()
            .filter(|lease| lease.holds_against(&voice.agent, session, now))
            .filter(|lease| is_meant(&lease.path));
        let held: Vec<Lease> = held.cloned().collect();
        if held.is_empty() {
            return Ok(held);
        }
        let gone: Vec<&Session> = ended(board, &machine).collect();
        let is_gone = |lease: &Lease| {
            let mut gone = gone.iter();
            gone.any(|session| session.is(&lease.by, lease.session_id.as_deref().unwrap_or("")))
        };
        Ok(held.into_iter().filter(|lease| !is_gone(lease)).collect())
    }

    /// Takes leases on files that an agent edits, but for those on which others hold one.
    ///
    /// Nothing is written where the agent's own leases last for a while yet; what is written is logged and not
    /// synced, since it ends by itself.
    pub fn lease_edited(&mut self, paths: &[String], voice: &Voice) -> Result<(), MeshError> {
        let now = self.journal().now();
        let board = self.board()?;
        let session = voice.session_id.as_deref();
        let is_wanted = |path: &&String| {
            let own = board.leases.iter().find(|lease| lease.path == **path);
            let is_fresh = own.is_some_and(|own| {
                own.by == voice.agent && own.until.duration_since(now) > LEASE - RENEWED_BELOW
            });
            !is_fresh && board.holder(path, &voice.agent, session, now).is_none()
        };
        let wanted: Vec<String> = paths.iter().filter(is_wanted).cloned().collect();
        if wanted.is_empty() {
            return Ok(());
        }
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
        })
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
