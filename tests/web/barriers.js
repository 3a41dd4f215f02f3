// What would keep somebody from using a page: fields without labels, buttons without names, words too faint to read.
() => {
  const found = [];
  const tell = (what, node) => found.push(`${what}: ${node.outerHTML.slice(0, 140)}`);
  const seen = (node) => node.checkVisibility({ visibilityProperty: true, opacityProperty: true }) && !node.closest(".unseen");
  const name = (node) => (node.getAttribute("aria-label") ?? node.textContent).trim();

  for (const node of document.querySelectorAll("input:not([type=hidden]), select, textarea")) {
    const labels = [...(node.labels ?? [])].map((each) => each.textContent.trim()).join("");
    if (!labels && !node.getAttribute("aria-label")) tell("no label", node);
  }
  for (const node of document.querySelectorAll("button, a[href], summary")) if (!name(node)) tell("no name", node);
  for (const node of document.querySelectorAll("[role=img], nav, section, aside, dialog")) {
    if (!node.getAttribute("aria-label") && !node.getAttribute("aria-labelledby")) tell("no name", node);
  }
  for (const node of document.querySelectorAll("[aria-labelledby], [aria-describedby]")) {
    const ids = `${node.getAttribute("aria-labelledby") ?? ""} ${node.getAttribute("aria-describedby") ?? ""}`.split(/\s+/);
    for (const id of ids.filter(Boolean)) if (!document.getElementById(id)) tell(`names ${id}, which is not there`, node);
  }
  const ids = [...document.querySelectorAll("[id]")].map((each) => each.id);
  for (const id of ids.filter((each, n) => ids.indexOf(each) !== n)) found.push(`two elements are called ${id}`);
  if (document.querySelectorAll("h1").length !== 1) found.push(`${document.querySelectorAll("h1").length} main headings`);
  for (const each of ["header", "main", ".skip"]) if (!document.querySelector(each)) found.push(`no ${each}`);
  if (!document.documentElement.lang || !document.title) found.push("no language or title");

  const rgb = (text) => text.match(/[\d.]+/g).map(Number);
  const part = (value) => (value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4);
  const light = ([r, g, b]) => 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  function behind(node) {
    for (let each = node; each; each = each.parentElement) {
      const colour = rgb(getComputedStyle(each).backgroundColor);
      if (colour.length < 4 || colour[3] === 1) return colour;
      if (colour[3] > 0) found.push(`cannot tell what is behind ${each.outerHTML.slice(0, 80)}`);
    }
    return [255, 255, 255];
  }
  for (const node of document.querySelectorAll("body *")) {
    const words = [...node.childNodes].some((each) => each.nodeType === Node.TEXT_NODE && each.data.trim());
    if (!words || !seen(node) || node.closest("svg, canvas, option, .uplot")) continue;
    const style = getComputedStyle(node);
    const [one, other] = [light(rgb(style.color)), light(behind(node))].sort((a, b) => b - a);
    const large = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.66 && style.fontWeight >= 700);
    const ratio = (one + 0.05) / (other + 0.05);
    if (ratio < (large ? 3 : 4.5)) tell(`contrast ${ratio.toFixed(2)}`, node);
  }
  return found;
}
