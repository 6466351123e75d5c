//! [`ask`]: runs a client once and converts its output to an answer.

use std::{
    ffi::OsString,
    time::{Duration, Instant},
};

use callosum_citation::tokens;
use callosum_host::{
    disk::Scratch,
    process::{Cancel, Ending},
};
use serde_json::{Map, Value, json};

use super::{
    classify_error::ErrorText,
    client_error::ClientError,
    events::Events,
    inner_sandbox,
    limit_wait::{LONGEST_CLIENT_WAIT, LimitWait},
    name::Dialect,
    pending_tools::OpenTools,
    stall_detection::{OFTEN, until_stalled},
    stream_state::{ParsedOutput, StreamState},
};
use crate::{
    client::Client,
    protocol::{Answer, LONGEST_SUMMARY, Request, parse_answer},
    registry::{Capabilities, Executor},
    runner::{
        ExecutionEnvironment, Listener, RunError, Sign, SpawnSpec, Timeouts, hear_out, own_folder,
    },
    sanitize::{fit_line, fit_shortly},
    stderr_summary::without_everyday,
    template::{Filling, Template},
};

/// Longest silence of a client whose entry sets none: a model may think for a minute before its
/// first word.
pub const DIALECT_QUIET: Duration = Duration::from_mins(2);

/// Longest time in all of a client whose entry sets none.
pub const DIALECT_TOTAL: Duration = Duration::from_mins(15);

/// Most bytes on a client's standard output: what its tools read is in it, too.
pub const LARGEST_STREAM: usize = 64 * 1024 * 1024;

/// Longest text of an answer that is looked at, in bytes.
const LONGEST_TEXT: usize = 4 * 1024 * 1024;

/// Number of a client's last lines that are searched for the reason of its silence.
const LAST_LINES: usize = 8;

/// Longest line about a client's activity, in bytes.
pub(crate) const LONGEST_DOING: usize = 100;

/// Runs a client once and judges its answer.
pub(crate) fn ask(
    dialect: Dialect,
    executor: &Executor,
    request: &Request,
    surroundings: &ExecutionEnvironment,
    heard: &mut dyn FnMut(Sign<'_>),
) -> Result<Answer, RunError> {
    let prompt = request.spoken_plainly();
    let temporary = own_folder(executor, surroundings)?;
    let errand = errand(dialect, executor, &prompt, surroundings, &temporary)?;
    let patience = patience(executor, surroundings.patience);
    let mut ear = OutputListener::new(dialect);
    ear.limit_wait = LimitWait::new(surroundings.client_wait);
    ear.open_tools = OpenTools::reporting_to(surroundings.connections.pulse());
    let no_thread = |source| RunError::Thread {
        executor: executor.id.clone(),
        source,
    };
    let ended = until_stalled(surroundings, no_thread, |surroundings, end| {
        ear.end = Some(end);
        hear_out(
            executor,
            errand,
            surroundings,
            &temporary,
            patience,
            &mut ear,
            heard,
        )
    });
    let ended = match ended {
        Ok(ended) => ended,
        Err(error) => {
            return Err(with_cause(
                dialect,
                executor,
                &surroundings.environment,
                ear,
                error,
            ));
        }
    };
    let complaint = ended.complaint;
    let mut hearing = ear.finish(&ended.error);
    hearing.hold_against(Client::of(dialect), surroundings.transcript.take());
    if matches!(ended.ending, Ending::Exited(0)) {
        hearing.take_plain_answer();
    }
    let partial = hearing.text.clone();
    let unread = hearing.unread.clone();
    let spent = hearing.spent();
    let client_failed = |fault: ClientError| RunError::Client {
        executor: executor.id.clone(),
        advice: fault.advice(executor, Client::of(dialect), &surroundings.environment),
        complaint: complaint.clone(),
        // Where it failed otherwise, its last text may be the complaint itself.
        partial: [
            (is_of_an_answer(&fault), &partial),
            (is_unread(&fault), &unread),
        ]
        .into_iter()
        .find(|(may_be, text)| *may_be && !text.trim().is_empty())
        .map(|(_, text)| text.clone()),
        spent: Box::new(spent),
        fault: Box::new(fault),
    };
    let reported = hearing
        .conclude(ended.ending, &complaint)
        .map_err(client_failed)?;
    let bytes = as_answer(
        dialect.as_str(),
        tokens::estimate(&prompt),
        reported,
        Map::new(),
    );
    parse_answer(&bytes, Capabilities::default()).map_err(|source| RunError::Answer {
        executor: executor.id.clone(),
        source: Box::new(source),
        complaint,
        unread: None,
    })
}

/// Whether a client's text before such a failure may be part of an answer.
fn is_of_an_answer(fault: &ClientError) -> bool {
    matches!(
        fault,
        ClientError::CutStream { .. } | ClientError::NotInForm { .. }
    )
}

/// Whether what a client wrote besides its events may be the answer that it paid for, when it failed like this.
fn is_unread(fault: &ClientError) -> bool {
    matches!(
        fault,
        ClientError::NoAnswer { .. } | ClientError::Ended { .. } | ClientError::CutStream { .. }
    )
}

/// Replaces the error of a client that took too long, or made no progress, by the cause that it had
/// reported: a refusal by its server, which it waits for, is no timeout.
fn with_cause(
    dialect: Dialect,
    executor: &Executor,
    environment: &[(OsString, OsString)],
    ear: OutputListener,
    error: RunError,
) -> RunError {
    let (complaint, partial) = match &error {
        RunError::Quiet {
            complaint, partial, ..
        }
        | RunError::Deadline {
            complaint, partial, ..
        } => (complaint.as_str(), partial.clone()),
        RunError::Cancelled { .. } if ear.hearing.stalls >= OFTEN => ("", ear.partial()),
        _ => return error,
    };
    let is_stalled = matches!(error, RunError::Cancelled { .. });
    let hearing = ear.finish(&[]);
    let spent = hearing.spent();
    if let Some(complaint) = hearing.failure.as_ref().filter(|_| is_stalled) {
        let fault = complaint.classify();
        return RunError::Client {
            executor: executor.id.clone(),
            advice: fault.advice(executor, Client::of(dialect), environment),
            complaint: String::new(),
            partial: partial.filter(|_| is_of_an_answer(&fault)),
            spent: Box::new(spent),
            fault: Box::new(fault),
        };
    }
    // Some say it on standard error alone, line by line.
    let kept = without_everyday(complaint);
    let messages = hearing.warning.iter().map(String::as_str);
    let faults = messages
        .chain(kept.lines().rev())
        .map(|words| ErrorText::words(words).classify());
    let named = |fault: &ClientError| !matches!(fault, ClientError::Other { .. });
    let Some(fault) = faults.take(LAST_LINES).find(named) else {
        return error;
    };
    let waits_for_its_server = matches!(
        fault,
        ClientError::NotLoggedIn { .. }
            | ClientError::RateLimited { .. }
            | ClientError::Overloaded { .. }
            | ClientError::Unreachable { .. }
    );
    if !waits_for_its_server {
        return error;
    }
    RunError::Client {
        executor: executor.id.clone(),
        advice: fault.advice(executor, Client::of(dialect), environment),
        complaint: complaint.to_owned(),
        partial,
        spent: Box::new(spent),
        fault: Box::new(fault),
    }
}

/// Returns the time limits of a client. The common quiet time applies if it is the longer one: it
/// is made for programs that answer at once.
fn patience(executor: &Executor, common: Timeouts) -> Timeouts {
    Timeouts {
        quiet: executor.quiet().unwrap_or(common.quiet.max(DIALECT_QUIET)),
        total: executor.total().or(common.total).or(Some(DIALECT_TOTAL)),
    }
}

fn errand(
    dialect: Dialect,
    executor: &Executor,
    prompt: &str,
    surroundings: &ExecutionEnvironment,
    temporary: &Scratch,
) -> Result<SpawnSpec, RunError> {
    let template = Template::parse_for_client(&executor.command_template)?;
    let schema = schema().to_string();
    let schema_file = temporary.path().join("answer.schema.json");
    if template.takes_schema_file() {
        surroundings
            .disk
            .replace(&schema_file, schema.as_bytes(), 0o600)
            .map_err(|source| RunError::Temporary {
                executor: executor.id.clone(),
                source,
            })?;
    }
    let mut command = template.fill_for_client(&Filling {
        self_program: &surroundings.self_program,
        prompt,
        schema: &schema,
        schema_file: &schema_file,
    })?;
    let client = Client::of(dialect);
    if let Some(client) = client {
        let reached = surroundings.reach(executor);
        inner_sandbox::leave_to_us(client, reached.as_ref(), &mut command.arguments);
    }
    Ok(SpawnSpec {
        input: if template.takes_prompt() {
            Vec::new()
        } else {
            prompt.as_bytes().to_vec()
        },
        passed: client.map_or(&[], |client| client.passed),
        set: client.map_or(&[], |client| client.set),
        output_bytes: LARGEST_STREAM,
        ..SpawnSpec::plain(command)
    })
}

/// The form of an answer, for clients that hold their model to one.
fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "summary": {
                "type": "string",
                "description": format!(
                    "The summary in Markdown with its citations, at most {LONGEST_SUMMARY} bytes"
                ),
            },
        },
        "required": ["summary"],
        "additionalProperties": false,
    })
}

/// Listens to a client's standard output.
pub(super) struct OutputListener {
    dialect: Dialect,
    events: Events,
    hearing: StreamState,
    /// Bytes of an answer at the last report.
    reported: usize,
    /// Output that is the answer itself.
    plain: Vec<u8>,
    /// Ends a client that makes no progress.
    end: Option<Cancel>,
    open_tools: OpenTools,
    limit_wait: LimitWait,
}

impl OutputListener {
    pub(super) fn new(dialect: Dialect) -> Self {
        Self {
            dialect,
            events: Events::default(),
            hearing: StreamState::default(),
            reported: 0,
            plain: Vec::new(),
            end: None,
            open_tools: OpenTools::default(),
            limit_wait: LimitWait::new(LONGEST_CLIENT_WAIT),
        }
    }

    /// Returns the bytes of the answer so far; other output of a client does not count.
    fn answered(&self) -> usize {
        match self.dialect {
            Dialect::Text => self.plain.len(),
            _ => self.hearing.text.len().max(self.hearing.streamed),
        }
    }

    /// Has the client ended that waits too long for a limit.
    fn give_up(&mut self, complaint: Option<ErrorText>) {
        if let Some(complaint) = complaint {
            self.hearing.failure = Some(complaint);
            self.hearing.stalls = OFTEN;
        }
        if self.hearing.stalls >= OFTEN
            && let Some(end) = self.end.take()
        {
            end.cancel();
        }
    }

    /// Concludes the output; some clients write their last message to standard error.
    pub(super) fn finish(mut self, error: &[u8]) -> StreamState {
        let (dialect, hearing) = (self.dialect, &mut self.hearing);
        if dialect == Dialect::Text {
            hearing.text = String::from_utf8_lossy(&self.plain).into_owned();
            hearing.finished = true;
            return self.hearing;
        }
        self.events
            .finish(&mut |event| hearing.take(dialect, event));
        if dialect == Dialect::Gemini && !hearing.finished && hearing.failure.is_none() {
            let mut complaints = Events::default();
            complaints.push(error, &mut |event| hearing.take(dialect, event));
            complaints.finish(&mut |event| hearing.take(dialect, event));
        }
        hearing.unread = String::from_utf8_lossy(self.events.unread()).into_owned();
        self.hearing
    }
}

impl Listener for OutputListener {
    fn hear(&mut self, bytes: &[u8], heard: &mut dyn FnMut(Sign<'_>)) {
        if self.dialect == Dialect::Text {
            let room = LONGEST_TEXT.saturating_sub(self.plain.len());
            self.plain
                .extend_from_slice(&bytes[..bytes.len().min(room)]);
        } else {
            let (dialect, hearing) = (self.dialect, &mut self.hearing);
            self.events
                .push(bytes, &mut |event| hearing.take(dialect, event));
        }
        let refusal = self.hearing.limit.take();
        let complaint = match &refusal {
            Some((words, wait)) => self.limit_wait.refuse(words, *wait, Instant::now()),
            None if self.hearing.doing.is_some() || self.answered() > self.reported => {
                self.limit_wait.goes_on(Instant::now());
                None
            }
            None => None,
        };
        self.give_up(complaint);
        self.open_tools.hear(self.hearing.tools.open());
        for words in self.hearing.tools.take() {
            heard(Sign::Tool(&words));
        }
        if let Some(doing) = self.hearing.doing.take() {
            let line = fit_line(&doing, LONGEST_DOING);
            heard(Sign::Doing(&line));
            return;
        }
        let bytes = self.answered();
        if bytes > 0 && bytes != self.reported {
            heard(Sign::Answering { bytes });
        }
        self.reported = bytes;
    }

    fn hear_error(&mut self, line: &str) {
        let complaint = self.limit_wait.hear(line, Instant::now());
        self.give_up(complaint);
    }

    /// Returns the text of the last message; of plain text, all of it.
    fn partial(&self) -> Option<String> {
        let text = match self.dialect {
            Dialect::Text => String::from_utf8_lossy(&self.plain),
            _ => self.hearing.text.as_str().into(),
        };
        (!text.trim().is_empty()).then(|| text.into_owned())
    }
}

/// Returns the answer in the seed's form, as it is checked and stored. `asked` is the estimated
/// number of tokens of the prompt, in case the client did not count.
pub(crate) fn as_answer(
    client: &str,
    asked: u64,
    heard: ParsedOutput,
    mut metadata: Map<String, Value>,
) -> Vec<u8> {
    let mut put = |key: &str, value: Value| metadata.insert(key.to_owned(), value);
    let tokens_used = if let Some(counted) = heard.hearing.tokens {
        put("token_method", format!("reported by {client}").into());
        put(
            "tokens",
            json!({"input": counted.input, "cached": counted.cached, "output": counted.output}),
        );
        counted.used()
    } else {
        put("token_method", tokens::METHOD.into());
        asked.saturating_add(tokens::estimate(&heard.summary))
    };
    put("client", client.into());
    for (key, value) in [
        ("model", heard.hearing.model),
        ("client_session", heard.hearing.session),
    ] {
        if let Some(value) = value {
            put(key, fit_shortly(&value).into());
        }
    }
    if let Some(cost) = heard.hearing.cost_usd {
        put("cost_usd", cost.into());
    }
    let answer = json!({
        "status": "success",
        "summary": heard.summary,
        "tokens_used": tokens_used,
        "metadata": metadata,
    });
    answer.to_string().into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Only the answer is reported as one, and not the output around it.
    #[test]
    fn only_an_answer_is_counted_as_one() {
        let mut ear = OutputListener::new(Dialect::Claude);
        let mut reported = Vec::new();
        let part = |event: Value| json!({"type": "stream_event", "event": event, "parent_tool_use_id": null});
        let words = |words: &str| {
            part(
                json!({"type": "content_block_delta", "delta": {"type": "text_delta", "text": words}}),
            )
        };
        for event in [
            json!({"type": "system", "subtype": "init", "model": "m", "tools": ["Read", "Bash"]}),
            part(json!({"type": "message_start"})),
            part(
                json!({"type": "content_block_start", "content_block": {"type": "text", "text": ""}}),
            ),
            words("It "),
            part(json!({"type": "ping"})),
            words("adds."),
            part(json!({"type": "message_start"})),
            part(
                json!({"type": "content_block_start", "content_block": {"type": "tool_use", "name": "Read"}}),
            ),
            part(
                json!({"type": "content_block_delta", "delta": {"type": "input_json_delta", "partial_json": "{}"}}),
            ),
            part(
                json!({"type": "content_block_start", "content_block": {"type": "tool_use", "name": "StructuredOutput"}}),
            ),
            part(
                json!({"type": "content_block_delta", "delta": {"type": "input_json_delta", "partial_json": "{\"summary\""}}),
            ),
        ] {
            ear.hear(format!("{event}\n").as_bytes(), &mut |sign| match sign {
                Sign::Answering { bytes } => reported.push(bytes),
                other => panic!("{other:?}"),
            });
        }
        assert_eq!(reported, [3, 8, 10]);
        // Parts come again as a whole, and are no answer by themselves.
        assert_eq!(ear.partial(), None);
    }

    /// CAL-ERR-2: a client that waits for a server which refuses it is reported as refused, not as
    /// slow.
    #[test]
    fn a_silence_has_the_cause_that_was_reported_before_it() {
        let executor = Executor::cli("codex", "codex exec");
        let after = |message: &str| {
            let mut ear = OutputListener::new(Dialect::Codex);
            let event = json!({"type": "error", "message": message});
            ear.hear(format!("{event}\n").as_bytes(), &mut |_| {});
            let silence = RunError::Quiet {
                executor: "codex".to_owned(),
                after: DIALECT_QUIET,
                cause: None,
                complaint: String::new(),
                partial: None,
            };
            with_cause(Dialect::Codex, &executor, &[], ear, silence).to_string()
        };
        let limited =
            after("Reconnecting... 1/5 (exceeded retry limit, last status: 429 Too Many Requests)");
        assert!(limited.contains("has reached its rate limit"), "{limited}");
        let silence = RunError::Quiet {
            executor: "qwen".to_owned(),
            after: DIALECT_QUIET,
            cause: None,
            complaint:
                "Attempt 3 failed with status 503. Retrying\nRetrying in 240s (attempt 3/10)"
                    .to_owned(),
            partial: None,
        };
        let reported = with_cause(
            Dialect::Qwen,
            &executor,
            &[],
            OutputListener::new(Dialect::Qwen),
            silence,
        );
        assert!(reported.to_string().contains("overloaded"), "{reported}");
        let mut ear = OutputListener::new(Dialect::Codex);
        for event in [
            json!({"type": "error", "message": "Reconnecting... 1/5 (429 Too Many Requests)"}),
            json!({"type": "item.started", "item": {"type": "command_execution", "command": "ls"}}),
        ] {
            ear.hear(format!("{event}\n").as_bytes(), &mut |_| {});
        }
        assert_eq!(ear.finish(&[]).warning, None);
        let refused = after("Reconnecting... 1/5 (unexpected status 401 Unauthorized: no key)");
        assert!(refused.contains("is not logged in"), "{refused}");
        let mut ear = OutputListener::new(Dialect::Codex);
        let end = Cancel::new().unwrap();
        ear.end = Some(end.clone());
        let event = json!({"type": "error", "message": "Reconnecting... waiting for network (Connection failed)"});
        for _ in 1..OFTEN {
            ear.hear(format!("{event}\n").as_bytes(), &mut |_| {});
            assert!(!end.is_cancelled());
        }
        ear.hear(format!("{event}\n").as_bytes(), &mut |_| {});
        assert!(end.is_cancelled());
        let executor_id = executor.id.clone();
        let cancelled = RunError::Cancelled {
            executor: executor_id,
        };
        let reported = with_cause(Dialect::Codex, &executor, &[], ear, cancelled).to_string();
        assert!(reported.contains("cannot reach its server"), "{reported}");
        let mut ear = OutputListener::new(Dialect::Opencode);
        let end = Cancel::new().unwrap();
        ear.end = Some(end.clone());
        for event in [
            json!({"type": "text", "part": {"text": "Half of it"}}),
            json!({"type": "step_finish", "part": {"reason": "tool-calls", "tokens": {"input": 3}}}),
            json!({"type": "step_finish", "part": {"reason": "unknown"}}),
        ] {
            assert!(!end.is_cancelled());
            ear.hear(format!("{event}\n").as_bytes(), &mut |_| {});
        }
        assert!(end.is_cancelled(), "each further step would be paid for");
        let cancelled = RunError::Cancelled {
            executor: executor.id.clone(),
        };
        let reported = with_cause(Dialect::Opencode, &executor, &[], ear, cancelled);
        let RunError::Client { partial, spent, .. } = &reported else {
            panic!("{reported}");
        };
        assert_eq!(partial.as_deref(), Some("Half of it"));
        assert_eq!(spent.tokens, 3);
        assert!(
            reported.to_string().contains("with the reason `unknown`"),
            "{reported}"
        );
        let other = after("Under-development features are on");
        assert!(other.contains("was silent"), "{other}");
    }
}
