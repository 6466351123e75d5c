//! [`Proxy`]: accepts on the inner loopback, applies the rules, and forwards bytes.
//!
//! One thread accepts; each connection has two, one for each direction. No one waits for them at
//! the end, since a name server may take its time. The thread that ends the proxy closes and
//! reports the connections that are still open.

use std::{
    collections::BTreeMap,
    io::{self, Read, Write},
    net::{Ipv4Addr, Ipv6Addr, Shutdown, SocketAddr, TcpStream},
    path::Path,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use crate::{Gate, MOST_PORTS};
use callosum_host::process::Cancel;

use super::{
    connection::{Connection, Connections, Verdict},
    request::{self, ProxyRequest},
    resolver::Names,
    rules::{self, Denied},
    upstream::Upstream,
};
use crate::policy::Whitelisted;

/// Most connections of one executor at once.
const MOST_OPEN: usize = 128;

/// Longest time for a program to name its host.
const ASKING: Duration = Duration::from_secs(30);

/// Longest that a host may take to accept.
const CONNECTING: Duration = Duration::from_secs(20);

/// The port of the proxy on the inner loopback, unless the entry names that very port.
const PORT: u16 = 3128;

/// The way out of one executor's network, for as long as it runs.
#[derive(Debug)]
pub struct Proxy {
    listen: Vec<SocketAddr>,
    gate: std::path::PathBuf,
    stop: Cancel,
    shared: Arc<Shared>,
    accepting: Option<JoinHandle<()>>,
}

/// State that the threads of one proxy share.
#[derive(Debug)]
pub(super) struct Shared {
    named: Vec<Whitelisted>,
    names: Names,
    upstream: Option<Upstream>,
    connections: Connections,
    open: Mutex<Open>,
}

/// The connections that are open, and whether there will be more.
#[derive(Debug, Default)]
struct Open {
    is_over: bool,
    next: u64,
    all: BTreeMap<u64, Arc<Live>>,
}

/// A connection that is open.
#[derive(Debug)]
pub(super) struct Live {
    inner: TcpStream,
    state: Mutex<LiveState>,
    sent: AtomicU64,
    received: AtomicU64,
    since: Instant,
}

#[derive(Debug, Default)]
struct LiveState {
    host: String,
    port: u16,
    outer: Option<TcpStream>,
    verdict: Option<Verdict>,
}

impl Proxy {
    /// Opens a gate in a private folder and serves its connections. `connections` gets a report of
    /// each connection after its end.
    pub fn open(
        folder: &Path,
        named: Vec<Whitelisted>,
        names: Names,
        upstream: Option<Upstream>,
        connections: Connections,
    ) -> io::Result<Self> {
        let ports = own_ports(&named);
        let asking = (PORT..=u16::MAX)
            .find(|port| ports.iter().all(|own| own.port() != *port))
            .unwrap_or(PORT);
        let mut listen = vec![(Ipv4Addr::LOCALHOST, asking).into()];
        listen.extend(ports);
        let gate = Gate::open(folder)?;
        let mut proxy = Self {
            listen: listen.clone(),
            gate: gate.path().to_owned(),
            stop: Cancel::new()?,
            shared: Arc::new(Shared::new(named, names, upstream, connections)),
            accepting: None,
        };
        let (stop, shared) = (proxy.stop.clone(), Arc::clone(&proxy.shared));
        let accepting = thread::Builder::new()
            .name("proxy".to_owned())
            .spawn(move || {
                // Where the gate breaks, connections inside are refused, which their programs see.
                drop(accept(&shared, gate, &listen, &stop));
            })?;
        proxy.accepting = Some(accepting);
        Ok(proxy)
    }

    /// Returns the addresses to listen on inside the sandbox.
    pub fn listen(&self) -> Vec<SocketAddr> {
        self.listen.clone()
    }

    /// Returns the path of the gate that receives the listeners.
    pub fn gate(&self) -> &Path {
        &self.gate
    }

    /// Returns the variables with which a program finds the proxy.
    pub fn variables(&self) -> Vec<(&'static str, String)> {
        let url = format!("http://{}", self.listen[0]);
        let proxies = ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"];
        let mut variables: Vec<_> = proxies.map(|name| (name, url.clone())).to_vec();
        for name in ["NO_PROXY", "no_proxy"] {
            variables.push((name, "localhost,127.0.0.1,::1".to_owned()));
        }
        variables.push(("NODE_USE_ENV_PROXY", "1".to_owned()));
        variables
    }
}

impl Drop for Proxy {
    /// Closes and reports open connections.
    fn drop(&mut self) {
        self.stop.cancel();
        if let Some(accepting) = self.accepting.take() {
            drop(accepting.join());
        }
        let mut open = self.shared.open();
        open.is_over = true;
        let left: Vec<u64> = open.all.keys().copied().collect();
        drop(open);
        for number in left {
            self.shared.end(number);
        }
    }
}

/// The ports of this machine's loopback that the entry names: they are there inside as well.
fn own_ports(named: &[Whitelisted]) -> Vec<SocketAddr> {
    let mut ports: Vec<SocketAddr> = named
        .iter()
        .filter_map(|one| {
            let port = one.port?;
            match one.host.as_str() {
                "localhost" => Some((Ipv4Addr::LOCALHOST, port).into()),
                host if host.parse() == Ok(Ipv6Addr::LOCALHOST) => {
                    Some((Ipv6Addr::LOCALHOST, port).into())
                }
                host => match host.parse::<Ipv4Addr>() {
                    Ok(address) if address.is_loopback() => Some((address, port).into()),
                    _ => None,
                },
            }
        })
        .collect();
    ports.sort();
    ports.dedup();
    ports.truncate(MOST_PORTS - 1);
    ports
}

fn accept(
    shared: &Arc<Shared>,
    gate: Gate,
    listen: &[SocketAddr],
    stop: &Cancel,
) -> io::Result<()> {
    let Some(listeners) = gate.wait(stop)? else {
        return Ok(());
    };
    while let Some((place, inner)) = listeners.accept(stop)? {
        // The first is the proxy itself, the others are ports that lead to their like outside.
        let fixed = listen.get(place).copied().filter(|_| place > 0);
        let Some((number, live)) = shared.begin(inner) else {
            continue;
        };
        let serving = Arc::clone(shared);
        let spawned = thread::Builder::new()
            .name("connection".to_owned())
            .spawn(move || {
                serving.serve(&live, fixed);
                serving.end(number);
            });
        if let Err(error) = spawned {
            shared.end(number);
            return Err(error);
        }
    }
    Ok(())
}

impl Shared {
    pub(super) fn new(
        named: Vec<Whitelisted>,
        names: Names,
        upstream: Option<Upstream>,
        connections: Connections,
    ) -> Self {
        Self {
            named,
            names,
            upstream,
            connections,
            open: Mutex::default(),
        }
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        // The table is consistent even if another thread panicked.
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn begin(&self, inner: TcpStream) -> Option<(u64, Arc<Live>)> {
        let mut open = self.open();
        if open.is_over || open.all.len() >= MOST_OPEN {
            return None;
        }
        let number = open.next;
        open.next += 1;
        let live = Arc::new(Live {
            inner,
            state: Mutex::default(),
            sent: AtomicU64::new(0),
            received: AtomicU64::new(0),
            since: Instant::now(),
        });
        open.all.insert(number, Arc::clone(&live));
        Some((number, live))
    }

    /// Closes and reports a connection, once.
    pub(super) fn end(&self, number: u64) {
        let Some(live) = self.open().all.remove(&number) else {
            return;
        };
        let mut state = live.state();
        for stream in [Some(&live.inner), state.outer.as_ref()]
            .into_iter()
            .flatten()
        {
            // It may be closed already.
            drop(stream.shutdown(Shutdown::Both));
        }
        let verdict = state.verdict.take();
        self.connections.tell(Connection {
            host: std::mem::take(&mut state.host),
            port: state.port,
            verdict: verdict.unwrap_or_else(|| Verdict::Failed("it was abandoned".to_owned())),
            sent: live.sent.load(Ordering::Relaxed),
            received: live.received.load(Ordering::Relaxed),
            elapsed: live.since.elapsed(),
        });
    }

    /// Serves a connection to its end.
    pub(super) fn serve(&self, live: &Arc<Live>, fixed: Option<SocketAddr>) {
        let asked = match fixed {
            Some(address) => Ok(Some(ProxyRequest {
                host: address.ip().to_string(),
                port: address.port(),
                first: Some(Vec::new()),
            })),
            None => hear(&live.inner),
        };
        let verdict = match asked {
            Ok(Some(asked)) => {
                let mut state = live.state();
                state.host.clone_from(&asked.host);
                state.port = asked.port;
                drop(state);
                self.connect(live, &asked, fixed)
            }
            Ok(None) => Verdict::Denied("the request names no host".to_owned()),
            Err(error) => Verdict::Failed(error.to_string()),
        };
        let answer = match &verdict {
            Verdict::Allowed => None,
            Verdict::Denied(reason) => Some(("403 Forbidden", reason.clone())),
            Verdict::Failed(reason) => Some(("502 Bad Gateway", reason.clone())),
        };
        live.state().verdict = Some(verdict);
        match answer {
            Some((status, reason)) if fixed.is_none() => {
                // A program that has gone does not need the answer.
                drop(refuse(&live.inner, status, &reason));
            }
            Some(_) => {}
            None => live.pass_on(&self.connections),
        }
    }

    /// Connects to what was asked for, if it may be, and sends what comes first.
    fn connect(&self, live: &Live, asked: &ProxyRequest, fixed: Option<SocketAddr>) -> Verdict {
        let denied = |denied: Denied| Verdict::Denied(denied.to_string());
        let failed = |error: io::Error| Verdict::Failed(error.to_string());
        // A port that is there inside is there because the entry names it.
        if fixed.is_none()
            && let Err(why) = rules::may_ask(&self.named, &asked.host, asked.port)
        {
            return denied(why);
        }
        let upstream = self.upstream.as_ref().filter(|_| fixed.is_none());
        if let Some(upstream) = upstream.filter(|upstream| upstream.leads_to(&asked.host)) {
            let begun = upstream
                .connect(&asked.host, asked.port, CONNECTING)
                .and_then(|outer| begin(live, asked, outer));
            return begun.map_or_else(failed, |()| Verdict::Allowed);
        }
        let addresses = match fixed {
            Some(address) => Ok(vec![address]),
            None => self.names.look_up(&asked.host, asked.port),
        };
        let reachable = match addresses {
            Ok(addresses) if fixed.is_some() => addresses,
            Ok(addresses) => match rules::may_reach(&self.named, &asked.host, &addresses) {
                Ok(reachable) => reachable,
                Err(why) => return denied(why),
            },
            Err(error) => return failed(error),
        };
        let mut last = io::Error::from(io::ErrorKind::AddrNotAvailable);
        for address in reachable {
            match TcpStream::connect_timeout(&address, CONNECTING) {
                Ok(outer) => {
                    return match begin(live, asked, outer) {
                        Ok(()) => Verdict::Allowed,
                        Err(error) => failed(error),
                    };
                }
                Err(error) => last = error,
            }
        }
        failed(last)
    }
}

/// Sends the first bytes on either side, and stores the outer half of a connection.
fn begin(live: &Live, asked: &ProxyRequest, mut outer: TcpStream) -> io::Result<()> {
    match &asked.first {
        None => (&live.inner).write_all(b"HTTP/1.1 200 Connection established\r\n\r\n")?,
        Some(first) => {
            outer.write_all(first)?;
            live.sent.fetch_add(first.len() as u64, Ordering::Relaxed);
        }
    }
    live.state().outer = Some(outer);
    Ok(())
}

/// Reads the request of a program; `None` if it is invalid.
///
/// Read byte by byte: the bytes after it are the program's own and go to the host as they are.
fn hear(mut inner: &TcpStream) -> io::Result<Option<ProxyRequest>> {
    let until = Instant::now() + ASKING;
    let mut heard = Vec::new();
    while !heard.ends_with(request::END) {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        inner.set_read_timeout(Some(left))?;
        let mut byte = [0];
        if heard.len() >= request::LONGEST || inner.read(&mut byte)? == 0 {
            return Ok(None);
        }
        heard.push(byte[0]);
    }
    inner.set_read_timeout(None)?;
    Ok(request::read(&heard))
}

fn refuse(mut inner: &TcpStream, status: &str, reason: &str) -> io::Result<()> {
    let reason = format!("callosum: {reason}\n");
    let length = reason.len();
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\n\
         Content-Length: {length}\r\nConnection: close\r\n\r\n"
    );
    inner.write_all(head.as_bytes())?;
    inner.write_all(reason.as_bytes())
}

impl Live {
    fn state(&self) -> MutexGuard<'_, LiveState> {
        // The fields are consistent even if another thread panicked.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Passes bytes on in both directions until both have ended.
    fn pass_on(self: &Arc<Self>, connections: &Connections) {
        let outer = self.state().outer.as_ref().map(TcpStream::try_clone);
        let Some(Ok(outer)) = outer else {
            return;
        };
        thread::scope(|scope| {
            // What the executor sends is no life: it may ask the same for ever.
            let sending = thread::Builder::new()
                .spawn_scoped(scope, || copy(&self.inner, &outer, &self.sent, || {}));
            if sending.is_err() {
                // A tunnel with one direction would only hang.
                drop(outer.shutdown(Shutdown::Both));
                return;
            }
            copy(&outer, &self.inner, &self.received, || {
                connections.pulse().beat();
            });
        });
    }
}

/// Copies until the end of `from`, which it passes on to `to`, or until either side fails; calls
/// `passed` for each piece.
fn copy(mut from: &TcpStream, mut to: &TcpStream, count: &AtomicU64, passed: impl Fn()) {
    let mut buffer = vec![0; 32 * 1024];
    loop {
        match from.read(&mut buffer) {
            Ok(0) => {
                drop(to.shutdown(Shutdown::Write));
                return;
            }
            Ok(length) if to.write_all(&buffer[..length]).is_ok() => {
                count.fetch_add(length as u64, Ordering::Relaxed);
                passed();
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Ok(_) | Err(_) => {
                // The other direction has nothing to wait for either.
                drop(from.shutdown(Shutdown::Both));
                drop(to.shutdown(Shutdown::Both));
                return;
            }
        }
    }
}
