//! Calls of capabilities, which are named where they stand, and queries, which are written shorter.

use super::Compiler;
use crate::{
    capability::CapabilityName,
    finding::Rule,
    form::{Form, FormKind},
    program::{Expression, Id},
    value::Value,
};

impl Compiler<'_> {
    /// Whether `(:name …)` is one of the queries: its arguments are pairs of keyword and value, or the map
    /// of them as it stands. In a map that has the query's own name it is looked up.
    pub(super) fn is_query(&self, name: &str, arguments: &[Form]) -> bool {
        let is_one =
            CapabilityName::parse(name).is_ok_and(|name| self.options.queries.contains(&name));
        if let [
            Form {
                kind: FormKind::Map(pairs),
                ..
            },
        ] = arguments
        {
            let mut keys = pairs.iter().map(|(key, _)| key.as_keyword());
            return is_one && keys.all(|key| key.is_some_and(|key| key != name));
        }
        is_one
            && arguments.len().is_multiple_of(2)
            && arguments
                .iter()
                .step_by(2)
                .all(|form| form.as_keyword().is_some())
    }

    pub(super) fn query(&mut self, form: &Form, name: &str, arguments: &[Form]) -> Id {
        let asked = if let [map] = arguments {
            self.compile(map)
        } else {
            let (pairs, _) = arguments.as_chunks::<2>();
            let pairs = pairs.iter().map(|[key, value]| (key, value));
            self.map(pairs, form.span)
        };
        self.call_of(form, name, vec![asked])
    }

    /// A call of a capability named in the source.
    pub(super) fn call_of(&mut self, form: &Form, name: &str, arguments: Vec<Id>) -> Id {
        if self.pure > 0 {
            self.refuse(
                form.span,
                Rule::EffectInPure,
                format!("`:{name}` is called under `pure`"),
                "take the call out of `pure`, and hand its value in",
            );
        }
        let capability = match CapabilityName::parse(name) {
            Ok(capability) => capability,
            Err(error) => {
                self.refuse(
                    form.span,
                    Rule::MalformedCapability,
                    error.to_string(),
                    "a capability is named as `:storage.read`",
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
        self.capabilities.insert(capability.clone());
        self.emit(
            Expression::Call {
                capability,
                arguments,
            },
            form.span,
        )
    }
}
