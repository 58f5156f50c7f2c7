with source as (

    select * from {{ ref('orders') }}

),

renamed as (

    select
        id as order_id,
        customer_id,
        product_id,
        quantity,
        ordered_at,
        status
    from source

)

select * from renamed
