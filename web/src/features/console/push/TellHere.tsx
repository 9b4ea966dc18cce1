import { t } from "../../../language/t.ts";
import type { PushDevice } from "../../../protocol/generated.ts";
import { Banner } from "../../../ui/Banner.tsx";
import { Button } from "../../../ui/Button.tsx";
import { Card } from "../../../ui/Card.tsx";
import { Tag } from "../../../ui/Tag.tsx";
import { TimeAgo } from "../../../ui/TimeAgo.tsx";
import { VisibleText } from "../../../ui/VisibleText.tsx";
import { explain } from "../errors.ts";
import { useForgetDevice, usePushState, useTellHere, useTestDevice } from "./queries.ts";
import { canBeTold, isBlocked } from "./this-browser.ts";

/** The devices that are told of questions while no page is open. Nothing where no key for that is configured. */
export function TellHere() {
  const { data: state } = usePushState();
  if (state?.key === undefined) return null;
  return (
    <Card as="section" label={t`Told when a question waits`}>
      <h2>{t`Told when a question waits`}</h2>
      <p>
        {t`A device in this list shows a notification, also while no page of the console is open. It says that a question waits and nothing about the call; answering takes the console and, where it is asked for, your passkey.`}
      </p>
      {state.devices.length > 0 && (
        <ul className="stack">
          {state.devices.map((device) => (
            <Device key={device.id} device={device} isHere={device.id === state.here} />
          ))}
        </ul>
      )}
      {state.here === null && <ThisDevice publicKey={state.key} />}
    </Card>
  );
}

function ThisDevice({ publicKey }: { readonly publicKey: string }) {
  const add = useTellHere(publicKey);
  if (!canBeTold()) {
    return (
      <p className="note">
        {t`This browser cannot be told anything while no page is open. On an iPhone or iPad, add the console to the home screen first and open it from there.`}
      </p>
    );
  }
  return (
    <>
      {isBlocked() && (
        <p className="note">{t`Notifications of this page are blocked in this browser. Allow them in its settings first.`}</p>
      )}
      {add.isError && <Banner tone="danger" urgent title={explain(add.error)} />}
      <div>
        <Button variant="primary" busy={add.isPending} onClick={() => add.mutate()}>
          {t`Tell me on this device`}
        </Button>
      </div>
    </>
  );
}

function Device({ device, isHere }: { readonly device: PushDevice; readonly isHere: boolean }) {
  const forget = useForgetDevice();
  const test = useTestDevice();
  return (
    <li className="stack">
      <div className="row">
        <VisibleText text={device.name} prose />
        {isHere && <Tag tone="info">{t`this device`}</Tag>}
        <span className="note">
          <VisibleText text={device.service} /> · <TimeAgo at={device.addedAt} />
        </span>
        {isHere && (
          <Button size="small" busy={test.isPending} onClick={() => test.mutate(device.id)}>
            {t`Send a test message`}
          </Button>
        )}
        <Button
          size="small"
          busy={forget.isPending}
          aria-label={t`Remove ${device.name}`}
          onClick={() => forget.mutate({ id: device.id, isHere })}
        >
          {t`Remove`}
        </Button>
      </div>
      <p role="status" className="note" hidden={!test.isSuccess}>
        {test.isSuccess && t`Sent. A notification should appear on this device in a moment.`}
      </p>
      {test.isError && <Banner tone="danger" urgent title={explain(test.error)} />}
      {forget.isError && <Banner tone="danger" urgent title={explain(forget.error)} />}
    </li>
  );
}
