"""The forms with which a person signs in and changes the password; the login library does the rest.

There is no way back from a forgotten password by e-mail here, so no form offers one.
"""

from __future__ import annotations

from allauth.account.forms import ChangePasswordForm, LoginForm
from django.forms import Form


class SignIn(LoginForm):
    """A username and a password, for as long as the session lasts."""

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        _call(self, {"login": "Username", "password": "Password"})
        self.fields["password"].help_text = ""


class ChangePassword(ChangePasswordForm):
    """The password that an administrator gave, exchanged for one that nobody else knows."""

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        labels = ("Password now", "New password", "New password again")
        _call(self, dict(zip(("oldpassword", "password1", "password2"), labels, strict=True)))
        self.fields["oldpassword"].help_text = ""
        self.fields["password1"].help_text = "At least 8 characters, and not like your username."


def _call(form: Form, labels: dict[str, str]) -> None:
    """Label fields above them alone: a placeholder repeats the label and looks filled in."""
    for name, label in labels.items():
        form.fields[name].label = label
        form.fields[name].widget.attrs.pop("placeholder", None)
