//! [`Nats`]: Debian's `nats-server`, by its text protocol; what is kept goes through `JetStream`.

use std::{
    fmt::Write as _,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{SocketAddr, TcpStream},
    ops::Range,
    path::Path,
    process::Stdio,
};

use super::broker::{
    Broker, Durability, Fault, Publisher, Server, Subscriber, connect, event, free_address, number,
};
use crate::command_of_the_developer;

/// Subjects of what is passed on, and of what is kept.
const PASSED: &str = "load.test";
const KEPT: &str = "kept.test";

/// Where answers to a publisher go.
const INBOX: &str = "_INBOX.load";

/// Debian's `nats-server`.
pub(super) struct Nats {
    server: Server,
    address: SocketAddr,
}

impl Nats {
    /// Starts it, where it is installed.
    pub(super) fn start(folder: &Path) -> Result<Option<Self>, Fault> {
        let address = free_address()?;
        let mut command = command_of_the_developer("nats-server");
        command
            .args(["--addr", "127.0.0.1", "--port"])
            .arg(address.port().to_string())
            .args(["--jetstream", "--store_dir"])
            .arg(folder.join("nats"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let Some(server) = Server::start(command, "nats-server", &[address])? else {
            return Ok(None);
        };
        let nats = Self { server, address };
        let mut wire = nats.connect()?;
        wire.subscribe(INBOX)?;
        let stream = format!(r#"{{"name":"EVENTS","subjects":["{KEPT}"],"storage":"file"}}"#);
        wire.put("$JS.API.STREAM.CREATE.EVENTS", INBOX, &stream)?;
        let answer = wire.message()?;
        if answer.contains("\"error\"") {
            return Err(format!("nats: {answer}"));
        }
        Ok(Some(nats))
    }

    fn connect(&self) -> Result<Wire, Fault> {
        let stream = connect(self.address)?;
        let own = stream
            .try_clone()
            .map_err(|error| format!("nats: {error}"))?;
        let mut wire = Wire {
            input: BufReader::new(own),
            output: stream,
        };
        wire.line()?;
        wire.say("CONNECT {\"verbose\":false,\"echo\":true}\r\n")?;
        Ok(wire)
    }
}

impl Broker for Nats {
    fn name(&self) -> &'static str {
        "nats-server"
    }

    fn publisher(&self, durability: Durability) -> Result<Option<Box<dyn Publisher>>, Fault> {
        let mut wire = self.connect()?;
        Ok(match durability {
            Durability::Ephemeral => Some(Box::new(Passing(wire))),
            Durability::Logged => {
                let stream = wire.output.local_addr();
                let port = stream.map_err(|error| format!("nats: {error}"))?.port();
                // Each has another, so that answers go to who asked.
                let inbox = format!("{INBOX}.{port}");
                wire.subscribe(&inbox)?;
                Some(Box::new(Keeping { wire, inbox }))
            }
            // 2.9 syncs every two minutes, and at no acknowledgement.
            Durability::Synced => None,
        })
    }

    fn subscriber(&self, durability: Durability) -> Result<Box<dyn Subscriber>, Fault> {
        let mut wire = self.connect()?;
        wire.subscribe(match durability {
            Durability::Ephemeral => PASSED,
            Durability::Logged | Durability::Synced => KEPT,
        })?;
        Ok(Box::new(wire))
    }

    fn server(&self) -> &Server {
        &self.server
    }
}

/// A connection.
struct Wire {
    input: BufReader<TcpStream>,
    output: TcpStream,
}

impl Wire {
    fn say(&mut self, text: &str) -> Result<(), Fault> {
        let sent = self.output.write_all(text.as_bytes());
        sent.map_err(|error| format!("nats: {error}"))
    }

    /// Hears a subject from now on; a connection hears one at most.
    fn subscribe(&mut self, subject: &str) -> Result<(), Fault> {
        self.say(&format!("SUB {subject} 1\r\nPING\r\n"))?;
        self.pong()
    }

    fn put(&mut self, subject: &str, reply: &str, text: &str) -> Result<(), Fault> {
        self.say(&format!(
            "PUB {subject} {reply} {}\r\n{text}\r\n",
            text.len()
        ))
    }

    fn line(&mut self) -> Result<String, Fault> {
        let mut line = String::new();
        match self.input.read_line(&mut line) {
            Ok(0) => Err("nats: it ended".to_owned()),
            Ok(_) => Ok(line),
            Err(error) => Err(format!("nats: {error}")),
        }
    }

    fn pong(&mut self) -> Result<(), Fault> {
        loop {
            let line = self.line()?;
            match line.trim_end() {
                "PONG" => return Ok(()),
                "PING" => self.say("PONG\r\n")?,
                other if other.starts_with("-ERR") => return Err(format!("nats: {other}")),
                _ => {}
            }
        }
    }

    /// The next message.
    fn message(&mut self) -> Result<String, Fault> {
        loop {
            let line = self.line()?;
            let line = line.trim_end();
            if line == "PING" {
                self.say("PONG\r\n")?;
            } else if line.starts_with("-ERR") {
                return Err(format!("nats: {line}"));
            } else if line.starts_with("MSG ") {
                let length = line.rsplit(' ').next().and_then(|count| count.parse().ok());
                let length: usize = length.ok_or_else(|| format!("nats: {line}"))?;
                let mut bytes = vec![0; length + 2];
                let read = self.input.read_exact(&mut bytes);
                read.map_err(|error| format!("nats: {error}"))?;
                bytes.truncate(length);
                return String::from_utf8(bytes).map_err(|error| format!("nats: {error}"));
            }
        }
    }
}

impl Subscriber for Wire {
    fn next(&mut self) -> Result<u64, Fault> {
        number(&self.message()?)
    }
}

/// Hands in what is passed on: acknowledged once the server has read it.
struct Passing(Wire);

impl Publisher for Passing {
    fn publish(&mut self, numbers: Range<u64>) -> Result<(), Fault> {
        let mut text = String::new();
        for event in numbers.map(event) {
            let _ = write!(text, "PUB {PASSED} {}\r\n{event}\r\n", event.len());
        }
        self.0.say(&(text + "PING\r\n"))?;
        self.0.pong()
    }
}

/// Hands in what is kept: acknowledged by `JetStream`, event by event.
struct Keeping {
    wire: Wire,
    inbox: String,
}

impl Publisher for Keeping {
    fn publish(&mut self, numbers: Range<u64>) -> Result<(), Fault> {
        let inbox = &self.inbox;
        let mut text = String::new();
        for event in numbers.clone().map(event) {
            let _ = write!(text, "PUB {KEPT} {inbox} {}\r\n{event}\r\n", event.len());
        }
        self.wire.say(&text)?;
        for _ in numbers {
            let answer = self.wire.message()?;
            if answer.contains("\"error\"") {
                return Err(format!("nats: {answer}"));
            }
        }
        Ok(())
    }
}
