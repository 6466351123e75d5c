//! The text of a constitution: its first line, its policies, and what each must have.
//!
//! A text that has anything that is not understood is none: a policy that is passed over could be the
//! one that forbids.

use std::{collections::BTreeMap, str::FromStr as _, sync::LazyLock};

use callosum_plan::CapabilityName;
use cedar_policy::{
    Effect, EntityUid, Policy, PolicyId, PolicySet, Schema, ValidationMode, Validator,
};
use thiserror::Error;

use super::limits::{LimitExceeded, MAX_DEPTH, MAX_TOKENS, excess};

/// Bytes that one text may have.
pub const MAX_BYTES: usize = 64 << 10;

/// The format that is understood.
pub const FORMAT: u32 = 1;

/// Prefix of the first line.
const HEADER: &str = "// callosum-constitution: ";

/// Prefixes of the kernel's own rules and of a project's policies, in the ids that people see. No
/// text may give such an id to a policy of its own.
const TAKEN: [&str; 2] = ["kernel.", "project."];

/// The types that policies are held to.
pub(super) static SCHEMA: LazyLock<Result<Schema, String>> = LazyLock::new(|| {
    Schema::from_str(include_str!("schema.cedarschema")).map_err(|error| error.to_string())
});

/// Source of a text of policies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// This program.
    BuiltIn,
    /// The configuration of this machine's user.
    Machine,
    /// The project, which may only forbid.
    Project,
}

/// Reason that a text is no constitution.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ConstitutionError {
    /// It is larger than any is.
    #[error("it has {0} bytes; {MAX_BYTES} are allowed")]
    TooLarge(usize),
    /// Brackets are nested deeper than in any.
    #[error("line {0}: brackets are nested deeper than {MAX_DEPTH}")]
    TooDeep(usize),
    /// A policy is longer than any is.
    #[error("line {0}: the policy has more than {MAX_TOKENS} words and signs")]
    TooLong(usize),
    /// Its first line doesn't say what it is.
    #[error("its first line is not `{HEADER}format {FORMAT}, version N`")]
    Header,
    /// It is of a format that is not understood.
    #[error("it has format {0}, this program understands {FORMAT}")]
    Format(u32),
    /// Its version is 0, which means that there is none.
    #[error("its first line says version 0; versions are counted from 1")]
    VersionZero,
    /// It can't be read, or has words that policies don't have.
    #[error("cannot parse its policies: {0}")]
    Syntax(String),
    /// It holds a template.
    #[error("it has a template (`?principal` or `?resource`); templates are not supported")]
    Template,
    /// A policy has no name.
    #[error("the policy `{0}` has no @id")]
    Unnamed(String),
    /// A policy's name is none.
    #[error(
        "`{0}` is not a valid @id: use lowercase letters, digits, `-`, `_` and `.`, and do not \
         start with `kernel.` or `project.`"
    )]
    Id(String),
    /// Two policies have one name.
    #[error("two policies have the @id `{0}`")]
    Twice(String),
    /// A policy has an annotation that means nothing.
    #[error("the policy `{id}` has the annotation @{annotation}; allowed are @id, @hint and @ask")]
    Annotation {
        /// The policy.
        id: String,
        /// The annotation.
        annotation: String,
    },
    /// An annotation is in a place that gives it no meaning.
    #[error("the policy `{id}`: {reason}")]
    Misplaced {
        /// The policy.
        id: String,
        /// The fault.
        reason: &'static str,
    },
    /// A policy names a capability in a spelling that never matches.
    #[error("the policy `{id}` names `{name}`: {reason}")]
    Name {
        /// The policy.
        id: String,
        /// The name as written in the policy.
        name: String,
        /// The fault.
        reason: String,
    },
    /// A policy breaks the schema.
    #[error("the policy `{id}`: {reason}")]
    Invalid {
        /// The policy.
        id: String,
        /// The fault.
        reason: String,
    },
    /// A project's text permits something.
    #[error("the policy `{0}` is a permit; a project may only forbid")]
    ProjectPermits(String),
    /// A signature is missing or wrong.
    #[error("{0}")]
    Signature(String),
    /// It can't be read at all.
    #[error("{0}")]
    Unreadable(String),
}

/// One policy, as people are shown it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyNote {
    /// Its id; those of a project begin with `project.`.
    pub id: String,
    /// Source of the policy's text.
    pub origin: Origin,
    /// Whether it forbids.
    pub forbids: bool,
    /// Question for the person who is asked; `None` if no one is asked.
    pub ask: Option<String>,
    /// Suggestion for the user if it denies a call.
    pub hint: Option<String>,
    /// Its text.
    pub text: String,
}

/// The policies of a text that was read, and its version.
#[derive(Clone, Debug)]
pub(super) struct Document {
    pub(super) version: u64,
    pub(super) policies: Vec<(Policy, PolicyNote)>,
}

/// Reads a text, and refuses it at the first thing that is wrong with it.
pub(super) fn read(text: &str, origin: Origin) -> Result<Document, ConstitutionError> {
    if text.len() > MAX_BYTES {
        return Err(ConstitutionError::TooLarge(text.len()));
    }
    let version = header(text)?;
    match excess(text) {
        Some((LimitExceeded::Depth, line)) => return Err(ConstitutionError::TooDeep(line)),
        Some((LimitExceeded::Tokens, line)) => return Err(ConstitutionError::TooLong(line)),
        None => {}
    }
    let set = PolicySet::from_str(text)
        .map_err(|error| ConstitutionError::Syntax(located(text, &error)))?;
    if set.templates().next().is_some() {
        return Err(ConstitutionError::Template);
    }
    let mut named = BTreeMap::new();
    for policy in set.policies() {
        let (policy, note) = noted(policy, origin)?;
        let id = note.id.clone();
        if named.insert(id.clone(), (policy, note)).is_some() {
            return Err(ConstitutionError::Twice(id));
        }
    }
    let policies: Vec<(Policy, PolicyNote)> = named.into_values().collect();
    validate(&policies)?;
    Ok(Document { version, policies })
}

/// Returns the version that the first line of a text says.
pub fn header(text: &str) -> Result<u64, ConstitutionError> {
    let line = text.lines().next().unwrap_or_default();
    let parts = line.strip_prefix(HEADER).ok_or(ConstitutionError::Header)?;
    let (format, version) = parts.split_once(", ").ok_or(ConstitutionError::Header)?;
    let number = |text: &str, word: &str| {
        let digits = text.strip_prefix(word)?;
        let plain = digits.bytes().all(|byte| byte.is_ascii_digit());
        digits.parse::<u64>().ok().filter(|_| plain)
    };
    let format = number(format, "format ").ok_or(ConstitutionError::Header)?;
    if format != u64::from(FORMAT) {
        let format = u32::try_from(format).unwrap_or(u32::MAX);
        return Err(ConstitutionError::Format(format));
    }
    match number(version, "version ") {
        None => Err(ConstitutionError::Header),
        // 0 means none, as if there is no constitution that can be relied on.
        Some(0) => Err(ConstitutionError::VersionZero),
        Some(version) => Ok(version),
    }
}

/// A parse error with the line that it is about.
fn located(text: &str, errors: &cedar_policy::ParseErrors) -> String {
    use miette::Diagnostic as _;
    let first = errors.iter().next();
    let message = first.map_or_else(|| errors.to_string(), ToString::to_string);
    let label = first.and_then(|error| error.labels()?.next());
    match label {
        Some(label) => {
            let before = text.get(..label.offset()).unwrap_or(text);
            format!("line {}: {message}", before.matches('\n').count() + 1)
        }
        None => message,
    }
}

fn noted(policy: &Policy, origin: Origin) -> Result<(Policy, PolicyNote), ConstitutionError> {
    let text = policy.to_string();
    let Some(id) = policy.annotation("id") else {
        let first = text.lines().next().unwrap_or_default().to_owned();
        return Err(ConstitutionError::Unnamed(first));
    };
    let plain = |byte: u8| {
        byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'_' | b'.')
    };
    let is_taken = TAKEN.iter().any(|taken| id.starts_with(taken));
    if id.is_empty() || id.len() > 100 || !id.bytes().all(plain) || is_taken {
        return Err(ConstitutionError::Id(id.to_owned()));
    }
    let known = ["id", "hint", "ask"];
    if let Some((annotation, _)) = policy.annotations().find(|(name, _)| !known.contains(name)) {
        return Err(ConstitutionError::Annotation {
            id: id.to_owned(),
            annotation: annotation.to_owned(),
        });
    }
    let misplaced = |reason| ConstitutionError::Misplaced {
        id: id.to_owned(),
        reason,
    };
    let forbids = policy.effect() == Effect::Forbid;
    let ask = policy.annotation("ask").map(str::to_owned);
    if forbids && ask.is_some() {
        return Err(misplaced(
            "@ask is only allowed on a permit: no one is asked about what is forbidden",
        ));
    }
    if ask.as_ref().is_some_and(|ask| ask.trim().is_empty()) {
        return Err(misplaced("@ask must contain the question for the user"));
    }
    if origin == Origin::Project && !forbids {
        return Err(ConstitutionError::ProjectPermits(id.to_owned()));
    }
    for literal in policy.entity_literals() {
        check_name(id, &literal)?;
    }
    let id = match origin {
        Origin::BuiltIn | Origin::Machine => id.to_owned(),
        Origin::Project => format!("project.{id}"),
    };
    let note = PolicyNote {
        origin,
        forbids,
        ask,
        hint: policy.annotation("hint").map(str::to_owned),
        text,
        id: id.clone(),
    };
    Ok((policy.new_id(PolicyId::new(id)), note))
}

/// A name of a capability that is spelled in another way would never match, and a `forbid` of it never
/// forbid.
fn check_name(id: &str, literal: &EntityUid) -> Result<(), ConstitutionError> {
    let kind = literal.type_name().to_string();
    if kind != "Capability" && kind != "Group" {
        return Ok(());
    }
    let name: &str = literal.id().unescaped();
    let refuse = |reason| ConstitutionError::Name {
        id: id.to_owned(),
        name: name.to_owned(),
        reason,
    };
    let normal = CapabilityName::parse(name).map_err(|error| refuse(error.reason.to_owned()))?;
    if normal.as_str() != name {
        return Err(refuse(format!("policies spell it `{normal}`")));
    }
    Ok(())
}

fn validate(policies: &[(Policy, PolicyNote)]) -> Result<(), ConstitutionError> {
    let schema = SCHEMA
        .as_ref()
        .map_err(|error| ConstitutionError::Unreadable(error.clone()))?;
    let set = PolicySet::from_policies(policies.iter().map(|(policy, _)| policy.clone()))
        .map_err(|error| ConstitutionError::Unreadable(error.to_string()))?;
    let result = Validator::new(schema.clone()).validate(&set, ValidationMode::Strict);
    let error = result
        .validation_errors()
        .map(|error| (error.policy_id().to_string(), error.to_string()));
    // A warning is of a policy that never holds, or of text that hides something.
    let warning = result
        .validation_warnings()
        .map(|warning| (warning.policy_id().to_string(), warning.to_string()));
    match error.chain(warning).min() {
        Some((id, message)) => {
            let named = format!("for policy `{id}`, ");
            let reason = message.strip_prefix(&named).unwrap_or(&message).to_owned();
            Err(ConstitutionError::Invalid { id, reason })
        }
        None => Ok(()),
    }
}
