//! [`Redis`]: Debian's `redis-server`; what is kept goes into a stream, what is passed on through its channels.

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

/// The channel, and the stream.
const CHANNEL: &str = "load";
const STREAM: &str = "kept";

/// When it syncs its log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fsync {
    EverySecond,
    Always,
}

/// Debian's `redis-server`.
pub(super) struct Redis {
    server: Server,
    address: SocketAddr,
    fsync: Fsync,
}

impl Redis {
    /// Starts it, where it is installed.
    #[expect(
        clippy::disallowed_methods,
        reason = "a chore lays out its files with what the standard library has"
    )]
    pub(super) fn start(folder: &Path, fsync: Fsync) -> Result<Option<Self>, Fault> {
        let address = free_address()?;
        let (name, when) = match fsync {
            Fsync::EverySecond => ("redis", "everysec"),
            Fsync::Always => ("redis-always", "always"),
        };
        let folder = folder.join(name);
        std::fs::create_dir_all(&folder)
            .map_err(|error| format!("{}: {error}", folder.display()))?;
        let mut command = command_of_the_developer("redis-server");
        command
            .args(["--bind", "127.0.0.1", "--port"])
            .arg(address.port().to_string())
            .args(["--save", "", "--appendonly", "yes", "--appendfsync", when])
            .args(["--auto-aof-rewrite-percentage", "0", "--dir"])
            .arg(&folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let server = Server::start(command, "redis-server", &[address])?;
        Ok(server.map(|server| Self {
            server,
            address,
            fsync,
        }))
    }

    fn connect(&self) -> Result<Wire, Fault> {
        let stream = connect(self.address)?;
        let own = stream.try_clone();
        let own = own.map_err(|error| format!("redis: {error}"))?;
        Ok(Wire {
            input: BufReader::new(own),
            output: stream,
        })
    }
}

impl Broker for Redis {
    fn name(&self) -> &'static str {
        match self.fsync {
            Fsync::EverySecond => "redis",
            Fsync::Always => "redis, fsync always",
        }
    }

    fn publisher(&self, durability: Durability) -> Result<Option<Box<dyn Publisher>>, Fault> {
        let is_kept = match (self.fsync, durability) {
            (Fsync::EverySecond, Durability::Ephemeral) => false,
            (Fsync::EverySecond, Durability::Logged) | (Fsync::Always, Durability::Synced) => true,
            _ => return Ok(None),
        };
        let wire = self.connect()?;
        Ok(Some(Box::new(Handing { wire, is_kept })))
    }

    fn subscriber(&self, durability: Durability) -> Result<Box<dyn Subscriber>, Fault> {
        let mut wire = self.connect()?;
        Ok(match durability {
            Durability::Ephemeral => {
                wire.say(&command(&["SUBSCRIBE", CHANNEL]))?;
                wire.reply()?;
                Box::new(Listening(wire))
            }
            Durability::Logged | Durability::Synced => {
                wire.say(&command(&["XREVRANGE", STREAM, "+", "-", "COUNT", "1"]))?;
                let last = wire.reply()?.into_iter().next();
                Box::new(Following {
                    wire,
                    after: last.unwrap_or_else(|| "0-0".to_owned()),
                })
            }
        })
    }

    fn server(&self) -> &Server {
        &self.server
    }
}

/// A command as it is sent.
fn command(words: &[&str]) -> String {
    let mut text = format!("*{}\r\n", words.len());
    for word in words {
        let _ = write!(text, "${}\r\n{word}\r\n", word.len());
    }
    text
}

/// A connection.
struct Wire {
    input: BufReader<TcpStream>,
    output: TcpStream,
}

impl Wire {
    fn say(&mut self, text: &str) -> Result<(), Fault> {
        let sent = self.output.write_all(text.as_bytes());
        sent.map_err(|error| format!("redis: {error}"))
    }

    /// The texts of the next answer, whatever stands within what.
    fn reply(&mut self) -> Result<Vec<String>, Fault> {
        let (mut left, mut texts) = (1, Vec::new());
        while left > 0 {
            left -= 1;
            let mut line = String::new();
            let read = self.input.read_line(&mut line);
            if read.map_err(|error| format!("redis: {error}"))? == 0 {
                return Err("redis: it ended".to_owned());
            }
            let line = line.trim_end();
            let wrong = || format!("redis: {line}");
            let (kind, rest) = line.split_at_checked(1).ok_or_else(wrong)?;
            let count = || rest.parse::<i64>().map_err(|_| wrong());
            match kind {
                "+" | ":" => texts.push(rest.to_owned()),
                "*" => left += count()?.max(0),
                "$" => {
                    // -1 is nothing.
                    let Ok(length) = usize::try_from(count()?) else {
                        continue;
                    };
                    let mut bytes = vec![0; length + 2];
                    let read = self.input.read_exact(&mut bytes);
                    read.map_err(|error| format!("redis: {error}"))?;
                    bytes.truncate(length);
                    let text = String::from_utf8(bytes);
                    texts.push(text.map_err(|error| format!("redis: {error}"))?);
                }
                _ => return Err(wrong()),
            }
        }
        Ok(texts)
    }
}

struct Handing {
    wire: Wire,
    is_kept: bool,
}

impl Publisher for Handing {
    fn publish(&mut self, numbers: Range<u64>) -> Result<(), Fault> {
        let mut text = String::new();
        for event in numbers.clone().map(event) {
            text.push_str(&if self.is_kept {
                command(&["XADD", STREAM, "*", "e", &event])
            } else {
                command(&["PUBLISH", CHANNEL, &event])
            });
        }
        self.wire.say(&text)?;
        for _ in numbers {
            self.wire.reply()?;
        }
        Ok(())
    }
}

/// Hears a channel.
struct Listening(Wire);

impl Subscriber for Listening {
    fn next(&mut self) -> Result<u64, Fault> {
        let texts = self.0.reply()?;
        number(texts.last().map_or("", String::as_str))
    }
}

/// Reads a stream, event by event, from where it has come to.
struct Following {
    wire: Wire,
    after: String,
}

impl Subscriber for Following {
    fn next(&mut self) -> Result<u64, Fault> {
        let words = [
            "XREAD",
            "COUNT",
            "1",
            "BLOCK",
            "20000",
            "STREAMS",
            STREAM,
            &self.after,
        ];
        let asked = command(&words);
        self.wire.say(&asked)?;
        // The stream's name, the event's id, its field and its value.
        let texts = self.wire.reply()?;
        let [_, id, _, event] = texts.as_slice() else {
            return Err(format!("redis: {texts:?}"));
        };
        self.after.clone_from(id);
        number(event)
    }
}
