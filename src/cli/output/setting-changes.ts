// Describes changes of settings, for people and for --json.

/** Changes as the audit has them. */
type Changes = { readonly [name: string]: { readonly before?: unknown; readonly after?: unknown } }

/** Maximum bytes of a settings file. */
export const SETTINGS_FILE_LIMIT = 262_144

export interface SettingChange {
  readonly name: string
  readonly from: unknown
  readonly to: unknown
}

export const changeList = (changes: Changes): SettingChange[] =>
  Object.entries(changes).map(([name, { before, after }]) => ({ name, from: before, to: after }))

/** Returns a value as one line, without characters that move the cursor of a terminal. */
export const valueText = (value: unknown): string => JSON.stringify(value).replace(/[\p{Cf}\u2028\u2029]/gu, '?')

export const changeLine = ({ name, from, to }: SettingChange): string =>
  `${name}: ${valueText(from)} -> ${valueText(to)}`
