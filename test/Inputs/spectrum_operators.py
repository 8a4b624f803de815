"""Cases of make_operator_gradients.py: Fourier transforms."""

import numpy as np
import torch


def complexes(x):
    return torch.view_as_complex(x.contiguous())


def parts(y):
    return torch.view_as_real(y.resolve_conj())


def add_cases(case, normal):
    real, both = normal(2, 6, 3, 1), normal(2, 6, 3, 2)

    def scalar(value):
        return np.array(value)

    case("DFT", "DFT", lambda x: parts(torch.fft.fft(x[..., 0], dim=1)), [real],
         opset=17)
    case("DFTOneSided", "DFT",
         lambda x, n: parts(torch.fft.rfft(x[..., 0], int(n), dim=1)),
         [real, scalar(9)], constants=(1,), opset=17, onesided=1)
    case("DFTShorter", "DFT",
         lambda x, n: parts(torch.fft.fft(complexes(x), int(n), dim=-1)),
         [both, scalar(2)], constants=(1,), opset=17, axis=-2)
    case("DFTInverse", "DFT",
         lambda x, n, axis: parts(torch.fft.ifft(complexes(x), int(n), dim=1)),
         [both, scalar(8), scalar(-3)], constants=(1, 2), inverse=1)
    half = normal(2, 4, 3, 2)
    for name, length, opset in (("Even", 6, 20), ("Odd", 7, 20), ("More", 9, 17),
                                ("Less", 4, 17)):
        axis = [np.array(1)] if opset == 20 else []
        case(f"IRFFT{name}", "DFT",
             lambda x, n, *_: torch.fft.irfft(complexes(x), int(n),
                                              dim=1).unsqueeze(-1),
             [half, scalar(length), *axis], constants=(1, 2), opset=opset,
             inverse=1, onesided=1)
    case("IRFFTWithoutLength", "DFT",
         lambda x: torch.fft.irfft(complexes(x), dim=1).unsqueeze(-1), [half],
         opset=17, inverse=1, onesided=1)
    case("DFTDefaultAxis", "DFT",
         lambda x: parts(torch.fft.fft(complexes(x), dim=-1)), [both])

    def frames(x, step, window, onesided):
        taken = x.unfold(1, len(window), int(step)) * window
        return parts(torch.fft.rfft(taken) if onesided else torch.fft.fft(taken))

    window = np.array([0.25, 1.0, 0.75, 0.5, 0.125])
    case("STFT", "STFT", lambda x, s, w: frames(x, s, w, True),
         [normal(2, 12), scalar(3), window], constants=(1, 2), opset=17)
    case("STFTOfComplexNumbers", "STFT",
         lambda x, s, w, n: frames(complexes(x), s, w, False),
         [normal(2, 11, 2), scalar(2), window, scalar(5)],
         constants=(1, 2, 3), opset=17, onesided=0)
