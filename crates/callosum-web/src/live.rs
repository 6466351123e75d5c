//! The stream of changes: names of subjects that changed, so that an open page loads its view again.
//!
//! A subject's files are looked at twice a second while a page is open. So the stream costs the same however much is
//! written, and a page that was away for a while misses nothing: its view shows the present state.

use std::{convert::Infallible, sync::Arc, time::Duration};

use axum::{body::Body, http::StatusCode, response::Response};
use tokio::sync::mpsc;
use tokio_stream::{StreamExt as _, wrappers::ReceiverStream};

use crate::{
    project::{Project, Subject, stamp},
    response,
    site::Shared,
};

/// Interval of looks at the files.
const LOOK: Duration = Duration::from_millis(500);

/// Looks without a change after which a comment is sent, so that both sides notice a lost connection.
const QUIET_LOOKS: u32 = 20;

/// Returns the stream of a project's changes.
pub(crate) fn answer(shared: &Arc<Shared>, project: Project) -> Response {
    let (sender, receiver) = mpsc::channel::<String>(4);
    let own = Arc::clone(shared);
    tokio::spawn(async move {
        let mut stop = own.stop.clone();
        tokio::select! {
            () = watch(&own, project, &sender) => {}
            () = sender.closed() => {}
            _ = stop.wait_for(|is_over| *is_over) => {}
        }
    });
    let body = ReceiverStream::new(receiver).map(Ok::<_, Infallible>);
    response::of(StatusCode::OK, "text/event-stream", Body::from_stream(body))
}

/// Sends what changed until the page is closed.
async fn watch(shared: &Arc<Shared>, project: Project, sender: &mpsc::Sender<String>) {
    // A browser connects again after so many milliseconds.
    if sender
        .send("retry: 1000\nevent: ready\ndata: \n\n".to_owned())
        .await
        .is_err()
    {
        return;
    }
    let mut known: Option<Vec<(Subject, u64)>> = None;
    let mut quiet = 0;
    loop {
        let (own, root) = (Arc::clone(shared), project.root.clone());
        let look = move || {
            let watched = own.setting.machine.watched(&root);
            Subject::ALL.map(|subject| {
                let paths = watched.iter().filter(|(of, _)| *of == subject);
                let paths: Vec<_> = paths.map(|(_, path)| path.as_path()).collect();
                (subject, stamp(&own.setting.disk, &paths))
            })
        };
        let Ok(stamps) = tokio::task::spawn_blocking(look).await else {
            tracing::error!("cannot look at the files of a project");
            return;
        };
        let changed: Vec<&str> = match &known {
            None => Vec::new(),
            Some(known) => {
                let pairs = known.iter().zip(&stamps);
                let changed = pairs.filter(|(before, after)| before.1 != after.1);
                changed.map(|(_, (subject, _))| subject.as_str()).collect()
            }
        };
        known = Some(stamps.to_vec());
        quiet = if changed.is_empty() { quiet + 1 } else { 0 };
        let line = match changed.as_slice() {
            [] if quiet < QUIET_LOOKS => None,
            [] => Some(": quiet\n\n".to_owned()),
            changed => Some(format!("event: changed\ndata: {}\n\n", changed.join(" "))),
        };
        if let Some(line) = line {
            quiet = 0;
            if sender.send(line).await.is_err() {
                return;
            }
        }
        tokio::time::sleep(LOOK).await;
    }
}
