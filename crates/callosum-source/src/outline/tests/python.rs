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

#[test]
fn prefixes_of_blueprints_and_routers_stand_before_their_paths() {
    assert_snapshot!(shown("shop/web.py", r#"
users = Blueprint("users", __name__, url_prefix="/users")
items = APIRouter(prefix="/items")
@users.route("/<name>", methods=["POST"])
def add(name): pass
@items.get("/{id}")
async def item(id): pass
@app.get("/")
def root(): pass
app.include_router(items, prefix="/v1")
"#), @r"
5-5: pub Function add
7-7: pub Function item
9-9: pub Function root
4: POST /users/<name> -> add
6: GET /v1/items/{id} -> item
8: GET / -> root
");
}

#[test]
fn commands_inside_groups_have_their_path() {
    assert_snapshot!(shown("shop/cli.py", r#"
import click
@click.group()
def cli(): pass
@cli.command()
def init(): pass
@cli.group()
def remote(): pass
@remote.command("add")
def add_remote(): pass
users = typer.Typer()
app.add_typer(users, name="users")
@users.command()
def list_all(): pass
parser = argparse.ArgumentParser()
verbs = parser.add_subparsers()
ledger = verbs.add_parser("ledger", help="Reads it")
below = ledger.add_subparsers()
show = below.add_parser("show")
show.add_argument("-a", "--all")
parser.add_argument("--quiet")
"#), @r"
2: Use click
4-4: pub Function cli
6-6: pub Function init
8-8: pub Function remote
10-10: pub Function add_remote
14-14: pub Function list_all
4: $ cli
6: $ init
8: $ remote
10: $ remote add
14: $ users list-all
17: $ ledger -- Reads it
19: $ ledger show
20: $ ledger show --all
21: $ --quiet
");
}
