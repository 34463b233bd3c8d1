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
  for (const table of document.querySelectorAll(".bd-article table")) {
    if (table.scrollWidth > table.clientWidth) table.tabIndex = 0;
  }
});
