// Pictures of pages: a page that cannot be drawn is shown by its text alone.

const PICTURES = ".page-picture img";

function dropPicture(picture) {
  picture.closest(".page-picture").remove();
}

// An error of a picture does not bubble, so it is caught on its way down.
document.addEventListener(
  "error",
  ({ target }) => {
    if (target instanceof Element && target.matches(PICTURES)) dropPicture(target);
  },
  true,
);
for (const picture of document.querySelectorAll(PICTURES)) {
  if (picture.complete && picture.currentSrc && !picture.naturalWidth) dropPicture(picture);
}
