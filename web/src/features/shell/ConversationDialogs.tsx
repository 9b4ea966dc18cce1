import { useState } from "react";
import { t } from "../../language/t.ts";
import { Button } from "../../ui/Button.tsx";
import { shownTitle } from "../../ui/conversation-title.ts";
import { Dialog } from "../../ui/Dialog.tsx";
import { Field } from "../../ui/Field.tsx";
import type { Workspace } from "./workspace.ts";
import type { ConversationRow } from "./workspace-state.ts";

interface RowDialogProps {
  readonly workspace: Workspace;
  readonly row: ConversationRow;
  readonly onClose: () => void;
}

/** A new name for a conversation. */
export function RenameDialog({ workspace, row, onClose }: RowDialogProps) {
  const { id, title } = row.conversation;
  const [draft, setDraft] = useState(shownTitle(title));
  const submit = () => {
    onClose();
    // Without a name it keeps the one that it has.
    if (draft.trim() !== "") void workspace.library.rename(id, draft.trim());
  };
  return (
    <Dialog
      open
      title={t`Rename conversation`}
      onClose={onClose}
      actions={
        <Button variant="primary" onClick={submit}>
          {t`Rename`}
        </Button>
      }
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <Field
          label={t`Title`}
          value={draft}
          maxLength={200}
          onChange={(event) => setDraft(event.currentTarget.value)}
        />
      </form>
    </Dialog>
  );
}

/** The question before a conversation is deleted. */
export function DeleteDialog({ workspace, row, onClose }: RowDialogProps) {
  return (
    <Dialog
      open
      title={t`Delete conversation?`}
      onClose={onClose}
      actions={
        <Button
          variant="danger"
          onClick={() => {
            onClose();
            void workspace.library.delete(row.conversation.id);
          }}
        >
          {t`Delete`}
        </Button>
      }
    >
      <p>{t`Its messages are deleted, and what still runs in it is cancelled. Its calls stay in the audit log.`}</p>
    </Dialog>
  );
}
