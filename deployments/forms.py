"""The console's forms. What a value must be is the action's to say; a form keeps what was typed
and puts each problem beside the field that it is about."""

from __future__ import annotations

from django import forms

from deployments.domain.errors import Invalid

LONGEST_REASON = 500


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
        max_length=LONGEST_REASON,
        error_messages={
            "max_length": "A reason has at most %(limit_value)d characters;"
            " this has %(show_value)d."
        },
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
        help_text="Stands on the deployment for everybody to read.",
    )

    def show_problems(self, invalid: Invalid) -> None:
        """Put each problem beside its field, or above the form where it is about no field."""
        for problem in invalid.problems:
            field = problem.pointer.removeprefix("/")
            self.add_error(field if field in self.fields else None, problem.detail)
