//! [`Doorkeeper`]: the thread at a port, which looks whose a connection is the moment that it comes.
//!
//! Many hand something in and go without an answer. What is being answered just then must not keep anybody at the door: of who has gone
//! meanwhile nobody can tell any more whose they were.
//!
//! Where the machine is this user's alone, those are theirs all the same. Deliberately not here: whom to answer, and with what.

use std::{
    io,
    net::{TcpListener, TcpStream},
    thread,
};

use callosum_host::{
    peer::{self, OtherUsers, Peer},
    process::Cancel,
};
use tokio::sync::mpsc;

use super::run::PAUSE;

/// Most that have come and nobody has attended to yet; others wait with the system.
const MOST_WAITING: usize = 64;

/// Who has come to a port, in their order.
pub(super) struct Doorkeeper {
    come: mpsc::Receiver<Come>,
}

/// One who has come.
pub(super) struct Come {
    pub(super) stream: TcpStream,
    pub(super) peer: Peer,
    /// Whether it has gone, and can have been nobody's but this user's.
    pub(super) is_ours_alone: bool,
}

impl Doorkeeper {
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
                        let come = Come {
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

    /// The next who has come; `None` once nobody is let in any more.
    pub(super) async fn next(&mut self) -> Option<Come> {
        self.come.recv().await
    }
}
