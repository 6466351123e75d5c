//! [`generate`]: session files in the formats of five clients, with the shapes of real ones; `opencode` has those of the fifth.
//!
//! Of each session some lines are messages and tool calls, which are turns of the index; the others are results of tools, token
//! counts and attachments, which are most of the bytes, as in real files. Words have the frequencies of Zipf's law.

use std::{fmt::Write as _, fs, path::Path};

use serde_json::{Value, json};

use super::opencode::Database;

/// Turns of a session, on average.
const TURNS: usize = 60;

/// Words that messages are made of.
const WORDS: usize = 30_000;

/// Syllables of generated words.
const SYLLABLES: [&str; 24] = [
    "ra", "to", "mi", "lek", "son", "ver", "qua", "dil", "pe", "nor", "sha", "tri", "gul", "fen",
    "bor", "ci", "ust", "om", "pla", "wen", "kri", "zol", "hab", "dux",
];

/// Random numbers from a seed (xorshift64*).
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed | 1)
    }

    pub(super) fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let number = self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33;
        usize::try_from(number).unwrap_or(0) % end.max(1)
    }

    /// Returns the rank of a word, low ranks more often, as Zipf's law has it.
    fn rank(&mut self) -> usize {
        let share = self.below(1 << 20) as f64 / f64::from(1 << 20);
        ((WORDS as f64).powf(share) as usize).min(WORDS - 1)
    }
}

/// Returns a word by its rank; every 40th is a name of code.
pub(super) fn word(rank: usize) -> String {
    let mut word = String::new();
    let mut rest = rank + 7;
    while rest > 0 {
        word.push_str(SYLLABLES[rest % SYLLABLES.len()]);
        rest /= SYLLABLES.len();
    }
    match rank % 40 {
        13 => format!("{word}_{}", SYLLABLES[rank % 23]),
        29 => format!("get{}{}", word[..1].to_uppercase(), &word[1..]),
        31 => format!("src/{word}/mod.rs"),
        _ => word,
    }
}

pub(super) fn message(random: &mut Random, words: usize) -> String {
    let mut text = String::new();
    for at in 0..words {
        if at > 0 {
            text.push(if at % 17 == 0 { '\n' } else { ' ' });
        }
        text.push_str(&word(random.rank()));
    }
    text
}

/// Returns a command that searches for a word.
pub(super) fn command(random: &mut Random) -> String {
    format!("rg -n {} src", word(random.rank()))
}

/// Writes sessions with about so many turns into a home. Returns the number of turns and of bytes.
pub(super) fn generate(home: &Path, turns: usize) -> Result<(usize, u64), String> {
    let mut random = Random::new(41);
    let (mut made, mut bytes, mut session) = (0, 0, 0);
    let mut database = Database::create(home)?;
    while made < turns {
        let count = (TURNS / 2 + random.below(TURNS)).min(turns - made);
        if session % 20 == 19 {
            let project = project_of(session);
            database.add(&mut random, (session, &project), count)?;
        } else {
            bytes += write(home, &one(&mut random, session, count))?;
        }
        made += count;
        session += 1;
    }
    Ok((made, bytes + database.end()?))
}

/// Writes a file; returns the number of its bytes.
fn write(home: &Path, file: &File) -> Result<u64, String> {
    let path = home.join(&file.path);
    let folder = path.parent().unwrap_or(home);
    fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    fs::write(&path, &file.text).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(file.text.len() as u64)
}

/// Returns the folder that a session ran in.
fn project_of(session: usize) -> String {
    format!("/home/ana/src/project{}", session % 37)
}

/// A session file.
struct File {
    path: String,
    text: String,
}

fn one(random: &mut Random, session: usize, turns: usize) -> File {
    let id = format!("{:08x}-0000-4000-8000-{:012x}", session * 7919, session);
    let project = project_of(session);
    let mut text = String::new();
    let folder = project.replace('/', "-");
    let day = format!("{:02}", 1 + session % 28);
    let month = format!("{:02}", 1 + session / 28 % 11);
    let path = match session % 20 {
        0..10 => format!(".claude/projects/{folder}/{id}.jsonl"),
        10..16 => format!(
            ".codex/sessions/2026/{month}/{day}/rollout-2026-{month}-{day}T10-00-00-{id}.jsonl"
        ),
        16..18 => format!(
            ".gemini/tmp/project{}/chats/session-2026-{month}-{day}T10-00-{}.jsonl",
            session % 37,
            &id[..8]
        ),
        _ => format!(".qwen/projects/{folder}/chats/{id}.jsonl"),
    };
    if path.starts_with(".codex") {
        push(
            &mut text,
            &json!({ "timestamp": at(0), "type": "session_meta", "payload": { "id": id, "cwd": project } }),
        );
    } else if path.starts_with(".gemini") {
        push(
            &mut text,
            &json!({ "sessionId": id, "projectHash": "h", "kind": "main", "directories": [project] }),
        );
    }
    for turn in 0..turns {
        let line = turn_of(random, &path, (&id, &project), turn);
        push(&mut text, &line);
        for other in noise(random, &path, (&id, &project), turn) {
            push(&mut text, &other);
        }
    }
    File { path, text }
}

fn push(text: &mut String, line: &Value) {
    let _ = writeln!(text, "{line}");
}

fn at(turn: usize) -> String {
    format!("2026-03-01T{:02}:{:02}:00Z", turn / 60 % 24, turn % 60)
}

/// Returns the line of a turn: a message of the user, of the model, or a tool call.
fn turn_of(random: &mut Random, path: &str, (id, project): (&str, &str), turn: usize) -> Value {
    let key = format!("{id}-{turn}");
    let (is_user, is_call) = (turn.is_multiple_of(4), turn % 4 == 2);
    let words = if is_user {
        8 + random.below(40)
    } else {
        20 + random.below(120)
    };
    let message = message(random, words);
    let command = command(random);
    if path.starts_with(".claude") {
        let role = if is_user { "user" } else { "assistant" };
        let content = if is_call {
            json!([{ "type": "tool_use", "id": key, "name": "Bash", "input": { "command": command, "description": "Search" } }])
        } else {
            json!([{ "type": "text", "text": message }])
        };
        return json!({
            "parentUuid": null, "isSidechain": false, "type": role, "uuid": key, "sessionId": id, "cwd": project, "timestamp": at(turn),
            "version": "2.1.330", "gitBranch": "main", "message": { "role": role, "content": content, "model": "m" },
        });
    }
    if path.starts_with(".codex") {
        let payload = if is_call {
            json!({ "type": "function_call", "id": key, "name": "exec_command", "call_id": key, "arguments": json!({ "cmd": command }).to_string() })
        } else {
            json!({
                "type": "message", "id": key, "role": if is_user { "user" } else { "assistant" },
                "content": [{ "type": if is_user { "input_text" } else { "output_text" }, "text": message }],
            })
        };
        return json!({ "timestamp": at(turn), "ordinal": turn, "type": "response_item", "payload": payload });
    }
    if path.starts_with(".gemini") {
        return if is_user {
            json!({ "id": key, "timestamp": at(turn), "type": "user", "content": [{ "text": message }] })
        } else {
            json!({ "id": key, "timestamp": at(turn), "type": "gemini", "content": message, "model": "m", "tokens": { "input": 1, "output": 2 } })
        };
    }
    json!({
        "uuid": key, "sessionId": id, "timestamp": at(turn), "cwd": project, "type": if is_user { "user" } else { "assistant" },
        "message": { "role": if is_user { "user" } else { "model" }, "parts": [{ "text": message }] },
    })
}

/// Returns the lines that are no turns: results of tools, token counts, attachments, and the copies of messages in Codex.
fn noise(random: &mut Random, path: &str, (id, project): (&str, &str), turn: usize) -> Vec<Value> {
    if turn % 4 != 2 {
        return Vec::new();
    }
    let words = 100 + random.below(700);
    let result = message(random, words);
    if path.starts_with(".claude") {
        return vec![
            json!({
                "type": "user", "uuid": format!("{id}-r{turn}"), "sessionId": id, "cwd": project, "timestamp": at(turn),
                "message": { "role": "user", "content": [{ "type": "tool_result", "tool_use_id": format!("{id}-{turn}"), "content": result, "is_error": false }] },
                "toolUseResult": { "stdout": result, "stderr": "", "interrupted": false },
            }),
            json!({ "type": "attachment", "uuid": format!("{id}-a{turn}"), "sessionId": id, "attachment": { "type": "date", "date": "2026-03-01" } }),
        ];
    }
    if path.starts_with(".codex") {
        return vec![
            json!({ "timestamp": at(turn), "type": "response_item", "payload": { "type": "function_call_output", "call_id": format!("{id}-{turn}"), "output": format!("Process exited with code 0\n{result}") } }),
            json!({ "timestamp": at(turn), "type": "event_msg", "payload": { "type": "token_count", "info": { "total_token_usage": { "input_tokens": 10, "output_tokens": 2 } } } }),
        ];
    }
    Vec::new()
}
