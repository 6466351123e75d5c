//! [`EchoModel`] and [`ScriptedModel`]: models that compute nothing, for trials and tests (Seed CCOS §3.b.3).
//!
//! `script` reads what a scripted model answers, as JSON lines or TOML.

mod script;

use std::{
    collections::BTreeSet,
    sync::{Mutex, PoisonError},
};

use callosum_citation::tokens;
use callosum_host::process::Cancel;

use self::script::Line;
pub use self::script::ScriptError;
use crate::provider::{
    Delta, Limits, ModelError, ModelProvider, Place, Reply, Request, refuse_over_budget,
};

/// Answers with the prompt, after a prefix.
#[derive(Clone, Debug)]
pub struct EchoModel;

/// Id of [`EchoModel`].
pub const ECHO: &str = "echo";

impl ModelProvider for EchoModel {
    fn id(&self) -> &str {
        ECHO
    }

    fn place(&self) -> Place {
        Place::Deterministic
    }

    fn infer(
        &self,
        request: &Request,
        limits: Limits,
        _: &Cancel,
        sink: &mut dyn FnMut(Delta<'_>),
    ) -> Result<Reply, ModelError> {
        let tokens = refuse_over_budget(request, limits)?;
        let text = format!("echo: {}", request.prompt);
        sink(Delta::Text(&text));
        Ok(Reply {
            text,
            tokens: tokens * 2,
            cost_usd: 0.0,
        })
    }
}

/// Answers with the first reply of its script whose words are all in the prompt. A reply that is marked `once` is given
/// once, so a script also answers in order.
#[derive(Debug)]
pub struct ScriptedModel {
    id: String,
    lines: Vec<Line>,
    /// The replies that were given and are given once.
    used: Mutex<BTreeSet<usize>>,
}

impl ScriptedModel {
    /// Reads a script of JSON lines: `{"when": ["words"], "reply": "text", "once": true}`.
    pub fn read_lines(id: &str, script: &str) -> Result<Self, ScriptError> {
        script::of_lines(script).map(|lines| Self::new(id, lines))
    }

    /// Reads a script of TOML: tables `[[answers]]` with the same keys.
    pub fn read_toml(id: &str, script: &str) -> Result<Self, ScriptError> {
        script::of_toml(script).map(|lines| Self::new(id, lines))
    }

    fn new(id: &str, lines: Vec<Line>) -> Self {
        Self {
            id: id.to_owned(),
            lines,
            used: Mutex::default(),
        }
    }

    /// Finds the reply to a prompt, and marks it as used if it is given once.
    fn reply(&self, prompt: &str) -> Option<String> {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let lines = self.lines.iter().enumerate();
        let mut fitting =
            lines.filter(|(_, line)| line.when.iter().all(|words| prompt.contains(words)));
        let (at, line) = fitting.find(|(at, line)| !line.once || !used.contains(at))?;
        if line.once {
            used.insert(at);
        }
        Some(match &line.reply {
            serde_json::Value::String(text) => text.clone(),
            other => other.to_string(),
        })
    }
}

impl ModelProvider for ScriptedModel {
    fn id(&self) -> &str {
        &self.id
    }

    fn place(&self) -> Place {
        Place::Deterministic
    }

    fn infer(
        &self,
        request: &Request,
        limits: Limits,
        cancel: &Cancel,
        sink: &mut dyn FnMut(Delta<'_>),
    ) -> Result<Reply, ModelError> {
        let tokens = refuse_over_budget(request, limits)?;
        if cancel.is_cancelled() {
            return Err(ModelError::Canceled {
                model: self.id.clone(),
            });
        }
        let Some(text) = self.reply(&request.prompt) else {
            return Err(ModelError::Failed {
                why: format!("the script of `{}` has no reply to this prompt", self.id),
                tokens: 0,
                may_pass: false,
            });
        };
        sink(Delta::Text(&text));
        Ok(Reply {
            tokens: tokens + tokens::estimate(&text),
            text,
            cost_usd: 0.0,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn infer(
        model: &dyn ModelProvider,
        prompt: &str,
        tokens: Option<u64>,
    ) -> Result<Reply, ModelError> {
        let request = Request::text(prompt);
        let limits = Limits { tokens, time: None };
        model.infer(&request, limits, &Cancel::new().unwrap(), &mut |_| {})
    }

    /// CCOS-MOD-1: a scripted model answers the same prompt with the same reply.
    #[test]
    fn a_script_answers_by_the_words_of_the_prompt() {
        let script =
            "{\"when\": [\"plan\"], \"reply\": {\"version\": \"1.0\"}}\n\n{\"reply\": \"yes\"}\n";
        let model = ScriptedModel::read_lines("local/phi::2", script).unwrap();
        assert_eq!(model.id(), "local/phi::2");
        let plan = infer(&model, "write a plan", None).unwrap();
        assert_eq!(plan.text, "{\"version\":\"1.0\"}");
        assert_eq!(plan, infer(&model, "write a plan", None).unwrap());
        assert_eq!(infer(&model, "vote", None).unwrap().text, "yes");
    }

    /// CCOS-MOD-1, upstream defect 12: a request has a budget and can be canceled, and a reply has its usage.
    #[test]
    fn a_prompt_above_the_budget_is_refused() {
        let prompt = "word ".repeat(1000);
        for model in [
            &EchoModel as &dyn ModelProvider,
            &ScriptedModel::read_lines("stub", "{\"reply\": \"\"}").unwrap(),
        ] {
            let error = infer(model, &prompt, Some(10)).unwrap_err();
            assert!(matches!(error, ModelError::OverBudget { allowed: 10, .. }));
            assert!(infer(model, &prompt, None).unwrap().tokens > 100);
            assert!(infer(model, &prompt, Some(100_000)).is_ok());
        }
    }

    /// CCOS-MOD-1, upstream defect 12: a canceled request has no reply.
    #[test]
    fn a_canceled_request_has_no_reply() {
        let model = ScriptedModel::read_lines("of-the-configuration", "{\"reply\": 1}").unwrap();
        let cancel = Cancel::new().unwrap();
        cancel.cancel();
        let asked = model.infer(&Request::default(), Limits::default(), &cancel, &mut |_| {});
        assert!(
            matches!(asked.unwrap_err(), ModelError::Canceled { model } if model == "of-the-configuration")
        );
    }

    /// CCOS-MOD-1: replies that are given once come in order; then the others answer.
    #[test]
    fn replies_that_are_given_once_come_in_order() {
        let script = "[[answers]]\nreply = \"one\"\nonce = true\n\
                      [[answers]]\nwhen = [\"x\"]\nreply = \"two\"\nonce = true\n\
                      [[answers]]\nreply = { vote = \"approve\" }\n";
        let model = ScriptedModel::read_toml("stub", script).unwrap();
        let texts = ["x", "y", "x", "x"].map(|prompt| infer(&model, prompt, None).unwrap().text);
        let vote = "{\"vote\":\"approve\"}";
        assert_eq!(texts, ["one", vote, "two", vote]);
    }

    /// CCOS-MOD-1: a model that does not stream sends its text once.
    #[test]
    fn a_reply_is_one_delta() {
        let model = ScriptedModel::read_lines("stub", "{\"reply\": \"yes\"}").unwrap();
        let mut pieces = Vec::new();
        let mut sink = |delta: Delta<'_>| {
            if let Delta::Text(text) = delta {
                pieces.push(text.to_owned());
            }
        };
        let request = Request::text("vote");
        let cancel = Cancel::new().unwrap();
        let reply = model.infer(&request, Limits::default(), &cancel, &mut sink);
        assert_eq!([reply.unwrap().text], *pieces);
    }
}
