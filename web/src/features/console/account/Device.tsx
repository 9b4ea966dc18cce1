import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { useLocation } from "wouter";
import { rich } from "../../../language/rich.ts";
import { t } from "../../../language/t.ts";
import { Banner } from "../../../ui/Banner.tsx";
import { Button } from "../../../ui/Button.tsx";
import { Card } from "../../../ui/Card.tsx";
import { Field } from "../../../ui/Field.tsx";
import { Spinner } from "../../../ui/Spinner.tsx";
import { VisibleText } from "../../../ui/VisibleText.tsx";
import { addDevice, openDeviceLink } from "../ceremonies.ts";
import { explain } from "../errors.ts";
import { PageHeading } from "../PageHeading.tsx";
import { enrolmentToken, paths } from "../paths.ts";
import { useSession } from "../session.tsx";

/** The page behind the QR code of the passkeys page: it gives this device a passkey of the person who made the code. */
export function Device() {
  const token = enrolmentToken(window.location.hash);
  return token === null ? <Useless why={t`The part after # is missing.`} /> : <Opened token={token} />;
}

/** The link belongs to the first browser that shows it, so it is taken before the person presses anything. */
function Opened({ token }: { readonly token: string }) {
  const { environment } = useSession();
  const opened = useQuery({
    queryKey: ["device-link", token],
    queryFn: () => openDeviceLink(environment, token),
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (opened.isError) return <Useless why={explain(opened.error)} />;
  if (opened.isPending) return <Spinner label={t`Opening the link`} />;
  return <Form token={token} person={opened.data} />;
}

function Form({ token, person }: { readonly token: string; readonly person: string }) {
  const { environment, renew } = useSession();
  const [, navigate] = useLocation();
  const [name, setName] = useState("");
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<unknown>(null);

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (busy) return;
    setBusy(true);
    setFailure(null);
    try {
      await addDevice(environment, token, name);
      renew();
      navigate(paths.home, { replace: true });
    } catch (error) {
      setFailure(error);
      setBusy(false);
    }
  };

  return (
    <>
      <PageHeading lead={t`It can then sign in and approve like the device on which you made the code.`}>
        {t`Register this device`}
      </PageHeading>
      {failure !== null && <Banner tone="danger" urgent title={explain(failure)} />}
      <Card>
        <form className="stack" onSubmit={submit}>
          <p>{rich`The passkey will be one of ${<VisibleText text={person} prose />}.`}</p>
          <Field
            label={t`Name of this device`}
            hint={t`So that you recognise it in a list later: “phone”. You may leave it empty.`}
            value={name}
            maxLength={100}
            autoComplete="off"
            onChange={(event) => setName(event.currentTarget.value)}
          />
          <Button type="submit" variant="primary" busy={busy} wide>
            {busy ? t`Waiting for your passkey` : t`Register a passkey`}
          </Button>
        </form>
      </Card>
    </>
  );
}

function Useless({ why }: { readonly why: string }) {
  return (
    <>
      <PageHeading>{t`This link registers nothing`}</PageHeading>
      <Banner tone="danger">
        <p>{why}</p>
        <p>{t`Make another on the console of a device that you are signed in on: Passkeys, “Add a phone”.`}</p>
      </Banner>
    </>
  );
}
