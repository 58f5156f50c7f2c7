"""Quotas and limits of failures that permit everything, for parts that count."""

from lily.api.auth.strangers import Strangers
from lily.api.metrics import ApiMetrics
from lily.api.quotas.quotas import Quotas
from lily.model.quotas import TenantLimits


def unlimited(metrics: ApiMetrics) -> Quotas:
    async def load(_: str) -> TenantLimits:
        return TenantLimits()

    return Quotas(TenantLimits(), 1.0, load, metrics.quota_refusals)


def any_failures(metrics: ApiMetrics) -> Strangers:
    return Strangers(0, lambda: True, metrics.failed_authentications)
