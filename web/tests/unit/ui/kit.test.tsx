// @vitest-environment jsdom
import { createHash } from "node:crypto";
import { act, cleanup, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { Banner } from "../../../src/ui/Banner.tsx";
import { Button } from "../../../src/ui/Button.tsx";
import { Countdown } from "../../../src/ui/Countdown.tsx";
import { setClock } from "../../../src/ui/clock.ts";
import { Dialog } from "../../../src/ui/Dialog.tsx";
import { Digest } from "../../../src/ui/Digest.tsx";
import { ErrorBoundary } from "../../../src/ui/ErrorBoundary.tsx";
import { ExternalText } from "../../../src/ui/ExternalText.tsx";
import { Field } from "../../../src/ui/Field.tsx";
import { JsonView } from "../../../src/ui/JsonView.tsx";
import { LiveRegion, useAnnounce } from "../../../src/ui/LiveRegion.tsx";
import { Menu } from "../../../src/ui/Menu.tsx";
import { ToastRegion, useToast } from "../../../src/ui/Toast.tsx";
import { VisibleText } from "../../../src/ui/VisibleText.tsx";
import { prepareDocument } from "./document.ts";

beforeAll(prepareDocument);

afterEach(() => {
  cleanup();
  vi.useRealTimers();
});

describe("a button", () => {
  test("that is busy says so, keeps the focus and does nothing when pressed", async () => {
    const pressed = vi.fn();
    const { rerender } = render(<Button onClick={pressed}>Save</Button>);
    const button = screen.getByRole("button", { name: "Save" });
    button.focus();
    rerender(
      <Button busy onClick={pressed}>
        Save
      </Button>,
    );
    await userEvent.click(button);
    await userEvent.keyboard("{Enter}");
    expect(pressed).not.toHaveBeenCalled();
    expect(button.getAttribute("aria-busy")).toBe("true");
    expect(document.activeElement).toBe(button);
  });

  test("that is aria-disabled does not submit its form", async () => {
    const submitted = vi.fn((event: Event) => event.preventDefault());
    render(
      <form onSubmit={(event) => submitted(event.nativeEvent)}>
        <Button type="submit" aria-disabled>
          Send
        </Button>
      </form>,
    );
    await userEvent.click(screen.getByRole("button"));
    expect(submitted).not.toHaveBeenCalled();
  });
});

describe("untrusted text", () => {
  test("is text, whatever it looks like", () => {
    const { container } = render(
      <VisibleText text={"<img src=x onerror=alert(1)> ![beacon](https://evil.example/p.png)"} />,
    );
    expect(container.querySelector("img, a, script")).toBeNull();
    expect(container.textContent).toContain("<img src=x onerror=alert(1)>");
  });

  test("names each escape and each look-alike for whoever points at it", () => {
    render(<VisibleText text={"a\u202eb раypal"} />);
    expect(screen.getByText("U+202E").title).toBe("right-to-left override");
    expect(screen.getByText("р").title).toContain("not the “p” it looks like");
  });

  test("hides the middle of a long value, shows both ends and its digest, and opens whole", async () => {
    const text = `${"x".repeat(50_000)} and the end`;
    const { container } = render(<VisibleText text={text} />);
    expect(container.textContent).toContain("and the end");
    expect(container.textContent).toContain("48,912 characters are hidden here");
    expect(await screen.findByText(createHash("sha256").update(text).digest("hex"))).toBeDefined();
    await userEvent.click(screen.getByRole("button", { name: "Show everything" }));
    expect(container.textContent).toContain(text);
    expect(screen.getByRole("button", { name: "Show less" }).getAttribute("aria-expanded")).toBe("true");
  });

  test("that is empty says so", () => {
    render(<VisibleText text="" />);
    expect(screen.getByText("empty text")).toBeDefined();
  });
});

describe("an external text that is only read", () => {
  test("keeps its lines and spells out what would deceive the eye", () => {
    const { container } = render(<ExternalText text={"one\r\n\ttwo \u001b[31m invoice_\u202efdp.exe \u{e0041}"} />);
    expect(container.textContent).toBe("one\n\ttwo U+001B[31m invoice_U+202Efdp.exe U+E0041");
    expect(container.querySelectorAll("mark")).toHaveLength(3);
  });

  test("keeps what other scripts and emoji are written with", () => {
    const text = "می\u200cخواهم \u{1f469}\u200d\u{1f467} \u2764\ufe0f";
    expect(render(<ExternalText text={text} />).container.textContent).toBe(text);
  });
});

describe("a JSON value", () => {
  test("is a tree of text in which names are plain text like values", () => {
    const value = JSON.parse('{"__proto__": {"a": 1}, "b\u202e": [true, null, "x"], "c": {}, "d": []}');
    const { container } = render(<JsonView value={value} openTo={9} />);
    expect(container.textContent).toContain("__proto__");
    expect(screen.getByText("U+202E")).toBeDefined();
    for (const word of ["yes", "nothing", "empty object", "empty list"]) expect(screen.getByText(word)).toBeDefined();
  });

  test.each([
    [true, "yes"],
    ["true", "text “true”"],
    [false, "no"],
    ["No", "text “No”"],
    [null, "nothing"],
    ["null", "text “null”"],
    ["nothing", "text “nothing”"],
    [12, "12 (number)"],
    ["12", "text “12”"],
    ["-1.5e3", "text “-1.5e3”"],
    ["", "empty text"],
    ["empty text", "text “empty text”"],
    ["v12", "v12"],
  ])("tells types apart in words: %j", (value, words) => {
    expect(render(<JsonView value={value} />).container.textContent).toBe(words);
  });

  test("opens as far as it is told to", () => {
    const { container } = render(<JsonView value={{ a: { b: {} } }} openTo={1} />);
    expect([...container.querySelectorAll("details")].map((branch) => branch.open)).toEqual([true, false]);
  });
});

test("a digest is whole, and reads as one text", () => {
  const digest = "0123456789abcdef".repeat(4);
  const { container } = render(<Digest value={digest} />);
  expect(container.querySelector("code")?.textContent).toBe(digest);
});

test("a countdown follows the clock and says in words what is left", () => {
  vi.useFakeTimers({ now: new Date("2026-11-21T10:00:00.000Z") });
  render(<Countdown until="2026-11-21T10:01:05.000Z" label="Expires in" />);
  expect(screen.getByRole("timer").textContent).toBe("Expires in 1:052 minutes");
  act(() => vi.advanceTimersByTime(61_000));
  expect(screen.getByRole("timer").textContent).toBe("Expires in 0:044 seconds");
  act(() => vi.advanceTimersByTime(60_000));
  expect(screen.getByRole("timer").textContent).toContain("0:00");
});

test("a countdown of two minutes begins at 2:00, within whichever second that is", () => {
  vi.useFakeTimers({ now: new Date("2026-11-21T10:00:00.400Z") });
  render(<Countdown until="2026-11-21T10:02:00.400Z" label="Expires in" />);
  expect(screen.getByRole("timer").textContent).toBe("Expires in 2:002 minutes");
});

test("a countdown goes by the gateway's clock, however far off this device's is", () => {
  vi.useFakeTimers({ now: new Date("2026-11-21T09:55:00.000Z") });
  setClock("2026-11-21T10:00:00.500Z", Date.now(), Date.now() + 1_000);
  render(<Countdown until="2026-11-21T10:01:05.000Z" label="Expires in" />);
  expect(screen.getByRole("timer").textContent).toContain("1:05");
  cleanup();
  setClock("no time at all", Date.now(), Date.now());
  render(<Countdown until="2026-11-21T10:01:05.000Z" label="Expires in" />);
  expect(screen.getByRole("timer").textContent, "what is no time changes nothing").toContain("1:05");
  setClock(new Date().toISOString(), Date.now(), Date.now());
});

describe("a field", () => {
  test("is read together with its hint and its error", () => {
    render(<Field label="Name" hint="So that you know it again" error="Too long" />);
    const input = screen.getByLabelText("Name");
    const described = input
      .getAttribute("aria-describedby")
      ?.split(" ")
      .map((id) => document.getElementById(id)?.textContent);
    expect(described).toEqual(["So that you know it again", "Too long"]);
    expect(input.getAttribute("aria-invalid")).toBe("true");
  });
});

describe("a dialog", () => {
  test("is named by its title, and leaving it any way is telling the caller", async () => {
    const closed = vi.fn();
    const { rerender } = render(
      <Dialog open title="Remove it?" onClose={closed}>
        Gone for good.
      </Dialog>,
    );
    const dialog = screen.getByRole<HTMLDialogElement>("dialog", { name: "Remove it?" });
    await userEvent.click(screen.getByRole("button", { name: "Cancel" }));
    act(() => dialog.close());
    expect(closed).toHaveBeenCalledTimes(2);
    rerender(
      <Dialog open={false} title="Remove it?" onClose={closed}>
        Gone for good.
      </Dialog>,
    );
    expect(dialog.open).toBe(false);
    expect(dialog.textContent).toBe("");
  });
});

test("a menu opens, moves and acts by keyboard alone", async () => {
  const chosen = vi.fn();
  const items = [
    { label: "Rename", onSelect: () => chosen("rename") },
    { label: "Delete", onSelect: () => chosen("delete"), danger: true },
  ];
  render(<Menu trigger="Actions" items={items} />);
  await userEvent.tab();
  await userEvent.keyboard("{Enter}");
  expect((await screen.findByRole("menuitem", { name: "Rename" })).isConnected).toBe(true);
  await userEvent.keyboard("{End}{Enter}");
  expect(chosen.mock.calls).toEqual([["delete"]]);
});

function Speaker() {
  const announce = useAnnounce();
  return <Button onClick={() => announce("Consent needed")}>Say</Button>;
}

test("the same sentence twice is announced twice", async () => {
  render(
    <LiveRegion>
      <Speaker />
    </LiveRegion>,
  );
  const spoken = () => screen.getAllByRole("status").map((region) => region.textContent);
  await userEvent.click(screen.getByRole("button"));
  const first = spoken();
  await userEvent.click(screen.getByRole("button"));
  expect(first.filter((text) => text === "Consent needed")).toHaveLength(1);
  expect(spoken()).toEqual(first.toReversed());
});

function Toaster() {
  const toast = useToast();
  return <Button onClick={() => toast("Renamed.")}>Do</Button>;
}

test("a toast is announced, stays long enough to read and can be dismissed", async () => {
  render(
    <LiveRegion>
      <ToastRegion>
        <Toaster />
      </ToastRegion>
    </LiveRegion>,
  );
  await userEvent.click(screen.getByRole("button", { name: "Do" }));
  expect(screen.getAllByRole("status").some((region) => region.textContent === "Renamed.")).toBe(true);
  await userEvent.click(screen.getByRole("button", { name: "Dismiss" }));
  expect(screen.queryByRole("button", { name: "Dismiss" })).toBeNull();
});

test("a banner interrupts only when it is urgent", () => {
  render(
    <>
      <Banner tone="info" title="So it is" />
      <Banner tone="danger" urgent title="So it became" />
    </>,
  );
  expect(screen.getByRole("note").textContent).toBe("So it is");
  expect(screen.getByRole("alert").textContent).toBe("So it became");
});

function Faulty({ broken }: { readonly broken: boolean }) {
  if (broken) throw new Error("secret detail");
  return <p>Shown</p>;
}

test("an error in one part is contained, quotes nothing of the exception and is tried again when asked to", async () => {
  vi.spyOn(console, "error").mockImplementation(() => {});
  const part = (broken: boolean) => (
    <ErrorBoundary what="This page">
      <Faulty broken={broken} />
    </ErrorBoundary>
  );
  const { rerender } = render(part(true));
  expect(screen.getByRole("alert").textContent).toContain("This page could not be shown");
  expect(document.body.textContent).not.toContain("secret detail");
  rerender(part(false));
  await userEvent.click(screen.getByRole("button", { name: "Try again" }));
  expect(screen.getByText("Shown")).toBeDefined();
});

test("what could not be fetched is loaded again once the gateway is back, or when asked to, and nothing else is", async () => {
  vi.spyOn(console, "error").mockImplementation(() => {});
  const reload = vi.fn();
  const part = (broken: boolean, away: boolean) => (
    <ErrorBoundary what="This page" reload={reload} away={away}>
      <Faulty broken={broken} />
    </ErrorBoundary>
  );
  const { rerender } = render(part(false, true));
  rerender(part(false, false));
  expect(reload).not.toHaveBeenCalled();
  rerender(part(true, true));
  expect(reload).not.toHaveBeenCalled();
  rerender(part(true, false));
  expect(reload).toHaveBeenCalledTimes(1);
  await userEvent.click(screen.getByRole("button", { name: "Try again" }));
  expect(reload).toHaveBeenCalledTimes(2);
});
