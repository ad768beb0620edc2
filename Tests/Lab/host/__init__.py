"""The host's side of the lab: what is prepared, started and summed up outside the guest."""
