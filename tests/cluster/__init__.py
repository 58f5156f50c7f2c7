"""The pipeline as a large deployment has it: on a Spark cluster, its warehouse on shared storage (`make test-cluster`).

Read `spark_cluster` (a real one, on this machine), `site` (what runs against it) and `contents` (what the stores hold).
"""
