"""Okta: its event hooks about users as changes of Lily's users."""

from lily.intake.okta.intake import Okta, verification

__all__ = ["Okta", "verification"]
