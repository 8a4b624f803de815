"""Cases of make_operator_gradients.py: LSTM, GRU and RNN, by PyTorch's layers and,
where these have no such attribute, by the equations of the operators."""

import numpy as np
import torch
from torch import nn


def gates_of(weights, order):
    """Rows of ONNX's weights in PyTorch's order of gates."""
    parts = weights.chunk(len(order), 0)
    return torch.cat([parts[i] for i in order])


def torch_layer(kind, order, bidirectional, **options):
    """The function of PyTorch's layer `kind`, on ONNX's operands."""
    def compute(x, w, r, b=None, lengths=None, h=None, c=None):
        layer = getattr(nn, kind)(
            x.shape[2], r.shape[2], bias=b is not None,
            bidirectional=bidirectional, dtype=torch.float64, **options)
        weights = {}
        for d, suffix in enumerate(["", "_reverse"][:1 + bidirectional]):
            weights[f"weight_ih_l0{suffix}"] = gates_of(w[d], order)
            weights[f"weight_hh_l0{suffix}"] = gates_of(r[d], order)
            if b is not None:
                of_inputs, of_state = b[d].chunk(2)
                weights[f"bias_ih_l0{suffix}"] = gates_of(of_inputs, order)
                weights[f"bias_hh_l0{suffix}"] = gates_of(of_state, order)
        state = (h, c) if c is not None else h
        if lengths is not None:
            x = nn.utils.rnn.pack_padded_sequence(
                x, lengths, enforce_sorted=False)
        y, last = torch.func.functional_call(layer, weights, (x, state))
        if lengths is not None:
            y = nn.utils.rnn.pad_packed_sequence(y)[0]
        y = y.unflatten(2, (1 + bidirectional, -1)).transpose(1, 2)
        return [y, *last] if kind == "LSTM" else [y, last]
    return compute


def by_steps(step, clip=0):
    """One direction by the equations of the operator, with PyTorch's ops. The
    first operand of `step` is a bound for what activations get."""
    def bound(x):
        return x.clamp(-clip, clip) if clip else x

    def compute(x, w, r, b, lengths=None, h=None, c=None, p=None):
        states = []
        h = torch.zeros(x.shape[1], r.shape[2], dtype=x.dtype) if h is None else h[0]
        c = torch.zeros_like(h) if c is None else c[0]
        for x_t in x:
            h, c = step(bound, x_t, w[0], r[0], *b[0].chunk(2), h, c,
                        None if p is None else p[0].chunk(3))
            states.append(h[None])
        return [torch.stack(states), h[None], c[None]]
    return compute


def gru_step(bound, x, w, r, wb, rb, h, c, p):
    """Gates z, r and h; the state is reset before the product."""
    (wz, wr, wh), (rz, rr, rh) = w.chunk(3), r.chunk(3)
    (wbz, wbr, wbh), (rbz, rbr, rbh) = wb.chunk(3), rb.chunk(3)
    z = bound(x @ wz.T + h @ rz.T + wbz + rbz).sigmoid()
    reset = bound(x @ wr.T + h @ rr.T + wbr + rbr).sigmoid()
    candidate = bound(x @ wh.T + (reset * h) @ rh.T + rbh + wbh).tanh()
    return (1 - z) * candidate + z * h, c


def lstm_step(bound, x, w, r, wb, rb, h, c, p, coupled=False):
    """Gates i, o, f and c, with peepholes i, o and f."""
    i, o, f, g = (x @ w.T + h @ r.T + wb + rb).chunk(4, 1)
    pi, po, pf = p or [torch.zeros_like(c)] * 3
    i = bound(i + pi * c).sigmoid()
    f = 1 - i if coupled else bound(f + pf * c).sigmoid()
    c = f * c + i * bound(g).tanh()
    return bound(o + po * c).sigmoid() * c.tanh(), c


def other_rnn_step(bound, x, w, r, wb, rb, h, c, p):
    x = x @ w.T + h @ r.T + wb + rb
    return (0.25 * x + 0.5).clamp(0, 1), c


def add_cases(case, normal):
    """By `case` and `normal` of make_operator_gradients.py."""
    steps, batch, inputs, hidden = 4, 3, 2, 3
    lengths = np.array([4, 1, 3])
    for kind, gates, order in [("LSTM", 4, (0, 2, 3, 1)), ("GRU", 3, (1, 0, 2)),
                               ("RNN", 1, (0,))]:
        outputs = 3 if kind == "LSTM" else 2
        options = {"linear_before_reset": 1} if kind == "GRU" else {}

        def operands(directions):
            rows, state = gates * hidden, (directions, batch, hidden)
            return [normal(steps, batch, inputs), normal(directions, rows, inputs),
                    normal(directions, rows, hidden), normal(directions, 2 * rows),
                    None, normal(*state)] + [normal(*state)] * (kind == "LSTM")

        for two in (False, True):
            given = operands(1 + two)
            layer = torch_layer(kind, order, two)
            direction = "bidirectional" if two else "forward"
            call = dict(outputs=outputs, hidden_size=hidden,
                        direction=direction, **options)
            name = kind + ("Both" if two else "")
            case(name, kind, layer, given, **call)
            case(name + "Zero", kind, layer, given[:3], **call)
            # Lengths that the file has, that are data, and of whole sequences.
            for suffix, these, constants in [
                    ("Lengths", lengths, (4,)), ("LengthsInput", lengths, ()),
                    ("Whole", np.full(batch, steps), (4,))]:
                given[4] = these
                case(name + suffix, kind, layer, given, constants=constants,
                     **call)
        given = operands(1)

        def backwards(x, w, r, b, lengths, *state):
            """Each sample from its own end, where what is beyond stays."""
            lengths = [steps] * batch if lengths is None else lengths
            flip = torch.stack([torch.tensor(
                [*range(n)][::-1] + [*range(n, steps)]) for n in lengths], 1)
            x = x.gather(0, flip[..., None].expand(x.shape))
            y, *last = torch_layer(kind, order, False)(
                x, w, r, b, torch.as_tensor(lengths), *state)
            flip = flip[:, None, :, None].expand(y.shape)
            return [y.gather(0, flip), *last]
        case(kind + "Reverse", kind, backwards, given, outputs=outputs,
             direction="reverse", **options)
        case(kind + "ReverseLengths", kind, backwards,
             [*given[:4], lengths, *given[5:]], outputs=outputs,
             direction="reverse", **options)

        def batch_first(x, w, r, b, lengths, *state):
            y, *last = torch_layer(kind, order, True)(
                x.transpose(0, 1), w, r, b, None,
                *(s.transpose(0, 1) for s in state))
            return [y.permute(2, 0, 1, 3), *(s.transpose(0, 1) for s in last)]
        swapped = [x if i in (1, 2, 3, 4) else x.swapaxes(0, 1)
                   for i, x in enumerate(operands(2))]
        case(kind + "BatchFirst", kind, batch_first, swapped, outputs=outputs,
             direction="bidirectional", layout=1, **options)
        if kind == "GRU":
            case("GRUResetBefore", kind, lambda *x: by_steps(gru_step)(*x)[:2],
                 given, outputs=2)
            case("GRUClip", kind, lambda *x: by_steps(gru_step, 0.75)(*x)[:2],
                 given, outputs=2, clip=0.75)
        if kind == "LSTM":
            peepholes = given + [normal(1, 3 * hidden)]
            case("LSTMPeepholes", kind, by_steps(lstm_step), peepholes, outputs=3)
            case("LSTMClip", kind, by_steps(lstm_step, 0.5), peepholes,
                 outputs=3, clip=0.5)
            case("LSTMZeroCell", kind, by_steps(lstm_step),
                 [*peepholes[:6], None, peepholes[7]], outputs=3)
            case("LSTMCoupled", kind,
                 by_steps(lambda *x: lstm_step(*x, coupled=True)),
                 given, outputs=3, input_forget=1)
        if kind == "RNN":
            case("RNNRelu", kind,
                 torch_layer(kind, order, False, nonlinearity="relu"), given,
                 outputs=2, activations=["Relu"])
            case("RNNHardSigmoid", kind,
                 lambda *x: by_steps(other_rnn_step)(*x)[:2], given, outputs=2,
                 activations=["HardSigmoid"], activation_alpha=[0.25])

            def two_activations(x, w, r, b, lengths, h):
                """Affine, then scaled tanh in the other direction."""
                y, last = [], []
                for d, f in enumerate([lambda v: 0.5 * v + 0.25,
                                       lambda v: 0.75 * (2 * v).tanh()]):
                    step = lambda bound, x, w, r, wb, rb, h, c, p: (
                        f(x @ w.T + h @ r.T + wb + rb), c)
                    states, end, _ = by_steps(step)(
                        x.flip(0) if d else x, w[d:], r[d:], b[d:], None, h[d:])
                    y.append(states.flip(0) if d else states)
                    last.append(end)
                return [torch.cat(y, 1), torch.cat(last)]
            case("RNNTwoActivations", kind, two_activations, operands(2),
                 outputs=2, direction="bidirectional",
                 activations=["Affine", "ScaledTanh"],
                 activation_alpha=[0.5, 0.75], activation_beta=[0.25, 2.0])
