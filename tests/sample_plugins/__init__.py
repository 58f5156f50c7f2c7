"""Small plug-ins of the groups that have no built-in one yet, to try their suites on."""
