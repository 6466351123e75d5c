//! The project's lines in the text that a session starts with: the intent at work, and errors whose fix is known.
//!
//! Each fails by itself: without one, the rest of the text is the same.

use std::path::PathBuf;

use callosum_executor::client::Client;
use callosum_host::Disk;

use super::{
    Done, SessionEvent,
    current_intent::{CurrentIntent, IntentSource},
    hook_input::HookInput,
    session_project::Unfound,
};
use crate::hook::{gather_facts::folders, tool_errors};
use callosum_config::{Environment, Project, ProjectOverrides};

/// The project that a session starts in, if it can be read.
pub(super) struct Start<'e> {
    environment: &'e Environment,
    project: Option<Project>,
    /// The intent at work.
    pub(super) intent: Option<CurrentIntent>,
}

impl<'e> Start<'e> {
    /// Reads the project of a session, and its intent.
    pub(super) fn find(
        environment: &'e Environment,
        input: &HookInput,
        source: IntentSource,
    ) -> Self {
        let disk = Disk::real();
        let (_, here) = folders(&disk, environment, input.folder.as_deref());
        let load =
            |here| Project::load(&disk, environment, here, &ProjectOverrides::default()).ok();
        let project = here.as_deref().and_then(load);
        let intent = project
            .as_ref()
            .and_then(|project| source(&disk, &project.places.ledger));
        Self {
            environment,
            project,
            intent,
        }
    }

    /// Returns the folders of the project, its tree first; `None` if it cannot be read.
    pub(super) fn folders(&self) -> Option<Vec<PathBuf>> {
        let roots = &self.project.as_ref()?.roots;
        let mut folders = vec![roots.tree.clone()];
        for other in [&roots.state, &roots.sessions] {
            if !folders.contains(other) {
                folders.push(other.clone());
            }
        }
        Some(folders)
    }

    /// Returns the lines about errors. Failures of ours are on the trail.
    pub(super) fn errors(&self, client: &'static Client, own: &Done) -> String {
        let Some(project) = &self.project else {
            return String::new();
        };
        let task = match own {
            Done::Context(text) => text.as_str(),
            Done::Nothing | Done::Tell(_) | Done::Block(_) => "",
        };
        let tree = &project.roots.tree;
        tool_errors::at_start(self.environment, tree, task).unwrap_or_else(|error| {
            let unfound = Unfound::of(self.environment.clone(), error.into());
            unfound.tell(client.program, SessionEvent::Begin.word());
            String::new()
        })
    }
}
