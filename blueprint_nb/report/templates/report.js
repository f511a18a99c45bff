const options = {
  mode: "vega-lite",
  ast: true,
  tooltip: { theme: "custom" },
};

async function loadVega() {
  const packed = Uint8Array.from(atob(document.getElementById("vega").textContent), (c) => c.charCodeAt(0));
  const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const script = document.createElement("script");
  script.textContent = await new Response(unpacked).text();
  document.head.append(script);
}

async function draw(place, loaded) {
  try {
    await loaded;
    await vegaEmbed(place, JSON.parse(document.getElementById(place.dataset.chart).textContent), options);
  } catch (error) {
    place.textContent = `This chart could not be drawn: ${error.message}. Its figures are in the table.`;
  }
}

const loaded = loadVega();
for (const place of document.querySelectorAll("[data-chart]")) draw(place, loaded);
