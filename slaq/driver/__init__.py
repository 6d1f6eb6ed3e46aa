"""The driver's runtime: follows the jobs of one Spark application and holds its pools to what the scheduler grants."""
