"""Loads a CSV file of customers into a table, with a hash of the email beside it."""

import sys

from pyspark.sql import SparkSession
from pyspark.sql import functions as f

spark = SparkSession.builder.appName("load_customers").getOrCreate()
raw = spark.read.csv(sys.argv[1], header=True, inferSchema=True)
loaded = raw.select("id", "email", "country", f.sha2(f.col("email"), 256).alias("email_hash"))
loaded.write.mode("overwrite").saveAsTable("customers")
spark.stop()
