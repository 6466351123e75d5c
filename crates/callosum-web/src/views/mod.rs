//! Views of a project, one file each: what each shows, and which forms it takes.
//!
//! A view is a template, filled by [`View::show`] with what commands print. [`View::act`] turns a form into the
//! command that does it. A new view needs a file here, a template, and a row in [`VIEWS`].

mod answer;
pub(crate) mod conversation;
pub(crate) mod cost;
pub(crate) mod guard;
pub(crate) mod health;
pub(crate) mod interventions;
pub(crate) mod layout;
pub(crate) mod ledger;
pub(crate) mod memory;
pub(crate) mod now;
pub(crate) mod plans;
#[cfg(test)]
pub(crate) mod shown;
pub(crate) mod snapshots;
pub(crate) mod tasks;

pub(crate) use self::answer::Answer;
use crate::{
    command::{Command, CommandFailure},
    form::{BadForm, Form},
    project::Subject,
    visit::Visit,
};

/// A view of a project.
pub(crate) struct View {
    /// Name in the path.
    pub(crate) name: &'static str,
    /// Title for people.
    pub(crate) title: &'static str,
    /// Key that opens it, after `g`.
    pub(crate) key: char,
    /// Subjects whose changes make it stale.
    pub(crate) subjects: &'static [Subject],
    /// Runs commands and renders what they print.
    pub(crate) show: fn(&Visit) -> Result<Answer, CommandFailure>,
    /// Returns the command that a form means.
    pub(crate) act: fn(&str, &Form) -> Result<Command, BadForm>,
}

/// All views, in the order of the menu.
pub(crate) const VIEWS: &[View] = &[
    View {
        name: "now",
        title: "Now",
        key: 'n',
        subjects: &[Subject::Mesh, Subject::Journal],
        show: now::show,
        act: now::act,
    },
    View {
        name: "tasks",
        title: "Tasks",
        key: 't',
        subjects: &[Subject::Mesh],
        show: tasks::show,
        act: tasks::act,
    },
    View {
        name: "conversation",
        title: "Conversation",
        key: 'c',
        subjects: &[Subject::Mesh],
        show: conversation::show,
        act: conversation::act,
    },
    View {
        name: "memory",
        title: "Memory",
        key: 'm',
        subjects: &[Subject::Sessions],
        show: memory::show,
        act: memory::act,
    },
    View {
        name: "ledger",
        title: "Ledger",
        key: 'l',
        subjects: &[Subject::Ledger],
        show: ledger::show,
        act: ledger::act,
    },
    View {
        name: "plans",
        title: "Plans",
        key: 'p',
        subjects: &[Subject::Journal],
        show: plans::show,
        act: plans::act,
    },
    View {
        name: "guard",
        title: "Guard",
        key: 'u',
        subjects: &[Subject::Journal],
        show: guard::show,
        act: guard::act,
    },
    View {
        name: "snapshots",
        title: "Snapshots",
        key: 's',
        subjects: &[Subject::Snapshots],
        show: snapshots::show,
        act: snapshots::act,
    },
    View {
        name: "interventions",
        title: "Interventions",
        key: 'i',
        subjects: &[Subject::Recall],
        show: interventions::show,
        act: interventions::act,
    },
    View {
        name: "cost",
        title: "Cost",
        key: 'o',
        subjects: &[Subject::Ledger],
        show: cost::show,
        act: cost::act,
    },
    View {
        name: "health",
        title: "Health",
        key: 'h',
        subjects: &[],
        show: health::show,
        act: health::act,
    },
];

/// Returns the view of this name.
pub(crate) fn named(name: &str) -> Option<&'static View> {
    VIEWS.iter().find(|view| view.name == name)
}
