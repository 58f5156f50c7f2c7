with items as (

    select * from {{ ref('int_order_items') }}

),

shipped as (

    select customer_id, value, ordered_at
    from items
    where status = 'shipped'

)

select
    customer_id,
    count(*) as orders,
    sum(value) as spent,
    max(ordered_at) as last_ordered_at
from shipped
group by customer_id
