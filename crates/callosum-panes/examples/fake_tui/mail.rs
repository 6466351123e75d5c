//! [`Mail`]: the socket and the session file with which the fake client takes messages as Claude Code does.

use std::{
    io::{BufRead as _, BufReader},
    os::unix::net::UnixListener,
    path::{Path, PathBuf},
    time::Duration,
};

use callosum_host::{Clock, Disk, process::table};
use serde_json::{Value, json};

pub(crate) struct Mail {
    listener: UnixListener,
    socket: PathBuf,
    file: PathBuf,
    status: &'static str,
}

impl Mail {
    /// Listens in `sockets` and reports in `sessions`. Both folders are made.
    pub(crate) fn new(sockets: &Path, sessions: &Path) -> Self {
        let pid = std::process::id();
        for folder in [sockets, sessions] {
            Disk::real().create_private_dir(folder).unwrap();
        }
        let socket = sockets.join(format!("{pid}.sock"));
        let listener = UnixListener::bind(&socket).unwrap();
        listener.set_nonblocking(true).unwrap();
        Self {
            listener,
            socket,
            file: sessions.join(format!("{pid}.json")),
            status: "",
        }
    }

    /// Writes the session file if the status is another one.
    pub(crate) fn report(&mut self, status: &'static str) {
        if status == self.status {
            return;
        }
        self.status = status;
        let pid = std::process::id();
        let now = Clock::system().now().as_millisecond();
        let text = json!({
            "pid": pid, "sessionId": format!("session-{pid}"), "cwd": "/",
            "procStart": table::entry(pid).unwrap().started.to_string(),
            "messagingSocketPath": self.socket, "status": status,
            "statusUpdatedAt": now,
        });
        let bytes = text.to_string().into_bytes();
        let disk = Disk::real();
        disk.replace_unsynced(&self.file, &bytes, 0o600).unwrap();
    }

    /// Returns the texts that have arrived.
    pub(crate) fn read(&self) -> Vec<String> {
        let mut texts = Vec::new();
        while let Ok((stream, _)) = self.listener.accept() {
            stream.set_nonblocking(false).unwrap();
            let patience = Some(Duration::from_millis(200));
            stream.set_read_timeout(patience).unwrap();
            let mut line = String::new();
            drop(BufReader::new(stream).read_line(&mut line));
            let message: Value = serde_json::from_str(&line).unwrap_or_default();
            if let Some(text) = message["message"]["content"].as_str() {
                texts.push(text.to_owned());
            }
        }
        texts
    }
}
