//! [`Broker`]: something that takes events and passes them on, and the process that it runs in.

use std::{
    io::ErrorKind,
    net::{SocketAddr, TcpListener, TcpStream},
    ops::Range,
    process::{Child, Command},
    thread,
    time::{Duration, Instant},
};

use crate::say;

/// What went wrong, in words.
pub(super) type Fault = String;

/// How long anything may take before it has failed.
pub(super) const PATIENCE: Duration = Duration::from_secs(20);

/// The pause between two tries to reach a process that was just started.
const PAUSE: Duration = Duration::from_millis(20);

/// What an acknowledgement is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Durability {
    /// It was passed on.
    Ephemeral,
    /// It is kept by the process or the system, not yet by the disk.
    Logged,
    /// It is on disk.
    Synced,
}

impl Durability {
    pub(super) const ALL: [Self; 3] = [Self::Ephemeral, Self::Logged, Self::Synced];

    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Ephemeral => "ephemeral",
            Self::Logged => "logged",
            Self::Synced => "synced",
        }
    }
}

/// Something that takes events and passes them on.
pub(super) trait Broker {
    fn name(&self) -> &'static str;

    /// One who hands in events; none where the broker knows no such durability.
    fn publisher(&self, durability: Durability) -> Result<Option<Box<dyn Publisher>>, Fault>;

    /// One who hears all that is handed in from now on; none likewise.
    fn subscriber(&self, durability: Durability) -> Result<Box<dyn Subscriber>, Fault>;

    /// The process that it runs in.
    fn server(&self) -> &Server;
}

/// One who hands in events.
pub(super) trait Publisher: Send {
    /// Hands in an event for each number at once, and waits until all are acknowledged.
    fn publish(&mut self, numbers: Range<u64>) -> Result<(), Fault>;
}

/// One who hears events.
pub(super) trait Subscriber: Send {
    /// Waits for the next, and gives its number.
    fn next(&mut self) -> Result<u64, Fault>;
}

/// The text of an event: the same for all brokers.
pub(super) fn event(number: u64) -> String {
    format!(r#"{{"type":"load.test","source":"load","payload":{{"n":{number}}}}}"#)
}

/// The number of an event in a text that holds it.
pub(super) fn number(text: &str) -> Result<u64, Fault> {
    let from = text.find("\"n\":").map(|at| at + 4);
    let digits = from.and_then(|from| {
        let end = text[from..].find(|letter: char| !letter.is_ascii_digit())?;
        text[from..from + end].parse().ok()
    });
    digits.ok_or_else(|| format!("no event of ours: {text}"))
}

/// A process that is ended with this.
#[derive(Debug)]
pub(super) struct Server {
    child: Child,
}

impl Server {
    /// Starts one and waits until it takes connections; `None` where it is not installed.
    pub(super) fn start(
        mut command: Command,
        package: &str,
        addresses: &[SocketAddr],
    ) -> Result<Option<Self>, Fault> {
        let program = command.get_program().to_string_lossy().into_owned();
        let child = match command.spawn() {
            Ok(child) => child,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                say(&format!(
                    "{program} skipped: it is not installed; on Debian, `apt-get install {package}`"
                ));
                return Ok(None);
            }
            Err(error) => return Err(format!("{program}: {error}")),
        };
        let server = Self { child };
        for address in addresses {
            connect(*address).map_err(|error| format!("{program}: {error}"))?;
        }
        Ok(Some(server))
    }

    /// What it holds in memory now, and has held at most.
    #[expect(
        clippy::disallowed_methods,
        reason = "a chore looks at what the system says of a process that it started"
    )]
    pub(super) fn memory(&self) -> Result<String, Fault> {
        let path = format!("/proc/{}/status", self.child.id());
        let said = std::fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
        let of = |key: &str| {
            let line = said.lines().find_map(|line| line.strip_prefix(key))?;
            let kilobytes: f64 = line.split_whitespace().next()?.parse().ok()?;
            Some(kilobytes / 1024.0)
        };
        match (of("VmRSS:"), of("VmHWM:")) {
            (Some(now), Some(most)) => Ok(format!("{now:.1} MiB resident, {most:.1} at most")),
            _ => Err(format!("{path} has no VmRSS and VmHWM")),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself, which whoever spoke to it has heard of.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// An address of loopback that nobody listens at.
pub(super) fn free_address() -> Result<SocketAddr, Fault> {
    TcpListener::bind("127.0.0.1:0")
        .and_then(|listener| listener.local_addr())
        .map_err(|error| format!("no free port: {error}"))
}

/// A connection to one who may not listen yet.
pub(super) fn connect(address: SocketAddr) -> Result<TcpStream, Fault> {
    let until = Instant::now() + PATIENCE;
    loop {
        let connected = TcpStream::connect(address).and_then(|stream| {
            stream.set_nodelay(true)?;
            stream.set_read_timeout(Some(PATIENCE))?;
            Ok(stream)
        });
        match connected {
            Ok(stream) => return Ok(stream),
            Err(error) if Instant::now() > until => return Err(format!("{address}: {error}")),
            Err(_) => thread::sleep(PAUSE),
        }
    }
}
