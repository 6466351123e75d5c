//! [`SiteSetting`]: what the page needs from the program, and the state that all requests share.

use std::{
    collections::VecDeque,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use callosum_host::{Clock, Disk, Ids};
use tokio::sync::{Semaphore, watch};

use crate::{
    access::Proxy,
    command::Program,
    form_token::FormToken,
    project::{Machine, Project},
};

/// Most commands that run for the page at once: more would only slow one another down.
const MOST_COMMANDS: usize = 4;

/// Most results of forms that wait to be shown.
const MOST_NOTICES: usize = 64;

/// Inputs of the page.
pub struct SiteSetting {
    /// Runs commands.
    pub program: Arc<dyn Program>,
    /// Knows the projects of this machine.
    pub machine: Arc<dyn Machine>,
    /// The secret of forms.
    pub token: FormToken,
    /// A proxy with TLS, if one is configured.
    pub proxy: Option<Proxy>,
    /// The files of this machine.
    pub disk: Disk,
    /// Dates what is shown.
    pub clock: Clock,
    /// Version of the program.
    pub version: &'static str,
}

/// Inputs and state that all requests share.
pub(crate) struct Shared {
    pub(crate) setting: SiteSetting,
    /// Becomes true when the daemon ends.
    pub(crate) stop: watch::Receiver<bool>,
    /// Limits concurrent commands.
    pub(crate) commands: Arc<Semaphore>,
    notices: Mutex<VecDeque<(String, Notice)>>,
    ids: Ids,
}

/// Result of a form, shown on the next page.
#[derive(Clone, Debug, serde::Serialize)]
pub(crate) struct Notice {
    /// Whether the command did its work.
    pub(crate) is_done: bool,
    /// Result of the command, in words.
    pub(crate) message: String,
    /// A line to paste.
    pub(crate) hint: Option<String>,
}

impl Shared {
    /// Returns the state of a page that no one has asked yet.
    pub(crate) fn new(setting: SiteSetting, stop: watch::Receiver<bool>) -> Self {
        Self {
            setting,
            stop,
            commands: Arc::new(Semaphore::new(MOST_COMMANDS)),
            notices: Mutex::default(),
            ids: Ids::random(),
        }
    }

    /// Returns the projects that the page offers.
    pub(crate) fn projects(&self) -> Vec<Project> {
        let mut seen = std::collections::BTreeSet::<PathBuf>::new();
        let roots = self.setting.machine.projects();
        roots
            .into_iter()
            .filter(|root| seen.insert(root.clone()))
            .map(Project::new)
            .collect()
    }

    /// Keeps a notice for the next page, and returns its key.
    pub(crate) fn leave(&self, notice: Notice) -> String {
        let key = self.ids.uuid_v4();
        let mut notices = self.notices.lock().unwrap_or_else(PoisonError::into_inner);
        if notices.len() == MOST_NOTICES {
            notices.pop_front();
        }
        notices.push_back((key.clone(), notice));
        key
    }

    /// Returns a notice. It is kept, so that the page can be loaded again.
    pub(crate) fn notice(&self, key: &str) -> Option<Notice> {
        let notices = self.notices.lock().unwrap_or_else(PoisonError::into_inner);
        let found = notices.iter().find(|(kept, _)| kept == key);
        found.map(|(_, notice)| notice.clone())
    }
}
