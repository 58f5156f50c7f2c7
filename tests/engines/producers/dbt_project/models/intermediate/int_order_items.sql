with orders as (

    select * from {{ ref('stg_orders') }}

),

products as (

    select * from {{ ref('stg_products') }}

)

select
    orders.order_id,
    orders.customer_id,
    orders.ordered_at,
    orders.status,
    products.category,
    orders.quantity * products.price as value
from orders
inner join products on orders.product_id = products.product_id
