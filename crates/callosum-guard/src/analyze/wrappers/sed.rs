//! `sed`: the text that its scripts pass to a shell, and what they write to files.

use crate::{
    analyze::{
        evaluator::Evaluator,
        value::{Arg, SOME, Value},
    },
    sed::{Sed, SedAction, deeds},
};

impl Evaluator<'_> {
    pub(super) fn sed(&mut self, words: &[Arg], input: Option<&Value>) -> Value {
        let sed = Sed::read(words);
        let mut scripts: Vec<String> = sed.scripts.iter().map(|&text| text.to_owned()).collect();
        for file in sed.script_files {
            let is_input = matches!(file.text.as_str(), "-" | "/dev/stdin");
            let content = match input {
                Some(input) if is_input => input.clone(),
                _ => self.content(file),
            };
            scripts.push(content.text);
        }
        for deed in scripts.iter().flat_map(|script| deeds(script)).take(64) {
            match deed {
                SedAction::Runs(text) => {
                    // `&` is what was found.
                    let text = text.replace('&', &SOME.to_string());
                    self.nested("sed e", &text, None);
                }
                SedAction::RunsTheLine => {
                    self.inner("sed e", &[Arg::plain("unknown-script")], None);
                }
                SedAction::Writes(file) => {
                    let tee = [Arg::plain("tee"), Arg::plain(file)];
                    self.inner("sed w", &tee, Some(&Value::unknown()));
                }
            }
        }
        self.edited_by_sed(words);
        self.output_of("sed", words, input)
    }
}
