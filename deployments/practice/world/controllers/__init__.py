"""The controllers, one file each: `reconcile(view, hands)` looks at everything and takes the next
step.
"""
