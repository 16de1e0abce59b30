// Pictures of pages: a page that cannot be drawn is shown by its text alone.

function dropPicture(picture) {
  picture.closest(".page-picture").remove();
}

for (const picture of document.querySelectorAll(".page-picture img")) {
  picture.addEventListener("error", () => dropPicture(picture));
  if (picture.complete && !picture.naturalWidth) dropPicture(picture);
}
