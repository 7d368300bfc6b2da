// The test of the file that runs, as the default export. A file that imports this may share its process with others
// (together.ts): it leaves nothing that they would see. A file that imports tap itself has a process of its own: it is long, starts
// appliances or servers, or depends on what a process reads or does only once.
import root, { type Test } from 'tap'
import { loadConfig } from '../../src/config.js'

let current: Test = root

/** Milliseconds for one of the files that share a process, as scripts/test.mjs has them for other files. */
const FILE_TIMEOUT = 1_800_000

export type { Test }
export { current as default }

/** Runs a test file as one test of this process. What the file sets in the environment ends with it. */
export async function runFile(name: string, load: () => Promise<unknown>): Promise<void> {
  const before = { ...process.env }
  await root.test(name, { timeout: FILE_TIMEOUT }, async file => {
    current = file
    await load()
  })
  for (const key of Object.keys(process.env)) if (!(key in before)) delete process.env[key]
  Object.assign(process.env, before)
  loadConfig({})
}
