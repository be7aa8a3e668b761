// A link into a fold opens it; the page is complete without this where the browser does so itself.
const reveal = () => {
  const place = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!place) return;
  const own = place.querySelector(":scope > details");
  if (own) own.open = true;
  for (let fold = place.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  place.scrollIntoView();
};
addEventListener("hashchange", reveal);
// The same link may be followed again after its fold was closed.
addEventListener("click", event => {
  const link = event.target.closest('a[href^="#"]');
  if (link && link.getAttribute("href") === location.hash) reveal();
});
reveal();

const folds = [...document.querySelectorAll("main > section > details")];
const button = document.createElement("button");
const label = () => { button.textContent = folds.some(fold => !fold.open) ? "Unfold all" : "Fold all"; };
button.type = "button";
button.className = "unfold";
button.onclick = () => { const open = folds.some(fold => !fold.open); for (const fold of folds) fold.open = open; };
for (const fold of folds) fold.addEventListener("toggle", label);
label();
document.querySelector("main").prepend(button);
