//! One connection: requests one after the other, with a bound on how long each may take to be said.

use std::{convert::Infallible, rc::Rc, time::Duration};

use hyper::{server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};

use super::{
    House,
    crowd::Guest,
    reply::Reply,
    routes::{self, Door},
};

/// How long the head of a request may take to come, and a connection may wait for its next.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long one that is being answered is waited for at the end.
const LEAVE: Duration = Duration::from_secs(2);

/// Most bytes of a request's head.
const LONGEST_HEAD: usize = 32 * 1024;

/// Answers what is asked over `stream`, until it is closed, has to make room for another as `guest`, or the daemon ends.
pub(super) async fn serve<S>(house: Rc<House>, door: Door, stream: S, guest: Option<Rc<Guest>>)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let mut stop = house.stop.clone();
    let asking = guest.clone();
    let service = service_fn(move |request| {
        let (house, guest) = (Rc::clone(&house), asking.clone());
        async move {
            if let Some(guest) = &guest {
                guest.asks();
            }
            let response = routes::answer(house, door, request).await;
            if let (Some(guest), Reply::Stream(_)) = (&guest, response.body()) {
                guest.listens();
            }
            Ok::<_, Infallible>(response)
        }
    });
    let must_leave = async {
        match &guest {
            Some(guest) => guest.leave.notified().await,
            None => std::future::pending().await,
        }
    };
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(PATIENCE)
        .max_buf_size(LONGEST_HEAD);
    let connection = builder.serve_connection(TokioIo::new(stream), service);
    let connection = connection.with_upgrades();
    tokio::pin!(connection);
    tokio::select! {
        // However it ended, there is nobody left to tell.
        _ = connection.as_mut() => return,
        () = must_leave => return,
        _ = stop.wait_for(|is_over| *is_over) => {}
    }
    connection.as_mut().graceful_shutdown();
    drop(tokio::time::timeout(LEAVE, connection).await);
}
