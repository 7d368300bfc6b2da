// The test of the running file, as the default export. A file that imports this may share its process with others (together.ts):
// it leaves no state behind. A file that imports tap itself has a separate process: it is long, starts appliances or servers, or
// depends on something that a process reads or does only once.
import root, { type Test } from 'tap'
import { loadConfig } from '../../src/config.js'

let current: Test = root

export type { Test }
export { current as default }

/** Runs a test file as one test of this process. Changes of the environment end with the file. */
export async function runFile(name: string, load: () => Promise<unknown>): Promise<void> {
  const before = { ...process.env }
  await root.test(name, async file => {
    current = file
    await load()
  })
  for (const key of Object.keys(process.env)) if (!(key in before)) delete process.env[key]
  Object.assign(process.env, before)
  loadConfig({})
}
