"""Several platforms side by side: what each is good for, as the JAMSTEC paper tells of its three."""
