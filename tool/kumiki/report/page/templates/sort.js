// Sorting and filtering of the full table; the page is complete without it.
for (const table of document.querySelectorAll("table[data-sortable]")) {
  const body = table.tBodies[0], rows = [...body.rows];
  const key = (row, column) => row.cells[column].dataset.value ?? row.cells[column].textContent.trim();
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    const button = document.createElement("button");
    button.append(...head.childNodes);
    head.append(button);
    button.onclick = () => {
      const down = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down > 0 ? "ascending" : "descending");
      const compare = (a, b) => {
        const x = key(a, column), y = key(b, column);
        if (x === "" || y === "") return (x === "") - (y === "");
        return down * (isNaN(x) || isNaN(y) ? x.localeCompare(y, "en", {numeric: true}) : x - y);
      };
      body.append(...rows.sort(compare));
    };
  });
  const filter = document.querySelector(".filter"), input = filter.querySelector("input");
  filter.hidden = false;
  const show = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of rows) row.hidden = !words.every(word => row.textContent.toLowerCase().includes(word));
    filter.querySelector("output").value = words.length ? `${rows.filter(row => !row.hidden).length} of ${rows.length}` : "";
  };
  input.oninput = show;
  // A citation must reach its row even while a filter hides it.
  addEventListener("hashchange", () => {
    const row = document.getElementById(location.hash.slice(1));
    if (row && row.hidden) { input.value = ""; show(); row.scrollIntoView(); }
  });
}
