"""`GET /metadata/{id}/facets`: what OpenLineage events without a run have stated about an asset."""

from fastapi import APIRouter

from lily.api.auth.authorisation import denied_references
from lily.api.calls import Reads
from lily.api.http.openapi.parameters import AssetId
from lily.api.http.openapi.responses import AssetFacets, Json
from lily.api.reads.lineage_nodes import described
from lily.api.reads.references import find
from lily.api.reads.runs import Facets, datasets_of, design, own_facets
from lily.store.postgres.runs.reader import design_facets_of

router = APIRouter(tags=["metadata"])


@router.get("/metadata/{id:text}/facets", responses={200: {"model": AssetFacets}})
async def facets_of(id: AssetId, call: Reads) -> Json:  # noqa: A002 - the contract's name
    """Returns the facets of OpenLineage events without a run that are kept as they came: of a dataset, or of a job with
    those of its inputs and outputs that have any, for callers with `lineage:read`. `GET /runs/{id}` has the facets of
    runs."""
    asset = await find(call, id)
    facets: Facets = await design_facets_of(call.services.database, call.tenant, asset.id)
    if not call.principal.may("lineage:read"):  # which datasets a job reads and writes is lineage
        facets = own_facets(facets)
    datasets = datasets_of(facets)
    denied = await denied_references(call, "READ", datasets)
    nodes = await described(call, datasets) if datasets else {}
    named = {"metadata_id": asset.id, "qualified_name": asset.qualified_name}
    return Json(named | design(facets, nodes, denied))
