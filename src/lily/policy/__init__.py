"""Policies: who may do what to which asset, decided in memory and explained. Pure: no input or output of its own.

policy = parse_policy(body, tenant=tenant, policy_id=policy_id)      # at the door; Refused with every problem
index = compile_policies(tenant, policies, roles, users)             # once per change
decision = index.decide(principal, "READ", facts, context, "data")   # in microseconds
"""

from lily.policy.decisions import Decision
from lily.policy.explanations import ConditionOutcome, Explanation, PolicyMatch
from lily.policy.index import PolicyIndex, compile_policies
from lily.policy.masks import MASK_ACTIONS, Mask, MaskAction
from lily.policy.names import fold
from lily.policy.parsing import parse_policy, stored_policy
from lily.policy.policies import ACTIONS, EFFECTS, PLANES, Action, Effect, Plane, Policy, Resource, Subject
from lily.policy.requests import NO_CONTEXT, Ancestor, Check, Context, Facts, Principal
from lily.policy.roles import Role, User, parse_role, parse_user, refuse_role_cycle, role_cycle
from lily.policy.row_filters import DIALECTS, RowFilter, conjunction, parse_row_filter
from lily.policy.scrapers import ScraperDecision, ScraperIndex, ScraperPolicy, parse_scraper_policy
from lily.policy.subjects import DuplicateNames
from lily.policy.visibility import AssetSet, Residual, Visibility

__all__ = [
    "ACTIONS",
    "DIALECTS",
    "EFFECTS",
    "MASK_ACTIONS",
    "NO_CONTEXT",
    "PLANES",
    "Action",
    "Ancestor",
    "AssetSet",
    "Check",
    "ConditionOutcome",
    "Context",
    "Decision",
    "DuplicateNames",
    "Effect",
    "Explanation",
    "Facts",
    "Mask",
    "MaskAction",
    "Plane",
    "Policy",
    "PolicyIndex",
    "PolicyMatch",
    "Principal",
    "Residual",
    "Resource",
    "Role",
    "RowFilter",
    "ScraperDecision",
    "ScraperIndex",
    "ScraperPolicy",
    "Subject",
    "User",
    "Visibility",
    "compile_policies",
    "conjunction",
    "fold",
    "parse_policy",
    "parse_role",
    "parse_row_filter",
    "parse_scraper_policy",
    "parse_user",
    "refuse_role_cycle",
    "role_cycle",
    "stored_policy",
]
