//! [`AttemptRunner::ask`]: one answer of an executor, and what is kept where there is none.

use std::{
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use callosum_executor::{
    client::Client,
    handshake::HandshakeFault,
    output_format::wait_until_reset,
    protocol::{Answer, AnswerError, LONGEST_SUMMARY, Request},
    runner::LastTranscript,
    runner::{self, ExecutionEnvironment, RunError, Sign},
};
use callosum_json::Checksum;
use callosum_redact::{secrets, terminal_escape::on_one_line};
use callosum_sandbox::{Connection, Connections, Verdict};
use serde_json::{Value, json};

use super::{
    attempt::{AttemptRunner, Job},
    attempt_error::{Stop, one_line},
    denied_writes::Denials,
    observer::Notice,
    record::About,
    report::Failure,
    time_zone::time_zone,
};

/// A valid answer, and what it took to get it.
pub(super) struct ExecutorAnswer {
    pub(super) answer: Answer,
    /// The full answer, if the executor was asked to shorten it.
    pub(super) whole: Option<Value>,
    /// Tokens of the answer that was too long.
    pub(super) tokens_before: u64,
}

impl AttemptRunner<'_> {
    /// Asks the executor, once more if its summary is too long (CAL-SCH-3).
    ///
    /// Whether it succeeds or not, the connections that it asked for are on the record, and
    /// `denials` has heard its reports of denied writes to the ledger.
    pub(super) fn ask(
        &self,
        job: &Job<'_>,
        about: About<'_>,
        request: &Request,
        denials: &mut Denials,
    ) -> Result<ExecutorAnswer, Stop> {
        let surroundings = &ExecutionEnvironment {
            connections: Connections::default(),
            transcript: LastTranscript::default(),
            ..self.means.surroundings.clone()
        };
        let mut unrecorded = None;
        let mut heard = |sign: Sign<'_>| {
            match sign {
                Sign::Line(line) => denials.hear(line),
                // Takes the raw result: no one sees it.
                Sign::Tool(result) => return denials.hear_tool(result),
                _ => {}
            }
            if let Sign::Waiting(why) = sign
                && let Err(stop) = self.record(about.waiting(why))
            {
                unrecorded.get_or_insert(stop);
            }
            self.watch.notice(job.index, Notice::Heard(&sign));
        };
        let asked = thread::scope(|scope| {
            let _watched = Watched(&surroundings.connections);
            thread::Builder::new()
                .spawn_scoped(scope, || {
                    self.tell_unreached(job, &surroundings.connections);
                })
                .map_err(|error| Failure::of(None, no_thread(&error)))?;
            self.ask_within(job, request, surroundings, &mut heard)
        });
        if let Some(stop) = unrecorded {
            return Err(stop);
        }
        for connection in surroundings.connections.take() {
            self.record(about.connection(&connection))?;
        }
        asked
    }

    /// Reports each place that the executor may not reach, once per task and while it runs; of many
    /// places, their number. Most programs try again for minutes before they report it. A request
    /// that the client makes on its own account, and does without, is only recorded.
    fn tell_unreached(&self, job: &Job<'_>, connections: &Connections) {
        let executor = job.executor.id.as_str();
        let does_without =
            Client::behind(job.executor).map_or(&[][..], |client| client.does_without);
        connections.watch(|connection: &Connection| {
            let (reason, is_failed) = match &connection.verdict {
                Verdict::Allowed => return,
                Verdict::Denied(reason) => (reason, false),
                Verdict::Failed(reason) => (reason, true),
            };
            let place = format!("{}:{}", connection.host, connection.port);
            if does_without.contains(&place.as_str()) || !self.unreached.is_news(job.index, &place)
            {
                return;
            }
            let place = &on_one_line(&secrets::mask(&place).text);
            let notice = match (is_failed, connection.host.is_empty()) {
                (_, true) => Notice::Unasked { executor, reason },
                (true, false) => Notice::Failed {
                    executor,
                    place,
                    reason,
                },
                (false, false) => Notice::Unreached {
                    executor,
                    place,
                    reason,
                },
            };
            self.watch.notice(job.index, notice);
        });
        if let Some(places) = self.unreached.more(job.index) {
            let notice = Notice::UnreachedBesides { executor, places };
            self.watch.notice(job.index, notice);
        }
    }

    fn ask_within(
        &self,
        job: &Job<'_>,
        request: &Request,
        surroundings: &ExecutionEnvironment,
        heard: &mut dyn FnMut(Sign<'_>),
    ) -> Result<ExecutorAnswer, Stop> {
        if let Err(error) = self.health.check(job.executor, surroundings) {
            // What lasts, such as a key that is not there, says itself what helps.
            let lasts = matches!(&error, HandshakeFault::Run(error) if !error.may_pass());
            let why = if lasts {
                format!(": {}", one_line(&error))
            } else {
                String::new()
            };
            return Err(Failure {
                code: error.code(),
                message: format!(
                    "executor `{}` did not pass its health check{why}",
                    job.executor.id
                ),
                details: Some(one_line(&error)),
                kept_answer: None,
                kept_part: None,
                kept_at: None,
                resets_in: None,
                citations: None,
                is_final: lasts,
                spares_executor: false,
                tokens: 0,
            }
            .into());
        }
        let first = runner::run(job.executor, request, surroundings, heard);
        let error = match first {
            Ok(answer) => {
                return Ok(ExecutorAnswer {
                    answer,
                    whole: None,
                    tokens_before: 0,
                });
            }
            Err(error) => error,
        };
        self.charge(error.spent())?;
        let Some((bytes, long)) = too_long(&error) else {
            return Err(self.stop(&error, None, 0));
        };
        let kept = self.keep(long)?;
        if self.rules.asks_once {
            return Err(self.stop(&error, Some(kept), 0));
        }
        if let Some(bound) = self.means.budget.take_spawn()? {
            return Err(Stop::OverBudget(bound));
        }
        let why = format!("its answer has {bytes} bytes (limit: {LONGEST_SUMMARY})");
        self.watch.notice(job.index, Notice::SentBack(&why));
        let shorter = request.shorter(bytes);
        match runner::run(job.executor, &shorter, surroundings, heard) {
            Ok(answer) => Ok(ExecutorAnswer {
                answer,
                whole: Some(json!({"sha256": kept, "summary_bytes": bytes})),
                tokens_before: long.tokens_used,
            }),
            Err(error) => {
                self.charge(error.spent())?;
                let kept = match too_long(&error) {
                    None => None,
                    Some((_, answer)) => Some(self.keep(answer)?),
                };
                Err(self.stop(&error, kept, long.tokens_used))
            }
        }
    }

    /// `tokens_before` were used for an answer that was too long.
    fn stop(&self, error: &RunError, kept_answer: Option<Checksum>, tokens_before: u64) -> Stop {
        if self.means.cancel.is_cancelled() {
            return Stop::Cancelled;
        }
        let partial = error.partial();
        let kept_part = match partial.map(|text| self.keep_text(text)).transpose() {
            Ok(kept) => kept,
            Err(stop) => return stop,
        };
        Failure {
            code: error.code(),
            message: one_line(error),
            details: error.complaint().map(str::to_owned),
            kept_answer,
            kept_at: kept_part.as_ref().and_then(|hash| self.file_of(hash)),
            kept_part,
            resets_in: self.wait_after(error),
            citations: None,
            // One that was asked for a shorter answer and gave none is not asked for one more.
            is_final: kept_answer.is_some() || !error.may_pass(),
            spares_executor: error.spares_executor(),
            tokens: tokens_before.saturating_add(error.spent().tokens),
        }
        .into()
    }

    /// Returns the file in which a text is kept, from the tree's root where it is below it.
    fn file_of(&self, hash: &Checksum) -> Option<PathBuf> {
        let file = self.means.answers.file(hash)?;
        let root = &self.means.surroundings.root;
        Some(file.strip_prefix(root).map(Path::to_owned).unwrap_or(file))
    }

    /// Returns how long after a failure the limit is lifted that it met.
    fn wait_after(&self, error: &RunError) -> Option<Duration> {
        let surroundings = self.means.surroundings;
        let zone =
            |name: Option<&str>| time_zone(&surroundings.disk, &surroundings.environment, name);
        wait_until_reset(error.resets()?, self.means.clock.now(), &zone)
    }

    /// Keeps what a whole answer says by its hash, so that refusing it loses nothing.
    pub(super) fn keep(&self, answer: &Answer) -> Result<Checksum, Stop> {
        self.keep_text(&answer.summary)
    }

    pub(super) fn keep_text(&self, text: &str) -> Result<Checksum, Stop> {
        let masked = secrets::mask(text).text;
        Ok(self.means.answers.put(masked.as_bytes())?)
    }
}

/// Says that a try was not made because the system gave no thread for it.
pub(super) fn no_thread(error: &std::io::Error) -> String {
    format!("not started: cannot create a thread: {error}")
}

/// Watch on connections that ends on drop, with any result of the try.
struct Watched<'a>(&'a Connections);

impl Drop for Watched<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// The length and the whole of an answer that failed for its length alone.
fn too_long(error: &RunError) -> Option<(usize, &Answer)> {
    match error {
        RunError::Answer { source, .. } => match &**source {
            AnswerError::TooLong { bytes, answer } => Some((*bytes, answer)),
            _ => None,
        },
        _ => None,
    }
}
