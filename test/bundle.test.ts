// Joins modules of the product into a bundle, as the build does.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { root } from '../src/config.js'
import { sourceStack } from '../src/lib/source-stack.js'
import t from './helpers/tap.js'

const { joinModules } = (await import(pathToFileURL(join(root, 'scripts/bundle.mjs')).href)) as {
  joinModules(to: string, entries: { [name: string]: string }): Promise<void>
}

t.test('a module of a bundle knows its place and does what it does otherwise', async t => {
  const folder = join(t.testdir(), 'bundle')
  await joinModules(folder, { config: 'config.js' })
  const joined = (await import(pathToFileURL(join(folder, 'config/main.js')).href)) as { root: string }
  t.equal(joined.root, root)
})

t.test('stack traces of a bundle lead to the sources', async t => {
  const folder = join(t.testdir(), 'bundle')
  await joinModules(folder, { plan: 'ci/plan.js' })
  const file = join(folder, 'plan/main.js')
  const lines = readFileSync(file, 'utf8').split('\n')
  const at = lines.findIndex(line => line.includes('function planPipeline('))
  t.not(at, -1)
  const place = `${pathToFileURL(file).href}:${at + 1}:${(lines[at]?.indexOf('function planPipeline(') ?? 0) + 1}`
  const found = /^at x \((.+\/src\/ci\/plan\.ts):(\d+):\d+\)$/.exec(sourceStack(`at x (${place})`))
  const source = readFileSync(found?.[1] ?? '', 'utf8').split('\n')
  t.match(source[Number(found?.[2]) - 1], 'function planPipeline(')
})
