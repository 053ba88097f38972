"""C++ sources as tokens, and the named entities that they declare: functions, classes, variables...

This is no parser of C++. It finds where a named entity begins and ends, in code that compiles. What
a function declares inside itself belongs to that function and has no entry of its own.
"""

import functools
import re
from typing import NamedTuple


class Token(NamedTuple):
    text: str
    begin: int  # of its characters in the source
    end: int


class Entity(NamedTuple):
    """Tokens first to last of a source, last not among them.

    Its name has the namespaces and classes around it, outermost first, without template arguments.
    A row of a table, `MACRO(row, ...)`, is named MACRO::row.
    """
    name: tuple
    first: int
    last: int


# `>` is always a token of its own: `>>` may close two lists of template arguments.
CPP = re.compile(r"""
    (?P<nothing> \s+ | \\\n | //(?:[^\n\\]|\\.)* | /\*.*?\*/ )
  | (?:u8|[uUL])?R"(?P<delimiter>[^()\\\s]*)\(.*?\)(?P=delimiter)"
  | (?:u8|[uUL])?(?:"(?:[^"\\\n]|\\.)*" | '(?:[^'\\\n]|\\.)*')
  | \.?\d(?:[eEpP][+-] | '?[\w.])*
  | \w+
  | <=> | \.\.\. | ->\* | <<= | :: | -> | \+\+ | -- | << | && | \|\| | \#\# | \.\* | [-<>=!+*/%&|^]=
  | .
""", re.X | re.S)

# CMake, Python and shell. Line breaks and indentation are no tokens here either.
OTHER = re.compile(r"""
    (?P<nothing> \s+ | (?<!\S)\#[^\n]* )
  | \"\"\".*?\"\"\" | "(?:[^"\\]|\\.)*" | '(?:[^'\\\n]|\\.)*'
  | \w+
  | .
""", re.X | re.S)

OPENING = {"(": ")", "[": "]", "{": "}"}

# What may lie between two tokens.
CPP_GAP = r"(?:\s|\\\n|//[^\n]*|/\*.*?\*/)*"
OTHER_GAP = r"(?:\s|\#[^\n]*)*"


def is_cpp(path):
    return str(path).endswith((".cpp", ".cu", ".h", ".hpp", ".inc"))


def tokens_of(text, path="x.cpp"):
    """The tokens of a source; its language goes by the path's ending."""
    pattern = CPP if is_cpp(path) else OTHER
    return [Token(m[0], m.start(), m.end())
            for m in pattern.finditer(text) if m.lastgroup != "nothing"]


@functools.cache
def words_and_pattern(text, as_cpp=True):
    """The words of a text, and a pattern of sources in which `end_of_match` may find them."""
    words = [t.text for t in tokens_of(text, "x.cpp" if as_cpp else "x.py")]
    gap = CPP_GAP if as_cpp else OTHER_GAP
    return words, re.compile(gap.join(".*?" if w == "..." else re.escape(w) for w in words), re.S)


def end_of_match(words, at, last, wanted):
    """Where the wanted words end that begin at `at` and end before `last`; 0 if they are not there.

    `(...)`, `[...]` and `{...}` among them stand for a bracket with anything in it.
    """
    k = 0
    while k < len(wanted):
        if at >= last or words[at] != wanted[k]:
            return 0
        if wanted[k] in OPENING and wanted[k + 1:k + 3] == ["...", OPENING[wanted[k]]]:
            depth = 0
            while at < last:
                depth += (words[at] == wanted[k]) - (words[at] == wanted[k + 2])
                if depth == 0:
                    break
                at += 1
            k += 2
            if at == last:
                return 0
        k += 1
        at += 1
    return at


def replaced(text, tokens, first, last, instead):
    """The source with other text in the place of tokens first to last, last not among them.

    A space is added where the text would join with the token beside it.
    """
    def join(a, b):
        touches = a and b and not a[-1].isspace() and not b[0].isspace()
        return a + (" " if touches and is_word(a[-1]) == is_word(b[0]) else "") + b

    before, after = text[:tokens[first].begin], text[tokens[last - 1].end:]
    return join(join(before, instead), after)


def is_word(text):
    return text[:1].isalnum() or text[:1] == "_"


def spelled(words):
    """Words and signs in a row, with a space only between two words."""
    text = ""
    for word in words:
        text += " " + word if text and is_word(text[-1]) and is_word(word) else word
    return text


# Words that a parenthesis may follow without a function being declared.
NO_FUNCTION = frozenset("""
    alignas alignof asm auto bool char const constexpr decltype double explicit float if int long
    noexcept requires return short signed sizeof static_assert unsigned void while
    __attribute__ __declspec __launch_bounds__""".split())

# Words between the parameters of a function and its body.
AFTER_PARAMETERS = frozenset("""
    const volatile & && noexcept override final mutable try throw __attribute__""".split())


class Declarations:
    """The entities of a source. Positions (p, q, first, last, end) leave out directives' tokens."""

    def __init__(self, text, tokens):
        self.text, self.tokens = text, tokens
        self.entities = []
        # If alternatives of an #if open different brackets, only the first of each #if is read.
        if not (self.match_brackets(self.read_directives())
                or self.match_brackets(self.read_directives(only_first=True))):
            raise ValueError("brackets do not match")
        self.read_scope(0, len(self.words), ())

    # ---- tokens, directives and brackets

    def read_directives(self, only_first=False):
        """Notes the macros. Gives the indices of the tokens that belong to no directive."""
        self.entities.clear()
        code, line_end, skips = [], 0, [False]  # for each #if that is open: whether code is skipped
        for k, token in enumerate(self.tokens):
            if token.begin < line_end:
                continue
            if token.text != "#" or not self.begins_line(k):
                if not skips[-1]:
                    code.append(k)
                continue
            line_end = re.compile(r"(?:[^\n\\]|\\.)*", re.S).match(self.text, token.end).end()
            last = k
            while last < len(self.tokens) and self.tokens[last].begin < line_end:
                last += 1
            kind = self.tokens[k + 1].text if k + 1 < last else ""
            if kind == "define":
                self.entities.append(Entity((self.tokens[k + 2].text,), k, last))
            elif kind in ("if", "ifdef", "ifndef"):
                skips.append(skips[-1])
            elif kind in ("else", "elif"):
                skips[-1] = skips[-1] or only_first
            elif kind == "endif" and len(skips) > 1:
                skips.pop()
        return code

    def begins_line(self, k):
        return k == 0 or "\n" in self.text[self.tokens[k - 1].end:self.tokens[k].begin]

    def match_brackets(self, code):
        """Takes these tokens as the code. False if their brackets do not match."""
        self.code = code
        self.words = [self.tokens[k].text for k in code]
        self.closing = {}
        opened = []
        for p, word in enumerate(self.words):
            if word in OPENING:
                opened.append(p)
            elif word in (")", "]", "}"):
                if not opened or OPENING[self.words[opened[-1]]] != word:
                    return False
                self.closing[opened.pop()] = p
        return not opened

    def word(self, p):
        return self.words[p] if 0 <= p < len(self.words) else ""

    def note(self, name, first, last):
        if last > first and is_word(name[-1].lstrip("~")):
            self.entities.append(Entity(name, self.code[first], self.code[last - 1] + 1))

    # ---- steps over parts of a declaration; each gives the position behind the part

    def past_brackets(self, p):
        if p not in self.closing:
            near = " ".join(self.words[max(p - 10, 0):p + 1])
            raise ValueError(f"no bracket where one is expected: {near}")
        return self.closing[p] + 1

    def past_angles(self, p):
        """Behind the `>` that closes the `<` at p; or p + 1, if that is no bracket."""
        depth, q = 0, p
        while q < len(self.words):
            word = self.words[q]
            if word in OPENING:
                q = self.closing[q]
            elif word == "<":
                depth += 1
            elif word == ">":
                depth -= 1
                if depth == 0:
                    return q + 1
            elif word in (";", ")", "]", "}"):
                break
            q += 1
        return p + 1

    def past_name(self, p):
        """Behind a name such as a::b<c>::d."""
        while is_word(self.word(p)) or self.word(p) == "::":
            p += 1
            if self.word(p) == "<":
                p = self.past_angles(p)
            if self.word(p) != "::" and self.word(p - 1) != "::":
                break
        return p

    def past_constraint(self, p):
        """Behind a requires clause, whose `requires` stands before p."""
        while True:
            while self.word(p) == "!":
                p += 1
            if self.word(p) == "(":
                p = self.past_brackets(p)
            elif self.word(p) == "requires":
                p += 1
                if self.word(p) == "(":
                    p = self.past_brackets(p)
                p = self.past_brackets(p)
            else:
                p = self.past_name(p)
            if self.word(p) not in ("&&", "||", "and", "or"):
                return p
            p += 1

    def past_initialisers(self, p):
        """Behind a constructor's initialisers, whose colon stands before p."""
        while True:
            p = self.past_brackets(self.past_name(p))
            p += self.word(p) == "..."
            if self.word(p) != ",":
                return p
            p += 1

    def past_statement(self, p, end):
        """Behind the next `;`."""
        while p < end and self.words[p] != ";":
            p = self.past_brackets(p) if self.words[p] in OPENING else p + 1
        return min(p + 1, end)

    def before_any(self, signs, p, end):
        """The next of these signs outside of brackets."""
        while p < end and self.words[p] not in signs:
            if self.words[p] == "<":
                p = self.past_angles(p)
            else:
                p = self.past_brackets(p) if self.words[p] in OPENING else p + 1
        return p

    def name_before(self, p):
        """The parts of the name that ends before p. If p is the parenthesis of `x<a>::y(`: x, y."""
        parts, q = [], p - 1
        while True:
            if self.word(q) == ">":
                depth = 0
                while q >= 0:
                    depth += (self.words[q] == ">") - (self.words[q] == "<")
                    q -= 1
                    if depth == 0:
                        break
            part, q = self.word(q), q - 1
            if self.word(q) == "~":
                part, q = "~" + part, q - 1
            parts.insert(0, part)
            before = self.word(q - 1)
            if self.word(q) != "::" or not (is_word(before) or before == ">"):
                return tuple(parts)
            q -= 1

    # ---- declarations

    def read_scope(self, p, end, scope):
        """Notes what a file, a namespace or a class declares. `scope` is its name."""
        while p < end:
            p = max(self.read_declaration(p, end, scope), p + 1)

    def read_declaration(self, first, end, scope):
        """Notes what the declaration at `first` declares, and gives the position behind it."""
        p, name = first, ()
        while p < end:
            word = self.words[p]
            if word == ";":
                self.note(scope + (name or self.name_before(p)), first, p + 1)
                return p + 1
            if word in ("public", "private", "protected") and self.word(p + 1) == ":":
                return p + 2
            if word == "namespace" or word == "extern" and self.word(p + 2) == "{":
                return self.read_namespace(p, end, scope)
            if word in ("using", "concept", "typedef", "static_assert"):
                last = self.past_statement(p, end)
                name = self.name_before(last - 1) if word == "typedef" else (self.word(p + 1),)
                if word != "static_assert":
                    self.note(scope + name, first, last)
                return last
            if word == "operator":
                return self.read_operator(first, p, end, scope)
            if word in ("class", "struct", "union", "enum"):
                p, ended = self.read_class(first, p, end, scope)
                if ended:
                    return p
            elif word == "template":
                p = self.past_angles(p + 1) if self.word(p + 1) == "<" else p + 1
            elif word == "requires":
                p = self.past_constraint(p + 1)
            elif word == "(":
                last = self.read_row(first, p, scope) or self.read_function(first, p, end, scope)
                if last:
                    return last
                if self.word(p + 1) in ("*", "&") and is_word(self.word(p + 2)):
                    name = (self.word(p + 2),)  # a pointer to a function
                p = self.past_brackets(p)
            elif word in ("=", "{", ":"):  # an initialiser, or a bit-field's size
                last = self.past_statement(p, end)
                self.note(scope + (name or self.name_before(p)), first, last)
                return last
            elif word == "[":  # an array, or an attribute
                if p > first and not name:
                    name = self.name_before(p)
                p = self.past_brackets(p)
            elif word == "<" and p > first and is_word(self.words[p - 1]):
                p = self.past_angles(p)
            else:
                p += 1
        return end

    def read_namespace(self, p, end, scope):
        """A namespace, its alias, or extern "C" { ... }."""
        q = self.before_any(("{", ";"), p, end)
        if self.word(q) != "{":
            return q + 1
        names = ()
        if self.words[p] == "namespace":
            names = tuple(w for w in self.words[p + 1:q] if is_word(w) and w != "inline")
        self.read_scope(q + 1, self.closing[q], scope + names)
        return self.past_brackets(q)

    def read_class(self, first, p, end, scope):
        """A class, or a type's name. Gives the position behind it, and whether it was a class."""
        is_enum = self.words[p] == "enum"
        q = p + 1
        while self.word(q) in ("class", "struct", "alignas", "[", "(", "__attribute__"):
            q = self.past_brackets(q) if self.words[q] in OPENING else q + 1
        begin, q = q, self.past_name(q)
        own = self.name_before(q) if q > begin else ()
        q += self.word(q) == "final"
        if self.word(q) not in (":", "{"):
            return q, False
        q = self.before_any(("{", ";"), q, end)
        if self.word(q) == "{":
            if not is_enum:
                self.read_scope(q + 1, self.closing[q], scope + own)
            q = self.past_brackets(q)
        last = self.past_statement(q, end)
        self.note(scope + (own or self.name_before(last - 1)), first, last)
        return last, True

    def read_operator(self, first, p, end, scope):
        q = p + 1
        if self.word(q) in ("(", "["):
            q = self.past_brackets(q)
        while q < end and self.words[q] != "(":
            is_type = self.words[q] == "<" and q > p + 1
            q = self.past_angles(q) if is_type else q + 1
        name = scope + self.name_before(p + 1)[:-1] + (spelled(self.words[p:q]),)
        return self.read_body(first, q, end, name) or self.past_statement(q, end)

    def read_row(self, first, p, scope):
        """A macro with arguments that stands alone. The parenthesis is at p; 0 if it is none."""
        macro, last = self.word(p - 1), self.past_brackets(p)
        after = self.word(last)
        begins_body = after in ("{", ":", "->", "requires") or after in AFTER_PARAMETERS
        if p != first + 1 or begins_body or not re.fullmatch(r"[A-Z][A-Z0-9_]*", macro):
            return 0
        last += after == ";"
        if self.word(p + 1).isidentifier():
            self.note(scope + (macro, self.word(p + 1)), first, last)
        return last

    def read_function(self, first, p, end, scope):
        """A function whose parameters' parenthesis may be at p; 0 if it is none."""
        before = self.word(p - 1)
        if p == first or before in NO_FUNCTION or not (is_word(before) or before == ">"):
            return 0
        return self.read_body(first, p, end, scope + self.name_before(p))

    def read_body(self, first, p, end, name):
        """What follows a function's name: parameters, perhaps a body. 0 if these are not there."""
        p = self.past_brackets(p)
        while p < end:
            word = self.words[p]
            if word in AFTER_PARAMETERS:
                p += 1
                if self.word(p) == "(":
                    p = self.past_brackets(p)
            elif word == "[":
                p = self.past_brackets(p)
            elif word == "->":
                p = self.before_any(("{", ";", "=", "requires"), p, end)
            elif word == "requires":
                p = self.past_constraint(p + 1)
            elif word == ":":
                p = self.past_initialisers(p + 1)
            elif word == "{":
                p = self.past_brackets(p)
                while self.word(p) == "catch":
                    p = self.past_brackets(self.past_brackets(p + 1))
                p += self.word(p) == ";"
                self.note(name, first, p)
                return p
            elif word in (";", "="):
                p = self.past_statement(p, end)
                self.note(name, first, p)
                return p
            else:
                return 0
        return 0


def entities_of(text, tokens):
    """The entities of a C++ source, of which these are the tokens."""
    return Declarations(text, tokens).entities
