//! [`Matrix`]: agents for each category of tasks, with fallbacks and time limits (Seed CALC §7).

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use crate::{
    agent::AgentName,
    board::{Board, BoardError, Command, Effect, Status, Task},
    presence::Presence,
};

/// The key of a task that names its category.
pub const CATEGORY: &str = "category";

/// The key of a task that says why it went to the fallback of its category.
pub const REASSIGNED: &str = "reassigned";

/// So many characters are shown of what is no category.
const MOST_SHOWN: usize = 80;

/// A line of the matrix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// Name of the category, as a user types it.
    pub category: String,
    /// Description of the tasks.
    pub about: String,
    /// Agent that does them.
    pub primary: AgentName,
    /// Agent that does them if the first has not begun in time.
    pub fallback: AgentName,
    /// Time in which the first must begin.
    pub within: SignedDuration,
}

/// A role that an agent has among the others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Role {
    /// The agent.
    pub agent: AgentName,
    /// Its role's name.
    pub name: String,
    /// Its duties.
    pub duties: String,
}

/// The agents' categories of tasks and their roles. Empty unless the user configures some.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Matrix {
    /// The kinds of tasks.
    pub routes: Vec<Route>,
    /// The roles.
    pub roles: Vec<Role>,
}

/// The table of Seed CALC §7: category, what belongs to it, primary, fallback, minutes.
const ROUTES: [(&str, &str, &str, &str, i64); 9] = [
    (
        "ios-build",
        "iOS builds, Xcode archives",
        "claude-code",
        "codex",
        5,
    ),
    (
        "architecture",
        "architecture decisions",
        "claude-code",
        "gemini-cli",
        10,
    ),
    (
        "large-review",
        "review of more than 100,000 tokens",
        "gemini-cli",
        "claude-code",
        15,
    ),
    (
        "synthesis",
        "synthesis that holds several paths at once",
        "gemini-cli",
        "claude-code",
        20,
    ),
    (
        "data-analysis",
        "data analysis, structured output",
        "codex",
        "claude-code",
        5,
    ),
    (
        "crm-math",
        "CRM, pipelines, mathematics",
        "codex",
        "claude-code",
        5,
    ),
    (
        "infrastructure",
        "infrastructure, Docker, virtual machines",
        "claude-code",
        "codex",
        10,
    ),
    (
        "creative",
        "creative content, copywriting",
        "gemini-cli",
        "claude-code",
        10,
    ),
    (
        "dependency-scan",
        "dependencies across several projects",
        "gemini-cli",
        "codex",
        15,
    ),
];

/// The roles of Seed CALC §3.
const ROLES: [(&str, &str, &str); 3] = [
    (
        "claude-code",
        "COMMANDER",
        "orchestration, architecture decisions, builds, infrastructure, delegating tasks",
    ),
    (
        "codex",
        "ANALYST",
        "structured output and data analysis, pipelines, mathematical reasoning",
    ),
    (
        "gemini-cli",
        "REVIEWER",
        "review of large contexts, synthesis, dependencies across several projects, creative \
         content",
    ),
];

impl Matrix {
    /// Returns the matrix of Seed CALC §3 and §7: nine categories and three roles, a starting point for a user's own.
    pub fn seed() -> Self {
        let name = |name: &str| name.parse().expect("it is a name");
        Self {
            routes: ROUTES
                .iter()
                .map(|(category, about, primary, fallback, minutes)| Route {
                    category: (*category).to_owned(),
                    about: (*about).to_owned(),
                    primary: name(primary),
                    fallback: name(fallback),
                    within: SignedDuration::from_mins(*minutes),
                })
                .collect(),
            roles: ROLES
                .iter()
                .map(|(agent, role, duties)| Role {
                    agent: name(agent),
                    name: (*role).to_owned(),
                    duties: (*duties).to_owned(),
                })
                .collect(),
        }
    }

    /// The line of a category.
    pub fn route(&self, category: &str) -> Option<&Route> {
        self.routes.iter().find(|route| route.category == category)
    }

    /// Refuses an order that gives a task a category that is not in the matrix.
    ///
    /// Without any category configured each is a free label: it routes nothing.
    pub(crate) fn knows_category(&self, order: &Command) -> Result<(), BoardError> {
        if self.routes.is_empty() {
            return Ok(());
        }
        let category = match order {
            Command::Add(task) => task.other.get(CATEGORY),
            Command::Change { set, .. } => set.get(CATEGORY),
            _ => None,
        };
        let Some(category) = category.filter(|category| !category.is_null()) else {
            return Ok(());
        };
        if category
            .as_str()
            .is_some_and(|category| self.route(category).is_some())
        {
            return Ok(());
        }
        let routes = self.routes.iter();
        Err(BoardError::NoCategory {
            found: category.to_string().chars().take(MOST_SHOWN).collect(),
            allowed: routes.map(|route| route.category.clone()).collect(),
        })
    }

    /// The role of an agent.
    pub fn role(&self, agent: &AgentName) -> Option<&Role> {
        self.roles.iter().find(|role| role.agent == *agent)
    }

    /// The tasks that wait for their category's primary agent, and for nothing else. One that went to another agent before
    /// does not fall back again.
    fn waiting<'a>(&'a self, board: &'a Board) -> impl Iterator<Item = (&'a Task, &'a Route)> {
        let tasks = board.tasks.iter();
        let pending = tasks.filter(|task| task.status == Status::Pending);
        let is_first = |task: &&Task| !task.other.get(REASSIGNED).is_some_and(Value::is_string);
        let pending = pending.filter(is_first);
        let routed = pending.filter_map(|task| {
            let route = self.route(task.other.get(CATEGORY)?.as_str()?)?;
            (task.assigned_to.as_ref() == Some(&route.primary)).then_some((task, route))
        });
        routed.filter(|(task, _)| board.waits_for(task).next().is_none())
    }

    /// Returns whether any task waits for the primary agent of its category.
    pub fn has_waiting(&self, board: &Board) -> bool {
        self.waiting(board).next().is_some()
    }

    /// The tasks that their first agent has not begun in time, given to the other. The time counts from when the
    /// task could be begun: when it was left, when the last that it needs was done, when it came back to the queue.
    ///
    /// Each goes over once: the other has no second to fall back on.
    pub fn overdue(&self, board: &Board, now: Timestamp) -> Vec<Effect> {
        let late = self
            .waiting(board)
            .filter(|(task, route)| now.duration_since(ready_since(board, task)) > route.within);
        late.map(|(task, route)| {
            let minutes = route.within.as_mins();
            let unit = if minutes == 1 { "minute" } else { "minutes" };
            let why = format!("{} did not begin it within {minutes} {unit}", route.primary);
            given(task, route, why)
        })
        .collect()
    }

    /// Returns the tasks whose first agent cannot begin them now, given to the other at once. The other must be known to be
    /// able to begin them: else they wait for the time of their route.
    pub fn forfeited(&self, board: &Board, presence: &Presence, now: Timestamp) -> Vec<Effect> {
        let sessions = &board.sessions;
        let waiting = self.waiting(board);
        let waiting =
            waiting.filter(|(_, route)| presence.is_present(&route.fallback, sessions, now));
        waiting
            .filter_map(|(task, route)| {
                let why = presence.absence(&route.primary, sessions, now)?;
                Some(given(task, route, why))
            })
            .collect()
    }
}

/// A task that goes to the fallback of its category, and the reason.
fn given(task: &Task, route: &Route, why: String) -> Effect {
    let set = [
        ("assigned_to".to_owned(), route.fallback.as_str().into()),
        (REASSIGNED.to_owned(), why.into()),
    ];
    Effect::TaskChanged {
        task: task.id.clone(),
        set: set.into_iter().collect(),
    }
}

/// Since when a task could be begun that waits for nothing.
fn ready_since(board: &Board, task: &Task) -> Timestamp {
    let moment = |text: &Option<String>| text.as_deref()?.parse::<Timestamp>().ok();
    let needs = task.needs.iter().filter_map(|need| board.task(need));
    let needs = needs.filter_map(|need| moment(&need.completed_at));
    let latest = needs.chain(moment(&task.queued_at)).max();
    latest.map_or(task.created_at, |latest| latest.max(task.created_at))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CALC-ROUTE-1: nine categories, each with a primary, another as its fallback, and a time.
    #[test]
    fn every_category_has_two_agents_and_a_time() {
        let matrix = Matrix::seed();
        assert_eq!(matrix.routes.len(), 9);
        for route in &matrix.routes {
            assert_ne!(route.primary, route.fallback, "{}", route.category);
            assert!(route.within >= SignedDuration::from_mins(5));
            assert!(matrix.role(&route.primary).is_some());
        }
        let review = matrix.route("large-review").unwrap();
        assert_eq!(review.primary.as_str(), "gemini-cli");
        assert_eq!(review.within, SignedDuration::from_mins(15));
    }
}
