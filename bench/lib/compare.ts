// Compares this version with another one: builds the other one in a folder of the cache, runs the same programs in both in turns, and
// prints each figure of both.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../../src/config.js'
import { keptFolder } from './cache.js'
import { median, round } from './figure.js'
import type { Line } from './markdown.js'

/** A built version: where it is, and the Node.js that it runs on. */
export interface Version {
  readonly folder: string
  readonly node: string
}

export const thisVersion: Version = { folder: root, node: process.execPath }

/**
 * Builds another version with the programs of this version's `bench`: they use the modules of the product, so they are compiled
 * against the product that they measure, and both sides do the same work. A program that uses what the other version does not
 * have fails there, and its figures have only one side.
 */
export async function otherVersion(ref: string): Promise<Version> {
  const git = (...args: string[]) => execFileSync('git', ['-C', root, ...args])
  const commit = git('rev-parse', '--verify', '--end-of-options', `${ref}^{commit}`).toString().trim()
  const folder = await keptFolder('version', `${commit.slice(0, 12)}-${hashOfBench()}`, async draft => {
    process.stderr.write(`bench: building ${ref} (${commit.slice(0, 12)})\n`)
    const archive = join(draft, 'source.tar')
    git('archive', `--output=${archive}`, commit)
    execFileSync('tar', ['-xf', archive, '-C', draft])
    rmSync(archive)
    rmSync(join(draft, 'bench'), { recursive: true })
    cpSync(join(root, 'bench'), join(draft, 'bench'), { recursive: true })
    if (sameModules(draft)) execFileSync('cp', ['-al', join(root, 'node_modules'), join(draft, 'node_modules')])
  })
  // The set-up installs modules and builds, if that has not been done.
  execFileSync(process.execPath, ['scripts/setup.mjs'], { cwd: folder, stdio: ['ignore', 2, 2] })
  const node = join(folder, 'node_modules/.bin/node')
  return { folder, node: existsSync(node) ? node : process.execPath }
}

const LOCK = 'package-lock.json'
const sameModules = (folder: string) => readFileSync(join(folder, LOCK)).equals(readFileSync(join(root, LOCK)))

function hashOfBench(): string {
  const hash = createHash('sha256')
  const files = readdirSync(join(root, 'bench'), { recursive: true, withFileTypes: true }).filter(file => file.isFile())
  const paths = files.map(file => join(file.parentPath, file.name)).sort()
  for (const path of paths) hash.update(`${path.slice(root.length)}\n`).update(readFileSync(path))
  return hash.digest('hex').slice(0, 8)
}

interface Both {
  readonly base: Line[]
  readonly now: Line[]
}

/** A table of the median of each figure of both versions, with the ratios of this version to the other one. */
export function comparison({ base, now }: Both): string {
  const names = [...new Set([...base, ...now].map(({ name }) => name))]
  const columns = [
    'figure',
    'base',
    'now',
    'ratio',
    'processor ms: base',
    'now',
    'ratio',
    'of server, worker, git, database'
  ]
  const rows = names.map(name => {
    const side = (lines: readonly Line[]) => lines.filter(line => line.name === name)
    const values = (key: string) => [medianOf(side(base), key), medianOf(side(now), key)] as const
    const unit = [...side(now), ...side(base)][0]?.unit
    const parts = ['server_ms', 'worker_ms', 'git_ms', 'database_ms'].map(key => values(key).map(shown).join(' → '))
    const cost = values('processor_ms')
    const cells = [`${name} (${unit})`, ...compared(values('value')), ...compared(cost)]
    return [...cells, cost.every(Number.isNaN) ? '' : parts.join(', ')]
  })
  return [columns, columns.map(() => '---'), ...rows].map(cells => `| ${cells.join(' | ')} |`).join('\n')
}

const shown = (value: number) => (Number.isNaN(value) ? '' : String(round(value)))
const compared = ([base, now]: readonly [number, number]) => [shown(base), shown(now), shown(now / base)]

function medianOf(lines: readonly Line[], key: string): number {
  const values = lines.map(line => line[key]).filter(value => typeof value === 'number')
  return values.length === 0 ? Number.NaN : median(values)
}
