//! [`Link`]: a bad link between a machine and a server. Each connection passes it slowly and late, and is cut now and then.

use std::{
    io::{Read, Write},
    net::{Shutdown, TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

/// Most bytes that pass at once.
const PIECE: usize = 4096;

/// Quality of a link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Quality {
    /// Time that each piece takes longer.
    pub(crate) delay: Duration,
    /// Bytes per second of a connection in each direction.
    pub(crate) bytes_per_second: u32,
    /// Time after which all connections are cut.
    pub(crate) cut_after: Option<Duration>,
}

/// A link of which nothing is to be noticed.
pub(crate) const GOOD: Quality = Quality {
    delay: Duration::ZERO,
    bytes_per_second: u32::MAX,
    cut_after: None,
};

struct State {
    quality: Mutex<Quality>,
    is_over: AtomicBool,
    /// Connections that were cut.
    cuts: AtomicU64,
}

/// A link that listens on loopback. It ends when it is dropped.
pub(crate) struct Link {
    state: Arc<State>,
    port: u16,
}

impl Link {
    /// Leads to a port on loopback.
    pub(crate) fn to(server: u16, quality: Quality) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let state = Arc::new(State {
            quality: Mutex::new(quality),
            is_over: AtomicBool::new(false),
            cuts: AtomicU64::new(0),
        });
        let shared = Arc::clone(&state);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                if shared.is_over.load(Ordering::Relaxed) {
                    return;
                }
                if let Ok(server) = TcpStream::connect(("127.0.0.1", server)) {
                    shared.pass(&client, &server);
                }
            }
        });
        Self { state, port }
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn set(&self, quality: Quality) {
        *self.state.quality.lock().unwrap() = quality;
    }

    pub(crate) fn cuts(&self) -> u64 {
        self.state.cuts.load(Ordering::Relaxed)
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.state.is_over.store(true, Ordering::Relaxed);
        // The listener looks at that when someone comes.
        drop(TcpStream::connect(("127.0.0.1", self.port)));
    }
}

impl State {
    fn quality(&self) -> Quality {
        *self.quality.lock().unwrap()
    }

    /// Passes what both sides send to the other until one ends.
    fn pass(self: &Arc<Self>, client: &TcpStream, server: &TcpStream) {
        for (from, to) in [(client, server), (server, client)] {
            let (from, to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
            let state = Arc::clone(self);
            thread::spawn(move || {
                drop(state.pass_one_way(&from, &to));
                for side in [from, to] {
                    drop(side.shutdown(Shutdown::Both));
                }
            });
        }
    }

    fn pass_one_way(&self, mut from: &TcpStream, mut to: &TcpStream) -> std::io::Result<()> {
        let begun = Instant::now();
        let mut piece = [0; PIECE];
        from.set_read_timeout(Some(Duration::from_millis(50)))?;
        while !self.is_over.load(Ordering::Relaxed) {
            let quality = self.quality();
            if quality.cut_after.is_some_and(|time| begun.elapsed() > time) {
                self.cuts.fetch_add(1, Ordering::Relaxed);
                return Ok(());
            }
            let count = match from.read(&mut piece) {
                Ok(0) => return Ok(()),
                Ok(count) => count,
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => continue,
                Err(error) => return Err(error),
            };
            let seconds = count as f64 / f64::from(quality.bytes_per_second);
            thread::sleep(quality.delay + Duration::from_secs_f64(seconds));
            to.write_all(&piece[..count])?;
        }
        Ok(())
    }
}
