import { createRoot } from "react-dom/client";
import "../../styles/index.css";
import { Console } from "./Console.tsx";
import { browserConsole } from "./console-environment.ts";

const root = document.getElementById("root");
if (root !== null) createRoot(root).render(<Console environment={browserConsole()} />);
