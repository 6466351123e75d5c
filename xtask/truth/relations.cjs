// Prints the edges and uses of a JavaScript or TypeScript tree, for `cargo xtask truth`.
//
// Node's own resolver says which file a module is for scripts, TypeScript's for its sources and declarations.
// TypeScript's checker says which declaration a name means. Nothing of the tree is run. Input and
// output are JSON: see `xtask/src/truth/oracle.rs`. What an edge and a use are is in
// `xtask/src/truth/mod.rs`.
'use strict'

const fs = require('node:fs')
const path = require('node:path')
const { createRequire } = require('node:module')

const asked = JSON.parse(fs.readFileSync(0, 'utf8'))
const root = fs.realpathSync(asked.root)
const ts = require(path.join(asked.typescript, 'lib/typescript.js'))
const known = new Map(asked.files.map((file) => [path.join(root, file), file]))

const options = {
  allowJs: true,
  checkJs: false,
  esModuleInterop: true,
  jsx: ts.JsxEmit.Preserve,
  module: ts.ModuleKind.CommonJS,
  moduleResolution: ts.ModuleResolutionKind.Node10,
  noEmit: true,
  skipLibCheck: true,
  strict: true,
  target: ts.ScriptTarget.ESNext,
  types: []
}
// As bundlers look: `./a.js` may be `a.ts`, and a package may import itself by its name.
const looking = {
  ...options,
  customConditions: asked.conditions,
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler
}

const isScript = (file) => /\.[cm]?jsx?$/.test(file)
const isDeclaration = (file) => /\.d\.[cm]?ts$/.test(file)

const cache = new Map()

/** The file that a module name means in a file; undefined outside of the tree. */
function resolve (from, name) {
  const key = `${from}\0${name}`
  if (!cache.has(key)) cache.set(key, isScript(from) ? byNode(from, name) : byTypeScript(from, name))
  return cache.get(key)
}

function byNode (from, name) {
  // A script that a compiler reads may name a source; Node itself finds nothing there.
  return byNodeAlone(from, name) ?? byTypeScript(from, name)
}

function byNodeAlone (from, name) {
  try {
    const found = createRequire(from).resolve(name)
    return path.isAbsolute(found) ? fs.realpathSync(found) : undefined
  } catch {
    return undefined
  }
}

function byTypeScript (from, name) {
  const found = ts.resolveModuleName(name, from, looking, ts.sys).resolvedModule
  return found && fs.realpathSync(found.resolvedFileName)
}

const host = ts.createCompilerHost(options)
host.resolveModuleNameLiterals = (literals, from) => literals.map(({ text }) => {
  const found = resolve(from, text)
  // What is not compared is not read.
  if (!found || !known.has(found)) return { resolvedModule: undefined }
  return { resolvedModule: { resolvedFileName: found, extension: extension(found), isExternalLibraryImport: false } }
})

function extension (file) {
  const declaration = /\.d\.[cm]?ts$/.exec(file)
  return declaration ? declaration[0] : path.extname(file)
}

const program = ts.createProgram([...known.keys()], options, host)
const checker = program.getTypeChecker()

/** Whether an expression is `module.exports` or `exports`. */
function isExports (node) {
  return node.getText() === 'module.exports' || node.getText() === 'exports'
}

/** The object literal of `module.exports = {…}` or `export default {…}` that a property is in. */
function isInExportedObject (property) {
  const holder = property.parent?.parent
  if (!holder) return false
  if (ts.isExportAssignment(holder)) return true
  return ts.isBinaryExpression(holder) && holder.right === property.parent && isExports(holder.left)
}

/** The declaration that a symbol leads to, through imports, exports and plain assignments. */
function follow (symbol, seen = new Set()) {
  if (!symbol || seen.has(symbol)) return undefined
  seen.add(symbol)
  if (symbol.flags & ts.SymbolFlags.Alias) {
    const target = checker.getAliasedSymbol(symbol)
    return checker.isUnknownSymbol(target) ? undefined : follow(target, seen)
  }
  const declarations = symbol.declarations ?? []
  for (const declaration of declarations) {
    const next = passedOn(declaration)
    if (next) {
      const found = follow(next, seen)
      if (found) return found
    }
  }
  const plain = declarations.filter((declaration) => nameOf(declaration) !== undefined)
  if (plain.length > 0) {
    const files = new Set(plain.map((declaration) => declaration.getSourceFile().fileName))
    return { declaration: plain[0], name: nameOf(plain[0]), unsure: files.size > 1 }
  }
  return declarations.length > 0 ? { declaration: declarations[0], name: undefined, unsure: false } : undefined
}

/** The symbol of the name that a declaration only passes on. */
function passedOn (declaration) {
  if (ts.isShorthandPropertyAssignment(declaration) && isInExportedObject(declaration)) {
    return checker.getShorthandAssignmentValueSymbol(declaration)
  }
  if (ts.isPropertyAssignment(declaration) && isInExportedObject(declaration)) {
    return named(declaration.initializer)
  }
  if (ts.isExportAssignment(declaration)) return named(declaration.expression)
  const assignment = exportingAssignment(declaration)
  return assignment && named(assignment.right)
}

function named (expression) {
  return ts.isIdentifier(expression) ? checker.getSymbolAtLocation(expression) : undefined
}

/** The `exports.a = …` or `module.exports = …` that a declaration is. */
function exportingAssignment (declaration) {
  const assignment = ts.isBinaryExpression(declaration) ? declaration : declaration.parent
  if (!assignment || !ts.isBinaryExpression(assignment)) return undefined
  if (assignment.operatorToken.kind !== ts.SyntaxKind.EqualsToken) return undefined
  const { left } = assignment
  const isMember = ts.isPropertyAccessExpression(left) && isExports(left.expression)
  return isMember || isExports(left) ? assignment : undefined
}

/** The name of a declaration at the top level of its file; undefined for any other. */
function nameOf (declaration) {
  if (ts.isVariableDeclaration(declaration) || ts.isBindingElement(declaration)) {
    let at = declaration
    while (ts.isBindingElement(at) || ts.isObjectBindingPattern(at) || ts.isArrayBindingPattern(at)) at = at.parent
    const statement = at.parent?.parent
    const isTop = statement && ts.isVariableStatement(statement) && isTopLevel(statement)
    return isTop && ts.isIdentifier(declaration.name) ? declaration.name.text : undefined
  }
  const isDeclared = ts.isFunctionDeclaration(declaration) || ts.isClassDeclaration(declaration) ||
    ts.isInterfaceDeclaration(declaration) || ts.isTypeAliasDeclaration(declaration) || ts.isEnumDeclaration(declaration)
  if (isDeclared) return isTopLevel(declaration) ? declaration.name?.text : undefined
  if (ts.isModuleDeclaration(declaration)) {
    return ts.isSourceFile(declaration.parent) && ts.isIdentifier(declaration.name) ? declaration.name.text : undefined
  }
  // `module.exports = function name () {}`, `exports.name = () => {}`, `exports.NAMES = […]`
  const isValue = ts.isFunctionExpression(declaration) || ts.isClassExpression(declaration)
  if (isValue && exportingAssignment(declaration)) return declaration.name?.text
  const assignment = exportingAssignment(declaration)
  if (!assignment || !ts.isSourceFile(assignment.parent.parent)) return undefined
  const { left, right } = assignment
  return isExports(left) ? right.name?.text : left.name?.text
}

/** Whether a statement is at the top level of its file, or in the namespace that is all its file exports. */
function isTopLevel (statement) {
  const { parent } = statement
  if (ts.isSourceFile(parent)) return true
  if (!ts.isModuleBlock(parent) || !ts.isSourceFile(parent.parent.parent)) return false
  const exported = parent.parent.parent.statements.find((one) => ts.isExportAssignment(one) && one.isExportEquals)
  return exported !== undefined && exported.expression.getText() === parent.parent.name.getText()
}

const edges = new Map()
const uses = new Map()
const unsure = new Map()

function note (table, parts, line, types) {
  const key = parts.join('\0')
  const before = table.get(key)
  const purpose = types ? 'types' : 'run'
  if (!before || (before.purpose === 'types' && !types) || (before.purpose === purpose && line < before.line)) {
    table.set(key, { from: parts[0], to: parts[1], name: parts[2], line, purpose })
  }
}

const lineOf = (node) => {
  const file = node.getSourceFile()
  return file.getLineAndCharacterOfPosition(node.getStart(file)).line + 1
}

const fileOf = (landing) => landing && known.get(landing.declaration.getSourceFile().fileName)

function edge (from, to, node, types, landing) {
  if (!to || to === from) return
  // A declaration file never runs.
  types ||= isDeclaration(to)
  if (landing?.unsure) unsure.set([from, to].join('\0'), { from, to })
  note(edges, [from, to], lineOf(node), types)
}

/** An import of some names of a module, or of the module as a whole. */
function imports (source, specifier, taken) {
  const from = known.get(source.fileName)
  const module = known.get(resolve(source.fileName, specifier.text) ?? '')
  if (!module) return
  const runs = taken.find(({ types }) => !types)
  if (runs && isDeclaration(module) && !isDeclaration(source.fileName)) {
    // TypeScript reads the declarations, and Node runs the script.
    const script = known.get(byNodeAlone(source.fileName, specifier.text) ?? '')
    edge(from, script, runs.node, false)
  }
  for (const { symbol, node, types } of taken) {
    const landing = symbol && follow(symbol)
    const isModule = !landing || ts.isSourceFile(landing.declaration)
    const to = isModule ? fileOf(landing) ?? module : fileOf(landing) ?? module
    edge(from, to, node, types || isDeclaration(source.fileName), landing)
  }
}

/** What a `require` or `import` call takes: the names of a pattern, a member, or the whole. */
function takenBy (call) {
  let value = call
  const isPlain = (node) => ts.isAwaitExpression(node) || ts.isParenthesizedExpression(node)
  while (isPlain(value.parent)) value = value.parent
  const { parent } = value
  if (ts.isPropertyAccessExpression(parent) && parent.expression === value) {
    return [{ symbol: checker.getSymbolAtLocation(parent.name), node: call, types: false }]
  }
  if (ts.isVariableDeclaration(parent) && ts.isObjectBindingPattern(parent.name)) {
    return parent.name.elements.map((element) => {
      const name = element.propertyName ?? element.name
      return { symbol: memberOf(value, name), node: call, types: false }
    })
  }
  return [{ symbol: undefined, node: call, types: false }]
}

function memberOf (value, name) {
  if (!ts.isIdentifier(name)) return undefined
  return checker.getTypeAtLocation(value).getProperty(name.text)
}

function visit (source, node) {
  if (ts.isImportDeclaration(node) && ts.isStringLiteral(node.moduleSpecifier)) {
    const clause = node.importClause
    const taken = []
    const types = clause?.isTypeOnly ?? false
    if (clause?.name) taken.push({ symbol: checker.getSymbolAtLocation(clause.name), node, types })
    if (clause?.namedBindings && ts.isNamedImports(clause.namedBindings)) {
      for (const element of clause.namedBindings.elements) {
        taken.push({ symbol: checker.getSymbolAtLocation(element.name), node, types: types || element.isTypeOnly })
      }
    } else if (clause?.namedBindings) {
      taken.push({ symbol: undefined, node, types })
    }
    if (taken.length === 0) taken.push({ symbol: undefined, node, types })
    imports(source, node.moduleSpecifier, taken)
  } else if (ts.isExportDeclaration(node) && node.moduleSpecifier) {
    const taken = node.exportClause && ts.isNamedExports(node.exportClause)
      ? node.exportClause.elements.map((element) => ({
        symbol: checker.getSymbolAtLocation(element.name), node, types: node.isTypeOnly || element.isTypeOnly
      }))
      : [{ symbol: undefined, node, types: node.isTypeOnly }]
    imports(source, node.moduleSpecifier, taken)
  } else if (ts.isImportEqualsDeclaration(node) && ts.isExternalModuleReference(node.moduleReference)) {
    imports(source, node.moduleReference.expression, [{ symbol: undefined, node, types: node.isTypeOnly }])
  } else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
    imports(source, node.argument.literal, [{ symbol: undefined, node, types: true }])
  } else if (ts.isCallExpression(node) && node.arguments.length >= 1 && ts.isStringLiteralLike(node.arguments[0])) {
    const isImport = node.expression.kind === ts.SyntaxKind.ImportKeyword
    const isRequire = ['require', 'require.resolve'].includes(node.expression.getText())
    if (isImport || isRequire) imports(source, node.arguments[0], takenBy(node))
  }
  if (ts.isIdentifier(node)) identifier(source, node)
  ts.forEachChild(node, (child) => visit(source, child))
}

/** Whether a name is only declared here, so that it is no use of what it is called. */
function isOwnName (node) {
  const { parent } = node
  if (ts.isImportSpecifier(parent) || ts.isExportSpecifier(parent) || ts.isImportClause(parent)) return false
  if (ts.isBindingElement(parent)) return parent.propertyName !== node && !isOfRequire(parent)
  if (ts.isShorthandPropertyAssignment(parent)) return false
  return parent.name === node && !ts.isPropertyAccessExpression(parent)
}

function isOfRequire (element) {
  const declaration = element.parent.parent
  if (!ts.isVariableDeclaration(declaration) || !declaration.initializer) return false
  return /^(await\s+)?\(?\s*(require|import)\s*\(/.test(declaration.initializer.getText())
}

/** Whether a member is taken from something imported: `z` of `import * as z`, and not any object. */
function isOfImport (access) {
  let first = access.expression
  while (ts.isPropertyAccessExpression(first)) first = first.expression
  if (ts.isCallExpression(first)) return /^(require|import)$/.test(first.expression.getText())
  if (!ts.isIdentifier(first)) return false
  const declarations = checker.getSymbolAtLocation(first)?.declarations ?? []
  return declarations.some((declaration) => ts.isImportSpecifier(declaration) || ts.isImportClause(declaration) ||
    ts.isNamespaceImport(declaration) || ts.isImportEqualsDeclaration(declaration) ||
    (ts.isBindingElement(declaration) && isOfRequire(declaration)) ||
    (ts.isVariableDeclaration(declaration) && /^(await\s+)?\(?\s*(require|import)\s*\([^()]*\)(\.\w+)*$/.test(declaration.initializer?.getText() ?? '')))
}

function identifier (source, node) {
  if (isOwnName(node)) return
  if (ts.isPropertyAccessExpression(node.parent) && node.parent.name === node && !isOfImport(node.parent)) return
  const { parent } = node
  let symbol = checker.getSymbolAtLocation(node)
  if (ts.isShorthandPropertyAssignment(parent)) symbol = checker.getShorthandAssignmentValueSymbol(parent)
  if (ts.isBindingElement(parent) && isOfRequire(parent)) {
    symbol = memberOf(parent.parent.parent.initializer, parent.propertyName ?? parent.name)
  }
  const landing = follow(symbol)
  const from = known.get(source.fileName)
  const to = fileOf(landing)
  if (!to || to === from || landing.name === undefined) return
  if (landing.unsure) unsure.set([from, to, landing.name].join('\0'), { from, to, name: landing.name })
  note(uses, [from, to, landing.name], lineOf(node), isDeclaration(source.fileName) || isDeclaration(to) || isTypeOnly(node))
}

/** Whether the import that a name comes from is for types only. */
function isTypeOnly (node) {
  let first = node
  if (ts.isPropertyAccessExpression(node.parent) && node.parent.name === node) first = node.parent.expression
  if (ts.isQualifiedName(node.parent) && node.parent.right === node) first = node.parent.left
  while (ts.isPropertyAccessExpression(first)) first = first.expression
  while (ts.isQualifiedName(first)) first = first.left
  if (ts.isImportTypeNode(first.parent) || ts.isImportTypeNode(node.parent)) return true
  const isExported = ts.isExportSpecifier(first.parent)
  const symbol = isExported ? checker.getExportSpecifierLocalTargetSymbol(first.parent) : checker.getSymbolAtLocation(first)
  if (isExported && ts.isTypeOnlyImportOrExportDeclaration(first.parent)) return true
  const declarations = symbol?.declarations ?? []
  return declarations.some((declaration) => ts.isTypeOnlyImportOrExportDeclaration(declaration))
}

for (const file of known.keys()) {
  const source = program.getSourceFile(file)
  if (source) visit(source, source)
}

const sorted = (table) => [...table.keys()].sort().map((key) => table.get(key))
process.stdout.write(JSON.stringify({ edges: sorted(edges), uses: sorted(uses), unsure: sorted(unsure) }))
