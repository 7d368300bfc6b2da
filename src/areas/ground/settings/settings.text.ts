// Reads settings as a sysadmin writes them: as words of the command line, or as YAML in a file.
import { isMap, isScalar, LineCounter, type Node, parseDocument } from 'yaml'
import { BadParameters } from '../../../errors.js'
import type { InputSchema } from '../../../lib/coerce.js'
import { validator } from '../../../lib/validate.js'
import type { SettingsBody } from './settings.schema.js'
import { isSettingName, type SettingName, settingOf } from './settings.table.js'
import { typeOf } from './settings.words.js'

/** Reads pairs of name and word. Throws BadParameters for an unknown setting or a word that does not fit. */
export function settingsOfWords(pairs: readonly (readonly [name: string, word: string])[]): SettingsBody {
  const body: Record<string, unknown> = {}
  for (const [name, word] of pairs) {
    if (!isSettingName(name)) throw refusal(unknown(name))
    if (name in body) throw refusal(`${name} is given twice`)
    body[name] = settingOfWord(name, word)
  }
  return body as SettingsBody
}

/** Reads `null`, a boolean, a number or a text; a list has commas between its items, or is JSON. */
function settingOfWord(name: SettingName, word: string): unknown {
  const schema = settingOf(name).schema as InputSchema
  if (schema.nullable && word === 'null') return null
  const found = validator(schema)(schema.type === 'array' ? listOf(name, word) : word)
  if (found.wrong) throw refusal(typeProblem(name, found.wrong.problem, word))
  return found.value
}

function listOf(name: SettingName, word: string): unknown {
  if (word === '') return []
  if (!word.startsWith('[')) return word.split(',').map(item => item.trim())
  try {
    return JSON.parse(word)
  } catch {
    throw refusal(typeProblem(name, 'is not JSON', word))
  }
}

/**
 * Reads the settings of a YAML mapping. Throws BadParameters with file, line and key for an unknown setting and for a
 * value that does not have exactly the right type. It accepts the whole file or nothing.
 */
export function settingsOfYaml(text: string, file: string): SettingsBody {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false })
  const at = (offset: number | undefined) => (offset === undefined ? file : `${file}:${lines.linePos(offset).line}`)
  const [error] = document.errors
  if (error) throw refusal(`${at(error.pos[0])}: ${error.message}`)
  const { contents } = document
  if (!isMap(contents) || contents.items.length === 0) throw refusal(`${file}: settings are expected, as NAME: VALUE`)
  const body: Record<string, unknown> = {}
  for (const { key, value } of contents.items) {
    const name = isScalar(key) ? String(key.value) : String(key)
    const line = at((key as Node).range?.[0])
    if (!isSettingName(name)) throw refusal(`${line}: ${unknown(name)}`)
    const plain = value === null ? null : plainOf(() => value.toJS(document), `${line}: ${name}`)
    const found = validator(settingOf(name).schema as InputSchema, { exact: true })(plain)
    if (found.wrong) throw refusal(`${line}: ${typeProblem(name, found.wrong.problem, plain)}`)
    body[name] = plain
  }
  return body as SettingsBody
}

/** Returns the plain value. Throws BadParameters when the parser refuses it, such as for endlessly nested aliases. */
function plainOf(read: () => unknown, place: string): unknown {
  try {
    return read()
  } catch (error) {
    throw refusal(`${place} cannot be read: ${error instanceof Error ? error.message : String(error)}`)
  }
}

const unknown = (name: string) => `${name} is not a setting: see gitstead settings list`

const typeProblem = (name: SettingName, problem: string, value: unknown) =>
  `${name} ${problem}: it must be ${typeOf(name)} (it is ${JSON.stringify(value).slice(0, 100)})`

const refusal = (text: string) => new BadParameters(text, text)
