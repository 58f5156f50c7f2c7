from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Relationship(_message.Message):
    __slots__ = ("from_asset_id", "to_asset_id", "relationship_type")
    FROM_ASSET_ID_FIELD_NUMBER: _ClassVar[int]
    TO_ASSET_ID_FIELD_NUMBER: _ClassVar[int]
    RELATIONSHIP_TYPE_FIELD_NUMBER: _ClassVar[int]
    from_asset_id: str
    to_asset_id: str
    relationship_type: str
    def __init__(self, from_asset_id: _Optional[str] = ..., to_asset_id: _Optional[str] = ..., relationship_type: _Optional[str] = ...) -> None: ...

class Metadata(_message.Message):
    __slots__ = ("asset_id", "asset_name", "asset_type", "asset_owner", "created_at", "updated_at", "data_source", "tags", "business_terms", "version", "is_deleted", "external_id", "metadata")
    ASSET_ID_FIELD_NUMBER: _ClassVar[int]
    ASSET_NAME_FIELD_NUMBER: _ClassVar[int]
    ASSET_TYPE_FIELD_NUMBER: _ClassVar[int]
    ASSET_OWNER_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    UPDATED_AT_FIELD_NUMBER: _ClassVar[int]
    DATA_SOURCE_FIELD_NUMBER: _ClassVar[int]
    TAGS_FIELD_NUMBER: _ClassVar[int]
    BUSINESS_TERMS_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    IS_DELETED_FIELD_NUMBER: _ClassVar[int]
    EXTERNAL_ID_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    asset_id: str
    asset_name: str
    asset_type: str
    asset_owner: str
    created_at: str
    updated_at: str
    data_source: str
    tags: _containers.RepeatedScalarFieldContainer[str]
    business_terms: _containers.RepeatedScalarFieldContainer[str]
    version: int
    is_deleted: bool
    external_id: str
    metadata: str
    def __init__(self, asset_id: _Optional[str] = ..., asset_name: _Optional[str] = ..., asset_type: _Optional[str] = ..., asset_owner: _Optional[str] = ..., created_at: _Optional[str] = ..., updated_at: _Optional[str] = ..., data_source: _Optional[str] = ..., tags: _Optional[_Iterable[str]] = ..., business_terms: _Optional[_Iterable[str]] = ..., version: _Optional[int] = ..., is_deleted: _Optional[bool] = ..., external_id: _Optional[str] = ..., metadata: _Optional[str] = ...) -> None: ...

class GenericMessage(_message.Message):
    __slots__ = ("success", "message")
    SUCCESS_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    success: bool
    message: str
    def __init__(self, success: _Optional[bool] = ..., message: _Optional[str] = ...) -> None: ...

class MetadataPropagationRequest(_message.Message):
    __slots__ = ("updated_metadata",)
    UPDATED_METADATA_FIELD_NUMBER: _ClassVar[int]
    updated_metadata: Metadata
    def __init__(self, updated_metadata: _Optional[_Union[Metadata, _Mapping]] = ...) -> None: ...

class GetLineageRequest(_message.Message):
    __slots__ = ("asset_id", "depth", "remove_deleted")
    ASSET_ID_FIELD_NUMBER: _ClassVar[int]
    DEPTH_FIELD_NUMBER: _ClassVar[int]
    REMOVE_DELETED_FIELD_NUMBER: _ClassVar[int]
    asset_id: str
    depth: int
    remove_deleted: bool
    def __init__(self, asset_id: _Optional[str] = ..., depth: _Optional[int] = ..., remove_deleted: _Optional[bool] = ...) -> None: ...

class GetLineageResponse(_message.Message):
    __slots__ = ("success", "message", "lineage")
    SUCCESS_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    LINEAGE_FIELD_NUMBER: _ClassVar[int]
    success: bool
    message: str
    lineage: _containers.RepeatedCompositeFieldContainer[Relationship]
    def __init__(self, success: _Optional[bool] = ..., message: _Optional[str] = ..., lineage: _Optional[_Iterable[_Union[Relationship, _Mapping]]] = ...) -> None: ...
