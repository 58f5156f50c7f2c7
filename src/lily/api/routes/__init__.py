"""The routes of the contract, one file a subject."""
