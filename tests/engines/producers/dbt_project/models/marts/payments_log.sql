{{ config(materialized='incremental', unique_key='payment_id') }}

with source as (

    select * from {{ ref('stg_payments') }}

)

select
    payment_id,
    order_id,
    method,
    amount
from source
{% if is_incremental() %}
where payment_id > (select coalesce(max(payment_id), 0) from {{ this }})
{% endif %}
