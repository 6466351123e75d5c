//! Messages to a client's own mailbox: the fake client listens at a socket as Claude Code does.

use std::{cell::Cell, path::Path, time::Duration};

use callosum_host::{Clock, Disk};
use callosum_panes::{
    HookEvent, RuleSet, State, claude_sessions, hook_event,
    inject::{
        DeliveryRoute, Injection, Options, Outcome, Phase, Reason, Receipt,
        mailbox::{
            Mailbox, MailboxError, Posted, Recipient, Screened, claude_socket::ClaudeSocket, post,
        },
        prepare,
    },
};

use crate::{
    injection::{Fake, events, options, start},
    tmux::{Server, eventually},
};

/// A fake client with a mailbox.
struct Stage {
    server: Server,
    folder: tempfile::TempDir,
    fake: Fake,
}

impl Stage {
    fn new(arguments: &str) -> Self {
        let server = Server::start("sleep 600");
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().display();
        let all = format!("sockets={path}/sockets sessions={path}/sessions {arguments}");
        let fake = start(&server, folder.path(), "log", &all);
        let stage = Self {
            server,
            folder,
            fake,
        };
        eventually(|| stage.session());
        stage
    }

    fn session(&self) -> Option<claude_sessions::ClaudeSession> {
        let folder = self.folder.path().join("sessions");
        claude_sessions::session(&Disk::real(), &folder, self.fake.running.process.pid)
    }

    fn send(&self, text: &str, options: Options, is_screened: bool) -> Receipt {
        let mut socket = ClaudeSocket::of(&self.session().unwrap()).unwrap();
        match self.post(&mut socket, text, options, is_screened) {
            Posted::Ended(receipt) => receipt,
            Posted::Unavailable(why) => panic!("{why}"),
        }
    }

    fn post(
        &self,
        mailbox: &mut dyn Mailbox,
        text: &str,
        options: Options,
        is_screened: bool,
    ) -> Posted {
        let rules = RuleSet::built_in("claude-code").unwrap();
        let folder = self.folder.path();
        let session = self.session();
        let mut connection = self.server.connect();
        let recipient = Recipient {
            name: &self.fake.pane,
            running: &self.fake.running,
            session_id: session.as_ref().map(|session| session.session_id.as_str()),
            state: State::TrulyIdle,
            screen: is_screened.then_some(Screened {
                connection: &mut connection,
                pane: &self.fake.pane,
                rules: &rules,
            }),
            claude_session: Some((&folder.join("sessions"), self.fake.running.process.pid)),
            hook_events: &folder.join("events"),
            locks: &folder.join("locks"),
        };
        let injection = Injection {
            text: prepare(text).unwrap(),
            options,
        };
        let (disk, clock) = (Disk::real(), Clock::system());
        post(recipient, mailbox, &injection, &disk, &clock).unwrap()
    }

    fn mail(&self) -> Vec<String> {
        events(&self.fake.log, "mail")
    }
}

fn phases(receipt: &Receipt) -> Vec<Phase> {
    receipt.steps.iter().map(|step| step.phase).collect()
}

/// CALC-PAT-3: a message is submitted without a key, and the screen proves it.
#[test]
fn a_message_is_submitted_and_the_screen_is_the_proof() {
    let stage = Stage::new("work=300");
    let long = format!("Read this:\n{}", "a line of a long text\n".repeat(40));
    for text in ["Fix the parser", "Fix the parser", long.trim_end()] {
        let receipt = stage.send(text, options(), true);
        assert_eq!(receipt.outcome, Outcome::Submitted, "{receipt:?}");
        assert_eq!(
            (receipt.route, receipt.enters),
            (DeliveryRoute::ClaudeSocket, 0)
        );
        let expected = [
            Phase::Accepted,
            Phase::Queued,
            Phase::Written,
            Phase::Submitted,
        ];
        assert_eq!(phases(&receipt), expected);
        assert_eq!(stage.mail().last().unwrap(), text);
        eventually(|| stage.session()?.state()?.takes_prompt().then_some(()));
        std::thread::sleep(Duration::from_millis(200));
    }
    assert_eq!(stage.mail().len(), 3);
    assert_eq!(events(&stage.fake.log, "other_key"), Vec::<String>::new());
}

/// CALC-PAT-3: outside tmux, the client's session file proves that a turn began.
#[test]
fn without_a_screen_the_session_file_is_the_proof() {
    let stage = Stage::new("work=2000");
    let receipt = stage.send("Fix the parser", options(), false);
    assert_eq!(receipt.outcome, Outcome::Submitted, "{receipt:?}");
    let proof = &receipt.steps.last().unwrap().evidence;
    assert!(proof.contains("idle to busy"), "{proof}");
    assert_eq!(stage.mail(), ["Fix the parser"]);
}

/// CALC-PAT-3: a hook that got the prompt is proof that the agent has seen it.
#[test]
fn a_hook_that_got_the_text_is_seen() {
    let stage = Stage::new("mute=1");
    let session = stage.session().unwrap().session_id;
    let note = |event: &str, prompt: Option<&str>| {
        let event = HookEvent {
            client: "claude".to_owned(),
            session_id: session.clone(),
            event: event.to_owned(),
            state: hook_event::state_of(event, "").unwrap(),
            at: Clock::system().now(),
            pid: None,
            started: None,
            cwd: None,
            last_prompt: prompt.map(str::to_owned),
        };
        let folder = stage.folder.path().join("events");
        hook_event::note(&Disk::real(), &folder, event).unwrap();
    };
    note("SessionStart", None);
    let receipt = std::thread::scope(|scope| {
        scope.spawn(|| {
            eventually(|| (!events(&stage.fake.log, "muted").is_empty()).then_some(()));
            note("UserPromptSubmit", Some("Fix the parser"));
        });
        let mut socket = ClaudeSocket::of(&stage.session().unwrap()).unwrap();
        stage.post(&mut socket, "Fix the parser", options(), true)
    });
    let Posted::Ended(receipt) = receipt else {
        panic!("{receipt:?}")
    };
    assert_eq!(receipt.outcome, Outcome::Submitted, "{receipt:?}");
    assert_eq!(phases(&receipt).last(), Some(&Phase::Seen));
}

/// CALC-PAT-3: a text that was left and shows nowhere is unconfirmed, never submitted.
#[test]
fn a_text_that_shows_nowhere_is_unconfirmed() {
    let stage = Stage::new("mute=1");
    let mut short = options();
    short.timing.total = Duration::from_secs(1);
    for is_screened in [true, false] {
        let receipt = stage.send("Fix the parser", short.clone(), is_screened);
        let Outcome::Unconfirmed {
            seen,
            text_left: false,
        } = &receipt.outcome
        else {
            panic!("{receipt:?}")
        };
        assert!(seen.starts_with("nothing shows"), "{seen}");
        assert_eq!(phases(&receipt).last(), Some(&Phase::Written));
    }
    assert_eq!(events(&stage.fake.log, "muted").len(), 2);
}

/// CALC-PAT-3: what forbids keys forbids messages, too, on a screen and without one.
#[test]
fn nothing_is_left_for_a_client_that_would_not_get_keys() {
    for (start, is_screened, expected) in [
        ("dialog", true, "a dialog is open"),
        ("dialog", false, "a dialog is open"),
        ("overlay", true, "the composer is hidden"),
        ("draft", true, "another draft"),
        ("working", true, "WORKING"),
        ("working", false, "WORKING"),
    ] {
        let stage = Stage::new(&format!("start={start}"));
        let receipt = stage.send("Fix the parser", options(), is_screened);
        let Outcome::Refused {
            reason,
            text_left: false,
        } = &receipt.outcome
        else {
            panic!("{start}: {receipt:?}")
        };
        assert!(reason.to_string().contains(expected), "{start}: {reason}");
        let command = stage.send("/clear", options(), false);
        let is_command = matches!(
            command.outcome,
            Outcome::Refused {
                reason: Reason::Command { sign: '/' },
                ..
            }
        );
        assert!(is_command, "{command:?}");
        assert_eq!(stage.mail(), Vec::<String>::new(), "{start}");
    }
}

/// A client that works queues a message if the sender allows that, and a dry run leaves none.
#[test]
fn a_client_that_works_queues_a_message() {
    let stage = Stage::new("start=working");
    let mut options = options();
    options.while_working = true;
    options.dry_run = true;
    let dry = stage.send("Then fix the parser", options.clone(), true);
    assert_eq!(dry.outcome, Outcome::Possible, "{dry:?}");
    assert_eq!(stage.mail(), Vec::<String>::new());
    options.dry_run = false;
    let receipt = stage.send("Then fix the parser", options, true);
    assert_eq!(receipt.outcome, Outcome::Submitted, "{receipt:?}");
    assert_eq!(stage.mail(), ["Then fix the parser"]);
}

/// A mailbox that cannot be reached leaves the way for another route; one that broke off does not.
#[test]
fn only_a_mailbox_that_took_nothing_is_unavailable() {
    struct Broken(MailboxError, Cell<u32>);
    impl Mailbox for Broken {
        fn route(&self) -> DeliveryRoute {
            DeliveryRoute::CodexQueue
        }
        fn check(&self) -> Result<(), String> {
            Ok(())
        }
        fn leave(&mut self, _text: &str) -> Result<(), MailboxError> {
            self.1.set(self.1.get() + 1);
            Err(self.0.clone())
        }
    }
    let stage = Stage::new("work=1");
    let post = |error: MailboxError| {
        let mut broken = Broken(error, Cell::new(0));
        let posted = stage.post(&mut broken, "x y z", options(), true);
        assert_eq!(broken.1.get(), 1);
        posted
    };
    let unavailable = post(MailboxError::Unavailable("no socket".to_owned()));
    assert_eq!(unavailable, Posted::Unavailable("no socket".to_owned()));
    let interrupted = post(MailboxError::Interrupted("half".to_owned()));
    let is_unconfirmed = matches!(
        &interrupted,
        Posted::Ended(receipt) if matches!(&receipt.outcome, Outcome::Unconfirmed { seen, .. } if seen == "half")
    );
    assert!(is_unconfirmed, "{interrupted:?}");
}

/// A socket that a file names elsewhere is not opened.
#[test]
fn a_socket_elsewhere_is_not_opened() {
    let stage = Stage::new("work=1");
    let mut session = stage.session().unwrap();
    session.socket = Some(Path::new("/run/docker.sock").to_owned());
    let mut socket = ClaudeSocket::of(&session).unwrap();
    let posted = stage.post(&mut socket, "x", options(), true);
    assert!(
        matches!(&posted, Posted::Unavailable(why) if why.contains("not named after its process")),
        "{posted:?}"
    );
}
