"""The practice cluster: a small Kubernetes API over HTTP with what a cluster does by itself.

It imports nothing of the product and nothing of the product imports it.
"""
