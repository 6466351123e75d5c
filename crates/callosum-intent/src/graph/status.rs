//! [`Status`]: the states of an intent, and the table of legal transitions between them.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// The state of an intent.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Recorded, and not yet started.
    #[default]
    Pending,
    /// Pursued, and no plan runs for it at the moment.
    Active,
    /// A plan runs for it.
    Executing,
    /// Its goal was reached.
    Completed,
    /// Its last attempt failed; it may be tried again.
    Failed,
    /// Someone gave it up.
    Aborted,
    /// It waits until someone makes it active again.
    Suspended,
    /// Kept for the record only.
    Archived,
}

/// A transition that is not in the table.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an intent that is {from} cannot become {to} (allowed: {})", names(from.next()))]
pub struct IllegalTransition {
    /// The state before.
    pub from: Status,
    /// The state that was asked for.
    pub to: Status,
}

/// A text that names no state.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a status of an intent (allowed: {})", names(&Status::ALL))]
pub struct UnknownStatus {
    /// The text.
    pub text: String,
}

impl Status {
    /// All states.
    pub const ALL: [Self; 8] = [
        Self::Pending,
        Self::Active,
        Self::Executing,
        Self::Completed,
        Self::Failed,
        Self::Aborted,
        Self::Suspended,
        Self::Archived,
    ];

    /// Returns the states that may follow. This is the table: a pair that is not in it is refused.
    pub const fn next(self) -> &'static [Self] {
        match self {
            Self::Pending => &[
                Self::Active,
                Self::Executing,
                Self::Suspended,
                Self::Aborted,
                Self::Archived,
            ],
            Self::Active => &[
                Self::Executing,
                Self::Completed,
                Self::Failed,
                Self::Suspended,
                Self::Aborted,
                Self::Archived,
            ],
            // Archiving a running intent would hide its run: its end comes first.
            Self::Executing => &[
                Self::Active,
                Self::Completed,
                Self::Failed,
                Self::Suspended,
                Self::Aborted,
            ],
            Self::Suspended | Self::Failed => &[Self::Active, Self::Aborted, Self::Archived],
            Self::Completed | Self::Aborted => &[Self::Active, Self::Archived],
            Self::Archived => &[Self::Active],
        }
    }

    /// Checks that this state may become `to`.
    pub fn check(self, to: Self) -> Result<(), IllegalTransition> {
        if self.next().contains(&to) {
            Ok(())
        } else {
            Err(IllegalTransition { from: self, to })
        }
    }

    /// Returns true if someone pursues the intent: it is active or executing.
    pub const fn is_current(self) -> bool {
        matches!(self, Self::Active | Self::Executing)
    }

    /// Returns true if the intent has ended: it is completed, failed, aborted or archived.
    pub const fn is_closed(self) -> bool {
        matches!(
            self,
            Self::Completed | Self::Failed | Self::Aborted | Self::Archived
        )
    }

    /// Returns the state's name, such as `executing`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Active => "active",
            Self::Executing => "executing",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Aborted => "aborted",
            Self::Suspended => "suspended",
            Self::Archived => "archived",
        }
    }
}

/// Joins the names of states.
fn names(states: &[Status]) -> String {
    let names: Vec<&str> = states.iter().map(|status| status.as_str()).collect();
    names.join(", ")
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Status {
    type Err = UnknownStatus;

    fn from_str(text: &str) -> Result<Self, UnknownStatus> {
        let found = Self::ALL.into_iter().find(|one| one.as_str() == text);
        found.ok_or_else(|| UnknownStatus {
            text: text.to_owned(),
        })
    }
}
