// @vitest-environment jsdom
import { screen, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { largeModel } from "../agent/scripted.ts";
import { openShell, prepareShell } from "./open-shell.tsx";
import { description, ScriptedClient } from "./scripted-client.ts";

prepareShell();

test("a model whose server is away is listed with the reason, and can be chosen for when it is back", async () => {
  const away = { ...largeModel, id: "remote", displayName: "Large", local: false, trouble: "Ollama does not answer" };
  openShell(
    new ScriptedClient({
      "session/describe": () => ({ ...description, models: [...description.models, away] }),
    }),
  );
  const choice = await screen.findByRole("combobox", { name: "Model" });
  const option = within(choice).getByRole("option", {
    name: "Large (not on this machine), would not answer now: Ollama does not answer",
  });
  expect((option as HTMLOptionElement).disabled).toBe(false);
});

test("a model whose server is away says so where it stands alone", async () => {
  const away = { ...largeModel, id: "remote", displayName: "Large", local: false, trouble: "Ollama does not answer" };
  openShell(new ScriptedClient({ "session/describe": () => ({ ...description, models: [away] }) }));
  await screen.findByText("Large (not on this machine), would not answer now: Ollama does not answer");
});
