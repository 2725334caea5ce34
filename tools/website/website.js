/* Runs before the first paint: chooses light or dark, and completes what screen readers need of the theme. */

const dark = matchMedia("(prefers-color-scheme: dark)");
const choose = () =>
  document.body.setAttribute("data-md-color-scheme", dark.matches ? "slate" : "default");
dark.addEventListener("change", choose);
choose();

/** The theme's script adds these after the page is there. */
function complete() {
  document.querySelectorAll("nav.md-code__nav:not([aria-label])").forEach((nav, i) => {
    nav.setAttribute("aria-label", `Code ${i + 1}`);
  });
  document.querySelectorAll("nav.md-nav[aria-labelledby]").forEach((nav, i) => {
    const label = document.getElementById(nav.getAttribute("aria-labelledby"));
    nav.setAttribute("aria-label", `${label?.textContent.trim()} (${i + 1})`);
    nav.removeAttribute("aria-labelledby"); // two lists may have the same name
  });
  document.querySelectorAll(".md-typeset__scrollwrap:not([tabindex])").forEach((table) => {
    table.tabIndex = 0;
  });
}
new MutationObserver(complete).observe(document.body, { childList: true, subtree: true });
