//! [`Request`]: input of an executor.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::answer::LONGEST_SUMMARY;

/// A question to an executor (seed CAL §6.1).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// The question.
    pub prompt: String,
    /// For which task and in which surroundings, if that matters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<RequestMetadata>,
    /// The form that a model's server is asked to keep to, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub form: Option<AnswerForm>,
}

/// The form of an answer, for servers that can hold a model to it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AnswerForm {
    /// A JSON Schema of the whole answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<Value>,
    /// A grammar in llama.cpp's GBNF.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grammar: Option<String>,
    /// Most tokens of the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u64>,
}

/// Data that accompanies a prompt.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RequestMetadata {
    /// The task that it is asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    /// Context for the executor: our own keys are `kind`, `paths`, `root` and `max_summary_bytes`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<Map<String, Value>>,
}

impl Request {
    /// Creates a prompt without metadata, as in the handshake.
    pub fn bare(prompt: &str) -> Self {
        Self {
            prompt: prompt.to_owned(),
            metadata: None,
            form: None,
        }
    }

    /// A prompt with nothing else whose answer has a form.
    pub fn in_form(prompt: &str, form: AnswerForm) -> Self {
        Self {
            form: (form != AnswerForm::default()).then_some(form),
            ..Self::bare(prompt)
        }
    }

    /// A prompt for a task.
    pub fn for_task(prompt: &str, task_id: &str, context: Map<String, Value>) -> Self {
        Self {
            prompt: prompt.to_owned(),
            metadata: Some(RequestMetadata {
                task_id: Some(task_id.to_owned()),
                context: Some(context),
            }),
            form: None,
        }
    }

    /// Returns the same question once more, after an answer whose summary had `bytes` bytes.
    ///
    /// The prompt gives the longest length of a summary, and `metadata.context.max_summary_bytes`
    /// gives it to a program.
    #[must_use]
    pub fn shorter(&self, bytes: usize) -> Self {
        let mut again = self.clone();
        again.prompt = format!(
            "{}\n\nYour last summary had {bytes} bytes. Answer once more in at most \
             {LONGEST_SUMMARY} bytes: keep what matters most and its citations.",
            self.prompt
        );
        again
            .metadata
            .get_or_insert_default()
            .context
            .get_or_insert_default()
            .insert("max_summary_bytes".to_owned(), LONGEST_SUMMARY.into());
        again
    }

    /// Returns the same question once more, with the problem of the last answer in the prompt.
    #[must_use]
    pub fn sent_back(&self, what: &str) -> Self {
        Self {
            prompt: format!(
                "{}\n\nYour last answer was sent back: {what}\n\nAnswer once more.",
                self.prompt
            ),
            metadata: self.metadata.clone(),
            form: self.form.clone(),
        }
    }

    /// The bytes that go to standard input: one line of JSON.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = serde_json::to_vec(self).expect("strings and JSON values are JSON");
        bytes.push(b'\n');
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CAL-COM-1: the request is the seed's own (§6.1), on one line.
    #[test]
    fn a_request_is_one_line_of_the_seeds_json() {
        assert_eq!(Request::bare("ping").to_bytes(), b"{\"prompt\":\"ping\"}\n");
        let mut context = Map::new();
        context.insert("kind".to_owned(), "scan".into());
        let request = Request::for_task("a\nb", "cal_2026_01_02_0001", context);
        let written = request.to_bytes();
        assert_eq!(
            String::from_utf8_lossy(&written),
            "{\"prompt\":\"a\\nb\",\"metadata\":{\"task_id\":\"cal_2026_01_02_0001\",\
             \"context\":{\"kind\":\"scan\"}}}\n"
        );
        assert_eq!(
            serde_json::from_slice::<Request>(&written).unwrap(),
            request
        );
    }

    /// CAL-SCH-3: the executor is asked once to shorten.
    #[test]
    fn asking_for_less_keeps_the_question_and_names_the_bound() {
        let again = Request::bare("map it").shorter(20_000);
        assert!(again.prompt.starts_with("map it\n\n"));
        assert!(again.prompt.contains("at most 10240 bytes"));
        let context = again.metadata.unwrap().context.unwrap();
        assert_eq!(context["max_summary_bytes"], 10_240);
    }
}
