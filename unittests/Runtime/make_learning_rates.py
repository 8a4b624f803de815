"""Prints LearningRates.inc: what PyTorch's and transformers' schedules give.

usage: make_learning_rates.py > LearningRates.inc

Needs torch and transformers.
"""

import torch
from torch.optim.lr_scheduler import (CosineAnnealingLR, LinearLR, OneCycleLR)
from transformers import (get_constant_schedule_with_warmup,
                          get_cosine_schedule_with_warmup,
                          get_linear_schedule_with_warmup)

PEAK, STEPS = 0.25, 12


def rates(make):
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=PEAK)
    scheduler = make(optimizer)
    result = []
    for _ in range(STEPS):
        result.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        scheduler.step()
    return result


def show(shape, warmup, minimum, make):
    numbers = ", ".join(repr(rate) for rate in rates(make))
    print(f"{{LearningRateShape::{shape}, {warmup}, {minimum},\n"
          f" {{{numbers}}}}},")


def one_cycle(optimizer, **options):
    return OneCycleLR(optimizer, PEAK, STEPS, cycle_momentum=False, **options)


print("// Written by make_learning_rates.py with PyTorch", torch.__version__)
none = "std::nullopt"
show("constant", 5, none, lambda o: get_constant_schedule_with_warmup(o, 5))
show("linear", none, 0.05,
     lambda o: LinearLR(o, 1.0, 0.05 / PEAK, total_iters=STEPS))
show("linear", 3, none,
     lambda o: get_linear_schedule_with_warmup(o, 3, STEPS))
show("cosine", none, 0.05,
     lambda o: CosineAnnealingLR(o, STEPS, eta_min=0.05))
show("cosine", 4, none,
     lambda o: get_cosine_schedule_with_warmup(o, 4, STEPS))
show("oneCycle", none, none, one_cycle)
show("oneCycle", 6, 0.001,
     lambda o: one_cycle(o, pct_start=0.5, final_div_factor=PEAK / 25 / 0.001))
