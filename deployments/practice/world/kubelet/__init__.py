"""The kubelets: what happens to the pods of a node, second by second, and what they report."""
