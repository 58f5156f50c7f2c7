"""The routes of the contract, one folder per subject and one module per path."""
