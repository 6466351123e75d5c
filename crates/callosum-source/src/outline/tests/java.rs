//! Java.

use insta::assert_snapshot;

use super::{mentioned, shown};

#[test]
fn declarations_have_their_class_visibility_and_javadoc() {
    assert_snapshot!(shown("src/main/java/shop/Order.java", r"
/* Licensed under something. */
package shop;

import java.util.List;
import static java.lang.Math.*;

/**
 * An order. With lines.
 *
 * @param <T> what is ordered
 */
@Entity
public class Order<T> extends Base implements Priced {
    public static final int LIMIT = 3;
    private static final Logger LOG = null;
    private int count;
    public Order() {}
    /** The sum. */
    @Override
    public int total() { class Local { void f() {} } return 1; }
    private void hidden() {}
    enum State { OPEN }
    interface Part { void put(); int N = 1; }
    record Line(int n) {}
    public static void main(String[] args) {}
}
class Small { public void seen() {} }
@interface Mark { String value(); }
"), @r"
9: about: An order.
5: Use java.util.List
6: Use java.lang.Math.*
14-27: pub Type Order -- An order.
15-15: pub Constant Order . LIMIT
16-16: Constant Order . LOG
18-18: pub Method Order . Order
21-21: pub Method Order . total -- The sum.
22-22: Method Order . hidden
23-23: Type Order . State
24-24: Interface Order . Part
24-24: Method Part . put
24-24: Constant Part . N
25-25: Type Order . Line
26-26: pub Method Order . main
28-28: Type Small
28-28: Method Small . seen
29-29: Interface Mark
26: entry point
");
}

#[test]
fn junit_knows_its_tests() {
    assert_snapshot!(shown("OrderTest.java", r"
class OrderTest {
    @BeforeEach void setUp() {}
    @Test void adds() {}
    @ParameterizedTest @ValueSource(ints = {1, 2}) void cases(int n) {}
    @Nested class Inner { @org.junit.Test public void deep() {} }
}
class OldTest extends TestCase { public void testAdds() {} public void other() {} }
"), @r"
2-7: Type OrderTest
3-3: Method OrderTest . setUp
4-4: test Method OrderTest . adds
5-5: test Method OrderTest . cases
6-6: Type OrderTest . Inner
6-6: test Method Inner . deep
8-8: Type OldTest
8-8: test Method OldTest . testAdds
8-8: Method OldTest . other
");
}

#[test]
fn servers_of_spring_and_jax_rs_are_recognised() {
    assert_snapshot!(shown("Users.java", r#"
@RestController
@RequestMapping("/api/users")
class Users {
    @GetMapping List<User> all() {}
    @PostMapping("/{id}") void put() {}
    @RequestMapping(value = "old", method = RequestMethod.DELETE) void old() {}
    @MessageMapping("no") void no() {}
}
@Path("items")
class Items { @GET @Path("{id}") public Item one() {} @POST public void add() {} }
"#), @r"
4-9: Type Users
5-5: Method Users . all
6-6: Method Users . put
7-7: Method Users . old
8-8: Method Users . no
11-11: Type Items
11-11: Method Items . one
11-11: Method Items . add
5: GET /api/users -> all
6: POST /api/users/{id} -> put
7: DELETE /api/users/old -> old
11: GET /items/{id} -> one
11: POST /items -> add
");
}

#[test]
fn a_path_is_that_of_the_class_around_and_never_guessed() {
    assert_snapshot!(shown("Users.java", r#"
@RequestMapping("/users")
class Users {
    static class Inner {}
    @GetMapping({"/x", "/y"}) void both() {}
    @GetMapping(PATH) void constant() {}
    @PostMapping(consumes = "text/plain") void put() {}
}
@Controller("bean")
class Named { @GetMapping("/c") void c() {} }
"#), @r"
3-8: Type Users
4-4: Type Users . Inner
5-5: Method Users . both
6-6: Method Users . constant
7-7: Method Users . put
10-10: Type Named
10-10: Method Named . c
5: GET /users/x -> both
5: GET /users/y -> both
7: POST /users -> put
10: GET /c -> c
");
}

#[test]
fn an_unnamed_class_keeps_its_methods() {
    assert_snapshot!(shown("Task.java", r"
class Task {
    private final Runnable run = new Runnable() { public void run() {} };
    enum State { OPEN { void leave() {} }; void leave() {} }
}
"), @r"
2-5: Type Task
4-4: Type Task . State
4-4: Method State . leave
");
}

#[test]
fn commands_of_picocli_are_recognised() {
    assert_snapshot!(shown("Tool.java", r#"
@Command(name = "tool", description = "Does it. Well.")
class Tool {
    @Option(names = {"-v", "--verbose"}, description = "Say more") boolean verbose;
    @Command(name = "sub") void sub() {}
}
"#), @r"
3-6: Type Tool
5-5: Method Tool . sub
2: $ tool -- Does it.
4: $ --verbose -- Say more
5: $ sub
");
}

#[test]
fn mentions_leave_out_imports_and_the_names_of_declarations() {
    assert_snapshot!(mentioned("A.java", r"
import a.B;
class Own { void f(Kind k) { k.read(B.LIMIT); } }
"), @r"
B:3 Kind:3 LIMIT:3 k:3 read:3
");
}
