//! Errors of the commands that agents run: recorded, answered by a message, and learned from.
//!
//! Start with [`Watcher`], which a hook, `callosum watch` and `callosum shell` use alike. It reads
//! a command's output, records its errors, decides whether the agent gets a message, and learns a
//! fix when the command succeeds later. The decisions are `callosum-intervention`'s; this gathers
//! their inputs.
//!
//! Failure mode: a fault of ours never stops an agent. The caller gets the error and goes on.

mod digest;
mod error_snapshot;
mod message;
mod open_errors;
pub mod person;
mod project_facts;
mod scope_drift;

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use callosum_diagnose::{
    Diagnosis, ErrorEvent, OutputReader, PatternError, Patterns, StreamSource,
};
use callosum_guard::config::{Config, InterventionMode};
use callosum_host::Disk;
use callosum_intervention::{
    classify::{Facts, Interventions, Rules, classify},
    knowledge::{Fix, Learned, Observation},
    recall::{self, Place, RecallDb, RecallError, Recorded, Signature},
    scope::SCOPE_DRIFT,
};
use callosum_redact::secrets::{mask, mask_command};
use jiff::Timestamp;

use self::{
    open_errors::OpenErrors,
    person::{Notice, NotifyError},
    scope_drift::ScopeError,
};
use callosum_config::{Environment, EnvironmentError, GuardConfig, Homes, HomesError};
use callosum_metrics::SentMessage;

/// Most errors of one output that are recorded.
const MOST_RECORDED: usize = 10;

/// The reason why errors cannot be watched.
#[derive(Debug, thiserror::Error)]
pub enum WatchError {
    /// The machine's state folder is unknown.
    #[error(transparent)]
    Homes(#[from] HomesError),
    /// A variable of ours makes no sense.
    #[error(transparent)]
    Environment(#[from] EnvironmentError),
    /// The recall database cannot be used.
    #[error(transparent)]
    Recall(#[from] RecallError),
    /// A file of the state folder cannot be used.
    #[error(transparent)]
    Disk(#[from] callosum_host::DiskError),
    /// The task of a session is unknown.
    #[error(transparent)]
    Scope(#[from] ScopeError),
    /// A person cannot be notified.
    #[error(transparent)]
    Notify(#[from] NotifyError),
}

/// A command that an agent ran.
#[derive(Clone, Copy, Debug)]
pub struct Ran<'a> {
    /// The command line.
    pub command: &'a str,
    /// Its output.
    pub output: &'a [u8],
    /// Whether it failed, if that is known.
    pub has_failed: Option<bool>,
}

/// The session that ran it.
#[derive(Clone, Copy, Debug)]
pub struct Runner<'a> {
    /// The client's name.
    pub client: &'a str,
    /// The session, as the client names it.
    pub session: &'a str,
    /// Whether it reads messages; else errors are only recorded.
    pub reads_messages: bool,
}

/// A message to an agent about an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The operator's message, and the known fix below.
    pub text: String,
}

/// One error of an output, and what is known about it.
#[derive(Debug)]
pub struct Seen {
    /// The error, with secrets masked.
    pub event: ErrorEvent,
    /// The fix that is known.
    pub fix: Option<Fix>,
}

/// The result of a command.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Its errors, the one to act on first.
    pub seen: Vec<Seen>,
    /// Errors beyond those.
    pub more: usize,
    /// The message to the agent.
    pub message: Option<Message>,
    /// The fixes that its success shows.
    pub learned: Vec<Learned>,
}

/// Watches the commands of one project.
#[derive(Debug)]
pub struct Watcher {
    disk: Disk,
    environment: Environment,
    homes: Homes,
    config: Config,
    patterns: Patterns,
    /// The root of the project, without links.
    root: PathBuf,
}

/// Compiles the patterns of a configuration; those that cannot be used are errors, and skipped.
pub fn compile_patterns(config: &Config) -> (Patterns, Vec<PatternError>) {
    let pairs = config.patterns.iter();
    Patterns::compile(pairs.map(|pattern| (&*pattern.pattern, &*pattern.error_type)))
}

/// Calls `take` with each message that agents on this machine were sent, the earliest first.
///
/// # Errors
/// If the recall database cannot be read. Without a database there is no message.
pub fn each_sent_message(
    disk: &Disk,
    homes: &Homes,
    environment: &Environment,
    now: Timestamp,
    mut take: impl FnMut(&SentMessage<'_>),
) -> Result<(), WatchError> {
    let user = homes.cake_config();
    let config = GuardConfig::load(disk, Some(&user), &[]).config;
    let path = database_path(&config, homes, environment);
    if !disk.exists(&path)? {
        return Ok(());
    }
    let database = RecallDb::open(disk, &path, config.database.ttl_hours, now)?;
    database.each_intervention(|facts| {
        take(&SentMessage {
            error_type: &facts.error_type,
            severity: &facts.severity,
            level: facts.level,
            success: facts.success,
            score: facts.score,
            took: facts.took_us.map(|took| Duration::from_micros(took.into())),
        });
    })?;
    Ok(())
}

/// Returns the path of the recall database.
fn database_path(config: &Config, homes: &Homes, environment: &Environment) -> PathBuf {
    let Some(path) = &config.database.path else {
        return homes.recall();
    };
    environment.at_home(path)
}

impl Watcher {
    /// Returns a watcher for the project at `root`.
    pub fn new(disk: &Disk, environment: &Environment, root: &Path) -> Result<Self, WatchError> {
        let homes = Homes::find(environment)?;
        let user = homes.cake_config();
        let config = GuardConfig::load(disk, Some(&user), &[root]).config;
        // `doctor` reports those that are skipped.
        let (patterns, _) = compile_patterns(&config);
        Ok(Self {
            patterns,
            disk: disk.clone(),
            environment: environment.clone(),
            homes,
            config,
            root: root.to_owned(),
        })
    }

    /// Opens the recall database of this machine.
    pub fn database(&self, now: Timestamp) -> Result<RecallDb, WatchError> {
        let path = self.database_path();
        let ttl = self.config.database.ttl_hours;
        Ok(RecallDb::open(&self.disk, &path, ttl, now)?)
    }

    /// Returns the path of the recall database.
    pub fn database_path(&self) -> PathBuf {
        database_path(&self.config, &self.homes, &self.environment)
    }

    /// Returns a reader of output with the patterns of `cake_config.yaml`.
    pub fn reader(&self, stream: StreamSource, now: Timestamp) -> OutputReader {
        let reader = OutputReader::new(stream, now.to_string());
        if self.patterns.is_empty() {
            return reader;
        }
        reader.with_patterns(self.patterns.clone())
    }

    /// Takes in a command that has ended. An output without errors costs no database unless an error of this session is open.
    pub fn after_command(
        &self,
        runner: Runner<'_>,
        ran: Ran<'_>,
        now: Timestamp,
    ) -> Result<Outcome, WatchError> {
        let mut reader = self.reader(StreamSource::Merged, now);
        reader.push(ran.output);
        self.after_diagnosis(runner, ran, reader.finish(), now)
    }

    /// Does the same for an output that was read already.
    pub fn after_diagnosis(
        &self,
        runner: Runner<'_>,
        ran: Ran<'_>,
        diagnosis: Diagnosis,
        now: Timestamp,
    ) -> Result<Outcome, WatchError> {
        let started = Instant::now();
        let Diagnosis { events, more } = diagnosis;
        let open_errors = OpenErrors::of_session(&self.homes, runner.client, runner.session);
        let is_quiet = events.is_empty() && !open_errors.any(&self.disk)?;
        if self.config.interventions.mode == InterventionMode::Off || is_quiet {
            return Ok(Outcome::default());
        }
        let more = more + events.len().saturating_sub(MOST_RECORDED);
        let events: Vec<ErrorEvent> = events.into_iter().take(MOST_RECORDED).map(masked).collect();
        let command = mask_command(ran.command).text;
        let place = Place {
            project: self.root.to_string_lossy().into_owned(),
            client: runner.client.to_owned(),
            session: runner.session.to_owned(),
            command: command.clone(),
        };
        let database = self.database(now)?;
        let mut signatures: Vec<String> = Vec::new();
        let mut seen = Vec::new();
        let mut first = None;
        for event in events {
            let signature = Signature::of_event(&event);
            if signatures.contains(&signature.id) {
                continue;
            }
            let recorded = database.record(&event, &place, now)?;
            let fix = database.known_fix(
                &signature.id,
                &signature.normalized,
                &event.error_type,
                &place.project,
            )?;
            if recorded.interventions > 0 {
                database.fail_interventions(&signature.id, &place.project, &place.session)?;
            }
            signatures.push(signature.id);
            first.get_or_insert(recorded);
            seen.push(Seen { event, fix });
        }
        let has_failed = ran.has_failed.unwrap_or(!signatures.is_empty());
        let observation = Observation::Command {
            text: &command,
            has_failed,
            errors: &signatures,
        };
        let (episodes, learned) = database.observe(&observation, &place, now)?;
        open_errors.set(&self.disk, !episodes.is_empty())?;
        let message = match (first, seen.first()) {
            (Some(recorded), Some(seen)) if runner.reads_messages => {
                self.message_about(&database, &place, (seen, &recorded), (now, started))?
            }
            _ => None,
        };
        Ok(Outcome {
            seen,
            more,
            message,
            learned,
        })
    }

    /// Takes in that files were written. `paths` are absolute.
    pub fn after_edit(
        &self,
        runner: Runner<'_>,
        paths: &[String],
        now: Timestamp,
    ) -> Result<(), WatchError> {
        if self.config.interventions.mode == InterventionMode::Off {
            return Ok(());
        }
        let drifts = self.drifts(runner, paths)?;
        let open_errors = OpenErrors::of_session(&self.homes, runner.client, runner.session);
        let has_open_errors = open_errors.any(&self.disk)?;
        if drifts.is_empty() && !has_open_errors {
            return Ok(());
        }
        let place = Place {
            project: self.root.to_string_lossy().into_owned(),
            client: runner.client.to_owned(),
            session: runner.session.to_owned(),
            command: String::new(),
        };
        let database = self.database(now)?;
        for drift in &drifts {
            database.record_violation(SCOPE_DRIFT, &mask(drift).text, &place, false, now)?;
        }
        for path in paths.iter().filter(|_| has_open_errors) {
            let inner = Path::new(path).strip_prefix(&self.root).ok();
            let path = inner.map_or_else(|| path.clone(), |inner| inner.display().to_string());
            let observation = Observation::Edit {
                path: &mask(&path).text,
            };
            database.observe(&observation, &place, now)?;
        }
        Ok(())
    }

    /// Decides whether the agent gets a message about an error, writes it, and records that it was sent.
    fn message_about(
        &self,
        database: &RecallDb,
        place: &Place,
        (seen, recorded): (&Seen, &Recorded),
        (now, started): (Timestamp, Instant),
    ) -> Result<Option<Message>, WatchError> {
        let interventions = &self.config.interventions;
        let rules = Rules {
            mode: match interventions.mode {
                InterventionMode::Repeat => Interventions::Repeat,
                InterventionMode::All => Interventions::All,
                InterventionMode::Off => Interventions::Off,
            },
            high_confidence: f64::from(interventions.min_confidence_percent) / 100.0,
            medium_repeats: interventions.medium_repeats.into(),
            cooldown_minutes: self.config.escalation.cooldown_minutes.into(),
            max_strikes: self.config.escalation.max_strikes.into(),
        };
        let facts = Facts {
            occurrences: recorded.occurrences,
            last_message_at: recorded.last_intervention_at,
            now,
            has_known_fix: seen.fix.is_some(),
            strikes: recorded.interventions,
        };
        let decided = classify(&seen.event, &facts, &rules, None);
        if !decided.intervention_required {
            return Ok(None);
        }
        // A message that comes late keeps the agent for longer than it is worth.
        let performance = &self.config.performance;
        let is_late = started.elapsed() > Duration::from_millis(performance.max_latency_ms.into());
        let resident = callosum_host::machine::resident_bytes().unwrap_or(0);
        if is_late || resident > u64::from(performance.max_memory_mb) << 20 {
            return Ok(None);
        }
        let Some((text, score)) = self.text(seen, recorded, decided.level, now) else {
            return Ok(None);
        };
        let id = self.environment.ids()?.uuid_v4();
        let sent = recall::SentMessage {
            id: &id,
            signature: &recorded.signature,
            error_type: &seen.event.error_type,
            project: &place.project,
            session: &place.session,
            client: &place.client,
            level: decided.level,
            text: text.lines().next().unwrap_or_default(),
            fix: seen.fix.as_ref().map(|fix| fix.id),
            severity: decided.severity,
            score,
            took_us: u32::try_from(started.elapsed().as_micros()).unwrap_or(u32::MAX),
        };
        database.record_intervention(&sent, now)?;
        // Strikes beyond the limit notify no one again.
        let strikes = recorded.interventions + 1;
        if !decided.needs_person || strikes != u32::from(self.config.escalation.max_strikes) {
            return Ok(Some(Message { text }));
        }
        self.take_snapshot(&recorded.signature, &seen.event.error_type)?;
        if person::is_enabled(&self.config.escalation) {
            let notice = Notice {
                id,
                timestamp: now.to_string(),
                project: place.project.clone(),
                client: place.client.clone(),
                session: place.session.clone(),
                error_type: seen.event.error_type.clone(),
                file_path: seen.event.file_path.clone(),
                message: seen.event.message.clone(),
                strikes,
            };
            person::start(&self.disk, &self.environment, &self.homes, &notice)?;
        }
        Ok(Some(Message { text }))
    }
}

/// Returns an event without secrets.
fn masked(event: ErrorEvent) -> ErrorEvent {
    ErrorEvent {
        message: mask(&event.message).text,
        raw_output: mask(&event.raw_output).text,
        file_path: event.file_path.map(|path| mask(&path).text),
        module: event.module.map(|module| mask(&module).text),
        test: event.test.map(|test| mask(&test).text),
        ..event
    }
}
