//! Meaning of a symbol: a local, a global, a function of the library, or nothing, with what was
//! probably meant.

use super::{
    Compiler, MAX_SUGGESTED, annotation, forms,
    scope::{Access, Resolved},
    unsupported,
};
use crate::{
    finding::Rule,
    form::Form,
    program::{Expression, Id},
    span::Span,
    value::Value,
};

impl Compiler<'_> {
    pub(super) fn symbol(&mut self, form: &Form, name: &str) -> Id {
        if forms::is_special(name) {
            self.refuse(
                form.span,
                Rule::MalformedForm,
                format!("`{name}` is a form, not a value"),
                forms::instead_of_its_name(name),
            );
            return self.emit(Expression::Constant(Value::Nil), form.span);
        }
        let Some(resolved) = self.resolve(name) else {
            self.undefined(form, name);
            return self.emit(Expression::Constant(Value::Nil), form.span);
        };
        self.refer(resolved, form.span)
    }

    pub(super) fn refer(&mut self, resolved: Resolved, span: Span) -> Id {
        let expression = match resolved.access {
            Access::Local(slot) => Expression::Local(slot),
            Access::Captured(place) => Expression::Captured(place),
            Access::Sibling(member) => Expression::Sibling(member),
            Access::Global(place) => Expression::Global(place),
            Access::Library(function) => Expression::Constant(Value::Function(
                crate::value::Function(crate::value::Callable::Library(function)),
            )),
        };
        let id = self.emit(expression, span);
        if let Some(reference) = resolved.reference {
            self.references.insert(id, reference);
        }
        id
    }

    pub(super) fn undefined(&mut self, form: &Form, name: &str) {
        if let Some(hint) = unsupported::hint(name) {
            self.refuse(
                form.span,
                Rule::UnsupportedForm,
                format!("`{name}` is not supported"),
                hint,
            );
            return;
        }
        let is_word = !unsupported::is_text(name) && !unsupported::is_dotted(name);
        let near = if self.findings.len() < MAX_SUGGESTED && is_word {
            self.nearest(name)
        } else {
            None
        };
        let hint = match near {
            _ if let Some((own, _)) = annotation::split_word(name)
                && self.resolve(own).is_some() =>
            {
                format!("a type follows a name only where it is bound; write `{own}`")
            }
            Some(near) => format!("did you mean `{near}`?"),
            None if name.starts_with('%') => "write `(fn [x] …)`".to_owned(),
            None if unsupported::is_dotted(name) => {
                let last = name.rsplit(['.', '/']).next().unwrap_or_default();
                let is_ours = self.options.library.names().any(|own| &**own == last);
                if is_ours {
                    format!("functions have no module prefix: `{last}`")
                } else {
                    format!("call a capability with `(call :{name} {{…}})`")
                }
            }
            None if unsupported::is_text(name) => format!("write it as a string: `\"{name}\"`"),
            None => {
                "define it first with `let`, `def` or `defn`, or make it a parameter".to_owned()
            }
        };
        self.refuse(
            form.span,
            Rule::UndefinedSymbol,
            format!("undefined name `{name}`"),
            hint,
        );
    }
}
