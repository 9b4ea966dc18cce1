import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { rich } from "../../../language/rich.ts";
import { t } from "../../../language/t.ts";
import { Banner } from "../../../ui/Banner.tsx";
import { Button } from "../../../ui/Button.tsx";
import { Card } from "../../../ui/Card.tsx";
import { CopyButton } from "../../../ui/CopyButton.tsx";
import { Countdown } from "../../../ui/Countdown.tsx";
import { now } from "../../../ui/clock.ts";
import { VisibleText } from "../../../ui/VisibleText.tsx";
import { type DeviceLink, type DeviceState, lookAtDevice, offerDevice } from "../ceremonies.ts";
import { explain } from "../errors.ts";
import { useSession } from "../session.tsx";
import { QrCode } from "./QrCode.tsx";
import { refetchPasskeys } from "./queries.ts";
import { VerificationNeeded } from "./VerificationNeeded.tsx";
import { useVerifiedAction } from "./verified-action.ts";

/** Nobody announces that a link was opened, so while one is shown it is looked at this often, in milliseconds. */
const LOOKED_AT_EVERY = 2_000;

type Shown = DeviceLink & { readonly until: string };

/** A one-time link with which a phone, or another browser, gets a passkey of this person. */
export function AddDevice() {
  const { environment } = useSession();
  const [shown, setShown] = useState<Shown | null>(null);
  const { attempt, verificationNeeded, failure } = useVerifiedAction(
    async () => {
      const made = await offerDevice(environment);
      setShown({ ...made, until: new Date(now() + made.seconds * 1_000).toISOString() });
    },
    () => undefined,
  );
  const isReachable = environment.origin.startsWith("https:");
  return (
    <Card as="section" label={t`Add a phone`}>
      <h2>{t`Add a phone`}</h2>
      <p>
        {t`A phone with a passkey of yours answers what waits on your computer. Scan a code with it once, then keep the console on its home screen.`}
      </p>
      {!isReachable && (
        <Banner tone="info" title={t`A phone cannot open this console yet`}>
          <p>
            {rich`It is at ${<code>{environment.origin}</code>}, an address of this machine alone. A phone needs one with ${<code>https</code>}; ${<code>docs/PHONE.md</code>} says how to get it. Until then the link is for another browser on this machine.`}
          </p>
        </Banner>
      )}
      {shown !== null && <Offered key={shown.link} shown={shown} withCode={isReachable} />}
      {verificationNeeded && (
        <VerificationNeeded>
          {t`The device can then sign in and approve as you, so confirm with a passkey that you already have.`}
        </VerificationNeeded>
      )}
      {failure !== null && <Banner tone="danger" urgent title={explain(failure)} />}
      <div>
        <Button variant="primary" busy={attempt.isPending} onClick={() => attempt.mutate()}>
          {nameOf(verificationNeeded, shown !== null, isReachable)}
        </Button>
      </div>
    </Card>
  );
}

function nameOf(verificationNeeded: boolean, again: boolean, isReachable: boolean): string {
  if (verificationNeeded)
    return isReachable ? t`Confirm with a passkey and make a code` : t`Confirm with a passkey and make a link`;
  if (again) return isReachable ? t`Make another code` : t`Make another link`;
  return isReachable ? t`Make a code` : t`Make a link`;
}

function Offered({ shown, withCode }: { readonly shown: Shown; readonly withCode: boolean }) {
  const { environment } = useSession();
  const cache = useQueryClient();
  const { data: state = "waiting" } = useQuery({
    queryKey: ["device-link", shown.link],
    queryFn: () => lookAtDevice(environment),
    refetchInterval: ({ state: { data } }) => (data === "registered" || data === "gone" ? false : LOOKED_AT_EVERY),
  });
  useEffect(() => {
    if (state === "registered") void refetchPasskeys(cache);
  }, [state, cache]);
  return (
    <div className="stack">
      {state === "waiting" && (
        <>
          {withCode && <QrCode rows={shown.qr} label={t`QR code of the link below`} />}
          <p>
            <VisibleText text={shown.link} />
          </p>
          <div className="row">
            <CopyButton text={shown.link} what={t`link`} />
            <Countdown until={shown.until} label={t`Works once, for`} />
          </div>
        </>
      )}
      {/* Always there, so that a change is read out. */}
      <div role="status">
        <Outcome state={state} />
      </div>
    </div>
  );
}

function Outcome({ state }: { readonly state: DeviceState }) {
  switch (state) {
    case "waiting":
      return null;
    case "opened":
      return (
        <Banner tone="waiting" title={t`A device opened the link`}>
          <p>{t`It is being registered. If that was not you, sign out now: the link ends with this session.`}</p>
        </Banner>
      );
    case "registered":
      return (
        <Banner tone="ok" title={t`The device has its passkey`}>
          <p>{t`It is in the list above. If that was not you, remove it there.`}</p>
        </Banner>
      );
    case "gone":
      return <Banner tone="info" title={t`The link has run out`} />;
    default:
      return state satisfies never;
  }
}
