"use strict";
(() => {
  const all = (query, root = document) => [...root.querySelectorAll(query)];
  const tip = document.getElementById("tip");

  // Sorting. Cells without a value stay at the end in both directions.
  for (const table of all("table.sortable")) {
    all("thead th", table).forEach((head, column) => {
      const button = head.querySelector("button");
      if (!button) return;
      button.addEventListener("click", () => {
        const up = head.getAttribute("aria-sort") !== "ascending";
        all("thead th[aria-sort]", table).forEach((other) => other.setAttribute("aria-sort", "none"));
        head.setAttribute("aria-sort", up ? "ascending" : "descending");
        const value = (row) => row.cells[column].dataset.value ?? row.cells[column].textContent;
        const order = (a, b) => {
          const x = value(a), y = value(b);
          if (x === "" || y === "") return (x === "") - (y === "");
          const both = x !== "" && y !== "" && isFinite(x) && isFinite(y);
          return (both ? x - y : String(x).localeCompare(String(y))) * (up ? 1 : -1);
        };
        const body = table.tBodies[0];
        body.append(...[...body.rows].sort(order));
      });
    });
  }

  // One row per method, or all time steps.
  for (const button of all(".switch button")) {
    button.addEventListener("click", () => {
      document.getElementById("scores").dataset.rows = button.dataset.rows;
      all("button", button.parentNode).forEach((b) => b.setAttribute("aria-pressed", b === button));
    });
  }

  // Hide or show a method in all figures.
  for (const chip of all("button.chip")) {
    chip.addEventListener("click", () => {
      const off = chip.getAttribute("aria-pressed") === "true";
      chip.setAttribute("aria-pressed", !off);
      all(`.chart .e${chip.dataset.e}`).forEach((line) => line.classList.toggle("off", off));
    });
  }

  // Values under the pointer.
  const place = (x, y) => {
    const box = tip.getBoundingClientRect();
    tip.style.left = Math.max(4, Math.min(x + 14, innerWidth - box.width - 8)) + "px";
    tip.style.top = Math.max(4, y + box.height + 22 > innerHeight ? y - box.height - 12 : y + 16) + "px";
  };
  const hide = () => { tip.style.visibility = "hidden"; };
  const show = (x, y) => { tip.style.visibility = "visible"; place(x, y); };
  const scale = (text) => {
    const [low, high, start, stop, log] = text.split(" ").map(Number);
    return (pixel) => {
      const part = (pixel - start) / (stop - start);
      return log ? low * (high / low) ** part : low + part * (high - low);
    };
  };
  const number = (value) => {
    const size = Math.abs(value);
    if (size !== 0 && (size < 1e-3 || size >= 1e5)) return value.toExponential(2).replace("-", "−");
    return String(Number(value.toPrecision(4))).replace("-", "−");
  };
  const points = new WeakMap();
  const vertices = (line) => {
    if (!points.has(line)) points.set(line, line.getAttribute("points").split(" ").map((p) => p.split(",").map(Number)));
    return points.get(line);
  };
  for (const chart of all("svg.chart")) {
    const marks = all(".point", chart), cursor = chart.querySelector(".cursor");
    for (const mark of marks) {
      const tell = () => {
        const box = mark.getBoundingClientRect();
        tip.textContent = mark.dataset.tip;
        show(box.right, box.top);
      };
      mark.addEventListener("pointerenter", tell);
      mark.addEventListener("focus", tell);
      mark.addEventListener("pointerleave", hide);
      mark.addEventListener("blur", hide);
    }
    if (marks.length) continue;
    const atX = scale(chart.dataset.x), atY = scale(chart.dataset.y);
    const [left, right] = chart.dataset.x.split(" ").slice(2, 4).map(Number);
    chart.addEventListener("pointermove", (event) => {
      const box = chart.getBoundingClientRect();
      const pixel = (event.clientX - box.left) * chart.viewBox.baseVal.width / box.width;
      if (pixel < left || pixel > right) { hide(); cursor.style.visibility = "hidden"; return; }
      const rows = [];
      for (const line of all("polyline:not(.off)", chart)) {
        const list = vertices(line);
        let a = 0, b = list.length - 1;
        while (b - a > 1) { const m = (a + b) >> 1; if (list[m][0] <= pixel) a = m; else b = m; }
        const near = pixel - list[a][0] < list[b][0] - pixel ? list[a] : list[b];
        if (Math.abs(near[0] - pixel) < 12) rows.push([near[1], line.dataset.label, atY(near[1]), line]);
      }
      rows.sort((p, q) => p[0] - q[0]);
      tip.replaceChildren();
      const head = document.createElement("b");
      head.textContent = number(atX(pixel)) + " " + chart.dataset.xunit;
      tip.append(head);
      for (const [, label, value, line] of rows.slice(0, 14)) {
        const row = document.createElement("div"), name = document.createElement("span"), key = document.createElement("span");
        key.className = "key";
        key.style.background = getComputedStyle(line).stroke;
        name.append(key, label);
        const text = document.createElement("span");
        text.textContent = number(value) + " " + chart.dataset.yunit;
        row.append(name, text);
        tip.append(row);
      }
      cursor.setAttribute("x1", pixel);
      cursor.setAttribute("x2", pixel);
      cursor.style.visibility = "visible";
      show(event.clientX, event.clientY);
    });
    chart.addEventListener("pointerleave", () => { hide(); cursor.style.visibility = "hidden"; });
  }

  // Copying; where the browser forbids it, the text is selected.
  const copy = async (button, text, element) => {
    const before = button.textContent;
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(element);
      button.textContent = "Selected: press Ctrl+C";
    }
    setTimeout(() => { button.textContent = before; }, 1600);
  };
  for (const button of all(".copy")) {
    const text = button.closest(".bibtex").querySelector("pre");
    button.addEventListener("click", () => copy(button, text.textContent, text));
  }
  for (const button of all(".copy-all")) {
    const texts = all(".bibtex pre").map((pre) => pre.textContent).join("\n\n");
    button.addEventListener("click", () => copy(button, texts, document.getElementById("citations")));
  }

  // Where the reader is.
  const links = new Map(all("nav a").map((link) => [link.hash.slice(1), link]));
  const watch = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      links.forEach((link) => link.classList.remove("here"));
      links.get(entry.target.id).classList.add("here");
    }
  }, { rootMargin: "-15% 0px -75% 0px" });
  all("section").forEach((section) => watch.observe(section));
})();
