#!/usr/bin/env python3
"""Draws terminal.png: the terminal of a running training.

usage: make_terminal.py TEXT COMMAND > terminal.png

Runs the command in tmux, in the current folder, until the screen has the text,
and draws the screen with Pillow. terminal.png shows examples/fashion-mnist; run it in
the folder of its data and program:

    make_terminal.py "step 2100" "./cnn.train --nproc 2 --data data --transform 'scale, \
flip, normalize(0.286,0.353)' --epochs 4 --lr 5e-3 --lr-schedule one-cycle \
--log-every 0.25e --eval-every 1e" > terminal.png
"""

import subprocess
import sys
import time

from PIL import Image, ImageDraw, ImageFont

COLUMNS, LINES, SIZE, MARGIN = 118, 26, 13, 12
FONT = "/usr/share/fonts/truetype/dejavu/DejaVuSansMono.ttf"


def tmux(*arguments):
    return subprocess.run(["tmux", "-L", "picture", *arguments], check=True,
                          capture_output=True, text=True).stdout


def capture(text, command):
    tmux("new-session", "-d", "-x", str(COLUMNS), "-y", str(LINES),
         "env PS1='$ ' bash --norc")
    try:
        time.sleep(1)
        tmux("send-keys", "-l", command)
        tmux("send-keys", "Enter")
        screen = ""
        while text not in screen:
            time.sleep(1)
            screen = tmux("capture-pane", "-p")
        return screen.rstrip("\n").split("\n")
    finally:
        tmux("kill-server")


def draw(lines):
    font = ImageFont.truetype(FONT, SIZE)
    height, width = SIZE + 4, font.getlength("x")
    image = Image.new("RGB", (int(2 * MARGIN + COLUMNS * width),
                              2 * MARGIN + len(lines) * height), "#1b1e26")
    pen = ImageDraw.Draw(image)
    for i, line in enumerate(lines):
        color = "#8f959e" if line.startswith("$ ") else "#e4e6ea"
        pen.text((MARGIN, MARGIN + i * height), line, font=font, fill=color)
    return image.quantize(64)


draw(capture(*sys.argv[1:])).save(sys.stdout.buffer, "PNG",
                                                    optimize=True)
