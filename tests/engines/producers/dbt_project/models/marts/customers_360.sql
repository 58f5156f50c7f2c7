with customers as (

    select * from {{ ref('stg_customers') }}

),

spending as (

    select * from {{ ref('int_customer_spending') }}

)

select
    customers.customer_id,
    customers.full_name,
    customers.email,
    spending.orders,
    spending.spent
from customers
left join spending using (customer_id)
