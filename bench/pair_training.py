"""Trains the weights of ``host.pair_model``: ``python -m bench.pair_training --write``, with torch and onnx installed.

The tables of ``bench/pairs`` hold groups of four abilities about the same objects. A request finds one of them and
is a near miss of the others, so that none is told by the way it is worded; each ability has a near miss of its own
too. Its goal said again finds it as well (``bench.restated``). The model starts from the sentence model of the package
and learns to say of a request and a goal, read together, whether the one asks for what the other does. Nothing of the
tables in ``tests/domain/abilities/fit`` or of the lessons is learned from; how well it tells those apart is printed
after each pass.
"""

import argparse
import hashlib
import math
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from bench.pair_graph import AT, BIAS, HEAD, HEADS, LAYERS, WIDTH, graph_of, layer_name, weights_in
from bench.restated import restated, shortened
from domain.abilities.fit.goals import goal_read
from host.pair_model import BEGIN, END, GRAPH, MAX_TOKENS
from host.sentence_model import packaged_weights, sentence_model, tokenizer
from tests.domain.abilities.fit.tables import HELD_OUT, TABLES, Told, groups_of, taught

GROUPS = Path(__file__).parent / "pairs"
PASSES = 3
BATCH = 32
RATE = 1e-4
"""How far the weights go in one step at most; those of the head go ten times as far."""

FURTHER = 0.4
"""The share of that for what is trained already, and learns from more groups."""

WARM_UP = 0.06
"""The share of the steps in which the rate rises; it falls in the others."""

NEAR_MISSES, NEIGHBOURS, STRANGERS = 1.6, 0.4, 0.15
"""How many near misses, requests for like abilities of other groups, and requests for any others there are to one
request that finds its ability."""

LIKE = (0.35, 0.65)
"""How near by the sentence model abilities of other groups are that count as like; what is nearer may do the same."""

NEAREST = 20
"""How many like abilities are chosen among."""

TURNED = 0.3
"""The share of pairs that are read the other way round, the goal first."""

SHORTENED = 0.3
"""The share of goals that are said again without their last part too."""

DROPOUT = 0.1
SURE = 0.98
"""How sure the model has to become at most: some of what was written down is wrong."""

UNCHANGED = ("word_embeddings", "position_embeddings")
"""What single words and places mean stays as it is in the package."""

Labelled = tuple[str, str, float]


Group = Sequence[Told]


@cache
def read_as(one: Told) -> str:
    """The goal as a request is read together with it: with its method, where commands are shown."""
    return goal_read(taught(one)) if one.commands else one.goal


def near_misses(group: Group) -> list[Labelled]:
    """What must not find an ability of the group although it is about the same."""
    others = [
        (said, read_as(one)) for one in group for other in group if other is not one for said in other.finds
    ]
    return [(said, goal, 0.0) for said, goal in others]


def labelled(group: Group) -> list[Labelled]:
    """What is said of the abilities of a group themselves."""
    finds = [(said, read_as(one), 1.0) for one in group for said in one.finds]
    return finds + [(said, read_as(one), 0.0) for one in group for said in one.misses]


def said_again(group: Group, chance: random.Random) -> list[Labelled]:
    """The goal of each ability of the group as a request for it, and as one that must not find another of the group."""
    pairs = [(restated(one.goal, chance), read_as(one), 1.0) for one in group]
    for one in group:
        if chance.random() < SHORTENED:
            pairs.append((restated(shortened(one.goal), chance), read_as(one), 1.0))
        others = [other for other in group if other is not one]
        if others:
            pairs.append((restated(chance.choice(others).goal, chance), read_as(one), 0.0))
    return pairs


def neighbours(groups: Sequence[Group]) -> dict[str, list[str]]:
    """For each goal what finds like abilities of other groups, and their goals.

    Mostly the same verb with other objects.
    """
    told = [(number, one) for number, group in enumerate(groups) for one in group]
    vectors = np.stack([sentence_model().vector(one.goal) for _, one in told])
    places = np.array([number for number, _ in told])
    found: dict[str, list[str]] = {}
    for (number, one), vector in zip(told, vectors, strict=True):
        near = vectors @ vector
        near[(places == number) | (near > LIKE[1]) | (near < LIKE[0])] = -1
        nearest = [place for place in near.argsort()[::-1][:NEAREST] if near[place] > -1]
        like = [told[place][1] for place in nearest]
        found[one.goal] = [said for other in like for said in (other.goal, *other.finds)]
    return found


def one_pass(
    groups: Sequence[Group], near: Mapping[str, Sequence[str]], chance: random.Random
) -> list[Labelled]:
    """The pairs of one pass over all groups, ``near`` as by ``neighbours``."""
    requests = [said for group in groups for one in group for said in one.finds]
    pairs: list[Labelled] = []
    for group in groups:
        own, others = labelled(group), near_misses(group)
        finds = sum(1 for *_, fits in own if fits)
        pairs += own + said_again(group, chance)
        pairs += chance.sample(others, min(len(others), max(0, int(finds * NEAR_MISSES) - len(own) + finds)))
        for _ in range(int(finds * STRANGERS)):
            pairs.append((chance.choice(requests), read_as(chance.choice(group)), 0.0))
        for _ in range(int(finds * NEIGHBOURS)):
            one = chance.choice(group)
            pairs.append((chance.choice(near[one.goal] or requests), read_as(one), 0.0))
    return [turned(one) if chance.random() < TURNED else one for one in pairs]


def turned(pair: Labelled) -> Labelled:
    """The pair with the goal first."""
    said, goal, fits = pair
    return goal, said, fits


class PairEncoder:
    """The transformer as torch computes it, with its weights by their names in the package's file."""

    def __init__(self) -> None:
        import torch

        self._torch = torch
        self._chance = np.random.default_rng(0)
        self.weights, self._matrices = _weights_of_the_package()
        for name, weight in self.weights.items():
            weight.requires_grad_(not any(word in name for word in UNCHANGED))
        self.head = torch.nn.Parameter(torch.randn(2 * WIDTH) * 0.02)
        self.bias = torch.nn.Parameter(torch.zeros(1))
        encode = tokenizer().encode
        self._tokens = {}
        self._encode = lambda text: encode(text, add_special_tokens=False).ids[:MAX_TOKENS]

    def begin_with(self, kept: Mapping[str, np.ndarray]) -> None:
        """Takes weights by their names, those of words and places excepted."""
        torch = self._torch
        with torch.no_grad():
            for name, weight in self._named().items():
                weight.copy_(torch.tensor(kept[name]))

    def _named(self) -> dict[str, Any]:
        """What training changes, by its names."""
        trained = {name: weight for name, weight in self.weights.items() if weight.requires_grad}
        return {HEAD: self.head, BIAS: self.bias, **trained}

    def mix(self, other: "PairEncoder", share: float) -> None:
        """Keeps this share of the weights, and takes the rest from another stage of the same training."""
        others = other._named()
        with self._torch.no_grad():
            for name, mine in self._named().items():
                mine.copy_(share * mine + (1 - share) * others[name])

    def trained(self) -> list[Any]:
        """The weights that training changes."""
        return [one for one in self.weights.values() if one.requires_grad]

    def length(self, pair: Sequence[Any]) -> int:
        """How many tokens request and goal have."""
        return len(self.tokens(pair[0])) + len(self.tokens(pair[1]))

    def tokens(self, text: str) -> list[int]:
        """The tokens of a text."""
        if text not in self._tokens:
            self._tokens[text] = self._encode(text)
        return self._tokens[text]

    def log_odds(self, pairs: Sequence[Sequence[Any]], dropout: float = 0.0) -> Any:
        """One number a pair."""
        torch = self._torch
        functional = torch.nn.functional
        ids, kinds, mask = self._batch(pairs)
        named = self.weights

        def dropped(x: Any) -> Any:
            if not dropout:
                return x
            # Torch's own takes a sixth of the time of a step, as it draws one number after the other.
            kept = self._chance.random(x.shape, dtype=np.float32) >= dropout
            return x * (torch.from_numpy(kept) / (1 - dropout))

        def normed(x: Any, name: str) -> Any:
            weight, bias = named[f"{name}.LayerNorm.weight"], named[f"{name}.LayerNorm.bias"]
            return functional.layer_norm(x, (WIDTH,), weight, bias, 1e-12)

        at = AT
        x = functional.embedding(ids, named[f"{at}.word_embeddings.weight"])
        x = x + named[f"{at}.position_embeddings.weight"][: ids.shape[1]]
        x = dropped(normed(x + functional.embedding(kinds, named[f"{at}.token_type_embeddings.weight"]), at))
        count, length = ids.shape
        for layer in range(LAYERS):
            at = layer_name(layer)
            asked, keyed, told, out, wide, narrow = (
                named[one] for one in self._matrices[6 * layer : 6 * layer + 6]
            )
            parts = [
                (x @ matrix + named[f"{at}.attention.self.{part}.bias"])
                .view(count, length, HEADS, WIDTH // HEADS)
                .transpose(1, 2)
                for part, matrix in (("query", asked), ("key", keyed), ("value", told))
            ]
            # In full precision: backwards it is slower by far in half.
            with torch.autocast("cpu", enabled=False):
                seen = functional.scaled_dot_product_attention(
                    *(part.float() for part in parts), attn_mask=mask[:, None, None, :]
                )
            seen = seen.transpose(1, 2).reshape(count, length, WIDTH) @ out
            x = normed(
                x + dropped(seen + named[f"{at}.attention.output.dense.bias"]), f"{at}.attention.output"
            )
            inner = functional.gelu(x @ wide + named[f"{at}.intermediate.dense.bias"])
            x = normed(x + dropped(inner @ narrow + named[f"{at}.output.dense.bias"]), f"{at}.output")
        mean = (x * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)
        return dropped(torch.cat([x[:, 0], mean], 1)) @ self.head + self.bias

    def _batch(self, pairs: Sequence[Sequence[Any]]) -> tuple[Any, Any, Any]:
        torch = self._torch
        both = [(self.tokens(pair[0]), self.tokens(pair[1])) for pair in pairs]
        length = max(len(asked) + len(done) for asked, done in both) + 3
        ids = torch.zeros(len(pairs), length, dtype=torch.long)
        kinds, mask = torch.zeros_like(ids), torch.zeros_like(ids, dtype=torch.bool)
        for row, (asked, done) in enumerate(both):
            said = [BEGIN, *asked, END, *done, END]
            ids[row, : len(said)] = torch.tensor(said)
            kinds[row, len(asked) + 2 : len(said)] = 1
            mask[row, : len(said)] = True
        return ids, kinds, mask

    def graph(self) -> bytes:
        """The file that ``host.pair_model`` runs."""
        values = {name: weight.detach().numpy() for name, weight in self._named().items()}
        return graph_of(values, self._matrices)


def _weights_of_the_package() -> tuple[dict[str, Any], list[str]]:
    """All weights as floats by their names, and the names of the matrices as they are used."""
    import onnx
    import torch
    from onnx import numpy_helper

    graph = onnx.load_model_from_string(packaged_weights()).graph
    kept = {one.name: numpy_helper.to_array(one) for one in graph.initializer}
    matrices = [
        node.input[1] for node in graph.node if node.op_type == "MatMul" and f"{node.input[1]}_q" in kept
    ]
    weights: dict[str, Any] = {}
    for name, values in kept.items():
        plain = re.sub(r"_(q|scale)$", "", name)
        if name.endswith("_q"):
            weights[plain] = values.astype(np.float32) * kept[f"{plain}_scale"]
        elif plain == name and values.dtype == np.float32 and name.startswith("inner."):
            weights[name] = values
    return {name: torch.nn.Parameter(torch.tensor(values)) for name, values in weights.items()}, matrices


def area(scores: np.ndarray, fits: np.ndarray) -> float:
    """How often what must be found is rated above what must not."""
    order = scores.argsort(kind="stable")
    rank = np.empty(len(scores))
    rank[order] = np.arange(1, len(scores) + 1)
    found = int(fits.sum())
    return float((rank[fits].sum() - found * (found + 1) / 2) / (found * (len(fits) - found)))


def told_apart(model: PairEncoder) -> dict[str, float]:
    """The area under the curve of each table that nothing was learned from."""
    return {name: _area_of(model, path) for name, path in {**TABLES, **HELD_OUT}.items()}


def _area_of(model: PairEncoder, path: Path) -> float:
    import torch

    pairs = [pair for group in groups_of(path) for pair in (*labelled(group), *near_misses(group))]
    pairs.sort(key=model.length)
    with torch.no_grad():
        scores = torch.cat([model.log_odds(some) for some in _cut(pairs, 128)]).numpy()
    return round(area(scores, np.array([fits == 1.0 for *_, fits in pairs])), 3)


def _cut(pairs: Sequence[Labelled], size: int) -> Iterator[Sequence[Labelled]]:
    return (pairs[start : start + size] for start in range(0, len(pairs), size))


def _batches(
    pairs: Sequence[Labelled], model: PairEncoder, chance: random.Random
) -> list[Sequence[Labelled]]:
    """Batches of pairs of about the same length, in any order."""
    mixed = list(pairs)
    chance.shuffle(mixed)
    batches = [one for part in _cut(mixed, BATCH * 50) for one in _cut(sorted(part, key=model.length), BATCH)]
    chance.shuffle(batches)
    return batches


def train(groups: Sequence[Group], passes: int, *, further: bool = False) -> PairEncoder:
    """The model after so many passes, which begins with what is kept to train it ``further``."""
    import torch

    chance = random.Random(0)
    torch.manual_seed(0)
    model, near = _kept() if further else PairEncoder(), neighbours(groups)
    rate = RATE * (FURTHER if further else 1)
    parts = [{"params": model.trained(), "at": rate}, {"params": [model.head, model.bias], "at": 10 * rate}]
    optimizer = torch.optim.AdamW(parts, lr=RATE, weight_decay=0.01, fused=True)
    changed = [one for part in parts for one in part["params"]]
    steps, step = math.ceil(passes * len(one_pass(groups, near, chance)) / BATCH), 0
    for number in range(passes):
        for batch in _batches(one_pass(groups, near, chance), model, chance):
            share = min(1.0, (step + 1) / (WARM_UP * steps)) * max(0.02, 1 - step / steps)
            for part in optimizer.param_groups:
                part["lr"] = part["at"] * share
            wanted = torch.tensor([fits for *_, fits in batch]) * SURE + (1 - SURE) / 2
            with torch.autocast("cpu", torch.bfloat16):
                found = model.log_odds(batch, DROPOUT)
            loss = torch.nn.functional.binary_cross_entropy_with_logits(found.float(), wanted)
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(changed, 1.0)
            optimizer.step()
            step += 1
            if step % 100 == 0:
                print(f"step {step} of {steps}: loss {loss.item():.3f}", flush=True)
        print(f"after pass {number + 1}: {told_apart(model)}", flush=True)
    return model


def _kept() -> PairEncoder:
    model = PairEncoder()
    model.begin_with(weights_in(GRAPH))
    return model


def write(graph: bytes) -> None:
    """Keeps the graph, and prints what ``host.pair_model`` compares it with."""
    GRAPH.write_bytes(graph)
    print(f"{GRAPH}: {hashlib.sha256(graph).hexdigest()}")


def main() -> None:
    """Trains, and keeps the weights where that is asked for."""
    parser = argparse.ArgumentParser(prog="python -m bench.pair_training", description=__doc__)
    parser.add_argument("--write", action="store_true", help="Keep the weights.")
    parser.add_argument("--passes", type=int, default=PASSES)
    parser.add_argument("--on", nargs="+", help="The names of the files to train on, without .txt.")
    parser.add_argument("--further", action="store_true", help="Begin with the weights that are kept.")
    parser.add_argument(
        "--share", type=float, default=1.0, help="Of what is trained further; the rest stays."
    )
    options = parser.parse_args()
    files = sorted(path for path in GROUPS.glob("*.txt") if not options.on or path.stem in options.on)
    groups = [group for path in files for group in groups_of(path)]
    model = train(groups, options.passes, further=options.further)
    if options.further and options.share < 1:
        model.mix(_kept(), options.share)
        print(f"with a share of {options.share}: {told_apart(model)}", flush=True)
    if options.write:
        write(model.graph())


if __name__ == "__main__":
    main()
