//! [`ClientError`]: reason why a client gave no answer, in one vocabulary for all of them.
//!
//! The rules that derive one from a client's words are in `classify_error`.

use std::ffi::OsString;

use callosum_host::process::Ending;
use callosum_ledger::ErrorCode;

use crate::{
    client::Client,
    registry::Executor,
    runner::{is_secret, passes},
    stderr_summary::NOTHING_TELLING,
};

/// Reason why a client gave no answer. All words are masked, cut short and harmless to a terminal.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ClientError {
    /// No one is logged in, or the login is not accepted.
    #[error("is not logged in: {words}")]
    NotLoggedIn {
        /// Its words.
        words: String,
    },
    /// Its limit is used up.
    #[error("has reached its rate limit{}: {words}", until(resets.as_deref()))]
    RateLimited {
        /// Its words.
        words: String,
        /// When the limit is lifted, in its words or as a time in UTC.
        resets: Option<String>,
    },
    /// The model's server is overloaded or away.
    #[error("reached an overloaded server{}: {words}", again(resets.as_deref()))]
    Overloaded {
        /// Its words.
        words: String,
        /// When it wants to be asked again, in its words.
        resets: Option<String>,
    },
    /// The prompt, with what the client adds to it, is longer than the model takes.
    #[error("rejected the prompt as too long: {words}")]
    PromptTooLong {
        /// Its words.
        words: String,
    },
    /// The answer broke off; the part before that is no answer.
    #[error("was cut off in the middle of its answer{}", after_colon(words))]
    CutStream {
        /// Its words, if any.
        words: String,
    },
    /// A hook, a policy or the model itself refused.
    #[error("refused: {words}")]
    Refused {
        /// Its words.
        words: String,
    },
    /// The model reports, in the requested form, that it cannot answer.
    #[error("reports that it cannot answer: {words}")]
    Declined {
        /// Its words.
        words: String,
    },
    /// Its text has not the requested form, and may be a part or a refusal.
    #[error("did not answer in the requested form: {words}")]
    NotInForm {
        /// Its words.
        words: String,
    },
    /// It ended well without an answer.
    #[error("exited successfully without an answer{}", after_colon(words))]
    NoAnswer {
        /// The line of its output that explains it, if any.
        words: String,
    },
    /// The model that it was to ask does not exist, or is not open to this login.
    #[error("does not have this model: {words}")]
    ModelNotFound {
        /// Its words.
        words: String,
    },
    /// It ended badly, for none of the reasons above.
    #[error("{}{}", ended(*ending), explained(words.as_deref()))]
    Ended {
        /// The way in which it ended.
        ending: Ending,
        /// Its words that explain it, if there are any.
        words: Option<String>,
    },
    /// Its server is not there.
    #[error("cannot reach its server: {words}")]
    Unreachable {
        /// The reason.
        words: String,
    },
    /// The program does not speak its protocol.
    #[error("does not speak its protocol: {words}")]
    NotSpoken {
        /// Its actual behavior.
        words: String,
    },
    /// It ended without an answer, having been refused a tool by us.
    #[error(
        "ended without an answer after it was refused a tool that needs a person's approval: \
        {tool}"
    )]
    ToolRefused {
        /// The tool, in its own words.
        tool: String,
    },
    /// It was not asked: nothing confines it, and it would not ask before it changes something.
    #[error("was not asked: it is not sandboxed and may write without asking ({words})")]
    WritesUnasked {
        /// The reason why it would not ask.
        words: String,
    },
    /// Its server answered something that is no answer.
    #[error("received an invalid answer from its server: {words}")]
    Unreadable {
        /// The problem.
        words: String,
    },
    /// It reports a failure, for none of the reasons above.
    #[error("failed: {words}")]
    Other {
        /// Its words.
        words: String,
    },
}

impl ClientError {
    /// The seed's code that comes nearest.
    ///
    /// A rate limit (429) and an overload are E002, answers that did not come in time; E001, a
    /// crash, is what ends without one of its own accord.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::NotLoggedIn { .. }
            | Self::Ended { .. }
            | Self::Unreachable { .. }
            | Self::NotSpoken { .. }
            | Self::ModelNotFound { .. }
            | Self::WritesUnasked { .. }
            | Self::Other { .. } => ErrorCode::ExecutorCrash,
            Self::RateLimited { .. } | Self::Overloaded { .. } => ErrorCode::Timeout,
            Self::PromptTooLong { .. }
            | Self::CutStream { .. }
            | Self::Refused { .. }
            | Self::Declined { .. }
            | Self::Unreadable { .. }
            | Self::ToolRefused { .. }
            | Self::NotInForm { .. }
            | Self::NoAnswer { .. } => ErrorCode::MalformedAnswer,
        }
    }

    /// Whether the same question may fare better within a minute.
    pub fn may_pass(&self) -> bool {
        match self {
            // Clients wait for a limit themselves, as long as that makes sense. Gemini CLI 0.61.0 gives up at once if the
            // server's 429 names no quota and no time.
            Self::RateLimited { words, resets } => {
                resets.is_none() && words.contains("wait and try again later")
            }
            Self::NotLoggedIn { .. }
            | Self::PromptTooLong { .. }
            | Self::Refused { .. }
            | Self::ToolRefused { .. }
            | Self::ModelNotFound { .. }
            | Self::WritesUnasked { .. }
            | Self::Declined { .. } => false,
            Self::Overloaded { .. }
            | Self::CutStream { .. }
            | Self::NotInForm { .. }
            | Self::NoAnswer { .. }
            | Self::Ended { .. }
            | Self::Unreachable { .. }
            | Self::NotSpoken { .. }
            | Self::Unreadable { .. }
            | Self::Other { .. } => true,
        }
    }

    /// Whether another request may fare well all the same: it is about this one's length or content, or lasts
    /// until a person logs in, who then need not wait.
    pub fn spares_executor(&self) -> bool {
        matches!(
            self,
            Self::NotLoggedIn { .. }
                | Self::PromptTooLong { .. }
                | Self::Refused { .. }
                | Self::Declined { .. }
                | Self::ToolRefused { .. }
                | Self::ModelNotFound { .. }
                | Self::WritesUnasked { .. }
        )
    }

    /// When its limit is lifted, in its own words, if it names a time.
    pub fn resets(&self) -> Option<&str> {
        match self {
            Self::RateLimited { resets, .. } | Self::Overloaded { resets, .. } => resets.as_deref(),
            _ => None,
        }
    }

    /// Returns what a person can do about it, if there is one thing; `environment` holds the
    /// variables that may be passed on.
    pub(crate) fn advice(
        &self,
        executor: &Executor,
        client: Option<&Client>,
        environment: &[(OsString, OsString)],
    ) -> Option<String> {
        let id = &executor.id;
        Some(match (self, client) {
            (Self::NotLoggedIn { words }, Some(client)) => {
                logging_in(executor, client, words, environment)
            }
            (Self::Unreachable { .. }, Some(_)) => {
                "check whether this machine is online; `callosum audit tail` lists each \
                 connection that was requested"
                    .to_owned()
            }
            (Self::RateLimited { .. } | Self::Overloaded { .. }, _) => {
                "try again later, or name another executor: --executor scout".to_owned()
            }
            (Self::PromptTooLong { .. }, _) => {
                format!("ask {id} for less, with --path or --kind")
            }
            (Self::ModelNotFound { .. }, Some(client)) => {
                format!(
                    "name a model that this login may use in ~/{}/{}",
                    client.home.folder, client.settings
                )
            }
            (Self::WritesUnasked { .. }, _) => {
                format!("callosum executor register {id} --sandbox best-effort")
            }
            (Self::ToolRefused { .. }, _) => {
                "ask for what it can find by reading files of the project".to_owned()
            }
            (Self::Refused { words }, Some(client))
                if client.hooks.is_some() && speaks_of_a_hook(words) =>
            {
                format!(
                    "check the hooks and rules in ~/{}/{} of {}",
                    client.home.folder, client.settings, client.program
                )
            }
            (Self::Refused { .. }, _) => {
                "rephrase the request, or name another executor: --executor scout".to_owned()
            }
            _ => return None,
        })
    }
}

/// Returns the way to log in to a client: with another key if the one that it has is refused, by a
/// key that is set and only has to be passed on, or else in the client's own way.
fn logging_in(
    executor: &Executor,
    client: &Client,
    words: &str,
    environment: &[(OsString, OsString)],
) -> String {
    let is_set = |name: &str| {
        let mut all = environment.iter();
        all.any(|(it, value)| it == name && !value.is_empty())
    };
    let is_passed = |name: &str| passes(name, &executor.pass_environment);
    // The rest of the entry stays as it is.
    let how = |name: &str| {
        let id = &executor.id;
        format!("callosum executor register {id} --pass-env {name}")
    };
    // What its settings look for goes before all that it would take otherwise.
    if let Some(name) = missing_variable(words) {
        return match (is_set(name), is_passed(name)) {
            (true, false) => format!("{name} is set here, but not passed to it: {}", how(name)),
            (false, false) => format!("{name} is neither set here nor passed to it: {}", how(name)),
            (_, true) => format!("set the variable {name} to a valid key"),
        };
    }
    let login = client.login.command;
    // It goes before a login, and may be of a server of one's own.
    let mut given = executor.pass_environment.iter();
    if let Some(name) = given.find(|name| is_set(name) && is_secret(name)) {
        return format!(
            "its server rejects the key in {name}, which is passed to it: set another key, or \
             unset it and {login}"
        );
    }
    if refuses_a_key(words) {
        return format!(
            "{login}; if its own settings contain a key, replace it: its server rejects that key"
        );
    }
    let mut variables = client.login.variables.iter();
    let Some(name) = variables.find(|name| is_set(name) && !is_passed(name)) else {
        return login.to_owned();
    };
    format!("{name} is set here, but not passed to it: {}", how(name))
}

/// Finds the variable that a client reports as missing, if it names one next to these words.
fn missing_variable(words: &str) -> Option<&str> {
    const SAYS: &str = "environment variable";
    const ANY: &str = "missing environment variable";
    let is_of_a_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let around = |c: char| c == ' ' || c == ':' || c == '`' || c == '\'' || c == '"';
    // Lowering ASCII alone leaves every offset where it was.
    let lower = words.to_ascii_lowercase();
    lower.match_indices(SAYS).find_map(|(at, phrase)| {
        let behind = words[at + phrase.len()..].trim_start_matches(around);
        let behind = behind.split(|c| !is_of_a_name(c)).next()?;
        let before = words[..at].trim_end_matches(around);
        let before = before.rsplit(|c| !is_of_a_name(c)).next()?;
        let may_be_any = lower[..at + phrase.len()].ends_with(ANY) && !behind.is_empty();
        let mut named = [before, behind].into_iter();
        named
            .find(|name| is_variable(name))
            .or(may_be_any.then_some(behind))
    })
}

/// Whether a word is a variable beyond doubt: `GEMINI_API_KEY`, and not `the` or `API`.
fn is_variable(word: &str) -> bool {
    let is_shouted = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    word.contains('_') && word.starts_with(|c: char| c != '_') && word.chars().all(is_shouted)
}

/// Whether a server rejects a key as invalid.
fn refuses_a_key(words: &str) -> bool {
    let lower = words.to_lowercase();
    [
        "invalid api key",
        "incorrect api key",
        "invalid x-api-key",
        "api key not valid",
        "invalid_api_key",
    ]
    .iter()
    .any(|phrase| lower.contains(phrase))
}

/// Whether what refused is a person's own: a hook, or a rule of theirs; and not the model or its provider.
fn speaks_of_a_hook(words: &str) -> bool {
    let lower = words.to_lowercase();
    ["hook", "execution blocked", "blocked by policy"]
        .iter()
        .any(|phrase| lower.contains(phrase))
}

fn until(resets: Option<&str>) -> String {
    resets
        .map(|when| format!(", which is lifted {when}"))
        .unwrap_or_default()
}

fn again(resets: Option<&str>) -> String {
    resets
        .map(|when| format!(" and answers again {when}"))
        .unwrap_or_default()
}

fn after_colon(words: &str) -> String {
    if words.is_empty() {
        String::new()
    } else {
        format!(": {words}")
    }
}

fn explained(words: Option<&str>) -> String {
    match words {
        Some(words) => after_colon(words),
        None => format!(", and {NOTHING_TELLING}"),
    }
}

fn ended(ending: Ending) -> String {
    match ending {
        Ending::Signalled(signal) => format!("was ended by signal {signal}"),
        Ending::Exited(code) => format!("ended with exit code {code}"),
        other => format!("ended: {other:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{discover::Known, output_format::Dialect};

    /// CAL-EXE-2: a variable that is missing is found by its name, on whichever side of it the words stand.
    #[test]
    fn a_missing_variable_is_found_next_to_the_words() {
        for (words, name) in [
            ("Missing environment variable: `own_key`.", Some("own_key")),
            (
                "you must specify the GEMINI_API_KEY environment variable.",
                Some("GEMINI_API_KEY"),
            ),
            (
                "Set settings.security.auth.apiKey, or set the 'OPENAI_API_KEY' environment variable.",
                Some("OPENAI_API_KEY"),
            ),
            (
                "Provide an API key, or set the environment variable 'OPENAI_API_KEY'.",
                Some("OPENAI_API_KEY"),
            ),
            (
                "Pass it using the 'apiKey' parameter or the MISTRAL_API_KEY environment variable.",
                Some("MISTRAL_API_KEY"),
            ),
            ("one of these environment variables: A_KEY, B_KEY", None),
            ("look at the environment variable that holds it", None),
            ("environment variable", None),
        ] {
            assert_eq!(missing_variable(words), name, "{words}");
        }
    }

    /// CAL-EXE-2: a key that is set and not passed on is what helps, and names its variable and not the key.
    #[test]
    fn a_key_that_is_not_passed_on_is_named() {
        let fault = ClientError::NotLoggedIn {
            words: String::new(),
        };
        let client = Client::of(Dialect::Gemini);
        let environment = [("GEMINI_API_KEY".into(), "secret".into())];
        let usual = Known::named("gemini").unwrap().entry();
        let advice = |executor: &Executor, environment: &[(OsString, OsString)]| {
            fault.advice(executor, client, environment).unwrap()
        };
        let line = "GEMINI_API_KEY is set here, but not passed to it: callosum executor register gemini \
                    --pass-env GEMINI_API_KEY";
        assert_eq!(advice(&usual, &environment), line);
        assert!(advice(&usual, &[]).starts_with("gemini, in a terminal"));
        let mut own = usual.clone();
        own.readable.push("~/x/".to_owned());
        assert_eq!(advice(&own, &environment), line);
        own.pass_environment.push("GEMINI_API_KEY".to_owned());
        let advice_for_own = advice(&own, &environment);
        assert!(
            advice_for_own.contains("the key in GEMINI_API_KEY"),
            "{advice_for_own}"
        );
        // A provider of one's own is given no other key than the one that its settings name.
        let codex = Known::named("codex-acp").unwrap().entry();
        let missing = ClientError::NotLoggedIn {
            words: "Missing environment variable: `OWN_KEY`.".to_owned(),
        };
        let advice = |of_own: &[(OsString, OsString)]| {
            let client = Client::of(Dialect::Codex);
            missing.advice(&codex, client, of_own).unwrap()
        };
        let other = ("OPENAI_API_KEY".into(), "secret".into());
        let own = ("OWN_KEY".into(), "secret".into());
        let pass = "callosum executor register codex-acp --pass-env OWN_KEY";
        assert_eq!(
            advice(&[other.clone(), own]),
            format!("OWN_KEY is set here, but not passed to it: {pass}")
        );
        assert_eq!(
            advice(&[other]),
            format!("OWN_KEY is neither set here nor passed to it: {pass}")
        );
        let refused = ClientError::NotLoggedIn {
            words: "401 Incorrect API key provided".to_owned(),
        };
        let refused = refused.advice(&usual, client, &environment).unwrap();
        assert!(refused.contains("its own settings contain"), "{refused}");
    }
}
