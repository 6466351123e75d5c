//! [`SandboxSpec`]: rights to give up and program to start, and the encoding that a fork server reads.
//!
//! Words with a NUL after each and not JSON, because a path need not be text.

use std::{
    ffi::{OsStr, OsString},
    io::{self, Read, Write},
    net::SocketAddr,
    os::unix::ffi::{OsStrExt, OsStringExt},
    path::PathBuf,
};

/// The bytes of the number that goes before an order.
const LENGTH: usize = size_of::<u64>();

/// Restrictions under which a program is started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SandboxSpec {
    /// Layers of the sandbox.
    pub layers: Layers,
    /// An empty folder that becomes the root of the file system; unused without namespaces.
    pub room: PathBuf,
    /// All that is to be seen of the file system, and how.
    pub places: Vec<MountPoint>,
    /// Links to create at unused paths: path and target.
    pub links: Vec<(PathBuf, PathBuf)>,
    /// Addresses to listen on at the inner loopback for the controller, whose [`Gate`](super::Gate)
    /// gets the listeners; only with [`Layers::network`].
    pub listen: Vec<SocketAddr>,
    /// The path of that gate, which the program does not see.
    pub gate: Option<PathBuf>,
    /// The folder that the program starts in.
    pub folder: PathBuf,
    /// The program's file.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Its whole environment.
    pub environment: Vec<(OsString, OsString)>,
}

/// Layers of the sandbox, each usable by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Layers {
    /// User, PID, mount and IPC namespaces: only [`SandboxSpec::places`] are to be seen, no other
    /// process, no right of root's.
    pub namespaces: bool,
    /// A network namespace with nothing but a loopback; only with [`Layers::namespaces`].
    pub network: bool,
    /// Landlock: only [`SandboxSpec::places`] can be read or written, even if more is visible.
    pub landlock: bool,
    /// System calls that no executor needs fail.
    pub system_calls: bool,
    /// Sockets that are no pairs fail; for systems without network namespaces.
    pub sockets: bool,
}

/// A part of the file system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MountPoint {
    /// Path to show, its links resolved.
    pub source: PathBuf,
    /// Path at which it is shown.
    pub path: PathBuf,
    /// Rights in it.
    pub access: Access,
}

/// Rights in a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Reading and starting programs.
    Read,
    /// Everything.
    Write,
    /// Everything, in an empty folder in memory that hides the one on the disk; without namespaces
    /// it does not exist.
    Fresh,
    /// Everything, in a folder in memory of bounded size; what is in the source now is in it, to be read. Two places of
    /// one source are one folder. Without namespaces it is the source itself, which has no bound.
    Bounded,
    /// Nothing: an empty read-only folder is in its place. Without namespaces the disk's contents
    /// have the rights of the folder around them.
    Hidden,
}

impl MountPoint {
    /// Returns a place that is shown at its own path.
    pub fn here(path: impl Into<PathBuf>, access: Access) -> Self {
        let path = path.into();
        Self {
            source: path.clone(),
            path,
            access,
        }
    }
}

impl SandboxSpec {
    /// Whether the program is started with all that its guard has.
    pub(super) fn gives_nothing_away(&self) -> bool {
        self.layers == Layers::default()
    }

    /// Writes it: the length in bytes, then the words, which may not have a NUL.
    pub(super) fn write(&self, to: &mut impl Write) -> io::Result<()> {
        let mut bytes = vec![0; LENGTH];
        for word in self.words() {
            if word.as_bytes().contains(&0) {
                // The system takes no such argument either.
                return Err(io::ErrorKind::InvalidInput.into());
            }
            bytes.extend_from_slice(word.as_bytes());
            bytes.push(0);
        }
        let length = (bytes.len() - LENGTH) as u64;
        bytes[..LENGTH].copy_from_slice(&length.to_le_bytes());
        to.write_all(&bytes)
    }

    /// Reads an order that [`write`](Self::write) wrote; an incomplete order is an error.
    pub(super) fn receive(from: &mut impl Read) -> io::Result<Self> {
        let mut length = [0; LENGTH];
        from.read_exact(&mut length)?;
        let length = u64::from_le_bytes(length);
        let mut bytes = Vec::new();
        from.take(length).read_to_end(&mut bytes)?;
        if bytes.len() as u64 != length || bytes.pop() != Some(0) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let words = bytes.split(|byte| *byte == 0);
        Self::read(words.map(|word| OsString::from_vec(word.to_vec())))
            .ok_or_else(|| io::ErrorKind::InvalidData.into())
    }

    fn words(&self) -> Vec<OsString> {
        let mut words: Vec<OsString> = Vec::new();
        let mut say = |word: &str, values: &[&OsStr]| {
            words.push(word.into());
            words.extend(values.iter().map(|value| (*value).to_owned()));
        };
        for (layer, wanted) in self.layers.named() {
            if wanted {
                say("layer", &[layer.as_ref()]);
            }
        }
        say("room", &[self.room.as_os_str()]);
        for place in &self.places {
            let word = match place.access {
                Access::Read => "read",
                Access::Write => "write",
                Access::Fresh => "fresh",
                Access::Bounded => "bounded",
                Access::Hidden => "hidden",
            };
            say(word, &[place.source.as_os_str(), place.path.as_os_str()]);
        }
        for (path, target) in &self.links {
            say("link", &[path.as_os_str(), target.as_os_str()]);
        }
        for address in &self.listen {
            say("listen", &[address.to_string().as_ref()]);
        }
        if let Some(gate) = &self.gate {
            say("gate", &[gate.as_os_str()]);
        }
        for (name, value) in &self.environment {
            say("variable", &[name, value]);
        }
        say("folder", &[self.folder.as_os_str()]);
        say("run", &[self.program.as_os_str()]);
        words.extend(self.arguments.iter().cloned());
        words
    }

    /// Reads the words; `None` if they are no complete order.
    fn read(words: impl IntoIterator<Item = OsString>) -> Option<Self> {
        let mut words = words.into_iter();
        let mut order = Self {
            layers: Layers::default(),
            room: PathBuf::new(),
            places: Vec::new(),
            links: Vec::new(),
            listen: Vec::new(),
            gate: None,
            folder: PathBuf::new(),
            program: PathBuf::new(),
            arguments: Vec::new(),
            environment: Vec::new(),
        };
        loop {
            let word = words.next()?;
            let value = words.next()?;
            match word.to_str()? {
                "layer" => order.layers.set(value.to_str()?)?,
                "room" => order.room = value.into(),
                word @ ("read" | "write" | "fresh" | "bounded" | "hidden") => {
                    order.places.push(MountPoint {
                        source: value.into(),
                        path: words.next()?.into(),
                        access: match word {
                            "read" => Access::Read,
                            "write" => Access::Write,
                            "fresh" => Access::Fresh,
                            "bounded" => Access::Bounded,
                            _ => Access::Hidden,
                        },
                    });
                }
                "link" => order.links.push((value.into(), words.next()?.into())),
                "listen" => order.listen.push(value.to_str()?.parse().ok()?),
                "gate" => order.gate = Some(value.into()),
                "variable" => order.environment.push((value, words.next()?)),
                "folder" => order.folder = value.into(),
                "run" => {
                    order.program = value.into();
                    order.arguments = words.collect();
                    return Some(order);
                }
                _ => return None,
            }
        }
    }
}

impl Layers {
    fn named(self) -> [(&'static str, bool); 5] {
        [
            ("namespaces", self.namespaces),
            ("network", self.network),
            ("landlock", self.landlock),
            ("system-calls", self.system_calls),
            ("sockets", self.sockets),
        ]
    }

    fn set(&mut self, layer: &str) -> Option<()> {
        *match layer {
            "namespaces" => &mut self.namespaces,
            "network" => &mut self.network,
            "landlock" => &mut self.landlock,
            "system-calls" => &mut self.system_calls,
            "sockets" => &mut self.sockets,
            _ => return None,
        } = true;
        Some(())
    }
}
