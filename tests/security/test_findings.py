"""What was found in reviews of protection, and the test that fails if it comes back.

A class of attack has a file here; a finding is tested where the code is that it is about."""

import ast
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]

FINDINGS = {
    "a circle of parents ends what they pass down": "postgres/test_held.py::test_a_circle_of_parents_loses_nothing",
    "a circle of edges and then a move ends what travelled": (
        "postgres/test_held.py::test_a_move_without_authority_keeps_what_the_old_parent_passes_down"
    ),
    "an edge is deleted, blocked, masked or claimed no more": (
        "postgres/test_edge_conduction.py::test_without_authority_no_edge_ever_conducts_less"
    ),
    "a circle keeps a tag whose cause is gone": (
        "postgres/test_stopped_tags.py::test_a_circle_through_the_hierarchy_does_not_support_itself"
    ),
    "edges dated in the future": (
        "unit/test_future_times.py::test_five_minutes_ahead_are_a_clock_that_is_fast_and_more_is_refused"
    ),
    "a column that only the lake knows is moved": (
        "contract/test_columns_and_policies.py::"
        "test_a_column_of_the_lake_that_is_moved_without_authority_keeps_the_tags_of_its_table"
    ),
    "a move beside the lake's first look at the column": (
        "postgres/test_held_parents.py::test_a_column_that_is_moved_before_the_lake_was_read_is_one_of_both_tables"
    ),
    "a run claims a person's edge as masked": (
        "postgres/test_edge_conduction.py::test_a_job_does_not_mask_a_persons_edge_without_authority"
    ),
    "a list without tags that is dated ahead": (
        "postgres/test_held.py::test_a_list_that_is_dated_ahead_does_not_outdate_a_later_classification"
    ),
    "a row in bulk leaves a tag out": "contract/test_protection.py::test_a_row_in_bulk_is_accepted_and_the_tag_is_held",
    "a deletion cuts what conducts": "contract/test_protection.py::test_a_deletion_cuts_only_with_policy_write",
    "a caller says that it has authority": "contract/test_protection.py::test_a_caller_cannot_claim_to_be_authorised",
    "others add to a run that ends with authority": (
        "postgres/test_held_claims.py::test_what_others_add_to_such_a_run_decides_nothing"
    ),
    "any sequence of statements without authority, in PostgreSQL": (
        "postgres/test_held_stateful.py::test_without_authority_no_asset_loses_a_protective_tag"
    ),
    "any sequence of statements without authority, in both stores": (
        "postgres/test_both_stores_stateful.py::test_without_authority_no_asset_of_either_store_loses_a_protective_tag"
    ),
    "a decision while propagation lags": (
        "postgres/test_lagging_propagation.py::test_a_decision_is_never_more_permissive_than_after_propagation"
    ),
    "a column's place is lost with the process": (
        "postgres/test_parents_from_the_lake.py::"
        "test_a_process_that_dies_before_tags_are_propagated_looks_the_column_up_again"
    ),
    "promotion applies what PostgreSQL had refused": (
        "stream/test_lake_promotion.py::test_what_the_hot_lane_refused_is_not_promoted"
    ),
    "the past shows what was refused": "postgres/test_refused_records.py::test_as_of_leaves_out_what_was_refused",
    "a restored PostgreSQL lacks what the lake has": (
        "stream/test_restored_stores.py::test_a_restored_postgresql_gets_back_what_the_lake_has"
    ),
    "a restored PostgreSQL draws positions again": (
        "postgres/test_positions.py::test_after_a_restore_positions_continue_above_those_that_were_published"
    ),
    "a newer change is published before an older one": (
        "postgres/test_publication_order.py::"
        "test_a_batch_that_began_earlier_and_changed_an_asset_later_is_published_later"
    ),
    "the newest commit of the lake by time": (
        "stream/test_lake_writers.py::test_the_newest_commit_is_the_one_with_the_greatest_number"
    ),
    "two writers of the lake": (
        "stream/test_lake_writers.py::test_of_two_drivers_that_write_the_same_batch_one_commits_its_events"
    ),
    "a tenant whose run fails": (
        "postgres/test_parents_from_the_lake.py::test_a_tenant_whose_run_fails_delays_no_other_and_is_tried_again"
    ),
    "a tenant whose events fail": (
        "integration/test_reactions.py::test_a_tenant_whose_events_fail_for_now_is_retried_and_others_go_on"
    ),
    "a flood of tagged columns": (
        "postgres/test_parents_from_the_lake.py::"
        "test_a_flood_of_tagged_columns_ends_neither_the_lake_nor_the_turn_of_other_tenants"
    ),
    "edges hold up tables": "integration/test_lineage_lane.py::test_a_table_is_applied_while_edges_wait",
    "a small request with very many edges": (
        "unit/test_openlineage_lineage.py::"
        "test_of_too_many_inputs_and_outputs_no_edge_is_assumed_and_the_response_warns"
    ),
    "lineage:write states owners and tags": (
        "unit/test_openlineage_scopes.py::test_it_states_edges_and_what_exists_and_nothing_about_it"
    ),
    "a star is expanded without metadata:read": (
        "unit/test_openlineage_scopes.py::"
        "test_without_metadata_read_the_sql_of_a_run_expands_no_star_and_the_warning_says_so"
    ),
    "a dead letter is replayed with less than it needed": (
        "contract/test_dead_letters.py::test_a_replay_needs_the_scopes_of_what_is_replayed"
    ),
    "a client of Kafka that does not log in": (
        "integration/test_kafka_access.py::test_a_connection_that_does_not_log_in_gets_no_response"
    ),
    "strangers reach the pool of connections": (
        "unit/test_strangers.py::test_strangers_use_a_part_of_the_connections_and_wait_for_the_rest"
    ),
    "jars that somebody has replaced": (
        "unit/test_embedded_jars.py::test_jars_that_are_not_the_pinned_ones_are_refused_with_the_remedy"
    ),
    "files that others can read": (
        "unit/test_embedded_private_files.py::test_what_the_supervisor_and_its_processes_create_is_private"
    ),
    "a replay of the WebSocket shows another tenant": (
        "contract/test_isolation.py::test_the_past_of_another_tenant_is_not_replayed"
    ),
    "an older batch moves a position back": (
        "postgres/test_progress.py::test_an_older_batch_does_not_move_a_position_back"
    ),
    "dead letters do not reach their topic": (
        "postgres/test_outbox.py::test_what_the_pipeline_refused_reaches_the_dead_letters"
    ),
    "a person's tag is hidden by an empty list of the source": (
        "contract/test_tags.py::test_a_persons_tags_show_where_the_source_states_none"
    ),
    "the first page of a run loses what it brings into the graph": (
        "postgres/test_propagation_in_pages.py::test_what_comes_into_the_graph_in_the_first_page_has_what_it_inherits"
    ),
    "events of a failed turn conflict and are given up": (
        "postgres/test_propagation_in_pages.py::"
        "test_a_run_in_pages_is_repeated_in_one_transaction_as_events_that_fail_are"
    ),
    "a column from the lake is left out beside a tag": (
        "postgres/test_columns_beside_tags.py::test_a_tag_far_above_a_table_that_is_not_in_the_graph_reaches_it"
    ),
    "a star names the fields of a struct as columns": (
        "postgres/test_run_query_columns.py::test_a_star_has_structs_and_not_the_fields_in_them"
    ),
    "the API is read on the wire": "contract/test_tls.py::test_without_tls_there_is_no_response",
    "a client without the certificate that is demanded": (
        "contract/test_tls.py::test_with_mutual_tls_a_client_needs_a_certificate_of_the_right_authority"
    ),
    "processes of others join Spark": (
        "unit/test_spark_options.py::test_in_local_mode_spark_authenticates_with_a_secret_of_its_own"
    ),
    "a token without an end": (
        "postgres/test_tokens.py::test_the_successor_of_a_token_without_an_end_has_the_default_one"
    ),
    "a tenant's flood of requests": (
        "contract/test_quotas.py::test_rest_refuses_requests_beyond_the_quota_and_states_the_pause"
    ),
    "headers that arrive a byte at a time": (
        "unit/test_api_protocol.py::test_headers_that_arrive_a_byte_at_a_time_do_not_keep_a_connection_open"
    ),
    "a body that never ends": "unit/test_api_protocol.py::test_a_body_that_stops_in_the_middle_ends_the_request",
    "more connections than there is room for": (
        "unit/test_api_protocol.py::test_one_connection_too_many_is_refused_and_there_is_room_again_after_another_ends"
    ),
    "an entry of the audit is rewritten": (
        "postgres/test_audit.py::test_an_entry_that_was_rewritten_with_its_hash_does_not_fit_the_next"
    ),
    "the end of the audit is cut off": (
        "postgres/test_audit.py::test_an_end_that_was_cut_off_shows_by_the_head_that_was_kept"
    ),
    "a key is removed that a secret needs": (
        "postgres/test_key_rotation.py::test_no_key_is_removed_that_a_secret_still_needs"
    ),
    "a change is marked before Kafka has it": (
        "unit/test_relay.py::test_a_batch_is_marked_after_kafka_has_confirmed_it_and_not_before"
    ),
}


@pytest.mark.parametrize("finding", FINDINGS)
def test_its_test_is_there(finding: str) -> None:
    path, name = FINDINGS[finding].split("::")
    tree = ast.parse((TESTS / path).read_text())
    assert name in {one.name for one in ast.walk(tree) if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)}
