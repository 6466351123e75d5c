//! [`EchoModel`] and [`ScriptedModel`]: models that compute nothing, for trials and tests (Seed CCOS §3.b.3).

use callosum_evidence::tokens;
use callosum_host::process::Cancel;
use serde::Deserialize;
use thiserror::Error;

use crate::provider::{
    Limits, ModelError, ModelProvider, Place, Reply, Request, refuse_over_budget,
};

/// Answers with the prompt, after a prefix.
#[derive(Clone, Debug)]
pub struct EchoModel;

/// Id of [`EchoModel`].
pub const ECHO: &str = "echo";

/// Id of [`ScriptedModel`] unless it has another.
pub const STUB: &str = "stub";

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
        _: &mut dyn FnMut(&str),
    ) -> Result<Reply, ModelError> {
        let tokens = refuse_over_budget(request, limits)?;
        Ok(Reply {
            text: format!("echo: {}", request.prompt),
            tokens: tokens * 2,
            cost_usd: 0.0,
        })
    }
}

/// Answers with the first reply of its script whose words are all in the prompt. The same prompt always gets the same
/// reply.
#[derive(Clone, Debug)]
pub struct ScriptedModel {
    id: String,
    lines: Vec<Line>,
}

/// One line of a script.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    /// Words that must all be in the prompt; none fit every prompt.
    #[serde(default)]
    when: Vec<String>,
    /// The reply: a text, or JSON that is written out.
    reply: serde_json::Value,
}

/// Error of an unusable script.
#[derive(Debug, Error)]
#[error("line {line} of the script: {why}")]
pub struct ScriptError {
    /// The line, from 1.
    pub line: usize,
    /// The reason.
    pub why: serde_json::Error,
}

impl ScriptedModel {
    /// Reads a script: a JSON object per line, `{"when": ["words"], "reply": "text"}`.
    pub fn read(id: &str, script: &str) -> Result<Self, ScriptError> {
        let mut lines = Vec::new();
        for (index, line) in script.lines().enumerate() {
            if line.trim().is_empty() {
                continue;
            }
            let line = serde_json::from_str(line).map_err(|why| ScriptError {
                line: index + 1,
                why,
            })?;
            lines.push(line);
        }
        Ok(Self {
            id: id.to_owned(),
            lines,
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
        _: &mut dyn FnMut(&str),
    ) -> Result<Reply, ModelError> {
        let tokens = refuse_over_budget(request, limits)?;
        if cancel.is_cancelled() {
            return Err(ModelError::Canceled {
                model: self.id.clone(),
            });
        }
        let fits = |line: &&Line| line.when.iter().all(|words| request.prompt.contains(words));
        let Some(line) = self.lines.iter().find(fits) else {
            return Err(ModelError::Failed {
                why: format!("the script of `{}` has no reply to this prompt", self.id),
                tokens: 0,
                may_pass: false,
            });
        };
        let text = match &line.reply {
            serde_json::Value::String(text) => text.clone(),
            other => other.to_string(),
        };
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
        let request = Request {
            prompt: prompt.to_owned(),
        };
        let limits = Limits { tokens, time: None };
        model.infer(&request, limits, &Cancel::new().unwrap(), &mut |_| {})
    }

    /// CCOS-MOD-1: a scripted model answers the same prompt with the same reply.
    #[test]
    fn a_script_answers_by_the_words_of_the_prompt() {
        let script =
            "{\"when\": [\"plan\"], \"reply\": {\"version\": \"1.0\"}}\n\n{\"reply\": \"yes\"}\n";
        let model = ScriptedModel::read("local/phi::2", script).unwrap();
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
            &ScriptedModel::read(STUB, "{\"reply\": \"\"}").unwrap(),
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
        let model = ScriptedModel::read("of-the-configuration", "{\"reply\": 1}").unwrap();
        let cancel = Cancel::new().unwrap();
        cancel.cancel();
        let asked = model.infer(&Request::default(), Limits::default(), &cancel, &mut |_| {});
        assert!(
            matches!(asked.unwrap_err(), ModelError::Canceled { model } if model == "of-the-configuration")
        );
    }

    #[test]
    fn a_malformed_script_names_its_line() {
        let error = ScriptedModel::read(STUB, "{\"reply\": 1}\n{\"replies\": 2}").unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with("line 2 of the script: unknown field"),
            "{error}"
        );
    }
}
