// The list of chunks marks the chunk in view.
import { markInView } from "./in_view.js";

const list = document.querySelector(".outline");
const links = new Map([...list.querySelectorAll("a")].map((link) => [link.dataset.chunk, link]));
const blocks = [...document.querySelectorAll(".chunk")].filter(({ dataset }) => links.has(dataset.chunk));
markInView(list, blocks.map((element) => ({ element, link: links.get(element.dataset.chunk) })));
