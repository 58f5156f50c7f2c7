"""What kill -9 does to a stack under load: nothing that was acknowledged may be lost (`make test-faults`).

Read `own_stack` (what is ill-treated), `writers` and `journal` (the load, and what was promised to it), `killer` (the
ill-treatment), then `verifier` (whether every promise was kept).
"""
