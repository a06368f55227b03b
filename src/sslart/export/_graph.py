"""A small builder of ONNX graphs, with array-like values, and computation on chunks of samples."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sslart._utils.optional import optional

if TYPE_CHECKING:
    from onnx import NodeProto, TensorProto, ValueInfoProto

FLOAT, INT64, STRING, BOOL, DOUBLE = 1, 7, 8, 9, 11  # TensorProto.DataType of the ONNX standard
CATEGORIES_DOMAIN = "ai.onnx.ml"
ELEMENTS_PER_PIECE = 1 << 18
MAX_ROWS_PER_PIECE = 256

Kind = tuple[int, ...]  # a type, followed by lengths
Operand = Any  # a Value, or a constant: a float (double precision), or an array of any type


def _binary(operator: str) -> Callable[[Value, Operand], Value]:
    def method(self: Value, other: Operand) -> Value:
        return self.graph.op(operator, self, other)

    return method


class Value:
    """The output of a node of the graph. Operators broadcast as in NumPy."""

    __array_ufunc__ = None  # array - value is left to Value.__rsub__

    def __init__(self, graph: Graph, name: str) -> None:
        self.graph, self.name = graph, name

    __add__, __mul__, __truediv__, __matmul__ = _binary("Add"), _binary("Mul"), _binary("Div"), _binary("MatMul")
    __lt__, __gt__, __ge__ = _binary("Less"), _binary("Greater"), _binary("GreaterOrEqual")
    __sub__, __and__, __or__ = _binary("Sub"), _binary("And"), _binary("Or")

    def __rsub__(self, other: Operand) -> Value:
        return self.graph.op("Sub", other, self)

    def __invert__(self) -> Value:
        return self.graph.op("Not", self)

    def equals(self, other: Operand) -> Value:
        """Return a mask of equal values."""
        return self.graph.op("Equal", self, other)

    def cast(self, kind: int) -> Value:
        """Return the value as another type."""
        return self.graph.op("Cast", self, to=kind)

    def reshape(self, *shape: int) -> Value:
        """Return the value in another shape; -1 stands for the remaining size."""
        return self.graph.op("Reshape", self, np.array(shape, dtype=np.int64))

    def sum(self, axis: int) -> Value:
        """Return the sum over an axis, which is dropped."""
        return self.graph.op("ReduceSum", self, np.array([axis]), keepdims=0)

    def max(self, axis: int) -> Value:
        """Return the maximum over an axis, which is dropped."""
        return self.graph.op("ReduceMax", self, axes=[axis], keepdims=0)

    def argmax(self, axis: int) -> Value:
        """Return the index of the first maximum over an axis, which is dropped."""
        return self.graph.op("ArgMax", self, axis=axis, keepdims=0)

    def argmin(self, axis: int) -> Value:
        """Return the index of the first minimum over an axis, which is dropped."""
        return self.graph.op("ArgMin", self, axis=axis, keepdims=0)


class Graph:
    """A graph under construction: nodes (of the body of a Scan while it is built), constants, inputs and outputs."""

    def __init__(self, reserved: Sequence[str] = ()) -> None:
        self.nodes: list[NodeProto] = []
        self.initializers: list[TensorProto] = []
        self.inputs: list[ValueInfoProto] = []
        self.outputs: list[ValueInfoProto] = []
        self.n_bytes = 0
        self._helper, self._numpy_helper = optional("onnx.helper", "onnx"), optional("onnx.numpy_helper", "onnx")
        self._taken = set(reserved)
        self._n_names = 0

    def input(self, name: str, kind: int, n_columns: int) -> Value:
        """Declare an input with a row per sample. An underscore is appended to a used or empty name."""
        while not name or name in self._taken:
            name += "_"
        self._taken.add(name)
        self.inputs.append(self._helper.make_tensor_value_info(name, kind, ["N", n_columns]))
        return Value(self, name)

    def output(self, value: Value, name: str, kind: int, *shape: int) -> None:
        """Declare an output with a row per sample."""
        self.nodes.append(self._helper.make_node("Identity", [value.name], [name]))
        self.outputs.append(self._helper.make_tensor_value_info(name, kind, ["N", *shape]))

    def op(self, operator: str, *operands: Operand, domain: str = "", **attributes: Any) -> Value:
        """Add a node."""
        inputs = [self._named(operand) for operand in operands]
        name = self._new_name()
        self.nodes.append(self._helper.make_node(operator, inputs, [name], domain=domain, **attributes))
        return Value(self, name)

    def where(self, condition: Operand, if_true: Operand, if_false: Operand) -> Value:
        """Select between two values by a condition, elementwise."""
        return self.op("Where", condition, if_true, if_false)

    def take(self, array: Operand, indices: Operand, axis: int = 0) -> Value:
        """Return rows, or columns, by their indices."""
        return self.op("Gather", array, indices, axis=axis)

    def join(self, values: Sequence[Value], axis: int) -> Value:
        """Concatenate values along an axis."""
        return values[0] if len(values) == 1 else self.op("Concat", *values, axis=axis)

    def in_pieces(
        self, rows: Sequence[Value], cost: int, body: Callable[..., Sequence[Value]], kinds: Sequence[Kind]
    ) -> list[Value]:
        """Apply a body to chunks of rows of matrices, and concatenate the results.

        Memory is that of one chunk. `cost`: number of elements that the body needs for one row, which determines the
        size of chunks. The body takes some rows of each matrix, in double precision, and returns values with as many
        rows, of the given types and shapes.
        """
        most = np.array([min(max(ELEMENTS_PER_PIECE // max(cost, 1), 1), MAX_ROWS_PER_PIECE)])
        n_rows = self.op("Shape", rows[0], start=0, end=1)
        at_least_one = self.op("Max", n_rows, np.array([1]))
        n_at_once = self.op("Min", at_least_one, most)
        missing = at_least_one + self.op("Mod", np.array([0]) - at_least_one, n_at_once) - n_rows
        pads = self.op("Concat", np.array([0, 0]), missing, np.array([0]), axis=0)

        def in_shape(value: Value, *lengths: Operand) -> Value:
            return self.op("Reshape", value, self.op("Concat", np.array([-1]), *lengths, axis=0))

        pieces = [in_shape(self.op("Pad", one, pads), n_at_once, self.op("Shape", one, start=1, end=2)) for one in rows]
        stacked = self._scan(pieces, body, kinds)
        joined = [in_shape(one, self.op("Shape", one, start=2)) for one in stacked]
        return [self.op("Slice", one, np.array([0]), n_rows, np.array([0])) for one in joined]

    def _scan(
        self, pieces: Sequence[Value], body: Callable[..., Sequence[Value]], kinds: Sequence[Kind]
    ) -> list[Value]:
        """Return the results of a body for each piece, stacked."""
        outer, self.nodes = self.nodes, []
        taken = [Value(self, self._new_name()) for _ in pieces]
        # through a node of its own, so that no output of the body is one of its inputs
        ends = [self.op("Identity", value) for value in body(*taken)]
        inner = self._helper.make_graph(
            self.nodes,
            self._new_name(),
            [self._helper.make_tensor_value_info(value.name, DOUBLE, None) for value in taken],
            # ONNX Runtime 1.18 needs the shapes
            [
                self._helper.make_tensor_value_info(end.name, kind, ["rows", *shape])
                for end, (kind, *shape) in zip(ends, kinds, strict=True)
            ],
        )
        self.nodes = outer
        found = [Value(self, self._new_name()) for _ in ends]
        names = [value.name for value in pieces], [value.name for value in found]
        self.nodes.append(self._helper.make_node("Scan", *names, body=inner, num_scan_inputs=len(pieces)))
        return found

    def _named(self, operand: Operand) -> str:
        if isinstance(operand, Value):
            return operand.name
        array: NDArray[Any] = np.asarray(operand)
        if array.dtype.kind == "i":
            array = array.astype(np.int64)  # NumPy before 2 has 32 bits on Windows
        name = self._new_name()
        self.n_bytes += array.nbytes
        self.initializers.append(self._numpy_helper.from_array(np.ascontiguousarray(array).reshape(array.shape), name))
        return name

    def _new_name(self) -> str:
        while (name := f"v{self._n_names}") in self._taken:
            self._n_names += 1
        self._taken.add(name)
        return name
