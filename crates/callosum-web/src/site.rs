//! [`Site`]: the page as a service, with what it needs from the program.

use std::{
    collections::VecDeque,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use axum::{Router, body::Body, http::Request};
use callosum_daemon::{Page, PageBody, PageFuture, Sender};
use callosum_host::{Clock, Disk, Ids};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use tokio::sync::{Semaphore, watch};
use tower_service::Service as _;

use crate::{
    access::Proxy,
    command::Program,
    form_token::FormToken,
    project::{Machine, Project},
    router,
};

/// Most commands that run for the page at once: more would only slow one another down.
const MOST_COMMANDS: usize = 4;

/// Most results of forms that wait to be shown.
const MOST_NOTICES: usize = 64;

/// Inputs of [`Site`].
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

/// The page of this machine. Clones share everything.
#[derive(Clone)]
pub struct Site(Router, watch::Sender<bool>);

impl Site {
    /// Returns a page that answers from these inputs.
    pub fn new(setting: SiteSetting) -> Self {
        let (over, stop) = watch::channel(false);
        let shared = Arc::new(Shared::new(setting, stop));
        Self(router::router(shared), over)
    }
}

impl Page for Site {
    fn answer(&self, request: Request<Incoming>, from: Sender) -> PageFuture {
        let mut router = self.0.clone();
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(from);
        Box::pin(async move {
            let response = match router.call(request).await {
                Ok(response) => response,
                Err(never) => match never {},
            };
            response.map(|body| -> PageBody { Box::pin(body.map_err(Into::into)) })
        })
    }

    /// Ends the streams of changes.
    fn stop(&self) {
        self.1.send_replace(true);
    }
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
    /// What happened.
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
