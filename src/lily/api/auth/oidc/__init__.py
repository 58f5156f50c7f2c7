"""Access tokens of OpenID Connect issuers: discovery, signing keys, verification, and the principal they stand for."""
