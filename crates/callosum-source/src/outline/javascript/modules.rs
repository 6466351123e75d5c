//! Imports and exports of JavaScript files: `import`, `export`, `require`, `module.exports`.

use std::collections::HashSet;

use tree_sitter::Node;

use super::super::{
    symbol::ImportKind,
    uses::{Binding, Export, Purpose},
    walker::{Page, arguments_of, child_of_kind, named_children},
};
use super::names::{self, Required};

/// The names that a file exports apart from their declarations.
#[derive(Default)]
pub(super) struct Exports<'t> {
    names: Vec<&'t str>,
}

impl<'t> Exports<'t> {
    /// `export { a, b as c }`, `export * from "./a"`, `export default name`.
    pub(super) fn statement(
        &mut self,
        page: &mut Page<'t>,
        node: Node<'t>,
        required: &mut Required,
    ) {
        let clause = child_of_kind(node, "export_clause");
        let specifiers = clause.map(named_children).unwrap_or_default();
        let (types, values): (Vec<_>, Vec<_>) = specifiers
            .into_iter()
            .partition(|specifier| names::is_type_only(*specifier));
        let renamed = |page: &Page<'t>, specifiers: &[Node<'t>]| -> Vec<(&'t str, &'t str)> {
            let pair = |specifier: &Node<'t>| {
                let (name, alias) = (
                    page.field(*specifier, "name"),
                    page.field(*specifier, "alias"),
                );
                (name, if alias.is_empty() { name } else { alias })
            };
            specifiers.iter().map(pair).collect()
        };
        let source = node
            .child_by_field_name("source")
            .and_then(|source| page.string(source));
        if let Some(source) = source {
            let only_types = node.child(1).is_some_and(|word| word.kind() == "type");
            let namespace = child_of_kind(node, "namespace_export")
                .and_then(|export| export.named_child(0))
                .map(|name| (String::new(), page.text(name).to_owned()));
            let (values, types) = if only_types {
                (Vec::new(), [values, types].concat())
            } else {
                (values, types)
            };
            // `export { a, type B } from`: two imports, since only one of them runs.
            let are_types = match (values.is_empty(), types.is_empty()) {
                (false, false) => vec![false, true],
                (true, false) => vec![true],
                (_, true) => vec![only_types],
            };
            for are_types in are_types {
                let renamed = renamed(page, if are_types { &types } else { &values });
                let import = page.import(ImportKind::ReExport, source, node);
                import.names = renamed.iter().map(|(name, _)| (*name).to_owned()).collect();
                import.bindings = renamed
                    .into_iter()
                    .map(|(name, local)| (name.to_owned(), local.to_owned()))
                    .chain(namespace.clone())
                    .map(|(name, local)| Binding { local, name })
                    .collect();
                if are_types {
                    import.purpose = Purpose::Types;
                }
            }
            return;
        }
        for (local, name) in renamed(page, &[values, types].concat()) {
            page.outline.exports.push(Export {
                name: name.to_owned(),
                local: local.to_owned(),
            });
            self.names.push(local);
        }
        if let Some(value) = node.child_by_field_name("value") {
            self.value(page, value);
            Self::export(page, "default", value, required);
        }
        let is_default = node.child(1).is_some_and(|word| word.kind() == "default");
        let declared = node
            .child_by_field_name("declaration")
            .filter(|_| is_default);
        if let Some(name) = declared.and_then(|declared| declared.child_by_field_name("name")) {
            Self::export(page, "default", name, required);
        }
    }

    /// `module.exports = …`, `exports.a = …`, `module.exports.a = …`.
    pub(super) fn assigned(
        &mut self,
        page: &mut Page<'t>,
        target: Node<'t>,
        value: Node<'t>,
        required: &mut Required,
    ) {
        self.value(page, value);
        let is_whole = matches!(page.text(target), "module.exports" | "exports");
        let name = if is_whole {
            "="
        } else {
            page.field(target, "property")
        };
        Self::export(page, name, value, required);
    }

    /// Notes that `name` means `value` to other files, if that is a name or a module.
    pub(super) fn export(
        page: &mut Page<'t>,
        name: &str,
        value: Node<'t>,
        required: &mut Required,
    ) {
        let mut add = |page: &mut Page<'t>, name: &str, value: Node<'t>| {
            let local = match value.kind() {
                "identifier" | "shorthand_property_identifier" | "type_identifier" => {
                    page.text(value).to_owned()
                }
                // What has no other name is known by its own.
                "function_expression" | "class" => page.field(value, "name").to_owned(),
                "call_expression" | "member_expression" => {
                    let Some((call, taken)) = names::module_of(page, value) else {
                        // `exports.a = b.a`, if `b` is a module.
                        let object = value.child_by_field_name("object");
                        if object.is_some_and(|object| object.kind() == "identifier") {
                            let name = name.to_owned();
                            let local = page.text(value).to_owned();
                            page.outline.exports.push(Export { name, local });
                        }
                        return;
                    };
                    let local = format!("{}:{name}", call.start_byte());
                    required
                        .entry(call.start_byte())
                        .or_default()
                        .push(Binding {
                            local: local.clone(),
                            name: taken.unwrap_or_default().to_owned(),
                        });
                    local
                }
                _ => return,
            };
            if !local.is_empty() {
                let name = name.to_owned();
                page.outline.exports.push(Export { name, local });
            }
        };
        if value.kind() != "object" {
            add(page, name, value);
            return;
        }
        // `export default { a }` is an object whose members a user reads as `x.a`.
        let key_of = |key: &str| match name {
            "=" => Some(key.to_owned()),
            "default" => Some(format!("default.{key}")),
            _ => None,
        };
        for property in named_children(value) {
            let (key, value) = match property.kind() {
                "shorthand_property_identifier" => (page.text(property), Some(property)),
                "pair" => (
                    page.field(property, "key"),
                    property.child_by_field_name("value"),
                ),
                _ => continue,
            };
            if let (Some(key), Some(value)) = (key_of(key), value) {
                add(page, &key, value);
            }
        }
    }

    /// `module.exports = { a, b }`, `module.exports = a`, `exports.a = b`.
    pub(super) fn value(&mut self, page: &Page<'t>, value: Node<'t>) {
        match value.kind() {
            "identifier" => self.names.push(page.text(value)),
            "object" => {
                for property in named_children(value) {
                    match property.kind() {
                        "shorthand_property_identifier" => self.names.push(page.text(property)),
                        "pair" => {
                            let value = property.child_by_field_name("value");
                            self.names.extend(
                                value
                                    .filter(|value| value.kind() == "identifier")
                                    .map(|value| page.text(value)),
                            );
                        }
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }

    /// Whether a name is exported apart from its declaration.
    pub(super) fn names(&self, name: &str) -> bool {
        self.names.contains(&name)
    }

    /// Marks what was exported apart, and what it contains, as public.
    pub(super) fn finish(&self, page: &mut Page<'t>) {
        if self.names.is_empty() {
            return;
        }
        let names: HashSet<_> = self.names.iter().copied().collect();
        for symbol in &mut page.outline.symbols {
            let outermost = symbol.container.as_deref().unwrap_or(&symbol.name);
            let hidden = symbol.name.starts_with(['_', '#']) && symbol.container.is_some();
            if names.contains(outermost) && !hidden && !symbol.test {
                symbol.public = true;
            }
        }
    }
}

/// `import a, { b } from "c"`.
pub(super) fn import<'t>(page: &mut Page<'t>, node: Node<'t>) {
    let source = node
        .child_by_field_name("source")
        .or_else(|| child_of_kind(node, "import_require_clause")?.child_by_field_name("source"));
    let Some(source) = source.and_then(|source| page.string(source)) else {
        return;
    };
    let (values, types) = names::imported(page, node);
    let has_clause = child_of_kind(node, "import_clause").is_some();
    let is_mixed = !values.is_empty() && !types.is_empty();
    let parts = if is_mixed {
        // `import { a, type B }`: two imports, since only one of them runs.
        vec![(values, Purpose::Run), (types, Purpose::Types)]
    } else if types.is_empty() {
        vec![(values, Purpose::Run)]
    } else {
        vec![(types, Purpose::Types)]
    };
    for (bindings, purpose) in parts {
        let names = bindings.iter().filter(|_| has_clause);
        let names = names.map(|binding| match binding.name.as_str() {
            "" => "*".to_owned(),
            name => name.to_owned(),
        });
        let names = names.collect();
        let import = page.import(ImportKind::Use, source, node);
        import.names = names;
        import.bindings = bindings;
        import.purpose = import.purpose.max(purpose);
    }
}

/// `require("a")` and `import("a")`.
pub(super) fn required<'t>(page: &mut Page<'t>, call: Node<'t>, bindings: &mut Required) {
    if matches!(
        page.field(call, "function"),
        "require" | "import" | "require.resolve"
    ) && let [source] = arguments_of(call).as_slice()
        && let Some(source) = page.string(*source)
        && !source.contains("${")
    {
        let bindings = bindings.remove(&call.start_byte());
        // `require("./a").run()` takes a name without giving it one here.
        let member = call
            .parent()
            .filter(|node| node.kind() == "member_expression");
        let member = member.map(|node| page.field(node, "property"));
        let bindings = bindings.or_else(|| {
            let name = member?.to_owned();
            let local = format!("{}:{name}", call.start_byte());
            Some(vec![Binding { local, name }])
        });
        let bindings = bindings.unwrap_or_default();
        page.import(ImportKind::Use, source, call).bindings = bindings;
    }
}

/// `module.exports = require("./lib/app")` offers what that file does.
pub(super) fn passed_on<'t>(page: &mut Page<'t>, value: Node<'t>) {
    if value.kind() == "call_expression"
        && page.field(value, "function") == "require"
        && let [source] = arguments_of(value).as_slice()
        && let Some(source) = page.string(*source)
    {
        page.import(ImportKind::ReExport, source, value);
    }
}
