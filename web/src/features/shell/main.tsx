import { createRoot } from "react-dom/client";
import "../../styles/index.css";
import { Shell } from "./Shell.tsx";
import { browserShell } from "./shell-environment.ts";

const root = document.getElementById("root");
if (root !== null) createRoot(root).render(<Shell environment={browserShell()} />);
