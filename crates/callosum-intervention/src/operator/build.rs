//! [`Operator::build_message`]: renders a message, lets the gate check it, and retries with a simpler one.

use serde::Serialize;

use super::{
    context::{Context, ContextError},
    message::{self, Clause, Slot, Verb, error_name, written_path},
    templates::{TemplateError, Templates, Values},
};
use crate::voice::{CorruptedCorpus, EventFacts, Gate, GateFacts, Verdict, file::MANIFESTS};

/// Most attempts before the safe default (Seed CAKE §1).
const MOST_ATTEMPTS: usize = 3;

/// Manifests by the program that reads them, in the order in which they are looked for.
const MANIFESTS_OF: [(&str, &[&str]); 15] = [
    ("pip", &["requirements.txt", "pyproject.toml", "setup.py"]),
    ("pip3", &["requirements.txt", "pyproject.toml", "setup.py"]),
    ("uv", &["pyproject.toml", "requirements.txt"]),
    ("poetry", &["pyproject.toml"]),
    ("pdm", &["pyproject.toml"]),
    ("pipenv", &["Pipfile"]),
    ("conda", &["environment.yml"]),
    ("npm", &["package.json"]),
    ("pnpm", &["package.json"]),
    ("yarn", &["package.json"]),
    ("bun", &["package.json"]),
    ("cargo", &["Cargo.toml"]),
    ("go", &["go.mod"]),
    ("bundle", &["Gemfile"]),
    ("composer", &["composer.json"]),
];

/// Builds messages from templates and checks them.
#[derive(Clone, Debug)]
pub struct Operator {
    templates: Templates,
    gate: Gate,
}

/// A message, or the result that there is none.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Intervention {
    /// The message; `None` for a system error.
    pub message: Option<String>,
    /// Origin of the message.
    pub kind: InterventionType,
    /// Escalation level, 1 to 4.
    pub level: u8,
    /// Messages that were rendered and checked, the safe default included.
    pub attempts: usize,
    /// The gate's verdict on the last of them.
    pub verdict: Verdict,
    /// Version of the templates.
    pub templates: String,
}

/// Origin of a message (Seed CAKE §1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum InterventionType {
    /// A message from a template.
    Message,
    /// The safe default, because no template passed.
    SafeDefault,
    /// Not even the safe default passed. There is no message; a person should look at it.
    SystemError,
}

/// The reason that no message can be built.
#[derive(Debug, thiserror::Error)]
pub enum OperatorError {
    /// The context is out of range.
    #[error(transparent)]
    Context(#[from] ContextError),
    /// The templates are broken.
    #[error(transparent)]
    Template(#[from] TemplateError),
    /// The corpus is broken.
    #[error(transparent)]
    Corpus(#[from] CorruptedCorpus),
}

impl Operator {
    /// Returns the operator with the built-in templates and corpus.
    ///
    /// # Errors
    /// The program was built with broken files, which a test rules out.
    pub fn built_in() -> Result<Self, OperatorError> {
        Ok(Self::new(Templates::built_in()?, Gate::built_in()?))
    }

    /// Returns an operator.
    pub fn new(templates: Templates, gate: Gate) -> Self {
        Self { templates, gate }
    }

    /// Returns its gate.
    pub fn gate(&self) -> &Gate {
        &self.gate
    }

    /// Builds a message for an error.
    ///
    /// Values that no message may name are left out before a template is chosen: a command that the guard does not allow, a
    /// path outside of the project, a class that is no identifier. `surroundings.event` is replaced with the context's
    /// facts. Wordings that the error already got come last. Each attempt after the first uses fewer placeholders.
    ///
    /// # Errors
    /// The level or the line is out of range, or a template is broken.
    pub fn build_message(
        &self,
        context: &Context,
        surroundings: &GateFacts<'_>,
    ) -> Result<Intervention, OperatorError> {
        context.check()?;
        let event = context.facts();
        let surroundings = GateFacts {
            event: Some(event),
            ..*surroundings
        };
        let values = values(context, &event, &surroundings);
        let mut candidates: Vec<(usize, String)> = self
            .templates
            .candidates(&context.error_type, context.escalation_level, &values)?
            .into_iter()
            .filter(|found| crate::voice::check_message(&found.message, &surroundings).is_ok())
            .map(|found| (found.slots, found.message.to_string()))
            .collect();
        candidates.sort_by_key(|(_, text)| context.previous_interventions.contains(text));

        let mut attempts = 0;
        let mut fewer_than = usize::MAX;
        for (slots, text) in candidates {
            if slots >= fewer_than && attempts > 0 {
                continue;
            }
            fewer_than = slots;
            attempts += 1;
            let verdict = self.gate.check(&text, &surroundings);
            if verdict.passed {
                return Ok(self.intervention(Some(text), context, attempts, verdict));
            }
            if attempts == MOST_ATTEMPTS {
                break;
            }
        }
        let text = self
            .templates
            .safe_default()?
            .map(|message| message.to_string())
            .unwrap_or_default();
        let verdict = self.gate.check(&text, &surroundings);
        let mut found = self.intervention(None, context, attempts + 1, verdict);
        if found.verdict.passed {
            found.kind = InterventionType::SafeDefault;
            found.message = Some(text);
        }
        Ok(found)
    }

    fn intervention(
        &self,
        message: Option<String>,
        context: &Context,
        attempts: usize,
        verdict: Verdict,
    ) -> Intervention {
        Intervention {
            kind: if message.is_some() {
                InterventionType::Message
            } else {
                InterventionType::SystemError
            },
            message,
            level: context.escalation_level,
            attempts,
            verdict,
            templates: self.templates.version().to_owned(),
        }
    }
}

/// Returns the values that a message may name.
fn values(context: &Context, event: &EventFacts<'_>, surroundings: &GateFacts<'_>) -> Values {
    // A value is usable if a clause with it reads back as itself and passes the gate's validators.
    let usable = |verb: Verb, slot: Slot| {
        let clause = Clause { verb, slot };
        (Clause::parse(&clause.to_string()).as_ref() == Ok(&clause)
            && crate::voice::check_clause(&clause, surroundings).is_ok())
        .then_some(clause.slot)
    };
    let path = |file: &str| usable(Verb::See, Slot::File(written_path(file)));
    let error = |line: Option<u32>| {
        let name = error_name(context.error_type.as_str()).to_owned();
        usable(Verb::Fix, Slot::Error { name, line })
    };
    let fix = context
        .fixes()
        .into_iter()
        .flatten()
        .find_map(|command| usable(Verb::Run, Slot::Command(command.to_owned())));
    let edit = event.fix_file.and_then(path);
    // What fixed the error before comes before a suggestion.
    let fix = if edit.is_some() { None } else { fix };
    let program = match &fix {
        Some(Slot::Command(command)) => command.split(' ').next(),
        _ => None,
    };
    let listed: &[&str] = match program {
        Some(program) => MANIFESTS_OF
            .iter()
            .find(|(name, _)| *name == program)
            .map_or(&[], |(_, manifests)| manifests),
        None => &MANIFESTS,
    };
    let manifest = listed
        .iter()
        .filter(|manifest| (surroundings.exists)(manifest) || event.file == Some(manifest))
        .find_map(|manifest| path(manifest));
    Values {
        fix,
        edit,
        manifest,
        place: event.file.zip(event.line).and_then(|(file, line)| {
            let file = written_path(file);
            usable(Verb::See, Slot::FileLine { file, line })
        }),
        file: event.file.and_then(path),
        error: error(None),
        error_line: event.line.and_then(|line| error(Some(line))),
        test: event
            .test
            .filter(|test| message::is_test_name(test))
            .and_then(|test| usable(Verb::Fix, Slot::Test(test.to_owned()))),
    }
}
