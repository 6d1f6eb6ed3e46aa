"""`slaq doctor` says what works with the installed Spark, without a stack trace."""

import json

import pytest
from click.testing import CliRunner

from slaq.cli import doctor


@pytest.mark.spark
@pytest.mark.slow
def test_everything_essential_holds_with_the_installed_spark() -> None:
    result = CliRunner().invoke(doctor.command, ["--format", "json"])
    found = json.loads(result.output)
    held = {finding["what"]: finding["holds"] for finding in found["findings"]}
    assert found["ok"], held
    assert result.exit_code == 0
    assert {"pools are installed", "gate asks for every task", "sidecar answers", "losses are read"} <= set(held)
    assert all(held.values())


def test_a_machine_without_java_is_told_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", "/nonexistent")
    result = CliRunner().invoke(doctor.command, [])
    assert result.exit_code == 1
    assert "FAILS" in result.output
    assert "SLAQ does not work with this Spark." in result.output
    assert "Traceback" not in result.output


def test_what_is_not_essential_does_not_fail() -> None:
    findings = [doctor.Finding("gate", True, True), doctor.Finding("hook als", False, False, "this Spark lacks x")]
    assert doctor.healthy(findings)
    assert not doctor.healthy([*findings, doctor.Finding("pools", False, True)])


def test_the_reason_of_a_driver_that_died_is_its_last_error() -> None:
    assert doctor._last_words("Traceback\n  at x\nOSError: no\nbye") == "OSError: no"
    assert doctor._last_words("") == "no message"
