select
    category,
    status,
    sum(value) as sales
from {{ ref('int_order_items') }}
group by category, status
