// Prints the figures as the table of README.md.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'

export interface Line {
  readonly name: string
  readonly value: number
  readonly unit: string
  readonly limit: number | null
  readonly better: 'higher' | 'lower'
  readonly met: boolean | null
  readonly comparison?: string
  readonly [detail: string]: unknown
}

const SHOWN = new Set(['name', 'value', 'unit', 'limit', 'better', 'met', 'comparison'])

/** One line with the machine and the versions that the figures depend on. */
export function machine(): string {
  const version = (command: string) => /\d+(?:\.\d+)+/.exec(execFileSync(command, ['--version']).toString())?.[0]
  const system = /^PRETTY_NAME="(.+)"$/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1]
  const memory = Math.round(totalmem() / 2 ** 30)
  const programs = `Node ${process.versions.node}, git ${version('git')}, MariaDB ${version('mariadbd')}`
  return `${cpus().length} vCPU, ${memory} GiB, ${system}; ${programs}.`
}

/** A Markdown table of figures. */
export function table(lines: readonly Line[]): string {
  const rows = lines.map(line => {
    const limit = line.limit === null ? '' : `${line.better === 'higher' ? '≥' : '≤'} ${line.limit}`
    const met = line.met === null ? '' : line.met ? 'yes' : '**no**'
    return `| ${line.name} | ${line.value} ${line.unit} | ${limit} | ${met} | ${remarks(line)} |`
  })
  return ['| figure | value | limit | met | |', '|---|---|---|---|---|', ...rows].join('\n')
}

function remarks(line: Line): string {
  const details = Object.entries(line)
    .filter(([name, value]) => !SHOWN.has(name) && typeof value === 'number')
    .map(([name, value]) => `${name.replaceAll('_', ' ')} ${Math.round((value as number) * 100) / 100}`)
  return [line.comparison, ...details].filter(Boolean).join(', ')
}
