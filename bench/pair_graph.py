"""The graph that ``host.pair_model`` runs, built from trained weights with onnx, and the weights read back from it.

Inputs are ``words``, what the package's tables say of words and places (a row a token), and ``kinds``, 0 for tokens of
the request and 1 for those of the goal; the output is one number. Matrices are kept in int8, 128 weights a scale, and
multiplied so (``MatMulNBits``): in 0.6 of the time and a third of the memory of floats. Activations get a scale for
each 128 as well, so that the numbers stay as they are to 0.02. One scale for all would halve the time again, and
tells the hard tables apart by 0.007 less.
"""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

WIDTH, HEADS, LAYERS = 384, 12, 6
BLOCK = 128
"""How many weights share a scale."""

ZERO = 128
"""What stands for a weight of 0."""

HEAD, BIAS = "head.weight", "head.bias"
AT = "inner.embeddings"

Floats = NDArray[np.float32]


def layer_name(number: int) -> str:
    """What the package's names for the weights of a layer begin with."""
    return f"inner.encoder.layer.{number}"


def graph_of(weights: Mapping[str, Floats], matrices: Sequence[str]) -> bytes:
    """The graph as a file, of weights by their names in the package; ``matrices`` names the six of each layer."""
    return _Graph(weights, matrices).file()


def weights_in(path: Path) -> dict[str, Floats]:
    """The weights of a graph by the names that ``graph_of`` was given."""
    import onnx
    from onnx import numpy_helper

    model: Any = onnx.load(str(path))
    kept = {one.name: numpy_helper.to_array(one) for one in model.graph.initializer}
    return {
        name.removesuffix("_q"): _matrix(values, kept[f"{name.removesuffix('_q')}_scale"])
        if name.endswith("_q")
        else values
        for name, values in kept.items()
        if values.dtype in (np.float32, np.uint8) and not name.endswith("_scale")
    }


def _in_blocks(matrix: Floats) -> tuple[NDArray[np.uint8], Floats]:
    """Each column in blocks of int8, and the scale of each block."""
    blocks = matrix.T.reshape(matrix.shape[1], -1, BLOCK)
    scale = np.abs(blocks).max(axis=2, keepdims=True) / (ZERO - 1)
    return (np.round(blocks / scale) + ZERO).astype(np.uint8), scale.reshape(-1).astype(np.float32)


def _matrix(blocks: NDArray[Any], scale: NDArray[Any]) -> Floats:
    values = (blocks.astype(np.float32) - ZERO) * scale.reshape(*blocks.shape[:2], 1)
    return np.ascontiguousarray(values.reshape(len(blocks), -1).T)


class _Graph:
    def __init__(self, weights: Mapping[str, Floats], matrices: Sequence[str]) -> None:
        import onnx
        from onnx import numpy_helper

        self._onnx: Any = onnx
        self._keep = numpy_helper.from_array
        self._weights = weights
        self._nodes: list[Any] = []
        self._kept: dict[str, Any] = {}
        kinds = self._add("Gather", self._weight(f"{AT}.token_type_embeddings.weight"), "kinds")
        x = self._normed(self._add("Add", "words", kinds), AT)
        for number in range(LAYERS):
            x = self._layer(x, layer_name(number), matrices[6 * number : 6 * number + 6])
        first = self._add("Gather", x, self._constant("first", np.array([0])))
        mean = self._add("ReduceMean", x, self._constant("rows", np.array([0])), keepdims=1)
        both = self._add("Concat", first, mean, axis=1)
        told = self._add("MatMul", both, self._weight(HEAD))
        self._add("Add", told, self._weight(BIAS), output="log_odds")

    def _layer(self, x: str, at: str, matrices: Sequence[str]) -> str:
        asked, keyed, told, out, wide, narrow = matrices
        parts = [
            self._headed(self._linear(x, matrix, f"{at}.attention.self.{part}.bias"), order)
            for part, matrix, order in (
                ("query", asked, (1, 0, 2)),
                ("key", keyed, (1, 2, 0)),
                ("value", told, (1, 0, 2)),
            )
        ]
        share = self._constant("share", np.array(1 / math.sqrt(WIDTH // HEADS), dtype=np.float32))
        likeness = self._add("Softmax", self._add("Mul", self._add("MatMul", *parts[:2]), share), axis=-1)
        seen = self._add("Transpose", self._add("MatMul", likeness, parts[2]), perm=(1, 0, 2))
        seen = self._add("Reshape", seen, self._constant("whole", np.array([-1, WIDTH])))
        told_of = self._linear(seen, out, f"{at}.attention.output.dense.bias")
        x = self._normed(self._add("Add", x, told_of), f"{at}.attention.output")
        inner = self._add(
            "Gelu", self._linear(x, wide, f"{at}.intermediate.dense.bias"), domain="com.microsoft"
        )
        return self._normed(
            self._add("Add", x, self._linear(inner, narrow, f"{at}.output.dense.bias")), f"{at}.output"
        )

    def _headed(self, x: str, order: Sequence[int]) -> str:
        parted = self._constant("parted", np.array([-1, HEADS, WIDTH // HEADS]))
        return self._add("Transpose", self._add("Reshape", x, parted), perm=tuple(order))

    def _linear(self, x: str, name: str, bias: str) -> str:
        matrix = self._weights[name]
        blocks, scale = _in_blocks(matrix)
        kept, scales = self._constant(f"{name}_q", blocks), self._constant(f"{name}_scale", scale)
        return self._add(
            "MatMulNBits",
            *(x, kept, scales, "", "", self._weight(bias)),
            domain="com.microsoft",
            K=matrix.shape[0],
            N=matrix.shape[1],
            bits=8,
            block_size=BLOCK,
            accuracy_level=4,
        )

    def _normed(self, x: str, at: str) -> str:
        named = (self._weight(f"{at}.LayerNorm.{part}") for part in ("weight", "bias"))
        return self._add("LayerNormalization", x, *named, axis=-1, epsilon=1e-12)

    def _weight(self, name: str) -> str:
        return self._constant(name, self._weights[name])

    def _constant(self, name: str, values: NDArray[Any]) -> str:
        if name not in self._kept:
            self._kept[name] = self._keep(values, name)
        return name

    def _add(self, kind: str, *inputs: str, output: str = "", domain: str = "", **attributes: Any) -> str:
        output = output or f"{kind}_{len(self._nodes)}"
        self._nodes.append(
            self._onnx.helper.make_node(kind, list(inputs), [output], domain=domain, **attributes)
        )
        return output

    def file(self) -> bytes:
        helper, kinds = self._onnx.helper, self._onnx.TensorProto
        told = helper.make_graph(
            self._nodes,
            "pair_model",
            [
                helper.make_tensor_value_info("words", kinds.FLOAT, ["tokens", WIDTH]),
                helper.make_tensor_value_info("kinds", kinds.INT64, ["tokens"]),
            ],
            [helper.make_tensor_value_info("log_odds", kinds.FLOAT, [1])],
            list(self._kept.values()),
        )
        used = [helper.make_opsetid("", 18), helper.make_opsetid("com.microsoft", 1)]
        model = helper.make_model(told, opset_imports=used, ir_version=10)
        self._onnx.checker.check_model(model)
        return bytes(model.SerializeToString())
