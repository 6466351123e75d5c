//! [`Acceptor`]: the thread at a port, which checks the owner of a connection the moment that it arrives.
//!
//! Many clients publish something and disconnect without waiting for an answer. A request in
//! progress must not delay the check: once the peer has disconnected, its user can no longer be
//! determined.
//!
//! If this user is alone on the machine, such connections belong to this user all the same.
//! Deliberately not here: which connections are answered, and how.

use std::{
    io,
    net::{TcpListener, TcpStream},
    thread,
    time::Duration,
};

use callosum_host::{
    peer::{self, OtherUsers, Peer},
    process::Cancel,
};
use tokio::sync::mpsc;

/// Pause of a port that cannot accept connections now, as when there are no more file descriptors.
pub(super) const PAUSE: Duration = Duration::from_millis(100);

/// Most accepted connections that wait to be served; others wait in the system's queue.
const MOST_WAITING: usize = 64;

/// Queue of the connections of a port, in their order.
pub(super) struct Acceptor {
    come: mpsc::Receiver<Accepted>,
}

/// One who has come.
pub(super) struct Accepted {
    pub(super) stream: TcpStream,
    pub(super) peer: Peer,
    /// Whether the peer has disconnected, and can only have been this user.
    pub(super) is_ours_alone: bool,
}

impl Acceptor {
    /// Begins to wait for connections, until that is cancelled. The listener does not block.
    pub(super) fn start(listener: TcpListener, cancel: Cancel) -> io::Result<Self> {
        let (tell, come) = mpsc::channel(MOST_WAITING);
        let mut company = OtherUsers::default();
        let work = move || {
            loop {
                match peer::accept(&listener, &cancel) {
                    Ok(Some((stream, peer))) => {
                        if peer == Peer::Other {
                            company.is_joined();
                        }
                        let come = Accepted {
                            stream,
                            peer,
                            is_ours_alone: peer == Peer::Gone && company.is_alone(),
                        };
                        if tell.blocking_send(come).is_err() {
                            return;
                        }
                    }
                    Ok(None) => return,
                    // As when there are no more file descriptors.
                    Err(_) => thread::sleep(PAUSE),
                }
            }
        };
        thread::Builder::new().spawn(work)?;
        Ok(Self { come })
    }

    /// Returns the next connection. `None` once no more are accepted.
    pub(super) async fn next(&mut self) -> Option<Accepted> {
        self.come.recv().await
    }
}
