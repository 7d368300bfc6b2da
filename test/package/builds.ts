// Builds packages, compressed little.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { root } from '../scenarios/appliance.js'

/** Runs a program to its end. Returns its output; throws when it fails. */
export async function runProgram(program: string, args: readonly string[], cwd: string, env = process.env) {
  const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'inherit'] })
  const [printed] = await Promise.all([text(child.stdout), once(child, 'close')])
  if (child.exitCode !== 0)
    throw new Error(`${program} ${args.join(' ')} ended with ${child.exitCode ?? child.signalCode}`)
  return printed.trim()
}

/** Builds the packages of a checkout into a folder. */
export async function buildPackages(checkout: string, to: string, options: readonly string[] = [], env = process.env) {
  await runProgram(process.execPath, ['scripts/package.mjs', '--quick', '--to', to, ...options], checkout, env)
}

/** Returns the path of the file in this folder whose name has this ending. */
export const withEnding = (folder: string, ending: string) =>
  join(folder, readdirSync(folder).find(name => name.endsWith(ending)) ?? '')

/** The version of a package of the earliest commit that can build one. */
export const EARLIER = '0.0.1'

/** Builds the Debian package of that commit below the folder, with its own scripts. Returns its path. */
export async function buildEarlier(folder: string): Promise<string> {
  const git = (...args: readonly string[]) => runProgram('git', ['-C', root, ...args], root)
  const added = await git('log', '--diff-filter=A', '--format=%H', '--', 'scripts/package.mjs')
  const checkout = join(folder, 'earlier')
  await git('worktree', 'add', '--quiet', '--detach', checkout, added.split('\n').at(-1) ?? '')
  try {
    symlinkSync(join(root, 'node_modules'), join(checkout, 'node_modules'))
    const path = join(checkout, 'package.json')
    writeFileSync(path, readFileSync(path, 'utf8').replace(/"version": "[^"]+"/, `"version": "${EARLIER}"`))
    await buildPackages(checkout, join(folder, 'of-earlier'))
  } finally {
    await git('worktree', 'remove', '--force', checkout)
  }
  return withEnding(join(folder, 'of-earlier'), '.deb')
}
