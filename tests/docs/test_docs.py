"""What the checks of the pages find, and what they let pass."""

import pathlib
import tempfile
import unittest

import packages
import page
import words
import workflow
from service import moved
from session import Failed, Shell, shows


class Pages(unittest.TestCase):
    def test_blocks_have_marks_options_and_lines(self):
        text = "a\n```sh run needs=go\nx\n```\n\n* b\n\n  ```js save=a.js\n  y\n  ```\n\n```text output\nz\n```\n"
        first, second, third = page.blocks(text)
        self.assertEqual((first.line, first.mark, first.options["needs"], first.text), (2, "run", "go", "x\n"))
        self.assertEqual((second.mark, second.options["save"], second.text), ("save", "a.js", "y\n"))
        self.assertEqual(third.mark, "output")

    def test_a_program_without_a_mark_an_unknown_one_and_a_block_without_end_are_refused(self):
        for text in ["```sh\nx\n```\n", "```sh runs\nx\n```\n", "```sh run parse\nx\n```\n", "```text\nx\n"]:
            with self.subTest(text), self.assertRaises(page.Broken):
                page.blocks(text)

    def test_a_page_says_that_it_takes_long(self):
        self.assertTrue(page.is_long("# A\n<!-- only: --install -->\n"))
        self.assertFalse(page.is_long("the comment `<!-- only: --install -->`"))

    def test_banned_words_are_found_in_prose_only_and_over_lines(self):
        text = "All but\nfor `the original` one.\n```text\nthe contract\n```\nThe Contract.\n"
        found = [(line, word) for line, word, _ in words.wrong_words(text)]
        self.assertEqual(sorted(found), [(1, "but for"), (6, "Contract")])

    def test_of_a_source_comments_and_texts_are_read_and_its_tests_are_not(self):
        text = (
            "/// All but\n/// for `the original`.\nfn told(c: char) -> &str {\n    if c == '\"' { return \"told\"; } // told\n"
            '    r#"but "somebody" is"#;\n    "none \\\n     of ours"\n}\n#[cfg(test)]\nmod tests {\n// told\n'
        )
        found = [(line, word) for line, word, _ in words.wrong_words(words.source_prose(text))]
        self.assertEqual(sorted(found), [(1, "but for"), (4, "told"), (5, "somebody"), (6, "none of ours")])

    def test_links_to_missing_files_and_headings_are_found(self):
        with tempfile.TemporaryDirectory() as folder:
            other = pathlib.Path(folder) / "other.md"
            other.write_text("## Two words, `code`\n")
            text = "[a](other.md) [b](other.md#two-words-code) [c](none.md)\n[d](other.md#none) [e](https://x)\n## Here\n[f](#here)"
            here = pathlib.Path(folder) / "here.md"
            here.write_text(text)
            self.assertEqual(list(words.dead_links(here, text)), [(1, "none.md"), (2, "other.md#none")])

    def test_paths_that_the_page_leaves_out_or_denies_are_found(self):
        text = "## What is served\n`/v3/a`\n### What is not served\n`/v3/c`, `/v3/d`\n## More\n`/v3/b`\n"
        template = "".join(f"          {path}:\n            get: *x\n" for path in ("/v3/a/{id}", "/v3/b", "/v3/c/x"))
        self.assertEqual(list(words.wrong_paths(text, template)), [
            "does not list /v3/b", "does not list /v3/c/x", "says that /v3/c is not served",
        ])

    def test_every_system_package_that_a_suite_installs_is_listed(self):
        asked = set(packages.asked_for())
        # Both ways of asking are seen.
        self.assertLessEqual({"postfix", "golang-go", "php-symfony-http-client", "ruby-webrick", "dpkg-dev", "msmtp"}, asked)
        self.assertEqual(asked - packages.listed(), set())
        self.assertEqual(packages.listed() - asked, set())

    def test_ports_move_and_longer_numbers_stay(self):
        self.assertEqual(moved("127.0.0.1:3000 30000 9000", {"3000": "1", "9000": "2"}), "127.0.0.1:1 30000 2")


class Workflows(unittest.TestCase):
    def job(self, *steps, **more):
        return {"jobs": {"test": {"steps": list(steps), **more}}}

    def test_steps_are_shells_with_the_variables_of_job_and_step(self):
        steps = [{"uses": "actions/checkout@v5"}, {"run": "echo $A $B", "env": {"B": "it's"}}]
        text = workflow.script(self.job(*steps, env={"A": 1}))
        with tempfile.TemporaryDirectory() as folder:
            shell = Shell(folder, {"PATH": "/usr/bin:/bin"})
            self.assertEqual(shell.run(text), "1 it's\n")
            shell.close()

    def test_what_cannot_be_run_here_is_refused(self):
        for job in [
            self.job({"uses": "someone/other@v1"}),
            self.job({"run": "echo ${{ secrets.KEY }}"}),
            self.job({"uses": "actions/checkout@v5"}),
            self.job({"run": "true"}, services={"posthaste": {"image": "x"}}),
        ]:
            with self.subTest(job), self.assertRaises(Failed):
                workflow.script(job)


class Shells(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.shell = Shell(self.folder.name, {"PATH": "/usr/bin:/bin"})

    def tearDown(self):
        self.shell.close()
        self.folder.cleanup()

    def test_variables_outlive_a_block_and_output_is_its_own(self):
        self.assertEqual(self.shell.run("a=1\necho one\n"), "one\n")
        self.assertEqual(self.shell.run("echo $a\n"), "1\n")

    def test_a_failed_command_and_an_unset_variable_fail_the_block(self):
        with self.assertRaises(Failed):
            self.shell.run("false\necho on\n")

    def test_an_unset_variable_fails_the_block(self):
        with self.assertRaises(Failed):
            self.shell.run("echo $nothing\n")

    def test_a_program_in_the_background_is_waited_for(self):
        seen = self.shell.run("(read -t 0.2 <> <(:) || :; echo late) &\n")
        self.assertEqual(self.shell.until(lambda seen: shows(seen, "late"), "late", seen), "late\n")

    def test_output_is_compared_in_order_and_with_gaps(self):
        self.assertTrue(shows("a 1 b\nc\nd\n", "a … b\nd"))
        self.assertFalse(shows("c\na\n", "a\nc"))


if __name__ == "__main__":
    unittest.main()
