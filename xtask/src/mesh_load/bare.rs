//! [`Bare`]: the floor of the machine: a process that sleeps until it is handed bytes, keeps them where it is to, passes them on,
//! and does nothing else. A thread attends to each connection, and one event goes out from one thread.
//!
//! What the others need beyond it is their own: reading what they are handed, rules, logs with locks, formats. It is this
//! program again, started with [`WORD`].

use std::{
    fs::{File, OpenOptions},
    io::{self, BufRead as _, BufReader, Read as _, Write as _},
    net::{SocketAddr, TcpListener, TcpStream},
    ops::Range,
    path::Path,
    process::{ExitCode, Stdio},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
};

use super::broker::{
    Broker, Durability, Fault, Publisher, Server, Subscriber, connect, event, free_address, number,
};
use crate::{command_of_the_developer, release_build::concluded};

/// The word by which this program is started as the floor, followed by its address and the file that it keeps events in.
pub(crate) const WORD: &str = "mesh-load-floor";

/// What one who listens says first.
const LISTENS: &str = "listens";

/// Bytes that are read at once.
const READ: usize = 64 * 1024;

/// The floor, as a process.
pub(super) struct Bare {
    server: Server,
    address: SocketAddr,
}

impl Bare {
    pub(super) fn start(folder: &Path) -> Result<Self, Fault> {
        let address = free_address()?;
        let itself = std::env::current_exe().map_err(|error| error.to_string())?;
        let mut command = command_of_the_developer(&itself);
        command
            .args([WORD, &address.to_string()])
            .arg(folder.join("floor"))
            .stdin(Stdio::null());
        let server = Server::start(command, "xtask", &[address])?;
        let server = server.ok_or("this program is gone")?;
        Ok(Self { server, address })
    }
}

impl Broker for Bare {
    fn name(&self) -> &'static str {
        "floor"
    }

    fn publisher(&self, durability: Durability) -> Result<Option<Box<dyn Publisher>>, Fault> {
        let mut wire = Wire::connect(self.address)?;
        wire.say(durability.as_str())?;
        Ok(Some(Box::new(wire)))
    }

    fn subscriber(&self, _: Durability) -> Result<Box<dyn Subscriber>, Fault> {
        let mut wire = Wire::connect(self.address)?;
        wire.say(LISTENS)?;
        // The answer comes after it was noted.
        wire.hear()?;
        Ok(Box::new(wire))
    }

    fn server(&self) -> &Server {
        &self.server
    }
}

/// A connection, by which lines go.
struct Wire {
    input: BufReader<TcpStream>,
    output: TcpStream,
}

impl Wire {
    fn connect(address: SocketAddr) -> Result<Self, Fault> {
        let output = connect(address)?;
        let input = output.try_clone().map_err(said)?;
        Ok(Self {
            input: BufReader::new(input),
            output,
        })
    }

    fn say(&mut self, line: &str) -> Result<(), Fault> {
        let sent = self.output.write_all(format!("{line}\n").as_bytes());
        sent.map_err(said)
    }

    fn hear(&mut self) -> Result<String, Fault> {
        let mut line = String::new();
        match self.input.read_line(&mut line).map_err(said)? {
            0 => Err("floor: it ended".to_owned()),
            _ => Ok(line),
        }
    }
}

impl Publisher for Wire {
    fn publish(&mut self, numbers: Range<u64>) -> Result<(), Fault> {
        let wanted = numbers.end - numbers.start;
        let events: Vec<String> = numbers.map(event).collect();
        self.say(&events.join("\n"))?;
        let mut acknowledged = 0;
        while acknowledged < wanted {
            let count = self.hear()?.trim_end().parse::<u64>();
            acknowledged += count.map_err(|error| format!("floor: {error}"))?;
        }
        Ok(())
    }
}

impl Subscriber for Wire {
    fn next(&mut self) -> Result<u64, Fault> {
        number(&self.hear()?)
    }
}

fn said(error: impl std::fmt::Display) -> Fault {
    format!("floor: {error}")
}

/// Is the floor, until it is killed.
pub(crate) fn floor(address: &str, file: &str) -> ExitCode {
    concluded(serve(address, file))
}

/// Those who listen, and the file that events are kept in.
struct House {
    listeners: Mutex<Vec<TcpStream>>,
    file: Mutex<File>,
}

fn serve(address: &str, file: &str) -> Result<(), Fault> {
    let listener = TcpListener::bind(address).map_err(said)?;
    let file = OpenOptions::new().create(true).append(true).open(file);
    let house = Arc::new(House {
        listeners: Mutex::default(),
        file: Mutex::new(file.map_err(said)?),
    });
    loop {
        let (stream, _) = listener.accept().map_err(said)?;
        stream.set_nodelay(true).map_err(said)?;
        let house = Arc::clone(&house);
        thread::spawn(move || {
            // Whoever it was has gone.
            drop(house.attend(stream));
        });
    }
}

impl House {
    /// Does what one says, as long as they are there. It comes in whole lines, the first of which says what they are.
    fn attend(&self, mut stream: TcpStream) -> io::Result<()> {
        let mut buffer = vec![0; READ];
        let mut durability = None;
        loop {
            let mut length = stream.read(&mut buffer)?;
            while length > 0 && buffer[length - 1] != b'\n' {
                match stream.read(&mut buffer[length..])? {
                    0 => return Ok(()),
                    more => length += more,
                }
            }
            if length == 0 {
                return Ok(());
            }
            let mut lines = &buffer[..length];
            let durability = if let Some(durability) = durability {
                durability
            } else {
                let end = lines.iter().position(|byte| *byte == b'\n');
                let (word, rest) = lines.split_at(end.unwrap_or_default() + 1);
                let word = String::from_utf8_lossy(word);
                let mut known = Durability::ALL.into_iter();
                let Some(known) = known.find(|one| one.as_str() == word.trim_end()) else {
                    stream.write_all(b"\n")?;
                    lock(&self.listeners).push(stream);
                    return Ok(());
                };
                lines = rest;
                *durability.insert(known)
            };
            if !lines.is_empty() {
                self.take(lines, durability, &mut stream)?;
            }
        }
    }

    /// Keeps lines, says how many they were, and passes them on.
    fn take(&self, lines: &[u8], durability: Durability, stream: &mut TcpStream) -> io::Result<()> {
        if durability != Durability::Ephemeral {
            let mut file = lock(&self.file);
            file.write_all(lines)?;
            if durability == Durability::Synced {
                file.sync_data()?;
            }
        }
        let count = lines.split(|byte| *byte == b'\n').count() - 1;
        stream.write_all(format!("{count}\n").as_bytes())?;
        // One who has gone is told nothing.
        lock(&self.listeners).retain_mut(|listener| listener.write_all(lines).is_ok());
        Ok(())
    }
}

fn lock<T>(what: &Mutex<T>) -> MutexGuard<'_, T> {
    what.lock().unwrap_or_else(PoisonError::into_inner)
}
