"""The progress bar: for people who watch, and for nobody else."""

import pytest

from stickslip.progress import Progress


@pytest.mark.parametrize("show", [True, None])
def test_nothing_is_written_to_a_stream_that_is_no_terminal(capsys, monkeypatch, show):
    monkeypatch.setattr("stickslip.progress.PATIENCE", 0.0)
    with Progress("halfway", 1.0, "s", show=show) as bar:
        bar.update(0.5)
        bar.update(0.6)
    assert capsys.readouterr() == ("", "")


def test_terminals_get_a_bar(capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")  # the stream counts as a terminal
    with Progress("halfway", 1.0, "s", show=True) as bar:
        bar.update(0.5)
    out, err = capsys.readouterr()
    assert out == ""
    assert "halfway" in err
