// Small tools of the view: numbers as texts, elements, and the ranges of axes.
const tools = (() => {
  const SVG = "http://www.w3.org/2000/svg";

  const short = (value) => {
    if (value === null || value === undefined) return "–";
    const rounded = Math.abs(value) < 1e-12 ? 0 : Number(value.toPrecision(4));
    return String(rounded).replace("-", "\u2212");
  };

  function make(name, attributes = {}, text = null) {
    const node = document.createElementNS(SVG, name);
    Object.entries(attributes).forEach(([key, value]) => node.setAttribute(key, value));
    if (text !== null) node.textContent = text;
    return node;
  }

  function element(name, attributes = {}, text = null) {
    const node = document.createElement(name);
    Object.entries(attributes).forEach(([key, value]) => node.setAttribute(key, value));
    if (text !== null) node.textContent = text;
    return node;
  }

  function span(values) {
    const seen = values.filter((value) => value !== null);
    const low = Math.min(...seen), high = Math.max(...seen);
    const margin = 0.09 * (high - low) || 0.1 * Math.abs(high) || 1;
    return [low - margin, high + margin];
  }

  function widen(range, values) {
    const margin = 0.03 * (range[1] - range[0]);
    values.forEach((value) => {
      if (value < range[0]) range[0] = value - margin;
      if (value > range[1]) range[1] = value + margin;
    });
  }

  function steps([low, high], count) {
    let step = 10 ** Math.floor(Math.log10((high - low) / count));
    step *= [1, 2, 5, 10].find((factor) => (high - low) / (factor * step) <= count + 0.5);
    const found = [];
    for (let i = Math.ceil(low / step); i * step <= high; i++) found.push(i * step);
    return found;
  }

  return { short, make, element, span, widen, steps };
})();
