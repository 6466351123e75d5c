//! [`inject`]: carries out an injection over a tmux connection.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use callosum_host::{Clock, Disk, disk::DiskError, lock::LockFile, process::table};
use thiserror::Error;

use super::{
    DeliveryRoute, Injection, Outcome, Prepared, Reason, Receipt, Step, guard, lock,
    machine::{Action, Machine, Observation, View},
    sent,
};
use crate::{
    program::{Program, Running},
    rule::RuleSet,
    screen::Screen,
    state::State,
    tmux::{Connection, TmuxError},
};

/// Time between two looks. A look costs about 0.5 ms.
pub(super) const LOOK: Duration = Duration::from_millis(50);

/// A carriage return and Ctrl-U as `send-keys -H` takes them. tmux 3.7 translates the named key `Enter` for some clients
/// into a sequence that does not submit.
const ENTER: &str = "0d";
const CLEAR: &str = "15";

/// Reasons that an injection could not begin. Nothing was typed.
#[derive(Debug, Error)]
pub enum InjectError {
    /// The server does not answer.
    #[error(transparent)]
    Tmux(#[from] TmuxError),
    /// The pane's lock cannot be opened.
    #[error("cannot lock the pane: {0}")]
    Lock(#[from] DiskError),
}

/// A client in a pane, and the means to watch it.
#[derive(Clone, Copy, Debug)]
pub struct Target<'a> {
    /// The pane, such as `%3`.
    pub pane: &'a str,
    /// The client as it was found in the pane. An injection ends if another process takes its place.
    pub running: &'a Running,
    /// The rules that read the client's screens.
    pub rules: &'a RuleSet,
    /// Folder of the locks, one for each pane. It is created.
    pub locks: &'a Path,
}

/// Types a text into a client and waits for the proof that it was submitted.
///
/// Takes up to [`Timing::total`](super::Timing::total). Only [`Outcome::Submitted`] is a success. An error means that
/// nothing was typed; a server that ends later makes the outcome unconfirmed.
pub fn inject(
    connection: &mut Connection,
    target: &Target<'_>,
    injection: Injection,
    disk: &Disk,
    clock: &Clock,
) -> Result<Receipt, InjectError> {
    let at = clock.now();
    let began = Instant::now();
    let bytes = injection.text.as_str().len();
    let receipt = |machine: &Machine, outcome: Outcome| Receipt {
        pane: target.pane.to_owned(),
        pid: target.running.process.pid,
        route: DeliveryRoute::Tmux,
        bytes,
        at,
        steps: machine.steps().to_vec(),
        enters: machine.enters(),
        took_ms: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
        outcome,
    };
    let mut machine = Machine::new(injection.clone());
    let refused = |reason: Reason| Outcome::Refused {
        reason,
        text_left: false,
    };
    disk.create_private_dir(target.locks)?;
    let path = lock::path(target.locks, connection.socket(), target.pane);
    let Some(_lock) = LockFile::private().try_acquire(disk, &path)? else {
        return Ok(receipt(&machine, refused(Reason::InFlight)));
    };
    if is_synchronized(connection, target.pane)? {
        return Ok(receipt(&machine, refused(Reason::Synchronized)));
    }
    let mut typist = Typist {
        connection,
        target,
        injection,
        buffer: None,
        began,
    };
    let outcome = typist.run(&mut machine);
    typist.remove_buffer();
    Ok(receipt(&machine, outcome?))
}

/// Waits until the client would take a text, and types nothing. Returns the outcome of this dry run and its phases.
pub(super) fn check(
    connection: &mut Connection,
    target: &Target<'_>,
    injection: &Injection,
    began: Instant,
) -> Result<(Outcome, Vec<Step>), TmuxError> {
    let mut injection = injection.clone();
    injection.options.dry_run = true;
    let mut machine = Machine::new(injection.clone());
    let mut typist = Typist {
        connection,
        target,
        injection,
        buffer: None,
        began,
    };
    let outcome = typist.run(&mut machine)?;
    Ok((outcome, machine.steps().to_vec()))
}

struct Typist<'a> {
    connection: &'a mut Connection,
    target: &'a Target<'a>,
    injection: Injection,
    /// Name of the paste buffer while there is one.
    buffer: Option<String>,
    began: Instant,
}

/// An observation, and the condition that the pane still looks so.
pub(super) struct Glance {
    pub(super) observation: Observation,
    condition: Option<String>,
}

impl Typist<'_> {
    fn run(&mut self, machine: &mut Machine) -> Result<Outcome, TmuxError> {
        loop {
            let glance = match self.look() {
                Ok(glance) => glance,
                Err(error) if machine.has_pasted() => {
                    return Ok(machine.break_off(&error.to_string()));
                }
                Err(error) => return Err(error),
            };
            let action = machine.next(&glance.observation);
            let typed = match action {
                Action::Done(outcome) => return Ok(outcome),
                Action::Wait => Ok(false),
                Action::Paste => {
                    let name = self.fill_buffer()?;
                    // The server may have pasted even if it does not answer.
                    let pasted = self.paste(&glance, &name);
                    if !matches!(pasted, Ok(false) | Err(TmuxError::Refused { .. })) {
                        machine.pasted(self.began.elapsed());
                    }
                    pasted
                }
                Action::PressEnter => {
                    let pressed = self.press(&glance, ENTER);
                    if !matches!(pressed, Ok(false) | Err(TmuxError::Refused { .. })) {
                        machine.entered(self.began.elapsed());
                    }
                    pressed
                }
                Action::ClearLine => {
                    let pressed = self.press(&glance, CLEAR);
                    if matches!(pressed, Ok(true)) {
                        machine.cleared(self.began.elapsed());
                    }
                    pressed
                }
            };
            match typed {
                // A pane that has gone refuses; the next look sees that.
                Ok(_) | Err(TmuxError::Refused { .. }) => {}
                Err(error) => return Ok(machine.break_off(&error.to_string())),
            }
            std::thread::sleep(LOOK);
        }
    }

    fn look(&mut self) -> Result<Glance, TmuxError> {
        let text = &self.injection.text;
        look(self.connection, self.target, text, self.began)
    }

    /// Stores the text under a name that no other program has.
    fn fill_buffer(&mut self) -> Result<String, TmuxError> {
        if let Some(name) = &self.buffer {
            return Ok(name.clone());
        }
        let name = self.connection.word()?;
        self.buffer = Some(name.clone());
        self.connection
            .set_buffer(&name, self.injection.text.as_str())?;
        Ok(name)
    }

    fn paste(&mut self, glance: &Glance, name: &str) -> Result<bool, TmuxError> {
        let pane = self.target.pane;
        self.type_if(glance, &format!("paste-buffer -p -r -b {name} -t {pane}"))
    }

    fn press(&mut self, glance: &Glance, key: &str) -> Result<bool, TmuxError> {
        let pane = self.target.pane;
        self.type_if(glance, &format!("send-keys -t {pane} -H {key}"))
    }

    /// Types if the pane still looks as it did. Returns whether it was typed.
    fn type_if(&mut self, glance: &Glance, command: &str) -> Result<bool, TmuxError> {
        let Some(condition) = &glance.condition else {
            return Ok(false);
        };
        if !is_there(self.target.running) {
            return Ok(false);
        }
        self.connection.ask_if(self.target.pane, condition, command)
    }

    fn remove_buffer(&mut self) {
        if let Some(name) = self.buffer.take() {
            // A server that has ended has no buffers either.
            drop(self.connection.delete_buffer(&name));
        }
    }
}

/// Looks at a pane once.
pub(super) fn look(
    connection: &mut Connection,
    target: &Target<'_>,
    text: &Prepared,
    began: Instant,
) -> Result<Glance, TmuxError> {
    let panes = connection.panes()?;
    let elapsed = began.elapsed();
    let pane = panes.into_iter().find(|pane| pane.id == target.pane);
    let Some(pane) = pane.filter(|pane| !pane.is_dead && is_there(target.running)) else {
        let observation = Observation {
            elapsed,
            is_client_there: false,
            is_in_mode: false,
            is_input_off: false,
            view: None,
        };
        return Ok(Glance {
            observation,
            condition: None,
        });
    };
    // A draft and a placeholder differ by their colors alone.
    let last = usize::from(pane.size.1).saturating_sub(1);
    let bytes = connection.colors(&[(&pane, 0, last)])?.pop().flatten();
    let mut condition = None;
    let view = bytes.map(|bytes| {
        let screen = Screen::read(&bytes, Some(pane.cursor));
        let layout = target.rules.layout(&screen);
        let (judgment, _) = target.rules.judge(&pane.title, &screen, &layout);
        let place = layout.composer;
        condition = place
            .as_ref()
            .map(|place| guard::condition(&pane, &screen, place));
        let end = place.as_ref().map_or(screen.lines.len(), |place| place.top);
        let count = |is_collapsed| sent::count(&screen, end, text, is_collapsed);
        View {
            state: judgment
                .as_ref()
                .map_or(State::Unknown, |judgment| judgment.state),
            detail: judgment.and_then(|judgment| judgment.detail),
            draft: place.map(|place| place.draft),
            mentions: count(false),
            markers: count(true),
        }
    });
    let observation = Observation {
        elapsed,
        is_client_there: true,
        is_in_mode: pane.is_in_mode,
        is_input_off: pane.is_input_off,
        view,
    };
    Ok(Glance {
        observation,
        condition,
    })
}

/// Whether the client runs and has the terminal. A client that was suspended leaves it to the shell, and one that
/// became another program keeps its process id.
pub(super) fn is_there(running: &Running) -> bool {
    let known = &running.process;
    let is_program = || Program::of(&table::arguments(known.pid)) == Some(running.program);
    table::entry(known.pid).is_some_and(|now| {
        now.started == known.started
            && !now.has_ended
            && now.foreground.is_none_or(|group| group == now.group)
            && is_program()
    })
}

fn is_synchronized(connection: &mut Connection, pane: &str) -> Result<bool, TmuxError> {
    let lines = connection.ask(&format!(
        "display-message -p -t {pane} '#{{pane_synchronized}}'"
    ))?;
    Ok(lines.iter().next() == Some(b"1"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_runs_another_program_is_not_the_client() {
        let own = table::entry(std::process::id()).unwrap();
        let running = Running {
            program: Program::Claude,
            process: own,
        };
        assert!(!is_there(&running));
    }
}
