"""Whose a job is."""

from slaq.protocol import Declaration
from slaq.protocol.names import printable
from slaq.scheduler.live import App


def owner_of(app: App, declared: Declaration | None) -> str:
    """Whose job it is: its application's user's, or whom the application works for, if it may say so."""
    named = "" if declared is None else printable(declared.user)
    if not named or named == app.user:
        return app.user
    if app.serves:
        return named
    app.notice = (
        f"{app.user} may not act for others, so the jobs of {named} count as {app.user}'s; "
        f"set users.{app.user}.serves_others"
    )
    return app.user
