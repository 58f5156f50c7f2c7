"""Notifications: what a subscription matches, when it is quiet, how a message reads. Pure functions and types.

The worker decides with this what is sent, and `GET /subscriptions/{id}/explain` explains with the same code why.
"""
