"""The API's endpoints, one file per family."""
