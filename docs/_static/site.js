// What the theme leaves out for those who use the keyboard or a screen reader.
document.addEventListener("DOMContentLoaded", () => {
  for (const summary of document.querySelectorAll("li > details > summary")) {
    const link = summary.closest("li").querySelector("a");
    if (link) summary.setAttribute("aria-label", `Pages below ${link.textContent.trim()}`);
  }
  for (const button of document.querySelectorAll("button.search-button__button")) {
    button.setAttribute("aria-label", button.innerText.trim().replace(/\s+/g, " ") || "Search");
  }
  for (const button of document.querySelectorAll("button.version-switcher__button")) button.removeAttribute("aria-label");
  const widest = window.innerWidth < 600 ? 8 : 11; // rem
  for (const table of document.querySelectorAll(".bd-article table")) {
    const rows = [...table.rows]; // a column of prose keeps room for some words beside names, which do not break
    for (const [k, head] of [...(rows[0]?.cells ?? [])].entries()) {
      const longest = Math.max(...rows.map((row) => row.cells[k]?.textContent.length ?? 0));
      if (longest > 40) head.style.minWidth = `${Math.min(widest, 4 + longest / 8)}rem`;
    }
    if (table.scrollWidth > table.clientWidth) table.tabIndex = 0;
  }
  for (const heading of document.querySelectorAll(".bd-article th")) {
    if (heading.innerText.trim()) continue;
    const cell = document.createElement("td"); // the corner above the names of rows heads nothing
    cell.className = heading.className;
    heading.replaceWith(cell);
  }
  for (const parameters of document.querySelectorAll("dt.sig > dl")) {
    const list = document.createElement("div"); // definitions without terms
    list.className = "sig-params";
    list.setAttribute("role", "list");
    for (const parameter of [...parameters.children]) {
      const item = document.createElement("div");
      item.setAttribute("role", "listitem");
      item.append(...parameter.childNodes);
      list.append(item);
    }
    parameters.replaceWith(list);
  }
  for (const link of document.querySelectorAll(".sphx-glr-thumbcontainer a")) {
    link.setAttribute("aria-label", link.textContent.trim()); // its text is not displayed
  }
});
