//! Leases of files that agents have edited.

use jiff::SignedDuration;

use crate::{
    addressee::Addressee,
    agent::AgentName,
    author::Author,
    board::{Command, LEASE, Lease, Session},
    journal::Durability,
    mesh::Mesh,
    mesh_error::MeshError,
    quotation::quoted,
    session_end::ended,
    transaction::Transaction,
};

/// Verb for a notice about an edit of a file that another agent has leased.
const EDITED: &str = "edited";

/// Most leases that one warning names.
const MOST_NAMED: usize = 5;

/// Leases are renewed only if less than this is left, so that not every edit is an event.
const RENEWED_BELOW: SignedDuration = SignedDuration::from_mins(5);

impl Mesh {
    /// Returns the leases of others on files for which `is_meant` is true, except those of sessions
    /// whose processes are gone. Does not wait for locks, and writes nothing but derived data.
    pub fn held_against(
        &mut self,
        is_meant: impl Fn(&str) -> bool,
        voice: &Author,
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
    pub fn lease_edited(&mut self, paths: &[String], voice: &Author) -> Result<(), MeshError> {
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
                let order = Command::Lease {
                    path,
                    why: None,
                    anyway: false,
                };
                match orders.give(order, voice, None) {
                    // Another agent was quicker, or the path cannot be leased: there is no lease
                    // then.
                    Ok(_) | Err(MeshError::Refused(_)) => {}
                    Err(error) => return Err(error),
                }
            }
            Ok(())
        })
    }
}

impl Mesh {
    /// Tells those who hold leases that this agent has edited their files: each once for a lease.
    pub fn tell_holders(&mut self, held: &[Lease], voice: &Author) -> Result<(), MeshError> {
        let board = self.board()?;
        let is_unnotified = |lease: &&Lease| {
            board
                .message(&note_of(EDITED, lease, &voice.agent))
                .is_none()
        };
        let unnotified: Vec<Lease> = held.iter().filter(is_unnotified).cloned().collect();
        if unnotified.is_empty() {
            return Ok(());
        }
        self.in_turn_of(Durability::Logged, |orders| {
            for lease in &unnotified {
                orders.notify_holder(EDITED, lease, &voice.agent)?;
            }
            Ok(())
        })
    }
}

impl Transaction<'_, '_> {
    /// Tells who holds a lease what another did to the file. It waits no longer than a lease lasts.
    pub(crate) fn notify_holder(
        &mut self,
        what: &str,
        lease: &Lease,
        by: &AgentName,
    ) -> Result<(), MeshError> {
        let whose = if lease.by == *by {
            format!("another session of {by}")
        } else {
            by.to_string()
        };
        let order = Command::Send {
            id: note_of(what, lease, by),
            to: Addressee {
                agent: lease.by.clone(),
                session: lease.session_id.clone(),
            },
            content: if what == EDITED {
                format!("{whose} edited {}, on which you hold a lease", lease.path)
            } else {
                format!("{whose} {what} your lease on {}", lease.path)
            },
            reply_to: None,
            ttl_seconds: Some(LEASE.as_secs().unsigned_abs()),
        };
        match self.give(order, &Author::of(AgentName::us()), None) {
            // The holder is not an agent of this machine, so no message can reach it.
            Ok(_) | Err(MeshError::Refused(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

/// Returns the id of the message that notifies a holder. It is the same for the same lease and the
/// same other agent.
fn note_of(what: &str, lease: &Lease, by: &AgentName) -> String {
    format!("{what}-{}-{by}", lease.token)
}

/// Returns the recipient to coordinate a lease with: its session alone if that has a valid name,
/// else its agent.
fn holder(lease: &Lease) -> Addressee {
    let session = lease.session_id.as_deref();
    let named = session.and_then(|session| format!("{}@{session}", lease.by).parse().ok());
    named.unwrap_or_else(|| lease.by.clone().into())
}

/// Returns a warning for an agent about files that others work on, including other sessions of its
/// own agent. It is empty if there are none, and names at most five leases.
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
        let way = format!("`callosum mesh message send {} TEXT`", holder(lease));
        if !ways.contains(&way) {
            ways.push(way);
        }
    }
    let ways = ways.join(", ");
    let (named, more) = (lines.join("\n"), held.len().saturating_sub(MOST_NAMED));
    match (held.len(), more) {
        (0, _) => String::new(),
        (1, _) => format!("{named} Coordinate with it before you change more: {ways}\n"),
        (_, 0) => format!("{named}\nCoordinate with them before you change more: {ways}\n"),
        (_, more) => format!(
            "{named}\n{more} more: `callosum mesh lease list`.\nCoordinate with them before you \
             change more: {ways}\n"
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
            machine: None,
        }
    }

    /// CALC-FUT-1: each holder of a file is named once, with the purpose and a way to reach it,
    /// however many files there are.
    #[test]
    fn a_warning_names_holders_in_few_lines() {
        let codex: AgentName = "codex".parse().unwrap();
        assert_eq!(warning(&[], &codex), "");
        let one = [lease("gemini-cli", "/p/a", Some("renaming"))];
        assert_eq!(
            warning(&one, &codex),
            "gemini-cli works on \"/p/a\" until 2026-01-02T03:04:05Z: \"renaming\". Coordinate with it before you change more: `callosum mesh message send gemini-cli TEXT`\n"
        );
        let mut many = vec![lease("codex", "/p/0", None)];
        many.extend((1..7).map(|at| lease("gemini-cli", &format!("/p/{at}"), None)));
        let text = warning(&many, &codex);
        assert!(
            text.starts_with("another session of codex works on \"/p/0\" until "),
            "{text}"
        );
        assert!(
            text.contains("2 more: `callosum mesh lease list`.\n"),
            "{text}"
        );
        assert!(
            text.ends_with(
                "`callosum mesh message send codex TEXT`, `callosum mesh message send gemini-cli TEXT`\n"
            ),
            "{text}"
        );
        assert_eq!(text.lines().count(), 7, "{text}");
        // Another session of the agent's own would else be written to by who reads it itself.
        for (session, to) in [("s1", "codex@s1"), ("`rm -rf /`", "codex")] {
            let held = [Lease {
                session_id: Some(session.to_owned()),
                ..lease("codex", "/p/a", None)
            }];
            let way = format!("`callosum mesh message send {to} TEXT`\n");
            let text = warning(&held, &codex);
            assert!(text.ends_with(&way), "{text}");
        }
    }
}
