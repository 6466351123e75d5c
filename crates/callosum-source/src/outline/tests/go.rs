//! Go.

use insta::assert_snapshot;

use super::{mentioned, outline, shown};
use crate::language::Language;

#[test]
fn declarations_have_their_receiver_visibility_and_comment() {
    assert_snapshot!(shown("store/store.go", r#"
// Copyright 2020 Somebody.

// Package store keeps things. For long.
package store

import (
	"fmt"
	alias "example.com/shop/db"
)

// Limit is how many.
const Limit = 3

const (
	// A is first.
	A = iota
	b
)

var Err, errOther = 1, 2

// Store is kept.
type Store struct{ Name string }

type (
	// Reader reads.
	Reader interface{ Read() }
	small = int
)

// Open opens.
//
//go:noinline
func (s *Store) Open() error { var local = 1; type inner int; return nil }
func (m Map[K, V]) Get() {}
func (s *hidden) Seen() {}
func New() *Store { return nil }
func main() {}
"#), @r"
4: about: Package store keeps things.
8: Use fmt
9: Use example.com/shop/db
13-13: pub Constant Limit -- Limit is how many.
17-17: pub Constant A -- A is first.
18-18: Constant b
21-21: pub Constant Err
21-21: Constant errOther
24-24: pub Type Store -- Store is kept.
28-28: pub Interface Reader -- Reader reads.
28-28: pub Method Reader . Read
29-29: Type small
35-35: pub Method Store . Open -- Open opens.
36-36: pub Method Map . Get
37-37: Method hidden . Seen
38-38: pub Function New
39-39: Function main
");
}

#[test]
fn what_only_a_test_serves_is_left_out() {
    let source = "package a\nimport \"net/http\"\nfunc f() { http.HandleFunc(\"/x\", x) }\n";
    assert!(!shown("store_test.go", source).contains("/x"));
    assert!(shown("store.go", source).contains("/x"));
}

#[test]
fn go_test_knows_its_functions() {
    let source = r"package store
func TestOpen(t *testing.T) {}
func Testify() {}
func TestMain(m *testing.M) {}
func BenchmarkOpen(b *testing.B) {}
func FuzzOpen(f *testing.F) {}
func helper() {}
func (s *Suite) TestPut() {}
";
    assert_snapshot!(shown("store_test.go", source), @r"
    2-2: pub test Function TestOpen
    3-3: pub Function Testify
    4-4: pub Function TestMain
    5-5: pub test Function BenchmarkOpen
    6-6: pub test Function FuzzOpen
    7-7: Function helper
    8-8: pub Method Suite . TestPut
    ");
}

#[test]
fn servers_of_net_http_gin_and_chi_are_recognised() {
    assert_snapshot!(shown("main.go", r#"package main
import ("net/http"; "github.com/gin-gonic/gin")
func main() {
	http.HandleFunc("/plain", plain)
	mux.Handle("POST /users/{id}", users)
	r.GET("/gin", auth, list)
	r.Get("/chi", func(w http.ResponseWriter, r *http.Request) {})
	router.Handle("DELETE", "/old", remove)
	cache.Get("key", value)
}
"#), @r"
2: Use net/http
2: Use github.com/gin-gonic/gin
3-10: Function main
4: ANY /plain -> plain
5: POST /users/{id} -> users
6: GET /gin -> list
7: GET /chi -> ?
8: DELETE /old -> remove
3: entry point
");
}

#[test]
fn commands_of_cobra_and_flag_are_recognised() {
    assert_snapshot!(shown("main.go", r#"package main
import ("flag"; "github.com/spf13/cobra")
var serve = &cobra.Command{
	Use:   "serve [dir]",
	Short: "Serves a folder",
	Run: func(cmd *cobra.Command, args []string) {},
}
func init() {
	serve.Flags().StringVarP(&dir, "dir", "d", "", "where it is")
	flag.Bool("v", false, "say more")
	text.String("not", "a flag")
}
"#), @r"
2: Use flag
2: Use github.com/spf13/cobra
3-7: Constant serve
8-12: Function init
3: $ serve -- Serves a folder
9: $ --dir -- where it is
10: $ -v -- say more
");
}

#[test]
fn mentions_leave_out_imports_and_the_names_of_declarations() {
    assert_snapshot!(mentioned("a.go", r#"package a
import "fmt"
func own(x Kind) { x.Read(fmt.Sprint(Limit)) }
"#), @r"
Kind:3 Limit:3 Read:3 Sprint:3 fmt:3 x:3
");
}

#[test]
fn names_that_share_a_declaration_are_each_declared_once() {
    assert_snapshot!(shown("a.go", "package a\n\n// Sizes.\nvar Width, Height int\n"), @r"
4-4: pub Constant Width -- Sizes.
4-4: pub Constant Height -- Sizes.
");
}

#[test]
fn groups_and_subrouters_stand_before_their_paths() {
    assert_snapshot!(shown("main.go", r#"package main
import ("net/http"; "github.com/gin-gonic/gin"; "github.com/gorilla/mux"; "github.com/go-chi/chi/v5")
func serve() {
	v1 := r.Group("/v1")
	admin := v1.Group("/admin", auth)
	v1.GET("/users", list)
	admin.POST("", create)
	s := router.PathPrefix("/things").Subrouter()
	s.HandleFunc("/{id}", thing).Methods("GET", http.MethodPut)
	c.Route("/articles", func(c chi.Router) {
		c.Get("/", all)
		c.Route("/{id}", func(c chi.Router) {
			c.Put("/", change)
		})
	})
	c.Get("/after", after)
}
"#), @r"
2: Use net/http
2: Use github.com/gin-gonic/gin
2: Use github.com/gorilla/mux
2: Use github.com/go-chi/chi/v5
3-17: Function serve
6: GET /v1/users -> list
7: POST /v1/admin -> create
9: GET /things/{id} -> thing
9: PUT /things/{id} -> thing
11: GET /articles/ -> all
13: PUT /articles/{id}/ -> change
16: GET /after -> after
");
}

#[test]
fn commands_inside_commands_have_their_path() {
    assert_snapshot!(shown("main.go", r#"package main
import ("github.com/spf13/cobra"; "github.com/urfave/cli/v2")
var rootCmd = &cobra.Command{Use: "shop"}
var remote = &cobra.Command{Use: "remote", Short: "Others"}
var add = &cobra.Command{Use: "add URL", Short: "Adds one"}
func init() {
	remote.AddCommand(add)
	rootCmd.AddCommand(remote)
}
var app = &cli.App{
	Name: "shop",
	Flags: []cli.Flag{&cli.StringFlag{Name: "lang, l", Usage: "which"}},
	Commands: []*cli.Command{
		{Name: "task", Usage: "Does it", Subcommands: []*cli.Command{{Name: "add"}, {Name: "rm", Flags: []cli.Flag{&cli.BoolFlag{Name: "all"}}}}},
	},
}
"#), @r"
2: Use github.com/spf13/cobra
2: Use github.com/urfave/cli/v2
3-3: Constant rootCmd
4-4: Constant remote
5-5: Constant add
6-9: Function init
10-16: Constant app
3: $ shop
4: $ remote -- Others
5: $ remote add -- Adds one
12: $ --lang -- which
14: $ task -- Does it
14: $ task rm
14: $ task rm --all
14: $ task add
");
}

/// A local variable, a field or a key of a literal does not mean what the package calls so.
#[test]
fn locals_and_fields_do_not_mean_the_packages_own() {
    let source = "package a\nimport \"shop/mux/v2\"\nfunc own(root T) { x := B{Data: root}; mux.New(x.Data, total) }\n";
    let references = outline(Language::Go, "a.go", source).references;
    let bare = references.iter().filter(|found| found.bare.is_some());
    let bare: Vec<_> = bare.map(|found| found.name.as_str()).collect();
    assert_eq!(bare, ["B", "New", "T", "mux", "total"]);
}
