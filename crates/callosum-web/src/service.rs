//! [`Site`]: the page as the service that the daemon asks for answers.

use std::sync::Arc;

use axum::{Router, body::Body, http::Request};
use callosum_daemon::{Page, PageBody, PageFuture, Sender};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use tokio::sync::watch;
use tower_service::Service as _;

use crate::{
    router,
    site::{Shared, SiteSetting},
};

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
