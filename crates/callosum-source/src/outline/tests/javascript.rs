//! JavaScript and TypeScript.

use insta::assert_snapshot;

use super::{mentioned, outline, shown};
use crate::language::Language;

#[test]
fn exports_are_public_and_keep_their_documentation() {
    assert_snapshot!(shown("src/shop.ts", r#"
/**
 * @fileoverview The shop. All of it.
 */
import fs, { readFile as read } from 'node:fs';
import * as path from "path";
import './style.css';
import old = require("old");
export * from './order';
export { Line, Kind as K } from "./line";

/** Opens it. */
export async function open(a: string): Promise<void> { function inner() {} }
export function over(a: string): void;
export function over(a: number): void;
export function over(a: any) {}
/** The queue. */
export default class Queue<T> extends Base {
    static SIZE = 1;
    #secret = () => {};
    constructor(private a: string) { super(); }
    /** Adds one. */
    push(item: T) {}
    private hide() {}
    handler = async () => {};
}
export abstract class Shape { abstract area(): number; }
export interface Part { a: string; put(): void }
export type Id = string | number;
export const enum State { Open }
export const LIMIT = 3, close = () => {};
export namespace Inner { export function deep() {} }
declare function ambient(a: string): void;
const helper = function () {};
const shown = 1;
let UPPER = 2;
class Late { go() {} _quiet() {} }
function hidden() { const LOCAL = () => {}; }
export { Late, helper as renamed };
"#), @r"
3: about: The shop.
5: Use node:fs (default, readFile)
6: Use path (*)
7: Use ./style.css
8: Use old
9: ReExport ./order
10: ReExport ./line (Line, Kind)
13-13: pub Function open -- Opens it.
14-14: pub Function over
18-26: pub Type Queue -- The queue.
20-20: Method Queue . #secret
21-21: pub Method Queue . constructor
23-23: pub Method Queue . push -- Adds one.
24-24: Method Queue . hide
25-25: pub Method Queue . handler
27-27: pub Type Shape
27-27: pub Method Shape . area
28-28: pub Interface Part
29-29: pub Type Id
30-30: pub Type State
31-31: pub Constant LIMIT
31-31: pub Function close
32-32: pub Module Inner
32-32: pub Function Inner . deep
33-33: pub Function ambient
34-34: pub Function helper
36-36: Constant UPPER
37-37: pub Type Late
37-37: pub Method Late . go
37-37: Method Late . _quiet
38-38: Function hidden
");
}

#[test]
fn commonjs_exports_are_public() {
    assert_snapshot!(shown("lib/app.js", r#"#!/usr/bin/env node
/*!
 * shop
 * Copyright(c) 2010 Somebody
 * MIT Licensed
 */

'use strict'

/**
 * Module dependencies.
 */
const { a, b } = require('./a');
var app = exports = module.exports = {};
var late = function () { return require("late") };

exports = module.exports = createApplication;

/** Makes it. */
function createApplication() {}
function unseen() {}
/** Listens. */

app.listen = function listen() {};
Queue.prototype.push = function () {};
exports.helper = (a) => a;
module.exports.other = async function () {};
if (require.main === module) createApplication();
"#), @r"
13: Use ./a
15: Use late
14-14: pub Type app
15-15: Function late
20-20: pub Function createApplication -- Makes it.
21-21: Function unseen
24-24: pub Method app . listen -- Listens.
25-25: Method Queue . push
26-26: pub Function helper
27-27: pub Function other
28: entry point
");
}

#[test]
fn runners_know_their_tests() {
    assert_snapshot!(shown("shop.test.ts", r#"
describe("the shop", () => {
    beforeEach(() => {});
    it("opens", async () => {});
    it.only(`closes
        late`, function () {});
    it.each([1, 2])("adds %d", (n) => {});
    describe('inside', () => { test("sells", () => {}) });
    const found = /x/.test("not a test");
});
test("alone", { timeout: 5 }, () => {});
Deno.test("deno", () => {});
"#), @r"
4-4: test Function the shop . opens
5-6: test Function the shop . closes late
7-7: test Function the shop . adds %d
8-8: test Function inside . sells
11-11: test Function alone
12-12: test Function deno
");
}

#[test]
fn servers_of_express_fastify_and_nest_are_recognised() {
    assert_snapshot!(shown("server.ts", r#"
app.get('/users', auth, users.list);
router.post("/users/:id", (req, res) => {});
app.all('*', lost);
app.get('setting');
axios.get('/remote', options);
fastify.route({ method: 'PUT', url: '/items', handler: put });
@Controller('cats')
export class Cats {
    @Get() all() {}
    @Post(':id') add() {}
}
app.listen(3000);
"#), @r"
9-12: pub Type Cats
10-10: pub Method Cats . all
11-11: pub Method Cats . add
2: GET /users -> users.list
3: POST /users/:id -> ?
4: ANY * -> lost
7: PUT /items -> put
10: GET /cats -> all
11: POST /cats/:id -> add
13: entry point
");
}

#[test]
fn commands_of_commander_and_yargs_are_recognised() {
    assert_snapshot!(shown("cli.js", r"
const { program } = require('commander');
program.command('add <name>').description('Adds').option('-f, --force', 'Even so. Always.');
yargs.command('serve [port]', 'Serves', {}).option('port', { describe: 'Where' });
"), @r"
2: Use commander
3: $ --force -- Even so.
3: $ add -- Adds
4: $ --port -- Where
4: $ serve -- Serves
");
}

#[test]
fn jsx_is_read() {
    assert_snapshot!(shown("App.tsx", r#"
import React from "react";
export const App: React.FC<Props> = ({ a }) => <Button onClick={press}>{a}</Button>;
export default function Page() { return <div/>; }
"#), @r"
2: Use react (default)
3-3: pub Function App
4-4: pub Function Page
");
}

#[test]
fn mentions_leave_out_imports_and_the_names_of_declarations() {
    assert_snapshot!(mentioned("a.ts", r#"import { b } from "a";
function own(x: Kind) { return x.read(b, { inside }); }
"#), @r"
Kind:2 b:2 inside:2 read:2 x:2
");
}

#[test]
fn methods_given_one_by_one_belong_to_an_object() {
    assert_snapshot!(shown("lib/response.js", r#"
/** A response. */
var res = Object.create(http.ServerResponse.prototype)
module.exports = res
var other = {};
/** Sets it. */
res.status = function status(code) {};
res.get = res.header = function header(name) {};
defineGetter(res, 'fresh', function () {});
Object.defineProperty(res, "stale", { get() {} });
exports.json = parser.json
"#), @r"
3-3: pub Type res -- A response.
7-7: pub Method res . status -- Sets it.
8-8: pub Method res . get
8-8: pub Method res . header
9-9: pub Method res . fresh
10-10: pub Method res . stale
11-11: pub Constant json
");
    assert_snapshot!(shown("index.js", "'use strict'\nmodule.exports = require('./lib/app')\n"), @r"
2: ReExport ./lib/app
2: Use ./lib/app
");
}

/// A parameter or a variable of a function does not mean what another file calls so.
#[test]
fn locals_do_not_mean_what_others_declare() {
    let source = "function own(req, b) { var res = make(req); return res.end(View) }\n";
    let references = outline(Language::JavaScript, "a.js", source).references;
    let bare = references.iter().filter(|found| found.bare.is_some());
    let bare: Vec<_> = bare.map(|found| found.name.as_str()).collect();
    assert_eq!(bare, ["View", "end", "make"]);
}

#[test]
fn files_answer_requests_by_where_they_stand() {
    assert_snapshot!(shown("src/app/(shop)/users/[id]/route.ts", "export async function GET() {}\nexport const POST = () => {};\nexport const runtime = 'edge';\n"), @r"
1-1: pub Function GET
2-2: pub Function POST
3-3: pub Constant runtime
1: GET /users/[id] -> GET
2: POST /users/[id] -> POST
");
    assert_snapshot!(shown("app/about/page.tsx", "const About = () => <p/>;\nexport default About;\n"), @r"
1-1: pub Function About
2: GET /about -> About
");
    assert_snapshot!(shown("pages/api/users/index.ts", "export default async function handler(req, res) {}\n"), @r"
1-1: pub Function handler
1: ANY /api/users -> handler
");
    assert_snapshot!(shown("src/pages/Home.tsx", "export default function Home() {}\n"), @"1-1: pub Function Home");
}
