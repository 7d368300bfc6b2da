// Creates a repository with a history, using git fast-import.
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import type { Test } from 'tap'
import { createRepository } from '../../src/git/repository/repository.js'

const environment = {
  PATH: process.env.PATH ?? '',
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_TERMINAL_PROMPT: '0',
  GIT_AUTHOR_NAME: 'Ann',
  GIT_AUTHOR_EMAIL: 'ann@example.com',
  GIT_COMMITTER_NAME: 'Ann',
  GIT_COMMITTER_EMAIL: 'ann@example.com'
}

/** Runs git as a standard client does. */
export function git(cwd: string, args: string[], input?: string | Buffer): string {
  return execFileSync('git', args, { cwd, env: environment, input, stdio: 'pipe', maxBuffer: 1 << 28 })
    .toString()
    .trim()
}

export { environment }

const person = (at: number) => `committer Ann Author <ann@example.com> ${1_600_000_000 + at * 60} +0200\n`
const text = (content: string) => `data ${Buffer.byteLength(content)}\n${content}\n`

/** Returns `count` commits on master: a merge of a side branch every ten, files in folders, a rename every fifty. */
export function stream(count: number, folders = 20): string {
  const parts: string[] = []
  for (let at = 1; at <= count; at++) {
    const file = `lib/part-${at % folders}/file-${at % 97}.txt`
    parts.push(`commit refs/heads/master\nmark :${at * 2}\n${person(at)}${text(`commit ${at}\n`)}`)
    if (at > 1) parts.push(`from :${at * 2 - 2}\n`)
    if (at > 10 && at % 10 === 0) parts.push(`merge :${(at - 5) * 2 + 1}\n`)
    parts.push(`M 100644 inline ${file}\n${text(`line ${at}\nmore ${at}\n`)}`)
    if (at % 50 === 0) parts.push(`R lib/part-${at % folders}/file-${at % 97}.txt moved/${at}.txt\n`)
    if (at % 10 !== 5) continue
    parts.push(`commit refs/heads/side\nmark :${at * 2 + 1}\n${person(at)}${text(`side ${at}\n`)}from :${at * 2}\n`)
    parts.push(`M 100644 inline side/${at}.txt\n${text(`side ${at}\n`)}`)
  }
  return parts.join('')
}

/**
 * Returns the last commit on master, with odd names, a symlink, a script, a submodule, binary and large files; and
 * tags.
 */
function oddities(): (string | Buffer)[] {
  const big = Buffer.alloc(3 * 1024 * 1024, 'big line\n')
  const head = `commit refs/heads/master\nmark :100000\n${person(9000)}${text('odd things\n\nwith a body\n')}from refs/heads/master^0\n`
  return [
    head,
    `M 100644 inline "with space/\\303\\244 \\"quoted\\".txt"\n${text('ä')}`,
    `M 100644 inline "bad-\\377-utf8"\n${text('latin')}`,
    `M 100755 inline bin/run\n${text('#!/bin/sh\n')}`,
    `M 120000 inline link\n${text('bin/run')}`,
    `M 160000 ${'a'.repeat(40)} module\n`,
    `M 100644 inline empty\n${text('')}`,
    `M 100644 inline big.bin\ndata ${big.length}\n`,
    big,
    '\nM 100644 inline binary\ndata 4\n',
    Buffer.from([0, 255, 10, 1]),
    `\ntag v1.0\nfrom :100000\ntagger Tess <tess@example.com> 1600600000 +0000\n${text('first release\n')}`,
    'reset refs/tags/light\nfrom :100000\n\n',
    'reset refs/heads/feature/x\nfrom refs/heads/side^0\n\n'
  ]
}

/** Creates a bare repository with this history; without `count` the repository is empty. */
export async function repositoryWith(t: Test, count = 0): Promise<string> {
  const path = join(t.testdir(), 'one.git')
  await createRepository(path)
  if (count > 0) {
    git(path, ['fast-import', '--quiet'], stream(count))
    git(path, ['fast-import', '--quiet'], Buffer.concat(oddities().map(part => Buffer.from(part))))
  }
  return path
}
