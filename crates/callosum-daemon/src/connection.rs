//! One connection: requests one after the other, with a time limit for each.

use std::{rc::Rc, time::Duration};

use hyper::{Method, Request, Response, body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::oneshot,
    time::Instant,
};

use super::{
    ServerState,
    connection_limit::Connection,
    post_infer,
    response::Reply,
    routes::{self, Door, Link},
};

/// Longest wait for the head of a request, and for the next request of a connection.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);

/// Longest wait for a request in progress at the end.
pub(super) const LEAVE: Duration = Duration::from_secs(2);

/// Most bytes of a request's head.
pub(super) const LONGEST_HEAD: usize = 32 * 1024;

/// Answers what is asked over `stream`, until it is closed, has to make room for another as `guest`, or the daemon ends.
pub(super) async fn serve<S>(
    house: Rc<ServerState>,
    door: Door,
    stream: S,
    guest: Option<Rc<Connection>>,
) where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let mut stop = house.stop.clone();
    let asking = guest.clone();
    let leave = guest.as_ref().map(|guest| Rc::clone(&guest.leave));
    let leave = leave.unwrap_or_default();
    let link = Link {
        ends: Rc::clone(&leave),
        meter: Rc::new(house.rates.enter(Instant::now())),
    };
    let service = service_fn(move |request: Request<Incoming>| {
        let (house, guest, link) = (Rc::clone(&house), asking.clone(), link.clone());
        if let Some(guest) = &guest {
            guest.asks();
        }
        // Before this returns: a connection whose end was read with the request is over before anything else of it is done.
        // A model is different: no one is served by a reply that no one waits for.
        let is_inference = request.uri().path() == post_infer::INFER;
        let answer = if request.method() == Method::POST && !is_inference {
            Answer::Begun(begun(&house, door, request, link))
        } else {
            Answer::ToBe(Box::new(request), link)
        };
        async move {
            let response = match answer {
                Answer::Begun(response) => response.await?,
                Answer::ToBe(request, link) => routes::answer(house, door, *request, link).await,
            };
            if let (Some(guest), Reply::Stream(_)) = (&guest, response.body()) {
                guest.listens();
            }
            Ok::<_, oneshot::error::RecvError>(response)
        }
    });
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(PATIENCE)
        .max_buf_size(LONGEST_HEAD);
    let connection = builder.serve_connection(TokioIo::new(stream), service);
    let connection = connection.with_upgrades();
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

/// Response to a request.
enum Answer {
    /// It is in progress, even if no client waits for it.
    Begun(oneshot::Receiver<Response<Reply>>),
    /// It begins when a client polls for it.
    ToBe(Box<Request<Incoming>>, Link),
}

/// Begins to answer a request that publishes something, even if no client waits for the answer any
/// more. If a client closes the connection right after sending, all other work for it ends.
fn begun(
    house: &Rc<ServerState>,
    door: Door,
    request: Request<Incoming>,
    link: Link,
) -> oneshot::Receiver<Response<Reply>> {
    let (done, answer) = oneshot::channel();
    let own = Rc::clone(house);
    house.begin(async move {
        // Who asked may have gone.
        drop(done.send(routes::answer(own, door, request, link).await));
    });
    answer
}
