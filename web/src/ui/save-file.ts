/** Let the browser keep a file under that name. */
export function saveFile(name: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // The browser has taken the address by then; without this the content would stay in memory as long as the page.
  setTimeout(() => URL.revokeObjectURL(url));
}
