import { createRoot } from "react-dom/client";
import "../../styles/index.css";
import { Console } from "./Console.tsx";
import { browserSurroundings } from "./surroundings.ts";

const root = document.getElementById("root");
if (root !== null) createRoot(root).render(<Console around={browserSurroundings()} />);
