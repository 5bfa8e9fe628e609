"""`make up`: the whole product in one terminal, and `make down`. Production uses none of it.

`stack.py` says what is started in which order, `supervisor.py` keeps it running.
"""
