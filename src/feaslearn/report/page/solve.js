// The learned region at a signal, computed where it is shown: decisions of least cost in it, and
// its outline along two decisions. No drawing here.
const solve = (() => {
  const SIMPLEX = 0, L1_BALL = 1, L2_BALL = 2, BOX = 3, HYPERSIMPLEX = 4;
  const PIVOT = 1e-9, FEASIBLE = 1e-9, SAME = 1e-7, ROUNDING = 1e-12;
  const TOLERANCE = 3e-4, DEPTH = 6;

  const dot = (a, b) => a.reduce((sum, value, i) => sum + value * b[i], 0);
  const zeros = (n) => new Array(n).fill(0);
  const atFeatures = (matrix, phi) => matrix.map((row) => dot(row, phi));

  // One block of a primitive set: writes the minimiser of q'z into z.
  function minimizeBlock(code, block, q, z) {
    const start = code.starts[block], stop = code.starts[block + 1];
    const kind = code.kinds[block], part = q.slice(start, stop);
    for (let i = start; i < stop; i++) z[i] = 0;
    if (kind === SIMPLEX) {
      z[start + part.indexOf(Math.min(...part))] = 1;
    } else if (kind === L1_BALL) {
      const sizes = part.map(Math.abs), k = sizes.indexOf(Math.max(...sizes));
      z[start + k] = part[k] > 0 ? -1 : 1;
    } else if (kind === L2_BALL) {
      const size = Math.hypot(...part) || 1;
      part.forEach((value, i) => { z[start + i] = -value / size; });
    } else if (kind === BOX) {
      part.forEach((value, i) => {
        z[start + i] = value < 0 ? code.upper[start + i] : code.lower[start + i];
      });
    } else if (kind === HYPERSIMPLEX) {
      const order = part.map((_, i) => i).sort((a, b) => part[a] - part[b]);
      order.slice(0, code.counts[block]).forEach((i) => { z[start + i] = 1; });
    } else {
      let best = null, least = Infinity;
      for (let k = code.point_starts[block]; k < code.point_starts[block + 1]; k++) {
        const cost = dot(part, code.points[k].slice(start, stop));
        if (cost < least) { least = cost; best = code.points[k]; }
      }
      for (let i = start; i < stop; i++) z[i] = best[i];
    }
  }

  function minimizeSet(code, q) {
    const z = zeros(q.length);
    code.kinds.forEach((_, block) => minimizeBlock(code, block, q, z));
    return z;
  }

  // min c'x over G x + slack = r with bounds on x and on the slacks, by the dual simplex method:
  // every x at its cheaper bound is a start. Returns null where nothing satisfies all rows.
  function minimizeRows(G, r, c, lower, upper, slack) {
    const m = G.length, n = c.length;
    const low = [...lower, ...zeros(m)], high = [...upper, ...slack];
    const T = G.map((row) => [...row]), d = [...c], sides = [...r];
    const basic = G.map((_, i) => n + i), nonbasic = c.map((_, j) => j);
    const atUpper = c.map((price) => price < 0);
    const place = (j) => (atUpper[j] ? high[nonbasic[j]] : low[nonbasic[j]]);
    const scale = Math.max(1e-300, ...r.map(Math.abs), ...lower.map(Math.abs), ...upper.map(Math.abs));
    if (lower.some((least, j) => least > upper[j] + FEASIBLE * scale)) return null;
    for (let step = 0; step < 100 + 30 * (m + n); step++) {
      const values = T.map(value);
      let leave = -1, worst = FEASIBLE * scale;
      values.forEach((reached, i) => {
        const beyond = Math.max(low[basic[i]] - reached, reached - high[basic[i]]);
        if (beyond > worst) { worst = beyond; leave = i; }
      });
      if (leave < 0) return collect(values);
      const up = values[leave] < low[basic[leave]];
      let enter = -1, ratio = Infinity, size = 0;
      for (let j = 0; j < n; j++) {
        if (low[nonbasic[j]] === high[nonbasic[j]]) continue;
        const slope = (up ? -1 : 1) * (atUpper[j] ? -1 : 1) * T[leave][j];
        if (slope <= PIVOT) continue;
        const candidate = Math.abs(d[j]) / slope;
        if (candidate < ratio - 1e-12 || (candidate < ratio + 1e-12 && slope > size)) {
          enter = j; ratio = candidate; size = slope;
        }
      }
      if (enter < 0) {
        if (worst > 1e-7 * scale) return null;
        return collect(values);
      }
      exchange(leave, enter, up);
    }
    return null;

    // A basic variable is what the others leave of the right side of its row.
    function value(row, i) {
      return row.reduce((left, entry, j) => left - entry * place(j), sides[i]);
    }

    function exchange(i, j, up) {
      const pivot = 1 / T[i][j];
      T[i] = T[i].map((entry) => entry * pivot);
      sides[i] *= pivot;
      for (let k = 0; k < m; k++) {
        const factor = k === i ? 0 : T[k][j];
        if (factor === 0) continue;
        for (let l = 0; l < n; l++) if (l !== j) T[k][l] -= factor * T[i][l];
        T[k][j] = -factor * pivot;
        sides[k] -= factor * sides[i];
      }
      const price = d[j];
      for (let l = 0; l < n; l++) if (l !== j) d[l] -= price * T[i][l];
      d[j] = -price * pivot;
      T[i][j] = pivot;
      [basic[i], nonbasic[j]] = [nonbasic[j], basic[i]];
      atUpper[j] = !up;
    }

    function collect(values) {
      const x = zeros(n);
      nonbasic.forEach((variable, j) => { if (variable < n) x[variable] = place(j); });
      basic.forEach((variable, i) => { if (variable < n) x[variable] = values[i]; });
      return x;
    }
  }

  // The functions that scales of a Minkowski sum are combinations of, at one row of features.
  function scaleBasis(basis, phi) {
    if (!basis.knots) return phi.slice(0, basis.size);
    const values = [];
    if (basis.index) phi = [1, dot(basis.index, phi.slice(1))];
    for (let f = 0; f + 1 < phi.length; f++) {
      const places = basis.knots.map((row) => row[f]), last = places.length - 1;
      let position = 0;
      if (places[last] > places[0]) {
        const v = Math.min(Math.max(phi[f + 1], places[0]), places[last]);
        let k = 0;
        while (k < last - 1 && v > places[k + 1]) k++;
        const width = places[k + 1] - places[k];
        position = k + (width > 0 ? (v - places[k]) / width : 0);
      }
      places.forEach((_, k) => values.push(Math.max(0, 1 - Math.abs(position - k))));
    }
    return values;
  }

  // Known rows as equalities and as -G x <= -g, with their right-hand sides at the signals.
  function knownSides(known, signals) {
    if (!known) return { E: [], G: [], e: [], g: [], lower: [], upper: [] };
    const sides = known.C0.map((c, i) => (c === null ? null : c + dot(known.C[i], signals)));
    const m = known.G.length, n = (sides.length - m - known.E.length) / 2;
    return {
      E: known.E,
      G: known.G.map((row) => row.map((value) => -value)),
      g: sides.slice(0, m).map((value) => -value),
      lower: sides.slice(m, m + n),
      upper: sides.slice(m + n, m + 2 * n),
      e: sides.slice(m + 2 * n),
    };
  }

  // Every inequality of a region of rows as a'x <= b, with the name and the status of its edge.
  function halfSpaces(part, phi, signals, names) {
    const known = knownSides(part.known, signals), n = names.length;
    const axis = (k, sign) => names.map((_, l) => (l === k ? sign : 0));
    const given = (side, k) => known[side][k] !== null && known[side][k] !== undefined;
    const rows = part.a.map((a, r) => (
      { a, b: dot(part.f[r], phi), name: part.facets[r], status: part.status[part.facets[r]] || "seen" }));
    known.G.forEach((a, r) => rows.push({ a, b: known.g[r], name: "known", status: "identified" }));
    for (let k = 0; k < n; k++) {
      const high = dot(part.upper[k], phi), low = dot(part.lower[k], phi);
      const upper = given("upper", k) ? Math.min(high, known.upper[k]) : high;
      const lower = given("lower", k) ? Math.max(low, known.lower[k]) : low;
      const sure = (sign, own, used) => (own === used ? part.status[names[k] + sign] || "seen" : "identified");
      rows.push({ a: axis(k, 1), b: upper, name: [k, "≤", upper], status: sure("<=", high, upper) });
      rows.push({ a: axis(k, -1), b: -lower, name: [k, "≥", lower], status: sure(">=", low, lower) });
    }
    return rows;
  }

  // The region of two decisions while the others stay at a point, but for those that keep the
  // balances, the first in the order that can: corners with the row of the edge behind each.
  // Null where no two directions are left.
  function slice(part, phi, signals, names, at, [i, j], order) {
    const equal = [...part.E, ...(part.known ? part.known.E : [])].map((row) => [...row]);
    const free = order.filter((k) => k !== i && k !== j), balancing = [];
    for (const row of equal) {
      const size = Math.max(...row.map(Math.abs));
      if (!(size > PIVOT)) continue;
      const pivot = free.find((k) => !balancing.some(([, used]) => used === k)
        && Math.abs(row[k]) > SAME * size);
      if (pivot === undefined) return null;
      const scale = row[pivot];
      row.forEach((value, k) => { row[k] = value / scale; });
      equal.filter((other) => other !== row && other[pivot] !== 0).forEach((other) => {
        const factor = other[pivot];
        row.forEach((value, k) => { other[k] -= factor * value; });
      });
      balancing.push([row, pivot]);
    }
    const along = (k) => {
      const step = zeros(at.length);
      step[k] = 1;
      balancing.forEach(([row, pivot]) => { step[pivot] = -row[k]; });
      return step;
    };
    const steps = [along(i), along(j)], start = [at[i], at[j]];
    const far = 1e3 * Math.max(1, ...at.map(Math.abs));
    let corners = [[-1, -1], [1, -1], [1, 1], [-1, 1]].map(([u, v]) => (
      { point: [start[0] + u * far, start[1] + v * far], row: null }));
    halfSpaces(part, phi, signals, names).forEach((row) => {
      const normal = steps.map((step) => dot(row.a, step));
      if (Math.hypot(...normal) <= PIVOT * Math.hypot(...row.a)) return;
      const side = Math.max(row.b - dot(row.a, at), 0);
      const over = ([u, v]) => normal[0] * (u - start[0]) + normal[1] * (v - start[1]) - side;
      corners = clip(corners, over, row);
    });
    return { corners, steps, balancing: balancing.map(([, k]) => k) };
  }

  function clip(corners, over, row) {
    const kept = [];
    corners.forEach((corner, k) => {
      const next = corners[(k + 1) % corners.length];
      const [here, there] = [over(corner.point), over(next.point)];
      const cross = () => corner.point.map((value, l) =>
        value + here / (here - there) * (next.point[l] - value));
      if (here <= 0) kept.push(corner);
      if (here <= 0 && there > 0) kept.push({ point: cross(), row });
      if (here > 0 && there <= 0) kept.push({ point: cross(), row: corner.row });
    });
    return kept;
  }

  // A region at features phi: a function from costs to a decision of least cost, null if empty.
  const regions = {
    map(part, phi) {
      const n = part.b[0].length, p = part.A[0][0].length;
      const A = Array.from({ length: n }, (_, i) => Array.from({ length: p }, (_, j) =>
        phi.reduce((sum, value, k) => sum + value * part.A[k][i][j], 0)));
      const b = Array.from({ length: n }, (_, i) =>
        phi.reduce((sum, value, k) => sum + value * part.b[k][i], 0));
      return (cost) => {
        const q = zeros(p);
        A.forEach((row, i) => row.forEach((value, j) => { q[j] += value * cost[i]; }));
        const z = minimizeSet(part.set, q);
        return b.map((value, i) => value + dot(A[i], z));
      };
    },
    rows(part, phi, signals) {
      const known = knownSides(part.known, signals);
      const equal = [...part.E, ...known.E], limited = [...part.a, ...known.G];
      const G = [...equal, ...limited];
      const r = [...atFeatures(part.e, phi), ...known.e, ...atFeatures(part.f, phi), ...known.g];
      const lower = atFeatures(part.lower, phi).map((v, i) => Math.max(v, known.lower[i] ?? -Infinity));
      const upper = atFeatures(part.upper, phi).map((v, i) => Math.min(v, known.upper[i] ?? Infinity));
      const slack = [...equal.map(() => 0), ...limited.map(() => Infinity)];
      const minimize = (cost) => minimizeRows(G, r, cost, lower, upper, slack);
      return minimize(lower.map(() => 0)) === null ? null : minimize;
    },
    sum(part, phi) {
      const psi = scaleBasis(part.basis, phi), n = part.n;
      const offset = part.b
        ? Array.from({ length: n }, (_, i) => phi.reduce((sum, v, k) => sum + v * part.b[k][i], 0))
        : zeros(n);
      const scales = part.terms.map((_, t) =>
        Math.max(0, dot(part.alpha[part.alpha.length === 1 ? 0 : t], psi)));
      return (cost) => {
        const x = [...offset];
        part.terms.forEach(({ set, E }, t) => {
          if (scales[t] === 0) return;
          const q = E[0].map((_, j) => E.reduce((sum, row, i) => sum + row[j] * cost[i], 0));
          const z = minimizeSet(set, q);
          E.forEach((row, i) => { x[i] += scales[t] * dot(row, z); });
        });
        return x;
      };
    },
    // Points of the region that were found before, on a grid of signals.
    points(part) {
      return (cost) => {
        let best = part.points[0], least = Infinity;
        part.points.forEach((x) => {
          const value = dot(x, cost);
          if (value < least) { least = value; best = x; }
        });
        return best;
      };
    },
  };

  function region(part, phi, signals) {
    return regions[part.kind](part, phi, signals);
  }

  // Corners of the projection onto decisions i and j, counter-clockwise; i = j gives an interval.
  function outline(minimize, n, i, j) {
    const reach = (across, along) => {
      const cost = zeros(n);
      cost[i] -= across;
      if (j !== i) cost[j] -= along;
      const x = minimize(cost);
      return [x[i], j === i ? 0 : x[j]];
    };
    const first = [reach(0, -1), reach(1, 0), reach(0, 1), reach(-1, 0)];
    if (i === j) return first[1][0] - first[3][0] > ROUNDING ? [first[3], first[1]] : [first[1]];
    const extent = [0, 1].map((k) => {
      const values = first.map((point) => point[k]);
      return { span: Math.max(...values) - Math.min(...values), size: Math.max(...values.map(Math.abs)) };
    });
    const largest = Math.max(extent[0].size, extent[1].size);
    const flat = extent.map(({ size }) => SAME * size + ROUNDING * largest);
    const scale = extent.map(({ span }, k) => (span > flat[k] ? span : 1));
    if (extent.every(({ span }, k) => span <= flat[k])) return [first[0]];
    const between = (start, end, depth) => {
      const edge = [(end[0] - start[0]) / scale[0], (end[1] - start[1]) / scale[1]];
      const length = Math.hypot(...edge);
      if (length < SAME || depth === 0) return [];
      const normal = [edge[1] / length, -edge[0] / length];
      const found = reach(normal[0] / scale[0], normal[1] / scale[1]);
      const gain = normal[0] * (found[0] - start[0]) / scale[0]
        + normal[1] * (found[1] - start[1]) / scale[1];
      if (gain <= TOLERANCE) return [];
      return [...between(start, found, depth - 1), found, ...between(found, end, depth - 1)];
    };
    const corners = first.flatMap((start, k) => [start, ...between(start, first[(k + 1) % 4], DEPTH)]);
    const apart = (a, b) => Math.abs(a[0] - b[0]) > SAME * scale[0] || Math.abs(a[1] - b[1]) > SAME * scale[1];
    const kept = corners.filter((point, k) => k === 0 || apart(point, corners[k - 1]));
    while (kept.length > 1 && !apart(kept[0], kept[kept.length - 1])) kept.pop();
    return kept;
  }

  return { region, outline, slice, dot };
})();
