// What acts on a page and is not ours, in words; nothing on a page that shows words as words.
() => {
  const own = location.origin;
  const found = [];
  const tell = (what, node) => found.push(`${what}: ${node.outerHTML.slice(0, 120)}`);
  const never = ["iframe", "object", "embed", "base", "frame", "img", "image", "video", "audio", "source", "math", "style",
    "foreignobject", "animate", "set", "use", "marquee", "template", "noscript", "xmp"];
  const asked = /^[/](recall|remember|inbox|atom|undo|browse|timeline|health)/;
  for (const node of document.querySelectorAll("*")) {
    const tag = node.localName.toLowerCase();
    if (never.includes(tag)) tell("element", node);
    if (tag === "script" && !(node.src.startsWith(own + "/static/") && !node.textContent)) tell("script", node);
    if (tag === "link" && !node.href.startsWith(own + "/static/")) tell("link", node);
    if (tag === "svg" && !(node.classList.contains("bar") || node.closest(".brand"))) tell("svg", node);
    if (tag === "form" && new URL(node.action).origin !== own) tell("form", node);
    if (tag === "meta" && node.httpEquiv) tell("meta", node);
    // The libraries that draw place their own boxes, through the object model and not by words.
    const drawn = node.closest("#graph, .chart");
    for (const each of node.attributes) {
      const name = each.name.toLowerCase();
      if (name === "style" && drawn) continue;
      if (name.startsWith("on") || ["style", "srcdoc", "formaction"].includes(name)) tell(name, node);
      if (name.startsWith("hx-on") || name.startsWith("data-hx")) tell(name, node);
      if (["hx-get", "hx-post"].includes(name) && !asked.test(each.value)) tell(name, node);
    }
    const leads = tag === "a" && node.hasAttribute("href");
    if (leads && !["http:", "https:", "mailto:"].includes(node.protocol)) tell("address", node);
  }
  if (window.pwned) found.push("pwned");
  for (const name of ["main", "#theme", "meta[name=csrf]"]) {
    if (document.querySelectorAll(name).length !== 1) found.push(`clobbered: ${name}`);
  }
  return found;
}
