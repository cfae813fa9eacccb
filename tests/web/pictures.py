"""Makes the pictures of README.md and docs/web.md for packaging/pictures, which says how.

A daemon, tally-feed-timer, `tallyctl heat` and tally-web run for a minute and a half, while the
machine is idle and busy in turn. `tallyctl heat` is drawn as a terminal draws it.
"""
import html
import io
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading

from PIL import Image

from page_fixture import BIN, Browser, Web, until

STATISTIC = "timer/lateness{cpu:0}"
LINES = 18  # of the terminal, each of a second
COLUMNS = 65  # of the page's heat map, each of a second
BYTES_MAX = 400_000  # of all pictures
THEMES = {"light": ("", "#ffffff", "#1f2328"),  # end of the name, background, text
          "dark": ("-dark", "#1e1e1e", "#e9eaec")}

# What docs/web.md explains, in its order.
NUMBERED = [".numbers", "#by-name", "#statistic-heading", "#span-form", "#percentiles", "#heat",
            "#legend", "#bars-title"]
MARK = """
for (const [i, selector] of arguments[0].entries()) {
  const box = document.querySelector(selector).getBoundingClientRect();
  const mark = document.createElement("b");
  mark.className = "mark";
  mark.textContent = i + 1;
  Object.assign(mark.style, {position: "absolute", top: `${box.y - 2}px`,
    left: `${box.width < 300 ? box.right + 6 : box.x - 24}px`, width: "22px", zIndex: 9,
    font: "bold 14px/22px sans-serif", textAlign: "center", color: "white",
    background: "#c2255c", borderRadius: "11px"});
  document.body.append(mark);
}"""
UNMARK = "for (const mark of document.querySelectorAll('.mark')) mark.remove();"

TERMINAL = """<style>
body {{ margin: 0; background: {}; color: {}; }}
pre {{ display: inline-block; margin: 0; padding: 14px 18px;
  font: 14px/1.32 "DejaVu Sans Mono", monospace; }}
</style><pre>{}</pre>"""


class Mount:
    """A daemon, and a feeder with real input."""

    def __init__(self, folder):
        self.folder = folder
        self.mount = folder / "mnt"
        self.mount.mkdir()
        self.processes = [subprocess.Popen(
            [BIN / "tallyfs", "-f", "--socket", folder / "socket", self.mount],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)]
        assert self.processes[0].stdout.readline() == "READY\n"
        self.processes.append(subprocess.Popen(
            [BIN / "tally-feed-timer", "--socket", folder / "socket", "--log-level", "off"]))
        until((self.mount / "statistics/timer/data").exists, "the feeder")

    def end(self):
        for process in reversed(self.processes):
            process.terminate()
            process.wait()
        self.processes[0].stdout.close()


def be_busy_in_turn(ended):
    """Some seconds idle, some seconds with more programs than CPUs."""
    while not ended.wait(6):
        busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"])
                for _ in range(2 * os.cpu_count())]
        ended.wait(5)
        for process in busy:
            process.terminate()
            process.wait()


def html_of(text):
    """Text with SGR sequences of colours, as a terminal shows it."""
    made, style = [], {}
    for part in re.split(r"(\x1b\[[0-9;]*m)", text):
        found = re.fullmatch(r"\x1b\[([0-9;]*)m", part)
        if not found:
            css = ";".join(f"{name}:{value}" for name, value in style.items())
            made.append(f'<span style="{css}">{html.escape(part)}</span>' if css
                        else html.escape(part))
            continue
        codes = [int(code or 0) for code in found.group(1).split(";")]
        while codes:
            code = codes.pop(0)
            if code in (38, 48) and codes[:1] == [2]:
                rgb = ",".join(str(each) for each in codes[1:4])
                style["color" if code == 38 else "background"] = f"rgb({rgb})"
                del codes[:4]
            elif code == 0:
                style = {}
            elif code in (39, 49):
                style.pop("color" if code == 39 else "background", None)
            elif code == 1:
                style["font-weight"] = "bold"
            elif code == 2:
                style["opacity"] = ".7"
    return "".join(made)


def write(png, path):
    """With 256 colours, which are enough for texts and a heat map."""
    image = Image.open(io.BytesIO(png)).convert("RGB")
    image.quantize(256, dither=Image.Dither.NONE).save(path, optimize=True)
    print(f"{path}: {path.stat().st_size} bytes")


def draw_terminal(mount, browser, folder, into):
    command = ["tallyctl", "heat", STATISTIC]
    lines = subprocess.run(
        [BIN / command[0], *command[1:], "--mount", mount.mount, "--color=always",
         "--count", str(LINES)], env={**os.environ, "COLORTERM": "truecolor", "LC_ALL": "C.UTF-8"},
        stdout=subprocess.PIPE, text=True, check=True).stdout
    text = html_of(f"$ {' '.join(command)}\n{lines}")
    page = folder / "terminal.html"
    browser.size(1200, 600)
    for end, background, colour in THEMES.values():
        page.write_text(TERMINAL.format(background, colour, text), "utf-8")
        browser.open(page.as_uri())
        write(browser.png("pre"), into / f"terminal{end}.png")


def draw_page(web, browser, into):
    browser.size(1280, 720)
    browser.open(web.page(STATISTIC))
    seconds = COLUMNS
    for theme, (end, *_) in THEMES.items():
        browser.choose("#theme", theme)
        # A further one, drawn in the colours that were chosen.
        until(lambda: sum(web.api(f"heat/{STATISTIC}")["seconds"]) >= seconds,
              "a minute of the heat map", 600)
        write(browser.png("body"), into / f"page{end}.png")
        browser.run(MARK, NUMBERED)
        write(browser.png("body"), into / f"page-numbers{end}.png")
        browser.run(UNMARK)
        seconds = sum(web.api(f"heat/{STATISTIC}")["seconds"]) + 2


def main():
    into = pathlib.Path(sys.argv[1])
    into.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="tally-pictures.") as name:
        mount = Mount(pathlib.Path(name))
        ended = threading.Event()
        load = threading.Thread(target=be_busy_in_turn, args=(ended,))
        load.start()
        web, browser = Web(mount), Browser()
        try:
            draw_terminal(mount, browser, pathlib.Path(name), into)
            draw_page(web, browser, into)
        finally:
            ended.set()
            load.join()
            browser.end()
            web.end()
            mount.end()
    size = sum(each.stat().st_size for each in into.glob("*.png"))
    if size > BYTES_MAX:
        raise SystemExit(f"pictures: {size} bytes are more than {BYTES_MAX}")


if __name__ == "__main__":
    main()
