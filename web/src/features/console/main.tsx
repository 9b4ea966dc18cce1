import { createRoot } from "react-dom/client";
import "../../styles/index.css";
import { takeOwnWindow } from "./approvals/own-window.ts";
import { Console } from "./Console.tsx";
import { browserConsole, loadCeremonies } from "./console-environment.ts";
import { loadAhead, loadBehind } from "./pages.tsx";

takeOwnWindow();
loadAhead(window.location.pathname);
const root = document.getElementById("root");
if (root !== null) createRoot(root).render(<Console environment={browserConsole()} />);
// A passkey should answer at once when it is asked; if this cannot be had now, the ceremony asks again.
window.addEventListener("load", () => {
  void loadCeremonies().catch(() => undefined);
  loadBehind();
});
