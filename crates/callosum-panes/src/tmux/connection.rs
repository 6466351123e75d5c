//! [`Connection`]: a control client of one tmux server.
//!
//! The client is attached to a session, because tmux serves no other, and asks to be left out of everything that an
//! attached client changes: it has no size and gets no output.

use std::{
    collections::HashMap,
    ffi::{OsStr, OsString},
    fs::File,
    io::{self, Read as _, Write as _},
    os::fd::{AsFd as _, OwnedFd},
    path::{Path, PathBuf},
    process::Child,
    time::{Duration, Instant},
};

use callosum_host::process::{self, Cancel, Launch, Limits, Spawn, SpawnError};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use thiserror::Error;

use super::{
    listing::TmuxPane,
    reply::{Item, Lines, Replies},
    turn::Turn,
};

/// Timeout for a reply. tmux answers within a millisecond unless the machine is very busy.
const PATIENCE: Duration = Duration::from_secs(2);

/// Time for a client to detach before it is killed. It takes about 2 ms.
const DETACH: Duration = Duration::from_millis(500);

/// Oldest tmux with flags for a control client (`attach-session -f`).
const OLDEST: (u32, u32) = (3, 2);

/// Reason that a tmux server cannot be read.
#[derive(Debug, Error)]
pub enum TmuxError {
    /// tmux cannot be started.
    #[error("cannot start tmux: {0}")]
    Start(#[from] SpawnError),
    /// The program is older than version 3.2.
    #[error("tmux {found} is too old (needs {}.{} or newer)", OLDEST.0, OLDEST.1)]
    TooOld {
        /// Its version.
        found: String,
    },
    /// The server has ended, has no session, or has detached this client.
    #[error("the tmux server at {socket} does not answer: {why}")]
    Closed {
        /// Its socket.
        socket: PathBuf,
        /// tmux's words, or the system's.
        why: String,
    },
    /// No reply within two seconds.
    #[error("the tmux server at {socket} did not reply within {} s", PATIENCE.as_secs())]
    Timeout {
        /// Its socket.
        socket: PathBuf,
    },
    /// tmux refused a command.
    #[error("tmux refused `{command}`: {why}")]
    Refused {
        /// The command's name.
        command: String,
        /// tmux's words.
        why: String,
    },
}

/// Command that starts tmux.
#[derive(Clone, Debug)]
pub struct Tmux {
    /// The program, by its path.
    pub program: PathBuf,
    /// A folder to start it in.
    pub folder: PathBuf,
}

/// A control client of one server. Ends when dropped.
#[derive(Debug)]
pub struct Connection {
    socket: PathBuf,
    child: Child,
    input: File,
    output: File,
    replies: Replies,
    /// Whether replies may be on their way that no caller waits for.
    is_behind: bool,
    /// Panes whose screens imitated the protocol, and since when.
    pub(super) avoided: HashMap<String, Instant>,
    /// The last complete list of panes, by id.
    pub(super) listed: Option<(Instant, HashMap<String, TmuxPane>)>,
}

/// Result of waiting for a reply.
#[derive(Debug)]
pub(super) enum Answer {
    /// The reply.
    Reply {
        /// Whether the command succeeded.
        is_ok: bool,
        /// Its lines.
        lines: Lines,
    },
    /// The reply had fewer lines than it should, and all up to the secret word was taken for its lines.
    Short,
    /// A line that belongs to no reply.
    Stray,
}

impl Connection {
    /// Attaches to the server at `socket`. Costs one process, some 5 ms.
    pub fn open(tmux: &Tmux, socket: &Path) -> Result<Self, TmuxError> {
        let arguments: Vec<OsString> = [
            OsStr::new("-u"),
            OsStr::new("-S"),
            socket.as_os_str(),
            OsStr::new("-C"),
            OsStr::new("attach-session"),
            OsStr::new("-f"),
            OsStr::new("no-output,ignore-size"),
        ]
        .map(OsStr::to_owned)
        .into();
        let closed = |why: io::Error| TmuxError::Closed {
            socket: socket.to_owned(),
            why: why.to_string(),
        };
        let (input_end, input) = io::pipe().map_err(closed)?;
        let (output, output_end) = io::pipe().map_err(closed)?;
        let error_end = output_end.try_clone().map_err(closed)?;
        let turn = Turn::wait(socket);
        let child = process::spawn(Spawn {
            program: tmux.program.as_os_str(),
            arguments: &arguments,
            folder: &tmux.folder,
            environment: &[],
            stdin: input_end.into(),
            stdout: output_end.into(),
            stderr: error_end.into(),
        })?;
        let mut connection = Self {
            socket: socket.to_owned(),
            child,
            input: File::from(OwnedFd::from(input)),
            output: File::from(OwnedFd::from(output)),
            replies: Replies::default(),
            is_behind: false,
            avoided: HashMap::new(),
            listed: None,
        };
        let opened = connection.ask("display-message -p '#{version}'");
        // A connection that is dropped takes a turn of its own.
        drop(turn);
        match opened {
            Ok(_) => Ok(connection),
            Err(error) => Err(too_old(tmux).unwrap_or(error)),
        }
    }

    /// Returns the socket of the server.
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// Runs a command and returns the lines of its reply.
    pub fn ask(&mut self, command: &str) -> Result<Lines, TmuxError> {
        debug_assert!(!command.contains('\n'), "a line is a command");
        self.send(&format!("{command}\n"))?;
        let reply = self.reply(command);
        if matches!(reply, Ok(_) | Err(TmuxError::Refused { .. })) {
            self.settle();
        }
        reply
    }

    /// Reads the reply to `command`.
    pub(super) fn reply(&mut self, command: &str) -> Result<Lines, TmuxError> {
        match self.answer(None)? {
            Answer::Reply { is_ok: true, lines } => Ok(lines),
            Answer::Reply { lines, .. } => Err(TmuxError::Refused {
                command: command.split(' ').next().unwrap_or_default().to_owned(),
                why: one_line(lines),
            }),
            Answer::Short | Answer::Stray => Err(self.out_of_order()),
        }
    }

    /// Whether the next reply is a word alone.
    pub(super) fn is_word(&mut self, word: &str) -> Result<bool, TmuxError> {
        let answer = self.answer(None)?;
        Ok(
            matches!(answer, Answer::Reply { is_ok: true, lines } if lines.single() == Some(word.as_bytes())),
        )
    }

    /// Runs a command if a format is true for a pane. The server does both in one step, so that no output of the
    /// program comes between them. Returns whether the command ran.
    ///
    /// Neither may contain a single quote or a newline.
    pub fn ask_if(
        &mut self,
        pane: &str,
        condition: &str,
        command: &str,
    ) -> Result<bool, TmuxError> {
        let is_quotable = |text: &str| !text.contains(['\'', '\n', '\r']);
        if ![pane, condition, command].into_iter().all(is_quotable) {
            return Err(TmuxError::Refused {
                command: "if-shell".to_owned(),
                why: "a quote in a condition or command".to_owned(),
            });
        }
        // Versions of tmux differ in how many replies a conditional command has, so its end is a word.
        let word = self.word()?;
        let lines = format!(
            "if-shell -F -t {pane} '{condition}' '{command} ; display-message -p {word}-yes' \
             'display-message -p {word}-no'\ndisplay-message -p {word}\n"
        );
        self.send(&lines)?;
        let (yes, no) = (format!("{word}-yes"), format!("{word}-no"));
        let mut ran = None;
        let mut refusal = None;
        loop {
            let Answer::Reply { is_ok, lines } = self.answer(None)? else {
                return Err(self.out_of_order());
            };
            match lines.single() {
                Some(line) if line == word.as_bytes() => break,
                Some(line) if line == yes.as_bytes() => ran = Some(true),
                Some(line) if line == no.as_bytes() => ran = Some(false),
                _ if !is_ok => refusal = Some(one_line(lines)),
                _ => {}
            }
        }
        self.settle();
        ran.ok_or_else(|| TmuxError::Refused {
            command: command.split(' ').next().unwrap_or_default().to_owned(),
            why: refusal.unwrap_or_default(),
        })
    }

    /// Stores a text in a paste buffer. The name must need no quotes.
    pub fn set_buffer(&mut self, name: &str, text: &str) -> Result<(), TmuxError> {
        self.ask(&format!("set-buffer -b {name} -- {}", quote(text)))?;
        Ok(())
    }

    /// Removes a paste buffer. One that is not there is no error.
    pub fn delete_buffer(&mut self, name: &str) -> Result<(), TmuxError> {
        match self.ask(&format!("delete-buffer -b {name}")) {
            Err(TmuxError::Refused { .. }) => Ok(()),
            other => other.map(drop),
        }
    }

    /// Reads the next reply. `screen` is how many lines it must have, and a word that comes after it.
    pub(super) fn answer(&mut self, screen: Option<(usize, &str)>) -> Result<Answer, TmuxError> {
        let screen = screen.map(|(lines, word)| (lines, word.as_bytes()));
        let until = Instant::now() + PATIENCE;
        let mut last_words = String::new();
        loop {
            match self.replies.next(screen) {
                Some(Item::Block { is_ok, lines }) => return Ok(Answer::Reply { is_ok, lines }),
                Some(Item::Short) => return Ok(Answer::Short),
                Some(Item::Notice(notice)) if notice.starts_with(b"%exit") => {
                    let why = String::from_utf8_lossy(&notice);
                    return Err(self.closed(why.trim_start_matches("%exit").trim()));
                }
                Some(Item::Notice(_)) => {}
                Some(Item::Stray(line)) => {
                    last_words = String::from_utf8_lossy(&line).into_owned();
                    if !self.has_ended() {
                        return Ok(Answer::Stray);
                    }
                }
                Some(Item::Endless) => return Err(self.closed("it sent a reply without an end")),
                None => {
                    if !self.read(until)? {
                        return Err(self.closed(&last_words));
                    }
                }
            }
        }
    }

    /// Finds the way back to replies that belong to commands, by a word that no screen can know.
    pub(super) fn align(&mut self) -> Result<(), TmuxError> {
        let word = self.word()?;
        self.write(&format!("display-message -p {word}\n"))?;
        let until = Instant::now() + PATIENCE;
        while !self.replies.skip_past(word.as_bytes()) {
            if !self.read(until)? {
                return Err(self.out_of_order());
            }
        }
        self.settle();
        Ok(())
    }

    /// Notes that the last reply has come.
    pub(super) fn settle(&mut self) {
        self.is_behind = false;
    }

    /// Returns a word that no screen can know.
    pub(crate) fn word(&self) -> Result<String, TmuxError> {
        let secret = callosum_host::random::secret_bytes()
            .map_err(|error| self.closed(&error.to_string()))?;
        let secret = u128::from_le_bytes(*secret.first_chunk().unwrap_or(&[0; 16]));
        Ok(format!("callosum-{secret:032x}"))
    }

    /// Waits for bytes and reads them. Returns `false` at the end.
    fn read(&mut self, until: Instant) -> Result<bool, TmuxError> {
        let left = until.saturating_duration_since(Instant::now());
        let timeout = Timespec::try_from(left).ok();
        let mut ready = [PollFd::from_borrowed_fd(self.output.as_fd(), PollFlags::IN)];
        let found = match poll(&mut ready, timeout.as_ref()) {
            Err(rustix::io::Errno::INTR) => return Ok(true),
            other => other.map_err(|error| self.closed(&error.to_string()))?,
        };
        if found == 0 {
            return Err(TmuxError::Timeout {
                socket: self.socket.clone(),
            });
        }
        let mut buffer = [0; 16 * 1024];
        match self.output.read(&mut buffer) {
            Ok(count) => {
                self.replies.push(buffer.get(..count).unwrap_or_default());
                Ok(count > 0)
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(true),
            Err(error) => Err(self.closed(&error.to_string())),
        }
    }

    /// Reads and drops everything up to the end, which comes when client and server have closed the output.
    fn drain(&mut self, patience: Duration) {
        let until = Instant::now() + patience;
        while matches!(self.read(until), Ok(true)) {
            self.replies = Replies::default();
        }
    }

    /// Writes commands, each a line. Their replies are the next to be read.
    pub(super) fn send(&mut self, commands: &str) -> Result<(), TmuxError> {
        if self.is_behind {
            self.align()?;
        }
        self.is_behind = true;
        self.write(commands)
    }

    fn write(&mut self, commands: &str) -> Result<(), TmuxError> {
        let written = self.input.write_all(commands.as_bytes());
        written.map_err(|error| self.closed(&error.to_string()))
    }

    fn has_ended(&mut self) -> bool {
        self.child.try_wait().is_ok_and(|ended| ended.is_some())
    }

    /// Returns the error of replies that belong to no command. The next command looks for the way back.
    pub(super) fn out_of_order(&self) -> TmuxError {
        self.closed("its replies were out of order")
    }

    fn closed(&self, why: &str) -> TmuxError {
        TmuxError::Closed {
            socket: self.socket.clone(),
            why: if why.is_empty() {
                "it has ended".to_owned()
            } else {
                why.to_owned()
            },
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        let _turn = Turn::wait(&self.socket);
        // A client whose input ends detaches, once its replies are read.
        if let Ok(other) = self.output.try_clone() {
            drop(std::mem::replace(&mut self.input, other));
        }
        self.drain(DETACH);
        drop(self.child.kill());
        drop(self.child.wait());
        // The server closes its end when it has taken note, so the turn lasts until then even after a kill.
        self.drain(DETACH);
    }
}

/// Returns the lines of an error as one.
fn one_line(lines: Lines) -> String {
    String::from_utf8_lossy(&lines.into_text()).replace('\n', " ")
}

/// Quotes a text for one line of tmux's command language. Characters with a meaning there become octal escapes.
fn quote(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for letter in text.chars() {
        if letter.is_ascii_alphanumeric() || letter == ' ' || !letter.is_ascii() {
            quoted.push(letter);
        } else {
            quoted.push('\\');
            // Always three digits, so that a digit may follow.
            let digits = [6, 3, 0].map(|shift| char::from(b'0' + ((letter as u8) >> shift & 7)));
            quoted.extend(digits);
        }
    }
    quoted.push('"');
    quoted
}

/// Returns the error of a tmux that is too old, which refuses `-f` with a usage line only.
fn too_old(tmux: &Tmux) -> Option<TmuxError> {
    let launch = Launch {
        program: tmux.program.clone(),
        arguments: vec!["-V".into()],
        folder: tmux.folder.clone(),
        environment: Vec::new(),
        input: Vec::new(),
        limits: Limits {
            total: Some(PATIENCE),
            quiet: None,
            output_bytes: 4096,
            error_bytes: 4096,
        },
    };
    let run = process::run(&launch, &Cancel::new().ok()?, &mut |_, _| {}).ok()?;
    let text = String::from_utf8_lossy(&run.output);
    let found = text.trim().trim_start_matches("tmux ").to_owned();
    let version = version(&found)?;
    (version < OLDEST).then_some(TmuxError::TooOld { found })
}

/// Reads `3.3a`, `3.2`, `next-3.5`.
fn version(text: &str) -> Option<(u32, u32)> {
    let text = text.trim_start_matches("next-");
    let (major, minor) = text.split_once('.')?;
    let minor: String = minor.chars().take_while(char::is_ascii_digit).collect();
    Some((major.parse().ok()?, minor.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quoted_text_is_one_line_without_signs() {
        assert_eq!(quote("a b\n\"$x'7"), r#""a b\012\042\044x\0477""#);
        assert_eq!(quote("é{;"), r#""é\173\073""#);
    }

    #[test]
    fn versions_are_compared_as_numbers() {
        assert_eq!(version("3.3a"), Some((3, 3)));
        assert_eq!(version("next-3.10"), Some((3, 10)));
        assert!(version("2.9a").unwrap() < OLDEST);
        assert_eq!(version("openbsd"), None);
    }
}
