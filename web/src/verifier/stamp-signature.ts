/** Whose signature a time stamp has: of the authority whose certificates were given (RFC 3161, RFC 5652, RFC 5035), or not. */

import { equalBytes } from "./bytes.ts";
import {
  type Certificate,
  isForStamps,
  isValidAt,
  leadsToGiven,
  readCertificate,
  SIGNATURES,
  verifies,
} from "./certificates.ts";
import { held, list, needLength, needObjectNamed, objectName, only, TAGS, type Value, valuesIn } from "./der.ts";
import { Malformed } from "./json.ts";
import { HASHES, readSet, STAMP_INFO, type TimeStamp } from "./time-stamp.ts";

const ATTRIBUTES = {
  contentType: "2a864886f70d010903",
  digest: "2a864886f70d010904",
  signingCertificate: "2a864886f70d010910020c",
  signingCertificateV2: "2a864886f70d010910022f",
} as const;

const RSA_OF_ANY_DIGEST = "2a864886f70d010101";
const NO_PARAMETERS: readonly string[] = ["", "5,0"];
const DIRECTORY_NAME = 0xa4;

interface Signer {
  readonly issuer: Uint8Array;
  readonly number: Uint8Array;
  readonly hash: string;
  readonly attributes: ReadonlyMap<string, Value>;
  /** The attributes as they are signed: as a set. */
  readonly signed: Uint8Array;
  readonly signature: Uint8Array;
}

/** Why it is not, as a sentence; null where it is. In the order in which `audit verify` looks. */
export async function findFaultInStamp(stamp: TimeStamp, given: readonly Certificate[]): Promise<string | null> {
  try {
    return await check(stamp, given);
  } catch (error) {
    if (error instanceof Malformed) return "this is no time stamp";
    throw error;
  }
}

async function check({ signed, content, at }: TimeStamp, given: readonly Certificate[]): Promise<string | null> {
  const [version, digests, , ...rest] = signed;
  needNumber(version, 3);
  for (const each of valuesIn(digests, TAGS.set)) readHash(each);
  const carried = rest[0]?.tag === TAGS.first ? readSet(rest.shift(), TAGS.first) : [];
  if (rest[0]?.tag === TAGS.second) rest.shift();
  needLength(rest, 1);
  const signers = valuesIn(rest[0], TAGS.set);
  needLength(signers, 1);
  const signer = readSigner(list(signers[0]));
  needObjectNamed(attribute(signer, ATTRIBUTES.contentType), STAMP_INFO);
  const digest = held(attribute(signer, ATTRIBUTES.digest), TAGS.octets);
  const raw = carried.find((each) => isIssued(each, signer));
  if (raw === undefined || !(await isNamed(raw, signer))) {
    return "its signature names another certificate than those that it carries, or none";
  }
  const certificate = readCertificate(raw);
  if (!isForStamps(certificate)) return "its certificate is not one for time stamps";
  if (!isValidAt(certificate, at)) return "its certificate was not valid at its time";
  if (!(await leadsToGiven(certificate, carried.flatMap(readOther), given, at))) {
    return "its certificate does not go back to one that was given";
  }
  const holds =
    equalBytes(await digestOf(signer.hash, content), digest) &&
    (await verifies(certificate.key, signer.hash, signer.signature, signer.signed));
  return holds ? null : "its signature does not verify";
}

function readSigner(parts: readonly Value[]): Signer {
  needLength(parts, 6, 7);
  const [version, named, digest, attributes, kind, signature, unsigned] = parts;
  if (unsigned !== undefined) held(unsigned, TAGS.second);
  needNumber(version, 1);
  const issued = list(named);
  needLength(issued, 2);
  held(issued[0], TAGS.sequence);
  const hash = readHash(digest);
  const signatureKind = readAlgorithm(kind);
  if (signatureKind !== RSA_OF_ANY_DIGEST && SIGNATURES.get(signatureKind) !== hash) {
    throw new Malformed("its signature is of no kind that is known");
  }
  const read = readSet(attributes, TAGS.first).map((each) => {
    const pair = list(each);
    needLength(pair, 2);
    return [objectName(pair[0]), pair[1] as Value] as const;
  });
  const found = new Map(read);
  if (found.size !== read.length) throw new Malformed("an attribute is there twice");
  const whole = new Uint8Array((attributes as Value).raw);
  whole[0] = TAGS.set;
  return {
    issuer: (issued[0] as Value).raw,
    number: held(issued[1], TAGS.integer),
    hash,
    attributes: found,
    signed: whole,
    signature: held(signature, TAGS.octets),
  };
}

function readAlgorithm(value: Value | undefined): string {
  const [name, ...rest] = list(value);
  const parameters = rest.map(({ raw }) => [...raw].join()).join();
  if (rest.length > 1 || !NO_PARAMETERS.includes(parameters)) throw new Malformed("it has other parameters");
  return objectName(name);
}

function readHash(value: Value | undefined): string {
  const hash = HASHES.get(readAlgorithm(value));
  if (hash === undefined) throw new Malformed("its digest is of no kind that is known");
  return hash;
}

function needNumber(value: Value | undefined, number: number): void {
  if (held(value, TAGS.integer).join() !== String(number)) throw new Malformed("it is of another version");
}

/** The one value of an attribute. */
function attribute({ attributes }: Signer, name: string): Value {
  return only(held(attributes.get(name), TAGS.set));
}

function isIssued(certificate: Value, { issuer, number }: Signer): boolean {
  const parts = [...list(list(certificate)[0])];
  if (parts[0]?.tag === TAGS.first) parts.shift();
  const [own, , by] = parts;
  if (by === undefined) throw new Malformed("a part is missing");
  return equalBytes(held(own, TAGS.integer), number) && equalBytes(by.raw, issuer);
}

/** By each of the two attributes for it that there are, and there is one. */
async function isNamed(certificate: Value, signer: Signer): Promise<boolean> {
  const names = [ATTRIBUTES.signingCertificate, ATTRIBUTES.signingCertificateV2].filter((each) =>
    signer.attributes.has(each),
  );
  for (const name of names) {
    if (!(await doesName(certificate, signer, name))) return false;
  }
  return names.length > 0;
}

async function doesName(certificate: Value, signer: Signer, name: string): Promise<boolean> {
  const parts = [...list(list(list(attribute(signer, name))[0])[0])];
  const old = name === ATTRIBUTES.signingCertificate;
  // SHA-1 is how a certificate was named before RFC 5035, by an attribute that is itself signed.
  let hash = old ? "SHA-1" : "SHA-256";
  if (!old && parts[0]?.tag === TAGS.sequence) hash = readHash(parts.shift());
  needLength(parts, 1, 2);
  const [digest, number] = parts;
  if (!equalBytes(held(digest, TAGS.octets), await digestOf(hash, certificate.raw))) return false;
  if (number === undefined) return true;
  const issued = list(number);
  needLength(issued, 2);
  const named = only(held(issued[0], TAGS.sequence));
  return (
    equalBytes(held(named, DIRECTORY_NAME), signer.issuer) && equalBytes(held(issued[1], TAGS.integer), signer.number)
  );
}

/** Carried along and none that can be read: it is no part of a chain. */
function readOther(value: Value): readonly Certificate[] {
  try {
    return [readCertificate(value)];
  } catch (error) {
    if (error instanceof Malformed) return [];
    throw error;
  }
}

async function digestOf(hash: string, bytes: Uint8Array): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest(hash, new Uint8Array(bytes)));
}
