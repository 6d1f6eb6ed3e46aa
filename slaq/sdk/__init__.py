"""What users call: `slaq.attach`, `slaq.job`, `slaq.report`, `slaq.should_stop`, `slaq.jobs`."""
