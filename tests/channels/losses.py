"""Responses that do not arrive."""

from tests.badserver import Action, Asked, BadServer, Responder, drop


def lost_once(server: BadServer, vendor: Responder, path: str) -> None:
    """The vendor does what it is asked to by a POST, once, and its response does not arrive."""

    def respond(asked: Asked) -> Action:
        reply = vendor(asked)
        if asked.method == "POST" and asked.path.endswith(path):
            server.responder = vendor
            return drop
        return reply

    server.responder = respond
