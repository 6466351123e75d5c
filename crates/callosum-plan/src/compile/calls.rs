//! Calls of capabilities, which are named where they stand, and queries, which are written shorter.

use super::{Compiler, MAX_SUGGESTED};
use crate::{
    capability::CapabilityName,
    finding::{Finding, Rule},
    form::{Form, FormKind},
    program::{Expression, Id},
    value::Value,
};

/// Longest name of a capability that others are compared with, in bytes; two are compared in the
/// product of their lengths.
const LIKENED: usize = 64;

impl Compiler<'_> {
    /// Whether `(:name …)` begins with a query's name, in any spelling, and does not look it up in
    /// a literal map that has it as a key.
    pub(super) fn is_query(&self, name: &str, arguments: &[Form]) -> bool {
        let is_one =
            CapabilityName::parse(name).is_ok_and(|name| self.options.queries.contains(&name));
        let looks_up = arguments.first().is_some_and(|first| match &first.kind {
            FormKind::Map(pairs) => pairs.iter().any(|(key, _)| key.as_keyword() == Some(name)),
            _ => false,
        });
        is_one && !looks_up
    }

    /// `(:name :key value …)`, or `(:name {…})` with the map as it is. Any other arguments of a
    /// query's name are refused: they would look into a map, call nothing, and mostly come to nil.
    pub(super) fn query(&mut self, form: &Form, name: &str, arguments: &[Form]) -> Id {
        if let [map] = arguments
            && matches!(map.kind, FormKind::Map(_))
        {
            let asked = self.compile(map);
            return self.call_of(form, name, vec![asked]);
        }
        let (pairs, rest) = arguments.as_chunks::<2>();
        if !rest.is_empty() || pairs.iter().any(|[key, _]| key.as_keyword().is_none()) {
            self.refuse(
                form.span,
                Rule::MalformedForm,
                format!("the query `:{name}` takes pairs of a keyword and a value, or one map"),
                format!(
                    "write `(:{name} :key value …)`, or `(call :{name} map)` for a computed map; `(get map :{name})` reads a map"
                ),
            );
            return self.emit(Expression::Constant(Value::Nil), form.span);
        }
        let pairs = pairs.iter().map(|[key, value]| (key, value));
        let asked = self.map(pairs, form.span);
        self.call_of(form, name, vec![asked])
    }

    /// A call of a capability named in the source.
    pub(super) fn call_of(&mut self, form: &Form, name: &str, arguments: Vec<Id>) -> Id {
        if self.pure > 0 {
            self.refuse(
                form.span,
                Rule::EffectInPure,
                format!("`:{name}` is called inside `pure`"),
                "move the call out of `pure`, and pass its value in",
            );
        }
        let capability = match CapabilityName::parse(name) {
            Ok(capability) => capability,
            Err(error) => {
                self.refuse(
                    form.span,
                    Rule::MalformedCapability,
                    error.to_string(),
                    "write a capability as a keyword, such as `:storage.read`",
                );
                return self.emit(Expression::Constant(Value::Nil), form.span);
            }
        };
        if let Some(allowed) = &self.options.allowed
            && !allowed.allows(&capability)
        {
            let hint = format!("allowed: {allowed}");
            self.refuse(
                form.span,
                Rule::CapabilityNotAllowed,
                format!("`:{capability}` is not allowed"),
                hint,
            );
        }
        self.check_provided(&capability, form);
        self.capabilities.insert(capability.clone());
        self.emit(
            Expression::Call {
                capability,
                arguments,
            },
            form.span,
        )
    }

    /// Refuses a capability that no one provides, unless the source handles its absence.
    fn check_provided(&mut self, capability: &CapabilityName, form: &Form) {
        let Some(provided) = &self.options.provided else {
            return;
        };
        if self.catching > 0 || provided.contains(capability) {
            return;
        }
        let message = format!("no provider for `:{capability}`");
        let finding = Finding::new(form.span, Rule::UnknownCapability, message);
        let near = if self.findings.len() < MAX_SUGGESTED {
            meant(capability, provided)
        } else {
            None
        };
        self.find(match near {
            Some(near) => finding.with_hint(format!("did you mean `:{near}`?")),
            None => finding,
        });
    }
}

/// The capability that a name was probably meant to be: one edit for each five letters away, at least one.
///
/// Likeness of beginnings says nothing here: many capabilities have a first segment in common.
fn meant<'a>(
    name: &CapabilityName,
    provided: impl IntoIterator<Item = &'a CapabilityName>,
) -> Option<&'a CapabilityName> {
    let name = name.as_str();
    let edits = (name.len() / 5).max(1);
    provided
        .into_iter()
        .filter(|known| name.len().max(known.as_str().len()) <= LIKENED)
        .map(|known| (strsim::damerau_levenshtein(name, known.as_str()), known))
        .filter(|(distance, _)| *distance <= edits)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, known)| known)
}
