"""Which method when: tables and reports of the comparison of methods."""

import json
from dataclasses import replace

from stickslip.lab.bench import methods
from stickslip.lab.bench.methods import Question
from stickslip.methods.registry import METHODS


def test_tables_numbers_and_reports(tmp_path, monkeypatch, capsys):
    question = Question(
        "A ball", "ball", 0.05, ("semi-implicit-euler", "stewart-trinkle", "bilateral"), "stewart-trinkle"
    )
    monkeypatch.setattr(methods, "QUESTIONS", (question,))
    assert methods.run_methods(quick=True, json=tmp_path / "numbers.json", out=tmp_path)
    page = (tmp_path / "methods.md").read_text()
    assert "### A ball" in page
    assert "errors against `stewart-trinkle`" in page
    assert page.count("| `") == 3
    rows = json.loads((tmp_path / "numbers.json").read_text())["ball"]
    assert [row["method"] for row in rows] == list(question.methods)
    assert rows[0]["us_per_step"] > 0
    assert (tmp_path / "ball" / "report.html").exists()
    assert "A ball" in capsys.readouterr().out


def test_methods_that_cannot_are_said_so_in_the_table(tmp_path, monkeypatch):
    """All bundled methods hold loops; one from outside may not."""
    soft = METHODS["expo"]
    unable = type("Unable", (soft,), {"capabilities": replace(soft.capabilities, loops=False)})
    monkeypatch.setitem(METHODS, "unable", unable)
    question = Question("A loop", "four-bar", 0.01, ("stewart-trinkle", "unable"))
    monkeypatch.setattr(methods, "QUESTIONS", (question,))
    assert methods.run_methods(quick=True, out=tmp_path)
    assert "| `unable` | failed: method 'unable': does not hold closed loops" in (tmp_path / "methods.md").read_text()


def test_every_question_names_a_reference_that_takes_part():
    for question in methods.QUESTIONS:
        assert question.reference is None or question.reference in question.methods
