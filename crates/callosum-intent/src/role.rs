//! [`Role`]: how a reviewer of a federation looks at a plan (Seed CCOS §2).
//!
//! Roles are data. [`roles`] has the three of the seed.

/// One way to look at a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Role {
    /// The name, as requests and records have it.
    pub name: &'static str,
    /// The question that the reviewer answers.
    pub question: &'static str,
    /// Whether a rejection that cites a rule ends the plan, no matter how others vote.
    pub may_veto: bool,
}

/// Returns the roles of the seed: strategy, ethics, logic.
pub fn roles() -> [Role; 3] {
    [
        Role {
            name: "strategy",
            question: "Does the plan reach the goal, by the shortest way, and does its result answer what was asked?",
            may_veto: false,
        },
        Role {
            name: "ethics",
            question: "Does the plan break a rule, send data where it should not go, or do more than the goal asks for?",
            may_veto: true,
        },
        Role {
            name: "logic",
            question: "Is each step correct, does each call get what it needs, and is a call superfluous?",
            may_veto: false,
        },
    ]
}
