//! [`ModelServer`]: the thread that listens, and one for each client that asks.

use std::{
    collections::HashMap,
    io::{self, BufReader, Write},
    net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use serde::Serialize;
use serde_json::{Value, json};

use super::{
    asked::Chosen,
    dialect::{Dialect, Reply},
    http::{self, Request},
    script::{ScriptTurn, Usage},
};

/// Default behavior of a server without a script.
#[derive(Clone, Debug)]
pub struct Options {
    /// The port; 0 is any that is free.
    pub port: u16,
    /// Answer to a prompt without a script.
    pub fallback: String,
    /// Whether a request that offers no tools is an agent's own side call (a title, a summary),
    /// and is answered without its script. To be left off for clients that never offer tools.
    pub side_calls: bool,
    /// The models that are listed.
    pub models: Vec<String>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            port: 0,
            fallback: "ok".to_owned(),
            side_calls: false,
            models: vec!["scripted-model".to_owned()],
        }
    }
}

/// A request that was received, and its answer.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ReceivedRequest {
    /// Its number, the first being 1.
    pub number: u64,
    /// `GET` or `POST`.
    pub method: String,
    /// The path, with its query.
    pub path: String,
    /// The headers but those that carry a key.
    pub headers: Vec<(String, String)>,
    /// Whether a key came with it.
    pub authorized: bool,
    /// The model that was asked.
    pub model: String,
    /// Whether a stream was asked for.
    pub streamed: bool,
    /// The tools that were offered.
    pub tools: Vec<String>,
    /// The turn of a script that was played.
    pub turn: Option<usize>,
    /// The status that was answered.
    pub status: u16,
    /// The request's body.
    #[serde(skip)]
    pub body: Value,
}

/// A model server on loopback, for as long as it lives.
#[derive(Debug)]
pub struct ModelServer {
    address: SocketAddr,
    state: Arc<State>,
    listener: Option<thread::JoinHandle<()>>,
}

type Watch = Box<dyn Fn(&ReceivedRequest) + Send + Sync>;

type Replies = Box<dyn Fn(&Prompt<'_>) -> Option<ScriptTurn> + Send + Sync>;

/// A request as a function sees it that answers it.
#[derive(Debug)]
pub struct Prompt<'a> {
    /// The text of all messages that are not the model's own.
    pub text: &'a str,
    /// Number of messages that are the model's own.
    pub answers: usize,
    /// The tools that are offered.
    pub tools: &'a [String],
}

struct State {
    options: Options,
    ended: AtomicBool,
    heard: Mutex<Vec<ReceivedRequest>>,
    /// Number of requests so far for each turn of a message.
    served: Mutex<HashMap<(String, usize), u32>>,
    /// Called for every request, once its answer is known.
    watch: Option<Watch>,
    /// Answers a prompt before any script does.
    replies: Option<Replies>,
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("State").finish_non_exhaustive()
    }
}

impl ModelServer {
    /// Listens on a free port of loopback.
    pub fn start() -> Self {
        Self::with(Options::default()).expect("a port of loopback is free")
    }

    /// Listens as the options say.
    pub fn with(options: Options) -> io::Result<Self> {
        Self::listen(options, None, None)
    }

    /// Returns the same server, which answers the text of a request's messages by `replies` if that
    /// has a turn for it.
    pub fn replying(
        options: Options,
        replies: impl Fn(&str) -> Option<ScriptTurn> + Send + Sync + 'static,
    ) -> io::Result<Self> {
        Self::replying_to(options, move |prompt| replies(prompt.text))
    }

    /// The same, for answers that depend on what else a request has.
    pub fn replying_to(
        options: Options,
        replies: impl Fn(&Prompt<'_>) -> Option<ScriptTurn> + Send + Sync + 'static,
    ) -> io::Result<Self> {
        Self::listen(options, None, Some(Box::new(replies)))
    }

    /// The same, with `watch` called for every request.
    pub fn watched(
        options: Options,
        watch: impl Fn(&ReceivedRequest) + Send + Sync + 'static,
    ) -> io::Result<Self> {
        Self::listen(options, Some(Box::new(watch)), None)
    }

    fn listen(
        options: Options,
        watch: Option<Watch>,
        replies: Option<Replies>,
    ) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, options.port))?;
        let address = listener.local_addr()?;
        let state = Arc::new(State {
            options,
            ended: AtomicBool::new(false),
            heard: Mutex::default(),
            served: Mutex::default(),
            watch,
            replies,
        });
        let listener = {
            let state = Arc::clone(&state);
            thread::spawn(move || accept(&listener, &state))
        };
        Ok(Self {
            address,
            state,
            listener: Some(listener),
        })
    }

    /// The address, as `http://127.0.0.1:PORT`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Every request so far, in the order in which they came.
    pub fn heard(&self) -> Vec<ReceivedRequest> {
        locked(&self.state.heard).clone()
    }

    /// Listens until the process ends.
    pub fn stay(mut self) {
        if let Some(listener) = self.listener.take() {
            drop(listener.join());
        }
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        let Some(listener) = self.listener.take() else {
            return;
        };
        self.state.ended.store(true, Ordering::SeqCst);
        // The listener waits for a client; this is the last one.
        if TcpStream::connect(self.address).is_ok() {
            drop(listener.join());
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn accept(listener: &TcpListener, state: &Arc<State>) {
    for client in listener.incoming() {
        if state.ended.load(Ordering::SeqCst) {
            return;
        }
        let Ok(client) = client else { continue };
        let state = Arc::clone(state);
        // A client that goes away in the middle is the client's affair.
        thread::spawn(move || state.serve(&client).ok());
    }
}

impl State {
    fn serve(&self, client: &TcpStream) -> io::Result<()> {
        client.set_nodelay(true)?;
        let mut to = client;
        let request = Request::read(&mut BufReader::new(client), || {
            to.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")
        })?;
        let Some(request) = request else {
            return Ok(());
        };
        let Some(dialect) = Dialect::at(&request.path).filter(|_| request.method == "POST") else {
            let (status, body) = self.about(&request);
            self.note(&request, Value::Null, |heard| heard.status = status);
            let body = body.to_string();
            let body = if request.method == "HEAD" { "" } else { &body };
            return http::answer(&mut to, status, &[], body.as_bytes());
        };
        let refuse = |words: String| {
            self.note(&request, Value::Null, |heard| heard.status = 400);
            let body = json!({"error": {"message": words, "type": "invalid_request_error"}});
            http::answer(&mut &*client, 400, &[], body.to_string().as_bytes())
        };
        let body: Value = match serde_json::from_slice(&request.body) {
            Ok(body) => body,
            Err(error) => return refuse(format!("the body: {error}")),
        };
        let asked = dialect.read(&request.path, &body);
        let replies = self.replies.as_ref();
        let (text, answers) = (asked.text(), asked.answers());
        let prompt = Prompt {
            text: &text,
            answers,
            tools: &asked.tools,
        };
        let chosen = match replies.and_then(|replies| replies(&prompt)) {
            Some(turn) => Ok(Chosen { turn, played: None }),
            None => asked.choose(&self.options.fallback, self.options.side_calls),
        };
        let Chosen { turn, played } = match chosen {
            Ok(chosen) => chosen,
            Err(words) => return refuse(words),
        };
        let number = played.as_ref().map(|(number, _)| *number);
        let mut turn = turn.at_attempt(played.map_or(1, |key| self.count(key)));
        turn.text = turn.text.repeat(turn.repeat.unwrap_or(1));
        let refusal = turn
            .fault
            .map(|fault| dialect.refusal(fault, turn.status, &turn.text));
        let sequence = self.note(&request, body.clone(), |heard| {
            heard.model.clone_from(&asked.model);
            heard.streamed = asked.streamed;
            heard.tools.clone_from(&asked.tools);
            heard.turn = number;
            heard.status = refusal.as_ref().map_or(200, |(status, _)| *status);
        });
        thread::sleep(turn.delay());
        if let Some((status, body)) = refusal {
            let wait = turn
                .retry_after
                .map(|wait| ("retry-after", wait.to_string()));
            let headers: Vec<_> = wait.into_iter().collect();
            return http::answer(&mut to, status, &headers, body.to_string().as_bytes());
        }
        if let Some(page) = &turn.raw {
            return http::answer(&mut to, 200, &[], page.as_bytes());
        }
        let reply = Reply {
            body: &body,
            model: &asked.model,
            usage: turn.usage.unwrap_or_else(|| usual(&request.body, &turn)),
            turn: &turn,
            number: sequence,
        };
        if asked.streamed {
            play(client, dialect, &reply)
        } else {
            thread::sleep(turn.stall());
            if turn.cut {
                return client.shutdown(Shutdown::Both);
            }
            let body = dialect.whole(&reply).to_string();
            http::answer(&mut to, 200, &[], body.as_bytes())
        }
    }

    /// Counts the requests for this turn, this one included.
    fn count(&self, (number, message): (usize, String)) -> u32 {
        let mut served = locked(&self.served);
        let count = served.entry((message, number)).or_default();
        *count += 1;
        *count
    }

    /// Keeps a request, and returns its number.
    fn note(&self, request: &Request, body: Value, fill: impl FnOnce(&mut ReceivedRequest)) -> u64 {
        let is_key = |name: &str| matches!(name, "authorization" | "x-api-key" | "x-goog-api-key");
        let (keys, headers): (Vec<_>, Vec<_>) = request
            .headers
            .iter()
            .cloned()
            .partition(|(name, _)| is_key(name));
        let mut heard = ReceivedRequest {
            method: request.method.clone(),
            path: request.path.clone(),
            headers,
            authorized: !keys.is_empty(),
            body,
            ..ReceivedRequest::default()
        };
        fill(&mut heard);
        let mut all = locked(&self.heard);
        heard.number = all.len() as u64 + 1;
        if let Some(watch) = &self.watch {
            watch(&heard);
        }
        let number = heard.number;
        all.push(heard);
        number
    }

    /// Answers the other requests: available models, length of a prompt.
    fn about(&self, request: &Request) -> (u16, Value) {
        let path = request.path.split('?').next().unwrap_or_default();
        let tokens = request.body.len() / 4;
        if path.ends_with("/count_tokens") {
            return (200, json!({"input_tokens": tokens}));
        }
        if path.ends_with(":countTokens") {
            return (200, json!({"totalTokens": tokens}));
        }
        let models = &self.options.models;
        match path {
            "/" => (200, json!({"status": "ok"})),
            "/api/version" => (200, json!({"version": "0.0.0"})),
            "/api/tags" => {
                let models = models
                    .iter()
                    .map(|name| json!({"name": name, "model": name}));
                (200, json!({"models": models.collect::<Vec<_>>()}))
            }
            _ if path.ends_with("/models") => {
                let models = models
                    .iter()
                    .map(|id| json!({"id": id, "object": "model", "owned_by": "script"}));
                (
                    200,
                    json!({"object": "list", "data": models.collect::<Vec<_>>()}),
                )
            }
            _ => {
                let error = json!({"type": "not_found_error", "message": "not found"});
                (404, json!({"type": "error", "error": error}))
            }
        }
    }
}

/// Streams an answer, and falls silent or closes in the middle if the turn says so.
fn play(client: &TcpStream, dialect: Dialect, reply: &Reply<'_>) -> io::Result<()> {
    let mut to = client;
    let events = dialect.events(reply);
    http::begin_stream(&mut to, dialect.stream_type())?;
    http::stream(&mut to, &events.head, reply.turn.drip())?;
    thread::sleep(reply.turn.stall());
    if reply.turn.cut {
        return client.shutdown(Shutdown::Both);
    }
    http::stream(&mut to, &events.tail, reply.turn.drip())?;
    http::end_stream(&mut to)
}

/// Four bytes to a token, which is close enough for tokens without a price.
fn usual(request: &[u8], turn: &ScriptTurn) -> Usage {
    let calls = turn.calls.iter();
    let called: usize = calls.map(|call| call.input.to_string().len()).sum();
    Usage {
        input: request.len() as u64 / 4,
        output: (turn.text.len() + called) as u64 / 4 + 1,
        cached: 0,
    }
}
