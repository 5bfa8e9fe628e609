"""The console's forms. What a value must be is the action's to say; a form keeps what was typed
and puts each problem beside the field that it is about."""

from __future__ import annotations

from collections.abc import Mapping

from django import forms

from deployments.domain.errors import Invalid


class DeployForm(forms.Form):
    """What a deploy asks for. An empty image is passed on, since the action has the sentence."""

    image = forms.CharField(
        label="Image",
        required=False,
        widget=forms.TextInput(
            attrs={"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}
        ),
    )
    reason = forms.CharField(
        label="Reason (optional)",
        required=False,
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
        help_text="Stands on the deployment for everybody to read.",
    )

    def __init__(self, data: Mapping[str, str] | None = None, *, repository: str = "") -> None:
        """Say what an image may be; `repository` is the slot's own, empty where none is set."""
        super().__init__(data)
        self.fields["image"].help_text = (
            f"A tag or digest of {repository}, such as :2 or @sha256:…, or a whole reference."
            if repository
            else "A whole reference, such as sample:2 or registry.example/shop/api:4.2."
        )

    def show_problems(self, invalid: Invalid) -> None:
        """Put each problem beside its field, or above the form where it is about no field."""
        for problem in invalid.problems:
            field = problem.pointer.removeprefix("/")
            self.add_error(field if field in self.fields else None, problem.detail)
