"""The graph page in a real browser: the time from a movement or a key until the picture is drawn again."""

from __future__ import annotations

import statistics
import sys
from typing import Any

from bench.measure import tell
from bench.provenance import ROOT

MOVES = 15
MEASURE = """async (moves) => {
  const svg = document.querySelector('.graph-svg');
  const box = svg.getBoundingClientRect();
  const search = document.getElementById('graph-search');
  const drawn = () => new Promise((resolve) => requestAnimationFrame(() => {
    const channel = new MessageChannel();
    channel.port1.onmessage = resolve;
    channel.port2.postMessage(0);
  }));
  const times = async (act) => {
    const taken = [];
    for (let number = 0; number < moves; number += 1) {
      await drawn();
      const start = performance.now();
      act(number);
      await drawn();
      taken.push(performance.now() - start);
    }
    return taken;
  };
  const pointer = (target, name, x) =>
    target.dispatchEvent(new PointerEvent(name, { clientX: x, clientY: 400, bubbles: true }));
  const pan = (number) => {
    pointer(svg, 'pointerdown', 500);
    pointer(window, 'pointermove', 480 - number);
    pointer(window, 'pointerup', 480);
  };
  const zoom = (number) => svg.dispatchEvent(new WheelEvent('wheel', {
    deltaY: number % 2 ? 1 : -1, clientX: box.left + 300, clientY: box.top + 200, bubbles: true, cancelable: true }));
  const type = (number) => {
    search.value = 'parser'.slice(0, number % 6 + 1);
    search.dispatchEvent(new Event('input', { bubbles: true }));
  };
  const whole = () => document.querySelector('[data-zoom=all]').click();
  const result = { pan: await times(pan), zoom: await times(zoom), search: await times(type) };
  whole();
  return { ...result, 'pan, whole picture': await times(pan), 'zoom, whole picture': await times(zoom) };
}"""


def browser_times(url: str) -> dict[str, dict[str, float]]:
    """Return the median and the longest time of each movement; nothing if there is no browser."""
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        import install_browser
        from playwright.sync_api import sync_playwright
    except ImportError:
        tell("dashboard: no browser: install the developers' tools")
        return {}
    program = install_browser.find_browser()
    if program is None:
        tell("dashboard: no browser: python tools/install_browser.py")
        return {}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=str(program), args=install_browser.browser_flags()
        )
        page = browser.new_page(base_url=url)
        page.goto("/graph")
        page.wait_for_selector("#graph[data-ready]")
        nodes = page.locator(".graph-node").count()
        taken: dict[str, list[float]] = page.evaluate(MEASURE, MOVES)
        browser.close()
    return {
        f"{move}, {nodes:,} nodes in Chromium": _figures(times) for move, times in taken.items()
    }


def _figures(times: list[float]) -> dict[str, Any]:
    return {
        "warm_ms": round(statistics.median(times), 1),
        "slowest_warm_ms": round(max(times), 1),
    }
