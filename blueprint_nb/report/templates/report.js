for (const place of document.querySelectorAll("[data-chart]")) {
  const spec = JSON.parse(document.getElementById(place.dataset.chart).textContent);
  const options = {
    mode: "vega-lite",
    renderer: "svg",
    ast: true,
    actions: { export: true, source: false, compiled: false, editor: false },
    tooltip: { theme: "custom" },
  };
  vegaEmbed(place, spec, options).catch((error) => {
    place.textContent = `This chart could not be drawn: ${error.message}. Its figures are in the table.`;
  });
}
