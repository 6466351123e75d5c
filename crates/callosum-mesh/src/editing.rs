//! What is done about leases when an agent has edited files.

use jiff::SignedDuration;

use crate::{
    agent::AgentName,
    board::{LEASE, Lease, Order, Session},
    digest::quoted,
    journal::Durability,
    mesh::{Mesh, MeshError, Voice},
    sessions::ended,
};

/// Most leases that one is told of at once.
const MOST_NAMED: usize = 5;

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

/// What an agent is told of files that others work on, another session of its own among them; empty where there are none. At most
/// five are named.
pub fn warning(held: &[Lease], agent: &AgentName) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut ways: Vec<String> = Vec::new();
    for lease in held.iter().take(MOST_NAMED) {
        let whose = if lease.by == *agent {
            format!("another session of {}", lease.by)
        } else {
            lease.by.to_string()
        };
        let why = lease.why.as_deref().map(|why| format!(": {}", quoted(why)));
        lines.push(format!(
            "{whose} works on {} until {:.0}{}.",
            quoted(&lease.path),
            lease.until,
            why.unwrap_or_default(),
        ));
        let way = format!("`callosum mesh message send {}`", lease.by);
        if !ways.contains(&way) {
            ways.push(way);
        }
    }
    let ways = ways.join(", ");
    let (named, more) = (lines.join("\n"), held.len().saturating_sub(MOST_NAMED));
    match (held.len(), more) {
        (0, _) => String::new(),
        (1, _) => format!("{named} Agree with it before you change more: {ways}\n"),
        (_, 0) => format!("{named}\nAgree with them before you change more: {ways}\n"),
        (_, more) => format!(
            "{named}\n{more} more: `callosum mesh lease list`.\nAgree with them before you change more: {ways}\n"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lease(by: &str, path: &str, why: Option<&str>) -> Lease {
        let at: jiff::Timestamp = "2026-01-02T03:04:05Z".parse().unwrap();
        Lease {
            path: path.to_owned(),
            by: by.parse().unwrap(),
            session_id: None,
            why: why.map(str::to_owned),
            since: at,
            until: at,
            token: 1,
        }
    }

    /// CALC-FUT-1: whoever holds a file is named with what for and how to reach it, once each, however many files there are.
    #[test]
    fn who_holds_what_is_told_in_few_lines() {
        let codex: AgentName = "codex".parse().unwrap();
        assert_eq!(warning(&[], &codex), "");
        let one = [lease("gemini-cli", "/p/a", Some("renaming"))];
        assert_eq!(
            warning(&one, &codex),
            "gemini-cli works on \"/p/a\" until 2026-01-02T03:04:05Z: \"renaming\". Agree with it before you change more: \
             `callosum mesh message send gemini-cli`\n"
        );
        let mut many = vec![lease("codex", "/p/0", None)];
        many.extend((1..7).map(|at| lease("gemini-cli", &format!("/p/{at}"), None)));
        let told = warning(&many, &codex);
        assert!(
            told.starts_with("another session of codex works on \"/p/0\" until "),
            "{told}"
        );
        assert!(
            told.contains("2 more: `callosum mesh lease list`.\n"),
            "{told}"
        );
        assert!(
            told.ends_with(
                "`callosum mesh message send codex`, `callosum mesh message send gemini-cli`\n"
            ),
            "{told}"
        );
        assert_eq!(told.lines().count(), 7, "{told}");
    }
}
