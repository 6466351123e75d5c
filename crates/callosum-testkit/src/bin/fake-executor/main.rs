//! `fake-executor`: an executor that misbehaves on order.
//!
//! It takes the seed's JSON request on standard input, or a prompt after `-p`. `ping` and
//! `capabilities` are answered as they should be, so that it passes a health check; a task is met
//! with what the options say. Without options it answers with the prompt.
//!
//! ```text
//! --crash CODE            complain on standard error and exit with CODE
//! --abort                 end by a signal
//! --silent                say nothing, for ten minutes
//! --slow MS               answer, but only after MS milliseconds of silence
//! --chatty MS             the same, with a line on standard error every 20 ms
//! --empty                 exit well without a word
//! --garbage               answer in prose
//! --invalid-utf8          answer in bytes that are no text
//! --huge BYTES            answer in so many bytes
//! --error-status          answer that it failed, as the protocol says (seed CAL §6.4)
//! --wrong-checksum        answer with the checksum of something else
//! --malformed-checksum    answer with a checksum that is none
//! --no-checksum           have no `checksum_support`, and answer without
//! --long                  answer in 20,000 bytes; in fewer when asked for fewer
//! --always-long           answer in 20,000 bytes, whatever is asked
//! --env                   answer with the environment, a variable a line
//! --context               answer with the request's metadata
//! --litter                leave a file in TMPDIR, and answer with its path
//! --grandchild            answer, and leave a child that holds standard output for a minute
//! --leak TEXT             say TEXT on standard error before anything else
//! --fail-times N FILE     misbehave N times (by crashing, if nothing else is said), counted in
//!                         FILE, then answer with the prompt
//! --always                misbehave at `ping` and `capabilities` as well
//! ```

mod behaviour;
mod options;

use std::{
    io::{self, Read},
    process::ExitCode,
};

use serde_json::Value;

use self::{behaviour::Behaviour, options::Options};

/// The request, in either form.
struct Arguments {
    prompt: String,
    metadata: Value,
}

fn main() -> ExitCode {
    let options = match Options::read(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(fault) => {
            complain(&fault);
            return ExitCode::from(64);
        }
    };
    if let Some(words) = &options.leak {
        complain(words);
    }
    if options.behaviour == Behaviour::Hold {
        return behaviour::hold_for_a_minute();
    }
    let asked = match ask(options.prompt.clone()) {
        Ok(asked) => asked,
        Err(fault) => {
            complain(&fault);
            return ExitCode::from(65);
        }
    };
    let is_handshake = matches!(asked.prompt.as_str(), "ping" | "capabilities");
    if is_handshake && !options.always {
        return behaviour::shake_hands(&asked.prompt, options.behaviour != Behaviour::NoChecksum);
    }
    match options.count_failure() {
        Ok(true) => behaviour::behave(options.behaviour, &asked),
        Ok(false) => behaviour::behave(Behaviour::Echo, &asked),
        Err(fault) => {
            complain(&fault);
            ExitCode::from(66)
        }
    }
}

fn ask(prompt: Option<String>) -> Result<Arguments, String> {
    if let Some(prompt) = prompt {
        return Ok(Arguments {
            prompt,
            metadata: Value::Null,
        });
    }
    let mut bytes = Vec::new();
    io::stdin()
        .read_to_end(&mut bytes)
        .map_err(|error| error.to_string())?;
    let mut request: Value =
        serde_json::from_slice(&bytes).map_err(|error| format!("the request: {error}"))?;
    let prompt = request["prompt"]
        .as_str()
        .ok_or("the request has no prompt")?
        .to_owned();
    Ok(Arguments {
        prompt,
        metadata: request["metadata"].take(),
    })
}

#[expect(
    clippy::print_stderr,
    reason = "standard error is how an executor complains"
)]
fn complain(words: &str) {
    eprintln!("{words}");
}
