//! What Qwen Code writes: `--output-format stream-json`, or `json`, which is the same in one array.
//!
//! The events are Claude Code's; input tokens count with what came from the cache.

use serde_json::Value;

use super::{
    claude,
    hearing::{Hearing, Tokens, count, text},
};

pub(super) fn hear(hearing: &mut Hearing, event: &Value) {
    match text(event, &["type"]) {
        Some("system") => claude::system(hearing, event),
        Some("assistant") => claude::message(hearing, event),
        Some("result") => {
            claude::end(hearing, event);
            hearing.tokens = event.get("usage").map(|usage| Tokens {
                input: count(usage, &["input_tokens"]),
                cached: count(usage, &["cache_read_input_tokens"]),
                output: count(usage, &["output_tokens"]),
            });
        }
        _ => {}
    }
}
