"""Prints TensorBoardEvents.inc: a file of events by TensorBoard's own writer.

usage: make_events.py > TensorBoardEvents.inc

Needs tensorboard. The events are those that OutputTest's
EventFile writes, all at one time.
"""

import io

import tensorboard
from tensorboard.compat.proto.event_pb2 import Event, SessionLog
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.summary.writer.record_writer import RecordWriter


def scalars(**values):
    return Summary(value=[
        Summary.Value(tag=tag.replace("__", "/"), simple_value=value)
        for tag, value in values.items()])


class File(io.BytesIO):
    def close(self):  # its bytes are needed afterwards
        pass


file = File()
writer = RecordWriter(file)
time = 1.75e9
for event in [
        Event(wall_time=time, file_version="brain.Event:2"),
        Event(wall_time=time, step=201,
              session_log=SessionLog(status=SessionLog.START)),
        Event(wall_time=time, step=201, summary=scalars(
            loss=2.5, grad_norm=1.25, lr=1e-3, seconds=0.5,
            samples_per_second=64, tokens_per_second=8192, loss_scale=1024,
            skipped=1)),
        Event(wall_time=time, step=300,
              summary=scalars(eval__loss=0.25, eval__accuracy=0.75))]:
    writer.write(event.SerializeToString())
print(f"// Written by make_events.py with TensorBoard {tensorboard.__version__}")
text = file.getvalue().hex()
for i in range(0, len(text), 76):
    print(f'"{text[i:i + 76]}"')
