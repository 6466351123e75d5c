//! [`ask`]: has an executor asked by a process of ours, and makes an answer of what that tells.

use callosum_host::process::Ending;
use serde_json::{Map, Value};

use super::{
    cancel::CancelNotice,
    event::Event,
    job::{Job, Limits, Want},
    name::Transport,
    strip_reasoning::{OPEN, answer_in},
    tool_call::ToolAnswer,
};
use crate::{
    client::Client,
    output_format::{
        self, CUT_OFF, ClientError, DIALECT_QUIET, DIALECT_TOTAL, ErrorText, Events,
        LARGEST_STREAM, LONGEST_DOING, OpenTools, Reset, StreamState, Tokens,
    },
    protocol::{Answer, Request, Spent, parse_answer},
    registry::{Capabilities, Executor},
    runner::{
        Ended, ExecutionEnvironment, LARGEST_ANSWER, Listener, RunError, Sign, SpawnSpec, Timeouts,
        cause_of, hear_out, judge_ending, listen, own_folder,
    },
    sanitize::fit_line,
    server_tool::ServerTool,
    stderr_summary::{NOTHING_TELLING, without_everyday},
    template::{Command, Template},
};
use callosum_sandbox::Level;

/// Bytes of an agent's last output that are reported.
const LONGEST_SAID: usize = 300;

/// Bytes that are reported of the reason for a wait for a server.
const LONGEST_WAITING: usize = 240;

/// Bytes that are reported of a line that is no message.
const LONGEST_ODD_LINE: usize = 120;

/// Variables that name the certificates that a machine trusts.
const CERTIFICATES: [&str; 2] = ["SSL_CERT_FILE", "SSL_CERT_DIR"];

/// Has an executor asked once and judges its answer.
pub(crate) fn ask(
    transport: Transport,
    executor: &Executor,
    request: &Request,
    surroundings: &ExecutionEnvironment,
    heard: &mut dyn FnMut(Sign<'_>),
) -> Result<Answer, RunError> {
    let patience = Timeouts {
        quiet: executor
            .quiet()
            .unwrap_or(surroundings.patience.quiet.max(DIALECT_QUIET)),
        total: executor
            .total()
            .or(surroundings.patience.total)
            .or(Some(DIALECT_TOTAL)),
    };
    let want = Want::Answer(request.clone());
    let result = have_asked(transport, want, executor, surroundings, patience, heard)?;
    let complaint = result.complaint;
    let mut hearing = result.hearing;
    let transcript = surroundings.transcript.take();
    if transcript.is_some() && result.unended {
        let words = "it continued after its answer and never reported why it had stopped";
        hearing
            .failure
            .get_or_insert_with(|| ErrorText::of_kind(CUT_OFF, words));
    }
    hearing.hold_against(Client::behind(executor), transcript);
    let partial = result.partial;
    let spent = hearing.spent();
    match answer_in(&hearing.text) {
        Some(answer) => {
            let thoughts = hearing.text.len() - answer.len();
            hearing.text.drain(..thoughts);
        }
        None if hearing.finished => {
            let words = "its reasoning, which began with `<think>`, does not end";
            let unended = || ErrorText::of_kind(CUT_OFF, words);
            hearing.failure.get_or_insert_with(unended);
        }
        None => hearing.text.clear(),
    }
    let answer = hearing
        .conclude(result.ending, &complaint)
        .map_err(|fault| {
            let cut = matches!(fault, ClientError::CutStream { .. });
            let partial = partial.filter(|_| cut);
            failed(executor, surroundings, fault, &complaint, (partial, spent))
        })?;
    let mut metadata = Map::new();
    if !result.shown.is_empty() {
        metadata.insert("shown".to_owned(), Value::Object(result.shown));
    }
    let bytes =
        output_format::as_answer(transport.as_str(), result.prompt_tokens, answer, metadata);
    parse_answer(&bytes, Capabilities::default()).map_err(|source| RunError::Answer {
        executor: executor.id.clone(),
        source: Box::new(source),
        complaint,
        unread: None,
    })
}

/// Result of a look at the server, without a request for an answer.
#[derive(Debug)]
pub(crate) struct ServerOffer {
    /// The server's version, if it reports one.
    pub(crate) version: Option<String>,
    /// The names of its models or tools.
    pub(crate) offers: Vec<String>,
    /// The tools of a tool server.
    pub(crate) tools: Vec<ServerTool>,
}

/// Reports of one job.
pub(crate) struct JobResult {
    /// State of the answer.
    pub(crate) hearing: StreamState,
    /// Text of an answer so far, whole or not.
    pub(crate) partial: Option<String>,
    /// The result of a look at the server.
    pub(crate) found: Option<ServerOffer>,
    /// Whether a tool was being called.
    pub(crate) begun: bool,
    /// The answer of a tool that was called.
    pub(crate) called: Option<ToolAnswer>,
    /// Tokens of the prompt, by estimate.
    pub(crate) prompt_tokens: u64,
    /// Parts of the tree that the model was shown.
    pub(crate) shown: Map<String, Value>,
    /// Whether the agent went on after its input had ended.
    pub(crate) unended: bool,
    /// The way in which the process ended.
    pub(crate) ending: Ending,
    /// The end of its standard error.
    pub(crate) complaint: String,
    /// The time that it took.
    pub(crate) elapsed: std::time::Duration,
}

/// Has a job done by a process of ours.
pub(crate) fn have_asked(
    transport: Transport,
    want: Want,
    executor: &Executor,
    surroundings: &ExecutionEnvironment,
    patience: Timeouts,
    heard: &mut dyn FnMut(Sign<'_>),
) -> Result<JobResult, RunError> {
    if !transport.is_built_in() {
        return Err(RunError::NotBuilt {
            executor: executor.id.clone(),
            feature: transport.as_str(),
        });
    }
    let template = Template::parse(&executor.command_template)?;
    let mut job = Job::of(transport, want, executor, surroundings.root.clone());
    job.limits = Limits::of(patience, surroundings.waits);
    let level = surroundings.reach(executor).map(|reached| reached.level);
    job.must_ask = transport == Transport::Acp && level == Some(Level::None);
    let mut command = template.fill(&surroundings.self_program, "")?;
    if let Some(speaker) = transport.speaker() {
        // What is somewhere else is asked, not started.
        if !executor.is_remote() {
            job.command = Some((command.program.into(), command.arguments));
        }
        command = Command {
            program: surroundings.self_program.clone(),
            arguments: ["executor", "run", speaker].map(Into::into).into(),
        };
    }
    let temporary = own_folder(executor, surroundings)?;
    // A connection is its own farewell: it closes with the process.
    let farewell = transport
        .speaker()
        .and_then(|_| CancelNotice::open(temporary.path()));
    job.farewell = farewell.as_ref().map(|farewell| farewell.path.clone());
    let client = Client::behind(executor);
    let errand = SpawnSpec {
        input: job.to_bytes(),
        passed: &CERTIFICATES,
        set: client.map_or(&[], |client| client.set),
        output_bytes: LARGEST_STREAM,
        ..SpawnSpec::plain(command)
    };
    let mut given = executor.clone();
    given.pass_environment.extend(executor.api_key_env.clone());
    let passed = client.into_iter().flat_map(|client| client.passed);
    given
        .pass_environment
        .extend(passed.map(ToString::to_string));
    let mut ear = WorkerListener {
        open_tools: OpenTools::reporting_to(surroundings.connections.pulse()),
        ..WorkerListener::default()
    };
    let Some(farewell) = farewell else {
        let ended = hear_out(
            &given,
            errand,
            surroundings,
            &temporary,
            patience,
            &mut ear,
            heard,
        )?;
        return conclude_job(executor, ended, ear);
    };
    let run = |held: &ExecutionEnvironment, patience, heard: &mut dyn FnMut(Sign<'_>)| {
        listen(&given, errand, held, &temporary, patience, &mut ear, heard)
    };
    let no_thread = |source| RunError::Thread {
        executor: executor.id.clone(),
        source,
    };
    let (mut run, left_for) = farewell.attend(surroundings, patience, heard, no_thread, run)?;
    // What was whole by then is an answer.
    if let Some(why) = left_for.filter(|_| !ear.hearing.finished) {
        run.ending = why;
    }
    let ended = judge_ending(executor, run, patience, &ear)?;
    conclude_job(executor, ended, ear)
}

fn conclude_job(
    executor: &Executor,
    ended: Ended,
    mut ear: WorkerListener,
) -> Result<JobResult, RunError> {
    ear.finish();
    if ear.too_much {
        return Err(RunError::TooMuchOutput {
            executor: executor.id.clone(),
        });
    }
    Ok(JobResult {
        partial: ear.partial(),
        hearing: ear.hearing,
        found: ear.found,
        begun: ear.begun,
        called: ear.called,
        prompt_tokens: ear.prompt_tokens,
        shown: ear.shown,
        unended: ear.unended,
        ending: ended.ending,
        complaint: ended.complaint,
        elapsed: ended.elapsed,
    })
}

/// Returns the error with the reason why there is no answer.
pub(crate) fn failed(
    executor: &Executor,
    surroundings: &ExecutionEnvironment,
    fault: ClientError,
    complaint: &str,
    (partial, spent): (Option<String>, Spent),
) -> RunError {
    let fault = explained(fault, executor, complaint);
    let advice = match (&fault, &executor.api_key_env, &executor.endpoint) {
        (ClientError::NotLoggedIn { .. }, Some(variable), _) => {
            Some(format!("set the variable {variable} to a valid key"))
        }
        // What it asks, and where, stays as its entry says.
        (ClientError::NotLoggedIn { .. }, None, Some(_)) => Some(format!(
            "callosum executor register {} --api-key-env NAME",
            executor.id
        )),
        _ => fault.advice(
            executor,
            Client::behind(executor),
            &surroundings.environment,
        ),
    };
    RunError::Client {
        executor: executor.id.clone(),
        fault: Box::new(fault),
        advice,
        complaint: complaint.to_owned(),
        partial,
        spent: Box::new(spent),
    }
}

/// Returns the fault of an agent that ended, with its last output on standard error.
fn explained(fault: ClientError, executor: &Executor, complaint: &str) -> ClientError {
    match fault {
        ClientError::NotSpoken { words } if !complaint.trim().is_empty() => {
            let named = ErrorText::words(&without_everyday(complaint)).classify();
            if matches!(named, ClientError::NotLoggedIn { .. }) {
                return named;
            }
            let words = match cause_of(executor, complaint) {
                Some(cause) => format!("{words}; its output: {}", fit_line(&cause, LONGEST_SAID)),
                None => format!("{words}, and {NOTHING_TELLING}"),
            };
            ClientError::NotSpoken { words }
        }
        fault => fault,
    }
}

/// Listens to the process.
#[derive(Default)]
struct WorkerListener {
    events: Events,
    hearing: StreamState,
    found: Option<ServerOffer>,
    begun: bool,
    called: Option<ToolAnswer>,
    prompt_tokens: u64,
    shown: Map<String, Value>,
    waiting: Option<String>,
    odd: Option<String>,
    too_much: bool,
    unended: bool,
    open_tools: OpenTools,
    /// Bytes of the answer that were passed on.
    passed_on: usize,
}

impl Listener for WorkerListener {
    fn hear(&mut self, bytes: &[u8], heard: &mut dyn FnMut(Sign<'_>)) {
        let mut events = std::mem::take(&mut self.events);
        events.push(bytes, &mut |event| self.take(event));
        self.events = events;
        if let Some(what) = self.waiting.take() {
            heard(Sign::Waiting(&fit_line(&what, LONGEST_WAITING)));
        }
        self.open_tools.hear(self.hearing.tools.open());
        for words in self.hearing.tools.take() {
            heard(Sign::Tool(&words));
        }
        self.pass_on(heard);
        match self.hearing.doing.take() {
            Some(what) => heard(Sign::Doing(&fit_line(&what, LONGEST_DOING))),
            None => heard(Sign::Answering {
                bytes: self.hearing.text.len(),
            }),
        }
    }

    /// The text without the thoughts before it.
    fn partial(&self) -> Option<String> {
        let text = answer_in(&self.hearing.text)?.trim();
        (!text.is_empty()).then(|| text.to_owned())
    }

    fn remark(&self) -> Option<String> {
        let odd = self.odd.as_deref()?;
        let line = fit_line(odd, LONGEST_ODD_LINE);
        Some(format!("it wrote a line that is not a message: `{line}`"))
    }
}

impl WorkerListener {
    /// Passes the new part of the answer on. Thoughts before it are no part of it.
    fn pass_on(&mut self, heard: &mut dyn FnMut(Sign<'_>)) {
        let text = &self.hearing.text;
        if text.len() < self.passed_on {
            self.passed_on = 0;
            heard(Sign::Restarted);
        }
        let may_think = self.passed_on == 0 && text.trim_start().starts_with('<');
        let from = if may_think {
            // Until the first words show that they are no thought, nothing is known to be of the answer.
            let is_tag = OPEN.starts_with(text.trim());
            match answer_in(text).filter(|_| !is_tag) {
                Some(answer) => text.len() - answer.len(),
                None => return,
            }
        } else {
            self.passed_on
        };
        if from < text.len() {
            heard(Sign::Text(&text[from..]));
            self.passed_on = text.len();
        }
    }

    fn finish(&mut self) {
        let mut events = std::mem::take(&mut self.events);
        events.finish(&mut |event| self.take(event));
    }

    fn take(&mut self, event: &Value) {
        // What is no event of ours was written by something that the template started.
        let Ok(event) = serde_json::from_value::<Event>(event.clone()) else {
            return;
        };
        let hearing = &mut self.hearing;
        match event {
            // Resources are asked for by `read_resources` alone.
            Event::Life | Event::Resource { .. } => {}
            Event::Doing { what } => {
                hearing.tools.may_begin();
                hearing.doing = Some(what);
            }
            Event::Used { text } => hearing.tools.end(None, Some(&text.into())),
            Event::Odd { line } => self.odd = Some(line),
            Event::Waiting { what } => self.waiting = Some(what),
            Event::Given {
                prompt_tokens,
                shown,
            } => {
                self.prompt_tokens = prompt_tokens;
                self.shown = shown;
            }
            Event::Text { text } => {
                if hearing.text.len() + text.len() > LARGEST_ANSWER {
                    self.too_much = true;
                } else {
                    hearing.tools.none_is_used();
                    hearing.text.push_str(&text);
                }
            }
            Event::Anew => hearing.text.clear(),
            Event::Usage {
                input,
                cached,
                output,
            } => {
                hearing.tokens = Some(Tokens {
                    input,
                    cached,
                    output,
                });
            }
            Event::Cost { usd } => hearing.cost_usd = Some(usd),
            Event::Model { name } => hearing.model = Some(name),
            Event::Found {
                version,
                offers,
                tools,
            } => {
                self.found = Some(ServerOffer {
                    version,
                    offers,
                    tools,
                });
            }
            Event::Calling => self.begun = true,
            Event::Called {
                text,
                structured,
                is_error,
            } => {
                self.called = Some(ToolAnswer {
                    text,
                    structured,
                    is_error,
                });
            }
            Event::Done => hearing.finished = true,
            Event::TooMuch => self.too_much = true,
            Event::Unended => self.unended = true,
            Event::Failed {
                words,
                status,
                kind,
                resets,
            } => {
                hearing.failure = Some(ErrorText {
                    words,
                    status,
                    kind,
                    resets: resets.map(|words| Reset { words, after: None }),
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn heard(lines: &[Value]) -> WorkerListener {
        let mut ear = WorkerListener::default();
        for line in lines {
            let line = format!("{line}\n");
            for piece in line.as_bytes().chunks(7) {
                ear.hear(piece, &mut |_| {});
            }
        }
        ear.finish();
        ear
    }

    /// CAL-ERR-1: an answer is whole only once its end was reported.
    #[test]
    fn pieces_make_an_answer_once_its_end_was_reported() {
        let mut lines = vec![
            json!({"event": "life"}),
            json!({"event": "text", "text": "a"}),
            json!({"event": "text", "text": "b"}),
            json!({"event": "usage", "input": 5, "cached": 1, "output": 2}),
        ];
        let cut = heard(&lines).hearing.conclude(Ending::Exited(0), "");
        assert!(matches!(cut, Err(ClientError::CutStream { .. })));
        lines.push(json!({"event": "done"}));
        let whole = heard(&lines)
            .hearing
            .conclude(Ending::Exited(0), "")
            .unwrap();
        assert_eq!(whole.summary, "ab");
        assert_eq!(whole.hearing.tokens.unwrap().used(), 7);
    }

    /// CCOS-MOD-1: pieces are passed on as they come, without the thoughts before the answer.
    #[test]
    fn pieces_of_an_answer_are_passed_on_as_they_come() {
        let pieces = |texts: &[&str]| {
            let (mut ear, mut passed) = (WorkerListener::default(), Vec::new());
            for text in texts {
                let event = match *text {
                    "AGAIN" => json!({"event": "anew"}),
                    text => json!({"event": "text", "text": text}),
                };
                ear.hear(format!("{event}\n").as_bytes(), &mut |sign| match sign {
                    Sign::Text(text) => passed.push(text.to_owned()),
                    Sign::Restarted => passed.push("AGAIN".to_owned()),
                    _ => {}
                });
            }
            passed
        };
        assert_eq!(pieces(&["a", "b", "<c"]), ["a", "b", "<c"]);
        assert_eq!(pieces(&["<th", "ink>hm", "</think>\na", "b"]), ["a", "b"]);
        assert_eq!(pieces(&["abc", "AGAIN", "d"]), ["abc", "AGAIN", "d"]);
    }

    /// CAL-ERR-1: more than an answer may have is E006, however it comes.
    #[test]
    fn an_answer_that_never_ends_is_too_much() {
        let piece = json!({"event": "text", "text": "x".repeat(1 << 20)});
        let ear = heard(&vec![piece; 5]);
        assert!(ear.too_much);
        assert!(ear.hearing.text.len() <= LARGEST_ANSWER);
    }
}
