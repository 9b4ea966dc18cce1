import type { Grant } from "../../protocol/generated.ts";
import type { AgentClient } from "./shell-environment.ts";

/** The grants of this session, as the gateway told of them last. */
export class HeldGrants {
  readonly #client: Pick<AgentClient, "call">;
  readonly #attempt: (work: () => Promise<unknown>) => Promise<boolean>;
  #held: readonly Grant[] | null = null;
  #asked = 0;

  constructor(client: Pick<AgentClient, "call">, attempt: (work: () => Promise<unknown>) => Promise<boolean>) {
    this.#client = client;
    this.#attempt = attempt;
  }

  /** Null until they have been asked for. */
  get held(): readonly Grant[] | null {
    return this.#held;
  }

  /** How often the person has typed that they want to see them. */
  get asked(): number {
    return this.#asked;
  }

  show(): void {
    this.#asked += 1;
  }

  async load(): Promise<void> {
    await this.#attempt(async () => {
      this.#held = (await this.#client.call("grants/list", {})).grants;
    });
  }

  async revoke(grantId: string): Promise<void> {
    await this.#attempt(async () => {
      await this.#client.call("grants/revoke", { grantId });
      this.#held = this.#held?.filter((grant) => grant.id !== grantId) ?? null;
    });
  }
}
