/** The table of contents: open where it has a column of its own, closed where it would push the page down. */
(() => {
  "use strict";

  const wide = matchMedia("(min-width: 72rem)"); // as in the style sheet
  const contents = document.querySelector(".toc");
  const follow = () => {
    contents.open = wide.matches;
  };
  if (!contents) return;
  follow();
  wide.addEventListener("change", follow);
})();
