// Reads the refs of a repository from its files: a backup reads thousands of repositories, and a process for each would
// be slow. Names are latin1 here, byte for byte, because git defines no encoding for ref names.
import { readdirSync, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Maps a full ref name, in latin1, to an object id. */
export type RefFiles = Map<string, string>

const LINE = /^([0-9a-f]{40}) (refs\/\S+)$/

/** Converts a ref name from the text of the database to the latin1 of this file. */
export const fileRefName = (name: string): string => Buffer.from(name, 'utf8').toString('latin1')

/** Converts a ref name from the latin1 of this file to the text of the database. */
export const textRefName = (name: string): string => Buffer.from(name, 'latin1').toString('utf8')

/**
 * Returns all refs of a repository. It reads the loose refs before the packed refs. Git writes them in the other order,
 * so a ref that is packed in the meantime appears in at least one of the two places. It omits symbolic refs; the only
 * one in these repositories is HEAD.
 */
export function readRefFiles(repository: string): RefFiles {
  const loose: RefFiles = new Map()
  readLoose(repository, 'refs', loose)
  const refs = parsePackedRefs(textOf(join(repository, 'packed-refs')) ?? '')
  for (const [name, id] of loose) refs.set(name, id)
  return refs
}

/**
 * Returns whether a file names the ref, whatever its value. Git ignores a ref whose file is empty or whose object is
 * missing, as if it did not exist.
 */
export async function hasRefFile(repository: string, ref: string): Promise<boolean> {
  const loose = await readFile(join(repository, ref)).catch(ignoreGone)
  if (loose) return true
  const packed = await readFile(join(repository, 'packed-refs')).catch(ignoreGone)
  return packed?.includes(` ${ref}\n`) ?? false
}

function ignoreGone(error: NodeJS.ErrnoException): undefined {
  if (!isGone(error) && error.code !== 'EISDIR') throw error
}

/**
 * Returns the names of refs below a folder such as `refs/heads` whose file contains no object id, for example after a power
 * cut. Git leaves them out of its lists.
 */
export function unreadableRefs(repository: string, folder: string): string[] {
  return [...looseRefs(repository, folder)].flatMap(({ name, id }) => (id === null ? [name] : []))
}

function readLoose(repository: string, folder: string, found: RefFiles): void {
  for (const { name, id } of looseRefs(repository, folder)) if (id !== null) found.set(fileRefName(name), id)
}

function* looseRefs(repository: string, folder: string): Generator<{ name: string; id: string | null }> {
  for (const entry of entriesOf(join(repository, folder))) {
    const name = `${folder}/${entry.name}`
    if (entry.isDirectory()) yield* looseRefs(repository, name)
    if (!entry.isFile() || name.endsWith('.lock')) continue
    const text = textOf(join(repository, name))
    // It was deleted or packed in the meantime, or is symbolic.
    if (text === undefined || text.startsWith('ref: ')) continue
    yield { name, id: /^([0-9a-f]{40})\s*$/.exec(text)?.[1] ?? null }
  }
}

/** Returns the refs of a `packed-refs` file. It ignores the lines with the targets of annotated tags, which git can find itself. */
export function parsePackedRefs(text: string): RefFiles {
  const refs: RefFiles = new Map()
  for (const line of text.split('\n')) {
    const [, id, name] = LINE.exec(line) ?? []
    if (id && name) refs.set(name, id)
  }
  return refs
}

/** Returns the text of a `packed-refs` file with these refs. */
export function formatPackedRefs(refs: RefFiles): string {
  // Sorted by their bytes: in latin1 each character is one byte.
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
