#!/usr/bin/env python3
"""Whether the own rules of prose.py find what they should, and nothing else."""

import sys
import unittest

sys.dont_write_bytecode = True
import prose


def rules(text):
    return [rule for _, rule, _ in prose.own_findings(text)]


class Rules(unittest.TestCase):
    FOUND = {
        "of-first": ["Of an operand's those are near that go by one boundary.", "It is quick. Of these\ntwo are left."],
        "what-first": ["What has been read may go at once.", "It waits. What `e` means is another memory.", "- What is left: nothing."],
        "asked": ["Asked was half of it.", "Twice as long (less was asked before)."],
        "so-many": ["Bytes, so many for each member.", "Waits until so much is left."],
        "lie-as": ["Operands that lie as one line in memory."],
        "by-way-of": ["Found by way of its name."],
        "comes-to": ["It is less than what the tile comes to.", "All of it comes to that."],
    }
    FINE = [
        "Two of the rows are left. Of course they are equal.",
        "What does it cost? Nothing. It says what it is.",
        "The task is easy. It is thrown if more memory is asked for, or when it is asked to wait.",
        "It has so many that none is left; as many as so many as there are.",
        "# What will run\n\n## Of rows",
        "```text\nWhat is asked.\n```",
        "| What is asked | Of rows |\n| --- | --- |\n| What is | asked |",
        "See `What is asked` and [a page](what-is-asked.md).",
    ]

    def test_each_rule_has_its_examples(self):
        self.assertEqual(list(self.FOUND), [name for name, _, _ in prose.RULES])

    def test_each_finds_its_examples(self):
        for rule, texts in self.FOUND.items():
            for text in texts:
                with self.subTest(text):
                    self.assertIn(rule, rules(text))

    def test_none_finds_what_is_right(self):
        for text in self.FINE:
            with self.subTest(text):
                self.assertEqual(rules(text), [])

    def test_a_finding_names_the_line_of_its_paragraph(self):
        self.assertEqual(prose.own_findings("# Page\n\nA line.\n\nOne line,\nand another. Of two.")[0][:2], (5, "of-first"))


class Lengths(unittest.TestCase):
    def test_long_paragraphs_are_found_and_long_tables_are_not(self):
        most = "word " * (prose.LONGEST // 5)
        self.assertEqual(rules(most), [])
        self.assertEqual(rules(most + "more words"), ["long-paragraph"])
        self.assertEqual(rules((most[:500] + "\n") * 2), ["long-paragraph"])
        self.assertEqual(rules(most[:500] + "\n\n" + most[:500]), [])
        self.assertEqual(rules(f"- {most[:500]}\n- {most[:500]}\n"), [])
        self.assertEqual(rules(f"| {most} | {most} |"), [])
        self.assertEqual(rules(f"```text\n{most}\n```".replace("text\n", "text\n" + "\n" * prose.FIRST)), [])

    def test_wide_code_is_found_on_the_first_screen_alone(self):
        block = "```cpp\n{}\n```\n"
        self.assertEqual(rules(block.format("x" * prose.WIDEST)), [])
        self.assertEqual(rules(block.format("x" * (prose.WIDEST + 1))), ["wide-code"])
        self.assertEqual(rules("\n" * prose.FIRST + block.format("x" * (prose.WIDEST + 1))), [])


class Pages(unittest.TestCase):
    def test_words_stay_on_their_lines_and_no_two_pieces_of_code_are_alike(self):
        self.assertEqual(prose.prose_of("a\n```\nb\n```\n`c` `c` 12\n"), ["a", "", "", "", "codeaab codeaac codeaad"])


if __name__ == "__main__":
    unittest.main()
