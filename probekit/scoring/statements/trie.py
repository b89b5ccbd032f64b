"""Log-probabilities of the tokens of many texts at once: their trie is walked behind one cache of keys and values.

What texts have in common from their beginning on is run once: the prompt, and what candidates begin with alike. A batch
holds nodes whose past is equally long and, where others follow them, which are equally long themselves. So nothing is
padded before a token that is read, and networks need neither an attention mask nor position ids: they count alike by
learned positions, rotations or ALiBi. A network that keeps anything but keys and values reads each text whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np

from probekit.errors import ModelError
from probekit.models.model import Model
from probekit.models.served import Served
from probekit.scoring.batches import BATCH_TOKENS
from probekit.scoring.caches import Past, shares
from probekit.scoring.forward import embedded, head_at
from probekit.scoring.memory import within_memory


@dataclass(frozen=True)
class Branch:
    """A text to be read from left to right.

    Args:
        ids: token ids that the causal network, or the decoder, is given.
        first: the first of them whose probability is wanted; at least 1, since the first token has none.
        source: token ids of the encoder; none for a causal network.
    """

    ids: tuple[int, ...]
    first: int
    source: tuple[int, ...] = ()


@dataclass(frozen=True)
class Node:
    """Tokens that some paths share, up to where the first of them ends or they part."""

    tokens: tuple[int, ...]
    depth: int  # tokens before them
    first: int  # the first token, counted from the beginning, that any of the paths wants
    ends: tuple[int, ...]  # the paths that end here
    kids: tuple[Node, ...]
    source: tuple[int, ...]

    @property
    def run(self) -> tuple[int, ...]:
        """The tokens that the network has to see: nothing follows the last token of a leaf."""
        return self.tokens if self.kids else self.tokens[:-1]

    def places(self) -> list[int]:
        """The tokens of ``run`` at which the next one is read."""
        return [i for i in range(len(self.run)) if self.depth + i + 1 >= self.first]


def grow(paths: Sequence[Branch]) -> list[Node]:
    """The trie of paths, one root for each source and first token."""
    order = sorted(range(len(paths)), key=lambda i: (paths[i].source, paths[i].ids))
    groups = (list(group) for _, group in groupby(order, key=lambda i: paths[i].source))
    return [node for group in groups for node in _grow(paths, group, 0)]


def _grow(paths: Sequence[Branch], order: Sequence[int], depth: int) -> tuple[Node, ...]:
    """Nodes of sorted paths that share their first ``depth`` tokens and go on."""
    nodes = []
    for _, group in groupby(order, key=lambda i: paths[i].ids[depth]):
        members = list(group)
        low, high = paths[members[0]].ids, paths[members[-1]].ids
        end = depth + 1
        while end < len(low) and low[end] == high[end]:  # of sorted paths, the outermost share the least
            end += 1
        on = [i for i in members if len(paths[i].ids) > end]
        ends = tuple(i for i in members if len(paths[i].ids) == end)
        first = min(paths[i].first for i in members)
        nodes.append(Node(low[depth:end], depth, first, ends, _grow(paths, on, end), paths[members[0]].source))
    return tuple(nodes)


def roots_of(model: Model, paths: Sequence[Branch]) -> list[Node]:
    """The trie of paths; of a network that keeps more than keys and values of each token, every path by itself."""
    return grow(paths) if shares(model) else _apart(paths)


def _apart(paths: Sequence[Branch]) -> list[Node]:
    """Different paths as roots without kids."""
    order: dict[tuple[tuple[int, ...], tuple[int, ...]], list[int]] = {}
    for number, path in enumerate(paths):
        order.setdefault((path.source, path.ids), []).append(number)
    return [
        Node(ids, 0, min(paths[i].first for i in ends), tuple(ends), (), source)
        for (source, ids), ends in order.items()
    ]


def tokens_run(roots: Sequence[Node]) -> int:
    """Tokens that ``token_log_probs`` gives the network; an encoder's are counted too, once for each root."""
    total = sum(len(root.source) for root in roots)
    while roots:
        total += sum(len(node.run) for node in roots)
        roots = [kid for node in roots for kid in node.kids]
    return total


def token_log_probs(
    model: Model, paths: Sequence[Branch], batch_tokens: int | None = None
) -> Iterator[tuple[int, np.ndarray]]:
    """Log-probability of each token of each path, given those before it and the source.

    Args:
        model: a causal or seq2seq model.
        batch_tokens: padded tokens per batch, those in the cache included.

    Yields:
        Number of a path, as soon as it is done, and its values, float64 of shape (tokens,); 0 before ``first``.

    Raises:
        ModelError: scores are not finite, or one text does not fit into memory.
    """
    roots = roots_of(model, paths)
    rows = [(node, 0, np.zeros(1)) for node in roots]
    walk = _told(model.served, roots) if model.served else _walk(model, rows, None, batch_tokens or BATCH_TOKENS)
    for number, values in walk:
        values[: paths[number].first] = 0.0
        yield number, values


def _told(served: Served, roots: Sequence[Node]) -> Iterator[tuple[int, np.ndarray]]:
    """What a server says of whole texts."""
    for root, values in zip(roots, served.log_probs([root.tokens for root in roots]), strict=True):
        if np.isnan(values[root.first :]).any():
            raise ModelError(f"{served.name}: its server does not tell how likely the first token of a text is")
        yield from ((end, values.copy()) for end in root.ends)


Row = tuple[Node, int, np.ndarray]  # a node, its parent's row in the cache, values up to the first token of the node


def _walk(model: Model, rows: Sequence[Row], past: Past | None, budget: int) -> Iterator[tuple[int, np.ndarray]]:
    """Run nodes behind their parents, then what follows them: only the caches on the way down are held at a time."""
    for members in _alike(rows):
        lengths = [max(1, len(node.source) + node.depth + len(node.run)) for node, _, _ in members]
        masks = [len(node.places()) for node, _, _ in members]

        def forward(batch: list[int], members: list[Row] = members) -> tuple[list[list[np.ndarray]], Past | None]:
            return _forward(model, [members[i] for i in batch], past)

        for batch, (read, here) in within_memory(model.name, lengths, masks, budget, forward, model.minds_padding):
            kids: list[Row] = []
            for place, (number, values) in enumerate(zip(batch, read, strict=True)):
                node, _, before = members[number]
                whole = np.concatenate([before, values[0]])
                for end in node.ends:
                    yield end, whole.copy()
                kids += [(kid, place, np.append(whole, v)) for kid, v in zip(node.kids, values[1], strict=True)]
            if kids:
                yield from _walk(model, kids, here, budget)


def _alike(rows: Sequence[Row]) -> list[list[Row]]:
    """Nodes that may share a batch: leaves, or others of one length; at the beginning, also sources of one length."""
    groups: dict[tuple[int, int], list[Row]] = {}
    for row in rows:
        node = row[0]
        source = len(node.source) if not node.depth else 0
        groups.setdefault((source, len(node.run) if node.kids else 0), []).append(row)
    return list(groups.values())


def _forward(model: Model, rows: Sequence[Row], past: Past | None) -> tuple[list[list[np.ndarray]], Past | None]:
    """Of each node the values of its tokens but the first, and those of its kids' first tokens; and the new past."""
    import torch

    nodes = [node for node, _, _ in rows]
    width = max(len(node.run) for node in nodes)
    if not width:  # leaves of one token, which was read at their parents
        return [[np.zeros(0), np.zeros(0)] for _ in nodes], None
    ids = torch.tensor([[*node.run, *[0] * (width - len(node.run))] for node in nodes])
    where = [(row, place) for row, node in enumerate(nodes) for place in node.places()]
    at = {pair: i for i, pair in enumerate(where)}
    read = []
    for row, node in enumerate(nodes):
        follow = [(i, node.tokens[i + 1]) for i in range(len(node.tokens) - 1)]
        follow += [(len(node.tokens) - 1, kid.tokens[0]) for kid in node.kids]
        read += [(at.get((row, place), -1), token) for place, token in follow]
    network: Any = model.network
    heads = torch.tensor(where, dtype=torch.long).reshape(-1, 2).T.to(model.device)
    with head_at(model, heads), torch.inference_mode():
        given = _given(model, nodes, [parent for _, parent, _ in rows], past)
        name = "decoder_input_ids" if nodes[0].source else "input_ids"
        given |= {name: embedded(model, ids).to(model.device), "use_cache": bool(past) or any(n.kids for n in nodes)}
        output = network(**given, return_dict=True)
        logits = output.logits[0].float()
        places, tokens = torch.tensor(read, dtype=torch.long, device=model.device).reshape(-1, 2).T
        valid = places >= 0
        log_probs = torch.zeros(len(read), device=model.device)
        log_probs[valid] = logits[places[valid], tokens[valid]] - logits.logsumexp(1)[places[valid]]
    if not bool(torch.isfinite(log_probs.sum())):
        raise ModelError(f"{model.name} ({model.dtype}) gives scores that are not finite")
    sizes = [size for node in nodes for size in (len(node.tokens) - 1, len(node.kids))]
    values = iter(np.split(log_probs.cpu().double().numpy(), np.cumsum(sizes)[:-1]))
    pairs = [[next(values), next(values)] for _ in nodes]
    if not any(node.kids for node in nodes):
        return pairs, None
    return pairs, Past(output.past_key_values, output.encoder_last_hidden_state if nodes[0].source else None)


def _given(model: Model, nodes: Sequence[Node], parents: Sequence[int], past: Past | None) -> dict[str, Any]:
    """What the network gets besides token ids: the rows of the past that these nodes go on from, or their sources."""
    import torch

    if past is not None:
        return past.onward(torch.tensor(parents, device=model.device))
    if not nodes[0].source:
        return {}
    return {"input_ids": embedded(model, torch.tensor([node.source for node in nodes])).to(model.device)}
