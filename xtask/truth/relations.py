"""Prints the edges and uses of a Python tree, for `cargo xtask truth`.

Python's own parser reads the files and Python's own finder says which file a module is. Nothing of
the tree is run. Input and output are JSON: see `xtask/src/truth/oracle.rs`. What an edge and a use
are is in `xtask/src/truth/mod.rs`.
"""

import ast
import importlib.machinery
import json
import os
import sys

asked = json.load(sys.stdin)
ROOT = os.path.realpath(asked["root"])
FILES = asked["files"]
ROOTS = [os.path.normpath(os.path.join(ROOT, root)) for root in asked["roots"]]
KNOWN = set(FILES)


def relative(path):
    return os.path.relpath(os.path.realpath(path), ROOT).replace(os.sep, "/")


def is_package(folder):
    return os.path.exists(os.path.join(folder, "__init__.py"))


class Finder:
    """Finds modules as the interpreter would for a program that starts with one file."""

    def __init__(self):
        self.cache = {}

    def start(self, file):
        """The folder that Python, or pytest, puts first on the path for a file.

        That is the folder above its outermost package. A folder without `__init__.py` inside of a package
        is part of it.
        """
        folder = os.path.dirname(os.path.join(ROOT, file))
        start = folder
        while folder != ROOT and folder not in ROOTS:
            if is_package(folder):
                start = os.path.dirname(folder)
            folder = os.path.dirname(folder)
        return start

    def module(self, file):
        """The dotted name of a file, as seen from its start folder."""
        parts = os.path.relpath(os.path.join(ROOT, file), self.start(file)).split(os.sep)
        last = parts.pop().rsplit(".", 1)[0]
        if last != "__init__":
            parts.append(last)
        return parts

    def find(self, file, parts):
        """The spec of a dotted name in a file; None if it is outside of the tree."""
        first = parts[0]
        if first in sys.builtin_module_names:
            return None
        key = (self.start(file), tuple(parts))
        if key not in self.cache:
            paths = [[self.start(file)], ROOTS]
            if first in sys.stdlib_module_names:
                paths = paths[:1]
            found = None
            for path in paths:
                found = self.along(path, parts)
                if found is not None:
                    break
            self.cache[key] = found
        return self.cache[key]

    def along(self, path, parts):
        spec = None
        for at, part in enumerate(parts):
            # The last part alone: for a dotted name the finder would look for imported parents.
            spec = importlib.machinery.PathFinder.find_spec(part, path)
            if spec is None:
                return None
            path = spec.submodule_search_locations
            if path is None and at + 1 < len(parts):
                return None
        return spec


FINDER = Finder()


def file_of(spec):
    """The file of a spec, if it is one of the tree."""
    if spec is None or spec.origin is None or not spec.origin.endswith(".py"):
        return None
    path = relative(spec.origin)
    return path if path in KNOWN else None


def absolute(file, node):
    """The dotted name that a `from` import is about; None if it leaves the package."""
    parts = (node.module or "").split(".") if node.module else []
    if not node.level:
        return parts
    own = FINDER.module(file)
    package = own if file.endswith("__init__.py") else own[:-1]
    up = node.level - 1
    if up > len(package):
        return None
    return package[: len(package) - up] + parts


class Bound:
    """What an import binds a name to: a module, or a name of a module."""

    def __init__(self, parts, name, types):
        self.parts, self.name, self.types = parts, name, types


class Module:
    """The top level of one file."""

    def __init__(self, file):
        self.file = file
        with open(os.path.join(ROOT, file), "rb") as opened:
            self.tree = ast.parse(opened.read(), file)
        self.declared = {}
        self.imported = {}
        self.stars = []
        self.block(self.tree.body, False)

    def block(self, body, types):
        for node in body:
            self.statement(node, types)

    def statement(self, node, types):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            self.declared.setdefault(node.name, node.lineno)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            for name, bound in bindings(self.file, node, types):
                self.imported.setdefault(name, []).append(bound)
            if isinstance(node, ast.ImportFrom) and any(a.name == "*" for a in node.names):
                parts = absolute(self.file, node)
                if parts:
                    self.stars.append(parts)
        elif isinstance(node, ast.If):
            checker = is_type_checking(node.test)
            self.block(node.body, types or checker)
            self.block(node.orelse, types)
        elif isinstance(node, (ast.Try, getattr(ast, "TryStar", ast.Try))):
            self.block(node.body, types)
            for handler in node.handlers:
                self.block(handler.body, types)
            self.block(node.orelse, types)
            self.block(node.finalbody, types)
        elif isinstance(node, (ast.With, ast.AsyncWith, ast.For, ast.AsyncFor, ast.While)):
            for name in targets(node):
                self.declared.setdefault(name, node.lineno)
            self.block(node.body, types)
            self.block(getattr(node, "orelse", []), types)
        else:
            for name in targets(node):
                self.declared.setdefault(name, node.lineno)


def targets(node):
    """The names that one statement assigns, without those of inner scopes."""
    open_nodes = []
    if isinstance(node, ast.Assign):
        open_nodes = list(node.targets)
    elif isinstance(node, (ast.AnnAssign, ast.AugAssign)):
        open_nodes = [node.target]
    elif isinstance(node, (ast.For, ast.AsyncFor)):
        open_nodes = [node.target]
    elif isinstance(node, (ast.With, ast.AsyncWith)):
        open_nodes = [item.optional_vars for item in node.items if item.optional_vars]
    while open_nodes:
        at = open_nodes.pop()
        if isinstance(at, ast.Name):
            yield at.id
        elif isinstance(at, (ast.Tuple, ast.List)):
            open_nodes.extend(at.elts)
        elif isinstance(at, ast.Starred):
            open_nodes.append(at.value)


def is_type_checking(test):
    name = test.attr if isinstance(test, ast.Attribute) else getattr(test, "id", "")
    return name == "TYPE_CHECKING"


def bindings(file, node, types):
    """The names that an import statement binds, with their meaning."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            parts = alias.name.split(".")
            if alias.asname:
                yield alias.asname, Bound(parts, None, types)
            else:
                yield parts[0], Bound(parts[:1], None, types)
        return
    parts = absolute(file, node)
    for alias in node.names:
        if alias.name != "*":
            yield alias.asname or alias.name, Bound(parts, alias.name, types)


MODULES = {}


def module(file):
    if file not in MODULES:
        MODULES[file] = Module(file)
    return MODULES[file]


class Landing:
    """Where a name leads: a file of the tree, and the name that it declares there if any."""

    def __init__(self, file, name=None, parts=None, unsure=False):
        self.file, self.name, self.parts, self.unsure = file, name, parts, unsure


def follow(file, bound, seen=()):
    """The landing of a binding that an import in `file` makes; None outside of the tree."""
    if bound.parts is None:
        return None
    spec = FINDER.find(file, bound.parts) if bound.parts else None
    if spec is None:
        return None
    target = file_of(spec)
    if bound.name is None:
        return Landing(target, None, bound.parts) if target else Landing(None, None, bound.parts)
    if target is not None:
        # A package's own name comes before a module of that name, as at run time.
        landing = member(target, bound.name, seen)
        if landing is not None:
            return landing
    if spec.submodule_search_locations is not None:
        inner = FINDER.find(file, bound.parts + [bound.name])
        part = file_of(inner)
        if part is not None:
            return Landing(part, None, bound.parts + [bound.name])
    return Landing(target, None, None) if target else None


def member(file, name, seen=()):
    """The landing of a module's name; None if the module has no such name."""
    if (file, name) in seen:
        return None
    seen = (*seen, (file, name))
    there = module(file)
    imported = [
        bound
        for bound in there.imported.get(name, [])
        if not is_itself(file, bound, name)
    ]
    if name in there.declared:
        # A fallback for an import that may fail: either may be meant.
        return Landing(file, name, None, unsure=bool(imported))
    for bound in imported:
        landing = follow(file, bound, seen)
        if landing is not None:
            landing.unsure = landing.unsure or len({(b.parts and tuple(b.parts), b.name) for b in imported}) > 1
            return landing
    if imported:
        # From outside of the tree: the module that passes it on is what is left.
        return Landing(file, None, None)
    for parts in there.stars:
        target = file_of(FINDER.find(file, parts))
        if target is not None and target != file:
            landing = member(target, name, seen)
            if landing is not None and not (name.startswith("_") and not in_all(target, name)):
                return landing
    return None


def is_itself(file, bound, name):
    """Whether `from . import x` in a package means its own module x."""
    return bound.name == name and file_of(FINDER.find(file, bound.parts or [""])) == file


def in_all(file, name):
    return name in module(file).declared


EDGES, USES, UNSURE = {}, {}, set()


def note(table, key, line, types):
    """Keeps the first line of the least purpose: code that runs comes before types."""
    now = (types, line)
    table[key] = min(table.get(key, now), now)


def edge(file, landing, line, types):
    if landing is None or landing.file is None or landing.file == file:
        return
    if landing.unsure:
        UNSURE.add((file, landing.file, None))
    note(EDGES, (file, landing.file), line, types)


def use(file, landing, line, types):
    if landing is None or landing.file in (None, file) or landing.name is None:
        return
    if landing.unsure:
        UNSURE.add((file, landing.file, landing.name))
    note(USES, (file, landing.file, landing.name), line, types)


class Scope:
    """A function, class or comprehension: the names that are its own."""

    def __init__(self, kind, names, imports):
        self.kind, self.names, self.imports = kind, names, imports


class Reader(ast.NodeVisitor):
    """Finds the names in one file that mean something in another."""

    def __init__(self, file):
        self.file = file
        self.here = module(file)
        self.scopes = []
        self.types = False

    def visit_If(self, node):
        before = self.types
        self.visit(node.test)
        self.types = before or is_type_checking(node.test)
        for inner in node.body:
            self.visit(inner)
        self.types = before
        for inner in node.orelse:
            self.visit(inner)

    def visit_Import(self, node):
        for alias in node.names:
            parts = alias.name.split(".")
            edge(self.file, follow(self.file, Bound(parts, None, self.types)), node.lineno, self.types)

    def visit_ImportFrom(self, node):
        parts = absolute(self.file, node)
        for alias in node.names:
            line = getattr(alias, "lineno", node.lineno)
            if alias.name == "*":
                edge(self.file, follow(self.file, Bound(parts, None, self.types)), line, self.types)
                continue
            landing = follow(self.file, Bound(parts, alias.name, self.types))
            edge(self.file, landing, line, self.types)
            use(self.file, landing, line, self.types)

    def function(self, node):
        for decorator in getattr(node, "decorator_list", []):
            self.visit(decorator)
        for default in [*node.args.defaults, *filter(None, node.args.kw_defaults)]:
            self.visit(default)
        for argument in arguments(node.args):
            if argument.annotation:
                self.visit(argument.annotation)
        if getattr(node, "returns", None):
            self.visit(node.returns)
        names = {argument.arg for argument in arguments(node.args)}
        body = node.body if isinstance(node.body, list) else [node.body]
        inner, imports, outer = local_names(self.file, body)
        self.scopes.append(Scope("function", (names | inner) - outer, imports))
        for statement in body:
            self.visit(statement)
        self.scopes.pop()

    visit_FunctionDef = visit_AsyncFunctionDef = visit_Lambda = function

    def visit_ClassDef(self, node):
        for part in [*node.decorator_list, *node.bases, *node.keywords]:
            self.visit(part)
        inner, imports, outer = local_names(self.file, node.body)
        self.scopes.append(Scope("class", inner - outer, imports))
        for statement in node.body:
            self.visit(statement)
        self.scopes.pop()

    def comprehension(self, node):
        names = set()
        for generator in node.generators:
            for at in ast.walk(generator.target):
                if isinstance(at, ast.Name):
                    names.add(at.id)
        self.visit(node.generators[0].iter)
        self.scopes.append(Scope("function", names, {}))
        for at, generator in enumerate(node.generators):
            if at:
                self.visit(generator.iter)
            for condition in generator.ifs:
                self.visit(condition)
        for part in ("elt", "key", "value"):
            if hasattr(node, part):
                self.visit(getattr(node, part))
        self.scopes.pop()

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = comprehension

    def visit_Name(self, node):
        self.name(node, [])

    def visit_Attribute(self, node):
        parts, at = [], node
        while isinstance(at, ast.Attribute):
            parts.insert(0, at.attr)
            at = at.value
        if isinstance(at, ast.Name):
            self.name(at, parts)
        else:
            self.visit(at)

    def name(self, node, rest):
        landing, types = self.meaning(node.id)
        line = node.lineno
        while landing is not None and landing.name is None and landing.parts and rest:
            # A module: its next name may be a module again.
            step, rest = rest[0], rest[1:]
            landing = follow(self.file, Bound(landing.parts, step, types))
        use(self.file, landing, line, types)

    def meaning(self, name):
        for depth, scope in enumerate(reversed(self.scopes)):
            if scope.kind == "class" and depth:
                continue
            if name in scope.names:
                bound = scope.imports.get(name)
                return (follow(self.file, bound), bound.types or self.types) if bound else (None, False)
        if name in self.here.declared:
            return None, False
        imported = self.here.imported.get(name)
        if imported:
            types = all(bound.types for bound in imported)
            for bound in imported:
                landing = follow(self.file, bound)
                if landing is not None:
                    return landing, types or self.types
            return None, False
        for parts in self.here.stars:
            target = file_of(FINDER.find(self.file, parts))
            if target and not name.startswith("_"):
                landing = member(target, name)
                if landing is not None:
                    return landing, self.types
        return None, False


def arguments(args):
    yield from args.posonlyargs
    yield from args.args
    yield from args.kwonlyargs
    if args.vararg:
        yield args.vararg
    if args.kwarg:
        yield args.kwarg


def local_names(file, body):
    """The names that a body binds, the imports among them, and those it takes from outside."""
    names, imports, outer = set(), {}, set()
    open_nodes = list(body)
    while open_nodes:
        node = open_nodes.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(node.name)
            continue
        if isinstance(node, (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            for at in ast.walk(node):
                if isinstance(at, ast.NamedExpr):
                    names.add(at.target.id)
            continue
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            outer.update(node.names)
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for name, bound in bindings(file, node, False):
                names.add(name)
                imports[name] = bound
        if isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
            names.add(node.id)
        if isinstance(node, ast.ExceptHandler) and node.name:
            names.add(node.name)
        if isinstance(node, (ast.MatchAs, ast.MatchStar)) and node.name:
            names.add(node.name)
        open_nodes.extend(ast.iter_child_nodes(node))
    return names, imports, outer


for path in FILES:
    Reader(path).visit(module(path).tree)


def purpose(types):
    return "types" if types else "run"


print(
    json.dumps(
        {
            "edges": [
                {"from": key[0], "to": key[1], "line": line, "purpose": purpose(types)}
                for key, (types, line) in sorted(EDGES.items())
            ],
            "uses": [
                {"from": key[0], "to": key[1], "name": key[2], "line": line, "purpose": purpose(types)}
                for key, (types, line) in sorted(USES.items())
            ],
            "unsure": [
                {"from": key[0], "to": key[1], "name": key[2]}
                for key in sorted(UNSURE, key=str)
            ],
        }
    )
)
