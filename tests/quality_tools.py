"""Messages in the documented shapes of Great Expectations and Soda."""

from typing import Any

NOT_NULL: dict[str, Any] = {
    "success": False,
    "expectation_config": {
        "type": "expect_column_values_to_not_be_null",
        "kwargs": {"batch_id": "shop-orders", "column": "id"},
        "meta": {},
        "id": "38368501-4599-433a-8c6a-28f5088a4d4a",
        "severity": "critical",
    },
    "result": {
        "element_count": 5,
        "unexpected_count": 2,
        "unexpected_percent": 40.0,
        "partial_unexpected_list": [None],
    },
    "meta": {},
    "exception_info": {"raised_exception": False, "exception_traceback": None, "exception_message": None},
}
ROW_COUNT: dict[str, Any] = {
    "success": True,
    "expectation_config": {
        "type": "expect_table_row_count_to_be_between",
        "kwargs": {"batch_id": "shop-orders", "min_value": 1, "max_value": None},
        "meta": {},
        "id": "d8a8be5b-1a0d-4d6a-a8b6-9ee1c0c3b4d2",
        "severity": "warning",
    },
    "result": {"observed_value": 5},
    "meta": {},
    "exception_info": {"raised_exception": False, "exception_traceback": None, "exception_message": None},
}


def validation(*results: dict[str, Any], at: str = "2026-01-01T08:00:00+00:00") -> dict[str, Any]:
    """As version 1 writes it."""
    return {
        "success": all(one["success"] for one in results),
        "results": list(results),
        "suite_name": "orders_suite",
        "suite_parameters": {},
        "statistics": {"evaluated_expectations": len(results)},
        "meta": {
            "great_expectations_version": "1.5.5",
            "batch_spec": {"type": "table", "table_name": "orders", "schema_name": "public", "reader_options": {}},
            "batch_markers": {"ge_load_time": "20260101T080000.630107Z"},
            "active_batch_definition": {
                "datasource_name": "shop",
                "data_connector_name": "fluent",
                "data_asset_name": "orders_asset",
                "batch_identifiers": {},
            },
            "run_id": {"run_name": None, "run_time": at},
            "checkpoint_id": None,
            "validation_id": "b2",
        },
        "id": None,
        "result_url": None,
    }


VALIDATION = validation(NOT_NULL, ROW_COUNT)

# Before version 1: expectations have no id, and are named by `expectation_type`.
OLD_VALIDATION: dict[str, Any] = {
    "success": False,
    "results": [
        {
            "success": False,
            "expectation_config": {
                "expectation_type": "expect_column_max_to_be_between",
                "kwargs": {"batch_id": "2018-06_taxi", "column": "passenger_count", "min_value": 4.0, "max_value": 5.0},
                "meta": {},
            },
            "result": {"observed_value": 6},
            "exception_info": {"raised_exception": False, "exception_traceback": None, "exception_message": None},
            "meta": {},
        }
    ],
    "evaluation_parameters": {},
    "meta": {
        "great_expectations_version": "0.18.21",
        "expectation_suite_name": "taxi",
        "active_batch_definition": {"datasource_name": "pandas", "data_asset_name": "taxi_data_1.csv"},
        "run_id": {"run_name": "nightly", "run_time": "2022-07-27T15:43:27.630107+00:00"},
        "validation_time": "20220727T154327.701100Z",
    },
}

SODA_CHECK: dict[str, Any] = {
    "identity": "e2ab5a1d",
    "name": "row_count > 0",
    "type": "generic",
    "definition": "checks for orders:\n  row_count > 0",
    "resourceAttributes": [],
    "location": {"filePath": "checks.yml", "line": 2, "col": 3},
    "dataSource": "shop",
    "table": "orders",
    "filter": None,
    "column": None,
    "metrics": ["metric-shop-orders-row_count"],
    "outcome": "fail",
    "outcomeReasons": [],
    "archetype": None,
}


def scan(*checks: dict[str, Any], at: str = "2026-01-01T08:00:00+00:00") -> dict[str, Any]:
    """The scan results of Soda Core."""
    return {
        "definitionName": "nightly",
        "defaultDataSource": "shop",
        "dataTimestamp": at,
        "scanStartTimestamp": at,
        "scanEndTimestamp": at,
        "hasErrors": False,
        "hasWarnings": False,
        "hasFailures": any(one["outcome"] == "fail" for one in checks),
        "metrics": [],
        "checks": list(checks),
        "queries": [],
    }


SODA_SCAN = scan(SODA_CHECK)

SODA_CHECKS: dict[str, Any] = {
    "event": "checkEvaluation",
    "checkResults": [
        {
            "id": "39d706c3-5a48-4f4b",
            "sodaCloudUrl": "https://cloud.soda.io/checks/39d706c3-5a48-b",
            "definition": "checks for orders:\ncount same as raw_orders in postgres2",
            "datasets": [
                {
                    "id": "e8f1fe55-ae3c-44bd",
                    "name": "orders",
                    "label": "orders",
                    "tags": [],
                    "owner": {"id": "31781df5-93cf", "email": "ann@example.org"},
                    "datasource": {"id": "5a152025-26f6", "name": "shop", "label": "shop"},
                }
            ],
            "column": "id",
            "outcome": "warn",
            "dataTimestamp": "2026-01-04T09:49:48.060897Z",
            "diagnostics": {"value": 0.0},
        }
    ],
}

SODA_INCIDENT: dict[str, Any] = {
    "event": "incidentUpdated",
    "incident": {
        "id": "e1f399a3-09ea",
        "sodaCloudUrl": "https://cloud.soda.io/incidents/e1f399a3",
        "number": 196,
        "title": "Invalid customer ids",
        "description": "Invalid customer ids",
        "severity": "major",
        "status": "investigating",
        "createdTimestamp": "2026-01-01T06:07:34Z",
        "lastUpdatedTimestamp": "2026-01-01T06:08:23Z",
        "lead": {"id": "31781df5-93cf", "email": "zoe@example.org"},
        "checkResults": [{"id": "1", "outcome": "fail", "datasets": [{"name": "customers"}]}],
    },
}
