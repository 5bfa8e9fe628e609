"""The JSON API under `/api/v1/`: the same actions and refusals as the console's buttons.

`site` puts it together; one router module for each resource; what an answer looks like is in
`schemas` and `shapes`, what a refusal looks like in `errors`.
"""
