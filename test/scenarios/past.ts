// Makes a repository with a history, as a user would push one: thousands of commits, merges, renames, binary files,
// tags and branches.
import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { stream } from '../git/history.js'
import { gitEnvironment } from './client.js'

const person = (word: string, at: number) => `${word} Ann Author <ann@example.org> ${1_700_000_000 + at} +0100\n`
const text = (content: string) => `data ${Buffer.byteLength(content)}\n${content}\n`

export interface PastOptions {
  readonly commits: number
  /** More files for the last commit on master, by path. */
  readonly files?: Record<string, string>
}

/** Makes the repository in a folder, without a checkout. */
export function makePast(folder: string, { commits, files = {} }: PastOptions): void {
  mkdirSync(folder, { recursive: true })
  run(folder, ['init', '--quiet', '--initial-branch=master'])
  run(folder, ['fast-import', '--quiet'], stream(commits))
  run(folder, ['fast-import', '--quiet'], Buffer.concat(ending(files)))
}

function ending(files: Record<string, string>): Buffer[] {
  const binary = Buffer.from(Array.from({ length: 65_536 }, (_, at) => (at * at) % 251))
  const parts: (string | Buffer)[] = [
    `commit refs/heads/master\nmark :900001\n${person('committer', 1)}${text('Add the logo\n')}from refs/heads/master^0\n`,
    `M 100644 inline "data/l\\303\\266go.bin"\ndata ${binary.length}\n`,
    binary,
    `\nM 100755 inline bin/run\n${text('#!/bin/sh\necho run\n')}`,
    `commit refs/heads/master\nmark :900002\n${person('committer', 2)}${text('Last words\n')}from :900001\n`,
    ...Object.entries(files).map(([path, content]) => `M 100644 inline ${path}\n${text(content)}`),
    `tag v1.0\nfrom :900001\n${person('tagger', 3)}${text('First release\n')}`,
    `tag v2.0\nfrom :900002\n${person('tagger', 4)}${text('Second release\n')}`,
    'reset refs/tags/light\nfrom :900001\n\n',
    'reset refs/heads/feature/logo\nfrom :900001\n\n'
  ]
  return parts.map(part => Buffer.from(part))
}

function run(cwd: string, args: readonly string[], input?: string | Buffer): void {
  execFileSync('git', [...args], { cwd, env: gitEnvironment, input, stdio: 'pipe' })
}
