// Makes objects that no ordinary client makes.
import { execFileSync } from 'node:child_process'
import { gitEnvironment } from '../scenarios/client.js'

/** Runs git in a folder, with `input` at its stdin, and returns what it prints. */
export const gitWith = (folder: string, args: readonly string[], input: string | Buffer = ''): string =>
  execFileSync('git', args, { cwd: folder, env: gitEnvironment, input, maxBuffer: 1 << 28 })
    .toString()
    .trim()

/**
 * Makes a repository in `folder` with one commit, whose tree has `levels` levels of `width` equal entries: `width` to the
 * power of `levels` files in a few hundred bytes. Each file has the `content`. Returns the id of the commit.
 */
export async function treeOfTrees(folder: string, levels: number, width: number, content = 'x\n'): Promise<string> {
  gitWith(folder, ['init', '--quiet', '--initial-branch=master'])
  const blob = gitWith(folder, ['hash-object', '-w', '--stdin'], content)
  let entry = `100644 blob ${blob}`
  for (let level = 0; level < levels; level++) {
    const names = Array.from({ length: width }, (_, at) =>
      String.fromCharCode(97 + (at % 26)).repeat(1 + Math.floor(at / 26))
    )
    const lines = names.map(name => `${entry}\t${name}\n`).join('')
    entry = `040000 tree ${gitWith(folder, ['mktree'], lines)}`
  }
  const tree = entry.split(' ')[2] ?? ''
  return gitWith(folder, ['commit-tree', '-m', 'many files', tree])
}
