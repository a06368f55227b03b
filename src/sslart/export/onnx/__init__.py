"""A fitted classifier as an ONNX model."""

from sslart.export.onnx._convert import to_onnx

__all__ = ["to_onnx"]
