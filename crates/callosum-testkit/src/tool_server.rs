//! [`ToolServer`]: a server of the Model Context Protocol on loopback, over HTTP.
//!
//! Its tool `ask` answers after a word of progress, `stall` gives that word and never answers. It
//! speaks the lifecycle with `server/discover`, or the older one with sessions, and may want a key.

use std::{
    io::{self, BufReader, Read as _},
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::Duration,
};

use serde_json::{Value, json};

use crate::model::http::{self, Request};

/// Text of the answer.
const CITED: &str = "It adds: `mod sum;` [src/main.rs:3].";

/// The name of the one session.
const SESSION: &str = "a-session-whose-name-is-rather-longer-than-those-of-most-other-servers-are";

/// Behavior of a server.
#[derive(Clone, Copy, Debug, Default)]
pub struct ServerBehavior {
    /// Whether it knows only the lifecycle with `initialize`, and its sessions.
    pub legacy: bool,
    /// The key that it wants.
    pub key: Option<&'static str>,
}

/// A server that listens until the test's process ends.
#[derive(Debug)]
pub struct ToolServer {
    address: SocketAddr,
    heard: Arc<Mutex<Vec<Value>>>,
}

impl ToolServer {
    /// Listens on a free port of loopback.
    pub fn start(manners: ServerBehavior) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port is free");
        let address = listener.local_addr().expect("it listens");
        let heard = Arc::new(Mutex::new(Vec::new()));
        let ours = Arc::clone(&heard);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let heard = Arc::clone(&ours);
                // A client that goes away in the middle is the client's affair.
                thread::spawn(move || serve(&client, manners, &heard).ok());
            }
        });
        Self { address, heard }
    }

    /// Returns its URL.
    pub fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    /// The messages that it got, in the order in which they came.
    pub fn heard(&self) -> Vec<Value> {
        let heard = self.heard.lock();
        heard.unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn serve(client: &TcpStream, manners: ServerBehavior, heard: &Mutex<Vec<Value>>) -> io::Result<()> {
    let mut to = client;
    let request = Request::read(&mut BufReader::new(client), || Ok(()))?;
    let Some(request) = request else {
        return Ok(());
    };
    let wanted = manners.key.map(|key| format!("Bearer {key}"));
    if request.header("authorization") != wanted.as_deref() {
        let body = json!({"error": "invalid_token", "error_description": "no such key"});
        return http::answer(&mut to, 401, &[], body.to_string().as_bytes());
    }
    if request.method != "POST" {
        return http::answer(&mut to, 405, &[], b"");
    }
    let message: Value = serde_json::from_slice(&request.body)?;
    let method = message["method"].as_str().unwrap_or_default().to_owned();
    let all = heard.lock();
    all.unwrap_or_else(PoisonError::into_inner)
        .push(message.clone());
    let has_session = request.header("mcp-session-id") == Some(SESSION);
    if manners.legacy && method != "initialize" && !has_session {
        return http::answer(&mut to, 400, &[], b"Bad Request: no session");
    }
    let id = &message["id"];
    if id.is_null() {
        return http::answer(&mut to, 202, &[], b"");
    }
    let answer = |result: Value| json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string();
    let result = match method.as_str() {
        "server/discover" => json!({
            "resultType": "complete", "supportedVersions": ["2026-07-28"],
            "capabilities": {"tools": {}}, "ttlMs": 0, "cacheScope": "private",
            "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "remote", "version": "2.5.0"}},
        }),
        "initialize" => json!({
            "protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
            "serverInfo": {"name": "remote", "version": "1.5.0"},
        }),
        "tools/list" => {
            let schema = json!({"type": "object", "properties": {"prompt": {"type": "string"}},
                "required": ["prompt"]});
            let tools = ["ask", "stall"].map(|name| json!({"name": name, "inputSchema": schema}));
            json!({"resultType": "complete", "tools": tools, "ttlMs": 0, "cacheScope": "private"})
        }
        "tools/call" => {
            http::begin_stream(&mut to, "text/event-stream")?;
            let params = &message["params"];
            let progress = json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": {
                "progressToken": params["_meta"]["progressToken"], "progress": 0, "message": "step 0",
            }});
            let event = |message: &str| format!("event: message\ndata: {message}\n\n");
            http::stream(&mut to, &[event(&progress.to_string())], Duration::ZERO)?;
            if params["name"] == "stall" {
                // Returns when the client has gone.
                return to.read(&mut [0]).map(drop);
            }
            let result =
                json!({"resultType": "complete", "content": [{"type": "text", "text": CITED}]});
            http::stream(&mut to, &[event(&answer(result))], Duration::ZERO)?;
            return http::end_stream(&mut to);
        }
        _ => {
            let error = json!({"code": -32601, "message": "Method not found"});
            let body = json!({"jsonrpc": "2.0", "id": id, "error": error});
            return http::answer(&mut to, 200, &[], body.to_string().as_bytes());
        }
    };
    let session = ("mcp-session-id", SESSION.to_owned());
    let headers = if manners.legacy { &[session][..] } else { &[] };
    http::answer(&mut to, 200, headers, answer(result).as_bytes())
}
