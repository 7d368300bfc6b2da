// Joins modules into one file, and compares it with the modules.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { root } from '../src/config.js'
import { sourceStack } from '../src/lib/source-stack.js'
import t from './helpers/tap.js'

const { writeBundle } = (await import(pathToFileURL(join(root, 'scripts/bundle.mjs')).href)) as {
  writeBundle(entry: string, output: string): void
}
const run = (file: string) => execFileSync(process.execPath, [file], { encoding: 'utf8' })

t.test('a bundle does what its modules do, in the same order', async t => {
  const folder = t.testdir({
    'package.json': '{ "type": "module" }',
    dist: {
      'entry.js': `import { said, say as tell } from './say.js';
import * as all from './all.js';
import path, { join } from 'node:path';
import { Thing as Other } from './all.js';
tell('entry ' + [...all.each(2)].join() + all.one + all.two + all.three + join('a', 'b') + path.sep);
const [late, again] = await Promise.all([import('./late.js'), import('./late.js')]);
tell(late.default.name + (late === again) + late.end + new Other().name + '…');
process.stdout.write(JSON.stringify(said));
`,
      'say.js': 'export const said = [];\nexport function say(text) {\n    said.push(text);\n}\n',
      'all.js': `import { say } from './say.js';
export { one, two as three } from './more.js';
say('all');
export const { two } = { two: 2 };
export class Thing {
    name = 'thing';
}
export function* each(most) {
    for (let at = 0; at < most; at++)
        yield at;
}
`,
      'more.js': "import { say } from './say.js';\nsay('more');\nconst one = 1, two = 4;\nexport { one, two };\n",
      'late.js': `import { extname } from 'node:path';
import { say } from './say.js';
say('late');
export const end = extname(import.meta.url);
export default class Late {
}
`
    }
  })
  const output = join(folder, 'dist/bundle/entry.js')
  writeBundle(join(folder, 'dist/entry.js'), output)
  const expected = ['more', 'all', 'entry 0,1124a/b/', 'late', 'Latetrue.jsthing…']
  t.same(JSON.parse(run(join(folder, 'dist/entry.js'))), expected)
  t.same(JSON.parse(run(output)), expected)
  t.notMatch(readFileSync(output, 'latin1'), /â/, 'the text has one byte for each character')
})

t.test('a form that it does not know is an error', async t => {
  const folder = t.testdir({ 'entry.js': 'export let count = 0;\n' })
  t.throws(() => writeBundle(join(folder, 'entry.js'), join(folder, 'out.js')), /entry\.js: .* export let count/)
})

t.test('stack traces of a bundle lead to the sources', async t => {
  const output = join(t.testdir(), 'dist/bundle/plan.js')
  writeBundle(join(root, 'dist/src/ci/plan.js'), output)
  const lines = JSON.parse(readFileSync(`${output}.lines.json`, 'utf8')) as [number, string][]
  t.ok(lines.length > 5)
  const text = readFileSync(output, 'utf8').split('\n')
  for (const [first, path] of lines) {
    const module = join(output, '..', path)
    const at = readFileSync(module, 'utf8')
      .split('\n')
      .findIndex(line => /^ {4}return [ -~]*$/.test(line))
    if (at === -1) continue
    t.equal(text[first - 1 + at], readFileSync(module, 'utf8').split('\n')[at])
    const place = (file: string, line: number) => sourceStack(`at x (${pathToFileURL(file).href}:${line}:5)`)
    t.equal(place(output, first + at), place(module, at + 1))
    t.match(place(output, first + at), /\/src\/.*\.ts:\d+:\d+\)$/)
  }
})
