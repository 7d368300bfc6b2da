// The refs of a repository as its files tell them: a backup reads thousands of repositories, without a process for each.
// Names are latin1 here, byte for byte, as git has no encoding for them.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Full ref name, in latin1 -> object id. */
export type RefFiles = Map<string, string>

const LINE = /^([0-9a-f]{40}) (refs\/\S+)$/

/** A name as the database has it, as these files have it. */
export const fileRefName = (name: string): string => Buffer.from(name, 'utf8').toString('latin1')

/** The other way round. */
export const textRefName = (name: string): string => Buffer.from(name, 'latin1').toString('utf8')

/**
 * All refs. Loose ones are read before packed ones: git writes those the other way round, so that a ref that is packed
 * meanwhile is found in one place or the other. Symbolic refs, of which only HEAD is made here, are left out.
 */
export function readRefFiles(repository: string): RefFiles {
  const loose: RefFiles = new Map()
  readLoose(repository, 'refs', loose)
  const refs = parsePackedRefs(textOf(join(repository, 'packed-refs')) ?? '')
  for (const [name, id] of loose) refs.set(name, id)
  return refs
}

function readLoose(repository: string, prefix: string, found: RefFiles): void {
  for (const entry of entriesOf(join(repository, prefix))) {
    const name = `${prefix}/${entry.name}`
    if (entry.isDirectory()) readLoose(repository, name, found)
    if (!entry.isFile() || name.endsWith('.lock')) continue
    const id = textOf(join(repository, name))?.trim()
    if (id && /^[0-9a-f]{40}$/.test(id)) found.set(Buffer.from(name, 'utf8').toString('latin1'), id)
  }
}

/** The refs of a `packed-refs` file; what annotated tags point at is left out, as git finds it by itself. */
export function parsePackedRefs(text: string): RefFiles {
  const refs: RefFiles = new Map()
  for (const line of text.split('\n')) {
    const [, id, name] = LINE.exec(line) ?? []
    if (id && name) refs.set(name, id)
  }
  return refs
}

/** The text of a `packed-refs` file that holds all of them. */
export function formatPackedRefs(refs: RefFiles): string {
  // By their bytes, which the letters of latin1 are.
  const lines = [...refs].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, id]) => `${id} ${name}\n`)
  return `# pack-refs with: sorted \n${lines.join('')}`
}

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch (error) {
    if (isGone(error)) return []
    throw error
  }
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'latin1')
  } catch (error) {
    if (isGone(error)) return undefined
    throw error
  }
}

const isGone = (error: unknown) => ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')
