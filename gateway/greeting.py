"""What `countersign serve` prints when it is ready: where to go, which model answers, how to sign in."""

from __future__ import annotations

from gateway.application import Application
from gateway.core.vocabulary import Profile

FIRST_PERSON = "Operator"
"""The name under which the first person enrols."""


async def greeting_for(application: Application) -> str:
    """The text. While nobody is enrolled it ends in a link to enrol with, which works once."""
    names = ", ".join(model.display_name for model in await application.models.models())
    state = application.models.state()
    origins = application.origins
    lines = [
        "Countersign is ready.",
        f"  web shell  {origins.agent}",
        f"  console    {origins.console}",
        f"  model      {names or 'none'} ({': '.join(filter(None, (state.phase, state.detail)))})",
    ]
    if await application.passkeys.is_anyone_enrolled():
        return "\n".join([*lines, "", "Open the console to sign in:", "", f"  {origins.console}", ""])
    link = await application.offer_enrolment(FIRST_PERSON, Profile.OPERATOR)
    minutes = f"{application.gateway.timing.enrolment / 60:g} minutes"
    return "\n".join([*lines, "", f"Open this link to register your passkey; it works once, for {minutes}:", "", f"  {link}", ""])
