/* A field that hides the rows of a page's wide tables without all the words that are typed. */
document.addEventListener("DOMContentLoaded", () => {
  const place = document.querySelector(".filter");
  if (!place) return;
  const field = document.createElement("input");
  field.type = "search";
  field.placeholder = "Filter the tables: compare default";
  field.setAttribute("aria-label", "Filter the rows of the tables");
  const left = document.createElement("output");
  place.append(field, left);
  const rows = [...document.querySelectorAll(".wide tbody tr")];
  const show = () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
    }
    left.textContent = `${rows.filter((row) => !row.hidden).length} of ${rows.length} rows`;
    for (const table of document.querySelectorAll(".wide")) {
      const section = table.closest("section");
      section.hidden = ![...section.querySelectorAll(".wide tbody tr")].some((row) => !row.hidden);
    }
    const top = place.closest("section");
    top.hidden = false;
  };
  field.addEventListener("input", show);
  show();
});
