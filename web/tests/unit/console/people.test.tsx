// @vitest-environment jsdom
import { cleanup, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import type { AliveSession, Person } from "../../../src/protocol/generated.ts";
import { RpcError } from "../../../src/protocol/rpc.ts";
import { requirement } from "../../requirement.ts";
import { prepareDocument } from "../ui/document.ts";
import { FakeGateway } from "./fake-gateway.ts";
import { openConsole } from "./open-console.tsx";

beforeAll(prepareDocument);

let gateway: FakeGateway;
let people: Person[];
let sessions: AliveSession[];

const person = (id: string, name: string, changes: Partial<Person> = {}): Person => ({
  id,
  name,
  profile: "guest",
  suspended: false,
  passkeys: 1,
  sessions: 0,
  lastUsedAt: "2026-11-21T09:00:00.000Z",
  ...changes,
});

beforeEach(() => {
  people = [person("prn_1", "Nora", { profile: "operator" }), person("prn_2", "Gil")];
  sessions = [];
  gateway = new FakeGateway();
  gateway.handlers = {
    "people/list": () => ({ people }),
    "sessions/list": () => ({ sessions }),
    "people/set-profile": () => ({}),
    "people/suspend": () => ({}),
    "people/resume": () => ({}),
    "people/remove": () => ({}),
    "audit/erase": () => ({ records: 3, copies: [] }),
    "people/invite": () => ({
      link: "http://console.localhost:8765/enrol#t=s3cret",
      seconds: 900,
      qr: ["101", "010", "101"],
    }),
    "sessions/end": () => ({}),
    "sessions/restrict": () => ({}),
  };
});

afterEach(() => {
  cleanup();
  vi.useRealTimers();
});

/** The gateway wants a passkey first: the request is refused until the person has signed in again. */
function demandPasskey(method: "people/invite" | "people/set-profile" | "audit/erase"): void {
  const answer = gateway.handlers[method] as () => never;
  let signedIn = false;
  gateway.replies["/signin/options"] = () => ({ status: 200, body: { challenge: "AAAA" } });
  gateway.replies["/signin/verify"] = () => {
    signedIn = true;
    return { status: 204, body: undefined };
  };
  gateway.handlers[method] = () => {
    if (!signedIn) throw new RpcError(-32003, "confirm with one of your passkeys first", "stepUpRequired");
    return answer();
  };
}

async function open(): Promise<void> {
  openConsole(gateway, "/people");
  await screen.findByRole("region", { name: "Enrolled" });
}

const card = (name: string) => within(screen.getByRole("listitem", { name }));

describe("the page of people", () => {
  test("shows everybody, what can be done about each, and who is only on record", async () => {
    people.push(person("prn_3", "Eve", { suspended: true }), person("prn_4", "Gone", { passkeys: 0 }));
    await open();
    const offered = (name: string) =>
      card(name)
        .queryAllByRole("button")
        .map(({ textContent }) => textContent);
    expect(offered("Nora")).toEqual(["Make guest", "Suspend", "Remove"]);
    expect(offered("Gil")).toEqual(["Make operator", "Suspend", "Remove"]);
    expect(offered("Eve")).toEqual(["Let in again", "Remove"]);
    expect(card("Eve").getByText("suspended")).toBeDefined();
    expect(card("Nora").getByText("you")).toBeDefined();
    const gone = screen.getByRole("region", { name: "Without a passkey" });
    expect(within(gone).getByRole("listitem", { name: "Gone" })).toBeDefined();
    expect(offered("Gone")).toEqual(["Erase what is kept"]);
  });

  test("is no page of a guest's", async () => {
    gateway.profile = "guest";
    openConsole(gateway, "/people");
    expect(await screen.findByText(/for operators/)).toBeDefined();
    expect(gateway.asked("people/list")).toEqual([]);
  });

  test.each([
    ["Make operator", "people/set-profile", { principal: "prn_2", profile: "operator" }],
    ["Suspend", "people/suspend", { principal: "prn_2" }],
    ["Remove", "people/remove", { principal: "prn_2" }],
  ] as const)(
    "says what %s does, does it once it is confirmed, and reads the list anew",
    async (label, method, params) => {
      await open();
      await userEvent.click(card("Gil").getByRole("button", { name: label }));
      const dialog = within(screen.getByRole("dialog", { name: `${label}: Gil?` }));
      expect(dialog.getByText(/Enrolment links that are open/)).toBeDefined();
      expect(gateway.asked(method)).toEqual([]);
      const read = gateway.asked("people/list").length;
      await userEvent.click(dialog.getByRole("button", { name: label }));
      expect(gateway.asked(method)).toEqual([params]);
      expect((await screen.findByRole("region", { name: "Notice" })).textContent).toMatch(/^Gil (is|was) /);
      expect(gateway.asked("people/list").length).toBeGreaterThan(read);
      expect(screen.queryByRole("dialog")).toBeNull();
    },
  );

  test("keeps the dialog with what the gateway said when it refuses", async () => {
    gateway.handlers["people/suspend"] = () => {
      throw new RpcError(-32004, "nobody else here is an operator; enrol another one first");
    };
    await open();
    await userEvent.click(card("Nora").getByRole("button", { name: "Suspend" }));
    const dialog = within(screen.getByRole("dialog"));
    expect(dialog.getByText(/This is you/)).toBeDefined();
    await userEvent.click(dialog.getByRole("button", { name: "Suspend" }));
    expect(await dialog.findByText(/nobody else here is an operator/i)).toBeDefined();
  });

  test("asks for a passkey where the gateway wants one, and then does what was asked", async () => {
    demandPasskey("people/set-profile");
    await open();
    await userEvent.click(card("Gil").getByRole("button", { name: "Make operator" }));
    const dialog = within(screen.getByRole("dialog"));
    await userEvent.click(dialog.getByRole("button", { name: "Make operator" }));
    await userEvent.click(await dialog.findByRole("button", { name: "Confirm with your passkey" }));
    expect((await screen.findByRole("region", { name: "Notice" })).textContent).toContain("Gil is an operator now.");
    expect(gateway.environment.askPasskey).toHaveBeenCalledTimes(1);
  });

  test("erases what is kept of somebody who was removed, with a passkey, and offers it no more", async () => {
    requirement("002-74", "an operator erases what is kept of a person who was removed");
    demandPasskey("audit/erase");
    people.push(person("prn_4", "Gone", { passkeys: 0 }), person("prn_5", "(erased)", { passkeys: 0 }));
    await open();
    expect(card("(erased)").queryByRole("button")).toBeNull();
    await userEvent.click(card("Gone").getByRole("button", { name: "Erase what is kept" }));
    const dialog = within(screen.getByRole("dialog"));
    await userEvent.click(dialog.getByRole("button", { name: "Erase what is kept" }));
    expect(await dialog.findByText(/Nothing brings back what is erased/)).toBeDefined();
    await userEvent.click(await dialog.findByRole("button", { name: "Confirm with your passkey" }));
    expect((await screen.findByRole("region", { name: "Notice" })).textContent).toContain("Gone is erased.");
    expect(gateway.asked("audit/erase").at(-1)).toEqual({ principal: "prn_4" });
  });
});

describe("an invitation", () => {
  test("shows its link once, with how long it works", async () => {
    demandPasskey("people/invite");
    await open();
    const invite = within(screen.getByRole("region", { name: "Invite somebody" }));
    await userEvent.type(invite.getByLabelText("Name"), "Grace");
    await userEvent.selectOptions(invite.getByLabelText("Profile"), "operator");
    await userEvent.click(invite.getByRole("button", { name: "Make a link" }));
    await userEvent.click(await invite.findByRole("button", { name: "Confirm with your passkey" }));
    expect(await invite.findByText("The link for Grace")).toBeDefined();
    expect(invite.getByText(/enrol#t=s3cret/)).toBeDefined();
    expect(invite.getByText(/15 minutes/)).toBeDefined();
    expect(gateway.asked("people/invite").at(-1)).toEqual({ name: "Grace", profile: "operator" });
    // An address of this machine alone is none for a phone.
    expect(invite.queryByRole("img", { name: "QR code of the link below" })).toBeNull();
  });

  test("shows its link as a QR code where a phone can open the console", async () => {
    Object.assign(gateway.environment, { origin: "https://console.example.org" });
    await open();
    const invite = within(screen.getByRole("region", { name: "Invite somebody" }));
    await userEvent.type(invite.getByLabelText("Name"), "Grace");
    await userEvent.click(invite.getByRole("button", { name: "Make a link" }));
    const code = await invite.findByRole("img", { name: "QR code of the link below" });
    expect(code.getAttribute("viewBox")).toBe("0 0 3 3");
  });
});

describe("the sessions of agents", () => {
  test("are restricted to a higher label only, and ended", async () => {
    sessions = [
      {
        id: "ses_1",
        principal: "prn_2",
        principalName: "Gil",
        label: "internal",
        expiresAt: "2026-11-21T18:00:00.000Z",
      },
    ];
    await open();
    const alive = within(await screen.findByRole("region", { name: "Sessions of the agent" }));
    const label = await alive.findByLabelText<HTMLSelectElement>("Label");
    expect([...label.options].map(({ value }) => value)).toEqual(["internal", "confidential", "high"]);
    await userEvent.selectOptions(label, "high");
    expect(gateway.asked("sessions/restrict")).toEqual([{ sessionId: "ses_1", label: "high" }]);
    await userEvent.click(alive.getByRole("button", { name: "End this session" }));
    expect(gateway.asked("sessions/end")).toEqual([{ sessionId: "ses_1" }]);
  });

  test("are said to be none where there is none", async () => {
    await open();
    expect(await screen.findByText("No session is open")).toBeDefined();
  });
});
