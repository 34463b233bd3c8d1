// What the theme leaves out for those who use the keyboard or a screen reader.
document.addEventListener("DOMContentLoaded", () => {
  for (const summary of document.querySelectorAll("li > details > summary")) {
    const link = summary.closest("li").querySelector("a");
    if (link) summary.setAttribute("aria-label", `Pages below ${link.textContent.trim()}`);
  }
  for (const button of document.querySelectorAll("button.search-button__button")) {
    button.setAttribute("aria-label", button.textContent.trim().replace(/\s+/g, " ") || "Search");
  }
  for (const button of document.querySelectorAll("button.version-switcher__button")) button.removeAttribute("aria-label");
  const widest = window.innerWidth < 600 ? 8 : 11; // rem
  for (const table of document.querySelectorAll(".bd-article table")) {
    const rows = [...table.rows]; // a column of prose keeps room for some words beside names, which do not break
    for (const [k, head] of [...(rows[0]?.cells ?? [])].entries()) {
      const longest = Math.max(...rows.map((row) => row.cells[k]?.textContent.length ?? 0));
      if (longest > 40) head.style.minWidth = `${Math.min(widest, 4 + longest / 8)}rem`;
    }
  }
  const become = (cell, kind) => {
    const made = document.createElement(kind);
    made.className = cell.className;
    made.append(...cell.childNodes);
    cell.replaceWith(made);
    return made;
  };
  for (const heading of document.querySelectorAll(".bd-article thead th")) {
    if (heading.textContent.trim()) continue;
    const { cellIndex } = heading;
    for (const { cells } of heading.closest("table").querySelectorAll("tbody > tr")) {
      if (cells[cellIndex]) become(cells[cellIndex], "th").scope = "row";
    }
    become(heading, "td"); // the corner above the names of rows heads nothing
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

// Wide tables, formulas and blocks of code scroll: the keyboard reaches them, and their edge shows that they continue.
// Widths are known when fonts are loaded.
window.addEventListener("load", () => {
  for (const wide of document.querySelectorAll(".bd-article :is(table, div.math, pre)")) {
    if (wide.scrollWidth > wide.clientWidth && wide.tagName !== "PRE") wide.tabIndex = 0;
    const cue = () => wide.classList.toggle("continues", wide.scrollLeft + wide.clientWidth < wide.scrollWidth - 1);
    wide.addEventListener("scroll", cue, { passive: true });
    window.addEventListener("resize", cue, { passive: true });
    cue();
  }
});

// A formula is copied as what it was written as, in TeX.
document.addEventListener("copy", (event) => {
  const range = getSelection().rangeCount && getSelection().getRangeAt(0);
  if (!range || range.collapsed) return;
  const whole = (place) => (place.nodeType === 1 ? place : place.parentNode).closest("math");
  if (whole(range.startContainer)) range.setStartBefore(whole(range.startContainer));
  if (whole(range.endContainer)) range.setEndAfter(whole(range.endContainer));
  const copied = document.createElement("div");
  copied.append(range.cloneContents());
  const formulas = copied.querySelectorAll("math");
  if (!formulas.length) return;
  for (const formula of formulas) {
    const mark = formula.hasAttribute("display") ? "$$" : "$";
    formula.replaceWith(mark + formula.querySelector("annotation").textContent + mark);
  }
  document.body.append(copied); // what is displayed has its lines as one reads them
  event.clipboardData.setData("text/plain", copied.innerText.trim());
  copied.remove();
  event.preventDefault();
});
