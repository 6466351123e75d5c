//! [`Origin`]: where a session of the index comes from: a coding agent's files, or records of ours.

use std::fmt;

use super::client::Client;

/// Records of ours that are searched beside the sessions of agents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RecordKind {
    /// Requests and answers of delegations, from a project's ledger.
    Ledger,
    /// Decisions of a project.
    Decision,
    /// Messages between agents.
    Message,
    /// Tasks that agents left for others, with their results.
    Task,
    /// Discoveries that agents shared.
    Discovery,
    /// Runs of plans, with what each step came to.
    Plan,
}

/// Source of a session in the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Origin {
    /// The files of a coding agent.
    Client(Client),
    /// Records of ours: each of them is a session of its own.
    Record(RecordKind),
}

impl RecordKind {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Ledger,
        Self::Decision,
        Self::Message,
        Self::Task,
        Self::Discovery,
        Self::Plan,
    ];

    /// Returns its name, as it is in the index, in output and in `--agent`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ledger => "ledger",
            Self::Decision => "decision",
            Self::Message => "message",
            Self::Task => "task",
            Self::Discovery => "discovery",
            Self::Plan => "plan",
        }
    }

    /// Returns the command that shows a record, as its words. It is run in the project's folder.
    pub fn show(self, record: &str) -> Vec<String> {
        let words: &[&str] = match self {
            Self::Ledger => &["callosum", "ledger", "show", record],
            Self::Decision => &["callosum", "session", "decisions", "--limit", "1000"],
            Self::Message => &["callosum", "mesh", "message", "list", "--all"],
            Self::Task => &["callosum", "mesh", "task", "show", record],
            Self::Discovery => &["callosum", "mesh", "discovery", "list"],
            Self::Plan => &["callosum", "plan", "show", record],
        };
        words.iter().copied().map(str::to_owned).collect()
    }
}

impl Origin {
    /// Returns all of them, clients first.
    pub fn all() -> impl Iterator<Item = Self> {
        let clients = Client::ALL.into_iter().map(Self::Client);
        clients.chain(RecordKind::ALL.into_iter().map(Self::Record))
    }

    /// Returns its name, as it is in the index, in output and in `--agent`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Client(client) => client.name(),
            Self::Record(kind) => kind.name(),
        }
    }

    /// Returns the origin of a name.
    pub fn of(name: &str) -> Option<Self> {
        Self::all().find(|origin| origin.name() == name)
    }

    /// Returns the names of all origins, as an error lists them.
    pub fn names() -> String {
        let names: Vec<&str> = Self::all().map(Self::name).collect();
        names.join(", ")
    }

    /// Returns the command that resumes a session in its client, or shows a record, as its words. It is run in the folder.
    pub fn command(self, session: &str) -> Vec<String> {
        match self {
            Self::Client(client) => client.resume(session),
            Self::Record(kind) => kind.show(session),
        }
    }
}

impl From<Client> for Origin {
    fn from(client: Client) -> Self {
        Self::Client(client)
    }
}

impl From<RecordKind> for Origin {
    fn from(kind: RecordKind) -> Self {
        Self::Record(kind)
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_leads_back_to_its_origin() {
        for origin in Origin::all() {
            assert_eq!(Origin::of(origin.name()), Some(origin));
        }
        assert_eq!(Origin::of("cursor"), None);
    }
}
