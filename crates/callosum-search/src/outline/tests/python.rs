//! Python.

use insta::assert_snapshot;

use super::{mentioned, shown};

#[test]
fn definitions_have_their_container_visibility_and_docstring() {
    assert_snapshot!(shown("pkg/models.py", r#"
#!/usr/bin/env python
"""Models of the shop. And more."""
from __future__ import annotations
import os, sys as system
import a.b.c
from . import views
from ..db import (Base as B, session)
from x import *

LIMIT = 3
lower = 4
type Ids = list[int]

@dataclass
class Order(Base, metaclass=M):
    """An order."""
    SIZE = 1
    def __init__(self):
        self.x = 1
    @property
    def total(self): "The sum."
    @total.setter
    def total(self, value): ...
    def _private(self): pass
    class Inner:
        def f(self): pass

class Store(Protocol[T]):
    async def put(self): ...

class _Hidden:
    def seen(self): ...

async def run():
    def local(): ...
    from late import thing

if __name__ == "__main__":
    run()
"#), @r"
3: about: Models of the shop.
5: Use os
5: Use sys
6: Use a.b.c
7: Use . (views)
8: Use ..db (Base, session)
9: Use x (*)
37: Use late (thing)
11-11: pub Constant LIMIT
13-13: pub Type Ids
16-27: pub Type Order -- An order.
19-20: Method Order . __init__
22-22: pub Method Order . total -- The sum.
25-25: Method Order . _private
26-27: pub Type Order . Inner
27-27: pub Method Inner . f
29-30: pub Interface Store
30-30: pub Method Store . put
32-33: Type _Hidden
33-33: Method _Hidden . seen
35-37: pub Function run
39: entry point
");
}

#[test]
fn all_names_what_is_public() {
    assert_snapshot!(shown("pkg/__init__.py", r#"
from .a import b
from os import path
__all__ = ["shown"]
def shown(): ...
def unshown(): ...
"#), @r"
2: ReExport .a (b)
3: Use os (path)
5-5: pub Function shown
6-6: Function unshown
");
}

#[test]
fn pytest_and_unittest_know_their_tests() {
    let source = r"
def test_adds(): ...
def helper(): ...
class TestShop:
    def test_opens(self): ...
    def close(self): ...
class ShopTest(unittest.TestCase):
    def setUp(self): ...
    def test_sells(self): ...
";
    assert_snapshot!(shown("tests/test_shop.py", source), @r"
    2-2: pub test Function test_adds
    3-3: pub Function helper
    4-6: pub Type TestShop
    5-5: pub test Method TestShop . test_opens
    6-6: pub Method TestShop . close
    7-9: pub Type ShopTest
    8-8: pub Method ShopTest . setUp
    9-9: pub test Method ShopTest . test_sells
    ");
    assert_snapshot!(shown("shop.py", source), @r"
    2-2: pub Function test_adds
    3-3: pub Function helper
    4-6: pub Type TestShop
    5-5: pub Method TestShop . test_opens
    6-6: pub Method TestShop . close
    7-9: pub Type ShopTest
    8-8: pub Method ShopTest . setUp
    9-9: pub test Method ShopTest . test_sells
    ");
}

#[test]
fn servers_of_flask_fastapi_and_django_are_recognised() {
    assert_snapshot!(shown("shop/urls.py", r#"
@app.route("/plain")
def plain(): ...
@bp.route("/users/<int:id>", methods=["GET", "POST"])
def users(id): ...
@router.get("/items/{item_id}", response_model=Item)
async def item(item_id): ...
@cache.get("not a path")
def cached(): ...
app.add_url_rule("/late", view_func=late)
urlpatterns = [
    path("admin/", admin.site.urls),
    re_path(r"^old/$", views.Old.as_view(), name="old"),
]
"#), @r"
3-3: pub Function plain
5-5: pub Function users
7-7: pub Function item
9-9: pub Function cached
2: GET /plain -> plain
4: GET /users/<int:id> -> users
4: POST /users/<int:id> -> users
6: GET /items/{item_id} -> item
10: ANY /late -> late
12: ANY admin/ -> admin.site.urls
13: ANY ^old/$ -> views.Old.as_view()
");
}

#[test]
fn commands_of_argparse_click_and_typer_are_recognised() {
    assert_snapshot!(shown("cli.py", r#"
import click
parser.add_argument("-v", "--verbose", help="Say more. Much more.")
parser.add_argument("file")
sub = parsers.add_parser("sync", help="Sync all")
@click.group()
def cli():
    """The tool."""
@cli.command("run-it")
@click.option("--count", "-c", default=1, help="How often")
@click.argument("name")
def run(count, name):
    """Runs it."""
@app.command()
def make_all(): ...
"#), @r"
2: Use click
7-8: pub Function cli -- The tool.
12-13: pub Function run -- Runs it.
15-15: pub Function make_all
3: $ --verbose -- Say more.
5: $ sync -- Sync all
7: $ cli -- The tool.
10: $ --count -- How often
12: $ run-it -- Runs it.
15: $ make-all
");
}

#[test]
fn mentions_leave_out_imports_and_the_names_of_definitions() {
    assert_snapshot!(mentioned("a.py", r#"from a import b
def own(x: Kind):
    return x.read(b, f"{inside}")
"#), @r"
Kind:2 b:3 inside:3 read:3 x:2
");
}
