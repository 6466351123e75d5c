//! [`answer`]: scout as an executor, one JSON request in, one JSON answer out (Seed CAL §6).

use std::path::{Path, PathBuf};

use callosum_citation::tokens;
use callosum_host::Disk;
use callosum_json::canonical::{DuplicateKeys, checksum_without};
use callosum_ledger::ErrorCode;
use callosum_source::walk::{PathError, RelativePath, Scope, WalkError};
use serde_json::{Value, json};

use super::{
    kind::{Kind, UnknownKind},
    progress::{Phase, Progress},
    report::{Limits, digest},
    survey::{Survey, SurveyError},
};

/// Answers one request.
///
/// `ping` and `capabilities` are the handshake's; any other prompt is answered by the kind that
/// `metadata.context` names (`scan` if it names none), about its `root`, else `root`, within its
/// `paths` and `max_summary_bytes`. The same tree gives the same bytes.
///
/// Never fails: an error is an answer with `status: "error"` (§6.4).
pub fn answer(
    disk: &Disk,
    root: &Path,
    request: &Value,
    progress: &mut (dyn FnMut(Progress) + Send),
) -> Value {
    let answered = match request.get("prompt").and_then(Value::as_str) {
        None => Err(ProtocolError::NoPrompt),
        Some("ping") => Ok(success(
            "pong",
            0,
            json!({ "token_method": tokens::METHOD }),
        )),
        Some("capabilities") => return capabilities(),
        Some(_) => explore(disk, root, request, progress),
    };
    answered.unwrap_or_else(|refusal| {
        json!({
            "error": format!("{}: {refusal}", refusal.code()),
            "status": "error",
            "task_id": request.pointer("/metadata/task_id"),
        })
    })
}

fn capabilities() -> Value {
    json!({
        "capabilities": {
            "prompt_input": true,
            "json_output": true,
            "filesystem_access": true,
            "checksum_support": true,
            "kinds": Kind::ALL.map(Kind::as_str),
        },
        "version": env!("CARGO_PKG_VERSION"),
    })
}

/// Reason why a request gets no digest.
#[derive(Debug, thiserror::Error)]
enum ProtocolError {
    #[error("the request has no `prompt`")]
    NoPrompt,
    #[error("`metadata.context.{field}` is not {expected}")]
    WrongType {
        field: &'static str,
        expected: &'static str,
    },
    #[error(transparent)]
    Kind(#[from] UnknownKind),
    #[error(transparent)]
    Path(#[from] PathError),
    #[error(transparent)]
    Survey(#[from] SurveyError),
}

impl ProtocolError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::Survey(SurveyError(WalkError::Disk(_))) => ErrorCode::DiskFailure,
            _ => ErrorCode::MalformedAnswer,
        }
    }
}

/// Parameters of a request.
struct Wanted {
    kind: Kind,
    root: PathBuf,
    scope: Scope,
    limits: Limits,
}

impl Wanted {
    fn read(root: &Path, request: &Value) -> Result<Self, ProtocolError> {
        let field = |name: &str| request.pointer(&format!("/metadata/context/{name}"));
        let text = |name: &'static str| match field(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.as_str())),
            Some(_) => Err(ProtocolError::WrongType {
                field: name,
                expected: "a string",
            }),
        };
        let kind = text("kind")?.map_or(Ok(Kind::Scan), str::parse)?;
        let not_paths = || ProtocolError::WrongType {
            field: "paths",
            expected: "a list of strings",
        };
        let written = match field("paths") {
            None | Some(Value::Null) => &Vec::new(),
            Some(paths) => paths.as_array().ok_or_else(not_paths)?,
        };
        let mut paths = Vec::new();
        for path in written {
            paths.push(RelativePath::parse(path.as_str().ok_or_else(not_paths)?)?);
        }
        let most = field("max_summary_bytes").and_then(Value::as_u64);
        let bytes = most.map_or(Limits::SUMMARY.bytes, |most| {
            Limits::SUMMARY.bytes.min(most as usize)
        });
        Ok(Self {
            kind,
            root: text("root")?.map_or_else(|| root.to_owned(), PathBuf::from),
            scope: Scope::of(&paths),
            limits: Limits { bytes },
        })
    }
}

fn explore(
    disk: &Disk,
    root: &Path,
    request: &Value,
    progress: &mut (dyn FnMut(Progress) + Send),
) -> Result<Value, ProtocolError> {
    let wanted = Wanted::read(root, request)?;
    let survey = Survey::read_for(wanted.kind, disk, &wanted.root, &wanted.scope, progress)?;
    let files_read = survey.files_read();
    progress(Progress {
        phase: Phase::Writing,
        files_read,
        files_total: files_read,
    });
    let digest = digest(wanted.kind, &survey, wanted.limits);
    let metadata = json!({
        "kind": wanted.kind.as_str(),
        "token_method": tokens::METHOD,
        "files_read": files_read,
        "files_skipped": survey.files_skipped(),
        "statements_left_out": digest.left_out,
    });
    Ok(success(&digest.text, survey.tokens_read(), metadata))
}

/// An answer with its checksum: over the answer without that field, in canonical form.
fn success(summary: &str, tokens_used: u64, metadata: Value) -> Value {
    let mut answer = json!({
        "summary": summary,
        "tokens_used": tokens_used,
        "checksum": "",
        "status": "success",
        "metadata": metadata,
    });
    let checksum = checksum_without(
        answer.to_string().as_bytes(),
        "checksum",
        DuplicateKeys::Refused,
    )
    .expect("strings and whole numbers have a canonical form");
    answer["checksum"] = checksum.to_string().into();
    answer
}

#[cfg(test)]
mod tests {
    use callosum_json::canonical;

    use super::*;
    use crate::fixture::tree;

    fn ask(root: &Path, request: &Value) -> Value {
        answer(&Disk::real(), root, request, &mut |_| {})
    }

    /// REQ-COM-002, CAL-SUM-1: an answer holds its kind, its cost and the checksum of the rest.
    #[test]
    fn an_answer_has_its_kind_and_its_checksum() {
        let folder = tree(&[("src/lib.rs", "//! Small.\npub fn f() {}\n")]);
        let context = json!({"kind": "api", "root": folder.path(), "paths": ["src"]});
        let request = json!({"prompt": "map it", "metadata": {"task_id": "t", "context": context}});
        let reply = ask(Path::new("/nowhere"), &request);
        let bytes = reply.to_string().into_bytes();
        assert!(reply["summary"].as_str().unwrap().starts_with("# api"));
        assert_eq!(reply["metadata"]["kind"], "api");
        assert_eq!(reply["metadata"]["token_method"], tokens::METHOD);
        assert_eq!(reply["metadata"]["files_read"], 1);
        let without = canonical::checksum_without(&bytes, "checksum", DuplicateKeys::Refused);
        assert_eq!(reply["checksum"], without.unwrap().to_string());
    }

    /// CAL-EXE-1: the handshake's first step.
    #[test]
    fn ping_is_answered_without_reading_the_tree() {
        let nowhere = Path::new("/nowhere/at/all");
        assert_eq!(ask(nowhere, &json!({"prompt": "ping"}))["summary"], "pong");
    }

    /// CAL-COM-1: errors have the form of §6.4.
    #[test]
    fn what_cannot_be_answered_is_an_error_with_its_reason() {
        let folder = tree(&[("a.py", "x = 1\n")]);
        let context = |context: Value| {
            let request = json!({"prompt": "p", "metadata": {"task_id": "t", "context": context}});
            let reply = ask(folder.path(), &request);
            assert_eq!(reply["status"], "error");
            assert_eq!(reply["task_id"], "t");
            reply["error"].as_str().unwrap().to_owned()
        };
        assert_eq!(
            context(json!({"kind": "poem"})),
            "E003: unknown kind `poem` (known: scan, deps, tests, api)"
        );
        assert_eq!(
            context(json!({"paths": "src"})),
            "E003: `metadata.context.paths` is not a list of strings"
        );
        assert!(context(json!({"paths": ["../other"]})).contains("leaves the tree"));
        assert!(context(json!({"paths": ["missing"]})).contains("does not exist"));
        assert!(context(json!({"root": 5})).contains("`metadata.context.root` is not a string"));
        let bare = ask(folder.path(), &json!({}));
        assert_eq!(bare["error"], "E003: the request has no `prompt`");
    }

    #[test]
    fn a_shorter_summary_can_be_asked_for() {
        let folder = tree(&[("a.py", "def f():\n    pass\n")]);
        let context = json!({"max_summary_bytes": 120});
        let reply = ask(
            folder.path(),
            &json!({"prompt": "p", "metadata": {"context": context}}),
        );
        assert!(reply["summary"].as_str().unwrap().len() <= 120);
    }
}
