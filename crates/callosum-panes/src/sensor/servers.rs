//! The part of a [`Sensor`] that talks to tmux: the list of panes, screens and colors.
//!
//! Start with [`Sensor::list`], which asks every server for the list and for the screens that it expects to want. What
//! it did not expect, a new client or a composer that has moved, costs one more round trip.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use super::{
    Client, Sensor, Settings,
    known::{self, Captured, ClientPane, Known},
};
use crate::{
    Layout,
    program::{Program, Running},
    screen::Screen,
    tmux::{CapturedScreen, Connection, Requested, Snapshot, Tmux, TmuxPane, Wanted, sockets},
};

/// Time for which a server that could not be reached is left alone.
const RETRY: Duration = Duration::from_secs(5);

/// A tmux server.
#[derive(Debug)]
pub(super) enum Server {
    Open(Box<Connection>),
    Failed(Instant, String),
}

/// Panes and screens that one look found in a server.
#[derive(Debug, Default)]
pub(super) struct Listed {
    pub(super) socket: PathBuf,
    pub(super) snapshot: Snapshot,
    pub(super) early: Early,
}

/// Results from screens that were read while tmux sent others, by pane: the client whose rules found the composer, and the lines,
/// unless they are those of the last look.
pub(super) type Early = HashMap<String, (Program, Option<(Screen, Layout)>)>;

/// A client in a pane of tmux.
pub(super) struct InPane<'p> {
    pub(super) pane: &'p TmuxPane,
    pub(super) place: ClientPane,
    pub(super) running: Running,
}

impl Sensor {
    /// Lists the panes of every server, with the screens of those that had a client at the last
    /// look. All servers work at the same time, and files and processes are read in the same
    /// interval.
    pub(super) fn list(&mut self, notes: &mut Vec<String>) -> Vec<Listed> {
        let Some(tmux) = self.settings.tmux.clone() else {
            notes.push("tmux is not installed, so no screen can be read".to_owned());
            self.sources.read(&self.disk, &self.settings);
            return Vec::new();
        };
        // Servers that are known work while this process looks for others.
        let mut requested = self.request();
        let current = self.settings.current_socket.as_deref();
        let sockets = sockets(&self.disk, &self.settings.sockets, current);
        self.servers.retain(|socket, _| sockets.contains(socket));
        self.sources.read(&self.disk, &self.settings);
        self.find_ended();
        let mut listed = Vec::new();
        for socket in sockets {
            let requested = requested.remove(&socket);
            match self.snapshot_of(&tmux, &socket, requested) {
                Ok(found) => listed.push(found),
                // A socket whose server has ended stays behind, so that is nothing to report.
                Err(why) if why.is_empty() => {}
                Err(why) => notes.push(why),
            }
        }
        listed
    }

    /// Asks every server that is connected, and does not wait.
    fn request(&mut self) -> HashMap<PathBuf, Requested> {
        let mut requested = HashMap::new();
        for (socket, server) in &mut self.servers {
            if let Server::Open(connection) = server {
                let wanted = wanted(socket, &self.settings, &self.clients, &self.known);
                // A server that cannot be asked gets a new connection.
                if let Ok(request) = connection.request(wanted) {
                    requested.insert(socket.clone(), request);
                }
            }
        }
        requested
    }

    /// Returns the reply of one server, over a new connection if the old one has ended.
    fn snapshot_of(
        &mut self,
        tmux: &Tmux,
        socket: &Path,
        requested: Option<Requested>,
    ) -> Result<Listed, String> {
        if let Some(Server::Open(connection)) = self.servers.get_mut(socket)
            && let Some(requested) = requested
        {
            let mut early = Early::new();
            let mut key = (socket.to_owned(), String::new());
            let mut while_reading = |pane: &str, plain: &[u8]| {
                pane.clone_into(&mut key.1);
                let client = self.clients.get(&key);
                let Some(running) = client.and_then(|client| client.running.as_ref()) else {
                    return;
                };
                let place = ClientPane::in_tmux(socket, &self.settings.sockets, pane, running);
                let rules = self.settings.rules_of(running.program);
                let lines = known::lines(plain, self.known.get(&place), rules);
                early.insert(pane.to_owned(), (running.program, lines));
            };
            if let Ok(snapshot) = connection.receive(requested, &mut while_reading) {
                return Ok(Listed {
                    socket: socket.to_owned(),
                    snapshot,
                    early,
                });
            }
        }
        if let Some(Server::Failed(at, why)) = self.servers.get(socket)
            && at.elapsed() < RETRY
        {
            return Err(why.clone());
        }
        let opened = if is_listening(socket) {
            let opened = Connection::open(tmux, socket);
            opened
                .and_then(|mut connection| Ok((connection.list()?, connection)))
                .map_err(|error| error.to_string())
        } else {
            Err(String::new())
        };
        match opened {
            Ok((panes, connection)) => {
                self.servers
                    .insert(socket.to_owned(), Server::Open(Box::new(connection)));
                let snapshot = Snapshot {
                    panes,
                    screens: HashMap::new(),
                };
                Ok(Listed {
                    socket: socket.to_owned(),
                    snapshot,
                    early: Early::new(),
                })
            }
            Err(why) => {
                let failed = Server::Failed(Instant::now(), why.clone());
                self.servers.insert(socket.to_owned(), failed);
                Err(why)
            }
        }
    }

    /// Returns the clients in the panes of a server.
    pub(super) fn clients_of<'p>(&self, socket: &Path, panes: &'p [TmuxPane]) -> Vec<InPane<'p>> {
        let mut key = (socket.to_owned(), String::new());
        let mut clients = Vec::new();
        for pane in panes {
            key.1.clone_from(&pane.id);
            let client = self.clients.get(&key);
            if let Some(running) = client.and_then(|client| client.running.clone()) {
                let sockets = &self.settings.sockets;
                clients.push(InPane {
                    pane,
                    place: ClientPane::in_tmux(socket, sockets, &pane.id, &running),
                    running,
                });
            }
        }
        clients
    }

    /// Takes up the screens of clients, and reads those that were not asked for with the list.
    pub(super) fn screens(
        &mut self,
        socket: &Path,
        clients: &[InPane<'_>],
        (mut read, mut early): (HashMap<String, CapturedScreen>, Early),
        notes: &mut Vec<String>,
    ) -> Vec<Result<Captured, String>> {
        let mut avoided = Vec::new();
        if let Some(Server::Open(connection)) = self.servers.get_mut(socket) {
            let panes = clients.iter().map(|client| client.pane);
            let missing: Vec<&TmuxPane> = panes
                .clone()
                .filter(|pane| !read.contains_key(&pane.id))
                .collect();
            match connection.screens(&missing) {
                Ok(screens) => {
                    for (pane, plain) in missing.iter().zip(screens) {
                        if let Some(plain) = plain {
                            let screen = CapturedScreen {
                                plain,
                                colored: None,
                            };
                            read.insert(pane.id.clone(), screen);
                        }
                    }
                }
                Err(error) => notes.push(error.to_string()),
            }
            avoided.extend(panes.filter(|pane| connection.avoids(&pane.id)));
        }
        let screen = |client: &InPane<'_>| {
            if avoided.iter().any(|pane| pane.id == client.pane.id) {
                return Err("the screen imitates tmux's own protocol".to_owned());
            }
            let CapturedScreen { plain, colored } = read
                .remove(&client.pane.id)
                .ok_or_else(|| "the screen changed its size while it was read".to_owned())?;
            let program = client.running.program;
            let lines = match early.remove(&client.pane.id) {
                Some((of, lines)) if of == program => lines,
                _ => {
                    let known = self.known.get(&client.place);
                    known::lines(&plain, known, self.settings.rules_of(program))
                }
            };
            Ok(Captured {
                plain,
                colored,
                lines,
            })
        };
        clients.iter().map(screen).collect()
    }

    /// Reads the colors of composers with a new text.
    pub(super) fn color(
        &mut self,
        socket: &Path,
        clients: &[InPane<'_>],
        screens: &mut [Result<Captured, String>],
        notes: &mut Vec<String>,
    ) {
        let mut wanted = Vec::new();
        let mut indexes = Vec::new();
        for (index, (client, screen)) in clients.iter().zip(&mut *screens).enumerate() {
            let Ok(screen) = screen else { continue };
            let lines = screen.composer(self.known.get(&client.place));
            if lines == screen.colored_lines() {
                continue;
            }
            screen.colored = None;
            if let Some((first, last)) = lines
                && !screen.is_judged(self.known.get(&client.place))
            {
                wanted.push((client.pane, first, last));
                indexes.push((index, first));
            }
        }
        let Some(Server::Open(connection)) = self.servers.get_mut(socket) else {
            return;
        };
        match connection.colors(&wanted) {
            Ok(colored) => {
                for ((index, first), lines) in indexes.into_iter().zip(colored) {
                    if let (Ok(screen), Some(lines)) = (&mut screens[index], lines) {
                        screen.colored = Some((first, lines));
                    }
                }
            }
            Err(error) => notes.push(error.to_string()),
        }
    }
}

/// Returns what to ask a server for, from the last look.
fn wanted(
    socket: &Path,
    settings: &Settings,
    clients: &HashMap<(PathBuf, String), Client>,
    known: &HashMap<ClientPane, Known>,
) -> Vec<Wanted> {
    let clients = clients.iter().filter(|((server, _), _)| server == socket);
    clients
        .filter_map(|((_, pane), client)| {
            let running = client.running.as_ref()?;
            let place = ClientPane::in_tmux(socket, &settings.sockets, pane, running);
            let known = known.get(&place);
            Some(Wanted {
                pane: pane.clone(),
                colors: known.and_then(Known::composer),
            })
        })
        .collect()
}

/// Whether a server listens at a socket. tmux would start no server for `attach`, but a process costs 5 ms.
fn is_listening(socket: &Path) -> bool {
    std::os::unix::net::UnixStream::connect(socket).is_ok()
}
