import type { Conversation } from "../../protocol/generated.ts";

/** The conversations that are the same up to a turn and go on differently from there. */
export interface BranchPoint {
  readonly ids: readonly string[];
  /** Which of them is on the screen. */
  readonly index: number;
}

/**
 * Where a conversation forks at the turn with index `place`, as far as the branches are among the conversations `known`; null
 * where it does not.
 */
export function branchesAt(
  known: readonly Conversation[],
  currentId: string | null,
  place: number,
): BranchPoint | null {
  const byId = new Map(known.map((each) => [each.id, each]));
  const shown = holderOf(byId, currentId, place);
  if (shown === undefined || place < 0) return null;
  const origin = originOf(byId, shown, place);
  const isBranch = (each: Conversation) =>
    each.id === shown.id ||
    (each.turnCount > 0 &&
      (each.id === origin
        ? inheritedBy(each) + each.turnCount > place
        : inheritedBy(each) === place && originOf(byId, each, place) === origin));
  const branches = known.filter(isBranch).sort((one, other) => one.createdAt.localeCompare(other.createdAt));
  if (branches.length < 2) return null;
  const ids = branches.map(({ id }) => id);
  return { ids, index: ids.indexOf(shown.id) };
}

function inheritedBy({ parentId, inheritedTurns = 0 }: Conversation): number {
  return parentId === undefined ? 0 : inheritedTurns;
}

type ById = ReadonlyMap<string, Conversation>;

/** The conversation in which a turn was held that this one may have inherited. */
function holderOf(byId: ById, id: string | null, place: number): Conversation | undefined {
  let holder = id === null ? undefined : byId.get(id);
  while (holder?.parentId !== undefined && inheritedBy(holder) > place) holder = byId.get(holder.parentId);
  return holder;
}

/** The id of the conversation that the turns before a place were taken from, itself where they are its own. */
function originOf(byId: ById, conversation: Conversation, place: number): string {
  let origin = conversation;
  while (origin.parentId !== undefined && inheritedBy(origin) >= place) {
    const parent = byId.get(origin.parentId);
    if (parent === undefined) return origin.parentId;
    origin = parent;
  }
  return origin.id;
}
