import calm from "../assets/icon.svg";

/** The tab's icon: the program's own, or with the number of what waits for the person in its corner. */
export function showInIcon(waiting: number): void {
  const link = document.querySelector<HTMLLinkElement>('link[rel="icon"]');
  const href = waiting === 0 ? calm : `data:image/svg+xml,${encodeURIComponent(drawBadge(waiting))}`;
  // A browser draws the icon anew whenever it is set, so it is set only when it changes.
  if (link !== null && link.getAttribute("href") !== href) link.setAttribute("href", href);
}

/** The icon of `assets/icon.svg` under a badge. Two digits would be too small to read. */
function drawBadge(waiting: number): string {
  const count = waiting > 9 ? "9+" : String(waiting);
  return (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#1f4f4a"/>' +
    '<path d="M5 20l4 4 8-9" fill="none" stroke="#8fd0c4" stroke-width="3"/><circle cx="21" cy="11" r="11" fill="#a1261a"/>' +
    `<text x="21" y="16" fill="#fff" font-family="sans-serif" font-size="15" font-weight="700" text-anchor="middle">${count}</text></svg>`
  );
}

/** What a window is called: what waits in front, where a narrow tab still shows it. */
export function titleWith(waiting: number, title: string): string {
  return waiting > 0 ? `(${waiting}) ${title}` : title;
}
