//! The declarations of C and C++, their visibility, documentation and tests.

use tree_sitter::Node;

use super::{
    super::{
        scopes::PlaceKind,
        sentence,
        symbol::{ImportKind, SymbolKind},
        walker::{Grammar, Next, Page, SymbolNode, arguments_of, cut, line_of, named_children},
    },
    declarator::Declarator,
    names,
};

/// Macros of googletest, Catch2, doctest, Boost.Test and Check that define a test.
const TEST_MACROS: [&str; 14] = [
    "TEST",
    "TEST_F",
    "TEST_P",
    "TYPED_TEST",
    "TYPED_TEST_P",
    "TEST_CASE",
    "TEST_CASE_METHOD",
    "TEMPLATE_TEST_CASE",
    "SCENARIO",
    "BOOST_AUTO_TEST_CASE",
    "BOOST_FIXTURE_TEST_CASE",
    "START_TEST",
    "FUZZ_TEST",
    "BENCHMARK_TEST",
];

/// Reads C and C++.
pub(in crate::outline) struct C {
    is_header: bool,
    /// The comment before a `template <…>` or `typedef`, and the position at which the declaration
    /// inside begins.
    passed_on: Option<(usize, String)>,
    /// For each class around, whether what comes next in it is public.
    access: Vec<(usize, bool)>,
    /// End of the last part that is only built to try the file out: `#ifdef QUEUE_TEST`.
    trial_end: usize,
    /// Position of a name that is the standard library's.
    foreign_at: Option<usize>,
}

/// The documentation before a declaration.
enum Before<'a, 't> {
    Comments(&'a [Node<'t>]),
    Said(String),
}

impl<'t> Before<'_, 't> {
    fn about(&self, page: &Page<'t>, node: Node<'t>) -> Option<String> {
        match self {
            Self::Said(about) => Some(about.clone()),
            Self::Comments(lead) => page.comment_above(lead, node),
        }
    }
}

impl C {
    pub(in crate::outline) fn new(path: &str) -> Self {
        let extension = path.rsplit('.').next().unwrap_or_default();
        Self {
            is_header: extension.starts_with('h'),
            passed_on: None,
            access: Vec::new(),
            trial_end: 0,
            foreign_at: None,
        }
    }
}

impl<'t> Grammar<'t> for C {
    fn leads(&self, kind: &str) -> bool {
        kind == "comment"
    }

    fn enter(&mut self, page: &mut Page<'t>, node: Node<'t>, lead: &[Node<'t>]) -> Next {
        names::enter(page, node);
        let around = page.places.len();
        while self.access.pop_if(|(at, _)| *at >= around).is_some() {}
        let passed_on = self
            .passed_on
            .take_if(|(start, _)| *start == node.start_byte());
        let before = match passed_on {
            Some((_, about)) => Before::Said(about),
            None => Before::Comments(lead),
        };
        match node.kind() {
            "comment" | "string_literal" | "system_lib_string" => return Next::Past,
            "identifier" | "type_identifier" | "field_identifier" | "namespace_identifier" => {
                let is_foreign = self.foreign_at == Some(node.start_byte());
                page.mention_as(node, node.kind() != "field_identifier" && !is_foreign);
                if matches!(node.kind(), "identifier" | "type_identifier") && !is_foreign {
                    page.use_name(node);
                }
                return Next::Past;
            }
            "qualified_identifier" if page.field(node, "scope") == "std" => {
                self.foreign_at = last_name(node).map(|name| name.start_byte());
            }
            "translation_unit" => {
                page.uses.keeps_unbound = true;
                about_file(page, node);
            }
            "preproc_include" => {
                include(page, node);
                return Next::Past;
            }
            "preproc_ifdef" | "preproc_if" => {
                let condition = ["name", "condition"].map(|field| cut(page.field(node, field)));
                let asks_for_less = page.text(node).starts_with("#ifndef");
                if !asks_for_less && condition.iter().any(|words| is_trial(words)) {
                    self.trial_end = node.end_byte();
                }
            }
            "preproc_function_def" => {
                noted(page, node, &before, SymbolKind::Macro, self.is_header);
                return Next::Past;
            }
            // Without a value it is a guard or a switch.
            "preproc_def" if self.is_header && node.child_by_field_name("value").is_some() => {
                noted(page, node, &before, SymbolKind::Constant, true);
                return Next::Past;
            }
            "template_declaration" => {
                let inner = named_children(node).pop();
                let about = page.comment_above(lead, node);
                self.passed_on = inner
                    .zip(about)
                    .map(|(inner, about)| (inner.start_byte(), about));
            }
            "namespace_definition" => {
                let name = page.field(node, "name");
                let named = Some(name).filter(|name| !name.is_empty());
                page.open(PlaceKind::Module, named, named.is_some());
            }
            "class_specifier" | "struct_specifier" | "union_specifier" | "enum_specifier" => {
                self.type_(page, node, &before);
            }
            "type_definition" => {
                self.typedef(page, node, &before);
            }
            "alias_declaration" | "concept_definition" => {
                let public = self.is_accessible(page);
                noted(page, node, &before, SymbolKind::Type, public);
            }
            "access_specifier" => {
                // The same word is in front of a base class.
                let rest = page.text[node.end_byte()..].trim_start();
                if let (Some((_, access)), true) = (
                    self.access.last_mut(),
                    rest.starts_with(':') && !rest.starts_with("::"),
                ) {
                    *access = page.text(node) != "private";
                }
                return Next::Past;
            }
            "function_definition" => {
                if !test_definition(page, node) {
                    self.function(page, node, &before);
                }
                page.open(PlaceKind::Function, None, true);
            }
            // Declared elsewhere, and no member.
            "friend_declaration" => page.open(PlaceKind::Function, None, false),
            "declaration" | "field_declaration" => self.declaration(page, node, &before),
            "expression_statement" => test_statement(page, node),
            _ => {}
        }
        Next::Into
    }
}

impl C {
    fn type_<'t>(&mut self, page: &mut Page<'t>, node: Node<'t>, before: &Before<'_, 't>) {
        if node.child_by_field_name("body").is_none() {
            return;
        }
        let public = self.is_accessible(page);
        noted(page, node, before, SymbolKind::Type, public);
        if node.kind() == "enum_specifier" {
            return;
        }
        let depth = page.places.len();
        self.access.push((depth, node.kind() != "class_specifier"));
        let name = page.field(node, "name");
        page.open(
            PlaceKind::Type,
            Some(name).filter(|name| !name.is_empty()),
            public,
        );
    }

    /// `typedef struct queue { … } queue;` is one type; both are best quoted by their first line.
    fn typedef<'t>(&mut self, page: &mut Page<'t>, node: Node<'t>, before: &Before<'_, 't>) {
        let declarator = node.child_by_field_name("declarator");
        let Some(declared) = declarator.and_then(Declarator::of) else {
            return;
        };
        let of = node.child_by_field_name("type");
        let tagged = of.filter(|of| of.child_by_field_name("body").is_some());
        if let Some(of) = tagged
            && page.field(of, "name") == page.text(declared.name)
        {
            self.passed_on = before
                .about(page, node)
                .map(|about| (of.start_byte(), about));
            return;
        }
        let public = self.is_accessible(page);
        let about = before.about(page, node);
        let known = page.outline.symbols.len();
        named(page, declared.name, node, about, SymbolKind::Type, public);
        // The name follows the body; the kind of the type precedes it.
        if tagged.is_some() && page.outline.symbols.len() > known {
            page.quote_last_by_first_line(node);
        }
    }

    /// Whether the place that the walk is at can be used from outside.
    fn is_accessible(&self, page: &Page<'_>) -> bool {
        !page.places.in_type() || self.access.last().is_some_and(|(_, public)| *public)
    }

    fn function<'t>(&self, page: &mut Page<'t>, node: Node<'t>, before: &Before<'_, 't>) {
        let declared = node
            .child_by_field_name("declarator")
            .and_then(Declarator::of);
        let Some(declared) = declared.filter(|declared| declared.function) else {
            return;
        };
        let is_main = page.text(declared.name) == "main";
        if is_main && page.places.is_empty() && node.start_byte() >= self.trial_end {
            page.outline.entry_point = Some(line_of(declared.name));
        }
        let public =
            self.is_accessible(page) && (page.places.in_type() || !self.is_hidden(page, node));
        let about = before.about(page, node);
        named(
            page,
            declared.name,
            node,
            about,
            SymbolKind::Function,
            public,
        );
    }

    /// Whether a function or constant is its file's own; what a header holds is everyone's, even
    /// `static inline`.
    fn is_hidden(&self, page: &Page<'_>, node: Node<'_>) -> bool {
        !self.is_header && has_word(page, node, "storage_class_specifier", &["static"])
    }

    /// Methods of a class; functions and constants of a header.
    fn declaration<'t>(&self, page: &mut Page<'t>, node: Node<'t>, before: &Before<'_, 't>) {
        if page.places.in_function() {
            return;
        }
        let mut cursor = node.walk();
        let declarators: Vec<_> = node
            .children_by_field_name("declarator", &mut cursor)
            .collect();
        let in_type = page.places.in_type();
        let public = self.is_accessible(page) && (in_type || !self.is_hidden(page, node));
        let is_constant = !in_type && is_constant(page, node);
        let about = before.about(page, node);
        for declarator in declarators {
            let Some(declared) = Declarator::of(declarator) else {
                continue;
            };
            let kind = match declared.function {
                true if self.is_header || in_type => SymbolKind::Function,
                false if is_constant => SymbolKind::Constant,
                _ => continue,
            };
            named(page, declared.name, node, about.clone(), kind, public);
        }
    }
}

/// The name that a qualified one ends in, without its template's arguments.
fn last_name(qualified: Node<'_>) -> Option<Node<'_>> {
    let mut last = qualified;
    while matches!(
        last.kind(),
        "qualified_identifier" | "template_type" | "template_function"
    ) {
        last = last.child_by_field_name("name")?;
    }
    Some(last)
}

/// Whether a condition asks for a part that only tries the rest out.
fn is_trial(condition: &str) -> bool {
    let mut words = condition.split(|c: char| !c.is_ascii_alphanumeric());
    let trials = [
        "TEST",
        "TESTS",
        "SELFTEST",
        "DEMO",
        "EXAMPLE",
        "BENCHMARK",
        "MAIN",
    ];
    condition == "0" || !condition.contains('!') && words.any(|word| trials.contains(&word))
}

/// Notes the name in the `name` field of a node.
fn noted<'t>(
    page: &mut Page<'t>,
    node: Node<'t>,
    before: &Before<'_, 't>,
    kind: SymbolKind,
    public: bool,
) {
    if let Some(name) = node.child_by_field_name("name") {
        named(page, name, node, before.about(page, node), kind, public);
    }
}

fn named<'t>(
    page: &mut Page<'t>,
    name: Node<'t>,
    whole: Node<'t>,
    about: Option<String>,
    kind: SymbolKind,
    public: bool,
) {
    let repeats = page.outline.symbols.last().is_some_and(|last| {
        last.name == page.text(name) && last.kind == kind && kind == SymbolKind::Type
    });
    if page.places.in_function() || repeats {
        return;
    }
    let in_type = page.places.in_type();
    // `int Queue::size()`: the last part is the name, what is before it the class.
    let (owner, last) = split_qualified(page, name);
    let mut found = SymbolNode {
        kind,
        name: last,
        whole,
        public,
        about,
    };
    if kind == SymbolKind::Function && (in_type || owner.is_some()) {
        found.kind = SymbolKind::Method;
    }
    let symbol = page.add(found);
    if let Some(owner) = owner {
        symbol.container = Some(cut(owner).to_owned());
    }
}

fn split_qualified<'t>(page: &Page<'t>, name: Node<'t>) -> (Option<&'t str>, Node<'t>) {
    let (mut owner, mut last) = (None, name);
    while last.kind() == "qualified_identifier" {
        let Some(inner) = last.child_by_field_name("name") else {
            break;
        };
        let scope = page.field(last, "scope");
        let scope = scope.split('<').next().unwrap_or(scope);
        owner = Some(scope).filter(|scope| !scope.is_empty());
        last = inner;
    }
    (owner, last)
}

fn is_constant(page: &Page<'_>, node: Node<'_>) -> bool {
    has_word(
        page,
        node,
        "type_qualifier",
        &["const", "constexpr", "constinit"],
    ) || has_word(
        page,
        node,
        "storage_class_specifier",
        &["extern", "constexpr"],
    )
}

fn has_word(page: &Page<'_>, node: Node<'_>, kind: &str, words: &[&str]) -> bool {
    node.named_children(&mut node.walk())
        .any(|child| child.kind() == kind && words.contains(&page.text(child)))
}

fn include<'t>(page: &mut Page<'t>, node: Node<'t>) {
    let Some(path) = node.child_by_field_name("path") else {
        return;
    };
    let text = page.text(path);
    let kind = match path.kind() {
        "string_literal" => ImportKind::IncludeLocal,
        "system_lib_string" => ImportKind::IncludeSystem,
        _ => return, // the macro of some build
    };
    page.import(kind, text.trim_matches(['"', '<', '>']), node);
}

/// Returns the first comment that is no license, if it is about the file.
fn about_file<'t>(page: &mut Page<'t>, unit: Node<'t>) {
    let mut cursor = unit.walk();
    let mut comments: Vec<Node<'t>> = Vec::new();
    for child in unit.named_children(&mut cursor) {
        if child.kind() == "comment" {
            comments.push(child);
            continue;
        }
        // A comment that touches a declaration is the declaration's.
        let last = comments.last().map(|last| last.end_position().row + 1);
        if last == Some(child.start_position().row) && !child.kind().starts_with("preproc") {
            comments.pop();
        }
        break;
    }
    // Lines of `//` that follow one another are one text.
    let mut at = 0;
    while at < comments.len() {
        let mut end = at + 1;
        while end < comments.len()
            && comments[end].start_position().row == comments[end - 1].end_position().row + 1
        {
            end += 1;
        }
        let lines: Vec<_> = comments[at..end]
            .iter()
            .map(|comment| sentence::bare(page.text(*comment)))
            .collect();
        page.about_file(&lines.join("\n"), comments[at]);
        at = end;
    }
}

/// `TEST(Suite, Name) { … }`, which reads like a function without a return type.
fn test_definition<'t>(page: &mut Page<'t>, node: Node<'t>) -> bool {
    let declarator = node.child_by_field_name("declarator");
    let Some(declarator) = declarator.filter(|of| of.kind() == "function_declarator") else {
        return false;
    };
    let is_test = TEST_MACROS.contains(&page.field(declarator, "declarator"));
    if is_test && let Some(parameters) = declarator.child_by_field_name("parameters") {
        test(page, &named_children(parameters), declarator, node);
    }
    is_test
}

/// `TEST_CASE("it adds", "[math]") { … }`, which reads like a call and a block.
fn test_statement<'t>(page: &mut Page<'t>, node: Node<'t>) {
    let call = node
        .named_child(0)
        .filter(|call| call.kind() == "call_expression");
    if let Some(call) = call
        && TEST_MACROS.contains(&page.field(call, "function"))
        && !page.places.in_function()
    {
        test(page, &arguments_of(call), call, node);
    }
}

fn test<'t>(page: &mut Page<'t>, arguments: &[Node<'t>], at: Node<'t>, whole: Node<'t>) {
    let words = |node: &Node<'t>| cut(page.string(*node).unwrap_or_else(|| page.text(*node)));
    let (suite, name) = match arguments {
        [suite, name, ..] if page.string(*suite).is_none() => (Some(words(suite)), words(name)),
        [name, ..] => (None, words(name)),
        [] => return,
    };
    let (suite, name) = (suite.map(str::to_owned), name.to_owned());
    let found = SymbolNode {
        kind: SymbolKind::Function,
        name: at,
        whole,
        public: false,
        about: None,
    };
    let symbol = page.add_named(&name, found);
    symbol.test = true;
    if suite.is_some() {
        symbol.container = suite;
    }
}
