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
    Sensor,
    known::{Captured, Known, Place},
};
use crate::{
    program::Running,
    tmux::{CapturedScreen, Connection, Requested, Snapshot, Tmux, TmuxPane, Wanted, sockets},
};

/// How long a server that could not be reached is left alone.
const RETRY: Duration = Duration::from_secs(5);

/// A tmux server.
#[derive(Debug)]
pub(super) enum Server {
    Open(Box<Connection>),
    Failed(Instant, String),
}

/// A client in a pane of tmux.
pub(super) struct InPane<'p> {
    pub(super) pane: &'p TmuxPane,
    pub(super) place: Place,
    pub(super) running: Running,
}

impl Sensor {
    /// Lists the panes of every server, with the screens of those that had a client at the last look. All servers work
    /// at the same time, and files and processes are read meanwhile.
    pub(super) fn list(&mut self, notes: &mut Vec<String>) -> Vec<(PathBuf, Snapshot)> {
        let Some(tmux) = self.settings.tmux.clone() else {
            notes.push("tmux is not installed, so no screen can be read".to_owned());
            self.sources.read(&self.disk, &self.settings);
            return Vec::new();
        };
        let current = self.settings.current_socket.as_deref();
        let sockets = sockets(&self.disk, &self.settings.sockets, current);
        self.servers.retain(|socket, _| sockets.contains(socket));
        let requested: Vec<Option<Requested>> = sockets
            .iter()
            .map(|socket| {
                let wanted = self.wanted(socket);
                match self.servers.get_mut(socket)? {
                    Server::Open(connection) => connection.request(wanted).ok(),
                    Server::Failed(..) => None,
                }
            })
            .collect();
        self.sources.read(&self.disk, &self.settings);
        self.find_ended();
        let mut listed = Vec::new();
        for (socket, requested) in sockets.into_iter().zip(requested) {
            match self.snapshot_of(&tmux, &socket, requested) {
                Ok(snapshot) => listed.push((socket, snapshot)),
                // A socket whose server has ended stays behind, so that is nothing to report.
                Err(why) if why.is_empty() => {}
                Err(why) => notes.push(why),
            }
        }
        listed
    }

    /// Returns what to ask a server for, from the last look.
    fn wanted(&self, socket: &Path) -> Vec<Wanted> {
        let clients = self.clients.iter();
        clients
            .filter_map(|((server, pane), client)| {
                let running = client.running.as_ref().filter(|_| server == socket)?;
                let place = Place::in_tmux(socket, &self.settings.sockets, pane, running);
                let known = self.known.get(&place);
                Some(Wanted {
                    pane: pane.clone(),
                    colors: known.and_then(Known::composer),
                })
            })
            .collect()
    }

    /// Returns the reply of one server, over a new connection if the old one has ended.
    fn snapshot_of(
        &mut self,
        tmux: &Tmux,
        socket: &Path,
        requested: Option<Requested>,
    ) -> Result<Snapshot, String> {
        if let Some(Server::Open(connection)) = self.servers.get_mut(socket)
            && let Some(requested) = requested
            && let Ok(snapshot) = connection.receive(requested)
        {
            return Ok(snapshot);
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
                Ok(Snapshot {
                    panes,
                    screens: HashMap::new(),
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
                    place: Place::in_tmux(socket, sockets, &pane.id, &running),
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
        mut read: HashMap<String, CapturedScreen>,
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
            let screen = read
                .remove(&client.pane.id)
                .ok_or_else(|| "the screen changed its size while it was read".to_owned())?;
            let known = self.known.get(&client.place);
            let rules = self.rules(client.running.program);
            Ok(Captured::new(screen, known, rules))
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

/// Whether a server listens at a socket. tmux would start no server for `attach`, but a process costs 5 ms.
fn is_listening(socket: &Path) -> bool {
    std::os::unix::net::UnixStream::connect(socket).is_ok()
}
