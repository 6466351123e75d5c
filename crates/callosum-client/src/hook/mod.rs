//! `callosum hook CLIENT EVENT`: the hook that a coding agent calls before its tools run.
//!
//! Start with [`run`]. It reads the event from standard input (`event`), gathers the facts that the
//! guard needs (`gather_facts`), has the guard decide (`verdict`), leaves a record (`record`) and answers in
//! the form that the client obeys (`answer`). Events about a client's sessions are in `session`.
//!
//! Failure mode: a hook that decides never allows a call because something failed. If a call cannot
//! be read or decided, or takes longer than `PATIENCE`, the hook asks a person, or denies it if no
//! one can be asked. A hook that only watches reports no failure of its own. The exit codes are
//! orders to the client and not those of the other commands: 0 reads standard output, 2 denies.
//!
//! It is a process per call of a tool. So it comes before the command line is parsed. It has no
//! thread but the one that watches the time, no registry, and before a tool no database. After a
//! tool `tool_errors` opens the recall database, if the output has an error or an error of the
//! session is open.

mod additional_dirs;
mod answer;
mod auto_allow;
mod blast_radius;
mod changed_files;
mod deadline;
mod event;
mod gather_facts;
mod git_index;
mod git_state;
mod git_writes;
mod lease;
mod open_shell;
mod path_facts;
mod record;
mod repeated;
mod responder;
mod rewrite;
mod session;
pub mod skill;
mod snapshot;
mod snapshot_outcome;
mod symlinks;
pub mod tokens;
mod tool_errors;
mod tool_result;
mod undo_records;
mod unsaved;
mod verdict;
pub(crate) mod worktree;

use std::{
    ffi::{OsStr, OsString},
    io::Read as _,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    sync::{Arc, mpsc},
    time::{Duration, Instant},
};

use callosum_executor::{client::Client, output_format::Dialect};
use callosum_guard::Decision;
use callosum_host::Disk;

pub use self::{
    answer::{Answer, HookPoint, Reply},
    gather_facts::{facts, journal, records},
    git_state::{Look, look},
    path_facts::{analyze, seen_in},
    session::{CurrentIntent, IntentSource, StartSources},
    verdict::UNREADABLE,
};
use self::{
    deadline::Progress,
    event::{Action, Event, LONGEST, Unreadable},
    gather_facts::CallContext,
    record::{About, DecisionRecord},
    responder::Responder,
    verdict::{Failure, Judged},
};
use callosum_config::{Environment, Homes, SecretReadsFile};

/// Longest time until the client gets an answer: well below the ten seconds of its own timeout.
const PATIENCE: Duration = Duration::from_secs(4);

/// Longest wait for the input of the program that asks before a clear.
const PATIENCE_FOR_INPUT: Duration = Duration::from_secs(1);

/// The longest that a person waits who wants to clear a context; the plugin that asks has no limit.
const PATIENCE_TO_CLEAR: Duration = Duration::from_secs(30);

/// The word that calls it.
const WORD: &str = "hook";

/// A call of the hook.
struct Call<'a> {
    client: &'a str,
    event: &'a str,
    known: Option<&'static Client>,
    moment: HookPoint,
    /// Finds what a session starts with.
    sources: StartSources,
}

/// Answers the event if the program was called as a hook, and returns the exit code for the client.
///
/// `sources` finds the current intent and past turns, for the digest of a session that begins.
pub fn run(arguments: &[OsString], sources: StartSources) -> Option<u8> {
    let [_, word, client, rest @ ..] = arguments else {
        return None;
    };
    if word != WORD || client.as_encoded_bytes().starts_with(b"-") {
        return None;
    }
    let event = rest.first().map(OsString::as_os_str).unwrap_or_default();
    if event.as_encoded_bytes().starts_with(b"-") {
        return None;
    }
    Some(answered(client, event, sources))
}

/// Answers one event.
pub fn answered(client: &OsStr, event: &OsStr, sources: StartSources) -> u8 {
    let begun = Instant::now();
    let (client, event) = (client.to_string_lossy(), event.to_string_lossy());
    let mut call = Call {
        client: &client,
        event: &event,
        known: known(&client),
        moment: HookPoint::named(&event),
        sources,
    };
    let progress = Progress::default();
    call.prepare(&progress);
    let (late, recorder, name) = (progress.clone(), progress.clone(), client.to_string());
    let patience = match call.moment {
        HookPoint::Clear => PATIENCE_TO_CLEAR,
        HookPoint::BeforeTool | HookPoint::Permission | HookPoint::Other => PATIENCE,
    };
    let environment = Environment::from_process();
    let patience = environment.patience(patience).unwrap_or(patience);
    let voice = Responder::start(
        patience,
        move || late.too_late(),
        move || recorder.record(&name, Failure::TooLate, begun.elapsed()),
    );
    // The client would read the message of a panic.
    std::panic::set_hook(Box::new(|_| {}));
    let reply = catch_unwind(AssertUnwindSafe(|| call.decide(begun, &progress, &voice)));
    let reply = reply.unwrap_or_else(|_| {
        let recorder = || progress.record(&client, Failure::Defect, begun.elapsed());
        drop(catch_unwind(AssertUnwindSafe(recorder)));
        call.failed(Failure::Defect)
    });
    voice.say(&reply)
}

fn known(client: &str) -> Option<&'static Client> {
    let mut clients = Dialect::ALL.into_iter().filter_map(Client::of);
    clients.find(|known| known.program == client && known.hooks.is_some())
}

impl Call<'_> {
    fn decide(&mut self, begun: Instant, progress: &Progress, voice: &Responder) -> Reply {
        if self.moment == HookPoint::Clear {
            let folder = session::folder_of_event(&input_at_once());
            let answer = session::may_clear(self.client, folder.as_deref());
            return self.reply(&answer, None);
        }
        let read = read_input();
        if let Ok(bytes) = &read
            && !self.moment.decides()
            && let Some(observed) = Event::observed(bytes)
        {
            // An unknown name; the name in the client's own event counts then. A tool without a
            // named event is one that is about to run.
            let name = observed.name.as_deref().unwrap_or_default();
            let is_unnamed = name.is_empty() && self.event.is_empty();
            self.moment = if is_unnamed && observed.tool.is_some() {
                HookPoint::BeforeTool
            } else {
                HookPoint::named(name)
            };
            self.prepare(progress);
        }
        if !self.moment.decides() {
            let silence = self.reply(&Answer::Pass, None);
            let bytes = read.unwrap_or_default();
            let Some(client) = self.known else {
                let has_plugin = self.client == "opencode";
                let reply = has_plugin
                    .then(|| session::after_tool_of_plugin(self.client, self.event, &bytes))
                    .flatten();
                return reply.unwrap_or(silence);
            };
            let (event, sources) = (self.event, self.sources);
            return session::observe(client, event, &bytes, silence, progress, voice, sources);
        }
        let environment = Environment::from_process();
        let home = environment.path("HOME");
        let (bytes, event) = match read {
            Ok(bytes) => {
                let event = Event::read(&bytes);
                (bytes, event)
            }
            Err(unreadable) => (Vec::new(), Err(unreadable)),
        };
        let event = event.map(|event| event.at_home(home.as_deref()));
        let disk = Disk::real();
        let (event, judged, place) = match event {
            Ok(mut event) => {
                if let Some(skill) = &event.skill {
                    let own = self.own_folder(&environment, home.as_deref());
                    let folder = event.folder.as_deref();
                    let lines = skill::commands(&disk, skill, folder, own.as_deref());
                    if !lines.is_empty() {
                        event.action = Action::Shell(lines.join("\n"));
                    }
                }
                let is_judged = match event.action {
                    Action::Other => false,
                    Action::Read(_) => keeps_secrets(&disk, &environment),
                    Action::Shell(_) | Action::Write(_) => true,
                };
                if !is_judged {
                    self.note_dialog(&environment, &bytes);
                    return self.reply(&Answer::Pass, None);
                }
                let event = Arc::new(event);
                progress.read(&event);
                let mut place = CallContext::gather(&disk, &environment, &event, self.known);
                place.look_before_refusing();
                let place = Arc::new(place);
                progress.gathered(&place);
                let now = environment.clock().ok().map(|clock| clock.now());
                let call = repeated::fingerprint(self.client, &event);
                let mut judged = Judged::of(&event.action, &place, now, call.as_ref());
                judged.verdict.destroys |= event.removes;
                if let Some(radius) = place.blast_radius(&judged.verdict) {
                    judged.verdict.reason = judged
                        .verdict
                        .reason
                        .map(|reason| format!("{reason}: {radius}"));
                }
                let is_read = matches!(event.action, Action::Read(_));
                if is_read && judged.verdict.decision == Decision::Allow {
                    return self.reply(&Answer::Pass, None);
                }
                if let Action::Shell(command) = &event.action
                    && self.client == "codex"
                    && judged.verdict.decision == Decision::Allow
                    && open_shell::opens(command)
                {
                    judged = judged.for_open_shell();
                }
                if self.moment == HookPoint::BeforeTool {
                    judged = lease::block_if_leased(judged, self.known, &event, &place);
                }
                (event, judged, place)
            }
            Err(unreadable) => {
                let event = Arc::new(Event::default());
                let place = CallContext::gather(&disk, &environment, &event, self.known);
                let place = Arc::new(place);
                (event, Judged::unreadable(&unreadable), place)
            }
        };
        let took = begun.elapsed();
        let mut judged = judged;
        let mut reply = self.reply_to(&judged, &event);
        let mut added = None;
        let about = About::of(&event.action);
        // If both events come, the same call was decided on before its tool.
        let call = undo_records::new_id(&place);
        let snapshot = match self.moment {
            HookPoint::BeforeTool => {
                snapshot::before(&event.action, &about, (&judged, &reply), &place, &call)
            }
            HookPoint::Permission | HookPoint::Clear | HookPoint::Other => None,
        };
        let lost = snapshot::lost(snapshot.as_ref(), &judged, &place);
        if !lost.is_empty() {
            judged = judged.without_snapshot(&lost);
            reply = self.reply_to(&judged, &event);
        } else if judged.verdict.decision == Decision::Allow
            && matches!(event.action, Action::Shell(_))
            && !event.is_skill_line()
            && let Some(note) = snapshot::note(snapshot.as_ref())
        {
            let hooks = self.known.and_then(|known| known.hooks.as_ref());
            reply = Reply::with_note(hooks, &note);
            added = Some(note).filter(|_| hooks.is_some_and(|hooks| hooks.telling.model));
        }
        let rewritten = self.rewritten(&event, &bytes, &judged, &place);
        let rewritten = rewritten.map(|(other, command)| {
            reply = other;
            command
        });
        let may_run = judged.verdict.decision == Decision::Allow || reply.is_question;
        if self.moment == HookPoint::BeforeTool && may_run {
            let about = (&*event, &about);
            undo_records::before(
                self.client,
                about,
                (&judged, snapshot.as_ref()),
                &place,
                &call,
            );
        }
        let spared = auto_allow::allowed(&event, &judged, snapshot.as_ref(), &place, || {
            let hooks = self.known.and_then(|known| known.hooks.as_ref());
            reply.allowing(hooks, self.moment)
        });
        let auto_allowed = spared.is_some();
        reply = spared.unwrap_or(reply);
        let decision = DecisionRecord {
            event: &event,
            about: &about,
            judged: &judged,
            snapshot: snapshot.as_ref(),
            auto_allowed,
            rewritten: rewritten.as_deref(),
            took,
        };
        // If the timeout answered first, it wrote to the journal as well.
        if !voice.was_used() {
            voice.say_before_record(&reply);
            if !auto_allowed && !reply.denies() {
                self.note_dialog(&environment, &bytes);
            }
            if self.is_first(&decision, &place) {
                record::keep(self.client, &decision, &place);
            }
            if let Some(text) = &added {
                let given = tokens::Given {
                    client: self.client,
                    session: event.session.as_deref().unwrap_or_default(),
                    folder: event.folder.as_deref(),
                    event: "pre-tool-use",
                    text,
                };
                tokens::note(&disk, &place.environment, &given);
            }
        }
        reply
    }

    /// Returns the answer by which the client runs a careful form of a refused command, and that command; `None` unless the
    /// user turned that on.
    fn rewritten(
        &self,
        event: &Event,
        bytes: &[u8],
        judged: &Judged,
        place: &CallContext,
    ) -> Option<(Reply, String)> {
        let hooks = self.known?.hooks.as_ref()?;
        let Action::Shell(command) = &event.action else {
            return None;
        };
        let is_on = place.guard.config.safety.rewrite && place.guard.broken.is_empty();
        if !is_on || self.moment != HookPoint::BeforeTool || event.is_skill_line() {
            return None;
        }
        let allows = |other: &str| {
            let other = Action::Shell(other.to_owned());
            Judged::of(&other, place, None, None).verdict.decision == Decision::Allow
        };
        let other = rewrite::alternative(command, &judged.verdict, allows)?;
        let input = rewrite::input_with(&event::fields(bytes).unwrap_or_default(), other);
        let rule = judged.verdict.rule.as_deref().unwrap_or_default();
        let note = format!(
            "Callosum ran `{other}` in place of `{command}` (rule {rule}, safety.rewrite)."
        );
        let reply = Reply::rewriting(hooks, &input, &note, event.mode.as_deref())?;
        Some((reply, other.to_owned()))
    }

    /// Notes for `mesh panes` that the client is about to ask a person.
    fn note_dialog(&self, environment: &Environment, bytes: &[u8]) {
        if let (HookPoint::Permission, Some(client)) = (self.moment, self.known) {
            session::note_dialog(environment, client, bytes);
        }
    }

    /// Returns whether no other hook has recorded this answer. Of what simply passes, nothing is looked up.
    fn is_first(&self, decision: &DecisionRecord<'_>, place: &CallContext) -> bool {
        let passes = decision.judged.verdict.decision == Decision::Allow;
        if passes && decision.judged.permitted.is_empty() {
            // As the client is about to prompt, the record from before the tool is there already.
            return self.moment != HookPoint::Permission || decision.auto_allowed;
        }
        let call = repeated::fingerprint(self.client, decision.event);
        let clock = place.environment.clock();
        let (Some(call), Ok(clock)) = (call, clock) else {
            return true;
        };
        let is_permission = self.moment == HookPoint::Permission;
        let call = (&call, is_permission);
        repeated::is_first(&place.disk, &place.environment, call, clock.now())
    }

    /// Returns the reply to the client: a denial instead of a question if no one can be asked.
    fn reply_to(&self, judged: &Judged, event: &Event) -> Reply {
        if event.is_skill_line() {
            // The client asks no one about it, so the hook blocks it.
            let answer = match judged.verdict.decision {
                Decision::Ask => judged.unasked(&event.action),
                Decision::Allow | Decision::Block => judged.answer(),
            };
            let name = event.name.as_deref().unwrap_or_default();
            return self.reply(&answer, event.mode.as_deref()).for_event(name);
        }
        let reply = self.reply(&judged.answer(), event.mode.as_deref());
        let is_denied = self.moment == HookPoint::BeforeTool && !reply.is_question;
        if is_denied && judged.verdict.decision == Decision::Ask {
            return self.reply(&judged.unasked(&event.action), event.mode.as_deref());
        }
        reply
    }

    /// The client's own folder, where skills of its user are.
    fn own_folder(&self, environment: &Environment, home: Option<&Path>) -> Option<PathBuf> {
        let client = self.known?;
        let own = client.home.variable.and_then(|name| environment.path(name));
        Some(client.folder(home?, own.as_deref()))
    }

    /// Says what is to be answered should the time be over before anything is decided.
    fn prepare(&self, progress: &Progress) {
        progress.prepare(self.failed(Failure::TooLate), self.moment.decides());
    }

    fn failed(&self, failure: Failure) -> Reply {
        if self.moment == HookPoint::Clear && failure == Failure::TooLate {
            return self.reply(&session::unchecked_in(PATIENCE_TO_CLEAR), None);
        }
        self.reply(&Judged::failed(failure).answer(), None)
    }

    fn reply(&self, answer: &Answer, mode: Option<&str>) -> Reply {
        let hooks = self.known.and_then(|known| known.hooks.as_ref());
        Reply::of(hooks, self.moment, answer, mode)
    }
}

/// Returns whether reading some files is asked about; looks at one name, and at no file of a project.
fn keeps_secrets(disk: &Disk, environment: &Environment) -> bool {
    let homes = Homes::find(environment);
    homes.is_ok_and(|homes| SecretReadsFile::new(disk, &homes.secret_reads()).is_on())
}

/// Returns why a context must not be cleared in this folder; `None` if it may, or no gate is on.
pub fn may_clear(client: &str, folder: &Path) -> Option<String> {
    match session::may_clear(client, Some(folder)) {
        Answer::Pass => None,
        Answer::Ask(reason) | Answer::Deny(reason) => Some(reason),
    }
}

/// Returns the text on standard input if it ends at once: the program that asks before a clear may
/// send nothing and leave it open.
fn input_at_once() -> Vec<u8> {
    let (send, receive) = mpsc::channel();
    let reading = std::thread::Builder::new().spawn(move || drop(send.send(read_input())));
    // Without a thread nothing is read: standard input may never end.
    drop(reading);
    let read = receive.recv_timeout(PATIENCE_FOR_INPUT);
    read.ok().and_then(Result::ok).unwrap_or_default()
}

/// Reads the client's event. The rest of an event that is too long is read and dropped, so that the
/// client gets an answer instead of a closed pipe.
fn read_input() -> Result<Vec<u8>, Unreadable> {
    let mut bytes = Vec::new();
    let mut input = std::io::stdin().lock();
    let longest = LONGEST as u64 + 1;
    // If reading fails, the bytes so far are no event, and the hook reports that.
    drop(input.by_ref().take(longest).read_to_end(&mut bytes));
    if bytes.len() > LONGEST {
        drop(std::io::copy(&mut input, &mut std::io::sink()));
        return Err(Unreadable::TooLong);
    }
    Ok(bytes)
}
