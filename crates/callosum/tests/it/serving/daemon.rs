//! A daemon of a test's own, on ports that the system chooses, and a client that says exactly what
//! it is told to.

use std::{
    collections::BTreeMap,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    time::Duration,
};

use callosum_testkit::TestEnv;
use serde_json::Value;

/// How long an answer may take on a machine that is busy.
const PATIENCE: Duration = Duration::from_secs(90);

/// A daemon that serves; killed when this is dropped.
pub(crate) struct Daemon<'a> {
    env: &'a TestEnv,
    pub(super) serving: Value,
}

impl<'a> Daemon<'a> {
    /// One that serves all.
    pub(crate) fn start(env: &'a TestEnv) -> Self {
        Self::with(env, &["--rate", "1000000"])
    }

    /// One that was started with these options as well.
    pub(crate) fn with(env: &'a TestEnv, options: &[&str]) -> Self {
        let mut arguments = vec!["serve", "--detach", "--json"];
        for usual in ["--events", "--bus", "--metrics"] {
            if !options.contains(&usual) {
                arguments.extend([usual, "127.0.0.1:0"]);
            }
        }
        let started = env.run(arguments.iter().chain(options));
        Self {
            env,
            serving: started.success().json(),
        }
    }

    /// One that was started already, and said this.
    pub(super) fn of(env: &'a TestEnv, serving: Value) -> Self {
        Self { env, serving }
    }

    /// An address that it serves at.
    pub(super) fn at(&self, what: &str) -> &str {
        self.serving[what].as_str().unwrap()
    }

    pub(super) fn pid(&self) -> u64 {
        self.serving["pid"].as_u64().unwrap()
    }

    /// Sends it a signal.
    pub(super) fn signal(&self, name: &str) {
        let arguments = [format!("-{name}"), self.pid().to_string()];
        self.env.program("kill".into()).arguments(arguments).run();
    }

    /// Whether its process is there.
    pub(super) fn is_there(&self) -> bool {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.pid()));
        // One that has ended and was not waited for yet counts as gone.
        stat.is_ok_and(|stat| !stat.contains(") Z "))
    }

    /// Waits until its process is gone.
    pub(super) fn wait_until_gone(&self) {
        let began = std::time::Instant::now();
        while self.is_there() {
            assert!(began.elapsed() < PATIENCE, "it does not end");
            std::thread::yield_now();
        }
    }

    /// Hands events in.
    pub(super) fn post(&self, query: &str, body: &str) -> Answer {
        post(self.at("events"), query, body)
    }

    pub(crate) fn get(&self, what: &str, path: &str) -> Answer {
        ask(
            self.at(what),
            &format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"),
        )
    }

    /// Begins to listen.
    pub(super) fn stream(&self, query: &str, headers: &str) -> Stream {
        Stream::open(self.at("events"), query, headers)
    }
}

impl Drop for Daemon<'_> {
    fn drop(&mut self) {
        // The number may be another's by now.
        let name = std::fs::read_to_string(format!("/proc/{}/comm", self.pid()));
        if name.is_ok_and(|name| name.trim() == "callosum") {
            self.signal("KILL");
        }
    }
}

pub(super) fn post(address: &str, query: &str, body: &str) -> Answer {
    let length = body.len();
    ask(
        address,
        &format!(
            "POST /events{query} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
             Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
        ),
    )
}

/// Says something, and hears all of the answer.
pub(super) fn ask(address: &str, request: &str) -> Answer {
    try_ask(address, request).unwrap()
}

/// The same, where it may fail: as when the daemon is killed meanwhile.
pub(super) fn try_ask(address: &str, request: &str) -> std::io::Result<Answer> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.write_all(request.as_bytes())?;
    let mut text = Vec::new();
    stream.read_to_end(&mut text)?;
    let text = String::from_utf8_lossy(&text).into_owned();
    let broken = || std::io::Error::from(std::io::ErrorKind::UnexpectedEof);
    let (head, body) = text.split_once("\r\n\r\n").ok_or_else(broken)?;
    let mut lines = head.lines();
    let status = lines
        .next()
        .and_then(|line| line.split(' ').nth(1)?.parse().ok());
    let headers = lines.filter_map(|line| line.split_once(": "));
    let headers: BTreeMap<_, _> = headers
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let length = headers
        .get("content-length")
        .and_then(|length| length.parse().ok());
    if length.is_some_and(|length: usize| length != body.len()) {
        return Err(broken());
    }
    let is_chunked = headers
        .get("transfer-encoding")
        .is_some_and(|coding| coding == "chunked");
    let body = if is_chunked {
        joined(body).ok_or_else(broken)?
    } else {
        body.to_owned()
    };
    Ok(Answer {
        status: status.ok_or_else(broken)?,
        headers,
        body,
    })
}

/// The chunks of a body; `None` where its end is missing.
fn joined(mut chunks: &str) -> Option<String> {
    let mut body = String::new();
    loop {
        let (length, rest) = chunks.split_once("\r\n")?;
        let length = usize::from_str_radix(length, 16).ok()?;
        if length == 0 {
            return Some(body);
        }
        body.push_str(rest.get(..length)?);
        chunks = rest.get(length..)?.strip_prefix("\r\n")?;
    }
}

/// What was answered.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(super) status: u16,
    pub(super) headers: BTreeMap<String, String>,
    pub(crate) body: String,
}

impl Answer {
    /// The same, if it has this status.
    pub(crate) fn with(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{self:?}");
        self
    }

    pub(super) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

/// Server-sent events, as they come.
pub(super) struct Stream(BufReader<TcpStream>);

/// One of them.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Told {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) data: String,
}

impl Stream {
    pub(super) fn open(address: &str, query: &str, headers: &str) -> Self {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let request =
            // As it is, without the sizes of chunks between.
            format!("GET /events/stream{query} HTTP/1.0\r\nHost: localhost\r\n{headers}\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        let mut reader = BufReader::new(stream);
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        assert!(line.contains(" 200 "), "{line}");
        Self(reader)
    }

    /// The next that has data.
    pub(super) fn next(&mut self) -> Told {
        let mut told = Told::default();
        loop {
            let mut line = String::new();
            assert!(self.0.read_line(&mut line).unwrap() > 0, "it ended");
            let line = line.trim_end();
            match line.split_once(": ") {
                Some(("id", id)) => id.clone_into(&mut told.id),
                Some(("event", name)) => name.clone_into(&mut told.name),
                Some(("data", data)) => data.clone_into(&mut told.data),
                _ if line.is_empty() && !told.data.is_empty() => return told,
                _ => {}
            }
        }
    }

    /// The number in the payload of the next event.
    pub(super) fn number(&mut self) -> u64 {
        let told = self.next();
        assert_eq!(told.name, "", "{told:?}");
        let event: Value = serde_json::from_str(&told.data).unwrap();
        event["payload"]["number"].as_u64().unwrap()
    }

    /// Whether it ends without anything more.
    pub(super) fn rest(mut self) -> String {
        let mut rest = String::new();
        self.0.read_to_string(&mut rest).unwrap();
        rest
    }
}

/// An event with a number.
pub(super) fn event(topic: &str, number: usize) -> String {
    format!(r#"{{"type":"{topic}","source":"codex","payload":{{"number":{number}}}}}"#)
}
