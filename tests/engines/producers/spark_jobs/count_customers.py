"""Two tables from the customers: how many share an email, and how many a country has with each hash."""

from pyspark.sql import SparkSession

spark = SparkSession.builder.appName("count_customers").getOrCreate()
by_email = spark.sql("select email, count(*) as customers, max(country) as country from customers group by email")
by_email.write.mode("overwrite").saveAsTable("customers_by_email")
by_hash = spark.sql("select email_hash, count(*) as customers from customers group by email_hash, email")
by_hash.write.mode("overwrite").saveAsTable("customers_by_hash")
spark.stop()
