"""Recurrent layers, by PyTorch's modules and by hand."""

import torch
from torch import nn
from torch.nn import functional as F

from model import Model, ids, vectors


class _CharRnn(nn.Module):
    """The language model of PyTorch's examples, its layers batch first."""

    def __init__(self, kind="LSTM", vocabulary=65, width=32, layers=2):
        super().__init__()
        self.drop = nn.Dropout(0.2)
        self.encoder = nn.Embedding(vocabulary, width)
        self.rnn = getattr(nn, kind)(width, width, layers, dropout=0.2,
                                     batch_first=True)
        self.decoder = nn.Linear(width, vocabulary)
        self.decoder.weight = self.encoder.weight

    def forward(self, x):
        y, _ = self.rnn(self.drop(self.encoder(x)))
        return self.decoder(self.drop(y))


def char_lstm():
    return Model(_CharRnn("LSTM"), [ids(65, 16)])


def char_gru():
    return Model(_CharRnn("GRU"), [ids(65, 16)])


def char_rnn():
    return Model(_CharRnn("RNN"), [ids(65, 16)])


class _Tagger(nn.Module):
    """Both directions, a class for each position."""

    def __init__(self, width=16):
        super().__init__()
        self.embedding = nn.Embedding(50, width)
        self.lstm = nn.LSTM(width, width, batch_first=True, bidirectional=True)
        self.out = nn.Linear(2 * width, 5)

    def forward(self, x):
        return self.out(self.lstm(self.embedding(x))[0])


def lstm_tagger():
    return Model(_Tagger(), [ids(50, 10)])


class _Classifier(nn.Module):
    """The last states of both directions of the last layer."""

    def __init__(self, width=16):
        super().__init__()
        self.embedding = nn.Embedding(50, width, padding_idx=0)
        self.gru = nn.GRU(width, width, 2, batch_first=True,
                          bidirectional=True, dropout=0.1)
        self.out = nn.Linear(2 * width, 2)

    def forward(self, x):
        _, last = self.gru(self.embedding(x))
        return self.out(torch.cat([last[-2], last[-1]], dim=1))


def gru_classifier():
    return Model(_Classifier(), [ids(50, 12)])


class _Forecaster(nn.Module):
    """The model makes its first states of zeros itself, as in tutorials."""

    def __init__(self, width=16):
        super().__init__()
        self.width = width
        self.lstm = nn.LSTM(3, width, 2, batch_first=True)
        self.fc = nn.Linear(width, 1)

    def forward(self, x):
        h0 = torch.zeros(2, x.size(0), self.width)
        c0 = torch.zeros(2, x.size(0), self.width)
        out, _ = self.lstm(x, (h0, c0))
        return self.fc(out[:, -1, :])


def lstm_forecaster():
    return Model(_Forecaster(), [vectors(20, 3)], loss="mse")


class _Translator(nn.Module):
    """An encoder gives a decoder its first state and its attention inputs."""

    def __init__(self, width=16):
        super().__init__()
        self.source, self.target = (nn.Embedding(40, width) for _ in range(2))
        self.encoder = nn.GRU(width, width, batch_first=True)
        self.decoder = nn.GRU(width, width, batch_first=True)
        self.out = nn.Linear(2 * width, 40)

    def forward(self, source, target):
        memory, state = self.encoder(self.source(source))
        y, _ = self.decoder(self.target(target), state)
        weights = F.softmax(y @ memory.transpose(1, 2), dim=-1)
        return self.out(torch.cat([y, weights @ memory], dim=-1))


def translator():
    return Model(_Translator(), [ids(40, 7), ids(40, 6)])


class _ConvolutionsAndGru(nn.Module):
    """Speech: convolutions over time, then a layer time first."""

    def __init__(self, width=12):
        super().__init__()
        self.conv = nn.Conv1d(6, width, 3, stride=2, padding=1)
        self.norm = nn.BatchNorm1d(width)
        self.gru = nn.GRU(width, width, bidirectional=True)
        self.out = nn.Linear(2 * width, 5)

    def forward(self, x):
        x = F.relu(self.norm(self.conv(x))).permute(2, 0, 1)
        return self.out(self.gru(x)[0].mean(0))


def speech_gru():
    return Model(_ConvolutionsAndGru(), [vectors(6, 16)])


class _Cells(nn.Module):
    """A loop over cells."""

    def __init__(self, width=12):
        super().__init__()
        self.first = nn.LSTMCell(5, width)
        self.second = nn.GRUCell(width, width)
        self.out = nn.Linear(width, 3)

    def forward(self, x):
        h = c = x.new_zeros(x.size(0), self.first.hidden_size)
        s = x.new_zeros(x.size(0), self.second.hidden_size)
        for t in range(x.size(1)):
            h, c = self.first(x[:, t], (h, c))
            s = self.second(h, s)
        return self.out(s)


def cells():
    return Model(_Cells(), [vectors(5, 5)])
