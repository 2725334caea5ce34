/* The theme that was chosen, before the first paint; without a choice the system's. */
try {
  const chosen = localStorage.getItem("ragfile.theme");
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
} catch {
  /* a browser that keeps nothing follows the system */
}
