/** A record of an imported file: its values as text, or why it cannot be read. */
export type ImportLine = {
  /** The line on which the record begins. */
  readonly line: number
} & ({ readonly values: Readonly<Record<string, string>> } | { readonly error: string })
