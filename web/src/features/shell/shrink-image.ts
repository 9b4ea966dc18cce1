import { t } from "../../language/t.ts";

/** What an image is drawn anew with, so that nothing of its file but what is seen goes on: no place, no time, no name of a camera. */
export interface ShrunkImage {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** For the data URL of its picture. */
  readonly mediaType: string;
}

/** More than models are shown of an image. */
const LONGEST_SIDE = 1568;
const QUALITIES = [0.85, 0.7, 0.55, 0.4] as const;
const MOST_PIXELS = 50 * 1000 * 1000;

/** An image that a person attaches, drawn anew to fit into a message. Gives why not, in words, for what is none. */
export async function shrinkImage(
  name: string,
  bytes: Uint8Array<ArrayBuffer>,
  most: number,
): Promise<ShrunkImage | string> {
  const pixels = pixelsOf(bytes);
  if (pixels === null) return t`${name} is damaged.`;
  if (pixels > MOST_PIXELS)
    return t`${name} has ${Math.round(pixels / 1e6)} million pixels; at most ${MOST_PIXELS / 1e6} million can be attached.`;
  let picture: ImageBitmap;
  try {
    picture = await createImageBitmap(new Blob([bytes]));
  } catch {
    return t`${name} is damaged.`;
  }
  try {
    for (let side = LONGEST_SIDE; side >= 256; side = Math.round(side * 0.7))
      for (const quality of QUALITIES) {
        const drawn = await draw(picture, Math.min(1, side / Math.max(picture.width, picture.height)), quality);
        if (drawn.length <= most) return { bytes: drawn, mediaType: "image/jpeg" };
      }
    return t`${name} is too large.`;
  } finally {
    picture.close();
  }
}

async function draw(picture: ImageBitmap, scale: number, quality: number): Promise<Uint8Array<ArrayBuffer>> {
  const canvas = new OffscreenCanvas(
    Math.max(1, Math.round(picture.width * scale)),
    Math.max(1, Math.round(picture.height * scale)),
  );
  const context = canvas.getContext("2d");
  if (context === null) throw new Error("no canvas");
  // What is transparent would become black.
  context.fillStyle = "#fff";
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(picture, 0, 0, canvas.width, canvas.height);
  const blob = await canvas.convertToBlob({ type: "image/jpeg", quality });
  return new Uint8Array(await blob.arrayBuffer());
}

/** How many pixels a PNG, JPEG or WebP image says that it has, before anything decodes it; null where it does not say so. */
export function pixelsOf(bytes: Uint8Array): number | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    if (bytes[0] === 0x89) return view.getUint32(16) * view.getUint32(20);
    if (bytes[0] === 0xff) return pixelsOfJpeg(view);
    return pixelsOfWebp(view);
  } catch {
    // It ends before it says so.
    return null;
  }
}

function pixelsOfJpeg(view: DataView): number {
  for (let at = 2; ; ) {
    const kind = view.getUint8(at + 1);
    const isFrame = kind >= 0xc0 && kind <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(kind);
    if (isFrame) return view.getUint16(at + 5) * view.getUint16(at + 7);
    at += kind === 0xff ? 1 : 2 + view.getUint16(at + 2);
  }
}

function pixelsOfWebp(view: DataView): number | null {
  const kind = String.fromCharCode(...[12, 13, 14, 15].map((at) => view.getUint8(at)));
  const three = (at: number) => view.getUint16(at, true) + (view.getUint8(at + 2) << 16) + 1;
  if (kind === "VP8X") return three(24) * three(27);
  if (kind === "VP8 ") return (view.getUint16(26, true) & 0x3fff) * (view.getUint16(28, true) & 0x3fff);
  if (kind !== "VP8L") return null;
  const bits = view.getUint32(21, true);
  return ((bits & 0x3fff) + 1) * (((bits >> 14) & 0x3fff) + 1);
}
