import seal from "../assets/icon.svg";

/** The program's own sign, beside words that name it. `size` is in CSS pixels. */
export function Seal({ size }: { readonly size: number }) {
  return <img src={seal} width={size} height={size} alt="" />;
}
