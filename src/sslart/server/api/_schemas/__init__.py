"""What requests and answers hold, as /openapi.json describes them."""
