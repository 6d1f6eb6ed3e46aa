// Elements from data. Text is always set as text: nothing that a job says of itself is ever read as HTML.

export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "class") element.className = value;
    else if (name in element && typeof value !== "string") element[name] = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

// A name that a user gave: isolated, so that right-to-left text does not reorder its neighbours.
export const name = (text) => h("bdi", { class: "name", title: text.slice(0, 300) }, text);

export function put(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

let timer = 0;
export function say(sentence) {
  const place = document.getElementById("said");
  place.textContent = sentence;
  clearTimeout(timer);
  timer = setTimeout(() => (place.textContent = ""), 6000);
}
