// Templates that are files of the program, in templates/KIND. A new file there is served after the next start.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../../../config.js'
import { NotFound } from '../../../errors.js'

export interface TemplateFile {
  readonly name: string
  readonly content: string
}

/** Kind -> the ending of its files, and the name of one record. */
const KINDS = {
  gitignores: { ending: '.gitignore', one: 'gitignore' },
  dockerfiles: { ending: '.Dockerfile', one: 'dockerfile' },
  gitstead_ci_ymls: { ending: '.gitstead-ci.yml', one: 'gitstead_ci_yml' }
} as const
export type TemplateKind = keyof typeof KINDS
export const TEMPLATE_KINDS = Object.keys(KINDS) as TemplateKind[]

const loaded = new Map<TemplateKind, ReadonlyMap<string, TemplateFile>>()

/** Returns every template of a kind, by name. The first call takes a few milliseconds; the result is cached and takes some 100 kB. */
function filesOf(kind: TemplateKind): ReadonlyMap<string, TemplateFile> {
  const known = loaded.get(kind)
  if (known) return known
  const read = load(kind)
  loaded.set(kind, read)
  return read
}

function load(kind: TemplateKind): ReadonlyMap<string, TemplateFile> {
  const folder = join(root, 'templates', kind)
  const { ending } = KINDS[kind]
  const names = readdirSync(folder).flatMap(file => (file.endsWith(ending) ? [file.slice(0, -ending.length)] : []))
  const order = new Intl.Collator('en').compare
  return new Map(
    names.sort(order).map(name => [name, { name, content: readFileSync(join(folder, name + ending), 'utf8') }])
  )
}

/** Returns the text of a CI template by its name in an `include`, with or without an ending; null when it does not exist. */
export function ciTemplate(name: string): string | null {
  const plain = name.replace(/\.(?:gitstead|gitlab)-ci\.yml$/, '')
  return filesOf('gitstead_ci_ymls').get(plain)?.content ?? null
}

export function listTemplates(kind: TemplateKind): TemplateFile[] {
  return [...filesOf(kind).values()]
}

/** Returns a template by its exact name. The name is looked up and never becomes a path. Throws NotFound. */
export function findTemplate(kind: TemplateKind, name: string): TemplateFile {
  const file = filesOf(kind).get(name)
  if (!file) throw new NotFound(KINDS[kind].one)
  return file
}
