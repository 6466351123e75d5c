//! A program that poses as Claude Code in a terminal and misbehaves on a seeded schedule. For tests of injections.
//!
//! Arguments are `key=value`: `log` (file for a JSON line per event), `seed`, and how often it misbehaves in percent:
//! `drop` (an Enter is lost), `late` (a redraw takes up to `echo` ms), `half` (a redraw pauses in its middle), `dialog`
//! (a dialog opens soon after a paste), `busy` (it reads nothing for a while), `exit` (it becomes a shell soon after a
//! paste). `work` is the longest turn in ms. `start` is `idle`, `dialog`, `overlay`, `draft`, `working` or `limit`.
//! With `sockets` and `sessions` (folders), it takes messages at a socket and has a session file; `mute` takes a message
//! and does nothing with it.
//!
//! A dialog counts as shown once the terminal has drawn it. The program asks for the cursor's position after it draws,
//! and keys that arrive before the answer were sent by someone who could not see the dialog: they still belong to the
//! composer, and are logged as `raced`.

#![expect(clippy::unwrap_used, reason = "a program for tests fails loudly")]

mod draw;
mod keys;
mod mail;

use std::{
    fs::{File, OpenOptions},
    io::{Read as _, Write as _},
    os::{fd::AsFd as _, unix::process::CommandExt as _},
    path::PathBuf,
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    termios::{OptionalActions, tcgetattr, tcsetattr},
};

use self::{
    draw::Shown,
    keys::{Key, Keys},
    mail::Mail,
};

/// Interval at which the program looks at its schedule.
const TICK: Duration = Duration::from_millis(10);

struct Settings {
    log: PathBuf,
    start: String,
    drop: u64,
    late: u64,
    echo: u64,
    half: u64,
    dialog: u64,
    busy: u64,
    exit: u64,
    work: u64,
    random: u64,
    mail: Option<(PathBuf, PathBuf)>,
    mute: u64,
}

#[derive(Clone, Copy, PartialEq)]
enum Cover {
    None,
    /// A dialog or page hides the composer, until a moment if it has one.
    Drawn {
        is_dialog: bool,
        until: Option<Instant>,
    },
    /// The same, and the terminal has drawn it.
    Seen {
        is_dialog: bool,
        until: Option<Instant>,
    },
    /// The program is about to become a shell.
    Leaving,
}

struct Fake {
    settings: Settings,
    log: File,
    shown: Shown,
    cover: Cover,
    working_until: Option<Instant>,
    queue: Vec<String>,
    draw_at: Option<Instant>,
    dialog_at: Option<Instant>,
    exit_at: Option<Instant>,
    next_spin: Instant,
    mail: Option<Mail>,
}

fn main() {
    let settings = settings();
    let stdin = std::io::stdin();
    let mut mode = tcgetattr(&stdin).unwrap();
    let cooked = mode.clone();
    mode.make_raw();
    tcsetattr(&stdin, OptionalActions::Now, &mode).unwrap();
    write(b"\x1b]2;\xe2\x9c\xb3 Claude Code\x07\x1b[?1049h\x1b[?2004h");
    let mut options = OpenOptions::new();
    let log = options
        .append(true)
        .create(true)
        .open(&settings.log)
        .unwrap();
    let mut fake = Fake::new(settings, log);
    fake.draw(true);
    let mut keys = Keys::default();
    loop {
        let mut ready = [PollFd::from_borrowed_fd(stdin.as_fd(), PollFlags::IN)];
        let tick = Timespec::try_from(TICK).unwrap();
        let found = poll(&mut ready, Some(&tick)).unwrap_or(0);
        if found > 0 {
            let mut buffer = [0; 4096];
            let count = stdin.lock().read(&mut buffer).unwrap_or(0);
            if count == 0 {
                return;
            }
            for key in keys.read(&buffer[..count]) {
                if fake.key(key) {
                    tcsetattr(&stdin, OptionalActions::Now, &cooked).unwrap();
                    become_shell(&fake.settings.log);
                }
            }
        }
        fake.tick();
    }
}

fn settings() -> Settings {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let text = |key: &str| {
        let mut words = arguments.iter().filter_map(|word| word.split_once('='));
        words
            .find(|(name, _)| *name == key)
            .map(|(_, value)| value.to_owned())
    };
    let number = |key: &str| text(key).map_or(0, |value| value.parse().unwrap());
    Settings {
        log: text("log").unwrap().into(),
        start: text("start").unwrap_or_default(),
        drop: number("drop"),
        late: number("late"),
        echo: number("echo"),
        half: number("half"),
        dialog: number("dialog"),
        busy: number("busy"),
        exit: number("exit"),
        work: number("work"),
        mail: text("sockets").map(|sockets| (sockets.into(), text("sessions").unwrap().into())),
        mute: number("mute"),
        random: number("seed") ^ 0x9e37_79b9_7f4a_7c15,
    }
}

/// Becomes a shell that logs every line it gets.
fn become_shell(log: &std::path::Path) {
    write(b"\x1b[?2004l\x1b[?1049l$ ");
    let script = "while IFS= read -r line; do echo '{\"shell\":1}' >> \"$0\"; done";
    #[expect(
        clippy::disallowed_methods,
        reason = "replaces this process and starts none"
    )]
    let mut shell = std::process::Command::new("bash");
    let error = shell.arg("-c").arg(script).arg(log).exec();
    panic!("{error}");
}

fn write(bytes: &[u8]) {
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(bytes).unwrap();
    stdout.flush().unwrap();
}

impl Fake {
    fn new(settings: Settings, log: File) -> Self {
        let now = Instant::now();
        let start = settings.start.as_str();
        let cover = |is_dialog| Cover::Seen {
            is_dialog,
            until: None,
        };
        let shown = Shown {
            draft: if start == "draft" {
                "Half a thought".to_owned()
            } else {
                String::new()
            },
            is_limited: start == "limit",
            ..Shown::default()
        };
        Self {
            cover: match start {
                "dialog" => cover(true),
                "overlay" => cover(false),
                _ => Cover::None,
            },
            mail: settings
                .mail
                .as_ref()
                .map(|(sockets, sessions)| Mail::new(sockets, sessions)),
            working_until: (start == "working").then(|| now + Duration::from_mins(10)),
            settings,
            log,
            shown,
            queue: Vec::new(),
            draw_at: None,
            dialog_at: None,
            exit_at: None,
            next_spin: now,
        }
    }

    /// Returns a number below `most`.
    fn below(&mut self, most: u64) -> u64 {
        let random = &mut self.settings.random;
        *random ^= *random << 13;
        *random ^= *random >> 7;
        *random ^= *random << 17;
        (*random >> 11) % most.max(1)
    }

    fn happens(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    fn soon(&mut self, most: u64) -> Instant {
        Instant::now() + Duration::from_millis(self.below(most))
    }

    fn note(&mut self, what: &str, value: &str) {
        let line = serde_json::json!({ what: value });
        writeln!(self.log, "{line}").unwrap();
    }

    /// Takes a key. Returns whether the program is to become a shell now.
    fn key(&mut self, key: Key) -> bool {
        if key == Key::Position {
            match self.cover {
                Cover::Leaving => return true,
                Cover::Drawn { is_dialog, until } => self.cover = Cover::Seen { is_dialog, until },
                _ => {}
            }
            return false;
        }
        match self.cover {
            Cover::Seen { is_dialog, .. } => {
                let what = if is_dialog {
                    "dialog_key"
                } else {
                    "overlay_key"
                };
                self.note(what, &format!("{key:?}"));
                return false;
            }
            Cover::Drawn { .. } | Cover::Leaving => self.note("raced", &format!("{key:?}")),
            Cover::None => {}
        }
        if self.happens(self.settings.busy) {
            let pause = self.below(300);
            std::thread::sleep(Duration::from_millis(pause));
        }
        match key {
            Key::Enter => self.enter(),
            Key::Clear => self.shown.draft.clear(),
            Key::Paste(text) => {
                self.shown.draft.push_str(&text);
                if self.happens(self.settings.dialog) {
                    self.dialog_at = Some(self.soon(600));
                } else if self.happens(self.settings.exit) {
                    self.exit_at = Some(self.soon(600));
                }
            }
            Key::Letter(letter) => self.shown.draft.push(letter),
            Key::Other(byte) => self.note("other_key", &byte.to_string()),
            Key::Position => {}
        }
        self.draw_later();
        false
    }

    fn enter(&mut self) {
        if self.happens(self.settings.drop) {
            self.note("dropped", "");
            return;
        }
        let text = std::mem::take(&mut self.shown.draft);
        if !text.is_empty() {
            self.submit(text);
        }
    }

    fn submit(&mut self, text: String) {
        self.note("prompt", &text);
        if self.working_until.is_some() {
            self.queue.push(text.clone());
            self.shown.queue.push(text);
        } else {
            self.begin(&text);
        }
    }

    /// Takes the messages that have arrived, and reports what it does. A dialog stays open, as in the real client.
    fn read_mail(&mut self) {
        let Some(mail) = &mut self.mail else {
            return;
        };
        let is_dialog = matches!(
            self.cover,
            Cover::Drawn {
                is_dialog: true,
                ..
            } | Cover::Seen {
                is_dialog: true,
                ..
            }
        );
        mail.report(match self.working_until {
            _ if is_dialog => "waiting",
            Some(_) => "busy",
            None => "idle",
        });
        for text in mail.read() {
            if self.settings.mute > 0 {
                self.note("muted", &text);
            } else {
                self.note("mail", &text);
                self.submit(text);
                self.draw_later();
            }
        }
    }

    fn begin(&mut self, text: &str) {
        self.shown.prompt(text);
        let work = self.settings.work;
        self.working_until = Some(self.soon(work) + Duration::from_millis(20));
        // A turn may ask for a permission at once.
        if self.happens(self.settings.dialog / 2) {
            self.dialog_at = Some(self.soon(work));
        }
    }

    fn draw_later(&mut self) {
        let delay = if self.happens(self.settings.late) {
            self.settings.echo
        } else {
            30
        };
        let at = self.soon(delay);
        // A redraw that waits already shows this change, too.
        self.draw_at.get_or_insert(at);
    }

    fn tick(&mut self) {
        self.read_mail();
        let now = Instant::now();
        let is_due = |at: &mut Option<Instant>| at.take_if(|at| *at <= now).is_some();
        let clear = self.settings.log.with_extension("clear");
        if clear.exists() {
            self.shown.draft.clear();
            drop(std::fs::remove_dir(&clear));
            self.draw(true);
        }
        if is_due(&mut self.working_until) {
            self.shown.end();
            if !self.queue.is_empty() {
                let next = self.queue.remove(0);
                self.shown.queue.remove(0);
                self.begin(&next);
            }
            self.draw_later();
        }
        if matches!(self.cover, Cover::None) && is_due(&mut self.dialog_at) {
            let until = Some(now + Duration::from_millis(200 + self.below(400)));
            self.cover = Cover::Drawn {
                is_dialog: true,
                until,
            };
            self.note("opened", "");
            self.draw(true);
            write(b"\x1b[6n");
        }
        if matches!(self.cover, Cover::None) && is_due(&mut self.exit_at) {
            self.cover = Cover::Leaving;
            write(b"\x1b[H\x1b[2JResume this session with: claude --resume\r\n\x1b[6n");
        }
        if let Cover::Seen {
            until: Some(until), ..
        } = self.cover
            && until <= now
        {
            self.cover = Cover::None;
            self.draw(true);
        }
        let spins = self.working_until.is_some() && self.next_spin <= now;
        if is_due(&mut self.draw_at) || (spins && self.draw_at.is_none()) {
            self.next_spin = now + Duration::from_millis(100);
            self.shown.spin += 1;
            self.draw(false);
        }
    }

    fn draw(&mut self, is_whole: bool) {
        let size = rustix::termios::tcgetwinsize(std::io::stdout()).unwrap();
        self.shown.is_working = self.working_until.is_some();
        let frame = match self.cover {
            Cover::Leaving => return,
            Cover::None => self.shown.frame(size.ws_col, size.ws_row),
            Cover::Drawn { is_dialog, .. } | Cover::Seen { is_dialog, .. } => {
                self.shown.covered(size.ws_row, is_dialog)
            }
        };
        if !is_whole && self.happens(self.settings.half) {
            let mut middle = frame.len() / 2;
            while !frame.is_char_boundary(middle) {
                middle += 1;
            }
            write(&frame.as_bytes()[..middle]);
            let pause = self.below(40);
            std::thread::sleep(Duration::from_millis(pause));
            write(&frame.as_bytes()[middle..]);
        } else {
            write(frame.as_bytes());
        }
    }
}
