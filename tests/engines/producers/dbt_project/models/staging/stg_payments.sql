with source as (

    select * from {{ ref('payments') }}

)

select
    id as payment_id,
    order_id,
    method,
    amount
from source
