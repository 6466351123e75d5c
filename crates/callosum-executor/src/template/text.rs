//! [`Template`]: a line split into words, checked, and filled in.

use std::{
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
};

use super::interpreter;
use crate::sanitize::fit_shortly;

const PROMPT: &str = "{prompt}";
const SELF: &str = "{self}";
const SCHEMA: &str = "{schema}";
const SCHEMA_FILE: &str = "{schema_file}";

/// Longest argument in bytes: the system takes 128 KiB, including one byte for the end mark.
pub const LONGEST_ARGUMENT: usize = 128 * 1024 - 1;

/// A command template, split into words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    text: String,
    words: Vec<String>,
}

/// A program and its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// The program: a path, or a name to be looked up in `PATH`.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
}

/// Values for the placeholders of a client's template.
#[derive(Clone, Copy, Debug)]
pub struct Filling<'a> {
    /// This program.
    pub self_program: &'a Path,
    /// The prompt, in words.
    pub prompt: &'a str,
    /// The JSON schema of an answer.
    pub schema: &'a str,
    /// A file that holds it.
    pub schema_file: &'a Path,
}

/// Reason why a template cannot be used, or not with this prompt.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    /// There is nothing in it.
    #[error("the command template is empty")]
    Empty,
    /// A quote is open at its end, or it ends in a backslash.
    #[error("the command template `{template}` ends inside a quote or after a backslash")]
    Unfinished {
        /// The template.
        template: String,
    },
    /// It names something that we do not fill in.
    #[error(
        "the command template `{template}` has the placeholder `{placeholder}` \
         (known: `{{prompt}}`, `{{self}}`)"
    )]
    UnknownPlaceholder {
        /// The template.
        template: String,
        /// The name of the placeholder.
        placeholder: String,
    },
    /// The prompt would decide which program runs.
    #[error("the command template `{template}` would run the prompt as a program")]
    PromptAsProgram {
        /// The template.
        template: String,
    },
    /// The prompt would be run by a shell or another interpreter.
    #[error(
        "the command template `{template}` would let `{interpreter}` run the prompt; pass it as \
         an argument of what it runs, as in `sh -c 'ask \"$1\"' _ {{prompt}}`, or leave it out: \
         then the request comes on standard input"
    )]
    PromptAsCode {
        /// The template.
        template: String,
        /// The interpreter.
        interpreter: String,
    },
    /// The prompt does not fit into one argument.
    #[error(
        "the prompt makes an argument of {bytes} bytes for `{template}` (limit: \
         {LONGEST_ARGUMENT}); a template without `{{prompt}}` gets it on standard input, which \
         has no such limit"
    )]
    PromptTooLong {
        /// The template.
        template: String,
        /// Length of the word that contains the prompt.
        bytes: usize,
    },
    /// The prompt holds a NUL byte, which no argument can.
    #[error(
        "the prompt contains a NUL byte (at byte {at}), which cannot be passed to `{template}`"
    )]
    PromptWithNul {
        /// The template.
        template: String,
        /// Offset in the prompt.
        at: usize,
    },
}

impl Template {
    /// Splits a template into words and checks that no prompt could do harm in it.
    pub fn parse(text: &str) -> Result<Self, TemplateError> {
        Self::parse_knowing(text, &[PROMPT, SELF])
    }

    /// The same for a client with a dialect, whose template may also have `{schema}`, the JSON
    /// schema of an answer, and `{schema_file}`, a file that holds it.
    pub fn parse_for_client(text: &str) -> Result<Self, TemplateError> {
        Self::parse_knowing(text, &[PROMPT, SELF, SCHEMA, SCHEMA_FILE])
    }

    fn parse_knowing(text: &str, known: &[&str]) -> Result<Self, TemplateError> {
        let template = || fit_shortly(text);
        let words = shlex::split(text).ok_or_else(|| TemplateError::Unfinished {
            template: template(),
        })?;
        let Some(program) = words.first().filter(|word| !word.is_empty()) else {
            return Err(TemplateError::Empty);
        };
        for word in &words {
            if let Some(placeholder) = unknown_placeholder(word, known) {
                return Err(TemplateError::UnknownPlaceholder {
                    template: template(),
                    placeholder: placeholder.to_owned(),
                });
            }
        }
        if program.contains(PROMPT) {
            return Err(TemplateError::PromptAsProgram {
                template: template(),
            });
        }
        if let Some(interpreter) = interpreter::that_runs(PROMPT, &words) {
            return Err(TemplateError::PromptAsCode {
                template: template(),
                interpreter: fit_shortly(interpreter),
            });
        }
        Ok(Self {
            text: text.to_owned(),
            words,
        })
    }

    /// The template as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// All of its words, as they are written.
    pub(crate) fn words(&self) -> &[String] {
        &self.words
    }

    /// Its first word: the program, or `{self}`.
    pub fn program(&self) -> &str {
        &self.words[0]
    }

    /// Whether the prompt goes into the arguments; else the whole request goes to standard input.
    pub fn takes_prompt(&self) -> bool {
        self.words.iter().any(|word| word.contains(PROMPT))
    }

    /// Whether it wants the schema of an answer in a file.
    pub fn takes_schema_file(&self) -> bool {
        self.words.iter().any(|word| word.contains(SCHEMA_FILE))
    }

    /// The options that it uses, without their values: words that begin with `-` after the program,
    /// which may itself be started by another.
    pub fn options(&self) -> Vec<&str> {
        let words = self.words.iter().skip(self.program_words());
        let options = words.filter(|word| word.starts_with('-') && word.len() > 1 && *word != "--");
        options
            .map(|word| {
                word.split_once('=')
                    .map_or(word.as_str(), |(option, _)| option)
            })
            .collect()
    }

    /// Returns the program with what it takes to start it, without arguments of its own.
    pub fn program_alone(&self, self_program: &Path) -> Command {
        let mut words = self.words[..self.program_words()].iter().map(|word| {
            fill_word(
                word,
                &Filling {
                    self_program,
                    prompt: "",
                    schema: "",
                    schema_file: Path::new(""),
                },
            )
        });
        Command {
            program: words.next().map(PathBuf::from).unwrap_or_default(),
            arguments: words.collect(),
        }
    }

    /// Returns the number of words that name the program: one, or an interpreter and a file.
    fn program_words(&self) -> usize {
        let second = self.words.get(1);
        let is_file = second.is_some_and(|word| word.contains('/') && !word.starts_with('-'));
        if is_file { 2 } else { 1 }
    }

    /// Fills the template in.
    ///
    /// A prompt that begins with `-` gets a blank before it if it is at the beginning of a word, so
    /// that no program takes it for an option.
    pub fn fill(&self, self_program: &Path, prompt: &str) -> Result<Command, TemplateError> {
        self.fill_for_client(&Filling {
            self_program,
            prompt,
            schema: SCHEMA,
            schema_file: Path::new(SCHEMA_FILE),
        })
    }

    /// The same for a client with a dialect.
    pub fn fill_for_client(&self, filling: &Filling<'_>) -> Result<Command, TemplateError> {
        let prompt = filling.prompt;
        if self.takes_prompt()
            && let Some(at) = prompt.bytes().position(|byte| byte == 0)
        {
            return Err(TemplateError::PromptWithNul {
                template: fit_shortly(&self.text),
                at,
            });
        }
        let mut words = self.words.iter().map(|word| fill_word(word, filling));
        let program = words.next().map(PathBuf::from).unwrap_or_default();
        let arguments: Vec<OsString> = words.collect();
        match arguments.iter().map(|word| word.len()).max() {
            Some(bytes) if bytes > LONGEST_ARGUMENT => Err(TemplateError::PromptTooLong {
                template: fit_shortly(&self.text),
                bytes,
            }),
            _ => Ok(Command { program, arguments }),
        }
    }
}

fn fill_word(word: &str, filling: &Filling<'_>) -> OsString {
    let mut filled = OsString::with_capacity(word.len() + filling.prompt.len());
    if word.starts_with(PROMPT) && filling.prompt.starts_with('-') {
        filled.push(" ");
    }
    let places: [(&str, &OsStr); 4] = [
        (PROMPT, filling.prompt.as_ref()),
        (SELF, filling.self_program.as_ref()),
        (SCHEMA, filling.schema.as_ref()),
        (SCHEMA_FILE, filling.schema_file.as_ref()),
    ];
    let mut rest = word;
    while let Some(at) = rest.find('{') {
        filled.push(&rest[..at]);
        rest = &rest[at..];
        let place = places
            .iter()
            .find_map(|(name, value)| Some((rest.strip_prefix(name)?, value)));
        if let Some((after, value)) = place {
            filled.push(value);
            rest = after;
        } else {
            filled.push("{");
            rest = &rest[1..];
        }
    }
    filled.push(rest);
    filled
}

/// The first `{word}` that looks like a placeholder and is none; JSON in a template does not.
fn unknown_placeholder<'w>(word: &'w str, known: &[&str]) -> Option<&'w str> {
    word.match_indices('{').find_map(|(at, _)| {
        let end = at + word[at..].find('}')? + 1;
        let inner = &word[at + 1..end - 1];
        let looks_like_one =
            !inner.is_empty() && inner.chars().all(|c| c.is_ascii_lowercase() || c == '_');
        let placeholder = &word[at..end];
        (looks_like_one && !known.contains(&placeholder)).then_some(placeholder)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn filled(template: &str, prompt: &str) -> Vec<String> {
        let command = Template::parse(template)
            .unwrap()
            .fill(Path::new("/opt/my tools/callosum"), prompt)
            .unwrap();
        std::iter::once(command.program.into_os_string())
            .chain(command.arguments)
            .map(|word| word.into_string().unwrap())
            .collect()
    }

    fn refusal(template: &str) -> String {
        Template::parse(template).unwrap_err().to_string()
    }

    /// REQ-EXE-001: the seed's own example (CAL §11.2).
    #[test]
    fn a_template_is_split_as_a_shell_would() {
        assert_eq!(
            filled("ollama-code -p \"{prompt}\"", "say \"hi\"; $(reboot)\n`x`"),
            ["ollama-code", "-p", "say \"hi\"; $(reboot)\n`x`"]
        );
        assert_eq!(
            filled("{self} executor run scout", "unused"),
            ["/opt/my tools/callosum", "executor", "run", "scout"]
        );
        assert_eq!(
            filled("a --ask='{prompt}' '{\"k\":{}}' {self}", "{self}"),
            ["a", "--ask={self}", "{\"k\":{}}", "/opt/my tools/callosum"]
        );
    }

    /// CAL-COM-1: a prompt never becomes an option.
    #[test]
    fn a_prompt_that_begins_with_a_dash_stays_a_prompt() {
        assert_eq!(filled("a {prompt}", "--yolo"), ["a", " --yolo"]);
        assert_eq!(filled("a -p={prompt}", "--yolo"), ["a", "-p=--yolo"]);
    }

    #[test]
    fn templates_that_cannot_work_say_why() {
        insta::assert_snapshot!(refusal("  "), @"the command template is empty");
        insta::assert_snapshot!(refusal("'' {prompt}"), @"the command template is empty");
        insta::assert_snapshot!(refusal("a 'b"), @"the command template `a 'b` ends inside a quote or after a backslash");
        insta::assert_snapshot!(refusal("a {promt}"), @"the command template `a {promt}` has the placeholder `{promt}` (known: `{prompt}`, `{self}`)");
        insta::assert_snapshot!(refusal("{prompt} a"), @"the command template `{prompt} a` would run the prompt as a program");
        insta::assert_snapshot!(refusal("/bin/bash -lc 'x {prompt}'"), @r#"the command template `/bin/bash -lc 'x {prompt}'` would let `/bin/bash` run the prompt; pass it as an argument of what it runs, as in `sh -c 'ask "$1"' _ {prompt}`, or leave it out: then the request comes on standard input"#);
    }

    #[test]
    fn a_shell_that_gets_the_prompt_as_an_argument_is_fine() {
        assert_eq!(
            filled("sh -c 'ask \"$1\"' _ {prompt}", "$(reboot)"),
            ["sh", "-c", "ask \"$1\"", "_", "$(reboot)"]
        );
    }

    /// CAL-COM-1: 128 KiB − 1 bytes and no NUL; without `{prompt}` neither matters.
    #[test]
    fn a_prompt_that_no_argument_can_hold_is_refused() {
        let template = Template::parse("a -p {prompt}").unwrap();
        let longest = "x".repeat(LONGEST_ARGUMENT);
        assert!(template.fill(Path::new("c"), &longest).is_ok());
        let error = template
            .fill(Path::new("c"), &(longest.clone() + "x"))
            .unwrap_err();
        assert!(matches!(
            error,
            TemplateError::PromptTooLong { bytes: 131_072, .. }
        ));
        let error = template.fill(Path::new("c"), "ab\0").unwrap_err();
        assert!(matches!(error, TemplateError::PromptWithNul { at: 2, .. }));

        let over_input = Template::parse("a").unwrap();
        assert!(!over_input.takes_prompt());
        assert!(over_input.fill(Path::new("c"), &(longest + "x\0")).is_ok());
    }

    proptest! {
        /// CAL-COM-1: for any prompt, the words stay those of the template.
        #[test]
        fn a_prompt_never_changes_the_number_of_words(prompt in "[^\0]{0,80}") {
            let words = filled("a -p \"{prompt}\" --last", &prompt);
            prop_assert_eq!(words.len(), 4);
            prop_assert_eq!(words[2].trim_start_matches(' '), prompt.trim_start_matches(' '));
        }
    }
}
