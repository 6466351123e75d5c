//! [`Page`]: the pages that the daemon serves at a port of their own.
//!
//! The program supplies them, and they decide whom they answer.

use std::{error::Error, net::SocketAddr, pin::Pin, rc::Rc};

use hyper::{
    Request, Response, StatusCode,
    body::{Body, Bytes, Incoming},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};

use super::{
    ServerState,
    connection::{LEAVE, LONGEST_HEAD, PATIENCE},
    connection_limit::Connection,
};

/// The body of a page's answer.
pub type PageBody = Pin<Box<dyn Body<Data = Bytes, Error = Box<dyn Error + Send + Sync>> + Send>>;

/// An answer of a page that is being made.
pub type PageFuture = Pin<Box<dyn Future<Output = Response<PageBody>> + Send>>;

/// Answers requests for pages.
pub trait Page: Send + Sync {
    /// Returns the answer to a request. It must not block the thread that it is polled on.
    fn answer(&self, request: Request<Incoming>, from: Sender) -> PageFuture;

    /// Ends answers that would have no end, since the daemon ends.
    fn stop(&self);
}

/// The program that sent a request.
#[derive(Clone, Copy, Debug)]
pub struct Sender {
    /// Whether it belongs to another user of this machine.
    pub is_other_user: bool,
    /// The addresses of the connection, the daemon's first; `None` if the system does not say.
    pub ends: Option<(SocketAddr, SocketAddr)>,
}

/// Most bytes of a body that a page reads.
pub(super) const LONGEST_FORM: u64 = 1024 * 1024;

/// Answers requests for pages over `stream`, until it is closed, has to make room for another as `guest`, or the daemon
/// ends.
pub(super) async fn serve<S>(
    house: Rc<ServerState>,
    stream: S,
    guest: Rc<Connection>,
    sender: Sender,
) where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let mut stop = house.stop.clone();
    let leave = Rc::clone(&guest.leave);
    let own = Rc::clone(&house);
    let service = service_fn(move |request: Request<Incoming>| {
        let (house, guest) = (Rc::clone(&own), Rc::clone(&guest));
        guest.asks();
        async move {
            let is_long = request.body().size_hint().lower() > LONGEST_FORM;
            let answer = match &house.page {
                Some(page) if !is_long => page.answer(request, sender).await,
                _ => {
                    let body: PageBody = Box::pin(Empty);
                    let mut answer = Response::new(body);
                    *answer.status_mut() = StatusCode::PAYLOAD_TOO_LARGE;
                    answer
                }
            };
            if answer.body().size_hint().exact().is_none() {
                guest.listens();
            }
            Ok::<_, std::convert::Infallible>(answer)
        }
    });
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(PATIENCE)
        .max_buf_size(LONGEST_HEAD);
    let connection = builder.serve_connection(TokioIo::new(stream), service);
    tokio::pin!(connection);
    tokio::select! {
        // The connection has ended in any case, so there is no one to report an error to.
        _ = connection.as_mut() => return,
        () = leave.notified() => return,
        _ = stop.wait_for(|is_over| *is_over) => {}
    }
    connection.as_mut().graceful_shutdown();
    drop(tokio::time::timeout(LEAVE, connection).await);
}

/// A body without a byte.
struct Empty;

impl Body for Empty {
    type Data = Bytes;
    type Error = Box<dyn Error + Send + Sync>;

    fn poll_frame(
        self: Pin<&mut Self>,
        _context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<hyper::body::Frame<Bytes>, Self::Error>>> {
        std::task::Poll::Ready(None)
    }

    fn is_end_stream(&self) -> bool {
        true
    }

    fn size_hint(&self) -> hyper::body::SizeHint {
        hyper::body::SizeHint::with_exact(0)
    }
}
