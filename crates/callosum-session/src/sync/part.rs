//! [`Part`]: the name of one session file for another project.

use std::fmt;

use jiff::civil::Date;

use crate::{bead::BeadId, merge::Kind, trajectory::Agent, zones::Zones};

/// Beginning of every name.
const SCHEME: &str = "callosum://session/";

/// One session file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    /// A day of an agent's trajectory.
    Trajectory {
        /// Agent that owns it.
        agent: Agent,
        /// The day, as 2026-01-02.
        day: String,
    },
    /// A bead.
    Bead(BeadId),
    /// `NOTES.md`.
    Notes,
}

impl Part {
    /// Parses a name. `None` if it is not exactly the name of a session file, so that no name leads
    /// to another folder.
    pub fn parse(name: &str) -> Option<Self> {
        let rest = name.strip_prefix(SCHEME)?;
        if rest == "notes" {
            return Some(Self::Notes);
        }
        if let Some(id) = rest.strip_prefix("beads/") {
            return BeadId::new(id).map(Self::Bead);
        }
        let (agent, day) = rest.strip_prefix("trajectory/")?.split_once('/')?;
        let agent = Agent::new(agent).ok()?;
        let date: Date = day.parse().ok()?;
        // Other forms of a date are other file names.
        (date.to_string() == day).then(|| Self::Trajectory {
            agent,
            day: day.to_owned(),
        })
    }

    /// Returns the kind of its file.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Trajectory { .. } => Kind::Trajectory,
            Self::Bead(_) => Kind::Bead,
            Self::Notes => Kind::Notes,
        }
    }

    /// Returns its file, from the root of a project.
    pub fn file(&self, zones: &Zones) -> String {
        let path = match self {
            Self::Trajectory { agent, day } => zones.trajectories().join(agent.file_of(day)),
            Self::Bead(id) => zones.beads().join(id.file()),
            Self::Notes => zones.notes(),
        };
        zones.named(&path)
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Trajectory { agent, day } => write!(f, "{SCHEME}trajectory/{agent}/{day}"),
            Self::Bead(id) => write!(f, "{SCHEME}beads/{id}"),
            Self::Notes => write!(f, "{SCHEME}notes"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// LOA-FUT-1, LOA-SEC-1: a name from elsewhere is a session file's, or none.
    #[test]
    fn a_hostile_name_names_no_file() {
        for name in [
            "callosum://session/",
            "callosum://session/../notes",
            "callosum://session/notes/",
            "callosum://session/NOTES.md",
            "callosum://session/beads/../../etc/passwd",
            "callosum://session/beads/bd-1.yaml/x",
            "callosum://session/beads/BD-1",
            "callosum://session/beads/",
            "callosum://session/trajectory/claude",
            "callosum://session/trajectory/../2026-01-02",
            "callosum://session/trajectory/a/b/2026-01-02",
            "callosum://session/trajectory/-rf/2026-01-02",
            "callosum://session/trajectory/claude/2026-01-32",
            "callosum://session/trajectory/claude/20260102",
            "callosum://session/trajectory/claude/2026-01-02/../x",
            "file:///etc/passwd",
            "notes",
            "",
        ] {
            assert_eq!(Part::parse(name), None, "{name}");
        }
    }

    #[test]
    fn a_name_is_read_as_it_is_written() {
        let zones = Zones {
            tree: "/p".into(),
            root: "/p".into(),
        };
        for (name, file) in [
            ("callosum://session/notes", "loa-grimoire/NOTES.md"),
            ("callosum://session/beads/bd-x7y8", ".beads/bd-x7y8.yaml"),
            (
                "callosum://session/trajectory/claude/2026-01-02",
                "loa-grimoire/a2a/trajectory/claude-2026-01-02.jsonl",
            ),
        ] {
            let part = Part::parse(name).unwrap();
            assert_eq!(part.to_string(), name);
            assert_eq!(part.file(&zones), file);
            assert_eq!(Kind::of(file), Some(part.kind()));
        }
    }
}
