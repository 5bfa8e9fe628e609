"""Every write, one file per verb. The action is the transaction; `now` is an argument."""
