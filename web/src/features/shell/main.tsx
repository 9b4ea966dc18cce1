import { createRoot } from "react-dom/client";
import "../../styles/index.css";
import { Shell } from "./Shell.tsx";
import { browserSurroundings } from "./surroundings.ts";

const root = document.getElementById("root");
if (root !== null) createRoot(root).render(<Shell around={browserSurroundings()} />);
