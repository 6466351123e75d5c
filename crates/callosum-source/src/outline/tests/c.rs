//! C and C++.

use insta::assert_snapshot;

use super::{mentioned, outline, shown};
use crate::language::Language;

#[test]
fn headers_declare_functions_types_and_constants() {
    assert_snapshot!(shown("include/queue.h", r#"
/* Copyright 2020 */

/**
 * @file queue.h
 * @brief A queue. It waits.
 */
#ifndef QUEUE_H
#define QUEUE_H
#include <stddef.h>
#include "sys/list.h"
#define QUEUE_MAX 16
/* The smaller one. */
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#ifdef __cplusplus
extern "C" {
#endif
/** A queue. */
typedef struct queue { int size; int (*compare)(int); } queue_t;
enum state { OPEN, CLOSED };
/* One entry. */
typedef struct entry {
    int value;
} entry;
struct forward;
typedef int (*callback)(void *);
extern const char *queue_version;
/** Adds one. Waits. */
int queue_push(queue_t *q, int item); /* trailing */
const char **queue_names(void);
static inline int queue_size(queue_t *q) { return q->size; }
#ifdef __cplusplus
}
#endif
#endif
"#), @r"
6: about: A queue.
10: IncludeSystem stddef.h
11: IncludeLocal sys/list.h
12-12: pub Constant QUEUE_MAX
14-14: pub Macro MIN -- The smaller one.
19-19: pub Type queue_t -- A queue.
19-19: pub Type queue
20-20: pub Type state
22-24: pub Type entry -- One entry.
26-26: pub Type callback
27-27: pub Constant queue_version
29-29: pub Function queue_push -- Adds one.
30-30: pub Function queue_names
31-31: pub Function queue_size
");
}

#[test]
fn sources_define_functions() {
    assert_snapshot!(shown("src/queue.c", r#"
#include "queue.h"

static int hidden(void) { int local(void); return 1; }
static const int table[] = {1};
int queue_push(queue_t *q, int item) { return hidden(); }
int forward(void);
int main(int argc, char **argv) { return 0; }
"#), @r"
2: IncludeLocal queue.h
4-4: Function hidden
5-5: Constant table
6-6: pub Function queue_push
8-8: pub Function main
8: entry point
");
}

#[test]
fn classes_have_access_and_namespaces() {
    assert_snapshot!(shown("queue.hpp", r"
#pragma once
#include <vector>
// The shop's things.
// All of them.

namespace shop::inner {
/// A queue. Long.
template <typename T>
class Queue final : public Base<T> {
    int hidden();
public:
    Queue(int size);
    ~Queue();
    /// Adds one.
    void push(const T& item) override;
    bool operator==(const Queue& other) const = default;
    static constexpr int kMax = 3;
    struct Node { Node* next; int value(); };
    T* pop() { return nullptr; }
private:
    void secret();
    int count_;
};
using Ids = std::vector<int>;
constexpr int kLimit = 5;
namespace { void unseen(); }
}
"), @r"
3: IncludeSystem vector
10-24: pub Type shop::inner . Queue -- A queue.
11-11: Method Queue . hidden
13-13: pub Method Queue . Queue
14-14: pub Method Queue . ~Queue
16-16: pub Method Queue . push -- Adds one.
17-17: pub Method Queue . operator==
19-19: pub Type Queue . Node
19-19: pub Method Node . value
20-20: pub Method Queue . pop
22-22: Method Queue . secret
25-25: pub Type shop::inner . Ids
26-26: pub Constant shop::inner . kLimit
27-27: Function unseen
");
}

#[test]
fn methods_defined_apart_keep_their_class() {
    assert_snapshot!(shown("queue.cc", r#"
#include "queue.hpp"
namespace shop {
template <typename T>
void Queue<T>::push(const T& item) {}
int Shop::Inner::size() const { return 1; }
Shop::Shop() : a_(1) {}
static void local() {}
}
"#), @r"
2: IncludeLocal queue.hpp
5-5: pub Method Queue . push
6-6: pub Method Inner . size
7-7: pub Method Shop . Shop
8-8: Function shop . local
");
}

#[test]
fn macros_do_not_hide_what_they_stand_before() {
    assert_snapshot!(shown("shop.h", r"
/** Opens it. */
SHOP_API shop_t *shop_open(const char *path);
JNIEXPORT void JNICALL Java_shop(JNIEnv *env);
UINT32 shop_size(void);
"), @r"
3-3: pub Function shop_open -- Opens it.
4-4: pub Function Java_shop
5-5: pub Function shop_size
");
}

#[test]
fn macros_of_a_source_file_are_its_own() {
    assert_snapshot!(shown("shop.c", "#define LOCAL(x) x\n"), @"1-1: Macro LOCAL");
}

#[test]
fn static_methods_are_public_and_friends_are_no_methods() {
    assert_snapshot!(shown("shop.cc", r"
class Shop {
  Q_OBJECT
 public:
  static int count() { return 0; }
  friend void swap(Shop& a, Shop& b);
};
"), @r"
2-7: pub Type Shop
5-5: pub Method Shop . count
");
}

#[test]
fn headers_named_for_c_may_be_of_cpp() {
    assert_snapshot!(shown("shop.h", r"
namespace shop {
class Door {
 public:
  void open();
};
}
"), @r"
3-6: pub Type shop . Door
5-5: pub Method Door . open
");
    assert_snapshot!(shown("class.h", r"
/* A class of things. */
struct shop { int class; int namespace; };
int using(int new);
"), @r"
3-3: pub Type shop -- A class of things.
4-4: pub Function using
");
}

#[test]
fn googletest_and_catch2_know_their_tests() {
    assert_snapshot!(shown("queue_test.cc", r#"
TEST(QueueTest, Adds) { EXPECT_EQ(1, 1); }
TEST_F(QueueTest, Waits) {}
TEST_CASE("it sells", "[shop]") { REQUIRE(true); SECTION("x") {} }
BOOST_AUTO_TEST_CASE(closes) {}
void helper() {}
"#), @r"
2-2: test Function QueueTest . Adds
3-3: test Function QueueTest . Waits
4-4: test Function it sells
5-5: test Function closes
6-6: pub Function helper
has errors
");
}

#[test]
fn mentions_leave_out_includes_and_the_names_of_declarations() {
    assert_snapshot!(mentioned("a.c", r#"#include "b.h"
int own(kind_t *k) { return k->size + read_all(k); }
"#), @r"
k:2 kind_t:2 read_all:2 size:2
");
}

/// `std::copy` is not what another file of the tree calls copy.
#[test]
fn names_of_the_standard_library_do_not_mean_the_trees_own() {
    let source =
        "void own() { std::copy(a); std::chrono::now<Clock>(); fmt::print(b); p->clear(); }\n";
    let references = outline(Language::Cpp, "a.cc", source).references;
    let bare = references.iter().filter(|found| found.bare.is_some());
    let bare: Vec<_> = bare.map(|found| found.name.as_str()).collect();
    assert!(
        bare.contains(&"Clock") && bare.contains(&"print"),
        "{bare:?}"
    );
    assert!(
        !["copy", "now", "clear"]
            .iter()
            .any(|name| bare.contains(name)),
        "{bare:?}"
    );
}

#[test]
fn a_main_that_tries_its_file_out_begins_no_program() {
    let trial = "int hash(void);\n#ifdef SIPHASH_TEST\nint main(void) { return 0; }\n#endif\n";
    assert_eq!(outline(Language::C, "hash.c", trial).entry_point, None);
    let usual = trial.replace("#ifdef", "#ifndef");
    assert_eq!(outline(Language::C, "hash.c", &usual).entry_point, Some(3));
    let program = "#ifdef _WIN32\nint main(void) { return 0; }\n#endif\n";
    assert_eq!(outline(Language::C, "main.c", program).entry_point, Some(2));
}

#[test]
fn a_type_named_behind_its_body_is_quoted_by_its_first_line() {
    let source = "typedef struct object {\n  int a;\n} robj;\n\ntypedef enum {\n  ONE\n} kind;\n";
    let symbols = outline(Language::C, "a.h", source).symbols;
    let quoted: Vec<_> = symbols
        .iter()
        .map(|symbol| {
            (
                symbol.name.as_str(),
                symbol.line,
                symbol.declaration.as_str(),
            )
        })
        .collect();
    assert_eq!(
        quoted,
        [
            ("robj", 1, "typedef struct object {"),
            ("object", 1, "typedef struct object {"),
            ("kind", 5, "typedef enum {"),
        ]
    );
}
