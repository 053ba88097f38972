#!/usr/bin/env python3
"""cpp.py's tokens and entities, and faults.py's places, in small sources."""

import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
import cpp
from faults import Fault, Sources, Stale, Wrong, read_faults


def words(text, path="x.cpp"):
    return [t.text for t in cpp.tokens_of(text, path)]


def entities(text):
    """The entities of a source: their names, and their words without spaces."""
    tokens = cpp.tokens_of(text)
    return [("::".join(e.name), "".join(t.text for t in tokens[e.first:e.last]))
            for e in cpp.entities_of(text, tokens)]


def names(text):
    return [name for name, _ in entities(text)]


class Tokens(unittest.TestCase):
    def test_white_space_and_comments_are_none(self):
        self.assertEqual(words("a /* b\n */ + // c \\\n d\n e"), ["a", "+", "e"])
        self.assertEqual(words("a = b;"), words("a=b  ; // c"))

    def test_signs_are_the_longest(self):
        self.assertEqual(words("a<<=b->c<=>d...e::f->*g"),
                         "a <<= b -> c <=> d ... e :: f ->* g".split())

    def test_closing_angles_stand_alone(self):
        self.assertEqual(words("a<b<c>> d>>=2"), words("a<b<c> > d> >=2"))

    def test_numbers(self):
        for number in ("1'000u", "0x1.8p-3", "1e+5f", ".5", "0b11", "2.", "1_km"):
            self.assertEqual(words(f"{number}-x"), [number, "-", "x"])

    def test_strings(self):
        for text in (r'"a \" // b"', "'\\''", "'\"'", 'u8"x"', 'R"(a " \\ )b)"', 'LR"x(a)" )x"'):
            self.assertEqual(words(f"f({text});"), ["f", "(", text, ")", ";"])

    def test_other_languages(self):
        self.assertEqual(words("if(A)  # not B\n  set(x \"a # b\")", "CMakeLists.txt"),
                         ["if", "(", "A", ")", "set", "(", "x", '"a # b"', ")"])
        self.assertEqual(words('x = """a\n# b"""', "a.py"), ["x", "=", '"""a\n# b"""'])
        self.assertEqual(words("n=$# # two", "a.sh"), ["n", "=", "$", "#"])

    def test_match(self):
        def matched(text, wanted):
            text = words(text)
            return " ".join(text[:cpp.end_of_match(text, 0, len(text), words(wanted))])

        self.assertEqual(matched("f(a) + g", "f(a)"), "f ( a )")
        self.assertEqual(matched("f(a, (b), {c}) + d", "f(...) +"), "f ( a , ( b ) , { c } ) +")
        self.assertEqual(matched("f()[g(1)[2]] + d", "f(...)[...]"), "f ( ) [ g ( 1 ) [ 2 ] ]")
        self.assertEqual(matched("f(a, b)", "f(a, ...)"), "")
        self.assertEqual(matched("f(a, b", "f(...)"), "")
        self.assertEqual(matched("sizeof...(T)", "sizeof...(...)"), "sizeof ... ( T )")

    def test_replaced(self):
        def replaced(text, first, last, instead):
            return cpp.replaced(text, cpp.tokens_of(text), first, last, instead)

        self.assertEqual(replaced("f(a /* b */, c);", 2, 3, "d + e"), "f(d + e /* b */, c);")
        self.assertEqual(replaced("return(a);", 1, 4, "b"), "return b;")
        self.assertEqual(replaced("a+b+c", 2, 4, "+d"), "a+ +d c")
        self.assertEqual(replaced("a - b - c", 1, 3, ""), "a  - c")
        self.assertEqual(replaced("if(a)return;", 0, 4, ""), "return;")


class Entities(unittest.TestCase):
    def test_functions_in_namespaces_and_classes(self):
        text = """namespace a { namespace b::c {
            int f(int x) { return x; }
            struct s : t<(1 > 2)> { int g() const noexcept { return 1; } class u { void h(); }; };
            template <class T> int s::g<T>::k() & { return 2; }
          } inline namespace d { void e(); } }
          extern "C" { void l() {} }
          extern "C" void m() {}"""
        self.assertEqual(names(text), [
            "a::b::c::f", "a::b::c::s::g", "a::b::c::s::u::h", "a::b::c::s::u", "a::b::c::s",
            "a::b::c::s::g::k", "a::d::e", "l", "m"])
        self.assertEqual(dict(entities(text))["a::b::c::f"], "intf(intx){returnx;}")

    def test_nested_templates(self):
        text = """template <class T, template <class> class U = std::vector, int N = (2 > 1),
                             class = std::enable_if_t<(N < 3)>>
            auto f(std::map<T, std::vector<std::pair<int, U<T>>>> const& x)
                -> std::vector<std::vector<T>> { return {}; }
            template <> struct s<int, t<t<long>>> { void g() {} };
            std::function<void(int)> h(std::array<int, 3> x) { return {}; }"""
        self.assertEqual(names(text), ["f", "s::g", "s", "h"])
        self.assertTrue(dict(entities(text))["f"].endswith("{return{};}"))

    def test_lambdas_belong_to_their_function(self):
        text = """int f() {
              const auto g = [&]<class T>(T x) mutable -> int {
                struct s { int t() { return 1; } };
                return x;
              };
              return g(1);
            }
            constexpr auto h = [](auto x) { return x; };
            int i() { return 2; }"""
        self.assertEqual(names(text), ["f", "h", "i"])

    def test_overloads(self):
        self.assertEqual(entities("void f(int) {} void f(long) { g(); } void f();"),
                         [("f", "voidf(int){}"), ("f", "voidf(long){g();}"), ("f", "voidf();")])

    def test_operators(self):
        text = """struct s {
              int operator()(int x) const { return x; }
              int& operator[](int) { return a; }
              bool operator==(const s&) const = default;
              s& operator=(s&&) noexcept;
              friend bool operator<(const s& a, const s& b) { return true; }
              s operator<<(int);
              operator std::vector<int>() const { return {}; }
              template <class T> explicit operator const T&();
            };
            constexpr long operator""_km(unsigned long long x) { return 1; }
            s s::operator+() { return *this; }"""
        self.assertEqual(names(text), [
            "s::operator()", "s::operator[]", "s::operator==", "s::operator=", "s::operator<",
            "s::operator<<", "s::operator std::vector<int>", "s::operator const T&", "s",
            'operator""_km', "s::operator+"])

    def test_constructors_with_initialisers(self):
        text = """struct s : t<int> {
              s(int a, int b = 2) noexcept(true)
                  : t<int>{a}, a_(b), b_{f(a)}, c_([] { return 1; }()) { g(); }
              template <class... T> explicit s(T... x) : T(x)... {}
              s() = default;
              ~s() { h(); }
              int a_ : 3, b_{};
            };
            s::s(long) try : a_(1) { i(); } catch (...) { j(); }
            s::~s() {}"""
        self.assertEqual(names(text),
                         ["s::s", "s::s", "s::s", "s::~s", "s::a_", "s", "s::s", "s::~s"])
        self.assertTrue(entities(text)[0][1].endswith("{g();}"))
        self.assertTrue(entities(text)[6][1].endswith("catch(...){j();}"))

    def test_constraints(self):
        text = """template <class T> requires (sizeof(T) > 4) && a::b<T> && (!c<T>) int f(T x) {}
            template <class T> int g(T x) requires requires(T y) { y + y; } { return 2; }
            template <class T> concept h = requires(T x) { { x.f() } -> same_as<int>; };
            template <std::integral T> void i(T) requires (T(1) > 0) { }"""
        self.assertEqual(names(text), ["f", "g", "h", "i"])
        self.assertTrue(dict(entities(text))["g"].endswith("{return2;}"))

    def test_if_constexpr(self):
        text = """int f() {
              if constexpr (a < b && c > d) { return 1; } else if (x<y>(z)) { return 2; }
            }
            int g();"""
        self.assertEqual(names(text), ["f", "g"])

    def test_variables_types_and_aliases(self):
        text = """constexpr int a = b < c ? 1 : 2, d = 3;
            template <class T> inline constexpr choice e{.x = f<T>() > 0};
            static const double g[] = {1, 2};
            void (*h)(int) = nullptr;
            using i = std::vector<int>;
            typedef int j;
            enum class k : unsigned { l, m };
            struct { int n; } o;
            extern thread_local std::atomic<int> p;
            [[nodiscard]] alignas(8) int q(int);
            static_assert(sizeof(int) == 4);"""
        self.assertEqual(names(text), ["a", "e", "g", "h", "i", "j", "k", "n", "o", "p", "q"])

    def test_macros_and_rows(self):
        text = """#define SQUARE(x) \\
              ((x) * (x))
            ROW(add, +, 2)
            ROW(less, <, 1) OTHER(3)
            GUARD(v2) __global__ void __launch_bounds__(256) run(int x) { ROW(b, 1); }
            TEST(a, b) { check(); }"""
        self.assertEqual(names(text),
                         ["SQUARE", "ROW::add", "ROW::less", "GUARD::v2", "run", "TEST"])
        self.assertEqual(entities(text)[0][1], "#defineSQUARE(x)((x)*(x))")

    def test_alternatives_of_the_preprocessor(self):
        whole = "#if A\nvoid f() {}\n#else\nvoid g() {}\n#endif\nvoid h();"
        self.assertEqual(names(whole), ["f", "g", "h"])
        parts = "#ifdef A\nvoid f(int) {\n#elif B\nvoid f(long) {\n#endif\n}\nvoid g();"
        self.assertEqual(names(parts), ["f", "g"])
        with self.assertRaises(ValueError):
            names("void f() { (}")


class Places(unittest.TestCase):
    FILES = {
        "include/a/one.hpp": "struct s { int get() { return 1 + x; } };\nint get() { return 2; }\n",
        "include/a/two.hpp": "struct t { int get() { return 1 + y; } };\n"
                             "int sum() { return 1 /* one */\n  + y; }\n",
        "lib/b/two.hpp": "int two() { return y; }\nROW(add, 1)\nROW(sum, 1)\n",
        "lib/b/again.cpp": "int two() { return y; }\n",
        "cmake/c.cmake": "set(x 1)  # of y\nset(y 1)\n",
    }

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        for path, text in self.FILES.items():
            file = Path(folder.name, path)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        self.sources = Sources(folder.name)

    def lies_in(self, entity, before, file=""):
        place = self.sources.find(Fault("", 1, entity=entity, file=file, before=before))
        return f"{place.path}:{place.line}"

    def is_stale(self, why, *fault):
        with self.assertRaisesRegex(Stale, why):
            self.lies_in(*fault)

    def test_by_name_and_tokens(self):
        self.assertEqual(self.lies_in("get", "return 2"), "include/a/one.hpp:2")
        self.assertEqual(self.lies_in("get", "+y"), "include/a/two.hpp:1")
        self.assertEqual(self.lies_in("sum", "1 + y"), "include/a/two.hpp:2")
        self.assertEqual(self.lies_in("sum", "1)"), "lib/b/two.hpp:3")
        self.assertEqual(self.lies_in("sum", "sum(...) {"), "include/a/two.hpp:2")

    def test_ambiguous(self):
        self.is_stale("more than once: include/a/one.hpp:1, include/a/two.hpp:1", "get", "1")
        self.assertEqual(self.lies_in("s::get", "1"), "include/a/one.hpp:1")
        self.assertEqual(self.lies_in("ROW::add", "1"), "lib/b/two.hpp:2")
        self.is_stale("more than once", "two", "y")
        self.assertEqual(self.lies_in("two", "y", "again.cpp"), "lib/b/again.cpp:1")

    def test_missing(self):
        self.is_stale("nothing is called gets", "gets", "1")
        self.is_stale("nothing is called u::get", "u::get", "1")
        self.is_stale("not there: include/a/one.hpp", "s::get", "3")
        self.is_stale("no file wo.hpp", "two", "y", "wo.hpp")

    def test_by_file(self):
        self.assertEqual(self.lies_in("", "y 1", "c.cmake"), "cmake/c.cmake:2")
        self.is_stale("more than once", "", "1", "cmake/c.cmake")

    def test_with_fault(self):
        fault = Fault("", 1, entity="sum", before="1 + y", after="y\n")
        text = self.sources.with_fault(fault, self.sources.find(fault))
        self.assertEqual(text.splitlines()[1:], ["int sum() { return y; }"])

    def test_list(self):
        file = self.sources.root / "faults.txt"
        file.write_text("# head\n\n== a\nin f\nbreaks B.\n- c\n- d\n+\n"
                        "test x.cpp y.cpp : *z*\ncompiles not\n")
        fault, = read_faults(file)
        self.assertEqual((fault.name, fault.entity, fault.before, fault.after, fault.compiles),
                         ("a", "f", "c\nd", "", False))
        self.assertEqual((fault.tests[0].binary(), fault.tests[0].filter), ("x_cpp_y", "*z*"))
        for wrong in ("== a\nin f\nbreaks B.\n- c\ntest x\n", "in f\n", "== a\nat f\n"):
            file.write_text(wrong)
            with self.assertRaises(Wrong):
                read_faults(file)


if __name__ == "__main__":
    unittest.main()
