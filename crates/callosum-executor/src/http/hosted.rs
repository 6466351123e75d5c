//! [`Provider`]: a hosted provider of models, asked through `genai`, which supports each one's protocol.
//!
//! Only in builds with the feature `hosted`. The model is named with its provider
//! (`anthropic::claude-…`), since several providers may use the same name. `genai` may not look for
//! anything by itself: neither for a key in a variable that the entry does not name, nor for a
//! proxy.
//!
//! Deliberately not here: tools, images, and lists of models. A provider's own list needs the key,
//! and does not show which of its names answer a chat.

use std::{ffi::OsString, ops::ControlFlow, sync::Arc, time::Duration};

use genai::{
    Client, ServiceTarget,
    adapter::AdapterKind,
    chat::{ChatMessage, ChatOptions, ChatRequest, ChatStreamEvent, StopReason, StreamEnd},
    resolver::{AuthData, Endpoint as Base},
};
use serde_json::Value;
use tokio::runtime;
use tokio_stream::StreamExt as _;

use super::{
    client::{complaint_in, hidden, key, start_of},
    endpoint::Endpoint,
    finish_reason,
    lines::Broken,
    rate_limit,
    server::Look,
    worker::Answering,
};
use crate::{
    output_format::{CUT_OFF, ErrorText, UNREACHABLE},
    transport::{Event, Job},
};

/// Longest time to establish a connection.
const CONNECT_WITHIN: Duration = Duration::from_secs(30);

/// One provider, and the key for it.
pub(super) struct Provider {
    client: Client,
    model: String,
    key: String,
}

impl Provider {
    /// Prepares to ask the provider that a job's model names, with the key from the variable that
    /// the job names.
    pub(super) fn new(job: &Job, environment: &[(OsString, OsString)]) -> Result<Self, ErrorText> {
        let ours = |words: String| ErrorText::of_ours(&words);
        let model = job.model.as_deref().unwrap_or_default();
        provider(model).map_err(ours)?;
        let variable = job.api_key_env.as_deref().ok_or_else(|| {
            ErrorText::of_ours("the entry names no variable for the provider's key")
        })?;
        let key = key(variable, environment)?;
        let elsewhere = match &job.endpoint {
            Some(endpoint) => {
                let endpoint =
                    Endpoint::parse(endpoint, true).map_err(|error| ours(error.to_string()))?;
                Some(endpoint.address("", "/"))
            }
            None => None,
        };
        let tls = tls().map_err(|error| ours(error.to_string()))?;
        let web = reqwest::Client::builder()
            .tls_backend_preconfigured(tls)
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(CONNECT_WITHIN)
            .user_agent(concat!("callosum/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|error| ours(error.to_string()))?;
        let secret = key.clone();
        let client = Client::builder()
            .with_reqwest(web)
            .with_service_target_resolver_fn(move |target: ServiceTarget| {
                let endpoint = match &elsewhere {
                    Some(address) => Base::from_owned(address.as_str()),
                    None => target.endpoint,
                };
                Ok(ServiceTarget {
                    endpoint,
                    auth: AuthData::from_single(secret.as_str()),
                    model: target.model,
                })
            })
            .build()
            .map_err(|error| ours(error.to_string()))?;
        Ok(Self {
            client,
            model: model.to_owned(),
            key,
        })
    }

    /// Returns its offer: only the existence of a key for a known provider can be checked without
    /// cost.
    pub(super) fn look(&self) -> Look {
        Look {
            version: None,
            offers: vec![self.model.clone()],
        }
    }

    /// Asks the model.
    pub(super) fn ask(&self, prompt: &str, answering: &mut Answering<'_>) -> Result<(), Broken> {
        let runtime = runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .build()
            .map_err(|error| ErrorText::of_ours(&error.to_string()))?;
        runtime.block_on(self.converse(prompt, answering))
    }

    async fn converse(&self, prompt: &str, answering: &mut Answering<'_>) -> Result<(), Broken> {
        let question = ChatRequest::new(vec![ChatMessage::user(prompt)]);
        let options = ChatOptions::default().with_capture_usage(true);
        let asked = self
            .client
            .exec_chat_stream(self.model.as_str(), question, Some(&options));
        let asked = asked.await.map_err(|error| complaint(&error, false))?;
        answering.model(&asked.model_iden.model_name);
        let mut stream = asked.stream;
        let mut begun = false;
        while let Some(event) = stream.next().await {
            let flow = match event.map_err(|error| complaint(&error, begun))? {
                ChatStreamEvent::Chunk(chunk) => {
                    begun = true;
                    answering.text(&chunk.content)?
                }
                ChatStreamEvent::ReasoningChunk(_) => {
                    answering.thinking();
                    answering.alive()
                }
                ChatStreamEvent::End(end) => return conclude(end, answering),
                _ => answering.alive(),
            };
            if flow == ControlFlow::Break(()) {
                return Ok(());
            }
        }
        Err(ErrorText::of_kind(CUT_OFF, "the stream ended early").into())
    }

    /// Removes the key from a complaint, if the provider repeated it.
    pub(super) fn hidden(&self, complaint: ErrorText) -> ErrorText {
        hidden(Some(&self.key), complaint)
    }
}

/// The certificates that this machine believes, and `ring`.
fn tls() -> Result<rustls::ClientConfig, rustls::Error> {
    let mut roots = rustls::RootCertStore::empty();
    let _counted = roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider);
    let config = config.with_safe_default_protocol_versions()?;
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}

/// The provider that a model's name begins with.
fn provider(model: &str) -> Result<AdapterKind, String> {
    let wrong = || {
        format!(
            "the model `{}` does not start with a known provider, such as anthropic::, gemini::, \
             groq:: or openai::",
            model.escape_debug()
        )
    };
    let (named, rest) = model.split_once("::").ok_or_else(wrong)?;
    let kind = AdapterKind::from_model(model).map_err(|_| wrong())?;
    // What it does not know it takes for a model on this machine, which has a protocol of its own.
    if rest.is_empty() || (kind == AdapterKind::Ollama && named != "ollama") {
        return Err(wrong());
    }
    Ok(kind)
}

/// Concludes the answer from a stream's end.
fn conclude(end: StreamEnd, answering: &mut Answering<'_>) -> Result<(), Broken> {
    if let Some(usage) = end.captured_usage {
        let count = |tokens: Option<i32>| u64::try_from(tokens.unwrap_or(0)).unwrap_or(0);
        let details = usage.prompt_tokens_details;
        let _counted = answering.tell(Event::Usage {
            input: count(usage.prompt_tokens),
            cached: count(details.and_then(|details| details.cached_tokens)),
            output: count(usage.completion_tokens),
        });
    }
    let reason = match end.captured_stop_reason {
        Some(StopReason::Completed(_) | StopReason::StopSequence(_)) => "stop".to_owned(),
        Some(StopReason::MaxTokens(_)) => "length".to_owned(),
        Some(StopReason::ToolCall(_)) => "tool_calls".to_owned(),
        Some(StopReason::ContentFilter(_)) => "content_filter".to_owned(),
        Some(StopReason::Other(reason)) => reason,
        None => {
            let words = "the stream ended early";
            return Err(ErrorText::of_kind(CUT_OFF, words).into());
        }
    };
    finish_reason::judge(&reason)?;
    answering.done();
    Ok(())
}

/// Converts an error, with the provider's words and status if there are any; `begun` is whether a
/// part of the answer had come.
fn complaint(error: &genai::Error, begun: bool) -> ErrorText {
    if let genai::Error::WebStream {
        error: inner,
        cause,
        ..
    } = error
    {
        if let Some(inner) = inner.downcast_ref::<genai::Error>() {
            return complaint(inner, begun);
        }
        let away = inner
            .downcast_ref::<reqwest::Error>()
            .is_some_and(reqwest::Error::is_connect);
        let kind = if away || !begun { UNREACHABLE } else { CUT_OFF };
        let words = inner
            .source()
            .map_or_else(|| cause.clone(), |source| format!("{cause}: {source}"));
        return ErrorText::of_kind(kind, &words);
    }
    if let genai::Error::ChatResponse { body, .. } = error {
        return provider_error(&body.to_string(), body);
    }
    let body = match error {
        genai::Error::HttpError { body, .. }
        | genai::Error::WebModelCall {
            webc_error: genai::webc::Error::ResponseFailedStatus { body, .. },
            ..
        } => Some(body),
        _ => None,
    };
    let Some(body) = body else {
        return ErrorText::words(&error.to_string());
    };
    let value = serde_json::from_str(body).unwrap_or(Value::Null);
    let mut complaint = provider_error(body, &value);
    let status = error.status().map(|status| status.as_u16());
    if let Some(status) = status {
        complaint.words = format!("status {status}: {}", complaint.words);
        complaint.status = Some(u64::from(status));
    }
    complaint.resets = error.headers().and_then(rate_limit::reset);
    complaint
}

fn provider_error(text: &str, value: &Value) -> ErrorText {
    complaint_in(value).unwrap_or_else(|| ErrorText::words(start_of(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CAL-EXE-2: a model is requested from the provider that its name begins with, and from no
    /// other.
    #[test]
    fn a_model_names_its_provider() {
        for (model, kind) in [
            ("anthropic::claude-opus-5-5", AdapterKind::Anthropic),
            ("gemini::gemini-3-flash", AdapterKind::Gemini),
            ("openai::gpt-5.5", AdapterKind::OpenAI),
            ("groq::llama", AdapterKind::Groq),
        ] {
            assert_eq!(provider(model), Ok(kind), "{model}");
        }
        for model in [
            "",
            "claude-opus-5-5",
            "nobody::x",
            "anthropic::",
            "::x",
            "anthropic",
        ] {
            assert!(provider(model).is_err(), "{model}");
        }
    }
}
