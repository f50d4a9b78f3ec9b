// The interactive view: sliders move the signals, and the region with them. Texts of the data are
// only ever set as text, never as markup.
(() => {
  const data = JSON.parse(document.getElementById("scene").textContent);
  const { short, make, element, span, widen, steps } = tools;
  const n = data.decisions.length;
  const byId = (id) => document.getElementById(id);
  const svg = byId("region");
  const state = { signals: [], prices: null, row: data.first, moved: null, x: 0, y: 0 };
  const limits = new Map();

  // ---- the region and what is cheapest in it ------------------------------------------------
  const features = (signals) => [1, ...data.columns.map((k) => signals[k])];
  function regionAt(signals, moved) {
    if (data.part) return solve.region(data.part, features(signals), signals);
    let points = data.grid.points;
    if (moved !== null) {
      const { values, points: places } = data.grid.moves[moved];
      const gaps = values.map((value) => Math.abs(value - signals[moved]));
      points = places[gaps.indexOf(Math.min(...gaps))];
    }
    return points === null ? null : solve.region({ kind: "points", points }, []);
  }

  function costAt(signals, prices) {
    let cost = prices;
    if (data.cost) cost = data.cost.C0.map((c, i) => c + solve.dot(data.cost.C[i], signals));
    if (!cost) return null;
    return data.maximises ? cost.map((value) => -value) : cost;
  }

  // What is drawn of a region: where limits are known, a slice with named edges in which the other
  // decisions stay where they are cheapest; otherwise its outline along two decisions.
  function shapeAt(minimize, signals, cost, best) {
    if (minimize === null) return { corners: [], rows: [], slice: null };
    const { x, y } = state;
    if (data.part && data.part.kind === "rows" && n > 1) {
      const at = best || minimize(data.decisions.map(() => 0));
      const slice = solve.slice(data.part, features(signals), signals, data.names, at, [x, y], data.moving);
      if (slice && isWide(slice.corners.map(({ point }) => point))) {
        const down = cost ? slice.steps.map((step) => -solve.dot(cost, step)) : null;
        return {
          corners: slice.corners.map(({ point }) => point), rows: slice.corners.map(({ row }) => row),
          slice, others: n - slice.balancing.length > 2, down,
        };
      }
    }
    return { corners: solve.outline(minimize, n, x, y), rows: [], slice: null };
  }

  // Whether a polygon is more than a line or a point.
  function isWide(points) {
    const [a, b] = [0, 1].map((k) => points.map((point) => point[k]));
    const next = (values, k) => values[(k + 1) % values.length];
    const area = Math.abs(points.reduce((sum, _, k) => sum + a[k] * next(b, k) - next(a, k) * b[k], 0));
    const [wide, high] = [a, b].map((values) => Math.max(...values) - Math.min(...values));
    const [left, low] = [a, b].map((values) => 1e-6 * Math.max(...values.map(Math.abs)));
    return wide > left && high > low && area > 1e-6 * wide * high;
  }

  const edgeName = ({ name }) => (typeof name === "string" ? name
    : `${data.names[name[0]]} ${name[1]} ${short(name[2])}`);

  // ---- sliders -------------------------------------------------------------------------------
  function addSlider(group, { label, min, max }, read, write) {
    const id = `slider-${document.querySelectorAll("#sliders input").length}`;
    const box = element("div", { class: "slider" });
    const name = element("label", { for: id }, label);
    const output = element("output", { for: id });
    const input = element("input", { id, type: "range", min, max, step: (max - min) / 200 || 1 });
    input.disabled = !(max > min);
    input.addEventListener("input", () => { write(Number(input.value)); update(); });
    box.append(name, output, input);
    byId(group).append(box);
    byId(group).hidden = false;
    sliders.push(() => {
      input.value = read();
      output.textContent = input.disabled ? `${short(read())} (constant)` : short(read());
    });
  }
  const sliders = [];

  function moveSignal(k, value) {
    state.row = null;
    if (data.grid && data.grid.moves[k]) {
      // Only one signal has been computed in advance at a time: the others go back.
      Object.keys(data.grid.moves).forEach((other) => {
        state.signals[other] = data.grid.base[other];
      });
      state.moved = k;
    }
    state.signals[k] = value;
  }

  function inCost(k) {
    return Boolean(data.cost) && data.cost.C.some((row) => row[k] !== 0);
  }

  function addSliders() {
    data.signals.forEach((signal, k) => {
      const known = data.part && data.part.known;
      const moves = data.grid ? Boolean(data.grid.moves[k])
        : signal.moves || Boolean(known) && known.C.some((row) => row[k] !== 0);
      const group = moves ? "move-region" : inCost(k) ? "move-prices" : "move-nothing";
      addSlider(group, signal, () => state.signals[k], (value) => moveSignal(k, value));
    });
    (data.prices || []).forEach((price, i) => addSlider("move-prices", price,
      () => state.prices[i], (value) => { state.row = null; state.prices[i] = value; }));
  }

  function takeRow(index) {
    const row = data.rows[index];
    state.row = index;
    state.signals = [...row.signals];
    state.prices = row.prices ? [...row.prices] : null;
    state.moved = null;
    if (data.grid) {
      Object.keys(data.grid.moves).forEach((k) => { state.signals[k] = data.grid.base[k]; });
      if (index !== data.first) state.row = null;
    }
  }

  // ---- drawing -------------------------------------------------------------------------------
  // Room for all rows, and for the region at some of them, so that it is seen to move.
  function room(x, y) {
    const key = `${x} ${y}`;
    if (!limits.has(key)) {
      const points = data.rows.map((row) => [row.decision[x], row.decision[y]]);
      const every = Math.ceil(data.rows.length / 25);
      if (data.part) {
        data.rows.filter((_, k) => k % every === 0).forEach((row) => {
          const minimize = regionAt(row.signals, null), cost = costAt(row.signals, row.prices);
          points.push(...shapeAt(minimize, row.signals, cost, minimize && cost && minimize(cost)).corners);
        });
      } else {
        Object.values(data.grid.moves).forEach((move) => move.points.forEach((place) =>
          (place || []).forEach((point) => points.push([point[x], point[y]]))));
      }
      limits.set(key, [0, 1].map((k) => span(points.map((point) => point[k]))));
    }
    return limits.get(key);
  }

  function draw(shape, best, down) {
    const { corners, rows } = shape;
    const width = Math.max(280, svg.clientWidth), flat = n === 1;
    const height = flat ? 150 : Math.round(Math.min(460, Math.max(270, width * 0.7)));
    const box = { left: flat ? 16 : 58, right: width - 14, top: 24, bottom: height - 46 };
    const [xs, ys] = room(state.x, state.y).map((range) => [...range]);
    widen(xs, corners.map((corner) => corner[0]));
    widen(ys, corners.map((corner) => corner[1]));
    const across = (value) => box.left + (value - xs[0]) / (xs[1] - xs[0]) * (box.right - box.left);
    const up = (value) => (flat ? (box.top + box.bottom) / 2
      : box.bottom - (value - ys[0]) / (ys[1] - ys[0]) * (box.bottom - box.top));
    const at = ([a, b]) => `${across(a).toFixed(1)} ${up(b).toFixed(1)}`;
    svg.replaceChildren();
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.setAttribute("height", height);
    drawAxes(box, xs, ys, across, up, flat);
    data.rows.forEach((row, k) => {
      // Decisions of other rows do not lie in a slice of many.
      if (shape.others && k !== state.row) return;
      const point = [row.decision[state.x], row.decision[state.y]];
      if (point.includes(null)) return;
      const dot = make("circle", {
        class: k === state.row ? "now" : "row", cx: across(point[0]),
        cy: flat ? up(0) - 34 : up(point[1]), r: k === state.row ? 6 : 2.6,
      });
      dot.append(make("title", {}, row.place));
      svg.append(dot);
    });
    if (corners.length > 0) {
      const path = `M${corners.map(at).join("L")}${corners.length > 2 ? "Z" : ""}`;
      const kind = corners.length > 2 ? "area" : corners.length > 1 ? "segment" : "point";
      svg.append(make("path", { id: "outline", class: shape.slice ? `${kind} slice` : kind, d: corners.length > 1 ? path : `${path}h0` }));
      drawEdges(corners.map(([a, b]) => [across(a), up(b)]), rows, box);
      if (data.discrete) {
        corners.forEach((corner) => svg.append(make("path", { class: "corner", d: `M${at(corner)}h0` })));
      }
    }
    if (best) drawBest(across(best[state.x]), up(best[state.y]), down, xs, ys, box, flat);
    // What is drawn last lies on top.
    const now = svg.querySelector(".now");
    if (now) svg.append(now);
  }

  // Each edge in the line of its status, with its name outside where there is room.
  function drawEdges(places, rows, box) {
    const middle = [0, 1].map((k) => places.reduce((sum, place) => sum + place[k], 0) / places.length);
    rows.forEach((row, k) => {
      const start = places[k], end = places[(k + 1) % places.length];
      const length = Math.hypot(end[0] - start[0], end[1] - start[1]);
      if (!row || length < 1) return;
      svg.append(make("path", {
        class: `edge ${row.status.replace(" ", "-")}`, d: `M${start.join(" ")}L${end.join(" ")}`,
      }));
      if (length < 45) return;
      const at = [(start[0] + end[0]) / 2, (start[1] + end[1]) / 2];
      const normal = [(end[1] - start[1]) / length, (start[0] - end[0]) / length];
      const out = normal[0] * (at[0] - middle[0]) + normal[1] * (at[1] - middle[1]) < 0 ? -1 : 1;
      const text = edgeName(row), wide = 3.3 * text.length, side = out * normal[0];
      let x = at[0] + 9 * side + (Math.abs(side) > 0.4 ? Math.sign(side) * wide : 0);
      // Beside the frame there is no room: such names stand inside.
      if (x - wide < box.left || x + wide > box.right) x = at[0] - Math.sign(side) * (9 + wide);
      svg.append(make("text", {
        class: "edge-name", "text-anchor": "middle", y: at[1] + 12 * out * normal[1] + 4,
        x: Math.min(Math.max(x, box.left + wide), box.right - wide),
      }, text));
    });
  }

  function drawBest(x, y, down, xs, ys, box, flat) {
    if (down && !flat) {
      const step = [
        down[0] / (xs[1] - xs[0]) * (box.right - box.left),
        -down[1] / (ys[1] - ys[0]) * (box.bottom - box.top),
      ];
      const length = Math.hypot(...step);
      if (length > 0) {
        const end = [x + 44 * step[0] / length, y + 44 * step[1] / length];
        svg.append(make("path", {
          class: "arrow", d: `M${x} ${y}L${end[0]} ${end[1]}`, "marker-end": "url(#arrowhead)",
        }));
        const head = make("marker", {
          id: "arrowhead", viewBox: "0 0 10 10", refX: 8, refY: 5, markerWidth: 6, markerHeight: 6,
          orient: "auto",
        });
        head.append(make("path", { class: "arrowhead", d: "M0 0L10 5L0 10Z" }));
        svg.append(head);
      }
    }
    const star = Array.from({ length: 10 }, (_, k) => {
      const radius = k % 2 ? 4 : 9.5, angle = -Math.PI / 2 + k * Math.PI / 5;
      return `${(x + radius * Math.cos(angle)).toFixed(1)} ${(y + radius * Math.sin(angle)).toFixed(1)}`;
    });
    svg.append(make("path", { id: "best", class: "best", d: `M${star.join("L")}Z` }));
  }

  function drawAxes(box, xs, ys, across, up, flat) {
    const tick = (value, attributes) => svg.append(make("text", { class: "tick", ...attributes }, short(value)));
    steps(xs, Math.max(3, Math.min(8, (box.right - box.left) / 80))).forEach((value) => {
      svg.append(make("path", { class: "grid", d: `M${across(value)} ${box.top}V${box.bottom}` }));
      tick(value, { x: across(value), y: box.bottom + 16, "text-anchor": "middle" });
    });
    const label = (text, attributes) => svg.append(make("text", { class: "label", ...attributes }, text));
    label(data.decisions[state.x], { x: (box.left + box.right) / 2, y: box.bottom + 36, "text-anchor": "middle" });
    if (flat) return;
    steps(ys, Math.max(3, Math.min(7, (box.bottom - box.top) / 55))).forEach((value) => {
      svg.append(make("path", { class: "grid", d: `M${box.left} ${up(value)}H${box.right}` }));
      tick(value, { x: box.left - 7, y: up(value) + 4, "text-anchor": "end" });
    });
    const middle = (box.top + box.bottom) / 2;
    label(data.decisions[state.y], { x: 14, y: middle, "text-anchor": "middle", transform: `rotate(-90 14 ${middle})` });
  }

  // ---- what is said beside the drawing -------------------------------------------------------
  function say(minimize, best, shape) {
    const empty = minimize === null, list = (items) => items.map((k) => data.names[k]).join(" and ");
    byId("empty").hidden = !empty;
    byId("slice").hidden = empty || n < 3;
    byId("slice").textContent = "Drawn is all that these two can be, with the other decisions free.";
    byId("key-rows").hidden = Boolean(shape.others);
    if (shape.slice) {
      const { balancing } = shape.slice, edges = new Map();
      shape.rows.filter((row) => row).forEach((row) => edges.set(edgeName(row), row.status));
      byId("slice").textContent = `${list([state.x, state.y])} move${
        balancing.length ? `, ${list(balancing)} keep${balancing.length === 1 ? "s" : ""} the balance` : ""}${
        shape.others ? ", the others stay where they are cheapest" : ""}. Edges: ${
        [...edges].map(([name, status]) => `${name} (${status})`).join(", ")}.`;
    }
    const body = byId("ranges");
    body.replaceChildren();
    const seen = state.row === null ? null : data.rows[state.row].decision;
    data.decisions.forEach((label, k) => {
      const row = element("tr");
      const towards = (sign) => data.decisions.map((_, l) => (l === k ? sign : 0));
      const cells = empty ? [null, null, null]
        : [minimize(towards(1))[k], minimize(towards(-1))[k], best ? best[k] : null];
      row.append(element("th", { scope: "row" }, label));
      [...cells, seen ? seen[k] : null].forEach((value) => row.append(element("td", {}, short(value))));
      body.append(row);
    });
    const place = byId("place");
    place.textContent = state.row === null ? "signals set by hand" : data.rows[state.row].place;
  }

  function update() {
    const minimize = regionAt(state.signals, state.moved);
    const cost = costAt(state.signals, state.prices);
    const priced = minimize !== null && cost !== null && cost.some((value) => value !== 0);
    const best = priced ? minimize(cost) : null;
    const shape = shapeAt(minimize, state.signals, priced ? cost : null, best);
    sliders.forEach((show) => show());
    // Along two of many decisions the way down is not seen.
    draw(shape, best, shape.slice ? shape.down : priced && n === 2 ? cost.map((c) => -c) : null);
    say(minimize, best, shape);
  }

  function addChoices() {
    [["axis-x", "x"], ["axis-y", "y"]].forEach(([id, axis]) => {
      const select = byId(id);
      data.moving.forEach((k) => select.append(element("option", { value: k }, data.decisions[k])));
      select.value = state[axis];
      select.addEventListener("change", () => {
        const other = axis === "x" ? "y" : "x";
        // The same decision on both axes would be a line: exchange them.
        if (Number(select.value) === state[other]) {
          state[other] = state[axis];
          byId(`axis-${other}`).value = state[other];
        }
        state[axis] = Number(select.value);
        update();
      });
    });
    byId("axes").hidden = n < 2;
    const row = byId("row");
    row.max = data.rows.length - 1;
    row.value = data.first;
    row.addEventListener("input", () => { takeRow(Number(row.value)); update(); });
    byId("row-box").hidden = Boolean(data.grid);
    byId("reset").addEventListener("click", () => {
      row.value = data.first;
      takeRow(data.first);
      update();
    });
    byId("one-at-a-time").hidden = !data.grid;
    byId("corners-only").hidden = !data.discrete;
  }

  // The first two axes along which the slice at the typical row is more than a line.
  function chooseAxes() {
    const minimize = regionAt(state.signals, null), cost = costAt(state.signals, state.prices);
    const some = data.moving.slice(0, 8), best = minimize && cost && minimize(cost);
    const pairs = some.flatMap((x, k) => some.slice(k + 1).map((y) => [x, y]));
    const wide = data.part && data.part.kind === "rows" && best && pairs.find(([x, y]) => {
      Object.assign(state, { x, y });
      return shapeAt(minimize, state.signals, cost, best).slice;
    });
    const [x, y] = wide || data.moving;
    Object.assign(state, { x, y: n > 1 ? y : x });
  }

  takeRow(data.first);
  chooseAxes();
  addChoices();
  addSliders();
  update();
  new ResizeObserver(() => requestAnimationFrame(update)).observe(svg.parentElement);
})();
