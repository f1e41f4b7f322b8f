/* Charts of a page come to life when they come into view, and anew when their data-spec changes. A brush ("brush") and a chosen mark ("pick")
   of a chart are told to the page as events chart-brush and chart-pick, and that it can be used as chart-live. */
(() => {
  "use strict";
  const PARTS = ["vconcat", "hconcat", "concat"];
  const NARROW = 520; /* below which three names of a legend do not stand beside each other */
  const AXES = 74; /* units left of the parts of a chart, for their axes */

  function narrowed(spec, width) {
    for (const key of PARTS) {
      for (const part of spec[key] || []) {
        if (typeof part.width === "number") part.width = Math.max(width - AXES, 120);
        narrowed(part, width);
      }
    }
    return spec;
  }

  function resolved(text) {
    const style = getComputedStyle(document.documentElement);
    return text.replace(/var\((--[a-z0-9]+)\)/g, (_, name) => style.getPropertyValue(name).trim());
  }

  function download(blob, name) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }

  async function saved(view, name, kind) {
    const svg = new Blob([resolved(await view.toSVG())], {type: "image/svg+xml"});
    if (kind === "svg") return download(svg, name + ".svg");
    const image = new Image();
    image.src = URL.createObjectURL(svg);
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = 2 * image.naturalWidth;
    canvas.height = 2 * image.naturalHeight;
    const context = canvas.getContext("2d");
    context.drawImage(image, 0, 0, canvas.width, canvas.height);
    URL.revokeObjectURL(image.src);
    canvas.toBlob((blob) => download(blob, name + ".png"));
  }

  function buttons(place, view) {
    const row = document.createElement("div");
    row.className = "saves";
    for (const kind of ["svg", "png"]) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = kind.toUpperCase();
      button.setAttribute("aria-label", "Save the chart " + place.dataset.name + " as " + kind.toUpperCase());
      button.addEventListener("click", () => saved(view, place.dataset.name, kind));
      row.append(button);
    }
    place.append(row);
  }

  function told(place, view, signal) {
    view.addSignalListener(signal, (_, value) =>
      place.dispatchEvent(new CustomEvent("chart-" + signal, {bubbles: true, detail: value})));
  }

  async function live(place) {
    const given = place.dataset.spec;
    const spec = narrowed(JSON.parse(given), place.clientWidth);
    place.drawnFor = place.clientWidth;
    if (place.clientWidth < NARROW && spec.config?.legend) spec.config.legend.columns = 2;
    const before = place.querySelector(".live");
    const target = document.createElement("div");
    target.className = "live";
    /* The old one is seen until the new one is drawn, which needs its width. */
    if (before) target.style.cssText = "visibility:hidden;position:absolute;left:0;right:0;top:0";
    place.append(target);
    try {
      const made = await window.vegaEmbed(target, spec, {
        mode: "vega-lite", renderer: "svg", ast: true, actions: false, defaultStyle: false,
        tooltip: {disableDefaultStyle: true}, loader: {load: () => Promise.reject(new Error("no request"))},
      });
      if (place.dataset.spec !== given) { made.finalize(); target.remove(); return; }
      if (place.finalize) place.finalize();
      place.querySelector(".saves")?.remove();
      place.querySelector(".still")?.setAttribute("hidden", "");
      target.style.cssText = "";
      const state = made.view.getState({signals: () => true}).signals;
      for (const signal of ["brush", "pick"]) if (signal in state) told(place, made.view, signal);
      place.view = made.view;
      place.finalize = () => { made.finalize(); target.remove(); };
      buttons(place, made.view);
      place.dataset.live = "true";
      place.dispatchEvent(new CustomEvent("chart-live", {bubbles: true}));
    } catch (error) {
      target.remove(); /* what was seen before stays */
      console.error("chart " + place.dataset.name, error);
    }
  }

  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      seen.unobserve(entry.target);
      live(entry.target);
    }
  }, {rootMargin: "400px"});

  function all(root) {
    for (const place of root.querySelectorAll(".chart[data-spec]:not([data-watched])")) {
      place.dataset.watched = "true";
      seen.observe(place);
    }
  }

  document.documentElement.classList.add("charts-live");
  all(document);
  new MutationObserver((changes) => {
    for (const change of changes) {
      if (change.type === "attributes" && change.target.dataset.watched) live(change.target);
    }
    all(document);
  }).observe(document.body,
    {childList: true, subtree: true, attributes: true, attributeFilter: ["data-spec"]});
  let waiting; /* charts of several parts do not follow the width of their place by themselves */
  window.addEventListener("resize", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      for (const place of document.querySelectorAll(".chart[data-live]")) {
        if (place.drawnFor !== place.clientWidth && PARTS.some((key) => key in JSON.parse(place.dataset.spec))) live(place);
      }
    }, 200);
  });
  window.addEventListener("beforeprint", () => {
    for (const place of document.querySelectorAll(".chart[data-spec]:not([data-live])")) live(place);
  });
})();
