with source as (

    select * from {{ ref('products') }}

)

select
    id as product_id,
    title,
    category,
    price
from source
