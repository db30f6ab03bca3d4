// Keeps the list as it is on disk, and what the reader has ticked and opened.
const list = document.getElementById("list");
const button = document.querySelector("button");
const EVERY_MS = 2000;
let shown = list.innerHTML;

const ticked = () => [...list.querySelectorAll("input:checked")].map((box) => box.value);
const opened = () => [...list.querySelectorAll("details[open]")].map((one) => one.dataset.key);

function enable() {
  button.disabled = ticked().length === 0;
}

async function follow() {
  if (!document.hidden) {
    try {
      const answer = await fetch(location.pathname);
      if (!answer.ok) throw new Error(answer.statusText);
      const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
      const now = fresh.getElementById("list");
      const html = now.innerHTML;
      // Replaced only where it has changed: whoever goes through it by keys is not to lose their place.
      if (html !== shown) {
        const keep = { ticked: new Set(ticked()), opened: new Set(opened()) };
        for (const box of now.querySelectorAll("input")) {
          box.toggleAttribute("checked", keep.ticked.has(box.value));
        }
        for (const one of now.querySelectorAll("details")) {
          one.open = keep.opened.has(one.dataset.key);
        }
        list.innerHTML = now.innerHTML;
        shown = html;
        enable();
      }
    } catch {
      // The server has ended, or is out of reach for a moment: what was shown stays.
    }
  }
  setTimeout(follow, EVERY_MS);
}

list.addEventListener("change", enable);
addEventListener("pageshow", enable);
enable();
follow();
